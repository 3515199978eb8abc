"""A cache of source files: their text, and the lines that a breakpoint can stop at."""

from __future__ import annotations

import itertools
import os
import stat
import tokenize
from dataclasses import dataclass

from holdfast.core import executable_lines
from holdfast.core.executable_lines import SourceLines

_MAX_FILES = 500
_MAX_BYTES = 20 * 1024 * 1024
_MAX_TOTAL_BYTES = 32 * 1024 * 1024

Stamp = tuple[int, int]


@dataclass(frozen=True)
class SourceFile:
    path: str
    stamp: Stamp
    analysis: SourceLines
    text: tuple[str, ...]

    def line(self, number: int) -> str | None:
        return self.text[number - 1] if 1 <= number <= len(self.text) else None


class SourceFiles:
    """A small cache; a file that changed is read again."""

    def __init__(self) -> None:
        self._known: dict[str, SourceFile] = {}

    def get(self, path: str) -> SourceFile | None:
        """None when there is no such file, or it cannot be read."""
        stamp = stamp_of(path)
        if stamp is None:
            self._known.pop(path, None)
            return None
        known = self._known.get(path)
        if known is not None and known.stamp == stamp:
            return known
        return self._read(path, stamp)

    def line(self, path: str, number: int) -> str | None:
        """One line of a file. A file that nobody asked for yet is not analysed for that."""
        stamp = stamp_of(path)
        known = self._known.get(path)
        if known is not None and known.stamp == stamp:
            return known.line(number)
        if stamp is None or stamp[1] > _MAX_BYTES:
            return None
        try:
            with tokenize.open(path) as file:
                return next(itertools.islice(file, number - 1, None), None)
        except (OSError, SyntaxError, ValueError):  # or not text at all
            return None

    def _read(self, path: str, stamp: Stamp) -> SourceFile | None:
        if stamp[1] > _MAX_BYTES:
            return None
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError:
            return None
        analysis = executable_lines.analyse(data, path)
        text = analysis.text or data.decode("utf-8", "replace")
        known = SourceFile(path, stamp, analysis, tuple(text.splitlines()))
        self._known.pop(path, None)
        self._known[path] = known
        while len(self._known) > 1 and self._is_too_large():
            del self._known[next(iter(self._known))]
        return known

    def _is_too_large(self) -> bool:
        size = sum(file.stamp[1] for file in self._known.values())
        return len(self._known) > _MAX_FILES or size > _MAX_TOTAL_BYTES


def stamp_of(path: str) -> Stamp | None:
    """The time and size of a file, which tell whether it changed. None when it is not there."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return status.st_mtime_ns, status.st_size
