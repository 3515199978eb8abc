"""No process outlives its owner: neither a deleted session, nor a server that stops or dies."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import psutil
import pytest

from fork_server import run_holdfast
from generous_timings import set_timings
from harness import Program, Server, Session
from polling import wait_until
from process_trees import TIMEOUT, is_running
from server_processes import (
    PendingRequest,
    Pidfd,
    PidFifo,
    fifo_factory,
    find_warden,
    find_zombies,
    launch_in_mode,
    launch_never_ready,
    watch_processes,
)

LOOP = Program("loop.py")
MANNERS = ["plain", "busy", "paused", "reader", "stubborn", "frozen", "parent", "orphaning"]
Ending = Callable[[Server], object]

ORDERLY: dict[str, Ending] = {
    "SIGTERM": lambda server: server.process.terminate(),
    "SIGINT": lambda server: server.process.send_signal(signal.SIGINT),
    "SIGHUP": lambda server: server.process.send_signal(signal.SIGHUP),
    "shutdown": lambda server: server.post("/shutdown"),
}
ENDINGS: dict[str, Ending] = {
    **{name: end for name, end in ORDERLY.items() if name != "SIGHUP"},
    "SIGKILL": lambda server: server.process.kill(),
}


@pytest.fixture
def line(tmp_path: Path) -> Iterator[Callable[[], PidFifo]]:
    with fifo_factory(tmp_path) as make:
        yield make


# A server whose answer to /health is code that never ends.
STUCK_SERVER = """
import re, sys, time
from holdfast.cli import main
from holdfast.service import server_report
server_report.build_health = lambda debugger: (print("stuck", file=sys.stderr), exec({code!r}))
main()
"""


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Server]:
    """A server that the test may end."""
    server = Server(tmp_path / "data")
    try:
        yield server
    finally:
        server.close()


def create_session(server: Server) -> Session:
    return Session(server, server.post("/sessions")["session_id"])


def continue_in_background(session: Session, **body: Any) -> PendingRequest:
    """A client that waits for the next stop, and is known to wait."""
    seen = session.get()["last_event"]
    asking = PendingRequest(
        session.server, "POST", session.path("/continue"), {"wait": True, **body}
    )
    session.wait_for_events("continued", since=seen)
    return asking


def evaluating(session: Session, fifo: PidFifo, seconds: int = 1000) -> PendingRequest:
    """A client that waits for an expression, which is known to be under way."""
    said = fifo.read_pids(1)
    slow = f"os.write(out, b'{said[0]}\\n') and __import__('time').sleep({seconds})"
    body = {"expression": slow, "timeout": 100}
    asking = PendingRequest(session.server, "POST", session.path("/evaluate"), body)
    fifo.read_pids(len(said) + 1)
    return asking


# -- deleting a session --------------------------------------------------------------------------


@pytest.mark.parametrize("manner", MANNERS)
def test_a_deleted_session_leaves_no_process(
    server: Server, manner: str, line: Callable[[], PidFifo]
) -> None:
    fifo = line()
    with server.session() as session:
        launch_in_mode(session, fifo, manner)

        assert session.delete() == {"deleted": True, "session_id": session.id}

        fifo.wait_until_gone()
        session.get(expect=404)
    assert find_zombies(server) == []


def test_a_session_may_be_deleted_while_it_launches(
    server: Server, line: Callable[[], PidFifo]
) -> None:
    fifo = line()
    with server.session() as session:
        launching = launch_never_ready(session, fifo)

        session.delete()

        fifo.wait_until_gone()
        answer = launching.wait()
        assert (answer.status_code, answer.json()["error_code"]) == (409, "wrong_state")
        assert answer.json()["error"]["details"]["reason"] == "deleted"


def test_a_launch_that_waits_its_turn_does_not_start_in_a_deleted_session(
    server: Server, line: Callable[[], PidFifo]
) -> None:
    fifo = line()
    with server.session() as session:
        first = launch_never_ready(session, fifo)
        second = PendingRequest(server, "POST", session.path("/restart"), {"wait": True})

        session.delete()

        assert first.wait().status_code == 409
        # It waited for the first, or it came when the session was gone already.
        assert second.wait().status_code == 404
        fifo.wait_until_gone()


def test_a_launch_can_be_terminated_and_tried_again(
    server: Server, line: Callable[[], PidFifo]
) -> None:
    fifo = line()
    with server.session() as session:
        launching = launch_never_ready(session, fifo)

        session.post("/terminate")

        fifo.wait_until_gone()
        assert launching.wait().status_code == 409
        shown = session.get("/status")
        assert (shown["status"], shown["reason"]) == ("terminated", "terminated")
        assert session.launch(LOOP)["exit_code"] == 0


def test_a_client_that_waits_is_told_of_the_deletion(
    server: Server, line: Callable[[], PidFifo]
) -> None:
    with server.session() as session:
        launch_in_mode(session, line(), "paused")
        waiting = continue_in_background(session)

        session.delete()

        answer = waiting.wait().json()
        assert (answer["status"], answer["reason"]) == ("terminated", "deleted")


def test_what_a_program_left_behind_goes_with_its_session_not_before(
    server: Server, line: Callable[[], PidFifo]
) -> None:
    fifo = line()
    with server.session() as session:
        launch_in_mode(session, fifo, "orphaning")
        assert session.get("/status?wait=60")["status"] == "terminated"
        leader, *others = fifo.read_pids(4)
        assert [is_running(pid) for pid in others] == [True] * 3 or is_running(leader)

        session.delete()

        fifo.wait_until_gone()


# -- the end of the server -----------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", ENDINGS)
def test_nothing_outlives_the_server_but_what_was_detached(
    own: Server, name: str, line: Callable[[], PidFifo]
) -> None:
    """All orderly ends are one. Behind one of them is every kind of program."""
    end = ENDINGS[name]
    detached = line()
    launch_in_mode(free := create_session(own), detached, "parent")
    free.post("/detach")
    lines = []
    for manner in MANNERS if name in ("SIGTERM", "SIGKILL") else ["paused", "stubborn"]:
        lines.append(line())
        launch_in_mode(create_session(own), lines[-1], manner)
    lines.append(line())
    launching = launch_never_ready(create_session(own), lines[-1])
    warden = find_warden(own)
    everyone = watch_processes(own, but=detached.read_pids(4))
    assert warden in [each.pid for each in everyone]

    end(own)

    for each in everyone:
        each.wait_until_gone()
    for fifo in lines:
        fifo.wait_until_gone()
    assert all(is_running(pid) for pid in detached.read_pids(4))
    code = own.process.wait(TIMEOUT)
    if code == -signal.SIGKILL:
        with pytest.raises(AssertionError):
            launching.wait()
        return
    assert code == 0
    assert launching.wait().status_code == 409
    check_nothing_left(own)


def check_nothing_left(server: Server) -> None:
    """Nothing but what is meant to be kept."""
    assert not server.ready_file.exists()
    kept = {"holdfast.db", "holdfast.db-wal", "holdfast.db-shm", "holdfast.lock", "token", "agents"}
    assert {each.name for each in server.data_dir.iterdir()} <= kept
    assert {each.name for each in (server.data_dir / "agents").iterdir()} <= {"sessions"}
    assert [each.name for each in server.data_dir.parent.iterdir() if "ready" in each.name] == []


def test_a_program_that_is_detached_while_paused_runs_on(
    server: Server, line: Callable[[], PidFifo]
) -> None:
    fifo = line()
    with server.session() as session:
        launch_in_mode(session, fifo, "paused")
        [pid] = fifo.read_pids(1)

        session.post("/detach")
        session.delete()

        assert is_running(pid)


@pytest.mark.parametrize("end", [ORDERLY["SIGTERM"], ORDERLY["SIGHUP"]], ids=["SIGTERM", "SIGHUP"])
def test_whoever_waits_is_answered_when_the_server_stops(
    own: Server, end: Ending, line: Callable[[], PidFifo]
) -> None:
    first, second, third = create_session(own), create_session(own), create_session(own)
    launch_in_mode(first, line(), "paused")
    running = continue_in_background(first)
    launch_in_mode(second, fifo := line(), "paused")
    computing = evaluating(second, fifo)
    with (
        httpx.Client(base_url=own.url, timeout=60, trust_env=False) as client,
        client.stream("GET", first.path("/output/stream")) as output,
        client.stream("GET", third.path("/output/stream")) as nothing,
    ):
        end(own)
        assert "event: end" in [*output.iter_lines()]
        assert "event: end" in [*nothing.iter_lines()]
    answer = running.wait().json()
    assert (answer["status"], answer["reason"]) == ("terminated", "server_stopped")
    answer = computing.wait().json()
    assert answer["error_code"] == "session_crashed"
    assert own.process.wait(TIMEOUT) == 0


@pytest.mark.slow
def test_paused_sessions_do_not_hold_the_server_up(own: Server) -> None:
    sessions = [create_session(own) for _ in range(4)]
    for session in sessions:
        session.break_at(LOOP, "add")
        assert session.launch(LOOP)["status"] == "paused"
    pids = [Pidfd(session.get()["pid"]) for session in sessions]

    assert own.stop() == 0

    for each in pids:
        each.wait_until_gone()
    check_nothing_left(own)


def test_a_stopped_server_says_why_its_sessions_ended(own: Server) -> None:
    session = create_session(own)
    session.break_at(LOOP, "add")
    session.launch(LOOP)
    own.stop()

    again = Server(own.data_dir)
    try:
        shown = again.get(f"/sessions/{session.id}")
        assert (shown["status"], shown["reason"]) == ("terminated", "server_stopped")
        assert again.post(f"/sessions/{session.id}/restart", {"wait": 60})["status"] == "paused"
    finally:
        again.stop()


# -- the warden ----------------------------------------------------------------------------------


def test_a_killed_warden_is_replaced_and_its_successor_does_its_work(
    own: Server, line: Callable[[], PidFifo]
) -> None:
    fifo = line()
    launch_in_mode(create_session(own), fifo, "parent")
    first = Pidfd(find_warden(own))
    os.kill(first.pid, signal.SIGKILL)
    first.wait_until_gone()
    found = wait_until(lambda: wardens(own), "another warden")

    own.process.kill()

    fifo.wait_until_gone()
    assert own.process.wait() == -signal.SIGKILL
    assert found != [first.pid]


def wardens(server: Server) -> list[int]:
    try:
        return [find_warden(server)]
    except (ValueError, psutil.Error):
        return []


# -- one server, one data directory --------------------------------------------------------------


def serve(*options: str, **env: str) -> subprocess.CompletedProcess[str]:
    return run_holdfast("serve", "--port", "0", *options, env={**os.environ, **env})


def refusal(done: subprocess.CompletedProcess[str]) -> str:
    """The one line that says why, without a traceback."""
    assert done.returncode == 1, done
    assert "Traceback" not in done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == 2, lines  # what is wrong, and what to do
    return lines[0]


def test_a_second_server_on_the_same_directory_is_refused(own: Server) -> None:
    why = refusal(serve("--data-dir", str(own.data_dir)))

    assert str(own.data_dir) in why
    assert str(own.process.pid) in why
    assert own.get("/health")["status"] == "ok"
    announced = json.loads((own.data_dir / "server.json").read_text())
    assert announced["pid"] == own.process.pid


def test_a_killed_server_does_not_stand_in_the_way_of_the_next(own: Server) -> None:
    session = create_session(own)
    own.process.kill()
    own.process.wait()

    again = Server(own.data_dir)

    shown = again.get(f"/sessions/{session.id}")
    assert shown["status"] == "created"
    assert again.stop() == 0
    check_nothing_left(again)


@pytest.mark.slow
def test_a_directory_that_cannot_be_used_is_named_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a directory")
    for where in (tmp_path / "file", tmp_path / "file" / "below", Path("/proc/nowhere")):
        assert str(where) in refusal(serve("--data-dir", str(where)))


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_read_only_directory_is_named_in_one_line(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    assert str(tmp_path) in refusal(serve("--data-dir", str(tmp_path / "data")))


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--ready-file", "/proc/nowhere/ready"], "/proc/nowhere/ready"),
        (["--host", "name.invalid"], "name.invalid"),
        (["--port", "99999"], "99999"),
    ],
)
@pytest.mark.slow
def test_a_start_that_fails_says_why_and_leaves_nothing(
    tmp_path: Path, options: list[str], named: str
) -> None:
    done = serve("--data-dir", str(tmp_path / "data"), *options)

    assert named in refusal(done)
    assert not (tmp_path / "data" / "server.json").exists()


# -- the target is killed ------------------------------------------------------------------------


def describe_end(answer: httpx.Response) -> tuple[str, str, int]:
    shown = answer.json()
    return shown["status"], shown["reason"], shown["exit_code"]


KILLED = ("terminated", "target_exited", -9)


def test_a_running_target_that_is_killed_is_terminated(
    session: Session, line: Callable[[], PidFifo]
) -> None:
    fifo = line()
    launch_in_mode(session, fifo, "plain")
    waiting = PendingRequest(session.server, "GET", session.path("/status?wait=true"))
    os.kill(fifo.read_pids(1)[0], signal.SIGKILL)
    assert describe_end(waiting.wait()) == KILLED


def test_a_paused_target_that_is_killed_is_terminated(
    session: Session, line: Callable[[], PidFifo]
) -> None:
    fifo = line()
    hold = launch_in_mode(session, fifo, "paused")["hold_id"]
    seen = session.get()["last_event"]

    os.kill(fifo.read_pids(1)[0], signal.SIGKILL)

    events = session.get(f"/events?since={seen}&wait=60")["events"]
    assert [each["event"] for each in events] == ["terminated"]
    shown = session.get("/status")
    assert (shown["status"], shown["reason"], shown["exit_code"]) == KILLED
    assert session.server.get(f"/api/holds/{hold}")["open"] is False
    session.post("/step-over", expect=409)
    session.post("/evaluate", {"expression": "1"}, expect=409)


def test_a_target_killed_during_a_step_answers_the_step(
    session: Session, line: Callable[[], PidFifo]
) -> None:
    fifo = line()
    launch_in_mode(session, fifo, "paused")
    session.post("/step-over")
    session.post("/step-over")
    seen = session.get()["last_event"]
    stepping = PendingRequest(session.server, "POST", session.path("/step-over"), {"wait": True})
    session.get(f"/events?since={seen}&wait=60")

    os.kill(fifo.read_pids(1)[0], signal.SIGKILL)

    assert describe_end(stepping.wait()) == KILLED


def test_a_target_killed_during_an_evaluation_answers_it(
    session: Session, line: Callable[[], PidFifo]
) -> None:
    fifo = line()
    launch_in_mode(session, fifo, "paused")
    computing = evaluating(session, fifo)

    os.kill(fifo.read_pids(1)[0], signal.SIGKILL)

    answer = computing.wait()
    assert (answer.status_code, answer.json()["error_code"]) == (500, "session_crashed")
    shown = session.get("/status")
    assert (shown["status"], shown["reason"], shown["exit_code"]) == KILLED


def test_a_target_killed_during_its_launch_fails_it(
    session: Session, line: Callable[[], PidFifo]
) -> None:
    fifo = line()
    launching = launch_never_ready(session, fifo)

    os.kill(fifo.read_pids(1)[0], signal.SIGKILL)

    answer = launching.wait()
    assert (answer.status_code, answer.json()["error_code"]) == (500, "launch_failed")
    assert answer.json()["error"]["details"]["exit_code"] == -9
    shown = session.get("/status")
    assert (shown["status"], shown["reason"]) == ("failed", "launch_failed")
    assert shown["exit_code"] == -9
    fifo.wait_until_gone()  # it was not started again by other means


@pytest.mark.parametrize(
    ("expression", "code"), [("os._exit(7)", 7), ("os.kill(os.getpid(), 9)", -9)]
)
def test_an_expression_may_end_its_own_process(
    session: Session, python: str, expression: str, code: int, line: Callable[[], PidFifo]
) -> None:
    launch_in_mode(session, line(), "paused", python=python)

    answer = session.post("/evaluate", {"expression": expression}, expect=500)

    assert answer["error_code"] == "session_crashed"
    shown = session.get("/status")
    assert (shown["status"], shown["reason"]) == ("terminated", "target_exited")
    assert shown["exit_code"] == code
    assert session.launch(LOOP)["exit_code"] == 0


# -- servers that are stuck -----------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    ["while True: pass", "time.sleep(1000)", "re.match('(a|a)+$', 'a' * 100 + 'b')"],
    ids=["in Python", "in a system call", "in C, with the lock of the interpreter"],
)
def test_a_signal_ends_a_server_that_is_stuck(
    code: str, line: Callable[[], PidFifo], tmp_path: Path
) -> None:
    fifo, script = line(), tmp_path / "stuck.py"
    script.write_text(STUCK_SERVER.format(code=code))
    server = Server(tmp_path / "data", env=set_timings(signal_read=0.5), script=script)
    try:
        launch_in_mode(create_session(server), fifo, "stubborn")
        [pid] = fifo.read_pids(1)
        parts = urlsplit(server.url)
        with socket.create_connection((parts.hostname, parts.port or 0)) as client:
            client.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            server.wait_for_log("stuck")
            server.process.terminate()
            assert server.process.wait(TIMEOUT) == -signal.SIGKILL
        fifo.wait_until_gone()
        wait_until(lambda: not is_running(pid))  # its files are closed before it is gone
        assert "did not react" in server.read_rest_of_log()
    finally:
        server.close()


@pytest.mark.slow
def test_an_end_that_takes_too_long_is_cut_short_by_a_second_signal(
    server_with: Callable[..., Server], line: Callable[[], PidFifo]
) -> None:
    """The store waits for its lock longer than that."""
    own, fifo = server_with(server_stops_at_once=0.5), line()
    launch_in_mode(create_session(own), fifo, "plain")
    with contextlib.closing(sqlite3.connect(own.data_dir / "holdfast.db")) as other:
        other.execute("BEGIN IMMEDIATE")
        own.process.terminate()
        own.process.send_signal(signal.SIGINT)
        assert own.process.wait(TIMEOUT) == -signal.SIGALRM
    fifo.wait_until_gone()
