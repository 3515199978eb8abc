"""Reading a recording by the numbers of its events, however long it is and whatever is in it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from holdfast.recording.tail import Tail
from holdfast.service.agents.event_log import (
    EventLog,
    read_beginning,
    read_lines,
    read_lines_backwards,
)
from holdfast.wire import agent_lines as wire

GARBAGE = b"\xff\x00 no event\n"


def write_recording(path: Path, count: int, size: int = 50) -> list[bytes]:
    """A recording of so many events, with a line that is none after every seventh."""
    written = []
    for seq in range(1, count + 1):
        kind = "tool_result" if seq % 10 == 0 else "value_recorded"
        text = wire.encode_json({"value": "x" * (size * (seq % 5))})
        written.append(wire.encode_event(seq, kind, 1_768_298_400.0 + seq, "s", text))
        if seq % 7 == 0:
            written.append(GARBAGE)
    path.write_bytes(b"".join(written))
    return written


def follow(path: Path, begin: int = 0) -> EventLog:
    log = EventLog(path)
    tail = Tail(path, begin, most=4096)
    while found := tail.lines():
        for place, line in found:
            event = wire.parse_event(line)
            if event is not None:
                log.note(event["seq"], place)
        log.end = tail.offset
    return log


@pytest.mark.parametrize("size", [0, 50, 5000])
def test_any_event_is_found_by_its_number(tmp_path: Path, size: int) -> None:
    path = tmp_path / "events.jsonl"
    write_recording(path, 3000, size)
    log = follow(path)
    for since in (0, 1, 7, 500, 999, 1000, 1001, 2500, 2998, 2999):
        page = log.span(since).read(2)
        numbers = [event["seq"] for event in page.events]
        assert numbers == [each for each in (since + 1, since + 2) if each <= 3000]
        assert page.last == numbers[-1]
    assert log.span(3000).read(5).events == []
    assert [event["seq"] for event in log.span(0).read(3, frozenset({"tool_result"})).events] == [
        *(10, 20, 30)
    ]


def test_an_answer_is_cut_where_it_gets_large(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    write_recording(path, 100, 1000)
    log = follow(path)
    seen: list[int] = []
    has_more = True
    while has_more:
        page = log.span(seen[-1] if seen else 0).read(1000, most=10_000)
        seen += [event["seq"] for event in page.events]
        has_more = page.has_more
    assert seen == list(range(1, 101))


def test_what_is_not_read_yet_is_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    write_recording(path, 10)
    log = follow(path)
    with path.open("ab") as file:
        file.write(wire.encode_event(11, "error", 1.0, "s", "{}"))
    assert [event["seq"] for event in log.span(8).read(10).events] == [9, 10]


def test_lines_are_read_from_the_end_too(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    written = write_recording(path, 300, 500)
    with path.open("ab") as file:
        file.write(b"half a line")
    handle = os.open(path, os.O_RDONLY)
    try:
        for block in (10, 1000, 1 << 20):
            found = list(read_lines_backwards(handle, os.fstat(handle).st_size, block))
            assert [line + b"\n" for _, line in reversed(found)] == written
            data = path.read_bytes()
            assert all(data[place:].startswith(line) for place, line in found)
    finally:
        os.close(handle)


def test_a_line_longer_than_what_is_read_at_once_comes_whole(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    long = wire.encode_event(1, "error", 1.0, "s", wire.encode_json({"message": "y" * 100_000}))
    short = wire.encode_event(2, "error", 1.0, "s", "{}")
    path.write_bytes(long + short)
    tail = Tail(path, most=1000)
    assert tail.lines() == [(0, long[:-1])]
    assert tail.lines() == [(len(long), short[:-1])]
    assert tail.lines() == []


@pytest.mark.parametrize("block", [7, 64, 4096])
def test_lines_are_read_backwards_as_they_are_forwards(tmp_path: Path, block: int) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"first\n\n" + b"long" * 25 + b"\nnext\n" + b"x" * 101 + b"\nlast\nhalf")
    lines = [(0, b"first"), (6, b""), (7, b"long" * 25), (108, b"next"), (215, b"last")]
    with path.open("rb") as file:
        end = path.stat().st_size
        assert list(read_lines(file.fileno(), 0, end, max_line=100)) == lines
        backwards = read_lines_backwards(file.fileno(), end, block, max_line=100)
        assert list(backwards) == lines[::-1]


def test_what_happened_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    usage = wire.encode_json({"usage": {"inputTokens": 3, "outputTokens": 4}})
    other = wire.encode_event(3, "strange", 1.0, "s", "{}")
    path.write_bytes(wire.encode_event(1, "api_response", 1.0, "s", usage) * 2 + other + GARBAGE)
    counts = read_beginning(path, path.stat().st_size).counts
    assert (counts.types["api_response"], counts.types["other"]) == (2, 1)
    assert (counts.input_tokens, counts.output_tokens) == (6, 8)
