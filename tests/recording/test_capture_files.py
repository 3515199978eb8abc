"""The directory of captures: what is written, found, kept and refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.recording import capture_files
from holdfast.recording.capture_files import Capture, CaptureDirectory, create_run_id


@pytest.fixture
def directory(tmp_path: Path) -> CaptureDirectory:
    return CaptureDirectory(capture_files.captures_dir(tmp_path))


def make_capture(node: str = "test_a.py::test_a", text: str = "") -> Capture:
    return {
        "time": "2026-01-02T03:04:05Z",
        "node": node,
        "when": "call",
        "exception": {
            "type": "ValueError",
            "message": "no",
            "frames": [
                {
                    "file": "/a.py",
                    "line": number,
                    "function": "f",
                    "locals": [
                        {"name": "x", "value": text, "children": [{"name": "y", "value": text}]}
                    ],
                }
                for number in range(5)
            ],
            "inner": [],
        },
        "causes": [],
    }


def write(directory: CaptureDirectory, run: str, count: int = 1) -> list[str]:
    numbers = range(1, count + 1)
    return [directory.write(make_capture(), run, None, number) for number in numbers]


def test_a_capture_is_read_as_it_was_written(directory: CaptureDirectory) -> None:
    capture_id = directory.write(make_capture("test_b.py::test_b"), create_run_id(), "gw0", 1)
    assert capture_id.startswith("cap_")
    assert directory.read(capture_id)["node"] == "test_b.py::test_b"


def test_the_newest_capture_comes_first(directory: CaptureDirectory) -> None:
    older, newer = create_run_id(1_000_000_000), create_run_id(1_100_000_000)
    first = write(directory, newer, 2)
    last = write(directory, older)
    assert directory.list_ids() == [first[1], first[0], last[0]]
    assert directory.find("latest") == [first[1]]
    assert directory.list_ids(older) == last


def test_a_capture_is_found_by_the_beginning_of_its_id(directory: CaptureDirectory) -> None:
    (capture_id,) = write(directory, create_run_id())
    assert directory.find(capture_id) == [capture_id]
    assert directory.find(capture_id[:7]) == [capture_id]
    assert directory.find(capture_id.removeprefix("cap_")[:3]) == [capture_id]
    assert directory.find("nothing") == []
    assert directory.find("") == []


def test_old_runs_are_deleted_as_a_whole(directory: CaptureDirectory) -> None:
    runs = [create_run_id(1_000_000_000 + number * 1000) for number in range(3)]
    kept = [write(directory, run, 4) for run in runs]
    directory.prune(runs[2], keep=9)
    assert set(directory.list_ids()) == {*kept[1], *kept[2]}
    directory.prune(runs[2], keep=1)
    assert set(directory.list_ids()) == set(kept[2])


def test_a_large_capture_loses_parts_of_values_first(directory: CaptureDirectory) -> None:
    size = capture_files.MAX_FILE_BYTES
    large = directory.write(make_capture(text="x" * (size // 8)), create_run_id(), None, 1)
    frames = directory.read(large)["exception"]["frames"]
    assert "children" not in frames[0]["locals"][0]
    assert frames[4]["locals"]
    larger = directory.write(make_capture(text="x" * (size // 2)), create_run_id(), None, 1)
    frames = directory.read(larger)["exception"]["frames"]
    assert frames[0]["locals"]
    assert "locals" not in frames[1]


@pytest.mark.parametrize("text", ["{", "[" * 100_000, "7", "{}"])
def test_files_that_are_no_captures_are_left_out(directory: CaptureDirectory, text: str) -> None:
    (capture_id,) = write(directory, create_run_id())
    bad = directory.path / f"{create_run_id()}-main-1.json"
    bad.write_text(text)
    bad.chmod(0o600)
    (directory.path / "notes.txt").write_text("mine")
    problems: list[str] = []
    assert [one["id"] for one in directory.iter_captures(problems)] == [capture_id]
    assert len(problems) == 1
    assert bad.name in problems[0]


def test_a_file_that_others_can_write_is_refused(directory: CaptureDirectory) -> None:
    (capture_id,) = write(directory, create_run_id())
    (file,) = directory.path.iterdir()
    file.chmod(0o666)
    with pytest.raises(OSError, match="can be used by other users"):
        directory.read(capture_id)


def test_captures_are_deleted_one_by_one_or_all(directory: CaptureDirectory) -> None:
    first, second, _ = write(directory, create_run_id(), 3)
    assert directory.delete(first)
    assert not directory.delete(first)
    assert second in directory.list_ids()
    assert directory.clear() == 2
    assert directory.clear() == 0


def test_what_is_no_file_is_not_touched(directory: CaptureDirectory) -> None:
    write(directory, create_run_id())
    (directory.path / f"{create_run_id()}-main-1.json").mkdir()
    (directory.path / f"{create_run_id()}-main-2.json").symlink_to(__file__)
    assert len(directory.list_ids()) == directory.clear() == 1
    assert len([*directory.path.iterdir()]) == 2


def test_there_need_not_be_a_directory(directory: CaptureDirectory) -> None:
    assert directory.list_ids() == []
    with pytest.raises(FileNotFoundError):
        directory.read("cap_000000")
