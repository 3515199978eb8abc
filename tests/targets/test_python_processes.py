"""The list of Python processes, looked for among real ones."""

from __future__ import annotations

import getpass
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from holdfast.targets.program.python_processes import (
    Permissions,
    find_obstacle,
    listening_port,
    python_processes,
)
from holdfast.wire.server_answers import PythonProcess

READY = "print(flush=True); input()"


@contextmanager
def start_process(*argv: str, cwd: Path | None = None) -> Iterator[int]:
    """A process that has said it is ready, and lives until we are done with it."""
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, cwd=cwd) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            if READY in " ".join(argv):
                process.stdout.readline()
            yield process.pid
        finally:
            process.kill()


def find_listed(pid: int) -> PythonProcess | None:
    return next((found for found in python_processes() if found["pid"] == pid), None)


def test_a_python_process_is_described(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", READY, "an argument"]
    with start_process(*argv, cwd=tmp_path) as pid:
        found = find_listed(pid)
        assert found is not None
        assert found["cmdline"] == argv
        assert found["cwd"] == str(tmp_path)
        assert found["user"] == getpass.getuser()
        assert found["create_time"] == psutil.Process(pid).create_time()
        assert found["listening"] is None
        assert found["debuggable"] is (found["reason"] is None)
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        assert found["python"] in (version, str(sys.version_info.major), None)


def test_other_programs_are_not_listed() -> None:
    with start_process("cat") as pid:
        assert find_listed(pid) is None


def test_a_link_with_another_name_is_known_by_its_executable(tmp_path: Path) -> None:
    link = tmp_path / "worker"
    link.symlink_to(os.path.realpath(sys.executable))
    with start_process(str(link), "-I", "-S", "-c", READY) as pid:
        assert find_listed(pid) is not None


def test_excluded_processes_and_zombies_are_left_out() -> None:
    with start_process(sys.executable, "-c", READY) as pid:
        assert pid in {found["pid"] for found in python_processes()}
        assert pid not in {found["pid"] for found in python_processes({pid})}
    ended = subprocess.Popen([sys.executable, "-V"], stdout=subprocess.DEVNULL)
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
    assert find_listed(ended.pid) is None
    ended.wait()


def test_the_server_does_not_debug_itself() -> None:
    found = find_listed(os.getpid())
    assert found is not None
    assert not found["debuggable"]
    assert found["reason"] == "it is this server itself"


def test_a_listening_debugpy_tells_its_port_and_needs_no_tracing(tmp_path: Path) -> None:
    (tmp_path / "debugpy").mkdir()
    (tmp_path / "debugpy" / "__main__.py").write_text(READY)
    argv = [sys.executable, str(tmp_path / "debugpy"), "--listen", "127.0.0.1:5678", READY]
    with start_process(*argv) as pid:
        found = find_listed(pid)
        assert found is not None
        assert found["listening"] == 5678
        assert found["debuggable"]


@pytest.mark.parametrize(
    ("command", "port"),
    [
        ("python -m debugpy --listen 5678 app.py", 5678),
        ("python -X dev -m debugpy --wait-for-client --listen [::1]:5679 -m app", 5679),
        ("python3 /site-packages/debugpy --log-to logs --listen 0.0.0.0:1 app.py", 1),
        ("python -m debugpy --connect 5678 app.py --listen 80", None),
        ("python -m debugpy --listen", None),
        ("python -m debugpy --listen nonsense app.py", None),
        ("python app.py --listen 80", None),
        ("python app.py -m debugpy --listen 80", None),
        ("python -m http.server --listen 80", None),
        ("python", None),
        ("", None),
    ],
)
def test_the_port_is_debugpys_not_the_programs(command: str, port: int | None) -> None:
    assert listening_port(command.split()) == port


ADAPTER = "python /site-packages/debugpy/adapter --for-server 4242"


@pytest.mark.parametrize(
    ("permissions", "command", "reason"),
    [
        (Permissions(pid=0, uid=os.getuid(), may_trace_all=False, ptrace_scope=0), "python", None),
        (Permissions(pid=0, uid=-1, may_trace_all=True, ptrace_scope=2), "python", None),
        (Permissions(pid=0, uid=-1, may_trace_all=False, ptrace_scope=0), "python", "another user"),
        (
            Permissions(pid=0, uid=os.getuid(), may_trace_all=False, ptrace_scope=1),
            "python",
            "scope",
        ),
        (Permissions(pid=0, uid=os.getuid(), may_trace_all=True, ptrace_scope=3), "python", "off"),
        (
            Permissions(pid=0, uid=os.getuid(), may_trace_all=True, ptrace_scope=0),
            ADAPTER,
            "adapter",
        ),
    ],
)
def test_the_reason_why_a_process_cannot_be_attached_to_is_given(
    permissions: Permissions, command: str, reason: str | None
) -> None:
    said = find_obstacle(psutil.Process(), command.split(), None, permissions)
    assert said is None if reason is None else reason in (said or "")


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
def test_a_process_has_one_tracer_at_most() -> None:
    traced = f"import ctypes; ctypes.CDLL(None).ptrace(0, 0, 0, 0); {READY}"
    with start_process(sys.executable, "-c", traced) as pid:
        permissions = Permissions(pid=0, uid=os.getuid(), may_trace_all=True, ptrace_scope=0)
        said = find_obstacle(psutil.Process(pid), ["python"], None, permissions)
        assert said == f"process {os.getpid()} traces it already"
