"""The pipes to a target's standard streams, read and written in the event loop."""

from __future__ import annotations

import array
import asyncio
import codecs
import contextlib
import fcntl
import os
import termios
from collections import deque
from collections.abc import Callable

Report = Callable[[str, str], None]
"""Takes what was written: `stdout` or `stderr`, and the text."""
_CHUNK = 65536
_LINE_SECONDS = 0.02


class Output:
    """Reads stdout or stderr, decodes it, and reports it in order and by whole lines.

    An unfinished line waits a moment for its end, because one `print` may be several writes.
    """

    def __init__(self, fd: int, report: Callable[[str], None]) -> None:
        self._fd = fd
        self._report = report
        self._unfinished = ""
        self._later: asyncio.TimerHandle | None = None
        self.others: list[Output] = []
        self._decode = codecs.getincrementaldecoder("utf-8")("backslashreplace").decode
        self._loop = asyncio.get_running_loop()
        self.closed = asyncio.Event()
        os.set_blocking(fd, False)
        # One chunk a turn: a program that writes without end must not starve the others.
        self._loop.add_reader(fd, self._read)

    def _read(self) -> bool:
        """Read one chunk. False when there is none."""
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
            other.flush()  # its unfinished line came before this text
        lines, newline, unfinished = (self._unfinished + text).rpartition("\n")
        if newline:
            self._report(lines + newline)
        self._unfinished = unfinished
        if len(unfinished) > _CHUNK:
            self.flush()
        elif unfinished and self._later is None:
            self._later = self._loop.call_later(_LINE_SECONDS, self.flush)

    def flush(self) -> None:
        """Report the unfinished line, too."""
        if self._later is not None:
            self._later.cancel()
            self._later = None
        unfinished, self._unfinished = self._unfinished, ""
        if unfinished:
            self._report(unfinished)

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
    """Writes to a target's stdin without blocking. What the pipe cannot hold waits here."""

    is_terminal = False

    def __init__(self, fd: int) -> None:
        self._fd: int | None = fd
        self._waiting: deque[bytes] = deque()
        self._ending = False
        self.waiting = 0
        """Bytes that the pipe had no room for yet."""
        self.written = 0
        """Bytes that have been written to the pipe."""
        self._loop = asyncio.get_running_loop()
        os.set_blocking(fd, False)

    @property
    def open(self) -> bool:
        return self._fd is not None and not self._ending

    @property
    def has_more(self) -> bool:
        """Whether the program can read on: there are bytes in the pipe, or the end of the file."""
        return bool(self.unread) or not self.open

    def is_answer(self, data: bytes) -> bool:
        """Whether a program that waits for input reads on, given this."""
        return True

    @property
    def unread(self) -> int:
        """Bytes in the pipe that nobody has read yet."""
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
        """Close the pipe once everything is written. The program then reads the end of the file."""
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
            self.written += sent
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


class Pipes:
    """Three new pipes: our ends and the program's."""

    inherited: tuple[int, ...] = ()

    def __init__(self) -> None:
        with contextlib.ExitStack() as on_failure:
            pairs = []
            for _ in range(3):
                pairs.append(os.pipe())
                for fd in pairs[-1]:
                    on_failure.callback(os.close, fd)
            on_failure.pop_all()
        (stdin, our_stdin), (our_stdout, stdout), (our_stderr, stderr) = pairs
        self.streams = (stdin, stdout, stderr)
        self._ours = (our_stdin, our_stdout, our_stderr)

    def close_ours(self) -> None:
        for fd in self._ours:
            os.close(fd)

    def close_theirs(self) -> None:
        for fd in self.streams:
            os.close(fd)

    def connect(self, report: Report) -> tuple[Input, list[Output]]:
        """Read and write our ends."""
        stdin, stdout, stderr = self._ours
        outputs = [
            Output(stdout, lambda text: report("stdout", text)),
            Output(stderr, lambda text: report("stderr", text)),
        ]
        for output in outputs:
            output.others = [other for other in outputs if other is not output]
        return Input(stdin), outputs
