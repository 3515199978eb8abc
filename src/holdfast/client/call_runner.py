"""Runs intercepted calls, in strict and in leased mode.

What has to happen around a call is a generator of steps: a `Hold` waits for a decision, an
`Invocation` makes the call. `run` takes the steps blocking, `run_async` awaits them. An
asynchronous generator is awaited until its call is made and iterated after that.
"""

from __future__ import annotations

import inspect
import sys
import time
import types
from collections.abc import AsyncGenerator
from typing import Any

from holdfast.client.call_hold import Hold
from holdfast.client.hidden_frames import call_from, hide_module, is_compiled, strip
from holdfast.client.invocation import Invocation, current_call
from holdfast.client.outcome import Outcome
from holdfast.client.proxy_base import interception_off
from holdfast.client.recorder import Recorder
from holdfast.client.strict_call import Steps, StrictCall
from holdfast.client.switch import switch

_now = time.perf_counter_ns


def intercept(recorder: Recorder, invocation: Invocation) -> Steps:
    """The steps of a call in the mode that the application is in."""
    leased = recorder.leased_calls
    if leased is None:
        return StrictCall(recorder, invocation).steps()
    return leased.steps(invocation)


def run(steps: Steps, *, awaits: bool = False) -> Any:
    """Make the call, blocking while it is held, and deliver its outcome.

    With `awaits`, a call that gives a coroutine ends when that coroutine does. The function is
    called from here, and not from the step, so that a function which calls itself through its
    proxy takes three frames of the stack for each level.
    """
    reply: Any = None
    try:
        step = steps.send(None)
        while True:
            if isinstance(step, Hold):
                try:
                    reply = step.wait()
                except BaseException as problem:  # the call decides what becomes of it
                    step = steps.throw(problem)
                    continue
            else:
                parent = current_call.get()
                current_call.set(step.call_id)
                began = _now()
                try:
                    if is_compiled(step.function) and step.frame is not None:
                        value = call_from(step.frame, step.function, step.args, step.kwargs)
                    else:
                        value = step.function(*step.args, **step.kwargs)
                    reply = Outcome(value, None, _now() - began)
                except BaseException as error:  # the outcome is whatever the application raises
                    value = None
                    reply = Outcome(None, error, _now() - began)
                finally:
                    current_call.set(parent)
                if awaits and type(value) is types.CoroutineType:
                    return _await_rest(steps, step.change(_return, (value,), {}))
            step = steps.send(reply)
    except StopIteration as end:
        outcome: Outcome = end.value
        reply = None  # an exception in it has a traceback that holds this frame
    return outcome.deliver()


async def run_async(steps: Steps, step: Hold | Invocation | None = None) -> Any:
    """Make the call; while it is held, everything else in its event loop goes on.

    `step` is the next one, if the steps have begun.
    """
    reply: Any = None
    try:
        if step is None:
            step = steps.send(None)
        while True:
            if isinstance(step, Hold):
                try:
                    reply = await step.wait_async()
                except BaseException as problem:  # the call decides what becomes of it
                    step = steps.throw(problem)
                    continue
            else:
                parent = current_call.get()
                current_call.set(step.call_id)
                began = _now()
                try:
                    if is_compiled(step.function) and step.frame is not None:
                        value = call_from(step.frame, step.function, step.args, step.kwargs)
                    else:
                        value = step.function(*step.args, **step.kwargs)
                    if is_awaitable(value):
                        value = await value
                    reply = Outcome(value, None, _now() - began)
                except BaseException as error:  # the outcome is whatever the application raises
                    reply = Outcome(None, error, _now() - began)
                finally:
                    current_call.set(parent)
            step = steps.send(reply)
    except StopIteration as end:
        outcome: Outcome = end.value
        reply = None  # an exception in it has a traceback that holds this frame
    return outcome.deliver()


def is_awaitable(value: Any) -> bool:
    """As `inspect.isawaitable`, by the real type: a lazy value is not asked for its class."""
    cls = type(value)
    if cls is types.CoroutineType or hasattr(cls, "__await__"):
        return True
    return cls is types.GeneratorType and bool(
        value.gi_code.co_flags & inspect.CO_ITERABLE_COROUTINE
    )


async def _await_rest(steps: Steps, step: Invocation) -> Any:
    """The coroutine of a call that has begun."""
    try:
        return await run_async(steps, step)
    except BaseException as error:
        strip(error)
        raise


def _return(value: Any) -> Any:
    """The function of a step whose coroutine exists already, and has only to be awaited."""
    return value


# -- calls that begin when their result is awaited -------------------------------------------------


async def await_call(invocation: Invocation) -> Any:
    """The coroutine that an intercepted call gives."""
    try:
        recorder = switch.recorder
        if recorder is None or interception_off.get():
            return invocation.deliver(await invocation.call())
        if invocation.frame is None:
            invocation.frame = sys._getframe(1)
        return await run_async(intercept(recorder, invocation))
    except BaseException as error:
        strip(error)
        raise


async def iterate_call(invocation: Invocation) -> AsyncGenerator[Any, Any]:
    """The asynchronous generator that an intercepted call gives."""
    try:
        recorder = switch.recorder
        if recorder is None or interception_off.get():
            source = invocation.deliver(invocation.call())
        else:
            if invocation.frame is None:
                invocation.frame = sys._getframe(1)
            source = await run_async(intercept(recorder, invocation))
        inner = source if isinstance(source, types.AsyncGeneratorType) else _iterate(source)
        problem: BaseException | None = None
        value = await inner.__anext__()
        while True:
            try:
                sent = yield value
            except BaseException as thrown:  # by the reader; closing is one of these
                strip(thrown)
                problem = thrown
            # Not in the handler, which would be the context of what the generator raises next.
            if problem is None:
                value = await inner.asend(sent)
            else:
                value, problem = await inner.athrow(problem), None
    except StopAsyncIteration:
        return
    except BaseException as error:
        strip(error)
        raise


async def _iterate(source: Any) -> AsyncGenerator[Any, Any]:
    """The items of what a decision gave instead of a generator."""
    if hasattr(type(source), "__aiter__"):
        async for value in source:
            yield value
    elif source is not None:
        for value in source:
            yield value


hide_module(__name__)
