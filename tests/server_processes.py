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
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil

from harness import PROGRAMS, Program, Server, Session
from process_trees import TIMEOUT, PidPipe

PROCESS_MODES = Program("process_modes.py")
TREE_SIZE = 4


class PidFifo(PidPipe):
    """A family's line, for processes that somebody else starts."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.path = str(path)
        self.ours = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self.theirs = os.open(path, os.O_WRONLY)
        self._received = b""


class Pidfd:
    """A process that we watch, not a number that may come to mean another."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._fd = os.pidfd_open(pid)

    def wait_until_gone(self) -> None:
        ready, _, _ = select.select([self._fd], [], [], TIMEOUT)
        assert ready, f"process {self.pid} is still there"
        os.close(self._fd)


def open_pidfds(pids: Iterable[int]) -> list[Pidfd]:
    """Those that have not ended just now."""
    opened = []
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            opened.append(Pidfd(pid))
    return opened


def launch_in_mode(session: Session, fifo: PidFifo, manner: str, **options: Any) -> Any:
    """Launch the family in this manner; returns the answer once all have said their pids."""
    wait = options.pop("wait", 60 if manner in ("paused", "reader") else 0)
    if manner == "paused":
        session.break_at(PROCESS_MODES, "held")
    shown = session.launch(PROCESS_MODES, args=[fifo.path, manner], wait=wait, **options)
    pids = fifo.read_pids(TREE_SIZE if manner in ("parent", "orphaning") else 1)
    if manner == "frozen":
        os.kill(pids[0], signal.SIGSTOP)
    return shown


def launch_never_ready(session: Session, fifo: PidFifo) -> PendingRequest:
    """A launch that is under way: its interpreter never gets to the program."""
    body = {
        "script": PROCESS_MODES.path,
        "args": [fifo.path, "plain"],
        "pythonpath": [str(PROGRAMS / "slow_start")],
        "env": {"HOLD_UP": fifo.path},
        "wait": True,
    }
    asking = PendingRequest(session.server, "POST", session.path("/launch"), body)
    fifo.read_pids(1)
    return asking


class PendingRequest:
    """A request that takes its time, under way in a thread of its own."""

    def __init__(self, server: Server, method: str, path: str, body: Any = None) -> None:
        self._response: httpx.Response | None = None
        self._problem: Exception | None = None
        self._client = httpx.Client(base_url=server.url, timeout=60, trust_env=False)
        self._thread = threading.Thread(target=self._send, args=(method, path, body))
        self._thread.start()

    def _send(self, method: str, path: str, body: Any) -> None:
        try:
            with self._client:
                self._response = self._client.request(method, path, json=body)
        except Exception as problem:
            self._problem = problem

    @property
    def is_done(self) -> bool:
        return not self._thread.is_alive()

    def wait(self) -> httpx.Response:
        self._thread.join(TIMEOUT)
        assert not self._thread.is_alive(), "nobody answered"
        assert self._problem is None, self._problem
        assert self._response is not None
        return self._response


def find_warden(server: Server) -> int:
    children = _children(server)
    [found] = [each.pid for each in children if "warden.py" in " ".join(read_command(each))]
    return found


def _children(server: Server) -> list[psutil.Process]:
    return psutil.Process(server.process.pid).children()


def read_command(process: psutil.Process) -> list[str]:
    with contextlib.suppress(psutil.Error):
        return process.cmdline()
    return []


def find_zombies(server: Server) -> list[int]:
    found = []
    for each in _children(server):
        with contextlib.suppress(psutil.Error):
            if each.status() == psutil.STATUS_ZOMBIE:
                found.append(each.pid)
    return found


def is_gone(process: psutil.Process) -> bool:
    """Whether it has ended. Its parent may not have asked yet how."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:  # just now
        return True


def watch_processes(server: Server, but: Collection[int] = ()) -> list[Pidfd]:
    """The server and each process below it, now."""
    found = psutil.Process(server.process.pid).children(recursive=True)
    pids = [server.process.pid, *(each.pid for each in found)]
    return open_pidfds(pid for pid in pids if pid not in but)


@contextlib.contextmanager
def fifo_factory(folder: Path) -> Iterator[Any]:
    """Makes FIFOs; who is left at the end of them is ended."""
    made: list[PidFifo] = []

    def make() -> PidFifo:
        made.append(PidFifo(folder / f"line{len(made)}"))
        return made[-1]

    try:
        yield make
    finally:
        for fifo in made:
            fifo.close()
