"""The bell: whoever subscribed hears every ring, on the loop that it subscribed on."""

from __future__ import annotations

import asyncio
import threading

import pytest

from holdfast.model.records import EventRecord
from holdfast.store import Store

pytestmark = pytest.mark.anyio


async def test_a_ring_is_heard_by_the_listeners_of_its_topic(store: Store) -> None:
    heard: list[str] = []
    store.bell.subscribe("a", lambda: heard.append("first of a"))
    store.bell.subscribe("a", lambda: heard.append("second of a"))
    store.bell.subscribe("b", lambda: heard.append("b"))
    store.bell.ring("a")
    store.bell.ring("nobody")
    await asyncio.sleep(0)
    assert heard == ["first of a", "second of a"]


async def test_nobody_hears_after_unsubscribing(store: Store) -> None:
    heard: list[int] = []
    unsubscribe = store.bell.subscribe("a", lambda: heard.append(1))
    store.bell.subscribe("a", lambda: heard.append(2))
    unsubscribe()
    unsubscribe()
    store.bell.ring("a")
    await asyncio.sleep(0)
    assert heard == [2]


async def test_an_appended_event_rings_for_its_session(store: Store) -> None:
    heard = asyncio.Event()
    store.bell.subscribe("s1", heard.set)
    store.feed.append(EventRecord("s1", 1, 0.0, "output", {}))
    await asyncio.wait_for(heard.wait(), 60)
    assert [event.seq for event in await store.feed.read("s1")] == [1]


async def test_a_ring_on_another_thread_is_heard_on_the_loop(store: Store) -> None:
    heard = asyncio.Event()
    threads: list[int] = []

    def listen() -> None:
        threads.append(threading.get_ident())
        heard.set()

    store.bell.subscribe("a", listen)
    await asyncio.to_thread(store.bell.ring, "a")
    await asyncio.wait_for(heard.wait(), 60)
    assert threads == [threading.get_ident()]


async def test_a_listener_may_subscribe_and_unsubscribe_while_it_rings(store: Store) -> None:
    heard: list[str] = []

    def once() -> None:
        unsubscribe()
        store.bell.subscribe("a", lambda: heard.append("later"))
        heard.append("once")

    unsubscribe = store.bell.subscribe("a", once)
    for _ in range(2):
        store.bell.ring("a")
        await asyncio.sleep(0)
    assert heard == ["once", "later"]
