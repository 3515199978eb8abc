"""The journal of calls: what a killed server leaves is in the database after the next start."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import sqlite3
import stat
import subprocess
import sys
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from call_samples import ADD, DONE, batch, call, cid
from holdfast.model.call import CallRecord
from holdfast.model.call_query import CallQuery
from holdfast.store.sqlite import call_journal, log_sync
from holdfast.store.sqlite.call_journal import CallJournal
from holdfast.store.sqlite.log_sync import LogSync
from holdfast.store.sqlite.packed_calls import pack_batch
from holdfast.store.sqlite.queued_rows import encode_batch, encode_record
from holdfast.store.sqlite.sqlite_store import SqliteStore, open_sqlite_store
from holdfast.store.sqlite.writer_thread import WriterThread
from holdfast.store.store_warnings import StoreWarnings
from own_environment import IS_SOAK

FUNCTION = ("function", ADD.id, '{"name": "add"}')
VALUE = b"a value"
CONTENT = ("content", bytes.fromhex(cid(VALUE)), VALUE, '{"text": "a value"}')
CALLS = [call(number, args=(cid(VALUE),), thread={"id": 1}) for number in (1000, 2000, 3000)]

ADDED_AND_KILLED = """
import os, signal, sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from call_samples import ADD, batch, call, cid
from holdfast.store.sqlite.sqlite_store import open_sqlite_store
store = open_sqlite_store(Path(sys.argv[1]))
store.call_log.put_function(ADD)
store.call_log.put_stack(-9, [{"filename": "shop.py"}])
store.contents.put(cid("a value"), b"a value", {"text": "a value"})
store.contents.put(cid(b"x" * 3_000_000), b"x" * 3_000_000, {"text": "xxx"})
store.call_log.append_call(call(1000, args=(cid("a value"),), stack=-9))
for first in range(2, 3002, 1000):
    calls = [(1000 * each, None) for each in range(first, first + 1000)]
    store.call_log.append_batch(batch(*calls))
os.kill(os.getpid(), signal.SIGKILL)
"""


def leave_behind(directory: Path, *entries: call_journal.Entry) -> Path:
    """A journal with these entries, as a killed server leaves it. Returns its last file."""
    store = open_sqlite_store(directory)
    store.close()
    with closing(sqlite3.connect(directory / "holdfast.db")) as connection:
        [(done,)] = connection.execute("SELECT done FROM journal")
    journal = CallJournal(directory, store.number, done)
    for entry in entries:
        journal.append(entry)
    journal.close()
    return call_journal.list_files(directory)[-1]


def read_calls(store: SqliteStore) -> list[CallRecord]:
    return asyncio.run(store.call_log.newest(CallQuery(), 10_000))


def read_numbers(store: SqliteStore) -> list[int]:
    return [record.number for record in reversed(read_calls(store))]


def test_what_was_added_survives_a_kill(tmp_path: Path) -> None:
    tests = str(Path(__file__).parents[1])
    command = [sys.executable, "-c", ADDED_AND_KILLED, str(tmp_path), tests]
    assert subprocess.run(command, check=False).returncode == -9

    store = open_sqlite_store(tmp_path)
    assert store.warnings == []
    assert read_numbers(store) == [1000 * number for number in range(1, 3002)]
    [(function, count)] = asyncio.run(store.call_log.functions())
    assert (function.name, count) == ("add", 3001)
    assert asyncio.run(store.call_log.stack(-9)) == [{"filename": "shop.py"}]
    assert asyncio.run(store.contents.data(cid(VALUE))) == VALUE
    large = b"x" * 3_000_000
    assert asyncio.run(store.contents.data(cid(large))) == large
    store.close()


def test_what_is_left_is_written_once_and_its_files_are_deleted(tmp_path: Path) -> None:
    later = call(1000, status=DONE, args=(cid(VALUE),), result=cid("b"), decision={"by": "ann"})
    later = replace(later, target_age_ns=7)
    left = batch((4000, None), (5000, 4000))
    packed = encode_batch(left, pack_batch(left))
    entries = [FUNCTION, CONTENT, *(encode_record(each, True) for each in CALLS)]
    leave_behind(tmp_path, *entries, encode_record(later, False), packed)

    for _ in range(2):
        store = open_sqlite_store(tmp_path)
        assert call_journal.list_files(tmp_path) == []
        assert read_numbers(store) == [1000, 2000, 3000, 4000, 5000]
        found = read_calls(store)[-1]
        assert (found.status, found.result) == (DONE, cid("b"))
        assert (found.decision, found.thread, found.target_age_ns) == ({"by": "ann"}, None, 7)
        assert read_calls(store)[0].parent == 4000
        assert [count for _, count in asyncio.run(store.call_log.functions())] == [5]
        assert store.warnings == []
        store.close()


def test_every_field_of_a_call_is_in_the_journal(tmp_path: Path) -> None:
    whole = call(
        1000,
        status=DONE,
        target=cid("t"),
        args=(cid(VALUE),),
        kwargs={"b": cid("b")},
        result=cid("r"),
        exception=cid("e"),
        exception_type="KeyError",
        exception_message="'k'",
        stack=-9,
        parent=500,
        thread={"id": 1},
        task="task",
        started_at=1.5,
        completed_at=2.5,
        duration_ns=7,
        changed={"target": cid("u")},
        decision={"by": "ann"},
        marker="lazy",
        target_age_ns=12,
    )
    lacking = [
        each.name
        for each in dataclasses.fields(CallRecord)
        if each.default == getattr(whole, each.name) and each.name != "origin"
    ]
    assert lacking == []
    leave_behind(tmp_path, FUNCTION, CONTENT, encode_record(whole, True))
    store = open_sqlite_store(tmp_path)
    [found] = read_calls(store)
    store.close()
    assert dataclasses.replace(found, function=ADD) == whole


def test_an_entry_that_was_not_written_to_its_end_is_left_out(tmp_path: Path) -> None:
    path = leave_behind(tmp_path, FUNCTION, *(encode_record(each, True) for each in CALLS[:2]))
    whole = path.read_bytes()
    end = len(whole.rstrip(b"\0"))
    path.unlink()
    path = leave_behind(tmp_path, FUNCTION, encode_record(CALLS[0], True))
    begin = len(path.read_bytes().rstrip(b"\0"))
    for number, cut in enumerate(range(begin, end, 1 if IS_SOAK else 29)):
        directory = tmp_path / str(number)
        file = leave_behind(directory, FUNCTION, *(encode_record(each, True) for each in CALLS[:2]))
        data = bytearray(file.read_bytes())
        if number % 2:
            del data[cut:]
        else:
            data[cut:] = bytes(len(data) - cut)
        file.write_bytes(data)

        store = open_sqlite_store(directory)

        assert read_numbers(store) == [1000], cut
        assert store.warnings == []
        store.close()


def test_a_damaged_journal_is_used_to_the_damage_and_kept(tmp_path: Path) -> None:
    path = leave_behind(tmp_path, FUNCTION, *(encode_record(each, True) for each in CALLS))
    data = bytearray(path.read_bytes())
    at = data.index((2000).to_bytes(4, "little"))
    data[at] ^= 1
    path.write_bytes(data)

    store = open_sqlite_store(tmp_path)

    assert read_numbers(store) == [1000]
    [warning] = store.warnings
    assert warning.code == "CALLS_JOURNAL_DAMAGED"
    assert Path(warning.details["kept_as"]).read_bytes() == data
    store.close()


def test_the_journal_of_another_database_is_kept_and_not_used(tmp_path: Path) -> None:
    path = leave_behind(tmp_path / "other", FUNCTION, encode_record(CALLS[0], True))
    open_sqlite_store(tmp_path / "here").close()
    path.rename(tmp_path / "here" / path.name)

    store = open_sqlite_store(tmp_path / "here")

    assert read_numbers(store) == []
    assert [warning.code for warning in store.warnings] == ["CALLS_JOURNAL_DAMAGED"]
    store.close()


def test_what_the_database_has_is_not_written_again(tmp_path: Path) -> None:
    """The server was killed after the commit, and before its file was used again."""
    path = leave_behind(tmp_path, FUNCTION, encode_record(CALLS[0], True))
    data = path.read_bytes()
    store = open_sqlite_store(tmp_path)
    assert read_numbers(store) == [1000]
    store.call_log.delete_session(CALLS[0].session_id).result()
    store.close()
    path.write_bytes(data)

    store = open_sqlite_store(tmp_path)

    assert read_numbers(store) == []
    assert call_journal.list_files(tmp_path) == []
    store.close()


def test_files_are_used_again_and_what_was_in_them_is_not_read(tmp_path: Path) -> None:
    store = open_sqlite_store(tmp_path / "first")
    store.close()
    journal = CallJournal(tmp_path, store.number, 0)
    for number in range(1, 6):
        for each in CALLS if number < 5 else CALLS[:1]:
            journal.append(encode_record(each, True))
        if number < 5:
            journal.free_files(journal.end_file())
    [path] = call_journal.list_files(tmp_path)
    data = path.read_bytes()
    assert call_journal.read_number(data, store.number) == 5
    assert len(list(call_journal.read_entries(data, 5))) == 1
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    journal.close()


def test_nothing_is_left_of_a_journal_after_an_orderly_end(tmp_path: Path) -> None:
    store = open_sqlite_store(tmp_path)
    for each in CALLS:
        store.call_log.append_call(each)
    assert call_journal.list_files(tmp_path)
    store.close()
    assert call_journal.list_files(tmp_path) == []


def test_a_batch_that_is_sent_again_is_counted_once(tmp_path: Path) -> None:
    store = open_sqlite_store(tmp_path)
    store.call_log.put_function(ADD)
    store.call_log.append_batch(batch((1000, None), (2000, None)))
    asyncio.run(store.flush())
    store.call_log.append_batch(batch((1000, None), (2000, None), (3000, None)))
    assert read_numbers(store) == [1000, 2000, 3000]
    assert [count for _, count in asyncio.run(store.call_log.functions())] == [3]
    store.close()


def test_only_a_commit_that_nobody_waits_for_waits_for_the_disk(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "db", isolation_level=None, check_same_thread=False)
    writer = WriterThread(connection, StoreWarnings())
    levels: list[int] = []

    def note_level(connection: sqlite3.Connection) -> None:
        levels.append(connection.execute("PRAGMA synchronous").fetchone()[0])

    for lazy in (True, False):
        writer.submit(note_level, lazy=lazy)
        writer.flush()
    writer.close()
    normal, full = 1, 2
    assert levels == [full, normal]


@pytest.mark.parametrize("commits", [1, 3])
def test_the_log_is_brought_to_the_disk_after_commits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, commits: int
) -> None:
    monkeypatch.setattr(log_sync, "SECONDS", 0.05)
    log, synced = tmp_path / "log", threading.Event()
    log.write_bytes(b"frames")
    handles: list[int] = []

    def sync(handle: int) -> None:
        handles.append(os.fstat(handle).st_ino)
        synced.set()

    syncing = LogSync(log, sync)
    for _ in range(commits):
        syncing.note_commit()
    assert synced.wait(60)
    syncing.close()
    assert set(handles) == {log.stat().st_ino}
