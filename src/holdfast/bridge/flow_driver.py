"""Four small drivers of flows: plain and async, whole and streamed.

A flow (`flows`) is a generator. It yields what has to be waited for, a `Stop` to be decided or a
`Perform` to be done, and is sent what came of it; it returns the result.
"""

from __future__ import annotations

from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Iterator,
)
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


class ShapedError(Exhausted):
    """An error that came out of an awaitable: a replay raises it there."""

    def __init__(self, error: BaseException, shape: str) -> None:
        super().__init__(error)
        self.shape = shape


def make_throwable(error: BaseException) -> BaseException:
    return Exhausted(error) if isinstance(error, StopIteration) else error


@dataclass
class Partial:
    """The chunks of a stream that nobody wanted to the end."""

    chunks: list[Any]


@dataclass
class Shaped:
    """A result that its function gave as an awaitable or as a stream; see `pending_results`."""

    value: Any
    shape: str
    is_partial: bool = False


def _unshape(value: Any) -> Any:
    return value.value if type(value) is Shaped else value


def run(bridge: Bridge, flow: Flow, perform: Callable[[Any], Any]) -> Any:
    send: Callable[[Any], Any] = flow.send
    value: Any = None
    while True:
        try:
            step = send(value)
        except StopIteration as end:
            return _unshape(end.value)
        except Exhausted as exhausted:
            raise exhausted.error from None
        send = flow.send
        try:
            if isinstance(step, Stop):
                value = step.wait()
            elif step.tool is None:
                value = perform(step.input)
            else:
                value = run_tool(bridge, step.input, step.tool, perform)
        except BaseException as error:  # the flow decides what becomes of it
            send, value = flow.throw, make_throwable(error)


def run_tool(bridge: Bridge, given: Any, tool: ActiveTool, perform: Callable[[Any], Any]) -> Any:
    running = Interruptible()
    outer = within.set(tool)
    try:
        try:
            bridge.control.begin_tool(tool.id, running)
            return perform(given)
        finally:
            running.close()
    except BaseException as error:
        if running.is_cause_of(error):
            raise ToolCancelled("it was cancelled while it ran", tool_id=tool.id) from None
        raise
    finally:
        bridge.control.end_tool(tool.id)
        within.reset(outer)


async def run_async(bridge: Bridge, flow: Flow, perform: Callable[[Any], Awaitable[Any]]) -> Any:
    send: Callable[[Any], Any] = flow.send
    value: Any = None
    while True:
        try:
            step = send(value)
        except StopIteration as end:
            return _unshape(end.value)
        except Exhausted as exhausted:
            raise exhausted.error from None
        send = flow.send
        try:
            if isinstance(step, Stop):
                value = await step.wait_async()
            elif step.tool is None:
                value = await perform(step.input)
            else:
                value = await run_tool_async(bridge, step.input, step.tool, perform)
        except BaseException as error:  # the flow decides what becomes of it
            send, value = flow.throw, make_throwable(error)


async def run_tool_async(
    bridge: Bridge, given: Any, tool: ActiveTool, perform: Callable[[Any], Awaitable[Any]]
) -> Any:
    running = Cancellable()
    outer = within.set(tool)
    try:
        bridge.control.begin_tool(tool.id, running)
        return await perform(given)
    except GeneratorExit:
        bridge.control.forget_tool(tool.id)
        raise
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
    return (yield from relay(flow, lambda: iter(perform(step.input))))


def relay(
    flow: Flow,
    open_source: Callable[[], Iterator[Any]],
    shape: str | None = None,
    tool: ActiveTool | None = None,
) -> Generator[Any, None, Any]:
    """Gives the chunks of a source on, and then all of them to the flow that performs it."""
    chunks: list[Any] = []
    source: Any = None
    try:
        source = open_source()
        while True:
            outer = within.set(tool) if tool is not None else None
            try:
                value = next(source)
            except StopIteration as end:
                returned = end.value
                break
            finally:
                if outer is not None:
                    within.reset(outer)
            chunks.append(value)
            yield value
    except GeneratorExit:
        if hasattr(source, "close"):
            source.close()
        finish_flow(flow, _join_chunks(chunks, shape, is_partial=True))
        raise
    except BaseException as error:  # the flow decides what becomes of it
        yield from _list_chunks(_throw(flow, error))
        return None
    finish_flow(flow, _join_chunks(chunks, shape))
    return returned


async def stream_async(
    bridge: Bridge,
    flow: Flow,
    perform: Callable[[Any], AsyncIterator[Any]],
    step: Any = None,
    shape: str | None = None,
) -> AsyncIterator[Any]:
    """The same for async iterators; with `step`, from there on."""

    def open_source() -> AsyncIterator[Any]:
        if step.tool is None:
            return aiter(perform(step.input))
        return aiter(run_tool(bridge, step.input, step.tool, perform))

    try:
        if step is None:
            step = next(flow)
        while isinstance(step, Stop):
            step = flow.send(await step.wait_async())
    except StopIteration as end:
        for value in _list_chunks(end.value):
            yield value
        return
    chunks = relay_async(flow, open_source, shape, step.tool)
    try:
        async for value in chunks:
            yield value
    finally:
        await chunks.aclose()


async def relay_async(
    flow: Flow,
    open_source: Callable[[], AsyncIterator[Any]],
    shape: str | None = None,
    tool: ActiveTool | None = None,
) -> AsyncGenerator[Any, None]:
    chunks: list[Any] = []
    source: Any = None
    try:
        source = open_source()
        while True:
            outer = within.set(tool) if tool is not None else None
            try:
                value = await anext(source)
            except StopAsyncIteration:
                break
            finally:
                if outer is not None:
                    within.reset(outer)
            chunks.append(value)
            yield value
    except GeneratorExit:
        if hasattr(source, "aclose"):
            await source.aclose()
        finish_flow(flow, _join_chunks(chunks, shape, is_partial=True))
        raise
    except BaseException as error:  # the flow decides what becomes of it
        for value in _list_chunks(await _throw_async(flow, error)):
            yield value
        return
    finish_flow(flow, _join_chunks(chunks, shape))


def _join_chunks(
    chunks: list[Any], shape: str | None, *, is_partial: bool = False
) -> list[Any] | Partial | Shaped:
    if shape is not None:
        return Shaped(chunks, shape, is_partial)
    return Partial(chunks) if is_partial else chunks


def finish_flow(flow: Flow, chunks: list[Any] | Partial | Shaped) -> None:
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
    value = _unshape(value)
    return value if isinstance(value, list) else [value]
