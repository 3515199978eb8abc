"""Finds the events of a recording by number: the newest in memory, others by binary search."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, cast

import orjson

from holdfast.model.agent_events import (
    API_REQUEST,
    API_RESPONSE,
    LANE_START,
    SESSION_START,
    RecordedEvent,
)
from holdfast.recording.recording_state import RecordingState
from holdfast.recording.regular_files import open_regular
from holdfast.wire import agent_lines

MAX_PAGE_BYTES = 2 << 20
"""About how many bytes one answer carries."""
_MAX_BYTES_READ = 256 << 20
_BLOCK = 256 * 1024
_NEAR = 64 * 1024
_PLACES = 2000
# How our own bridge begins a line. A line that begins otherwise is parsed as JSON.
_HEAD = re.compile(rb'\{"seq":(\d{1,18}),"type":"(\w{1,64})"')


@dataclass
class EventPage:
    """Some events. `last` is the number of the last event that was read."""

    events: list[RecordedEvent] = field(default_factory=list)
    last: int = 0
    has_more: bool = False


def parse_head(line: bytes) -> tuple[int, str] | None:
    """The number and type of the event in a line; None if it holds none."""
    match = _HEAD.match(line)
    if match:
        return int(match[1]), match[2].decode()
    event = parse_event(line)
    return None if event is None else (event["seq"], event["type"])


def parse_event(line: bytes) -> RecordedEvent | None:
    """The event in a line; None if the line is incomplete or no event."""
    event: Any
    try:
        event = orjson.loads(line)
    except ValueError:
        event = agent_lines.parse_event(line)  # accepts NaN, which strict JSON does not
    if not isinstance(event, dict) or not isinstance(event.get("data"), dict):
        return None
    seq = event.get("seq")
    if not isinstance(seq, int) or isinstance(seq, bool) or not isinstance(event.get("type"), str):
        return None
    return cast(RecordedEvent, event)


_STATE_TYPES = frozenset((SESSION_START, LANE_START, API_REQUEST, API_RESPONSE))
"""Those that say something of lanes and tokens."""


class EventLog:
    """What has been read of one `events.jsonl`. Only the offsets of the newest are in memory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.seq = 0
        self.end = 0
        self._places: deque[tuple[int, int]] = deque(maxlen=_PLACES)

    def note(self, seq: int, place: int) -> None:
        """Note that an event begins at byte `place`."""
        if self._places and place <= self._places[-1][1]:
            self._places.clear()  # the file was replaced
        self.seq = seq
        self._places.append((seq, place))

    def span(self, since: int) -> EventRange:
        """The part of the file with the events above `since`, as narrow as is known now."""
        places = self._places
        if since >= self.seq:
            return EventRange(self.path, since, self.end, self.end, self.end)
        if places and places[0][0] <= since + 1:
            # Numbers have no gaps. If one should, an earlier offset does no harm.
            at = min(since + 1 - places[0][0], len(places) - 1)
            while at > 0 and places[at][0] > since + 1:
                at -= 1
            return EventRange(self.path, since, places[at][1], places[at][1], self.end)
        return EventRange(self.path, since, 0, places[0][1] if places else self.end, self.end)


@dataclass(frozen=True)
class EventRange:
    """A part of a recording: the first event above `since` begins between `low` and `high`."""

    path: Path
    since: int
    low: int
    high: int
    end: int

    def read(
        self, limit: int, types: frozenset[str] | None = None, most: int = MAX_PAGE_BYTES
    ) -> EventPage:
        """Its events, oldest first. Reads the file, so call it in a thread."""
        page = EventPage(last=self.since)
        if self.low >= self.end:
            return page
        try:
            handle = open_regular(self.path)
        except OSError:
            return page
        try:
            self._fill(page, handle, limit, types, most)
        except OSError:
            page.has_more = False
        finally:
            os.close(handle)
        return page

    def _fill(
        self, page: EventPage, handle: int, limit: int, types: frozenset[str] | None, most: int
    ) -> None:
        size = 0
        begin = self._begin(handle)
        for place, line in read_lines(handle, begin, self.end):
            if len(page.events) >= limit or size >= most or place - begin >= _MAX_BYTES_READ:
                page.has_more = True
                return
            head = parse_head(line)
            if head is None or head[0] <= page.last:
                continue
            page.last = head[0]
            if types is None or head[1] in types:
                event = parse_event(line)
                if event is not None:
                    page.events.append(event)
                    size += len(line)

    def _begin(self, handle: int) -> int:
        """Where to begin to read: at the first event above `since`, or shortly before it."""
        low, high = self.low, self.high
        while high - low > _NEAR:
            middle = (low + high) // 2
            first = _first_event(handle, middle, high)
            if first is None or first[1] > self.since:
                high = middle
            else:
                low = first[0]
        return low


def read_lines(
    handle: int, begin: int, end: int, max_line: int = agent_lines.MAX_LINE_BYTES
) -> Iterator[tuple[int, bytes]]:
    """The whole lines from byte `begin`, where one begins, up to `end`; none that is too long."""
    parts: list[bytes] = []  # of a line that goes on
    size = 0
    place = begin
    while begin < end:
        data = os.pread(handle, min(_BLOCK, end - begin), begin)
        if not data:
            return
        begin += len(data)
        lines = data.split(b"\n")
        rest = lines.pop()
        for line in lines:
            size += len(line)
            if size <= max_line:
                yield place, b"".join([*parts, line])
            place += size + 1
            parts, size = [], 0
        size += len(rest)
        parts = [*parts, rest] if size <= max_line else []


def read_lines_backwards(
    handle: int, end: int, block: int = _BLOCK, max_line: int = agent_lines.MAX_LINE_BYTES
) -> Iterator[tuple[int, bytes]]:
    """The whole lines before byte `end`, the last one first; none that is too long."""
    parts: list[bytes] | None = None  # of a line that began earlier, backwards; None: an open end
    size = 0
    while end > 0:
        step = min(block, end)
        end -= step
        lines = os.pread(handle, step, end).split(b"\n")
        place = end + step
        while len(lines) > 1 or (end == 0 and lines):
            line = lines.pop()
            place -= len(line)
            size += len(line)
            if parts is not None and size <= max_line:
                yield place, b"".join([line, *reversed(parts)])
            parts, size = [], 0
            place -= 1  # the line end before it
        for rest in lines:
            size += len(rest)
            if parts is not None:
                parts = [*parts, rest] if size <= max_line else []
        if size > _MAX_BYTES_READ:
            return


def _first_event(handle: int, begin: int, end: int) -> tuple[int, int] | None:
    """Where the first event after the next end of a line begins, and its number."""
    for place, line in islice(read_lines(handle, begin, end), 1, None):
        head = parse_head(line)
        if head is not None:
            return place, head[0]
    return None


def read_beginning(path: Path, end: int) -> RecordingState:
    """The lanes and counts of the first `end` bytes. Reads them all, so call it in a thread."""
    state = RecordingState(keeps_messages=False)
    try:
        handle = open_regular(path)
    except OSError:
        return state
    try:
        for _place, line in read_lines(handle, 0, end):
            head = parse_head(line)
            if head is not None:
                event = parse_event(line) if head[1] in _STATE_TYPES else None
                if event is None:
                    state.skip(head[1])
                else:
                    state.take(event)
    finally:
        os.close(handle)
    return state
