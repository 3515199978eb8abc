"""The live stream by itself: what is not known any more, and that nothing of it is left behind."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from holdfast.model.config import SessionConfig
from holdfast.service import event_stream, session_changes
from holdfast.service.debugger import Debugger
from holdfast.service.live_stream import LiveMessage
from holdfast.service.waitable import CLIENT_DISCONNECT
from holdfast.wire.live_messages import LiveChanges, LiveEvents


def run_with_debugger(folder: Path, work: Callable[[Debugger], Awaitable[None]]) -> None:
    async def main() -> None:
        debugger = await Debugger.open(folder, trusted=lambda *_: True, pool_size=0)
        await debugger.start()
        try:
            await asyncio.wait_for(work(debugger), 60)
        finally:
            debugger.wake_all()
            await debugger.close()

    asyncio.run(main())


async def read_events(debugger: Debugger, cursor: str, count: int) -> list[LiveMessage]:
    """The messages with the first `count` events after a cursor."""
    found: list[LiveMessage] = []
    async for message in debugger.live.follow(cursor):
        if isinstance(message.body, LiveEvents):
            found.append(message)
            count -= len(message.body.events)
            if count <= 0:
                break
    return found


def list_seqs(messages: list[LiveMessage]) -> list[int]:
    bodies = [message.body for message in messages if isinstance(message.body, LiveEvents)]
    return [event["seq"] for body in bodies for event in body.events]


def test_a_client_that_was_away_for_too_long_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_stream, "KEPT", 10)

    async def work(debugger: Debugger) -> None:
        session = await debugger.programs.open(SessionConfig())
        begin = (await anext(debugger.live.follow())).cursor
        for _ in range(10):
            session.event("saved")
        [known] = await read_events(debugger, begin, 10)
        assert isinstance(known.body, LiveEvents)
        assert (len(known.body.events), known.body.missed) == (10, False)
        session.event("saved")
        hello = await anext(debugger.live.follow(begin))
        assert getattr(hello.body, "resumed", None) is False
        [cut] = await read_events(debugger, begin, 10)
        assert isinstance(cut.body, LiveEvents)
        assert (len(cut.body.events), cut.body.missed) == (10, True)

    run_with_debugger(tmp_path, work)


def test_many_events_come_in_batches_and_all_of_them_come(tmp_path: Path) -> None:
    async def work(debugger: Debugger) -> None:
        session = await debugger.programs.open(SessionConfig())
        begin = (await anext(debugger.live.follow())).cursor
        for _ in range(5000):
            session.event("saved")
        messages = await read_events(debugger, begin, 5000)
        sizes = [len(m.body.events) for m in messages if isinstance(m.body, LiveEvents)]
        assert sizes == [2000, 2000, 1000]
        seqs = list_seqs(messages)
        assert seqs == list(range(seqs[0], seqs[0] + 5000))
        rest = await read_events(debugger, messages[0].cursor, 3000)
        assert [event["seq"] for m in rest for event in getattr(m.body, "events", [])] == seqs[
            2000:
        ]

    run_with_debugger(tmp_path, work)


def test_changes_that_are_forgotten_count_as_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_changes, "_MAX_REMEMBERED", 2)

    async def work(debugger: Debugger) -> None:
        begin = (await anext(debugger.live.follow())).cursor
        for _ in range(3):
            await debugger.programs.open(SessionConfig())
        hello = await anext(debugger.live.follow(begin))
        assert getattr(hello.body, "resumed", None) is False

    run_with_debugger(tmp_path, work)


def test_nothing_is_left_of_a_client_that_is_gone(tmp_path: Path) -> None:
    async def work(debugger: Debugger) -> None:
        session = await debugger.programs.open(SessionConfig())
        caller: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        changes = debugger._stream.changes

        async def follow() -> None:
            CLIENT_DISCONNECT.set(caller)
            async for message in debugger.live.follow():
                if isinstance(message.body, LiveChanges):
                    heard.set()

        heard = asyncio.Event()
        clients = [asyncio.create_task(follow()) for _ in range(50)]
        await asyncio.sleep(0)
        session.event("saved")
        await heard.wait()
        caller.set_result(None)
        await asyncio.gather(*clients)
        assert not changes._waiters

    run_with_debugger(tmp_path, work)


def test_every_client_is_done_when_the_server_stops(tmp_path: Path) -> None:
    async def work(debugger: Debugger) -> None:
        async def follow() -> None:
            async for _ in debugger.live.follow():
                pass

        clients = [asyncio.create_task(follow()) for _ in range(5)]
        await asyncio.sleep(0)
        debugger.wake_all()
        await asyncio.gather(*clients)

    run_with_debugger(tmp_path, work)
