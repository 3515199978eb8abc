"""The store as a whole: it is closed and opened again, and reports what went wrong."""

from __future__ import annotations

import pytest

from holdfast.model.call import CallRecord, Function
from holdfast.model.records import EventRecord, SessionRecord
from holdfast.store import Store, StoreProblem
from store_engines import OpenStore

pytestmark = pytest.mark.anyio

SESSION = SessionRecord("s1", "program", 10.0, 11.5, {"state": "created"})
EVENT = EventRecord("s1", 1, 12.0, "created", {"x": 1})
CALL = CallRecord(7, "calls_0000000a", Function(1, "add"), "proxy", args=("0" * 64,))
CID = "4ee5d22e9e44ec6480a2fc727c72c7886855f94562e8549cfae9a33f7361574b"


async def test_a_new_store_has_no_warnings(store: Store) -> None:
    assert store.warnings == []


async def test_reopening_keeps_everything(open_engine: OpenStore) -> None:
    store = await open_engine()
    store.directory.put_session(SESSION)
    store.feed.append(EVENT)
    store.call_log.put_function(CALL.function)
    store.call_log.append_call(CALL)
    store.contents.put(CID, b"\x80\x04K\x07.", {"text": "7"})
    await store.aclose()

    store = await open_engine()
    assert await store.directory.sessions() == [SESSION]
    assert await store.feed.read("s1") == [EVENT]
    assert await store.call_log.call(7) == CALL
    assert await store.contents.data(CID) == b"\x80\x04K\x07."
    assert store.warnings == []
    await store.aclose()


async def test_closing_twice_is_fine_and_later_use_says_closed(open_engine: OpenStore) -> None:
    store = await open_engine()
    await store.aclose()
    await store.aclose()
    with pytest.raises(StoreProblem, match="closed"):
        await store.directory.put_settings({"a": 1})
    with pytest.raises(StoreProblem, match="closed"):
        await store.directory.settings()
    store.feed.append(EVENT)
    assert store.feed.dropped_events == 1
