"""A cache of source files: their text, and the lines that a breakpoint can stop at.

A source may be inside a zip file, as `app.pyz/__main__.py`.
"""

from __future__ import annotations

import os
import stat
import zipfile
import zlib
from dataclasses import dataclass
from functools import cache

from holdfast.core import executable_lines
from holdfast.core.executable_lines import SourceLines
from holdfast.recording.regular_files import open_regular

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
    size: int

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
        text = None if stamp is None else self.read_text(path)
        lines = text.splitlines() if text is not None else ()
        return lines[number - 1] if 1 <= number <= len(lines) else None

    def read_text(self, path: str) -> str | None:
        """The text of a file, to look for something in it: it is neither analysed nor kept."""
        data = _read_source(path)
        return None if data is None else data.decode("utf-8", "replace")

    def _read(self, path: str, stamp: Stamp) -> SourceFile | None:
        data = _read_source(path)
        if data is None:
            self._known.pop(path, None)
            return None
        analysis = executable_lines.analyse(data, path)
        text = analysis.text or data.decode("utf-8", "replace")
        known = SourceFile(path, stamp, analysis, tuple(text.splitlines()), len(data))
        self._known.pop(path, None)
        self._known[path] = known
        while len(self._known) > 1 and self._is_too_large():
            del self._known[next(iter(self._known))]
        return known

    def _is_too_large(self) -> bool:
        size = sum(file.size for file in self._known.values())
        return len(self._known) > _MAX_FILES or size > _MAX_TOTAL_BYTES


@cache
def _proc_device() -> int | None:
    """The device number of `/proc`: reading one of its files may block, and has no end."""
    try:
        return os.stat("/proc/self").st_dev
    except OSError:
        return None


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
    """The time and size of a file, which tell whether it changed. None when it is not there.

    What is in a zip file has the time and size of that.
    """
    try:
        status = os.stat(_find_archive(path) or path)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(status.st_mode) or status.st_dev == _proc_device():
        return None
    return status.st_mtime_ns, status.st_size


def _find_archive(path: str) -> str | None:
    """The file that a path goes through as if it were a directory."""
    try:
        os.stat(path)
    except NotADirectoryError:
        while path and not os.path.exists(path):
            path = os.path.dirname(path)
        return path
    except (OSError, ValueError):
        pass
    return None


def _read_source(path: str) -> bytes | None:
    archive = _find_archive(path)
    return _read_file(path) if archive is None else _read_member(archive, path)


def _read_file(path: str) -> bytes | None:
    try:
        with open(open_regular(path, follows_links=True), "rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError:
        return None
    return data if len(data) <= _MAX_BYTES else None


def _read_member(archive: str, path: str) -> bytes | None:
    """A source in a zip file; its names have slashes on every system."""
    name = os.path.relpath(path, archive).replace(os.sep, "/")
    try:
        with (
            open(open_regular(archive, follows_links=True), "rb") as whole,
            zipfile.ZipFile(whole) as file,
            file.open(name) as member,
        ):
            data = member.read(_MAX_BYTES + 1)  # what it says of its size may be wrong
    except (OSError, KeyError, ValueError, RuntimeError, zipfile.BadZipFile, zlib.error):
        return None  # no zip file, a damaged one, or one with a password
    return data if len(data) <= _MAX_BYTES else None
