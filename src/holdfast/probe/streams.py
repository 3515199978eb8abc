"""Standard streams: output that is there when one looks, input that is asked for aloud."""

from __future__ import annotations

import io
import select
import sys
from typing import Any, Optional

from . import debugger


class _Stdin(io.FileIO):
    """Standard input that tells the server before a read that would wait."""

    def readinto(self, buffer: Any) -> Any:
        self._tell()
        return super().readinto(buffer)

    def readall(self) -> Any:
        self._tell()
        return super().readall()

    def read(self, size: Optional[int] = -1) -> Any:
        self._tell()
        return super().read(size)

    def _tell(self) -> None:
        try:
            ready = select.select([self.fileno()], [], [], 0)[0]
        except (OSError, ValueError):
            return
        if not ready:
            debugger.report("input_wanted")


def prepare(watch_input: bool) -> None:
    # Into a pipe Python buffers whole blocks; a debugger's user wants each line at once.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(line_buffering=True)
    if watch_input and isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin = sys.__stdin__ = _watched(sys.stdin)  # type: ignore[misc]


def _watched(plain: io.TextIOWrapper) -> io.TextIOWrapper:
    raw = _Stdin(plain.fileno(), "rb", closefd=False)
    raw.name = "<stdin>"
    text = io.TextIOWrapper(
        io.BufferedReader(raw),
        encoding=plain.encoding,
        errors=plain.errors,
        line_buffering=plain.line_buffering,
    )
    text.mode = "r"  # type: ignore[misc]
    return text
