"""Functions that give an awaitable or a stream: recorded, held and replayed as one call."""

from __future__ import annotations

import asyncio
import functools
import gc
import inspect
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

from agent_loops import SessionFiles, open_bridge
from background import run_in_thread
from holdfast.bridge import Bridge, ToolCancelled, ToolDenied
from holdfast.core.agent_rules import parse_rule


def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator as many are: a plain function around a coroutine function."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


def hide(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same without a mark."""
    return lambda *args, **kwargs: function(*args, **kwargs)


def schedule(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **kwargs: asyncio.ensure_future(function(*args, **kwargs))


class Caller:
    """An object whose `__call__` is a coroutine function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    async def __call__(self, number: int) -> Any:
        return await self._function(number)


WAYS: dict[str, Callable[[Callable[..., Any]], Callable[..., Any]]] = {
    "decorated": decorate,
    "unmarked": hide,
    "future": schedule,
    "partial": functools.partial,
    "object": Caller,
    "partial of an object": lambda function: functools.partial(Caller(function)),
}
if sys.version_info >= (3, 12):
    WAYS["marked"] = lambda function: inspect.markcoroutinefunction(hide(function))


def files(dbg: Bridge) -> SessionFiles:
    assert dbg.home is not None
    return SessionFiles(dbg.home)


@pytest.fixture
def dbg(tmp_path: Path) -> Iterator[Bridge]:
    with open_bridge(tmp_path) as found:
        yield found
        for stop in list(found.control.stops.values()):
            found.control.leave(stop)


class Beat:
    """Runs a coroutine, and knows whether its event loop goes on."""

    def __init__(self) -> None:
        self._beats = threading.Event()

    def run(self, main: Callable[[], Any]) -> Any:
        async def beat() -> None:
            while True:
                self._beats.set()
                await asyncio.sleep(0.005)

        async def both() -> Any:
            beating = asyncio.ensure_future(beat())
            try:
                return await main()
            finally:
                beating.cancel()

        return asyncio.run(both())

    def goes_on(self) -> bool:
        self._beats.clear()
        return self._beats.wait(60)


# -- awaitables ------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_an_awaitable_is_recorded_when_it_is_done(dbg: Bridge, way: str) -> None:
    async def double(number: int) -> int:
        await asyncio.sleep(0)
        return number * 2

    tool = dbg.tool(WAYS[way](double), name="double")

    async def main() -> Any:
        return await tool(number=4)

    assert asyncio.run(main()) == 8
    [result], [end] = files(dbg).data_of("tool_result"), files(dbg).data_of("tool_call_end")
    assert (result["result"], end["isError"]) == (8, False)
    assert "resultMarker" not in result


@pytest.mark.parametrize("way", WAYS)
def test_the_event_loop_goes_on_while_one_is_held(dbg: Bridge, way: str) -> None:
    ran: list[int] = []

    async def double(number: int) -> int:
        ran.append(number)
        return number * 2

    tool = dbg.tool(WAYS[way](double), name="double")
    beat, armed = Beat(), threading.Event()

    async def main() -> Any:
        first = await tool(number=1)  # which of them give an awaitable is known from now on
        await asyncio.to_thread(armed.wait)
        return first, await tool(number=2)

    running = run_in_thread(lambda: beat.run(main))
    files(dbg).breakpoint(on="tool", name="double", condition="input['number'] == 2")
    armed.set()
    files(dbg).wait_for_stop()
    assert beat.goes_on()
    assert ran == [1]
    files(dbg).resume(action="modify", input={"number": 21})
    assert running.result(60) == (2, 42)


def test_a_marked_one_is_held_without_blocking_from_its_first_call_on(dbg: Bridge) -> None:
    async def double(number: int) -> int:
        return number * 2

    tool = dbg.tool(decorate(double))
    files(dbg).breakpoint(on="tool", name="double")
    beat = Beat()
    running = run_in_thread(lambda: beat.run(lambda: tool(4)))
    files(dbg).wait_for_stop()
    assert beat.goes_on()
    files(dbg).resume(action="skip", result=7)
    assert running.result(60) == 7


def test_a_plain_function_around_a_coroutine_keeps_its_result(dbg: Bridge) -> None:
    async def double(number: int) -> int:
        return number * 2

    @functools.wraps(double)
    def wait_for_it(number: int) -> int:
        return asyncio.run(double(number))

    tool = dbg.tool(wait_for_it)
    assert tool(2) == 4
    files(dbg).breakpoint(on="tool", name="double")
    running = run_in_thread(lambda: tool(3))
    files(dbg).wait_for_stop()
    files(dbg).resume(action="skip", result=7)
    assert running.result(60) == 7


def test_an_error_is_raised_where_it_is_awaited_and_denied_there_too(dbg: Bridge) -> None:
    async def fail() -> None:
        raise ValueError("no")

    tool = dbg.tool(decorate(fail))

    async def main() -> list[Any]:
        return list(await asyncio.gather(tool(), return_exceptions=True))

    [error] = asyncio.run(main())
    assert isinstance(error, ValueError)
    [end] = files(dbg).data_of("tool_call_end")
    assert (end["isError"], end["error"]["message"]) == (True, "no")
    dbg.control.rules = (parse_rule({"tool": "fail", "action": "deny"}, "rule-1"),)
    [error] = asyncio.run(main())
    assert isinstance(error, ToolDenied)


def test_a_tool_that_is_a_future_can_be_cancelled_by_its_owner(dbg: Bridge) -> None:
    async def wait() -> None:
        await asyncio.Event().wait()

    tool = dbg.tool(schedule(wait), name="wait")

    async def main() -> bool:
        future = tool()
        await asyncio.sleep(0)
        future.cancel()
        await asyncio.wait({future})
        return bool(future.cancelled())

    assert asyncio.run(main())
    [end] = files(dbg).data_of("tool_call_end")
    assert (end["isError"], end["error"]["type"]) == (True, "CancelledError")


# -- streams ---------------------------------------------------------------------------------------


class ClientStream:
    """A stream as the common clients have them."""

    def __init__(self, chunks: list[str]) -> None:
        self._chunks = iter(chunks)
        self.response = "200 OK"
        self.is_closed = False

    def __iter__(self) -> Iterator[str]:
        return self._chunks

    def __next__(self) -> str:
        return next(self._chunks)

    def __enter__(self) -> ClientStream:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def close(self) -> None:
        self.is_closed = True


class AsyncClientStream(ClientStream):
    def __aiter__(self) -> AsyncIterator[str]:
        return self

    async def __anext__(self) -> str:
        await asyncio.sleep(0)
        try:
            return next(self._chunks)
        except StopIteration:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> AsyncClientStream:
        return self

    async def __aexit__(self, *problem: object) -> None:
        self.close()


class MessageStreamManager:
    """Entered, it is a stream."""

    def __init__(self, stream: ClientStream) -> None:
        self._stream = stream

    def __enter__(self) -> ClientStream:
        return self._stream

    def __exit__(self, *problem: object) -> None:
        self._stream.close()


class Client:
    """`create(stream=True)`, plain and async."""

    def __init__(self, chunks: list[str]) -> None:
        self.chunks = chunks
        self.made: list[ClientStream] = []

    def create(self, messages: list[Any], stream: bool = False) -> Any:
        if not stream:
            return {"content": "".join(self.chunks)}
        self.made.append(ClientStream(self.chunks))
        return self.made[-1]

    async def acreate(self, messages: list[Any], stream: bool = False) -> Any:
        await asyncio.sleep(0)
        if not stream:
            return {"content": "".join(self.chunks)}
        self.made.append(AsyncClientStream(self.chunks))
        return self.made[-1]

    def manage(self, messages: list[Any]) -> Any:
        self.made.append(ClientStream(self.chunks))
        return MessageStreamManager(self.made[-1])


def use_plain(dbg: Bridge, client: Client) -> Any:
    create = dbg.model(client.create)
    with create([], stream=True) as stream:
        return list(stream), create([])


def use_managed(dbg: Bridge, client: Client) -> Any:
    manage = dbg.model(client.manage)
    with manage([]) as stream:
        return list(stream)


def use_async(dbg: Bridge, client: Client) -> Any:
    create = dbg.model(client.acreate)

    async def main() -> Any:
        async with await create([], stream=True) as stream:
            return [chunk async for chunk in stream], await create([])

    return asyncio.run(main())


def use_decorated(dbg: Bridge, client: Client) -> Any:
    create = dbg.model(decorate(client.acreate))

    async def main() -> Any:
        async with await create([], stream=True) as stream:
            return [chunk async for chunk in stream], await create([])

    return asyncio.run(main())


def use_generators(dbg: Bridge, client: Client) -> Any:
    def give() -> Iterator[str]:
        yield from client.chunks

    async def agive() -> AsyncIterator[str]:
        for chunk in client.chunks:
            yield chunk

    tool, atool = dbg.tool(give), dbg.tool(hide(agive), name="agive")

    async def main() -> Any:
        return [chunk async for chunk in atool()]

    return list(tool()), asyncio.run(main())


USES = [use_plain, use_managed, use_async, use_decorated, use_generators]


@pytest.mark.parametrize("use", USES)
def test_a_stream_is_recorded_by_chunks_and_replayed_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, use: Callable[[Bridge, Client], Any]
) -> None:
    client = Client(["Gr", "üße"])
    with open_bridge(tmp_path) as dbg:
        given = use(dbg, client)
        assert "Gr" in str(given)
        first = files(dbg)
    streams = [
        data for data in first.data_of("api_response", "tool_result") if "stream" in str(data)
    ]
    for data in streams:
        assert data.get("response", data.get("result")) == ["Gr", "üße"]
        assert "partial" not in data
    assert streams
    assert all(stream.is_closed for stream in client.made)

    monkeypatch.setenv("HOLDFAST_REPLAY", first.home.id)
    with open_bridge(tmp_path) as dbg:
        nobody = Client([])
        assert use(dbg, nobody) == given
        assert nobody.made == []
        assert files(dbg).data_of("replay_diverged") == []


def test_a_stream_has_what_the_original_has_and_may_be_left_early(dbg: Bridge) -> None:
    client = Client(["a", "b", "c"])
    stream = dbg.model(client.create)([], stream=True)
    assert stream.response == "200 OK"
    assert next(stream) == "a"
    stream.close()
    [response] = files(dbg).data_of("api_response")
    assert (response["response"], response["partial"]) == (["a"], True)
    assert client.made[0].is_closed


def test_a_stream_that_nobody_reads_is_on_record_too(dbg: Bridge) -> None:
    dbg.model(Client(["a"]).create)([], stream=True)
    [response] = files(dbg).data_of("api_response")
    assert (response["response"], response["partial"]) == ([], True)


@pytest.mark.parametrize("is_async", [False, True])
def test_a_generator_that_nobody_reads_is_on_record_and_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_async: bool
) -> None:
    def count() -> Iterator[int]:
        yield 1

    async def count_async() -> AsyncIterator[int]:
        yield 1

    def run(bridge: Bridge) -> None:
        bridge.tool(count_async if is_async else count, name="count")()
        bridge.tool(lambda: "done", name="last")()

    with open_bridge(tmp_path) as dbg:
        run(dbg)
    [result, _] = files(dbg).data_of("tool_result")
    assert (result["result"], result["partial"]) == ([], True)
    assert len(files(dbg).data_of("tool_call_end")) == 2
    monkeypatch.setenv("HOLDFAST_REPLAY", dbg.id)
    with open_bridge(tmp_path) as again:
        run(again)
    assert not files(again).data_of("replay_diverged")


def test_a_stream_may_be_ended_by_the_garbage_collector_while_an_event_is_written(
    dbg: Bridge,
) -> None:
    count = dbg.tool(lambda: (number for number in range(2)), name="count")

    def leave_in_a_cycle() -> None:
        begun = count()
        assert next(begun) == 0
        cycle: list[Any] = [begun, count()]
        cycle.append(cycle)

    def collect(*_event: object) -> None:
        gc.collect()

    gc.disable()
    try:
        leave_in_a_cycle()
        dbg.listen(collect)
        run_in_thread(dbg.tool(lambda: "done", name="last")).result(60)
    finally:
        gc.enable()
    results = files(dbg).data_of("tool_result")
    assert sorted(str(each["result"]) for each in results) == ["[0]", "[]", "done"]
    numbers = [event["seq"] for event in files(dbg).events]
    assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("is_async", [False, True])
def test_a_made_up_answer_is_a_stream_if_one_was_asked_for(dbg: Bridge, is_async: bool) -> None:
    client = Client(["a"])
    create = dbg.model(client.acreate if is_async else client.create)

    async def main() -> Any:
        return [chunk async for chunk in await create([], stream=True)]

    files(dbg).breakpoint(on="model")
    running = run_in_thread(
        (lambda: asyncio.run(main())) if is_async else (lambda: list(create([], stream=True)))
    )
    files(dbg).wait_for_stop()
    files(dbg).resume(action="skip", result=["x", "y"])
    assert running.result(60) == ["x", "y"]
    assert client.made == []


def test_an_async_stream_of_a_plain_function_is_held_without_blocking(dbg: Bridge) -> None:
    def ask(messages: list[Any]) -> AsyncIterator[str]:
        return AsyncClientStream(["a", "b"])

    model, beat, armed = dbg.model(ask), Beat(), threading.Event()

    async def read() -> list[str]:
        return [chunk async for chunk in model([])]

    async def main() -> Any:
        first = await read()
        await asyncio.to_thread(armed.wait)
        return first, await read()

    running = run_in_thread(lambda: beat.run(main))
    files(dbg).breakpoint(on="iteration", count=2)
    armed.set()
    files(dbg).wait_for_stop()
    assert beat.goes_on()
    files(dbg).resume()
    assert running.result(60) == (["a", "b"], ["a", "b"])
    one, other = files(dbg).data_of("api_response")
    assert one["response"] == other["response"] == ["a", "b"]


def _read_held_stream(dbg: Bridge, meanwhile: Callable[[str], None]) -> list[int]:
    """The second stream of a tool, which is held first. `meanwhile` is called after one chunk."""
    found = files(dbg)

    @dbg.tool
    async def count() -> AsyncIterator[int]:
        for number in range(3):
            yield number

    async def main() -> list[int]:
        assert [number async for number in count()] == [0, 1, 2]
        await asyncio.to_thread(found.breakpoint, on="tool", name="count")
        chunks = count()
        reading = asyncio.ensure_future(anext(chunks))
        stop = await asyncio.to_thread(found.wait_for_stop)
        found.resume()
        read = [await reading]
        meanwhile(stop["toolId"])
        return read + [number async for number in chunks]

    return asyncio.run(main())


def test_a_stream_that_was_held_is_no_longer_cancelled_once_it_flows(dbg: Bridge) -> None:
    found, statuses = files(dbg), list[str]()

    def cancel(tool_id: str) -> None:
        command = found.send("cancel_tool", toolId=tool_id)
        statuses.append(found.wait_for_execution(command)["status"])

    assert _read_held_stream(dbg, cancel) == [0, 1, 2]
    assert statuses == ["expired"]  # as that of one which was not held


def test_a_stream_that_was_held_is_cancelled_before_it_begins(
    dbg: Bridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, begin, commands = files(dbg), dbg.control.begin_tool, list[str]()

    def begin_late(tool_id: str, running: Any) -> None:
        if found.data_of("paused"):
            commands.append(found.send("cancel_tool", toolId=tool_id))
            assert found.wait_for_execution(commands[0])["status"] == "accepted"
        begin(tool_id, running)

    monkeypatch.setattr(dbg.control, "begin_tool", begin_late)
    with pytest.raises(ToolCancelled, match="it was cancelled before it ran"):
        _read_held_stream(dbg, lambda _tool_id: None)
    assert found.data_of("tool_call_end")[-1]["cancelled"] is True
    assert found.wait_for("command_applied", commandId=commands[0])


def test_what_is_no_stream_stays_what_it_is(dbg: Bridge) -> None:
    value, mock = iter([1]), MagicMock()
    assert dbg.tool(lambda: value, name="give")() is value
    assert dbg.model(lambda messages: mock)([]) is mock


def test_an_open_file_of_a_tool_is_no_stream(dbg: Bridge, tmp_path: Path) -> None:
    with open(tmp_path / "a.txt", "w") as file:
        assert dbg.tool(lambda: file, name="open_file")() is file
