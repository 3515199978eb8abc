"""Asynchronous calls: awaited, held without blocking their loop, and recorded when they end."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from applications import Application
from holdfast import (
    AsyncDebugProxy,
    DebugProxy,
    DebugServerError,
    DebugTimeoutError,
    async_debug_call,
    with_debug,
)
from scripted import CONTINUE, Scripted, obliging


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
    call = app.call("order")
    assert call["result"]["text"] == "'teatea'"
    assert call["task"].startswith("Task-")


def test_async_exceptions_propagate(app: Application) -> None:
    with pytest.raises(LookupError, match="sold out"):
        asyncio.run(with_debug(Shop()).fail())
    assert app.call("fail")["exception_type"] == "LookupError"


def test_async_functions_can_be_wrapped(app: Application) -> None:
    wrapped = with_debug(greet)
    assert issubclass(type(wrapped), AsyncDebugProxy)
    assert inspect.iscoroutinefunction(wrapped)
    assert asyncio.run(wrapped("you")) == "hello you"
    assert app.names() == ["greet"]


def test_async_proxy_poll_uses_asyncio_sleep(
    scripted: Callable[..., Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a server that answers at once; the loop is never put to sleep."""
    answers = iter(["waiting", "waiting", "ready"])

    def poll(body: Any) -> Any:
        return {"status": next(answers), "action": {"action": "continue"}}

    start = {**CONTINUE, "action": "poll", "poll_url": "/api/poll/p", "poll_interval_ms": 5}
    scripted(obliging(start={**start, "timeout_ms": 30_000}, poll=poll))
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
        holds = [await loop.run_in_executor(None, app.hold) for _ in held]
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
    assert len({call["call_id"] for call in app.calls("order")}) == 20


def test_async_proxy_timeout_raises(scripted: Callable[..., Scripted]) -> None:
    start = {**CONTINUE, "action": "poll", "poll_url": "/api/poll/p", "poll_interval_ms": 1}
    scripted(obliging(start={**start, "timeout_ms": 30}, poll={"status": "waiting"}))
    shop = Shop()
    with pytest.raises(DebugTimeoutError):
        asyncio.run(with_debug(shop).order("tea"))
    assert shop.log == []


def test_an_async_call_that_loses_its_server_fails_closed(
    scripted: Callable[..., Scripted],
) -> None:
    start = {**CONTINUE, "action": "poll", "poll_url": "/api/poll/p", "timeout_ms": 30_000}
    scripted(obliging(start=start, poll=None))
    shop = Shop()
    with pytest.raises(DebugServerError):
        asyncio.run(with_debug(shop).order("tea"))
    assert shop.log == []


def test_async_proxy_mixed_sync_async(app: Application) -> None:
    shop = with_debug(Shop())
    assert shop.stock() == 3
    assert asyncio.run(shop.order("tea")) == "tea"
    assert app.names() == ["stock", "order"]


def test_async_proxy_generator(app: Application) -> None:
    async def main() -> list[int]:
        return [number async for number in with_debug(Shop()).deliveries()]

    assert asyncio.run(main()) == [0, 1, 2]
    assert app.call("deliveries")["marker"] == "async_generator"


def test_async_iteration(app: Application) -> None:
    async def main() -> list[int]:
        return [number async for number in with_debug(Ticks())]

    assert asyncio.run(main()) == [1, 2]
    assert app.names()[0] == "__aiter__"


def test_async_proxy_context_manager(app: Application) -> None:
    shop = Shop()

    async def main() -> None:
        async with with_debug(shop) as opened:
            assert opened is shop
        async with with_debug(shop):
            raise KeyError("swallowed")

    asyncio.run(main())
    assert shop.log == ["open", "closed", "open", "KeyError"]
    assert app.names() == ["__aenter__", "__aexit__"] * 2


def test_awaiting_a_proxy(app: Application) -> None:
    async def main() -> Any:
        return await with_debug(Later())

    assert asyncio.run(main()) == "now"
    assert app.call("__await__")["result"]["text"] == "'now'"


def test_a_cancelled_call_is_reported_and_stays_cancelled(app: Application) -> None:
    app.break_on("order")
    shop = with_debug(Shop())

    async def main() -> None:
        task = asyncio.create_task(shop.order("tea"))
        await asyncio.get_running_loop().run_in_executor(None, app.hold)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert "CancelledError" in app.call("order")["exception_type"]


def test_async_calls_know_their_parents(app: Application) -> None:
    async def inner(number: int) -> int:
        return number

    async def outer() -> int:
        found = await asyncio.gather(async_debug_call(inner, 1), async_debug_call(inner, 2))
        return len(found)

    assert asyncio.run(with_debug(outer)()) == 2
    parent = app.call("outer")["call_id"]
    for call in app.calls("inner"):
        whole = app.server.get(f"/api/calls/{call['call_id']}")
        assert whole["parent_call_id"] == parent


def test_off_passes_async_calls_straight_through(app: Application) -> None:
    shop = with_debug(Shop())
    with_debug("OFF")
    assert asyncio.run(shop.order("tea")) == "tea"
    assert app.calls() == []
