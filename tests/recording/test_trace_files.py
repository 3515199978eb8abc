"""The directory of recordings: private, found by the beginning of an id, bounded."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from holdfast.recording import trace_files
from holdfast.recording.trace_files import RecordedRun, TraceDirectory


@pytest.fixture
def directory(tmp_path: Path) -> TraceDirectory:
    return TraceDirectory(tmp_path / "traces")


def create(directory: TraceDirectory, second: int, text: str = "{}\n") -> str:
    """A recording that was begun at this second of a day."""
    trace_id, path = directory.create()
    wanted = f"trc_20260101_0000{second:02}_{trace_id[-6:]}"
    path.write_text(text)
    path.rename(directory.path / f"{wanted}.jsonl")
    return wanted


def test_a_recording_is_private(directory: TraceDirectory) -> None:
    trace_id, path = directory.create()
    directory.note_run(trace_id, RecordedRun(target="shop.py"))
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(directory.path / f"{trace_id}.json").st_mode) == 0o600
    assert stat.S_IMODE(os.stat(directory.path).st_mode) == 0o700


def test_the_newest_comes_first(directory: TraceDirectory) -> None:
    first, second, third = (create(directory, number) for number in (1, 2, 3))
    assert directory.list_ids() == [third, second, first]
    assert directory.find("latest") == [third]


def test_a_recording_is_found_by_the_beginning_of_its_id(directory: TraceDirectory) -> None:
    first, _second = create(directory, 1), create(directory, 2)
    assert directory.find(first[:-4]) == [first]
    assert directory.find(first.removeprefix("trc_")) == [first]
    assert len(directory.find("trc_2026")) == 2
    assert directory.find("trc_1999") == []
    assert directory.find("../../etc/passwd") == []


def test_what_was_run_is_kept(directory: TraceDirectory) -> None:
    trace_id, _path = directory.create()
    run = RecordedRun(target="shop.py 3", function="total", request={"target": "shop.py"})
    directory.note_run(trace_id, run)
    assert directory.read_run(trace_id).request == {"target": "shop.py"}
    assert directory.read_run(trace_id).function == "total"


@pytest.mark.parametrize("text", ["", "nonsense", "[]", '{"target": 3, "unknown": 1}'])
def test_a_damaged_note_says_nothing(directory: TraceDirectory, text: str) -> None:
    trace_id, _path = directory.create()
    (directory.path / f"{trace_id}.json").write_text(text)
    assert directory.read_run(trace_id).function is None


def test_a_half_line_at_the_end_is_read_as_it_is(directory: TraceDirectory) -> None:
    trace_id = create(directory, 1, '{"format": 1}\n["s", 1')
    assert directory.read_lines(trace_id) == [b'{"format": 1}', b'["s", 1']
    assert directory.read_first_line(trace_id) == b'{"format": 1}\n'


def test_a_deleted_recording_leaves_nothing(directory: TraceDirectory) -> None:
    trace_id, _path = directory.create()
    directory.note_run(trace_id, RecordedRun(target="shop.py"))
    assert directory.delete(trace_id)
    assert not directory.delete(trace_id)
    assert list(directory.path.iterdir()) == []


def test_the_oldest_go_when_there_are_too_many(
    directory: TraceDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [create(directory, number) for number in range(5)]
    monkeypatch.setattr(trace_files, "MAX_RECORDINGS", 3)
    assert directory.list_surplus() == [ids[1], ids[0]]


def test_the_oldest_go_when_they_are_too_large(
    directory: TraceDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [create(directory, number, "x" * 100) for number in range(4)]
    monkeypatch.setattr(trace_files, "MAX_TOTAL_BYTES", 250)
    assert directory.list_surplus() == [ids[1], ids[0]]
    monkeypatch.setattr(trace_files, "MAX_TOTAL_BYTES", 1)
    assert ids[3] not in directory.list_surplus()  # the newest stays
