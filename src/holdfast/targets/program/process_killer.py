"""Ends every process of a session, found by tag and group, or by descent where tags do not work."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterable

import psutil

from holdfast import timings
from holdfast.targets.program import warden
from holdfast.targets.program.process_tags import find_tagged, untag

_ROUNDS = 50
_ROUND_SECONDS = 0.1


async def kill_all(tag: int | None, pgid: int | None, grace: float | None = None) -> list[int]:
    """Kill every process with the tag or in the group. Return those that are still alive.

    With `grace` they get SIGTERM first, and that many seconds to end.
    """
    members = _Members(tag, pgid)
    if grace is not None:
        await _terminate(members, grace)
    loop, quiet = asyncio.get_running_loop(), 0
    deadline = loop.time() + timings.TIMINGS.killed
    while True:
        left = await asyncio.to_thread(members.signal, signal.SIGKILL)
        # Two empty sweeps in a row: one may miss a process that is just being forked.
        quiet = 0 if left else quiet + 1
        if quiet == 2 or loop.time() >= deadline:
            break
        await _wait_until_ended(left, _ROUND_SECONDS)
    is_clean = quiet == 2 and not members.unreachable
    return [] if is_clean else await asyncio.to_thread(members.find)


async def _terminate(members: _Members, grace: float) -> None:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + grace
    # A stopped process acts on SIGTERM only when it is continued.
    left = await asyncio.to_thread(members.signal, signal.SIGTERM, signal.SIGCONT)
    while left and (seconds := deadline - loop.time()) > 0:
        await _wait_until_ended(left, seconds)
        left = await asyncio.to_thread(members.find_reachable)


async def kill_family(pid: int, grace: float | None = None) -> None:
    """Kill a process that we did not start, and its descendants."""
    family = [pid, *(child.pid for child in await asyncio.to_thread(_find_children, pid))]
    if grace is not None:
        send_signal(pid, signal.SIGTERM)
        send_signal(pid, signal.SIGCONT)
        await _wait_until_ended([pid], grace)
    for member in family:
        send_signal(member, signal.SIGKILL)
    await _wait_until_ended(family, timings.TIMINGS.killed)


class _Members:
    """The processes of a session: with its tag or in its group; without tags, the descendants."""

    def __init__(self, tag: int | None, pgid: int | None) -> None:
        self.unreachable: set[int] = set()
        self._tag = tag
        protected = {0, 1, os.getpgrp(), os.getsid(0)}
        self._groups = {pgid} - protected if pgid is not None else set()
        self._descendants: set[psutil.Process] = set()

    def signal(self, *numbers: int) -> list[int]:
        """Send the signals to every member as soon as it is found. Return those that got them."""

        def signal_one(pid: int) -> None:
            if pid not in self.unreachable and not all(send_signal(pid, n) for n in numbers):
                self.unreachable.add(pid)

        return [pid for pid in self._sweep(signal_one) if pid not in self.unreachable]

    def find_reachable(self) -> list[int]:
        return [pid for pid in self.find() if pid not in self.unreachable]

    def find(self) -> list[int]:
        return self._sweep(lambda pid: None)

    def _sweep(self, act: Callable[[int], None]) -> list[int]:
        # Descendants first, because they are found through their living parents.
        descendants = self._find_descendants() if self._tag is None else []
        sweep = warden.sweep if os.path.isdir("/proc/self") else _sweep_without_proc
        members = sweep(self._belongs, act)
        for pid in set(descendants).difference(members):
            act(pid)
        return sorted({*descendants, *members})

    def _belongs(self, pid: int) -> bool:
        by_tag = self._tag is not None and warden.tag_of(pid) == self._tag
        return by_tag or warden.is_in_groups(pid, self._groups)

    def _find_descendants(self) -> list[int]:
        # Kept between sweeps, because children cannot be found through a killed parent.
        for leader in self._groups:
            self._descendants.update(_find_children(leader))
        for process in list(self._descendants):
            self._descendants.update(_find_children(process.pid))
        self._descendants = {process for process in self._descendants if _is_alive(process)}
        return [process.pid for process in self._descendants]


def _sweep_without_proc(belongs: Callable[[int], bool], act: Callable[[int], None]) -> list[int]:
    members = [pid for pid in psutil.pids() if 1 < pid != os.getpid() and belongs(pid)]
    for pid in members:
        act(pid)
    return members


def _find_children(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        return []


def _is_alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def send_signal(pid: int, number: int) -> bool:
    """Send a signal. False when we may not; a process that has ended counts as signalled."""
    if pid <= 1 or pid == os.getpid():
        return False
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return True


def release(tag: int | None, pid: int) -> None:
    """Remove the tag from a process and from everything that it started."""
    untag(pid, *(process.pid for process in _find_children(pid)))
    quiet = 0
    for _ in range(_ROUNDS):
        pids = find_tagged(tag) if tag is not None else []
        untag(*pids)
        quiet = 0 if pids else quiet + 1
        if quiet == 2:
            return


async def _wait_until_ended(pids: Iterable[int], seconds: float) -> None:
    """Return when all of them have ended, or when the time is up."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    pidfds: set[int] = set()

    def on_end(pidfd: int) -> None:
        loop.remove_reader(pidfd)
        os.close(pidfd)
        pidfds.discard(pidfd)
        if not pidfds:
            ended.set()

    pidfds.update(pidfd for pid in pids if (pidfd := open_pidfd(pid)) is not None)
    for pidfd in pidfds:
        loop.add_reader(pidfd, on_end, pidfd)
    # Without a pidfd to wait for, a short pause limits the rate of the sweeps.
    timeout = seconds if pidfds else min(seconds, 0.005)
    try:
        await asyncio.wait_for(ended.wait(), timeout)
    except (TimeoutError, asyncio.TimeoutError):
        pass
    finally:
        for pidfd in list(pidfds):
            on_end(pidfd)


def open_pidfd(pid: int) -> int | None:
    opener: Callable[[int], int] | None = getattr(os, "pidfd_open", None)
    if opener is None:
        return None
    try:
        return opener(pid)
    except OSError:
        return None  # an old kernel, a sandbox, or already gone
