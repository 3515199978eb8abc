"""Reading a file that others append to: whole lines only, each once.

A line longer than `MAX_LINE_BYTES` is skipped and counted, so that a file without line ends cannot
fill the reader's memory.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from holdfast.recording.regular_files import open_regular
from holdfast.wire.agent_lines import MAX_LINE_BYTES

MAX_PASSED_BYTES = 64 << 20
"""How much of lines that are too long is passed over at once."""
_MOST = 8 << 20


class Tail:
    """`offset` is where the next line begins; `most` is about how much is read at once.

    While a line that is too long is skipped, `offset` is in the middle of it.
    """

    def __init__(
        self, path: Path, offset: int = 0, most: int = _MOST, max_line: int = MAX_LINE_BYTES
    ) -> None:
        self.path = path
        self.offset = offset
        self.max_line = max_line
        self.too_long: list[int] = []
        """Where the lines began that were too long. The reader takes them out."""
        self._most = most
        self._file: tuple[int, int] | None = None
        self._searched = 0  # so many bytes after `offset` have no line end
        self._is_skipping = False

    def lines(self) -> list[tuple[int, bytes]]:
        """What is new: where each line begins, and the line without its end."""
        try:
            handle = open_regular(self.path)
        except OSError:
            return []
        try:
            return self._read_new_lines(handle)
        except OSError:
            return []
        finally:
            os.close(handle)

    def all(self) -> Iterator[tuple[int, bytes]]:
        """Everything there is now; `lines` reads a bounded piece at a time."""
        place = -1
        while place != self.offset:
            place = self.offset
            yield from self.lines()

    def has_more(self) -> bool:
        """Whether the file is longer than what was read, or another one."""
        try:
            status = os.stat(self.path)
        except OSError:
            return False
        is_other = self._file is not None and self._file != (status.st_dev, status.st_ino)
        return is_other or status.st_size != self.offset + self._searched

    def _read_new_lines(self, handle: int) -> list[tuple[int, bytes]]:
        status = os.fstat(handle)
        same = (status.st_dev, status.st_ino)
        if status.st_size < self.offset or (self._file is not None and self._file != same):
            self.offset = 0  # cut short, or another file in its place
            self._searched, self._is_skipping = 0, False
        self._file = same
        if status.st_size < self.offset + self._searched:
            self._searched = 0  # the half line was taken back
        passed = 0  # bytes of lines that are too long
        while passed < MAX_PASSED_BYTES:
            begin = self.offset + self._searched
            data = os.pread(handle, min(self._most, status.st_size - begin), begin)
            if not data:
                break
            if self._is_skipping:
                end = data.find(b"\n") + 1
                self._is_skipping = not end
                self.offset += end or len(data)
                passed += end or len(data)
            # All lines of a piece are split at once, but a line of several pieces comes alone.
            elif end := (data.find(b"\n") if self._searched else data.rfind(b"\n")) + 1:
                if lines := self._split(self._read_searched(handle) + data[:end]):
                    return lines
            elif self._searched + len(data) > self.max_line:
                self._skip_line()
            elif len(data) == self._most:
                self._searched += len(data)
            else:
                break  # half a line
        return []

    def _read_searched(self, handle: int) -> bytes:
        """The beginning of a line whose end was found only now."""
        begun = os.pread(handle, self._searched, self.offset) if self._searched else b""
        if len(begun) != self._searched:
            raise OSError("cut short while it was read")
        return begun

    def _split(self, data: bytes) -> list[tuple[int, bytes]]:
        lines, place = [], self.offset
        for line in data.split(b"\n")[:-1]:
            if len(line) > self.max_line:
                self.too_long.append(place)
            else:
                lines.append((place, line))
            place += len(line) + 1
        self.offset += len(data)
        self._searched = 0
        return lines

    def _skip_line(self) -> None:
        self.too_long.append(self.offset)
        self.offset += self._searched
        self._searched = 0
        self._is_skipping = True
