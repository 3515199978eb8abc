"""What a plain function gives that is not there yet: an awaitable, or a stream.

Such a call is one call: it is recorded when the awaitable is done or the stream read, and a replay
gives an awaitable or a stream again. An event names the *shape* of the result, in one or two words:
`awaitable` or `future`, `stream` or `async_stream`; `awaitable async_stream` is an awaitable that
gives a stream.

Whether a function gives an awaitable is known from its marks, or from what it gave before. If it
does, and an event loop runs here, a hold does not block: the caller gets an awaitable that waits.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
import types
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator
from typing import TYPE_CHECKING, Any

from holdfast.bridge.agent_stop import Stop
from holdfast.bridge.flow_driver import (
    Exhausted,
    Flow,
    Perform,
    Shaped,
    ShapedError,
    finish_flow,
    make_throwable,
    relay,
    relay_async,
    run_tool,
    run_tool_async,
    stream_async,
)

if TYPE_CHECKING:
    from holdfast.bridge.agent_bridge import Bridge
    from holdfast.bridge.lanes import ActiveTool

AWAITABLE, FUTURE = "awaitable", "future"
STREAM, ASYNC_STREAM = "stream", "async_stream"

_PLAIN = frozenset(
    (
        str,
        bytes,
        int,
        float,
        bool,
        dict,
        list,
        tuple,
        set,
        frozenset,
        type(None),
        types.FunctionType,
    )
)


# -- which functions, which results ----------------------------------------------------------------


def find_code(function: Any) -> Any:
    """What runs when it is called: of a partial its function, of an object its `__call__`."""
    while isinstance(function, functools.partial):
        function = function.func
    if isinstance(function, type) or inspect.isroutine(function):
        return function
    return getattr(type(function), "__call__", function)  # noqa: B004 - of its class, not itself


def is_coroutine_function(function: Any) -> bool:
    """Whether a call of it certainly gives an awaitable."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(find_code(function))


def may_give_awaitable(function: Any) -> bool:
    """Whether it wraps a coroutine function. It may still wait for it, and give its result."""
    seen = 0
    while (wrapped := getattr(function, "__wrapped__", None)) is not None and seen < 100:
        function, seen = wrapped, seen + 1
        if is_coroutine_function(function):
            return True
    return False


def _find_shape(value: Any, is_model: bool) -> str | None:
    """Of what is not one of the plain types."""
    if isinstance(value, asyncio.Future):
        return FUTURE
    if inspect.isawaitable(value):
        return AWAITABLE
    return _find_stream(value, is_model)


def _find_stream(value: Any, is_model: bool) -> str | None:
    """A tool's stream is a generator: an open file of its is none."""
    kind = type(value)
    if kind in _PLAIN:
        return None
    if kind is types.GeneratorType:
        return STREAM
    if kind is types.AsyncGeneratorType:
        return ASYNC_STREAM
    if not is_model or kind.__module__ == "unittest.mock":  # a mock has every method
        return None
    if hasattr(kind, "__aiter__"):
        return ASYNC_STREAM
    if hasattr(kind, "__next__"):
        return STREAM
    if kind.__name__.endswith("StreamManager"):  # of the common clients: entered, it is a stream
        return ASYNC_STREAM if hasattr(kind, "__aenter__") else STREAM
    return None


def _join(outer: str | None, inner: str | None) -> str:
    return " ".join(word for word in (outer, inner) if word)


def _is_loop_running() -> bool:
    return asyncio._get_running_loop() is not None


class Expectation:
    """What is known of one function's results: by its marks, and by those that it gave.

    `stream` is what is meant by an argument `stream=True`, before it has given one.
    """

    def __init__(self, function: Any, *, is_model: bool, stream: str = STREAM) -> None:
        self.is_model = is_model
        self._usual_stream = stream
        self._may_be_awaitable = may_give_awaitable(function)
        self.outer: str | None = None
        self.stream: str | None = None
        self.is_known = self._may_be_awaitable
        """Whether it may give something else than a plain value."""

    def note(self, shape: str) -> None:
        if shape in (AWAITABLE, FUTURE):
            self.outer = shape
        else:
            self.stream = shape
        self.is_known = True

    def forget(self) -> None:
        """It gave a plain value: what it gives depends on its arguments."""
        self.outer = self.stream = None
        self._may_be_awaitable = self.is_known = False

    @property
    def can_wait(self) -> bool:
        """Whether its caller can be given something that waits, instead of being blocked."""
        if not _is_loop_running():
            return False
        return self.outer is not None or self._may_be_awaitable or self.stream == ASYNC_STREAM

    def guess(self, wants_stream: bool) -> str:
        """The shape of a result that it did not give itself."""
        outer, stream = self.outer, self.stream
        if outer is None and self._may_be_awaitable and _is_loop_running():
            outer = AWAITABLE
        if stream is None and wants_stream:
            stream = STREAM if self._usual_stream == STREAM and outer is None else ASYNC_STREAM
        return _join(outer, stream)


# -- drivers ---------------------------------------------------------------------------------------


def call(
    bridge: Bridge,
    flow: Flow,
    perform: Callable[[Any], Any],
    expected: Expectation,
    wants_stream: bool = False,
) -> Any:
    """Drive the flow of a plain function. What is not there yet goes on by itself."""
    send: Callable[[Any], Any] = flow.send
    value: Any = None
    is_own = False
    while True:
        try:
            step = send(value)
        except StopIteration as end:
            return end.value if is_own else _give(end.value, expected.guess(wants_stream))
        except Exhausted as exhausted:
            return _give_error(exhausted, expected.guess(wants_stream))
        except Exception as error:
            if expected.is_known:
                return _give_error(error, expected.guess(wants_stream))
            raise
        send = flow.send
        try:
            if isinstance(step, Stop):
                if expected.can_wait:
                    return _defer(bridge, flow, step, perform, expected, wants_stream)
                value = step.wait()
                continue
            result = (
                perform(step.input)
                if step.tool is None
                else run_tool(bridge, step.input, step.tool, perform)
            )
        except BaseException as error:  # the flow decides what becomes of it
            send, value = flow.throw, make_throwable(error)
            continue
        if type(result) not in _PLAIN:
            shape = _find_shape(result, expected.is_model)
            if shape is not None:
                expected.note(shape)
                return _go_on(bridge, flow, step, result, shape, expected)
        if expected.is_known:
            expected.forget()
        value, is_own = result, True


def _go_on(
    bridge: Bridge, flow: Flow, step: Perform, result: Any, shape: str, expected: Expectation
) -> Any:
    if shape not in (AWAITABLE, FUTURE):
        return _open_stream(flow, result, shape, shape, step.tool)

    async def perform(_given: Any) -> Any:
        return await result

    if step.tool is not None:
        bridge.control.announce_tool(step.tool.id, has_returned_awaitable=True)
    rest = _drive(bridge, flow, step, perform, expected, shape)
    return asyncio.ensure_future(rest) if shape == FUTURE and _is_loop_running() else rest


def _defer(
    bridge: Bridge,
    flow: Flow,
    stop: Stop,
    perform: Callable[[Any], Any],
    expected: Expectation,
    wants_stream: bool,
) -> Any:
    """Something that waits at the stop, and then makes the call."""
    if expected.outer is None and expected.stream == ASYNC_STREAM:
        chunks = stream_async(bridge, flow, perform, stop, ASYNC_STREAM)
        return AsyncStream(flow, chunks, None, ASYNC_STREAM)
    outer = expected.outer or AWAITABLE

    async def call_then(given: Any) -> Any:
        result = perform(given)
        return await result if inspect.isawaitable(result) else result

    rest = _drive(bridge, flow, stop, call_then, expected, outer, wants_stream)
    return asyncio.ensure_future(rest) if outer == FUTURE else rest


async def call_async(
    bridge: Bridge,
    flow: Flow,
    perform: Callable[[Any], Awaitable[Any]],
    expected: Expectation,
    wants_stream: bool = False,
) -> Any:
    """Drive the flow of a coroutine function, which may give a stream."""
    try:
        step = flow.send(None)
    except StopIteration as end:
        return _give_inner(end.value, expected.guess(wants_stream))
    except Exhausted as exhausted:
        raise exhausted.error from None
    return await _drive(bridge, flow, step, perform, expected, None, wants_stream)


async def _drive(
    bridge: Bridge,
    flow: Flow,
    step: Stop | Perform,
    perform: Callable[[Any], Awaitable[Any]],
    expected: Expectation,
    outer: str | None,
    wants_stream: bool = False,
) -> Any:
    """Drive a flow on from one of its steps."""
    is_own = False
    while True:
        send: Callable[[Any], Any] = flow.send
        try:
            if isinstance(step, Stop):
                value: Any = await step.wait_async()
            else:
                if step.tool is None:
                    value = await perform(step.input)
                else:
                    value = await run_tool_async(bridge, step.input, step.tool, perform)
                inner = _find_stream(value, expected.is_model)
                if inner is not None:
                    expected.note(inner)
                    return _open_stream(flow, value, inner, _join(outer, inner), step.tool)
                result, is_own = value, True
                if outer is not None:
                    value = Shaped(value, outer)
        except BaseException as error:  # the flow decides what becomes of it
            send, value = flow.throw, make_throwable(error)
            if outer is not None and isinstance(error, Exception):
                value = ShapedError(error, outer)
        try:
            step = send(value)
        except StopIteration as end:
            return result if is_own else _give_inner(end.value, expected.guess(wants_stream))
        except Exhausted as exhausted:
            raise exhausted.error from None


# -- results that the function did not give itself -------------------------------------------------


def _give(value: Any, guess: str) -> Any:
    """A result of a recording or a decision, as the function would give it; or a plain one."""
    if not guess and type(value) is not Shaped:
        return value
    words = (value.shape if isinstance(value, Shaped) else guess).split()
    result = _give_inner(value, guess)
    if AWAITABLE not in words and FUTURE not in words:
        return result

    async def give() -> Any:
        return result

    return asyncio.ensure_future(give()) if FUTURE in words and _is_loop_running() else give()


def _give_inner(value: Any, guess: str) -> Any:
    """The same without its awaitable: whoever asks is in it already."""
    words = (value.shape if isinstance(value, Shaped) else guess).split()
    result = value.value if isinstance(value, Shaped) else value
    if STREAM in words:
        return Stream(None, iter(_list_chunks(result)), None, STREAM)
    if ASYNC_STREAM in words:
        return AsyncStream(None, _iterate(_list_chunks(result)), None, ASYNC_STREAM)
    return result


def _give_error(error: Exception, guess: str) -> Any:
    """An error of a recording or a decision, raised where the function would raise it."""
    words = (error.shape if isinstance(error, ShapedError) else guess).split()
    inner = error.error if isinstance(error, Exhausted) else error
    if AWAITABLE not in words and FUTURE not in words:
        if inner is error:
            raise error
        raise inner from None

    async def fail() -> Any:
        raise inner

    return asyncio.ensure_future(fail()) if FUTURE in words and _is_loop_running() else fail()


def _list_chunks(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


async def _iterate(chunks: list[Any]) -> AsyncIterator[Any]:
    for chunk in chunks:
        yield chunk


# -- streams ---------------------------------------------------------------------------------------


def _open_stream(flow: Flow, source: Any, kind: str, shape: str, tool: ActiveTool | None) -> Any:
    """The stream of a function, recorded as it is read."""
    if type(source) is types.GeneratorType or type(source) is types.AsyncGeneratorType:
        reading = _Reading(flow, source, shape)
        stream = (relay if kind == STREAM else relay_async)(flow, reading.open, shape, tool)
        weakref.finalize(stream, reading.end_unread).atexit = False
        return stream
    return (Stream if kind == STREAM else AsyncStream)(flow, None, source, shape)


class _Reading:
    """Of a generator: one that nobody begins to read runs no code of its own when it goes."""

    def __init__(self, flow: Flow, source: Any, shape: str) -> None:
        self._flow, self._source, self._shape = flow, source, shape
        self._has_begun = False

    def open(self) -> Any:
        self._has_begun = True
        return self._source

    def end_unread(self) -> None:
        if not self._has_begun:
            finish_flow(self._flow, Shaped([], self._shape, is_partial=True))


class _AnyStream:
    """A stream as a client's own: what it has besides its chunks is that of the original."""

    def __init__(self, flow: Flow | None, chunks: Any, original: Any, shape: str) -> None:
        self._holdfast_flow = flow
        self._holdfast_chunks = chunks
        self._holdfast_original = original
        self._holdfast_shape = shape

    def __getattr__(self, name: str) -> Any:
        original = self.__dict__.get("_holdfast_original")
        if original is None:
            raise AttributeError(f"a stream of a recording or a decision has no {name!r}")
        return getattr(original, name)

    def _finish(self) -> None:
        """It is not read any further."""
        flow, self._holdfast_flow = self._holdfast_flow, None
        if flow is not None and self._holdfast_chunks is None:
            finish_flow(flow, Shaped([], self._holdfast_shape, is_partial=True))

    def __del__(self) -> None:
        with contextlib.suppress(Exception):  # at the end of the interpreter anything may be gone
            self._finish()


class Stream(_AnyStream):
    def _open(self) -> Generator[Any, None, Any] | Iterator[Any]:
        if self._holdfast_chunks is None:
            flow, original = self._holdfast_flow, self._holdfast_original
            assert flow is not None
            self._holdfast_chunks = relay(flow, lambda: iter(original), self._holdfast_shape)
        chunks: Iterator[Any] = self._holdfast_chunks
        return chunks

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return next(self._open())

    def __enter__(self) -> Stream:
        original = self._holdfast_original
        if hasattr(type(original), "__enter__"):
            self._holdfast_entered = original
            entered = original.__enter__()
            if entered is not original and hasattr(entered, "__iter__"):
                self._holdfast_original = entered
        return self

    def __exit__(self, *problem: Any) -> Any:
        self._close_chunks()
        entered = self.__dict__.pop("_holdfast_entered", None)
        return None if entered is None else entered.__exit__(*problem)

    def close(self) -> None:
        self._close_chunks()
        close = getattr(self._holdfast_original, "close", None)
        if callable(close):
            close()

    def _close_chunks(self) -> None:
        if isinstance(self._holdfast_chunks, types.GeneratorType):
            self._holdfast_chunks.close()
        self._finish()


class AsyncStream(_AnyStream):
    def _open(self) -> AsyncIterator[Any]:
        if self._holdfast_chunks is None:
            flow, original = self._holdfast_flow, self._holdfast_original
            assert flow is not None
            self._holdfast_chunks = relay_async(flow, lambda: aiter(original), self._holdfast_shape)
        chunks: AsyncIterator[Any] = self._holdfast_chunks
        return chunks

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        return await anext(self._open())

    async def __aenter__(self) -> AsyncStream:
        original = self._holdfast_original
        if hasattr(type(original), "__aenter__"):
            self._holdfast_entered = original
            entered = await original.__aenter__()
            if entered is not original and hasattr(entered, "__aiter__"):
                self._holdfast_original = entered
        return self

    async def __aexit__(self, *problem: Any) -> Any:
        await self._close_chunks()
        entered = self.__dict__.pop("_holdfast_entered", None)
        return None if entered is None else await entered.__aexit__(*problem)

    async def close(self) -> None:
        await self._close_chunks()
        for name in ("close", "aclose"):
            close = getattr(self._holdfast_original, name, None)
            if callable(close):
                ended = close()
                if inspect.isawaitable(ended):
                    await ended
                return

    aclose = close

    async def _close_chunks(self) -> None:
        if isinstance(self._holdfast_chunks, types.AsyncGeneratorType):
            await self._holdfast_chunks.aclose()
        self._finish()
