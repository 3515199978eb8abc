"""Reading a file that others append to: whole lines only, each once."""

from __future__ import annotations

import os
from pathlib import Path

_MOST = 8 << 20


class Tail:
    """`offset` is where the next line begins."""

    def __init__(self, path: Path, offset: int = 0) -> None:
        self.path = path
        self.offset = offset
        self._file: tuple[int, int] | None = None

    def lines(self) -> list[tuple[int, bytes]]:
        """What is new: where each line begins, and the line without its end."""
        try:
            handle = os.open(self.path, os.O_RDONLY)
        except OSError:
            return []
        try:
            return self._new(handle)
        except OSError:
            return []
        finally:
            os.close(handle)

    def has_more(self) -> bool:
        """Whether the file is longer than what was read."""
        try:
            return os.stat(self.path).st_size != self.offset
        except OSError:
            return False

    def _new(self, handle: int) -> list[tuple[int, bytes]]:
        found = os.fstat(handle)
        same = (found.st_dev, found.st_ino)
        if found.st_size < self.offset or (self._file is not None and self._file != same):
            self.offset = 0  # cut short, or another file in its place
        self._file = same
        data = os.pread(handle, min(_MOST, found.st_size - self.offset), self.offset)
        end = data.rfind(b"\n") + 1
        while end == 0 and len(data) == min(_MOST, found.st_size - self.offset) >= _MOST:
            return self._long(handle, found.st_size)
        lines, place = [], self.offset
        for line in data[:end].split(b"\n")[:-1]:
            lines.append((place, line))
            place += len(line) + 1
        self.offset += end
        return lines

    def _long(self, handle: int, size: int) -> list[tuple[int, bytes]]:
        """A line that is longer than what is read at once."""
        data = os.pread(handle, size - self.offset, self.offset)
        end = data.find(b"\n")
        if end < 0:
            return []
        place = self.offset
        self.offset += end + 1
        return [(place, data[:end])]
