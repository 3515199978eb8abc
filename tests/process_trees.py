"""Families of real processes, known to be gone by what they held open.

Every process of a family holds the write end of one pipe. Its read end tells their pids and, at
end of file, that the last of them is gone.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator

import psutil

from holdfast.targets.program.process_spawner import Spawned, spawn

TIMEOUT = 60.0

WAIT_TO_BEGIN = "import os; os.read(0, 1)\n"
# Says its pid once it is ready, then waits for a signal.
MEMBER = """
import os, signal, sys
out = int(sys.argv[1])
def settle():
    os.write(out, f"{os.getpid()}\\n".encode())
    while True:
        signal.pause()
"""
LONER = MEMBER + "settle()"
STUBBORN = MEMBER + "signal.signal(signal.SIGTERM, signal.SIG_IGN); settle()"
POLITE = MEMBER + "signal.signal(signal.SIGTERM, lambda *_: sys.exit(7)); settle()"
STOPPED = MEMBER + "os.write(out, f'{os.getpid()}\\n'.encode()); os.kill(os.getpid(), 19)"
# A leader with a child, a daemon, a grandchild in a session of its own.
TREE_SIZE = 4
TREE = (
    MEMBER
    + f"""
import subprocess
if not os.fork():
    settle()
middle = os.fork()
if not middle:
    os.setsid()
    if os.fork():
        os._exit(0)
    settle()
os.waitpid(middle, 0)
loner = [sys.executable, "-c", {LONER!r}, str(out)]
subprocess.Popen(loner, start_new_session=True, pass_fds=[out])
settle()
"""
)
# Never long in one process, and in a session of its own each time. It gives up by itself, later
# than any test waits for its end.
RUNAWAY = (
    MEMBER
    + """
import time
os.write(out, f"{os.getpid()}\\n".encode())
deadline = time.monotonic() + 150
while time.monotonic() < deadline:
    if os.fork():
        os._exit(0)
    os.setsid()
"""
)
# The first thread leaves, the process lives on: it looks like a zombie.
HEADLESS = (
    MEMBER
    + """
import ctypes, threading, time
first = threading.get_native_id()
def run():
    while open(f"/proc/self/task/{first}/stat").read().rpartition(")")[2].split()[0] != "Z":
        time.sleep(0.001)
    os.write(out, f"{os.getpid()}\\n".encode())
    signal.sigwait({signal.SIGUSR1})
threading.Thread(target=run).start()
ctypes.CDLL(None).syscall({"x86_64": 60}.get(os.uname().machine, 93), 0)
"""
)


class PidPipe:
    """The pipe of one family."""

    def __init__(self) -> None:
        self.ours, self.theirs = os.pipe()
        self._received = b""

    def read_pids(self, count: int) -> list[int]:
        """Wait until so many have said their pid."""
        while self._received.count(b"\n") < count:
            assert self._read(), "the family died early"
        return [int(line) for line in self._received.split()]

    def wait_until_gone(self) -> None:
        self.close_write_end()
        while self._read():
            pass

    def close_write_end(self) -> None:
        if self.theirs >= 0:
            os.close(self.theirs)
            self.theirs = -1

    def close(self) -> None:
        """Also ends those whom a test left, or meant to leave, alive."""
        for pid in self._received.split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        self.close_write_end()
        os.close(self.ours)

    def _read(self) -> bytes:
        ready, _, _ = select.select([self.ours], [], [], TIMEOUT)
        assert ready, "somebody is still there"
        chunk = os.read(self.ours, 4096)
        self._received += chunk
        return chunk


def run_limited(main: Callable[[], Awaitable[None]]) -> None:
    async def limited() -> None:
        await asyncio.wait_for(main(), TIMEOUT)

    asyncio.run(limited())


async def start_program(program: str, line: PidPipe, tag: int | None) -> Spawned:
    """It begins once it has its tag. Real targets wait for the server's first message."""
    begin, go = os.pipe()
    argv = [sys.executable, "-c", WAIT_TO_BEGIN + program, str(line.theirs)]
    try:
        return await spawn(argv, stdin=begin, pass_fds=[line.theirs], tag=tag)
    finally:
        os.close(begin)
        os.close(go)


def is_running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def count_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def find_by_variable(name: str, value: str) -> Iterator[psutil.Process]:
    """The processes that have inherited a variable, from whomever."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get(name) == value:
                yield process
