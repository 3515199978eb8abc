"""Who lives and who is gone: families of a session's processes, and the server's own.

A family's processes hold one FIFO open for writing and say their pids there; its end of file
tells that the last of them is gone. Other processes are waited for with a pidfd.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import threading
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil

from families import TIMEOUT, Line
from harness import PROGRAMS, Program, Server, Session

MANNERED = Program("manners.py")
PARENT_SIZE = 4


class Fifo(Line):
    """A family's line, for processes that somebody else starts."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.path = str(path)
        self.ours = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self.theirs = os.open(path, os.O_WRONLY)
        self._said = b""


class Pidfd:
    """A process that we watch, not a number that may come to mean another."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._fd = os.pidfd_open(pid)

    def wait_until_gone(self) -> None:
        ready, _, _ = select.select([self._fd], [], [], TIMEOUT)
        assert ready, f"process {self.pid} is still there"
        os.close(self._fd)


def family(session: Session, fifo: Fifo, manner: str, **options: Any) -> Any:
    """Launch the family in this manner; returns the answer once all have said their pids."""
    wait = options.pop("wait", 20 if manner in ("paused", "reader") else 0)
    if manner == "paused":
        session.break_at(MANNERED, "held")
    shown = session.launch(MANNERED, args=[fifo.path, manner], wait=wait, **options)
    pids = fifo.pids(PARENT_SIZE if manner in ("parent", "orphaning") else 1)
    if manner == "frozen":
        os.kill(pids[0], signal.SIGSTOP)
    return shown


def launch_for_ever(session: Session, fifo: Fifo) -> Asking:
    """A launch that is under way: its interpreter never gets to the program."""
    body = {
        "script": MANNERED.path,
        "args": [fifo.path, "plain"],
        "pythonpath": [str(PROGRAMS / "slow_start")],
        "env": {"HOLD_UP": fifo.path},
        "wait": True,
    }
    asking = Asking(session.server, "POST", session.path("/launch"), body)
    fifo.pids(1)
    return asking


class Asking:
    """A request that takes its time, under way in a thread of its own."""

    def __init__(self, server: Server, method: str, path: str, body: Any = None) -> None:
        self._answer: httpx.Response | None = None
        self._problem: Exception | None = None
        self._client = httpx.Client(base_url=server.url, timeout=60, trust_env=False)
        self._thread = threading.Thread(target=self._ask, args=(method, path, body))
        self._thread.start()

    def _ask(self, method: str, path: str, body: Any) -> None:
        try:
            with self._client:
                self._answer = self._client.request(method, path, json=body)
        except Exception as problem:
            self._problem = problem

    @property
    def done(self) -> bool:
        return not self._thread.is_alive()

    def answer(self) -> httpx.Response:
        self._thread.join(TIMEOUT)
        assert not self._thread.is_alive(), "nobody answered"
        assert self._problem is None, self._problem
        assert self._answer is not None
        return self._answer


def warden_of(server: Server) -> int:
    [found] = [each.pid for each in _children(server) if "warden.py" in " ".join(_command(each))]
    return found


def _children(server: Server) -> list[psutil.Process]:
    return psutil.Process(server.process.pid).children()


def _command(process: psutil.Process) -> list[str]:
    with contextlib.suppress(psutil.Error):
        return process.cmdline()
    return []


def zombies_of(server: Server) -> list[int]:
    found = []
    for each in _children(server):
        with contextlib.suppress(psutil.Error):
            if each.status() == psutil.STATUS_ZOMBIE:
                found.append(each.pid)
    return found


def everyone_of(server: Server, but: Collection[int] = ()) -> list[Pidfd]:
    """The server and each process below it, now."""
    found = psutil.Process(server.process.pid).children(recursive=True)
    pids = [server.process.pid, *(each.pid for each in found)]
    return [Pidfd(pid) for pid in pids if pid not in but]


@contextlib.contextmanager
def fifos(folder: Path) -> Iterator[Any]:
    """Makes FIFOs; who is left at the end of them is ended."""
    made: list[Fifo] = []

    def make() -> Fifo:
        made.append(Fifo(folder / f"line{len(made)}"))
        return made[-1]

    try:
        yield make
    finally:
        for fifo in made:
            fifo.close()
