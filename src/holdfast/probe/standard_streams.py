"""Standard streams: output that is there when one looks, input that is asked for aloud."""

from __future__ import annotations

import array
import fcntl
import io
import os
import select
import sys
import termios
import time
from typing import Any, Dict, List, Optional, Tuple

from . import debugger

_LOOKS, _LOOK_SECONDS = 100, 0.0001  # how often, and how long between, one looks at a full pipe


class _Stdin(io.FileIO):
    """Standard input that tells the server before a read that would wait, and after it.

    How many bytes it took so far tells the server whether what it gave meanwhile is the answer.
    """

    taken = 0

    def readinto(self, buffer: Any) -> Any:
        told = self._tell()
        count = super().readinto(buffer)
        self._took(count, told)
        return count

    def read(self, size: Optional[int] = -1) -> Any:
        if size is None or size < 0:
            return self.readall()
        told = self._tell()
        data = super().read(size)
        self._took(len(data or b""), told)
        return data

    def readall(self) -> Any:
        parts: List[bytes] = []
        while True:
            part = self.read(65536)
            if not part:
                return b"".join(parts) if parts or part is not None else None
            parts.append(part)

    def _tell(self) -> bool:
        try:
            ready = select.select([self.fileno()], [], [], 0)[0]
        except (OSError, ValueError):
            return False
        if not ready:
            debugger.report("input_wanted", taken=self.taken)
        return not ready

    def _took(self, count: Optional[int], told: bool) -> None:
        self.taken += count or 0
        if told:
            debugger.report("input_taken")


_OURS: Dict[int, Tuple[int, int]] = {}  # the pipes to the server, by descriptor


def let_go() -> None:
    """Detached: nobody reads what is written, nor writes what is read. That must not end it."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    try:
        for fd, pipe in _OURS.items():
            if _identity(fd) == pipe:
                os.dup2(nowhere, fd, inheritable=True)
    finally:
        os.close(nowhere)


def _identity(fd: int) -> Optional[Tuple[int, int]]:
    try:
        found = os.fstat(fd)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def prepare() -> None:
    for fd in (0, 1, 2):
        pipe = _identity(fd)
        if pipe is not None:
            _OURS[fd] = pipe
    if isinstance(sys.stdout, io.TextIOWrapper) and isinstance(sys.stderr, io.TextIOWrapper):
        sys.stdout = sys.__stdout__ = _in_order(sys.stdout)  # type: ignore[misc]
        sys.stderr = sys.__stderr__ = _in_order(sys.stderr)  # type: ignore[misc]
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin = sys.__stdin__ = _watched(sys.stdin)  # type: ignore[misc]


class FileIO(io.FileIO):
    """Standard output or error. Two pipes have no order between them: a change from one to the
    other waits, for a moment at the most, until what was written to the first has been read."""

    last = -1

    def write(self, data: Any) -> Any:
        fd = self.fileno()
        if FileIO.last != fd:
            if FileIO.last != -1:
                _wait_until_read(FileIO.last)
            FileIO.last = fd
        return super().write(data)


def _wait_until_read(fd: int) -> None:
    waiting = array.array("i", [0])
    for _ in range(_LOOKS):
        try:
            fcntl.ioctl(fd, termios.FIONREAD, waiting)
        except OSError:
            return
        if not waiting[0]:
            return
        time.sleep(_LOOK_SECONDS)


def _in_order(plain: io.TextIOWrapper) -> io.TextIOWrapper:
    raw = FileIO(plain.fileno(), "wb", closefd=False)
    raw.name = plain.name
    buffered = isinstance(plain.buffer, io.BufferedWriter)
    text = io.TextIOWrapper(
        io.BufferedWriter(raw) if buffered else raw,
        encoding=plain.encoding,
        errors=plain.errors,
        # Into a pipe Python buffers whole blocks; a debugger's user wants each line at once.
        line_buffering=True,
        write_through=plain.write_through,
    )
    text.mode = "w"  # type: ignore[misc]
    return text


def _watched(plain: io.TextIOWrapper) -> io.TextIOWrapper:
    raw = _Stdin(plain.fileno(), "rb", closefd=False)
    raw.name = "<stdin>"
    text = io.TextIOWrapper(
        io.BufferedReader(raw),
        encoding=plain.encoding,
        errors=plain.errors,
        line_buffering=plain.line_buffering,
        write_through=plain.write_through,
    )
    text.mode = "r"  # type: ignore[misc]
    return text
