"""Ending every process of a session: by its tag and its group, and by descent without a tag."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable, Iterable

import psutil

from holdfast.targets.program import warden
from holdfast.targets.program.process_tags import tagged, untag

ROUNDS = 50
ROUND_SECONDS = 0.1


async def kill_all(tag: int | None, pgid: int | None, grace: float | None = None) -> list[int]:
    """End every process with the tag or in the group; return those that would not die.

    With `grace` they get SIGTERM first and that many seconds to act on it.
    """
    prey = _Prey(tag, pgid)
    if grace is not None:
        await _ask_to_end(prey, grace)
    quiet = 0
    for _ in range(ROUNDS):
        left = await asyncio.to_thread(prey.strike, signal.SIGKILL)
        # Two empty sweeps in a row: one may just miss a process that is being born.
        quiet = 0 if left else quiet + 1
        if quiet == 2:
            break
        await _until_ended(left, ROUND_SECONDS)
    clean = quiet == 2 and not prey.unreachable
    return [] if clean else await asyncio.to_thread(prey.members)


async def _ask_to_end(prey: _Prey, grace: float) -> None:
    deadline = time.monotonic() + grace
    # A stopped process acts on SIGTERM only when it is continued.
    left = await asyncio.to_thread(prey.strike, signal.SIGTERM, signal.SIGCONT)
    while left and (seconds := deadline - time.monotonic()) > 0:
        await _until_ended(left, seconds)
        left = await asyncio.to_thread(prey.reachable)


async def kill_kin(pid: int, grace: float | None = None) -> None:
    """End a process that we did not start, and its descendants."""
    kin = [pid, *(each.pid for each in await asyncio.to_thread(_children, pid))]
    if grace is not None:
        send_signal(pid, signal.SIGTERM)
        send_signal(pid, signal.SIGCONT)
        await _until_ended([pid], grace)
    for each in kin:
        send_signal(each, signal.SIGKILL)
    await _until_ended(kin, ROUND_SECONDS * ROUNDS)


class _Prey:
    """The processes to end: by tag and group, and where there is no tag by descent."""

    def __init__(self, tag: int | None, pgid: int | None) -> None:
        self.unreachable: set[int] = set()
        self._tag = tag
        ours = {0, 1, os.getpgrp(), os.getsid(0)}
        self._groups = {pgid} - ours if pgid is not None else set()
        self._kin: set[psutil.Process] = set()

    def strike(self, *signals: int) -> list[int]:
        """Signal all of them once, on sight; those that felt it."""

        def strike_one(pid: int) -> None:
            if pid not in self.unreachable and not all(send_signal(pid, each) for each in signals):
                self.unreachable.add(pid)

        return [pid for pid in self._sweep(strike_one) if pid not in self.unreachable]

    def reachable(self) -> list[int]:
        return [pid for pid in self.members() if pid not in self.unreachable]

    def members(self) -> list[int]:
        return self._sweep(lambda pid: None)

    def _sweep(self, strike: Callable[[int], None]) -> list[int]:
        # First, while their parents still lead to them, those whom neither tag nor group will.
        kin = self._descendants() if self._tag is None else []
        sweep = warden.sweep if os.path.isdir("/proc/self") else _sweep_without_proc
        found = sweep(self._belongs, strike)
        for pid in set(kin).difference(found):
            strike(pid)
        return sorted({*kin, *found})

    def _belongs(self, pid: int) -> bool:
        by_tag = self._tag is not None and warden.tag_of(pid) == self._tag
        return by_tag or warden.in_groups(pid, self._groups)

    def _descendants(self) -> list[int]:
        # Remembered from sweep to sweep: a killed parent no longer leads to its children.
        for leader in self._groups:
            self._kin.update(_children(leader))
        for process in list(self._kin):
            self._kin.update(_children(process.pid))
        self._kin = {process for process in self._kin if _is_alive(process)}
        return [process.pid for process in self._kin]


def _sweep_without_proc(belongs: Callable[[int], bool], strike: Callable[[int], None]) -> list[int]:
    found = [pid for pid in psutil.pids() if 1 < pid != os.getpid() and belongs(pid)]
    for pid in found:
        strike(pid)
    return found


def _children(pid: int) -> list[psutil.Process]:
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
    """False when we may not signal it. One that is gone already has had its due."""
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
    untag(pid, *(process.pid for process in _children(pid)))
    quiet = 0
    for _ in range(ROUNDS):
        found = tagged(tag) if tag is not None else []
        untag(*found)
        quiet = 0 if found else quiet + 1
        if quiet == 2:
            return


async def _until_ended(pids: Iterable[int], seconds: float) -> None:
    """Return when all of them have ended, or after a while; the caller looks again."""
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
    # With nothing to wait on (no pidfds here, or all gone) a short pause paces the sweeps.
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
