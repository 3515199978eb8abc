"""The warden: a small process that kills every target once the server is gone.

It is run as `python -I -S warden.py <nonce> [<pid> <descriptor> <seconds>]`, with a pipe as
standard input that only the server writes to. When the server dies, in whatever way, the kernel
closes the pipe. The warden then kills every process with the server's tags and in the groups that
it was told of (`+<pgid>`, `-<pgid>`).

The descriptor is a pipe to which the server's signals are written, and which the server reads. If
a signal is unread for so many seconds, the server `<pid>` is stuck, and the warden kills it.

It runs for as long as the server does, so it imports as little as possible. The server imports the
functions that read /proc from here, so that both find the same processes.
"""

from __future__ import annotations

import os
import sys
import time

# `signal` would bring `enum` and 0.7 MB with it, `typing` and `collections` more.
from _signal import (  # type: ignore[import-not-found]
    SIG_IGN,
    SIGHUP,
    SIGINT,
    SIGKILL,
    SIGTERM,
    signal,
)
from select import POLLIN, poll

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable

COUNTER_BITS = 20
ROUNDS = 1000
CHASES = 1000
PAUSE = 0.01
STUCK = b"ERROR holdfast: the server did not react to a signal; killed\n"


def tag_of(pid: int) -> int | None:
    """The tag that `pid` carries: its soft limit of file locks, which the kernel ignores."""
    limits = _read(f"/proc/{pid}/limits")
    start = limits.find(b"Max file locks")
    if start < 0:
        return None
    soft = limits[start + len("Max file locks") :].split(None, 1)[0]
    return int(soft) if soft.isdigit() else None


def is_over(pid: int) -> bool:
    """Whether `pid` is a zombie, and none of its threads runs on."""
    fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    return len(fields) > 17 and fields[0] in (b"Z", b"X") and int(fields[17]) <= 1


def is_in_groups(pid: int, groups: Container[int]) -> bool:
    """Whether `pid` is in one of the groups, or in the session that its leader opened."""
    try:
        return os.getpgid(pid) in groups or os.getsid(pid) in groups
    except OSError:
        return False


def sweep(belongs: Callable[[int], bool], act: Callable[[int], object] = bool) -> list[int]:
    """Call `act` with every living process that belongs, as soon as it is found. Return them.

    A process that forks and exits all the time is gone before a listing is read to its end. So we
    then follow the newest pids until there is no newer one. We and init are left out.
    """
    own, members = os.getpid(), []

    def act_on(pids: Iterable[int]) -> None:
        for pid in pids:
            if 1 < pid != own and belongs(pid) and not is_over(pid):
                act(pid)
                members.append(pid)

    last = _newest_pid()
    act_on(_list_pids())
    for _ in range(CHASES):
        newest = _newest_pid()
        if newest == last:
            break
        # Pids wrap around after the highest. The next sweep lists all pids and finds those.
        act_on(range(last + 1, newest + 1))
        last = newest
    return members


def _list_pids() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def _newest_pid() -> int:
    fields = _read("/proc/loadavg").split()
    return int(fields[-1]) if fields else 0


def _read(path: str) -> bytes:
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(fd, 8192)
    except OSError:
        return b""
    finally:
        os.close(fd)


class Signals:
    """The pipe to which the server's signals are written."""

    def __init__(self, server: int, fd: int, patience: float) -> None:
        self.server = server
        self.patience = patience
        self.fd = fd
        self._is_open = True
        self._deadline: float | None = None  # to react to the signal that is in the pipe

    def wait(self, fd: int) -> None:
        """Wait until there is something to read at `fd`. Kill the server if it is stuck."""
        while True:
            both = poll()
            both.register(fd, POLLIN)
            timeout = None
            if self._deadline is not None:
                timeout = max(0.0, self._deadline - time.monotonic()) * 1000
            elif self._is_open:
                both.register(self.fd, POLLIN)
            ready = dict(both.poll(timeout))
            if fd in ready:
                return
            if self.fd in ready and not ready[self.fd] & POLLIN:
                self._is_open = False  # the server is about to go
            elif self.fd in ready:
                self._deadline = time.monotonic() + self.patience
            elif self._deadline is not None and time.monotonic() >= self._deadline:
                self._deadline = None
                if self._is_unread() and os.getppid() == self.server:
                    write_to_log(self.server, STUCK)
                    _kill(os.kill, self.server)

    def _is_unread(self) -> bool:
        pipe = poll()
        pipe.register(self.fd, POLLIN)
        return any(events & POLLIN for _, events in pipe.poll(0))


def write_to_log(server: int, line: bytes) -> None:
    """Add a line to the server's log, unless nobody reads that.

    If the log is a file, this opens it anew: without O_APPEND its beginning would be overwritten.
    """
    try:
        log = os.open(f"/proc/{server}/fd/2", os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK)
    except OSError:
        return
    try:
        os.write(log, line)
    except OSError:
        pass
    finally:
        os.close(log)


def follow(fd: int, signals: Signals | None = None) -> set[int]:
    """Read the server's lines until it is gone. Return the groups that are left to kill."""
    groups: set[int] = set()
    rest = b""
    while True:
        if signals is not None:
            signals.wait(fd)
        chunk = os.read(fd, 4096)
        if not chunk:
            break
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            (groups.add if line[:1] == b"+" else groups.discard)(int(line[1:]))
    return {group for group in groups if group > 1}


def end_all(nonce: int, groups: set[int]) -> None:
    """Kill until two sweeps in a row find nothing: one may miss a process that is being forked."""

    def belongs(pid: int) -> bool:
        tag = tag_of(pid)
        return (tag is not None and tag >> COUNTER_BITS == nonce) or is_in_groups(pid, groups)

    quiet = 0
    for _ in range(ROUNDS):
        members = sweep(belongs, lambda pid: _kill(os.kill, pid))
        for group in groups:
            _kill(os.killpg, group)
        quiet = 0 if members else quiet + 1
        if quiet == 2:
            return
        time.sleep(PAUSE)


def _kill(kill: Callable[[int, int], None], victim: int) -> None:
    try:
        kill(victim, SIGKILL)
    except OSError:
        pass


def main() -> None:
    for number in (SIGINT, SIGTERM, SIGHUP):
        signal(number, SIG_IGN)
    nonce, *rest = sys.argv[1:]
    signals = Signals(int(rest[0]), int(rest[1]), float(rest[2])) if rest else None
    end_all(int(nonce), follow(0, signals))


if __name__ == "__main__":
    main()
