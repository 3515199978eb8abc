"""A run of the tests or of the benchmark that is killed leaves no process behind."""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from process_trees import TREE_SIZE
from server_processes import PidFifo, open_pidfds, read_command

TESTS = Path(__file__).parent
ENV = {**os.environ, "PYTHONPATH": str(TESTS)}
PYTEST = ["pytest", "-p", "left_processes"]
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs pidfds and /proc")

# It says the pids of a server, its target, and a tree of processes that nobody could tell by their
# environment or their parents.
ENDLESS = """
import os, signal, subprocess, sys
from harness import Program, Server
from process_trees import TREE

def test_it_waits_to_be_killed(tmp_path):
    line = os.open(os.environ["FIFO"], os.O_WRONLY)
    server = Server(tmp_path / "data", "--pool-size", "1")
    with server.session() as session:
        loop = Program("loop.py")
        session.break_at(loop, "add")
        session.launch(loop)
        target = session.get()["pid"]
        os.write(line, f"{server.process.pid}\\n{target}\\n".encode())
        subprocess.Popen([sys.executable, "-c", TREE, str(line)], env={}, pass_fds=[line])
        signal.pause()
"""
# A target that stops as soon as it is started; the benchmark itself asks it for its version.
STOPPED_PYTHON = """#!/bin/sh
if [ "$1" != -c ]; then echo $$ > "$FIFO"; kill -STOP $$; fi
exec {} "$@"
"""


@pytest.fixture
def fifo(tmp_path: Path) -> Iterator[PidFifo]:
    with contextlib.closing(PidFifo(tmp_path / "fifo")) as made:
        yield made


@contextlib.contextmanager
def started(fifo: PidFifo, folder: Path, argv: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    nothing = subprocess.DEVNULL
    env = {**ENV, "FIFO": fifo.path, "TMPDIR": os.path.dirname(fifo.path)}
    command = [sys.executable, "-m", *argv]
    run = subprocess.Popen(command, cwd=folder, env=env, stdout=nothing, stderr=nothing)
    try:
        yield run
    finally:
        run.kill()
        run.wait()


def kill_and_wait(run: subprocess.Popen[bytes], pids: list[int]) -> list[str]:
    """Kill a run, and wait until these and all that come from it have gone. Return their words."""
    family = psutil.Process(run.pid).children(recursive=True)
    words = [" ".join(read_command(each)) for each in family]
    watched = open_pidfds({*pids, *(each.pid for each in family)})
    run.kill()
    for each in watched:
        each.wait_until_gone()
    return words


def test_a_run_of_tests_that_is_killed_leaves_no_process(fifo: PidFifo, tmp_path: Path) -> None:
    (tmp_path / "test_endless.py").write_text(ENDLESS)
    argv = [*PYTEST, "-n", "1", "test_endless.py"]

    with started(fifo, tmp_path, argv) as run:
        kill_and_wait(run, fifo.read_pids(2 + TREE_SIZE))


def test_a_benchmark_that_is_killed_leaves_no_process(fifo: PidFifo, tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(STOPPED_PYTHON.format(shlex.quote(sys.executable)))
    python.chmod(0o755)
    argv = ["bench", "--quick", "--only", "lives", "--python", str(python)]

    with started(fifo, TESTS.parent, argv) as run:
        words = kill_and_wait(run, fifo.read_pids(1))

    assert any("holdfast serve" in each for each in words)


LEAVING = """
import subprocess, sys
import left_processes
left_processes.PATIENCE = 0.0

def test_it_leaves_one():
    subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])

def test_it_leaves_none():
    subprocess.run([sys.executable, "-c", ""])
"""


def test_a_test_that_leaves_a_process_is_named(tmp_path: Path) -> None:
    (tmp_path / "test_leaving.py").write_text(LEAVING)
    argv = [sys.executable, "-m", *PYTEST, "-p", "no:xdist", "test_leaving.py"]

    ran = subprocess.run(argv, cwd=tmp_path, env=ENV, capture_output=True, text=True, timeout=60)

    assert ran.returncode == 1
    assert "2 passed, 1 error" in ran.stdout
    assert "signal.pause() (started in test_leaving.py::test_it_leaves_one" in ran.stdout
