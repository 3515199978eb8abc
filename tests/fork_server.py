"""Starts processes that use Holdfast without importing everything each time.

One process per test worker has imported the commands, the server and the bridge. It forks a child
for each command. The child gets its own environment, directory and streams and then runs what
Python was asked to run. A start costs hundredths of a second instead of a third to a whole one.
A test about the start itself uses `sys.executable -m holdfast`.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO

_MAX_REQUEST = 1_000_000

# The first child waits for the second, which runs the command, and writes how it ended. The
# second dies with the first, and the first with the server. The end leaves out only that Python
# frees each object, which copies the memory that was shared so far.
_SERVER = """
import asyncio, atexit, ctypes, faulthandler, gc, importlib, json, os, pkgutil, runpy, signal
import socket, sys, threading
import holdfast.bridge, holdfast.cli.agents, holdfast.server.http_server, uvloop
from holdfast import timings
from holdfast.cli import server_access
for module in pkgutil.walk_packages(holdfast.cli.__path__, "holdfast.cli."):
    if not module.name.endswith(("_screen", "_program")):  # those load much, or run
        importlib.import_module(module.name)
gc.freeze()

def end_with_parent():
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG

def tell_what_it_waits_for(*_):
    faulthandler.dump_traceback()
    for task in asyncio.all_tasks():
        task.print_stack()

def serve(requests):
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        data, fds, _, _ = socket.recv_fds(requests, int(sys.argv[2]), 4)
        if not data:
            sys.exit()
        if not os.fork():
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            return json.loads(data), fds
        for fd in fds:
            os.close(fd)

def supervise(report):
    pid = os.fork()
    if not pid:
        end_with_parent()
        return
    os.setpgid(0, 0)  # what a terminal sends is for the command alone
    end_with_parent()
    null = os.open(os.devnull, os.O_RDWR)
    for fd in range(3):
        os.dup2(null, fd)
    os.write(report, b"%d\\n" % pid)
    os.write(report, b"%d\\n" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    os._exit(0)

requests = socket.socket(fileno=int(sys.argv[1]))
command, (report, *streams) = serve(requests)
requests.close()
for number, stream in enumerate(streams):
    os.dup2(stream, number)
    os.close(stream)
supervise(report)
os.close(report)
if command["new_session"]:
    os.setsid()
signal.signal(signal.SIGUSR2, tell_what_it_waits_for)
os.chdir(command["cwd"])
os.environ.clear()
os.environ.update(command["env"])
timings.use(timings.read_environment())
server_access.console.__init__()  # it reads COLUMNS, as the other one does
server_access.complaints.__init__(stderr=True)
argv = command["argv"]
sys.orig_argv = [sys.executable, *argv]
try:
    if argv[0] == "-m":
        sys.path[0], sys.argv = os.getcwd(), argv[1:]
        runpy.run_module(argv[1], run_name="__main__", alter_sys=True)
    else:
        sys.path[0], sys.argv = os.path.dirname(argv[0]), argv
        runpy.run_path(argv[0], run_name="__main__")
    code = 0
except SystemExit as end:
    if not isinstance(end.code, (int, type(None))):
        raise
    code = end.code or 0
threading._shutdown()
atexit._run_exitfuncs()
sys.stdout.flush()
sys.stderr.flush()
os._exit(code)
"""


class ForkedProcess:
    """The part of `subprocess.Popen` that tests use."""

    def __init__(self, report: IO[bytes]) -> None:
        self._report = report
        self.pid = int(report.readline())
        self.returncode: int | None = None

    def wait(self, timeout: float | None = None, *, reading: int | None = None) -> int:
        """Wait for its end. What it writes to the pipe `reading` is read meanwhile, and dropped."""
        if self.returncode is not None:
            return self.returncode
        deadline = None if timeout is None else time.monotonic() + timeout
        report = self._report.fileno()
        watched = [report] if reading is None else [report, reading]
        while self.returncode is None:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            ready, _, _ = select.select(watched, [], [], left)
            if not ready:
                raise subprocess.TimeoutExpired("python", timeout or 0)
            if report in ready:
                self.returncode = int(self._report.readline())
                self._report.close()
            elif not os.read(ready[0], 65536):
                watched.remove(ready[0])
        return self.returncode

    def poll(self) -> int | None:
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):  # it has ended since
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class _ForkServer:
    def __init__(self) -> None:
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._requests.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _MAX_REQUEST)
        argv = [sys.executable, "-c", _SERVER, str(theirs.fileno()), str(_MAX_REQUEST)]
        self._process = subprocess.Popen(argv, pass_fds=[theirs.fileno()])
        theirs.close()
        atexit.register(self.close)

    def start(self, command: Mapping[str, object], streams: list[int]) -> ForkedProcess:
        report, write = os.pipe()
        try:
            socket.send_fds(self._requests, [json.dumps(command).encode()], [write, *streams])
        finally:
            os.close(write)
        return ForkedProcess(os.fdopen(report, "rb", buffering=0))

    def close(self) -> None:
        self._requests.close()
        self._process.wait()


@functools.cache
def start_fork_server() -> _ForkServer:
    """It is started once. What is forked from this process later uses it, too."""
    return _ForkServer()


def stop() -> None:
    """End the process that forks, if there is one. The next command starts another."""
    if start_fork_server.cache_info().currsize:
        start_fork_server().close()
        start_fork_server.cache_clear()


def start_python(
    *argv: str,
    stdin: int | None = None,
    stdout: int = 1,
    stderr: int = 2,
    env: Mapping[str, str] | None = None,
    cwd: str | Path | None = None,
    new_session: bool = False,
) -> ForkedProcess:
    """`python` with these arguments, a script or `-m`. The streams are file descriptors."""
    command = {
        "argv": argv,
        "env": dict(os.environ if env is None else env),
        "cwd": str(cwd or os.getcwd()),
        "new_session": new_session,
    }
    with open(os.devnull, "rb") as nothing:
        streams = [nothing.fileno() if stdin is None else stdin, stdout, stderr]
        return start_fork_server().start(command, streams)


def run_holdfast(
    *argv: str,
    env: Mapping[str, str] | None = None,
    cwd: str | Path | None = None,
    timeout: float = 60,
) -> subprocess.CompletedProcess[str]:
    """`holdfast` from its start to its end, with what it wrote."""
    with tempfile.TemporaryFile("w+") as stdout, tempfile.TemporaryFile("w+") as stderr:
        out, err = stdout.fileno(), stderr.fileno()
        process = start_python("-m", "holdfast", *argv, stdout=out, stderr=err, env=env, cwd=cwd)
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        stdout.seek(0)
        stderr.seek(0)
        return subprocess.CompletedProcess(argv, code, stdout.read(), stderr.read())
