"""Settings, sessions, breakpoints and profiles: what is put is found again."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.errors import Failure
from holdfast.model.records import SessionRecord
from holdfast.store import Store, StoreProblem, open_store

SESSION = SessionRecord("s1", "program", 10.0, 11.5, {"state": "created", "args": ["-v", "é"]})


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = open_store(tmp_path)
    yield store
    store.close()


def fill(store: Store) -> None:
    store.put_settings({"port": 5679, "theme": None})
    store.put_session(SESSION)
    store.put_breakpoints("/p", [{"id": "b2", "line": 2}, {"id": "b1", "line": 1}])
    store.put_profile("web", {"breakpoints": []})
    store.append_event("s1", 1, 12.0, "created", {"x": 1})


def check_filled(store: Store) -> None:
    assert store.settings() == {"port": 5679, "theme": None}
    assert store.sessions() == [SESSION]
    assert store.session("s1") == SESSION
    assert store.breakpoints("/p") == [{"id": "b2", "line": 2}, {"id": "b1", "line": 1}]
    assert store.profiles() == {"web": {"breakpoints": []}}
    assert [event.body for event in store.events("s1")] == [{"x": 1}]


def test_a_new_store_is_empty(store: Store) -> None:
    assert store.settings() == {}
    assert store.sessions() == []
    assert store.session("s1") is None
    assert store.projects() == []
    assert store.breakpoints("/p") == []
    assert store.profiles() == {}
    assert store.events("s1") == []
    assert store.last_seq("s1") == 0
    assert store.warnings == []
    assert store.dropped_events == 0


def test_reads_see_writes_nobody_waited_for(store: Store) -> None:
    fill(store)
    check_filled(store)


def test_reopening_keeps_everything(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    fill(store)
    store.close()
    store = open_store(tmp_path)
    check_filled(store)
    assert store.warnings == []
    store.close()


def test_a_later_write_replaces_the_earlier(store: Store) -> None:
    fill(store)
    later = SessionRecord("s1", "program", 10.0, 20.0, {"state": "terminated"})
    store.put_session(later)
    store.put_setting("port", 1)
    store.put_profile("web", {})
    assert store.session("s1") == later
    assert store.settings()["port"] == 1
    assert store.profiles() == {"web": {}}


def test_deleting_a_session_deletes_its_events_and_no_others(store: Store) -> None:
    fill(store)
    store.append_event("s2", 1, 0.0, "created", {})
    store.delete_session("s1").result()
    assert store.sessions() == []
    assert store.events("s1") == []
    assert [event.seq for event in store.events("s2")] == [1]


def test_breakpoints_are_kept_per_project(store: Store) -> None:
    fill(store)
    store.put_breakpoints("/q", [{"id": "b1"}])
    assert store.projects() == ["/p", "/q"]
    store.put_breakpoints("/p", [])
    assert store.projects() == ["/q"]
    assert store.breakpoints("/q") == [{"id": "b1"}]


def test_a_profile_can_be_deleted(store: Store) -> None:
    fill(store)
    store.delete_profile("web").result()
    assert store.profiles() == {}


def test_a_refused_replacement_leaves_the_breakpoints_as_they_were(store: Store) -> None:
    fill(store)
    refused = store.put_breakpoints("/p", [{"id": "b1"}, {"id": "b1"}])
    with pytest.raises(StoreProblem, match="refused") as caught:
        refused.result()
    assert caught.value.code == "STORE_FAILED"
    assert isinstance(caught.value, Failure)
    check_filled(store)


def test_one_bad_operation_fails_alone(store: Store) -> None:
    # A name that is no text for SQLite, among good neighbours in the same queue.
    good = [store.put_setting(f"before{n}", n) for n in range(20)]
    bad = store.put_profile("\ud800", {})
    good += [store.put_setting(f"after{n}", n) for n in range(20)]
    with pytest.raises(StoreProblem):
        bad.result()
    for future in good:
        future.result()
    assert len(store.settings()) == 40


def test_settings_are_put_together_or_not_at_all(store: Store) -> None:
    with pytest.raises(StoreProblem):
        store.put_settings({"a": 1, "\ud800": 2}).result()
    assert store.settings() == {}


def test_what_is_not_json_is_refused_at_the_call(store: Store) -> None:
    with pytest.raises(StoreProblem, match="JSON"):
        store.put_setting("x", object())
    with pytest.raises(StoreProblem, match="object"):
        store.put_profile("x", [])  # type: ignore[arg-type]
    with pytest.raises(StoreProblem, match="id"):
        store.put_breakpoints("/p", [{"line": 3}])


@pytest.mark.parametrize("value", ["lone \udc80 surrogate", 2**100, "\0", {"1": [1.5, True]}])
def test_unusual_values_survive(store: Store, value: object) -> None:
    store.put_setting("x", value)
    assert store.settings() == {"x": value}


def test_a_write_can_be_awaited_and_outlives_its_waiter(store: Store) -> None:
    async def write() -> None:
        await asyncio.wrap_future(store.put_setting("waited", 1))
        waiting = asyncio.wrap_future(store.put_setting("left", 2))
        waiting.cancel()

    asyncio.run(write())
    assert store.settings() == {"waited": 1, "left": 2}


def test_a_callback_may_use_the_store(store: Store) -> None:
    seen: list[dict[str, object]] = []
    store.put_setting("a", 1).add_done_callback(lambda _: seen.append(store.settings()))
    store.flush()
    assert seen == [{"a": 1}]


def test_closing_twice_is_fine_and_later_use_says_closed(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.close()
    store.close()
    with pytest.raises(StoreProblem, match="closed"):
        store.put_setting("a", 1).result()
    with pytest.raises(StoreProblem, match="closed"):
        store.settings()
    store.append_event("s1", 1, 0.0, "late", {})
    assert store.dropped_events == 1


DAMAGE = {
    "settings": "UPDATE settings SET value = '{' WHERE key = 'port'",
    "sessions": "UPDATE sessions SET document = '[]'",
    "breakpoints": "UPDATE breakpoints SET document = CAST(x'7bff7d' AS TEXT) WHERE id = 'b2'",
    "profiles": "UPDATE profiles SET name = CAST(x'ff' AS TEXT)",
    "events": "UPDATE events SET body = 'nonsense'",
}


@pytest.mark.parametrize("table", DAMAGE)
def test_a_damaged_row_is_skipped_and_kept_in_quarantine(tmp_path: Path, table: str) -> None:
    store = open_store(tmp_path)
    fill(store)
    store.close()
    connection = sqlite3.connect(tmp_path / "holdfast.db")
    assert connection.execute(DAMAGE[table]).rowcount == 1
    connection.commit()
    connection.close()

    store = open_store(tmp_path)
    found = {
        "settings": len(store.settings()),
        "sessions": len(store.sessions()),
        "breakpoints": len(store.breakpoints("/p")),
        "profiles": len(store.profiles()),
        "events": len(store.events("s1")),
    }
    sound = {"settings": 2, "sessions": 1, "breakpoints": 2, "profiles": 1, "events": 1}
    assert found == {**sound, table: sound[table] - 1}
    (warning,) = store.warnings
    assert warning["code"] == "STORE_ROW_DAMAGED"
    assert warning["details"]["table"] == table
    store.close()

    connection = sqlite3.connect(tmp_path / "holdfast.db")
    kept = connection.execute('SELECT "table", document FROM quarantine').fetchall()
    left = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    connection.close()
    assert [name for name, _ in kept] == [table]
    assert kept[0][1]
    assert left == (sound[table] - 1,)


def test_damaged_events_do_not_make_a_page_look_like_the_last(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    for seq in range(1, 11):
        store.append_event("s1", seq, 0.0, "output", {"n": seq})
    store.close()
    connection = sqlite3.connect(tmp_path / "holdfast.db")
    connection.execute("UPDATE events SET body = '' WHERE seq <= 6")
    connection.commit()
    connection.close()
    store = open_store(tmp_path)
    assert [event.seq for event in store.events("s1", limit=2)] == [7, 8]
    store.close()
