"""Asynchronous calls: awaited, held without blocking their loop, and recorded when they end."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from application import Application
from background import run_in_thread
from holdfast import (
    AsyncDebugProxy,
    DebugProxy,
    DebugServerError,
    DebugTimeoutError,
    async_debug_call,
    debug_call,
    with_debug,
)
from scripted_server import CONTINUE, ScriptedServer, accept_all


class Shop:
    """Some of it takes its time."""

    def __init__(self) -> None:
        self.log: list[str] = []

    async def order(self, what: str, count: int = 1) -> str:
        await asyncio.sleep(0)
        self.log.append(what)
        return what * count

    async def fail(self) -> None:
        raise LookupError("sold out")

    def stock(self) -> int:
        return 3

    async def deliveries(self) -> AsyncIterator[int]:
        for number in range(3):
            yield number

    async def __aenter__(self) -> Shop:
        self.log.append("open")
        return self

    async def __aexit__(self, kind: Any, problem: Any, trace: Any) -> bool:
        self.log.append("closed" if kind is None else kind.__name__)
        return kind is KeyError


class Ticks:
    """Counts to two, asynchronously."""

    def __init__(self) -> None:
        self.at = 0

    def __aiter__(self) -> Ticks:
        return self

    async def __anext__(self) -> int:
        self.at += 1
        if self.at > 2:
            raise StopAsyncIteration
        return self.at


class Later:
    """Can be awaited."""

    def __await__(self) -> Any:
        yield from asyncio.sleep(0).__await__()
        return "now"


async def greet(name: str) -> str:
    await asyncio.sleep(0)
    return f"hello {name}"


def test_async_proxy_wraps_async_methods(app: Application) -> None:
    shop = with_debug(Shop())
    assert issubclass(type(shop), AsyncDebugProxy)
    assert issubclass(type(shop), DebugProxy)
    assert inspect.iscoroutinefunction(shop.order)
    assert not inspect.iscoroutinefunction(shop.stock)


def test_async_proxy_awaitable(app: Application) -> None:
    assert asyncio.run(with_debug(Shop()).order("tea", count=2)) == "teatea"
    call = app.read_call("order")
    assert call["result"]["text"] == "'teatea'"
    assert call["task"].startswith("Task-")


def test_async_exceptions_propagate(app: Application) -> None:
    with pytest.raises(LookupError, match="sold out"):
        asyncio.run(with_debug(Shop()).fail())
    assert app.read_call("fail")["exception_type"] == "LookupError"


def test_async_functions_can_be_wrapped(app: Application) -> None:
    wrapped = with_debug(greet)
    assert issubclass(type(wrapped), AsyncDebugProxy)
    assert inspect.iscoroutinefunction(wrapped)
    assert asyncio.run(wrapped("you")) == "hello you"
    assert app.list_names() == ["greet"]


def test_async_proxy_poll_uses_asyncio_sleep(
    scripted: Callable[..., ScriptedServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a server that answers at once; the loop is never put to sleep."""
    answers = iter(["waiting", "waiting", "ready"])

    def poll(body: Any) -> Any:
        return {"status": next(answers), "action": {"action": "continue"}}

    start = {**CONTINUE, "action": "poll", "poll_url": "/api/poll/p", "poll_interval_ms": 5}
    scripted(accept_all(start={**start, "timeout_ms": 30_000}, poll=poll))
    shop = with_debug(Shop())

    def forbidden(seconds: float) -> None:
        raise AssertionError("the loop was put to sleep")

    monkeypatch.setattr(time, "sleep", forbidden)
    assert asyncio.run(shop.order("tea")) == "tea"


def test_a_held_call_blocks_nothing_else_in_its_loop(app: Application) -> None:
    app.break_on("order")
    shop = with_debug(Shop())

    async def main() -> list[str]:
        loop = asyncio.get_running_loop()
        held = [asyncio.create_task(shop.order(name)) for name in ("tea", "milk", "jam")]
        holds = [await loop.run_in_executor(None, app.wait_for_hold) for _ in held]
        assert await greet("loop") == "hello loop"
        assert not any(task.done() for task in held)
        for hold in holds:
            await loop.run_in_executor(None, app.decide, hold, "continue")
        return list(await asyncio.gather(*held))

    assert asyncio.run(main()) == ["tea", "milk", "jam"]


def test_async_proxy_concurrent_calls(app: Application) -> None:
    async def main() -> list[str]:
        shop = with_debug(Shop())
        return list(await asyncio.gather(*(shop.order(str(number)) for number in range(20))))

    assert asyncio.run(main()) == [str(number) for number in range(20)]
    assert len({call["call_id"] for call in app.list_calls("order")}) == 20


def test_async_proxy_timeout_raises(scripted: Callable[..., ScriptedServer]) -> None:
    start = {**CONTINUE, "action": "poll", "poll_url": "/api/poll/p", "poll_interval_ms": 1}
    scripted(accept_all(start={**start, "timeout_ms": 30}, poll={"status": "waiting"}))
    shop = Shop()
    with pytest.raises(DebugTimeoutError):
        asyncio.run(with_debug(shop).order("tea"))
    assert shop.log == []


def test_an_async_call_that_loses_its_server_fails_closed(
    scripted: Callable[..., ScriptedServer],
) -> None:
    start = {**CONTINUE, "action": "poll", "poll_url": "/api/poll/p", "timeout_ms": 30_000}
    scripted(accept_all(start=start, poll=None))
    shop = Shop()
    with pytest.raises(DebugServerError):
        asyncio.run(with_debug(shop).order("tea"))
    assert shop.log == []


def test_async_proxy_mixed_sync_async(app: Application) -> None:
    shop = with_debug(Shop())
    assert shop.stock() == 3
    assert asyncio.run(shop.order("tea")) == "tea"
    assert app.list_names() == ["stock", "order"]


def test_async_proxy_generator(app: Application) -> None:
    async def main() -> list[int]:
        return [number async for number in with_debug(Shop()).deliveries()]

    assert asyncio.run(main()) == [0, 1, 2]
    assert app.read_call("deliveries")["marker"] == "async_generator"


def test_async_iteration(app: Application) -> None:
    async def main() -> list[int]:
        return [number async for number in with_debug(Ticks())]

    assert asyncio.run(main()) == [1, 2]
    assert app.list_names()[0] == "__aiter__"


def test_async_proxy_context_manager(app: Application) -> None:
    shop = Shop()

    async def main() -> None:
        proxy = with_debug(shop)
        async with proxy as opened:
            assert opened is proxy
        async with with_debug(shop):
            raise KeyError("swallowed")

    asyncio.run(main())
    assert shop.log == ["open", "closed", "open", "KeyError"]
    assert app.list_names() == ["__aenter__", "__aexit__"] * 2


def test_awaiting_a_proxy(app: Application) -> None:
    async def main() -> Any:
        return await with_debug(Later())

    assert asyncio.run(main()) == "now"
    assert app.read_call("__await__")["result"]["text"] == "'now'"


def test_a_cancelled_call_is_reported_and_stays_cancelled(app: Application) -> None:
    app.break_on("order")
    shop = with_debug(Shop())

    async def main() -> None:
        task = asyncio.create_task(shop.order("tea"))
        await asyncio.get_running_loop().run_in_executor(None, app.wait_for_hold)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert "CancelledError" in app.read_call("order")["exception_type"]


@pytest.mark.parametrize("mode", ["strict", "leased"])
def test_a_call_held_at_its_end_and_cancelled_is_held_no_more(app: Application, mode: str) -> None:
    app.restart(mode=mode)
    app.break_on("order", when="after")
    shop, holds = with_debug(Shop()), []

    async def main() -> None:
        task = asyncio.create_task(shop.order("tea"))
        holds.append(await asyncio.get_running_loop().run_in_executor(None, app.wait_for_hold))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    shown = app.server.get(f"/api/holds/{holds[0]}")
    assert (shown["open"], shown["outcome"]) == (False, "withdrawn")
    assert app.read_call("order")["status"] == "success"


def test_async_calls_know_their_parents(app: Application) -> None:
    async def inner(number: int) -> int:
        return number

    async def outer() -> int:
        found = await asyncio.gather(async_debug_call(inner, 1), async_debug_call(inner, 2))
        return len(found)

    assert asyncio.run(with_debug(outer)()) == 2
    parent = app.read_call("outer")["call_id"]
    for call in app.list_calls("inner"):
        whole = app.server.get(f"/api/calls/{call['call_id']}")
        assert whole["parent_call_id"] == parent


def test_off_passes_async_calls_straight_through(app: Application) -> None:
    shop = with_debug(Shop())
    with_debug("OFF")
    assert asyncio.run(shop.order("tea")) == "tea"
    assert app.list_calls() == []


# -- asynchronous generators -----------------------------------------------------------------------


async def echo(first: str) -> AsyncGenerator[str, str]:
    """Says back what it is sent; a KeyError is an event like others."""
    said = first
    while said:
        try:
            said = yield said
        except KeyError:
            said = "a key"


def test_what_gives_steps_is_known_as_such(app: Application) -> None:
    class Both:
        def each(self) -> Iterator[int]:
            yield 1

        async def soon(self) -> AsyncIterator[int]:
            yield 1

        async def one(self) -> int:
            return 1

        def plain(self) -> int:
            return 1

    both, wrapped = with_debug(Both()), with_debug(echo)
    tests = (inspect.isgeneratorfunction, inspect.isasyncgenfunction, inspect.iscoroutinefunction)
    found = [[test(getattr(both, name)) for test in tests] for name in dir(Both)[-4:]]
    assert found == [[test(getattr(Both, name)) for test in tests] for name in dir(Both)[-4:]]
    assert inspect.isasyncgenfunction(wrapped)
    assert inspect.isasyncgen(wrapped("a"))
    assert list(both.each()) == [1]
    assert inspect.signature(both.soon) == inspect.signature(Both().soon)


@pytest.mark.parametrize("mode", ["strict", "leased"])
@pytest.mark.parametrize("make", [lambda: with_debug(echo)("a"), lambda: debug_call(echo, "a")])
def test_an_async_generator_is_sent_to_and_thrown_into(
    app: Application, mode: str, make: Callable[[], Any]
) -> None:
    app.restart(mode=mode)

    async def talk() -> list[Any]:
        steps = make()
        heard = [await steps.__anext__(), await steps.asend("b"), await steps.athrow(KeyError())]
        with pytest.raises(StopAsyncIteration):
            await steps.asend("")
        others = make()
        await others.__anext__()
        with pytest.raises(LookupError):
            await others.athrow(LookupError())
        closed = make()
        await closed.__anext__()
        await closed.aclose()
        with pytest.raises(StopAsyncIteration):
            await closed.__anext__()
        return heard

    assert asyncio.run(talk()) == ["a", "b", "a key"]
    with_debug("OFF")
    assert app.list_names() == ["echo"] * 3
    assert app.read_call("echo")["marker"] == "async_generator"


@pytest.mark.parametrize("mode", ["strict", "leased"])
def test_a_held_async_generator_function_does_not_block_its_loop(
    app: Application, mode: str
) -> None:
    app.restart(mode=mode)
    app.break_on("deliveries")
    shop = with_debug(Shop())

    async def both() -> list[int]:
        async def taken() -> list[int]:
            return [each async for each in shop.deliveries()]

        task = asyncio.create_task(taken())
        hold = await asyncio.to_thread(app.wait_for_hold)
        await asyncio.to_thread(app.decide, hold, "continue")
        return await task

    running = run_in_thread(lambda: asyncio.run(both()))
    assert running.result(60) == [0, 1, 2]
    assert app.read_call("deliveries")["marker"] == "async_generator"


def test_a_list_may_be_decided_to_be_the_steps(app: Application) -> None:
    app.break_on("echo", action={"action": "skip", "fake_result": {"value": ["x", "y"]}})

    async def heard() -> list[str]:
        return [each async for each in with_debug(echo)("a")]

    assert asyncio.run(heard()) == ["x", "y"]


# -- where from ------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["strict", "leased"])
@pytest.mark.parametrize(
    "make",
    [
        lambda: with_debug(greet)("you"),
        lambda: with_debug(Shop()).order("tea"),
        lambda: debug_call(greet, "you"),
    ],
)
def test_a_task_is_called_where_its_coroutine_was_made(
    app: Application, make: Callable[[], Any], mode: str
) -> None:
    app.restart(mode=mode)

    def begin() -> Any:
        return asyncio.create_task(make())

    async def wait() -> None:
        await begin()

    asyncio.run(wait())
    with_debug("OFF")
    call = app.server.get(f"/api/calls/{app.list_calls()[-1]['call_id']}")
    functions = [each["function"] for each in call["call_site"]["stack_trace"]]
    assert functions[:3] == ["<lambda>", "begin", "wait"]


def test_a_decision_about_a_held_coroutine_is_checked_by_its_loop(app: Application) -> None:
    app.break_on("order")
    shop = with_debug(Shop())
    running = run_in_thread(lambda: asyncio.run(shop.order("tea")))
    path = f"/api/holds/{app.wait_for_hold()}/decision"
    wrong = {"action": "modify", "modified_kwargs": {"wat": {"value": "x"}}}
    error = app.server.post(path, wrong, expect=400)
    assert "did you mean what?" in error["error"]["message"]
    app.server.post(path, {"action": "modify", "modified_kwargs": {"count": {"value": 2}}})
    assert running.result(60) == "teatea"
