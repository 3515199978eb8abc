"""The file of a recording: whole lines, a budget, and quiet failures."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from holdfast.probe.traces.trace_log import TraceLog


def read(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_lines_are_there_as_soon_as_they_are_flushed(tmp_path: Path) -> None:
    path = tmp_path / "log"
    log = TraceLog(str(path), {"format": 1})
    assert read(path) == [{"format": 1}]
    log.write(["s", 1, "é\udc80"])
    log.flush()
    log.write_now('["s",2]')
    assert read(path) == [{"format": 1}, ["s", 1, "é\udc80"], ["s", 2]]
    log.close()
    log.write(["s", 3])
    log.close()
    assert len(read(path)) == 3


def test_a_file_is_private(tmp_path: Path) -> None:
    path = tmp_path / "log"
    TraceLog(str(path), {}).close()
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_oldest_detail_goes_first_and_lasting_lines_stay(tmp_path: Path) -> None:
    path = tmp_path / "log"
    log = TraceLog(str(path), {"format": 1}, budget_bytes=40_000)
    log.write({"frame": 1})
    for number in range(5000):
        log.write(["s", number, "x" * 20])
        log.flush()
    log.write({"end": 1})
    log.close()
    lines = read(path)
    assert path.stat().st_size <= 41_000
    assert [line for line in lines if isinstance(line, dict) and "dropped" not in line] == [
        {"format": 1},
        {"frame": 1},
        {"end": 1},
    ]
    numbers = [line[1] for line in lines if isinstance(line, list)]
    assert numbers == list(range(numbers[0], 5000))
    assert sum(line["dropped"] for line in lines if "dropped" in line) == numbers[0]


def test_some_detail_may_go_before_other_detail(tmp_path: Path) -> None:
    path = tmp_path / "log"
    log = TraceLog(str(path), {}, budget_bytes=40_000, drop_first='["r"')
    log.write(["s", "the first statement"])
    for number in range(5000):
        log.write(["r", number, "x" * 20])
        log.flush()
    log.close()
    assert ["s", "the first statement"] in read(path)


def test_the_newest_detail_is_not_written_if_the_oldest_is_to_stay(tmp_path: Path) -> None:
    path = tmp_path / "log"
    log = TraceLog(str(path), {}, budget_bytes=40_000, keep="oldest")
    for number in range(5000):
        log.write(["s", number, "x" * 20])
        log.flush()
    assert log.is_full
    log.write({"end": 1})
    log.close()
    lines = read(path)
    assert lines[1][1] == 0
    assert lines[-2:] == [{"end": 1}, {"dropped": log.dropped, "keep": "oldest"}]


def test_threads_write_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "log"
    log = TraceLog(str(path), {}, budget_bytes=10_000_000)

    def write(name: int) -> None:
        for number in range(500):
            log.write_now(json.dumps(["s", name, number]))

    threads = [threading.Thread(target=write, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    log.close()
    lines = read(path)[1:]
    for name in range(4):
        assert [line[2] for line in lines if line[1] == name] == list(range(500))


def test_a_write_within_a_write_waits_for_nobody(tmp_path: Path) -> None:
    path = tmp_path / "log"
    log = TraceLog(str(path), {})
    log._lock.acquire()  # as a hook that a signal handler has interrupted
    log.write_now('["inner"]')
    log._lock.release()
    log.write_now('["outer"]')
    assert read(path)[1:] == [["inner"], ["outer"]]


def test_a_closed_descriptor_is_opened_again(tmp_path: Path) -> None:
    path = tmp_path / "log"
    log = TraceLog(str(path), {})
    os.close(log._fd)
    log.write_now('["s"]')
    log.close()
    assert read(path)[-1] == ["s"]


@pytest.mark.parametrize("name", ["missing/log", "."])
def test_a_file_that_cannot_be_opened_makes_a_quiet_log(tmp_path: Path, name: str) -> None:
    log = TraceLog(str(tmp_path / name), {})
    log.write(["s"])
    log.flush()
    log.close()
    assert log.failure
    assert not log.is_open
