"""What is acknowledged stays, through kill -9 and a failing disk."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.store.sqlite.sqlite_store import open_sqlite_store

WRITE_UNTIL_KILLED = """
import itertools, sys
from pathlib import Path
from holdfast.model.records import EventRecord
from holdfast.store.sqlite.sqlite_store import open_sqlite_store
store = open_sqlite_store(Path(sys.argv[1]))
for seq in itertools.count(1):
    store.feed.append(EventRecord("s1", seq, 0.0, "output", {"text": "x" * 300}))
    store.directory.put_settings({"latest": seq}).result()
    print(seq, flush=True)
"""

# RLIMIT_FSIZE makes every write to a file fail, as on a full disk, and can be lifted again.
FAILING_DISK = """
import asyncio, os, resource, sys
from pathlib import Path
from holdfast.model.records import EventRecord
from holdfast.store import StoreProblem
from holdfast.store.sqlite.sqlite_store import open_sqlite_store
from holdfast.store.sqlite.writer_thread import MAX_KEPT

def allow_files(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

def fails(action):
    try:
        action()
    except StoreProblem as problem:
        assert problem.code == "STORE_FAILED" and problem.hint, problem
        return True
    return False

store = open_sqlite_store(Path(sys.argv[1]))
store.directory.put_settings({"before": 1}).result()
"""

EVENTS_WAIT_FOR_THE_DISK = """
allow_files(0)
for seq in range(1, 501):
    store.feed.append(EventRecord("s1", seq, 0.0, "output", {"n": seq}))
    store.feed.append(EventRecord("gone", seq, 0.0, "output", {}))
assert fails(store.directory.put_settings({"during": 1}).result)
assert fails(lambda: asyncio.run(store.flush()))
assert asyncio.run(store.directory.settings()) == {"before": 1}
assert len(asyncio.run(store.feed.read("s1"))) == 500
assert asyncio.run(store.feed.last_seq("s1")) == 500
assert [warning.code for warning in store.warnings] == ["STORE_EVENTS_NOT_WRITTEN"]
allow_files(resource.RLIM_INFINITY)
store.directory.delete_session("gone").result()
store.directory.put_settings({"after": 1}).result()
asyncio.run(store.flush())
assert store.feed.dropped_events == 0
assert len(store.warnings) == 1
store.close()
"""

TOO_MANY_EVENTS = """
allow_files(0)
for seq in range(1, MAX_KEPT + 1501):
    store.feed.append(EventRecord("s1", seq, 0.0, "output", {}))
assert fails(lambda: asyncio.run(store.flush()))
assert store.feed.dropped_events == 1500, store.feed.dropped_events
assert [event.seq for event in asyncio.run(store.feed.read("s1", limit=1))] == [1501]
allow_files(resource.RLIM_INFINITY)
asyncio.run(store.flush())
store.close()
assert store.feed.dropped_events == 1500
"""

CLOSED_ON_A_FULL_DISK = """
allow_files(0)
for seq in range(1, 11):
    store.feed.append(EventRecord("s1", seq, 0.0, "output", {}))
store.close()
assert store.feed.dropped_events == 10
assert store.warnings[-1].code == "STORE_EVENTS_DROPPED"
"""

OPENED_ON_A_FULL_DISK = """
store.close()
allow_files(0)
assert fails(lambda: open_sqlite_store(Path(sys.argv[1]) / "new"))
allow_files(resource.RLIM_INFINITY)
open_sqlite_store(Path(sys.argv[1]) / "new").close()
"""

CALLS_ARE_REFUSED = """
from holdfast.model.call import CallRecord, Function
allow_files(0)
record = CallRecord(1000, "calls_0000000a", Function(1, "add"), "proxy")
assert fails(lambda: store.call_log.append_call(record))
assert fails(lambda: store.contents.put("0" * 64, b"x", {}))
assert asyncio.run(store.call_log.call(1000)) is None
allow_files(resource.RLIM_INFINITY)
store.call_log.append_call(CallRecord(2000, "calls_0000000a", Function(1, "add"), "proxy"))
assert asyncio.run(store.call_log.last_number()) == 2000
allow_files(0)  # there is room in the file of the journal
store.call_log.append_call(CallRecord(3000, "calls_0000000a", Function(1, "add"), "proxy"))
assert asyncio.run(store.call_log.call(3000)).number == 3000
os._exit(0)
"""


def run(script: str, directory: Path) -> None:
    command = [sys.executable, "-W", "error", "-c", FAILING_DISK + script, str(directory)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("acknowledged", [1, 40, 700])
def test_kill_9_loses_nothing_acknowledged(tmp_path: Path, acknowledged: int) -> None:
    command = [sys.executable, "-c", WRITE_UNTIL_KILLED, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        for _ in range(acknowledged):
            writer.stdout.readline()
        writer.kill()
        rest = writer.stdout.read().splitlines(keepends=True)
    last = acknowledged + sum(line.endswith(b"\n") for line in rest)

    store = open_sqlite_store(tmp_path)
    assert store.warnings == []
    assert asyncio.run(store.directory.settings())["latest"] >= last
    found = [event.seq for event in asyncio.run(store.feed.read("s1", limit=1_000_000))]
    assert found[:last] == list(range(1, last + 1))
    store.close()


def test_events_wait_in_memory_for_a_failing_disk(tmp_path: Path) -> None:
    run(EVENTS_WAIT_FOR_THE_DISK, tmp_path)
    store = open_sqlite_store(tmp_path)
    assert asyncio.run(store.directory.settings()) == {"before": 1, "after": 1}
    assert [event.body["n"] for event in asyncio.run(store.feed.read("s1"))] == list(range(1, 501))
    assert asyncio.run(store.feed.read("gone")) == []
    store.close()


def test_events_that_cannot_be_kept_are_counted(tmp_path: Path) -> None:
    run(TOO_MANY_EVENTS, tmp_path)
    store = open_sqlite_store(tmp_path)
    assert [event.seq for event in asyncio.run(store.feed.read("s1", limit=1))] == [1501]
    assert len(asyncio.run(store.feed.read("s1", limit=1_000_000))) == 10_000
    store.close()


def test_closing_on_a_full_disk_says_what_was_lost(tmp_path: Path) -> None:
    run(CLOSED_ON_A_FULL_DISK, tmp_path)
    store = open_sqlite_store(tmp_path)
    assert asyncio.run(store.directory.settings()) == {"before": 1}
    store.close()


def test_opening_on_a_full_disk_fails_clearly_and_works_later(tmp_path: Path) -> None:
    run(OPENED_ON_A_FULL_DISK, tmp_path)


def test_a_call_that_the_disk_has_no_room_for_is_refused(tmp_path: Path) -> None:
    run(CALLS_ARE_REFUSED, tmp_path)
    store = open_sqlite_store(tmp_path)
    assert asyncio.run(store.call_log.last_number()) == 3000
    assert asyncio.run(store.call_log.count_calls()) == 2
    store.close()
