"""The feed: events are written without waiting, and still seen at once."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from holdfast.model.records import EventRecord
from holdfast.store import Feed, Store
from store_engines import OpenStore

pytestmark = pytest.mark.anyio


@pytest.fixture
def feed(store: Store) -> Feed:
    return store.feed


def event(
    seq: int, body: dict[str, Any] | None = None, session: str = "s1", kind: str = "output"
) -> EventRecord:
    return EventRecord(session, seq, 0.0, kind, body or {})


def seqs(events: list[EventRecord]) -> list[int]:
    return [event.seq for event in events]


async def test_a_new_feed_is_empty(feed: Feed) -> None:
    assert await feed.read("s1") == []
    assert await feed.last_seq("s1") == 0
    assert feed.dropped_events == 0


async def test_an_event_is_read_back_as_it_was_written(store: Store) -> None:
    written = EventRecord("s1", 1, 12.5, "output", {"text": "hé\n"})
    store.feed.append(written)
    assert await store.feed.read("s1") == [written]
    await store.flush()
    assert await store.feed.read("s1") == [written]


async def test_every_event_is_seen_right_after_it_is_appended(feed: Feed) -> None:
    for seq in range(1, 3001):
        feed.append(event(seq, {"n": seq}))
        assert await feed.last_seq("s1") == seq
        assert seqs(await feed.read("s1", after=seq - 2)) == [seq - 1, seq][-min(seq, 2) :]
    assert seqs(await feed.read("s1", limit=5000)) == list(range(1, 3001))


async def test_a_later_change_to_the_body_does_not_change_the_event(feed: Feed) -> None:
    body = {"n": 1}
    feed.append(event(1, body))
    body["n"] = 2
    assert (await feed.read("s1"))[0].body == {"n": 1}


async def test_events_can_be_paged_and_chosen_by_type(store: Store) -> None:
    feed = store.feed
    for seq in range(1, 11):
        feed.append(event(seq, kind="output" if seq % 2 else "hold"))
    for _ in ("pending", "stored"):
        assert seqs(await feed.read("s1", after=3, limit=4)) == [4, 5, 6, 7]
        assert seqs(await feed.read("s1", after=3, types={"hold"})) == [4, 6, 8, 10]
        assert seqs(await feed.read("s1", limit=2, types=["hold", "output"])) == [1, 2]
        assert await feed.read("s1", types=[]) == []
        assert await feed.read("s1", limit=0) == []
        assert await feed.read("s1", after=10) == []
        assert await feed.read("s2") == []
        await store.flush()


async def test_a_seq_taken_twice_keeps_the_first_and_counts_the_second(store: Store) -> None:
    feed = store.feed
    for seq, name in ((1, "first"), (1, "second"), (2, "third")):
        feed.append(event(seq, {"n": name}))
    await store.flush()
    assert [event.body["n"] for event in await feed.read("s1")] == ["first", "third"]
    assert feed.dropped_events == 1
    assert [warning.code for warning in store.warnings] == ["STORE_EVENT_REFUSED"]


async def test_an_event_that_is_not_json_is_counted_and_reported(store: Store) -> None:
    store.feed.append(event(1, {"x": object()}))
    assert store.feed.dropped_events == 1
    assert store.warnings[0].details == {"session_id": "s1", "seq": 1, "type": "output"}


async def test_events_appended_before_closing_are_there_after_reopening(
    open_engine: OpenStore,
) -> None:
    store = await open_engine()
    for seq in range(1, 5001):
        store.feed.append(event(seq))
    await store.aclose()
    store = await open_engine()
    assert await store.feed.last_seq("s1") == 5000
    assert len(await store.feed.read("s1", limit=10_000)) == 5000
    await store.aclose()


async def test_many_readers_see_whole_prefixes_while_events_are_written(feed: Feed) -> None:
    async def read() -> int:
        count = 0
        while count < 2000:
            events = seqs(await feed.read("s1", limit=100_000))
            assert events == list(range(1, len(events) + 1))
            assert len(events) >= count
            count = len(events)
        return count

    def write() -> None:
        for seq in range(1, 2001):
            feed.append(event(seq))

    *counts, _ = await asyncio.gather(*[read() for _ in range(6)], asyncio.to_thread(write))
    assert counts == [2000] * 6


async def test_writers_on_many_threads_lose_nothing(store: Store) -> None:
    def write(name: str) -> None:
        for seq in range(1, 301):
            store.feed.append(event(seq, session=name))
        store.directory.put_settings({name: True}).result()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, "abcd"))
    assert await store.directory.settings() == dict.fromkeys("abcd", True)
    assert [await store.feed.last_seq(name) for name in "abcd"] == [300] * 4
