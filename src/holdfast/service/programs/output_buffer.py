"""What a program wrote: kept in order, up to a limit, read with a cursor."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from holdfast.wire import rest
from holdfast.wire.program_answers import OutputCounts, OutputEntry

_MAX_ENTRY = 64 * 1024
_ENTRY_COST = 100
_TAIL_ENTRIES = 1000
MAX_PAGE_BYTES = 2 * 1024 * 1024
"""How much one answer carries. It is in memory until its last byte is sent."""


@dataclass(frozen=True)
class Entry:
    seq: int
    type: str
    text: str
    at: float
    run: int
    place: dict[str, Any] = field(default_factory=dict, hash=False)

    def to_json(self) -> OutputEntry:
        entry = OutputEntry(
            type=self.type,
            text=self.text,
            timestamp=rest.timestamp(self.at),
            seq=self.seq,
            run=self.run,
        )
        entry.update(cast(OutputEntry, self.place))
        return entry


@dataclass(frozen=True)
class Page:
    entries: list[Entry]
    cursor: int
    has_more: bool
    dropped: int
    """How many entries after the requested cursor were dropped before."""


@dataclass(frozen=True)
class Tail:
    """The end of what was written after a cursor."""

    entries: list[OutputEntry]
    cursor: int
    counts: OutputCounts


class OutputBuffer:
    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        self._entries: deque[Entry] = deque()
        self._bytes = 0
        self._seq = 0
        self._last_line: dict[str, str] = {}
        self._cleared = 0
        self._shown = 0
        self.run_start = 0
        """The cursor where the output of this run begins."""
        self.run = 0
        """The number of the program's run, from 1 on."""

    @property
    def cursor(self) -> int:
        return self._seq

    def add(self, kind: str, text: str, **place: Any) -> None:
        now = time.time()
        # A write may be longer than the limit, so it is stored in parts that can be dropped singly.
        longest = max(1, min(_MAX_ENTRY, self.limit_bytes // 16))
        for start in range(0, len(text), longest):
            part = text[start : start + longest]
            self._seq += 1
            self._entries.append(Entry(self._seq, kind, part, now, self.run, place))
            self._bytes += _size(part)
        self._last_line[kind] = _unfinished_line(self._last_line.get(kind, ""), text)
        while self._is_too_large() and len(self._entries) > 1:
            self._bytes -= _size(self._entries.popleft().text)

    def _is_too_large(self) -> bool:
        # Entries are limited, too, because each needs more memory than its text.
        max_entries = max(1000, self.limit_bytes // _ENTRY_COST)
        return self._bytes > self.limit_bytes or len(self._entries) > max_entries

    def page(
        self,
        since: int,
        limit: int,
        kinds: frozenset[str] | None = None,
        max_bytes: int = MAX_PAGE_BYTES,
    ) -> Page:
        """The first entries after `since`: at most `limit`, and of about that size together."""
        since = min(since, self._seq)  # a cursor of another run of the server means: from now on
        dropped = self._count_dropped(since)
        entries: list[Entry] = []
        cursor = since
        for entry in self._iterate_after(since):
            if len(entries) == limit or max_bytes <= 0:
                return Page(entries, cursor, True, dropped)
            cursor = entry.seq
            if kinds is None or entry.type in kinds:
                entries.append(entry)
                max_bytes -= len(entry.text)
        return Page(entries, max(cursor, since, self._seq), False, dropped)

    def _count_dropped(self, since: int) -> int:
        """How many entries after a cursor made room for others. Cleared ones do not count."""
        first = self._entries[0].seq if self._entries else self._seq + 1
        return max(0, first - 1 - max(since, self._cleared))

    def _iterate_after(self, since: int) -> Iterator[Entry]:
        if not self._entries:
            return
        skip = max(0, since - self._entries[0].seq + 1)
        # Access to a deque is fast near its ends, and most readers want the newest entries.
        if skip > len(self._entries) // 2:
            newest = len(self._entries) - skip
            tail = [self._entries[-1 - i] for i in range(max(0, newest))]
            yield from reversed(tail)
            return
        for index, entry in enumerate(self._entries):
            if index >= skip:
                yield entry

    # -- what answers at a stop show --------------------------------------------------------

    def begin_run(self) -> None:
        """Begin a run: what it writes is new, what earlier ones wrote is not."""
        self.run += 1
        self.run_start = self._shown = self._seq

    def cancel_run(self) -> None:
        """Do not count a run that did not begin."""
        self.run -= 1

    def read_tail(self, since: int | None, max_bytes: int) -> Tail:
        """The end of what came after `since`, or of what no answer of this run has shown.

        Neighbours of one stream become one entry, which has the number of the last.
        """
        start = self._shown if since is None else min(since, self._seq)
        new = list(self._iterate_after(start))
        joined: list[_Joined] = []
        room, used = max_bytes, 0
        for entry in reversed(new):
            if room <= 0:
                break
            if not (joined and joined[-1].takes(entry)):
                if len(joined) == _TAIL_ENTRIES:
                    break
                joined.append(_Joined(entry))
            room -= joined[-1].prepend(entry, room)
            used += 1
        size = sum(_size(entry.text) for entry in new)
        counts = OutputCounts(
            since=str(start),
            entries=len(new),
            bytes=size,
            omitted=len(new) - used,
            omitted_bytes=size - (max_bytes - room),
            dropped=self._count_dropped(start),
        )
        return Tail([part.to_json() for part in reversed(joined)], self._seq, counts)

    def note_shown(self, cursor: int) -> None:
        """Note that an answer has shown what was written up to here."""
        self._shown = max(self._shown, cursor)

    def tail(self, since: int, kind: str, max_characters: int) -> str:
        """The end of what was written after `since`."""
        parts: list[str] = []
        for entry in reversed(self._entries):
            if entry.seq <= since or max_characters <= 0:
                break
            if entry.type == kind:
                parts.append(entry.text[-max_characters:])
                max_characters -= len(entry.text)
        return "".join(reversed(parts))

    def clear(self) -> None:
        """Forget all; cursors given out before stay valid."""
        self._entries.clear()
        self._bytes = 0
        self._cleared = self._seq

    def new_line(self) -> None:
        """Begin a new line: somebody gave input, or another program begins."""
        self._last_line.clear()

    @property
    def prompt(self) -> str:
        """The last line without its end: the prompt of a program that waits for input."""
        return self._last_line.get("stdout", "") or self._last_line.get("stderr", "")


class _Joined:
    """Neighbouring entries of one stream, collected from the last one on."""

    def __init__(self, last: Entry) -> None:
        self._last = last
        self._parts: list[str] = []
        self._omitted_bytes = 0

    def takes(self, entry: Entry) -> bool:
        """Whether the entry before these belongs to them. What a logpoint wrote stands alone."""
        last = self._last
        return (entry.type, entry.run) == (last.type, last.run) and not (entry.place or last.place)

    def prepend(self, entry: Entry, room: int) -> int:
        """Put an entry before these, or as much of its end as there is room for; its size."""
        size, text = _size(entry.text), entry.text
        if size > room:
            data = text.encode("utf-8", "surrogatepass")[size - room :]
            while data and data[0] & 0xC0 == 0x80:  # not the first byte of a character
                data = data[1:]
            text, self._omitted_bytes = data.decode("utf-8", "surrogatepass"), size - len(data)
        self._parts.append(text)
        return size - self._omitted_bytes

    def to_json(self) -> OutputEntry:
        entry = self._last.to_json()
        entry["text"] = "".join(reversed(self._parts))
        if self._omitted_bytes:
            entry["omitted_bytes"] = self._omitted_bytes
        return entry


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _unfinished_line(before: str, text: str) -> str:
    _head, newline, tail = text.rpartition("\n")
    line = tail if newline else before + text
    return line[-1000:]
