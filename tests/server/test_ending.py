"""Endings: by itself, by a crash, by a signal, by our hand, over again, or without us."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness import Program, Server, Session

EXIT_WAYS = Program("exit_ways.py")
LOOP = Program("loop.py")
SIGTERM_IGNORER = Program("sigterm_ignorer.py")
PIPE_WORKER = Program("pipe_worker.py")
BUSY_LOOP = Program("busy_loop.py")


@pytest.mark.parametrize(
    "how", ["nothing", "exit", "message", "raise", "interrupt", "at-once", "killed"]
)
def test_a_program_ends_as_plain_python_would_end_it(session: Session, how: str) -> None:
    """Exit code, output, and the text of a traceback: no frame of ours is in it."""
    end = session.launch(EXIT_WAYS, args=[how])
    plain = subprocess.run(
        [sys.executable, EXIT_WAYS.path, how], capture_output=True, text=True, check=False
    )
    assert (end["status"], end["reason"]) == ("terminated", "target_exited")
    assert end["exit_code"] == plain.returncode
    assert session.output("stderr") == plain.stderr
    if how not in ("killed", "at-once"):  # these end threads wherever they are
        assert session.output() == plain.stdout


def test_a_crash_is_plain_on_every_interpreter(server: Server, python: str) -> None:
    codes = {}
    for how in ("raise", "interrupt"):
        with server.session() as session:
            codes[how] = session.launch(EXIT_WAYS, args=[how], python=python)["exit_code"]
            if how == "raise":
                trace = session.output("stderr")
                assert trace.startswith("Traceback (most recent call last):\n")
                files = [line for line in trace.splitlines() if line.startswith("  File ")]
                assert all(EXIT_WAYS.path in line for line in files)
                assert len(files) == 3
                assert session.output() == "a thread finished\nat exit\n"
    assert codes == {"raise": 1, "interrupt": -2}


# -- terminate ------------------------------------------------------------------------------------


def test_a_terminated_program_is_gone_and_its_session_stays(session: Session) -> None:
    session.break_at(LOOP, "add")
    session.launch(LOOP)
    end = session.post("/terminate")
    assert (end["status"], end["reason"]) == ("terminated", "terminated")
    assert session.get("/status")["status"] == "terminated"
    assert session.get("/breakpoints")["total"] == 1
    refused = session.post("/terminate", expect=409)
    assert refused["error"]["details"]["state"] == "terminated"


def test_a_program_that_ignores_sigterm_ends_all_the_same(session: Session) -> None:
    session.post("/launch", {"script": SIGTERM_IGNORER.path})
    session.get("/output?wait=60")
    with session.server.settings(terminate_grace=0.1):
        end = session.post("/terminate")
    assert (end["status"], end["exit_code"]) == ("terminated", -9)


# -- restart --------------------------------------------------------------------------------------


def test_a_restart_keeps_the_breakpoints_wherever_the_program_is(session: Session) -> None:
    [point] = session.break_at(LOOP, "add")
    assert session.launch(LOOP)["status"] == "paused"
    session.resume()

    again = session.post("/restart", {"wait": 60})  # from paused
    assert (again["status"], again["breakpoint_id"]) == ("paused", point)
    assert session.evaluate("number") == "0"

    session.delete(f"/breakpoints/{point}")
    assert session.resume()["status"] == "terminated"
    [point] = session.break_at(LOOP, "print")
    again = session.post("/restart", {"wait": 60})  # from terminated
    assert (again["status"], again["location"]["line"]) == ("paused", LOOP.line("print"))


def test_a_running_program_is_restarted_with_new_arguments(session: Session) -> None:
    code = "import sys, time\nprint(sys.argv[1:], flush=True)\nwhile True: time.sleep(60)\n"
    session.post("/launch", {"code": code, "args": ["one"]})
    session.get("/output?wait=60")
    before, cursor = session.get("")["pid"], session.get("/output")["cursor"]
    assert session.post("/restart", {"args": ["two"]})["status"] == "running"
    session.get(f"/output?wait=60&since={cursor}")
    assert session.get("")["pid"] != before
    assert session.output() == "['one']\n['two']\n"


def test_nothing_can_be_restarted_before_a_launch(session: Session) -> None:
    refused = session.post("/restart", expect=409)
    assert refused["error"]["details"]["state"] == "created"


# -- detach ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("paused", [True, False])
def test_a_detached_program_finishes_its_work_without_us(
    server: Server, tmp_path: Path, paused: bool
) -> None:
    pipe, note = tmp_path / "pipe", tmp_path / "note"
    os.mkfifo(pipe)
    with server.session() as session:
        if paused:
            session.break_at(PIPE_WORKER, "ready")
        session.launch(PIPE_WORKER, wait=60 if paused else 0, args=[str(pipe), str(note)])
        if not paused:
            session.get("/output?wait=60")
        pid = session.get("")["pid"]
        gone = session.post("/detach")
        assert (gone["status"], gone["reason"], gone["detached"]) == (
            "terminated",
            "detached",
            True,
        )
    # Its session is deleted by now; opening the pipe waits until it reads.
    pidfd = os.pidfd_open(pid)
    pipe.write_text("done by itself")
    try:
        import select

        assert select.select([pidfd], [], [], 60)[0]
    finally:
        os.close(pidfd)
    assert note.read_text() == "done by itself"


def test_a_detached_program_may_go_on_writing(session: Session, tmp_path: Path) -> None:
    """Its stdout has no reader any more: that must not end it."""
    pipe, note = tmp_path / "pipe", tmp_path / "note"
    os.mkfifo(pipe)
    code = (
        "import sys\n"
        "print('ready', flush=True)\n"
        f"open({str(pipe)!r}).read()\n"
        "for _ in range(1000): print('x' * 1000)\n"
        "sys.stdout.flush()\n"
        f"open({str(note)!r}, 'w').write('done')\n"
        f"open({str(pipe)!r}, 'w').close()\n"
    )
    session.post("/launch", {"code": code})
    session.get("/output?wait=60")
    session.post("/detach")
    pipe.write_text("go")
    pipe.read_text()  # until it has opened and closed it
    assert note.read_text() == "done"
