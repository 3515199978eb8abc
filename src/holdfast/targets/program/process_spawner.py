"""Starts processes so that none outlives the server.

Every process is started in a session of its own and tagged (`process_tags`). `kill_all` ends it and
its descendants while the server runs, and the `Warden` when the server is gone. `Spawned.detach`
releases a process from both.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Any, Protocol

import psutil

from holdfast import timings
from holdfast.targets.program import descriptors, warden
from holdfast.targets.program.process_killer import kill_all, open_pidfd, release, send_signal
from holdfast.targets.program.process_tags import set_tag, untag

log = logging.getLogger(__name__)

SCRIPT = os.path.abspath(warden.__file__)

# -- starting and waiting ------------------------------------------------------------------------


class _Child(subprocess.Popen[bytes]):
    def __del__(self) -> None:
        """Give no warning: the pidfd reaps it, and a detached target may outlive the server."""


class Spawned:
    """A started process: its pid is also the id of its process group and of its session."""

    def __init__(self, child: _Child, tag: int | None, pidfd: int | None) -> None:
        self.pid = child.pid
        self.tag = tag
        self.detached = False
        self._child = child
        self._pidfd = pidfd
        self._ended = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        if pidfd is not None:
            self._loop.add_reader(pidfd, self._reap)
        else:
            threading.Thread(target=self._wait_in_thread, daemon=True).start()

    @property
    def returncode(self) -> int | None:
        """The exit code, a negative signal number, or None while it runs."""
        return self._child.returncode

    async def wait(self) -> int:
        """Wait for the end of the process itself, not of its children; any number may wait."""
        await self._ended.wait()
        code = self.returncode
        assert code is not None
        return code

    async def kill_tree(self, grace: float | None = None) -> list[int]:
        """Kill it and all that it started, unless detached. Return the pids that still live."""
        if self.detached:
            return []
        left = await kill_all(self.tag, self._group(), grace)
        if self.pid not in left:
            await self.wait()
        return left

    def retag(self, tag: int | None) -> None:
        """Give a process that waited in a pool, and has no children yet, to a session."""
        if tag is not None:
            self.tag = tag if set_tag(self.pid, tag) else None

    async def detach(self) -> None:
        """Let it and all that it started outlive the server. The warden must `forget` it, too."""
        self.detached = True
        await asyncio.to_thread(release, self.tag, self.pid)

    def _group(self) -> int | None:
        # Once the leader is reaped, another process may get its pid and have its own group.
        recycled = self.returncode is not None and psutil.pid_exists(self.pid)
        return None if recycled else self.pid

    def _reap(self) -> None:
        if self._child.poll() is None:
            return
        if self._pidfd is not None:
            self._loop.remove_reader(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = None
        self._ended.set()

    def _wait_in_thread(self) -> None:
        self._child.wait()
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._reap)


class Spawn(Protocol):
    """Starts a process, as `spawn` does. Whoever owns the targets can be given another one."""

    async def __call__(
        self,
        argv: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        stdin: int | None = subprocess.DEVNULL,
        stdout: int | None = subprocess.DEVNULL,
        stderr: int | None = subprocess.DEVNULL,
        pass_fds: Sequence[int] = (),
        tag: int | None = None,
    ) -> Spawned: ...


async def spawn(
    argv: Sequence[str],
    *,
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
    stdin: int | None = subprocess.DEVNULL,
    stdout: int | None = subprocess.DEVNULL,
    stderr: int | None = subprocess.DEVNULL,
    pass_fds: Sequence[int] = (),
    tag: int | None = None,
) -> Spawned:
    """Start a process in a session of its own.

    The streams are descriptors, DEVNULL, STDOUT, or None to inherit. The caller closes them.
    """
    if subprocess.PIPE in (stdin, stdout, stderr):
        raise ValueError("give the end of a pipe, not PIPE")
    streams = {"stdin": stdin, "stdout": stdout, "stderr": stderr}
    start = partial(_start, list(argv), tag, cwd=cwd, env=env, pass_fds=tuple(pass_fds), **streams)
    started = asyncio.get_running_loop().run_in_executor(_get_executor(), start)
    try:
        await asyncio.wait([started])
    except asyncio.CancelledError:
        # Wait even so, because the caller closes descriptors that the thread still uses.
        started.add_done_callback(_discard)
        await asyncio.wait([started])
        raise
    return Spawned(*started.result())


@cache
def _get_executor() -> ThreadPoolExecutor:
    # One thread for the life of the server: PR_SET_PDEATHSIG kills a child when its thread ends.
    return ThreadPoolExecutor(1, thread_name_prefix="holdfast-spawn")


def _start(
    argv: list[str], tag: int | None, **options: Any
) -> tuple[_Child, int | None, int | None]:
    child = _Child(argv, start_new_session=True, **options)
    descriptors.restore_limit(child.pid)
    if tag is None:
        untag(child.pid)  # this server may itself be a target, and have the tag of another server
    elif not set_tag(child.pid, tag):
        tag = None
    return child, tag, open_pidfd(child.pid)


def _discard(started: asyncio.Future[tuple[_Child, int | None, int | None]]) -> None:
    """Kill a process that nobody waits for. Its reader stays in the loop and reaps it."""
    if started.cancelled() or started.exception() is not None:
        return
    send_signal(Spawned(*started.result()).pid, signal.SIGKILL)


# -- the warden ----------------------------------------------------------------------------------


class Warden:
    """Keeps a warden process running for as long as the server lives.

    Only the server holds the other end of its pipe. When that closes, the warden kills every tagged
    process. It also kills the server if that leaves a signal unread in the pipe `signals`.
    """

    def __init__(self, nonce: int, signals: int | None = None, spawn: Spawn = spawn) -> None:
        self._nonce = nonce
        self._spawn = spawn
        self._signals = signals
        self._groups: set[int] = set()
        self._process: Spawned | None = None
        self._pipe: int | None = None
        self._keeper: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    async def start(self) -> None:
        process = await self._start_process()
        self._keeper = asyncio.create_task(self._keep_running(process), name="holdfast-warden")
        _wardens.add(self)

    def watch(self, pgid: int) -> None:
        """Kill this group, too, when the server dies."""
        self._groups.add(pgid)
        self._send(f"+{pgid}\n")

    def forget(self, pgid: int) -> None:
        """Leave this group alone: it has ended, and its id may be used again, or it is detached."""
        self._groups.discard(pgid)
        self._send(f"-{pgid}\n")

    async def close(self) -> None:
        """Let the warden kill all that is left, and wait until it has."""
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.wait([self._keeper])
            self._keeper = None
        self.drop_pipe()
        if self._process is None:
            return
        try:
            await asyncio.wait_for(self._process.wait(), timings.TIMINGS.killed)
        except (TimeoutError, asyncio.TimeoutError):
            send_signal(self._process.pid, signal.SIGKILL)
            await self._process.wait()

    def drop_pipe(self) -> None:
        if self._pipe is not None:
            os.close(self._pipe)
            self._pipe = None

    async def _start_process(self) -> Spawned:
        """Start a warden process and send it the groups."""
        its, ours = os.pipe()
        with contextlib.ExitStack() as on_failure, contextlib.ExitStack() as always:
            on_failure.callback(os.close, ours)
            always.callback(os.close, its)
            argv = [sys.executable, "-I", "-S", SCRIPT, str(self._nonce)]
            signals = [] if self._signals is None else [self._signals]
            for descriptor in signals:
                argv += [str(os.getpid()), str(descriptor), str(timings.TIMINGS.signal_read)]
            process = await self._spawn(argv, cwd="/", stdin=its, pass_fds=signals)
            on_failure.pop_all()
        os.set_blocking(ours, False)
        self.drop_pipe()
        self._process, self._pipe = process, ours
        self._send("".join(f"+{pgid}\n" for pgid in self._groups))
        return process

    async def _keep_running(self, process: Spawned) -> None:
        pause = 0.0
        while True:
            started = time.monotonic()
            code = await process.wait()
            # A warden that ends again and again must not keep the server busy.
            pause = 0.0 if time.monotonic() - started > 1 else min(2 * pause + 0.1, 30.0)
            log.warning("the warden ended with %s; starting another", code)
            await asyncio.sleep(pause)
            process = await self._replace(pause)

    async def _replace(self, pause: float) -> Spawned:
        while True:
            try:
                return await self._start_process()
            except OSError as error:
                log.error("cannot start a warden: %s", error)
                await asyncio.sleep(pause + 1)

    def _send(self, lines: str) -> None:
        if self._pipe is None or self._process is None:
            return
        try:
            os.write(self._pipe, lines.encode())
        except BrokenPipeError:
            pass  # it ended: the next one gets all groups
        except BlockingIOError:
            send_signal(self._process.pid, signal.SIGKILL)  # it does not read: replace it


_wardens: weakref.WeakSet[Warden] = weakref.WeakSet()


def _drop_pipes() -> None:
    for keeper in _wardens:
        keeper.drop_pipe()


# A fork of the server must not keep the pipe open, and has no thread that starts processes.
os.register_at_fork(after_in_child=_drop_pipes)
os.register_at_fork(after_in_child=_get_executor.cache_clear)
