"""A target's standard streams, from our side: pipes read and written in the event loop."""

from __future__ import annotations

import array
import asyncio
import codecs
import fcntl
import os
import termios
from collections import deque
from collections.abc import Callable

_CHUNK = 65536
_LINE_SECONDS = 0.02


class Output:
    """One of stdout and stderr: read as it comes, decoded, told in order and by whole lines.

    A line that is begun waits a moment for its end: one `print` may be several writes.
    """

    def __init__(self, fd: int, tell: Callable[[str], None]) -> None:
        self._fd = fd
        self._tell = tell
        self._begun = ""
        self._later: asyncio.TimerHandle | None = None
        self.others: list[Output] = []
        self._decode = codecs.getincrementaldecoder("utf-8")("backslashreplace").decode
        self._loop = asyncio.get_running_loop()
        self.closed = asyncio.Event()
        os.set_blocking(fd, False)
        self._loop.add_reader(fd, self._readable)

    def _readable(self) -> None:
        """One chunk a turn, so that a program that floods us starves nobody."""
        self._read()

    def _read(self) -> bool:
        try:
            data = os.read(self._fd, _CHUNK)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        text = self._decode(data, final=not data)
        if text:
            self._take(text)
        if not data:
            self.close()
        return bool(data)

    def _take(self, text: str) -> None:
        for other in self.others:
            other.flush()  # what was begun there came before this
        lines, newline, begun = (self._begun + text).rpartition("\n")
        if newline:
            self._tell(lines + newline)
        self._begun = begun
        if len(begun) > _CHUNK:
            self.flush()
        elif begun and self._later is None:
            self._later = self._loop.call_later(_LINE_SECONDS, self.flush)

    def flush(self) -> None:
        """Tell a line that is not ended, too."""
        if self._later is not None:
            self._later.cancel()
            self._later = None
        begun, self._begun = self._begun, ""
        if begun:
            self._tell(begun)

    def drain(self) -> None:
        """Read what is in the pipe at this moment (at most what a pipe can hold)."""
        for _ in range(16):
            if self.closed.is_set() or not self._read():
                break
        self.flush()

    def close(self) -> None:
        if not self.closed.is_set():
            self.flush()
            self._loop.remove_reader(self._fd)
            os.close(self._fd)
            self.closed.set()


class Input:
    """A target's stdin. A program that does not read must not block us, nor lose a byte."""

    def __init__(self, fd: int) -> None:
        self._fd: int | None = fd
        self._waiting: deque[bytes] = deque()
        self._ending = False
        self.waiting = 0
        """Bytes for which there was no room in the pipe yet."""
        self.given = 0
        """Bytes that are in the pipe, or were taken from it."""
        self._loop = asyncio.get_running_loop()
        os.set_blocking(fd, False)

    @property
    def open(self) -> bool:
        return self._fd is not None and not self._ending

    @property
    def unread(self) -> int:
        """Bytes in the pipe that nobody has taken yet."""
        if self._fd is None:
            return 0
        count = array.array("i", [0])
        try:
            fcntl.ioctl(self._fd, termios.FIONREAD, count)
        except OSError:
            return 0
        return count[0]

    def write(self, data: bytes) -> None:
        if self._fd is None:
            raise BrokenPipeError
        if data:
            self._waiting.append(data)
            self.waiting += len(data)
        self._flush()

    def end(self) -> None:
        """Close it once all is written: the program reads end of file."""
        self._ending = True
        self._flush()

    def _flush(self) -> None:
        if self._fd is None:
            return
        while self._waiting:
            data = self._waiting[0]
            try:
                sent = os.write(self._fd, data)
            except BlockingIOError:
                self._loop.add_writer(self._fd, self._flush)
                return
            except OSError:
                self.close()
                return
            self.given += sent
            self.waiting -= sent
            if sent == len(data):
                self._waiting.popleft()
            else:
                self._waiting[0] = data[sent:]
        self._loop.remove_writer(self._fd)
        if self._ending:
            self.close()

    def close(self) -> None:
        if self._fd is not None:
            self._loop.remove_writer(self._fd)
            os.close(self._fd)
            self._fd = None
