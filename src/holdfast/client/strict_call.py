"""The life of one intercepted call.

`_life` tells it once, for all ways of calling: ask the server, wait if it is held, do what was
decided, report. Where something has to be waited for it yields a step, which `run` takes by
blocking and `run_async` by awaiting. Our own work happens without_interception: nothing in it is
intercepted.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
import threading
import time
import types
from collections.abc import Callable, Generator
from contextvars import ContextVar
from typing import Any

from holdfast.client import decision_effects, stacks
from holdfast.client.call_hold import Hold
from holdfast.client.decision_effects import Outcome, Plan
from holdfast.client.exceptions import (
    DebugError,
    DebugProtocolError,
    DebugSerializationError,
    DebugServerError,
)
from holdfast.client.proxy_base import without_interception
from holdfast.client.recorder import Parcel, Recorder, logger
from holdfast.client.snapshots import Snapshot, marked, one_shot
from holdfast.client.value_pickler import ONE_SHOT
from holdfast.client.value_preview import clean
from holdfast.model.call import call_id

# The call in which we are, so that those made in it know their parent.
current: ContextVar[str | int | None] = ContextVar("holdfast_call", default=None)


class Call:
    """What is called, by whom, and how it is to be known."""

    __slots__ = (
        "alias",
        "args",
        "frame",
        "function",
        "kind",
        "kwargs",
        "name",
        "qualname",
        "remember",
        "seen",
        "stack",
        "target",
    )

    def __init__(
        self,
        *,
        name: str,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        target: Any,
        kind: str,
        frame: types.FrameType | None,
        alias: str | None = None,
        qualname: str | None = None,
        seen: Snapshot | None = None,
        remember: Callable[[Snapshot], None] | None = None,
        stack: str | None = None,
    ) -> None:
        self.name = name  # what it is recorded under
        self.function = function  # does the work
        self.args = args
        self.kwargs = kwargs
        self.target = target  # whose state may change by it
        self.kind = kind  # "proxy" or "inline"
        self.frame = frame  # the caller's
        self.alias = alias
        self.qualname = qualname
        self.seen = seen  # the target as it was last known to be
        self.remember = remember  # tells the proxy what it is now
        self.stack = stack  # where a coroutine was made, which may be elsewhere than it is awaited

    def names(self, name: str) -> Any:
        """What a name means where the call was made."""
        frame = self.frame
        if frame is None:
            return None
        return frame.f_locals.get(name, frame.f_globals.get(name))


_UNDER_WAY = (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)
_UNDER_WAY_KINDS = frozenset(ONE_SHOT[each] for each in _UNDER_WAY)


class Taken:
    """The values of a call before it ran."""

    __slots__ = ("args", "kwargs", "target")

    def __init__(self, target: Snapshot, args: list[Snapshot], kwargs: dict[str, Snapshot]) -> None:
        self.target = target
        self.args = args
        self.kwargs = kwargs

    @classmethod
    def now(cls, recorder: Recorder, call: Call) -> Taken:
        return cls(
            recorder.snapshots.current(call.seen, call.target),
            [argument(recorder, value) for value in call.args],
            {name: argument(recorder, each) for name, each in call.kwargs.items()},
        )


def argument(recorder: Recorder, value: Any) -> Snapshot:
    """A traceback passes, because `__exit__` is given one; what is under way does not."""
    may = recorder.settings.on_unpicklable == "placeholder"
    if type(value) in _UNDER_WAY and not may:
        raise DebugSerializationError(f"a {type(value).__name__} cannot be stored")
    taken = recorder.snapshots.take(value)
    if taken.marker in _UNDER_WAY_KINDS and not may:
        raise DebugSerializationError(f"a {type(value).__name__} cannot be stored: {taken.why}")
    return taken


class Run:
    """The step that runs the call itself."""

    __slots__ = ("call_id", "plan")

    def __init__(self, plan: Plan, call_id: str) -> None:
        self.plan = plan
        self.call_id = call_id

    def now(self) -> Outcome:
        outer = current.get()
        current.set(self.call_id)
        plan = self.plan
        began = time.perf_counter_ns()
        try:
            value = plan.function(*plan.args, **plan.kwargs)
            return Outcome(value, None, time.perf_counter_ns() - began)
        except BaseException as error:
            return Outcome(None, error, time.perf_counter_ns() - began)
        finally:
            current.set(outer)

    async def soon(self) -> Outcome:
        outer = current.get()
        current.set(self.call_id)
        plan = self.plan
        began = time.perf_counter_ns()
        try:
            value = plan.function(*plan.args, **plan.kwargs)
            if inspect.isawaitable(value):
                value = await value
            return Outcome(value, None, time.perf_counter_ns() - began)
        except BaseException as error:
            return Outcome(None, error, time.perf_counter_ns() - began)
        finally:
            current.set(outer)


Step = Hold | Run
Life = Generator[Step, Any, Outcome]


def run(recorder: Recorder, call: Call) -> Any:
    """The call, blocking while it is held.

    One that goes on as it is, as nearly all do, is made from here: a function that calls itself
    through its proxy takes three frames of the stack for each level.
    """
    with without_interception():
        taken = Taken.now(recorder, call)
        decision = _started(recorder, call, taken)
    if decision["action"] != "continue":
        return through(_decided(recorder, call, taken, decision)).deliver()
    call_id = decision["call_id"]
    outer = current.get()
    current.set(call_id)
    began = time.perf_counter_ns()
    try:
        value = call.function(*call.args, **call.kwargs)
        outcome = Outcome(value, None, time.perf_counter_ns() - began)
    except BaseException as error:
        outcome = Outcome(None, error, time.perf_counter_ns() - began)
    finally:
        current.set(outer)
    return _finished(recorder, call, call_id, taken, outcome)


def _finished(recorder: Recorder, call: Call, call_id: str, taken: Taken, outcome: Outcome) -> Any:
    """The end of a call that was made as it is."""
    plan = Plan(call.function, call.args, call.kwargs)
    answer = _report(recorder, call, call_id, taken, outcome, plan, "continue")
    if answer.get("action") is not None:
        outcome = through(_ended(recorder, call, call_id, outcome, answer))
    return outcome.deliver()


def through(life: Life) -> Outcome:
    try:
        step = next(life)
        while True:
            try:
                found = step.now()
            except BaseException as problem:
                step = life.throw(problem)
            else:
                step = life.send(found)
    except StopIteration as end:
        outcome: Outcome = end.value
        return outcome


async def run_async(recorder: Recorder, call: Call) -> Any:
    """The call, awaited; while it is held everything else in its loop goes on."""
    return (await through_async(_life(recorder, call))).deliver()


async def through_async(life: Life) -> Outcome:
    try:
        step = next(life)
        while True:
            try:
                found = await step.soon()
            except BaseException as problem:
                step = life.throw(problem)
            else:
                step = life.send(found)
    except StopIteration as end:
        outcome: Outcome = end.value
        return outcome


def run_until_awaited(recorder: Recorder, call: Call) -> Any:
    """The call; if a plain function turns out to give a coroutine, it ends when that does."""
    with without_interception():
        taken = Taken.now(recorder, call)
        decision = _started(recorder, call, taken)
    if decision["action"] != "continue":
        return _run_decided(_decided(recorder, call, taken, decision))
    call_id = decision["call_id"]
    outer = current.get()
    current.set(call_id)
    began = time.perf_counter_ns()
    try:
        value = call.function(*call.args, **call.kwargs)
        outcome = Outcome(value, None, time.perf_counter_ns() - began)
    except BaseException as error:
        outcome = Outcome(None, error, time.perf_counter_ns() - began)
    finally:
        current.set(outer)
    if outcome.error is None and inspect.iscoroutine(outcome.value):
        life = _decided(recorder, call, taken, decision)
        next(life)
        return _awaited(life, outcome.value, call_id)
    return _finished(recorder, call, call_id, taken, outcome)


def _run_decided(life: Life) -> Any:
    try:
        step = next(life)
        while not isinstance(step, Run):
            step = _stepped(life, step)
    except StopIteration as end:
        early: Outcome = end.value
        return early.deliver()
    outcome = step.now()
    if outcome.error is None and inspect.iscoroutine(outcome.value):
        return _awaited(life, outcome.value, step.call_id)
    return through(_rest(life, outcome)).deliver()


def _stepped(life: Life, step: Step) -> Step:
    try:
        found = step.now()
    except BaseException as problem:
        return life.throw(problem)
    return life.send(found)


async def _awaited(life: Life, coroutine: Any, call_id: str) -> Any:
    step = Run(Plan(lambda: coroutine, (), {}), call_id)
    return (await through_async(_rest(life, await step.soon()))).deliver()


def _rest(life: Life, outcome: Outcome) -> Life:
    """What is left of a life that waits for this outcome."""
    try:
        step = life.send(outcome)
        while True:
            try:
                found = yield step
            except BaseException as problem:
                step = life.throw(problem)
            else:
                step = life.send(found)
    except StopIteration as end:
        last: Outcome = end.value
        return last


def _life(recorder: Recorder, call: Call) -> Life:
    with without_interception():
        taken = Taken.now(recorder, call)
        decision = _started(recorder, call, taken)
    return (yield from _decided(recorder, call, taken, decision))


def _decided(recorder: Recorder, call: Call, taken: Taken, decision: dict[str, Any]) -> Life:
    """From the server's first answer on."""
    call_id = decision["call_id"]
    what = ""
    try:
        while decision.get("action") == "poll":
            decision = yield Hold(recorder, call_id, decision, call.frame)
        what = str(decision.get("action"))
        with without_interception():
            planned = Plan(call.function, call.args, call.kwargs)
            plan = decision_effects.before(recorder, decision, planned, call.names)
    except DebugServerError:
        raise  # there is nobody to tell
    except BaseException as problem:
        _report(recorder, call, call_id, taken, Outcome(error=problem), None, what)
        raise
    ran = plan if isinstance(plan, Plan) else None
    outcome: Outcome = plan if isinstance(plan, Outcome) else (yield Run(plan, call_id))
    answer = _report(recorder, call, call_id, taken, outcome, ran, what)
    return (yield from _ended(recorder, call, call_id, outcome, answer))


def _ended(
    recorder: Recorder, call: Call, call_id: str, outcome: Outcome, answer: dict[str, Any]
) -> Life:
    try:
        while answer.get("action") == "poll":
            answer = yield Hold(recorder, call_id, answer, call.frame)
    except DebugServerError:
        raise  # there is nobody to tell
    except BaseException:
        with without_interception():
            recorder.gave_up(call_id)
        raise
    if answer.get("action") is not None:  # at a hold, or by a breakpoint beforehand
        with without_interception():
            outcome = decision_effects.after(recorder, answer, outcome, call.names)
    return outcome


def late(recorder: Recorder, call: Call, taken: Taken, call_id: str, outcome: Outcome) -> Life:
    """The rest of a call that ran before a rule concerned it: only its end can be decided about."""
    with without_interception():
        _started(recorder, call, taken, call_id)
    plan = Plan(call.function, call.args, call.kwargs)
    answer = _report(recorder, call, call_id, taken, outcome, plan, "")
    return (yield from _ended(recorder, call, call_id, outcome, answer))


def _started(
    recorder: Recorder, call: Call, taken: Taken, began: str | None = None
) -> dict[str, Any]:
    thread = threading.current_thread()
    fields = {
        "method_name": clean(call.name),
        "target_cid": taken.target.cid,
        "call_type": call.kind,
        "alias": None if call.alias is None else clean(call.alias),
        "qualname": call.qualname,
        "signature": recorder.signature(call.function, (type(call.target), call.name)),
        "thread": {"id": thread.ident, "name": clean(thread.name)},
        "task": task_name(),
        "parent_call_id": _parent(),
        "began": began,
        "evaluates": True,
    }
    if call.stack is not None:
        stack = call.stack
    elif recorder.settings.capture_locals:
        stack = stacks.with_locals(call.frame)
    else:
        stack = recorder.stacks.capture(call.frame)

    def fill(parcel: Parcel) -> dict[str, Any]:
        values: dict[str, Any] = {
            "args": [
                parcel.item(one, value) for one, value in zip(taken.args, call.args, strict=True)
            ],
            "kwargs": {
                clean(name): parcel.item(one, call.kwargs[name])
                for name, one in taken.kwargs.items()
            },
        }
        target = parcel.item(taken.target, call.target)
        if len(target) > 1:
            values["target"] = target
        needs = parcel.needs()
        if needs:
            values["needs"] = needs
        return values

    site = (
        f', "call_site": {{"timestamp": {time.time():.6f}, '
        f'"target_cid": "{taken.target.cid}", "stack_trace": {stack}}}'
    )
    answer = recorder.send("/api/call/start", fields, fill, site)
    for field in ("call_id", "action"):
        if not isinstance(answer.get(field), str) or not answer[field]:
            raise DebugProtocolError(f"the server's answer to a call has no {field}")
    if call.remember is not None:
        call.remember(taken.target)
    return answer


def _report(
    recorder: Recorder,
    call: Call,
    call_id: str,
    taken: Taken,
    outcome: Outcome,
    plan: Plan | None,
    what: str,
) -> dict[str, Any]:
    """Tell the server how the call ended. If that fails, its result is still delivered."""
    with without_interception():
        ended, refused = result(recorder, outcome)
        changed = _changes(recorder, call, taken, plan)
        fields: dict[str, Any] = {
            "call_id": call_id,
            "timestamp": round(time.time(), 6),
            "status": "success" if outcome.error is None else "exception",
            "duration_ns": outcome.nanoseconds,
            "action": what if what not in ("", "continue") else None,
            "marker": ended.marker,
        }
        if outcome.error is not None:
            fields["exception_type"] = exception_name(outcome.error)
            fields["exception_message"] = message(outcome.error)

        def fill(parcel: Parcel) -> dict[str, Any]:
            return _completion(parcel, outcome, ended, changed)

        try:
            answer = recorder.send("/api/call/complete", fields, fill)
        except DebugError:
            recorder.status = "error"
            logger.exception("the end of call %s could not be reported", call_id)
            answer = {}
    if refused is not None:
        raise refused
    return answer


def result(recorder: Recorder, outcome: Outcome) -> tuple[Snapshot, DebugSerializationError | None]:
    value = outcome.value if outcome.error is None else outcome.error
    try:
        # An exception must reach its handler, whatever it carries.
        return recorder.snapshots.take(value, lenient=outcome.error is not None), None
    except DebugSerializationError as refused:
        kind = one_shot(value)
        snapshot = marked(value, kind or "unpicklable", str(refused))
        return snapshot, None if kind else refused


Changes = list[tuple[str, str, Snapshot, Any]]


def _changes(recorder: Recorder, call: Call, taken: Taken, plan: Plan | None) -> Changes:
    """What the call did to its arguments and its target. What did not run changed nothing."""
    if plan is None:
        return []
    found: Changes = []
    again = recorder.snapshots.again
    for index, (before, value) in enumerate(zip(taken.args, plan.args, strict=False)):
        if value is call.args[index]:
            after = again(before, value)
            if after is not None:
                found.append(("args", str(index), after, value))
    for name, before in taken.kwargs.items():
        if plan.kwargs.get(name) is call.kwargs[name]:
            after = again(before, call.kwargs[name])
            if after is not None:
                found.append(("kwargs", clean(name), after, call.kwargs[name]))
    after = again(taken.target, call.target)
    if after is not None:
        found.append(("target", "", after, call.target))
        if call.remember is not None:
            call.remember(after)
    return found


def _completion(
    parcel: Parcel, outcome: Outcome, result: Snapshot, changed: Changes
) -> dict[str, Any]:
    kind = "result" if outcome.error is None else "exception"
    item = parcel.item(result, outcome.value if outcome.error is None else outcome.error)
    values: dict[str, Any] = {f"{kind}_{name}": each for name, each in item.items()}
    if changed:
        places: dict[str, Any] = {}
        for where, name, snapshot, value in changed:
            item = parcel.item(snapshot, value)
            if where == "target":
                places["target"] = item
            else:
                places.setdefault(where, {})[name] = item
        values["changed"] = places
    needs = parcel.needs()
    if needs:
        values["needs"] = needs
    return values


def exception_name(error: BaseException) -> str:
    """As `raise` takes it: bare for a builtin, dotted for others."""
    cls = type(error)
    name = clean(cls.__qualname__)
    return name if cls.__module__ == "builtins" else f"{clean(str(cls.__module__))}.{name}"


def message(error: BaseException) -> str:
    try:
        return clean(str(error))[:10_000]
    except Exception:
        return ""


def _parent() -> str | None:
    found = current.get()
    return call_id(found) if isinstance(found, int) else found


def task_name() -> str | None:
    if asyncio._get_running_loop() is None:
        return None
    task = asyncio.current_task()
    return None if task is None else clean(task.get_name())


def callers_frame(depth: int) -> types.FrameType | None:
    """The frame `depth` above our caller's."""
    try:
        return sys._getframe(depth + 1)
    except ValueError:
        return None


__all__ = ["Call", "current", "run", "run_async", "run_until_awaited"]
