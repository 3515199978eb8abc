"""A cache of source files: their text, and the lines that a breakpoint can stop at."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from functools import cache

from holdfast.core import executable_lines
from holdfast.core.executable_lines import SourceLines

_MAX_FILES = 500
_MAX_BYTES = 20 * 1024 * 1024
_MAX_TOTAL_BYTES = 32 * 1024 * 1024

_KERNEL_PATHS = ("/proc/", "/sys/", "/dev/")

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

    def _read(self, path: str, stamp: Stamp) -> SourceFile | None:
        data = _read_file(path)
        if data is None:
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


@cache
def _proc_device() -> int | None:
    """The device number of `/proc`: reading one of its files may block, and has no end."""
    try:
        return os.stat("/proc/self").st_dev
    except OSError:
        return None


def _read_file(path: str) -> bytes | None:
    """The bytes of a regular file of moderate size; None for anything else."""
    try:
        # What is there now may be another file than a moment ago: a FIFO must not block us.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            data = file.read(_MAX_BYTES + 1)
    except OSError:
        return None
    return data if len(data) <= _MAX_BYTES else None


def is_kernel_path(path: str) -> bool:
    """Whether a path leads below `/proc`, `/sys` or `/dev`, whatever links it goes through.

    Their files are no sources: they are devices, and secrets of other processes.
    """
    try:
        real = os.path.realpath(path)
    except (OSError, ValueError):
        return True
    return real.startswith(_KERNEL_PATHS) or real + "/" in _KERNEL_PATHS


def stamp_of(path: str) -> Stamp | None:
    """The time and size of a file, which tell whether it changed. None when it is not there."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(status.st_mode) or status.st_dev == _proc_device():
        return None
    return status.st_mtime_ns, status.st_size
