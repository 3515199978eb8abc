"""Four small drivers of flows: plain and async, whole and streamed.

A flow (`flows`) is a generator. It yields what has to be waited for, a `Stop` to be decided or a
`Perform` to be done, and is sent what came of it; it returns the result.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.bridge.agent_stop import Stop
from holdfast.bridge.bridge_errors import ToolCancelled
from holdfast.bridge.lanes import ActiveTool, within
from holdfast.bridge.tool_cancellation import Cancellable, Interruptible

if TYPE_CHECKING:
    from holdfast.bridge.agent_bridge import Bridge


@dataclass
class Perform:
    """Do it now, with this."""

    input: Any
    tool: ActiveTool | None = None


Flow = Generator["Stop | Perform", Any, Any]


class Exhausted(Exception):
    """Stands for a `StopIteration`, which cannot be thrown into a generator as what it is."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(error)
        self.error = error


def make_throwable(error: BaseException) -> BaseException:
    return Exhausted(error) if isinstance(error, StopIteration) else error


@dataclass
class Partial:
    """The chunks of a stream that nobody wanted to the end."""

    chunks: list[Any]


def run(bridge: Bridge, flow: Flow, perform: Callable[[Any], Any]) -> Any:
    send: Callable[[Any], Any] = flow.send
    value: Any = None
    while True:
        try:
            step = send(value)
        except StopIteration as end:
            return end.value
        except Exhausted as exhausted:
            raise exhausted.error from None
        send = flow.send
        try:
            if isinstance(step, Stop):
                value = step.wait()
            elif step.tool is None:
                value = perform(step.input)
            else:
                value = _run_tool(bridge, step.input, step.tool, perform)
        except BaseException as error:  # the flow decides what becomes of it
            send, value = flow.throw, make_throwable(error)


def _run_tool(bridge: Bridge, given: Any, tool: ActiveTool, perform: Callable[[Any], Any]) -> Any:
    running = Interruptible()
    bridge.control.begin_tool(tool.id, running)
    outer = within.set(tool)
    try:
        try:
            return perform(given)
        finally:
            running.close()
            bridge.control.end_tool(tool.id)
            within.reset(outer)
    except BaseException as error:
        if running.is_cause_of(error):
            raise ToolCancelled("it was cancelled while it ran", tool_id=tool.id) from None
        raise


async def run_async(bridge: Bridge, flow: Flow, perform: Callable[[Any], Awaitable[Any]]) -> Any:
    send: Callable[[Any], Any] = flow.send
    value: Any = None
    while True:
        try:
            step = send(value)
        except StopIteration as end:
            return end.value
        except Exhausted as exhausted:
            raise exhausted.error from None
        send = flow.send
        try:
            if isinstance(step, Stop):
                value = await step.wait_async()
            elif step.tool is None:
                value = await perform(step.input)
            else:
                value = await _run_tool_async(bridge, step.input, step.tool, perform)
        except BaseException as error:  # the flow decides what becomes of it
            send, value = flow.throw, make_throwable(error)


async def _run_tool_async(
    bridge: Bridge, given: Any, tool: ActiveTool, perform: Callable[[Any], Awaitable[Any]]
) -> Any:
    running = Cancellable()
    bridge.control.begin_tool(tool.id, running)
    outer = within.set(tool)
    try:
        return await perform(given)
    except BaseException as error:
        if running.is_cause_of(error):
            what = "abandoned: its thread goes on" if running.is_abandoned else "cancelled"
            raise ToolCancelled(
                f"it was {what}", tool_id=tool.id, abandoned=running.is_abandoned
            ) from None
        raise
    finally:
        running.close()
        bridge.control.end_tool(tool.id)
        within.reset(outer)


def stream(flow: Flow, perform: Callable[[Any], Iterator[Any]]) -> Generator[Any, None, Any]:
    """Gives chunks as they come; whole when they come from a recording or a decision."""
    step: Any = None
    try:
        step = next(flow)
        while isinstance(step, Stop):
            step = flow.send(step.wait())
    except StopIteration as end:
        yield from _list_chunks(end.value)
        return None
    chunks: list[Any] = []
    source: Any = None
    try:
        source = iter(perform(step.input))
        while True:
            try:
                value = next(source)
            except StopIteration as end:
                returned = end.value
                break
            chunks.append(value)
            yield value
    except GeneratorExit:
        if hasattr(source, "close"):
            source.close()
        _finish(flow, Partial(chunks))
        raise
    except BaseException as error:  # the flow decides what becomes of it
        yield from _list_chunks(_throw(flow, error))
        return None
    _finish(flow, chunks)
    return returned


async def stream_async(
    flow: Flow, perform: Callable[[Any], AsyncIterator[Any]]
) -> AsyncIterator[Any]:
    step: Any = None
    try:
        step = next(flow)
        while isinstance(step, Stop):
            step = flow.send(await step.wait_async())
    except StopIteration as end:
        for value in _list_chunks(end.value):
            yield value
        return
    chunks: list[Any] = []
    source: Any = None
    try:
        source = aiter(perform(step.input))
        async for value in source:
            chunks.append(value)
            yield value
    except GeneratorExit:
        if hasattr(source, "aclose"):
            await source.aclose()
        _finish(flow, Partial(chunks))
        raise
    except BaseException as error:  # the flow decides what becomes of it
        for value in _list_chunks(await _throw_async(flow, error)):
            yield value
        return
    _finish(flow, chunks)


def _finish(flow: Flow, chunks: list[Any] | Partial) -> None:
    try:
        flow.send(chunks)
    except StopIteration:
        return


def _throw(flow: Flow, error: BaseException) -> Any:
    """What the flow makes of an error: it raises, or has been given a result instead."""
    try:
        step = flow.throw(make_throwable(error))
        while isinstance(step, Stop):
            step = flow.send(step.wait())
    except StopIteration as end:
        return end.value
    raise AssertionError("no flow begins a stream again")


async def _throw_async(flow: Flow, error: BaseException) -> Any:
    try:
        step = flow.throw(make_throwable(error))
        while isinstance(step, Stop):
            step = flow.send(await step.wait_async())
    except StopIteration as end:
        return end.value
    raise AssertionError("no flow begins a stream again")


def _list_chunks(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
