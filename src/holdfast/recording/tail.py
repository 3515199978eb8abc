"""Reading a file that others append to: whole lines only, each once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_MOST = 8 << 20


class Tail:
    """`offset` is where the next line begins; `most` is about how much is read at once."""

    def __init__(self, path: Path, offset: int = 0, most: int = _MOST) -> None:
        self.path = path
        self.offset = offset
        self._most = most
        self._file: tuple[int, int] | None = None

    def lines(self) -> list[tuple[int, bytes]]:
        """What is new: where each line begins, and the line without its end."""
        try:
            handle = os.open(self.path, os.O_RDONLY)
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
        while lines := self.lines():
            yield from lines

    def has_more(self) -> bool:
        """Whether the file is longer than what was read, or another one."""
        try:
            status = os.stat(self.path)
        except OSError:
            return False
        is_other = self._file is not None and self._file != (status.st_dev, status.st_ino)
        return is_other or status.st_size != self.offset

    def _read_new_lines(self, handle: int) -> list[tuple[int, bytes]]:
        status = os.fstat(handle)
        same = (status.st_dev, status.st_ino)
        if status.st_size < self.offset or (self._file is not None and self._file != same):
            self.offset = 0  # cut short, or another file in its place
        self._file = same
        data = os.pread(handle, min(self._most, status.st_size - self.offset), self.offset)
        end = data.rfind(b"\n") + 1
        if end == 0 and len(data) == min(self._most, status.st_size - self.offset) >= self._most:
            return self._read_long_line(handle, status.st_size)
        lines, place = [], self.offset
        for line in data[:end].split(b"\n")[:-1]:
            lines.append((place, line))
            place += len(line) + 1
        self.offset += end
        return lines

    def _read_long_line(self, handle: int, size: int) -> list[tuple[int, bytes]]:
        """A line that is longer than what is read at once."""
        parts: list[bytes] = []
        place = end = self.offset
        while end < size:
            part = os.pread(handle, min(self._most, size - end), end)
            if not part:
                return []
            at = part.find(b"\n")
            if at >= 0:
                self.offset = end + at + 1
                return [(place, b"".join([*parts, part[:at]]))]
            parts.append(part)
            end += len(part)
        return []
