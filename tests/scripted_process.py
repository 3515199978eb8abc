"""What a scripted target has in place of a process: its end, its turns to run, and its pipes."""

from __future__ import annotations

import array
import asyncio
import fcntl
import io
import itertools
import os
import select
import termios
import threading
from collections.abc import Callable, Sequence
from typing import Any

from holdfast.targets.program.process_spawner import Spawned

_NO_PIDS = itertools.count(2**22 + 1)  # the system gives no process such a number
_GUARD_SECONDS = 60.0


class ScriptedProcess(Spawned):
    """What the launcher has of a process: its number, its end, and how to end it."""

    def __init__(self, end: Callable[[int], None], tag: int | None) -> None:
        self.pid = next(_NO_PIDS)
        self.tag = tag
        self.detached = False
        self._code: int | None = None
        self._ended = asyncio.Event()
        self._end = end

    @property
    def returncode(self) -> int | None:
        return self._code

    async def wait(self) -> int:
        await self._ended.wait()
        assert self._code is not None
        return self._code

    async def kill_tree(self, grace: float | None = None) -> list[int]:
        if self._code is None:
            self._end(-9 if grace is None else -15)
        return []

    def note_end(self, code: int) -> None:
        self._code = code
        self._ended.set()


# -- turns ----------------------------------------------------------------------------------------


class _Killed(BaseException):
    """Ends the thread of a script whose process is killed."""


class Turns:
    """Either the loop runs or the script does."""

    def __init__(self, run: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._run = run
        self._scripts, self._loops = threading.Semaphore(0), threading.Semaphore(0)
        self._is_killed = False
        self.thread = threading.Thread(target=self._begin, name="MainThread", daemon=True)
        self.on_return: Callable[[], None] = lambda: None
        """What the loop does first when its turn begins."""

    def _begin(self) -> None:
        try:
            self._run()
        except _Killed:
            pass
        finally:
            self._loops.release()

    def give(self) -> None:
        """In the loop: let the script run until it gives the turn back."""
        if self.thread.ident is None:
            self.thread.start()
        elif self.thread.is_alive():
            self._scripts.release()
        if not self._loops.acquire(timeout=_GUARD_SECONDS):
            raise RuntimeError("the script waits for something that a scripted target has not")
        self.on_return()

    def give_back(self, ask: Callable[[], object] | None = None) -> None:
        """In the script: stand still until the turn is given again, by what `ask` sets up."""
        if ask is not None:
            self._loop.call_soon_threadsafe(ask)
        self._loops.release()
        self._scripts.acquire()
        if self._is_killed:
            raise _Killed

    def kill(self) -> None:
        self._is_killed = True
        if self.thread.is_alive():
            self._scripts.release()
            self.thread.join(_GUARD_SECONDS)


class Streams:
    """The three pipes of a script, for its own thread."""

    def __init__(self, fds: Sequence[int], turns: Turns, report: Callable[..., None]) -> None:
        self._fds = fds
        self._turns = turns
        self._report = report
        self._loop = asyncio.get_running_loop()
        self._last_fd: int | None = None
        self._unread = b""
        self._taken = 0
        for fd in fds:
            os.set_blocking(fd, False)
        self.stdout, self.stderr = (_Writer(self, fd) for fd in fds[1:])

    def close(self) -> None:
        for fd in self._fds:
            self._loop.remove_reader(fd)
            self._loop.remove_writer(fd)
            os.close(fd)

    def write(self, fd: int, text: str) -> None:
        if self._last_fd not in (None, fd):
            self.wait_until_read()  # two pipes have no order between them
        self._last_fd = fd
        data = text.encode()
        while data:
            try:
                data = data[os.write(fd, data) :]
            except BlockingIOError:
                self._wait_for(fd, self._loop.add_writer, self._loop.remove_writer)

    def wait_until_read(self) -> None:
        """Wait until the server has read what was printed."""
        unread = array.array("i", [0])
        while self._last_fd is not None:
            fcntl.ioctl(self._last_fd, termios.FIONREAD, unread)
            if not unread[0]:
                return
            self._turns.give_back(self._turns.give)

    def input(self, prompt: object = "") -> str:
        self.stdout.write(str(prompt))
        line = self.readline()
        if not line:
            raise EOFError("EOF when reading a line")
        return line.removesuffix("\n")

    def readline(self) -> str:
        stdin = self._fds[0]
        while b"\n" not in self._unread:
            waits = not select.select([stdin], [], [], 0)[0]
            if waits:
                self._report("input_wanted", taken=self._taken)
                self._wait_for(stdin, self._loop.add_reader, self._loop.remove_reader)
            data = os.read(stdin, 65536)
            self._taken += len(data)
            self._unread += data
            if waits:
                self._report("input_taken")
            if not data:
                break
        line, newline, self._unread = self._unread.partition(b"\n")
        return (line + newline).decode()

    def _wait_for(self, fd: int, add: Callable[..., Any], remove: Callable[..., Any]) -> None:
        def go_on() -> None:
            remove(fd)
            self._turns.give()

        self._turns.give_back(lambda: add(fd, go_on))


class _Writer(io.TextIOBase):
    def __init__(self, streams: Streams, fd: int) -> None:
        self._streams = streams
        self._fd = fd

    def write(self, text: str) -> int:
        self._streams.write(self._fd, text)
        return len(text)
