"""What a program wrote: kept in order, up to a limit, read with a cursor."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from holdfast.wire import rest
from holdfast.wire.program_answers import OutputEntry

_MAX_ENTRY = 64 * 1024
_ENTRY_COST = 100
MAX_PAGE_BYTES = 2 * 1024 * 1024
"""How much one answer carries. It is in memory until its last byte is sent."""


@dataclass(frozen=True)
class Entry:
    seq: int
    type: str
    text: str
    at: float
    place: dict[str, Any] = field(default_factory=dict, hash=False)

    def to_json(self) -> OutputEntry:
        entry = OutputEntry(
            type=self.type, text=self.text, timestamp=rest.timestamp(self.at), seq=self.seq
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


class OutputBuffer:
    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        self._entries: deque[Entry] = deque()
        self._bytes = 0
        self._seq = 0
        self._last_line: dict[str, str] = {}
        self._mark = 0

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
            self._entries.append(Entry(self._seq, kind, part, now, place))
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
        first = self._entries[0].seq if self._entries else self._seq + 1
        dropped = max(0, first - 1 - since)
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

    def mark(self) -> None:
        """The program runs on: what it writes from now on is new."""
        self._mark = self._seq

    def new_entries(self, limit: int) -> list[Entry]:
        """What was written since the program last ran on."""
        return self.page(self._mark, limit).entries

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

    def new_line(self) -> None:
        """Begin a new line: somebody gave input, or another program begins."""
        self._last_line.clear()

    @property
    def prompt(self) -> str:
        """The last line without its end: the prompt of a program that waits for input."""
        return self._last_line.get("stdout", "") or self._last_line.get("stderr", "")


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _unfinished_line(before: str, text: str) -> str:
    _head, newline, tail = text.rpartition("\n")
    line = tail if newline else before + text
    return line[-1000:]
