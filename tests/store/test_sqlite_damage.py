"""Damage is worked around and reported: rows go to quarantine, a damaged log is kept."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.model.records import EventRecord, SessionRecord, StoreWarning
from holdfast.store import Store
from holdfast.store.sqlite.log_check import find_log_damage
from holdfast.store.sqlite.sqlite_store import open_sqlite_store
from holdfast.store.store_errors import StoreProblem


def fill(store: Store) -> None:
    store.directory.put_settings({"port": 5679, "theme": None})
    store.directory.put_session(SessionRecord("s1", "program", 10.0, 11.5, {}))
    store.directory.put_breakpoints("/p", [{"id": "b2", "line": 2}, {"id": "b1", "line": 1}])
    store.directory.put_profile("web", {"breakpoints": []})
    store.directory.put_launches([{"target": "a.py"}])
    store.feed.append(EventRecord("s1", 1, 12.0, "created", {"x": 1}))


async def count(store: Store) -> dict[str, int]:
    return {
        "settings": len(await store.directory.settings()),
        "sessions": len(await store.directory.sessions()),
        "breakpoints": len((await store.directory.breakpoints())["/p"]),
        "profiles": len(await store.directory.profiles()),
        "launches": len(await store.directory.launches()),
        "events": len(await store.feed.read("s1")),
    }


DAMAGE = {
    "settings": "UPDATE settings SET value = '{' WHERE key = 'port'",
    "sessions": "UPDATE sessions SET document = '[]'",
    "breakpoints": "UPDATE breakpoints SET document = CAST(x'7bff7d' AS TEXT) WHERE id = 'b2'",
    "profiles": "UPDATE profiles SET name = CAST(x'ff' AS TEXT)",
    "launches": "UPDATE launches SET document = '5'",
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
    sound["launches"] = 1
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


# -- the log --------------------------------------------------------------------------------------


def copy_while_open(tmp_path: Path) -> Path:
    """The files of a store as a server that was killed leaves them: all is in the log."""
    store = open_sqlite_store(tmp_path / "killed")
    for number in range(20):
        store.directory.put_session(SessionRecord(f"s{number}", "program", 1.0, 1.0, {}))
        asyncio.run(store.flush())
    copy = tmp_path / "copy"
    shutil.copytree(tmp_path / "killed", copy)
    (copy / "holdfast.db-shm").unlink()
    store.close()
    return copy


def reopen(directory: Path) -> tuple[int, list[StoreWarning]]:
    """How many sessions are there, and what the store warns of."""
    store = open_sqlite_store(directory)
    try:
        return len(asyncio.run(store.directory.sessions())), store.warnings
    finally:
        store.close()


def test_the_log_of_a_killed_server_is_sound(tmp_path: Path) -> None:
    assert reopen(copy_while_open(tmp_path)) == (20, [])


@pytest.mark.parametrize("place", [20, 32 + 16, 4000, -5000], ids=["header", "sum", "page", "end"])
def test_a_damaged_log_is_reported_and_kept(tmp_path: Path, place: int) -> None:
    copy = copy_while_open(tmp_path)
    log = copy / "holdfast.db-wal"
    data = bytearray(log.read_bytes())
    data[place] ^= 0xFF
    log.write_bytes(data)

    count, warnings = reopen(copy)

    assert count < 20
    [warning] = warnings
    assert warning.code == "STORE_LOG_DAMAGED"
    kept = Path(warning.details["kept_as"])
    assert kept.read_bytes() == bytes(data)
    assert kept.name in warning.message
    assert kept.stat().st_mode & 0o777 == 0o600
    assert reopen(copy) == (count, [])


@pytest.mark.parametrize("cut", [1, 4096, 4100])
def test_a_write_that_was_interrupted_is_no_damage(tmp_path: Path, cut: int) -> None:
    copy = copy_while_open(tmp_path)
    log = copy / "holdfast.db-wal"
    os.truncate(log, log.stat().st_size - cut)
    count, warnings = reopen(copy)
    assert (count, warnings) == (19, [])


def test_a_log_that_is_used_again_is_sound_though_old_frames_follow(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "db", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE t (x)")
        for _ in range(20):
            connection.execute("INSERT INTO t VALUES (randomblob(2000))")
        connection.execute("PRAGMA wal_checkpoint(RESTART)").fetchall()
        connection.execute("INSERT INTO t VALUES (1)")
        connection.execute("BEGIN")
        connection.execute("PRAGMA cache_size = 1")
        connection.execute("INSERT INTO t SELECT randomblob(2000) FROM t")  # spills, uncommitted
        for suffix in ("", "-wal"):
            shutil.copy(tmp_path / f"db{suffix}", tmp_path / f"copy{suffix}")
    with closing(sqlite3.connect(tmp_path / "copy")) as connection:
        _, used, _ = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        frames = ((tmp_path / "copy-wal").stat().st_size - 32) // (4096 + 24)
        assert 0 < used < frames
        assert find_log_damage(tmp_path / "copy-wal", used) is None


def test_damage_while_the_store_is_in_use_is_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = open_sqlite_store(tmp_path)
    for number in range(50):
        event = EventRecord("s", number, 1.0, "x", {"text": "y" * 3000})
        store.feed.append(event)
    asyncio.run(store.flush())
    with closing(sqlite3.connect(tmp_path / "holdfast.db", isolation_level=None)) as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    file = tmp_path / "holdfast.db"
    size = file.stat().st_size
    with file.open("r+b") as data:
        data.seek(4096)
        data.write(b"\xff" * (size - 4096))
    with pytest.raises(StoreProblem):
        asyncio.run(store.feed.read("s"))
    assert "STORE_DAMAGED" in [warning.code for warning in store.warnings]
    assert "restart the server" in caplog.text
    store.close()
