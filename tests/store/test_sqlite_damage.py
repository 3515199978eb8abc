"""Damaged rows are skipped, reported, and kept in quarantine."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from holdfast.model.records import EventRecord, SessionRecord
from holdfast.store import Store
from holdfast.store.sqlite.sqlite_store import open_sqlite_store


def fill(store: Store) -> None:
    store.directory.put_settings({"port": 5679, "theme": None})
    store.directory.put_session(SessionRecord("s1", "program", 10.0, 11.5, {}))
    store.directory.put_breakpoints("/p", [{"id": "b2", "line": 2}, {"id": "b1", "line": 1}])
    store.directory.put_profile("web", {"breakpoints": []})
    store.feed.append(EventRecord("s1", 1, 12.0, "created", {"x": 1}))


async def count(store: Store) -> dict[str, int]:
    return {
        "settings": len(await store.directory.settings()),
        "sessions": len(await store.directory.sessions()),
        "breakpoints": len((await store.directory.breakpoints())["/p"]),
        "profiles": len(await store.directory.profiles()),
        "events": len(await store.feed.read("s1")),
    }


DAMAGE = {
    "settings": "UPDATE settings SET value = '{' WHERE key = 'port'",
    "sessions": "UPDATE sessions SET document = '[]'",
    "breakpoints": "UPDATE breakpoints SET document = CAST(x'7bff7d' AS TEXT) WHERE id = 'b2'",
    "profiles": "UPDATE profiles SET name = CAST(x'ff' AS TEXT)",
    "events": "UPDATE events SET body = 'nonsense'",
}


@pytest.mark.parametrize("table", DAMAGE)
def test_a_damaged_row_is_skipped_and_kept_in_quarantine(tmp_path: Path, table: str) -> None:
    store = open_sqlite_store(tmp_path)
    fill(store)
    store.close()
    connection = sqlite3.connect(tmp_path / "holdfast.db")
    assert connection.execute(DAMAGE[table]).rowcount == 1
    connection.commit()
    connection.close()

    store = open_sqlite_store(tmp_path)
    counts = asyncio.run(count(store))
    sound = {"settings": 2, "sessions": 1, "breakpoints": 2, "profiles": 1, "events": 1}
    assert counts == {**sound, table: sound[table] - 1}
    (warning,) = store.warnings
    assert warning.code == "STORE_ROW_DAMAGED"
    assert warning.details["table"] == table
    store.close()

    connection = sqlite3.connect(tmp_path / "holdfast.db")
    kept = connection.execute('SELECT "table", document FROM quarantine').fetchall()
    left = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    connection.close()
    assert [name for name, _ in kept] == [table]
    assert kept[0][1]
    assert left == (sound[table] - 1,)


def test_damaged_events_do_not_make_a_page_look_like_the_last(tmp_path: Path) -> None:
    store = open_sqlite_store(tmp_path)
    for seq in range(1, 11):
        store.feed.append(EventRecord("s1", seq, 0.0, "output", {"n": seq}))
    store.close()
    connection = sqlite3.connect(tmp_path / "holdfast.db")
    connection.execute("UPDATE events SET body = '' WHERE seq <= 6")
    connection.commit()
    connection.close()
    store = open_sqlite_store(tmp_path)
    assert [event.seq for event in asyncio.run(store.feed.read("s1", limit=2))] == [7, 8]
    store.close()
