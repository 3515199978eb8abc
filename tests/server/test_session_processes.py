"""Sessions and the processes behind them, and many clients at once."""

from __future__ import annotations

import os
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest

from harness import Server, Session
from session_states import LOOP, bring_to


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


# -- made, listed, looked at ---------------------------------------------------------------------


def list_one(session: Session) -> dict[str, Any]:
    listed: list[dict[str, Any]] = session.server.get("/sessions")["sessions"]
    return next(each for each in listed if each["session_id"] == session.id)


def test_the_list_says_what_runs_where_it_is_and_how_it_ended(server: Server) -> None:
    with server.session(name="mine") as session:
        created = list_one(session)
        assert (created["kind"], created["name"], created["pid"]) == ("program", "mine", None)
        assert "target" not in created
        session.break_at(LOOP, "add")
        stop = session.launch(LOOP)
        paused = list_one(session)
        assert (paused["target"], paused["hold_id"]) == (LOOP.path, stop["hold_id"])
        assert paused["pid"] == session.get()["pid"]
        assert psutil.pid_exists(paused["pid"])
        assert "exception_line" not in paused
        session.post("/terminate")
        assert "exception_line" not in list_one(session)


def test_the_list_says_which_signal_ended_a_program(session: Session) -> None:
    session.post("/launch", {"code": "import os; os.kill(os.getpid(), 9)", "wait": 60})
    listed = list_one(session)
    assert (listed["exit_code"], listed["signal"]) == (-9, "SIGKILL")
    assert "exception_line" not in listed


# -- taken away ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "state", ["created", "running", "paused", "waiting_for_input", "terminated"]
)
def test_a_deleted_session_is_gone_with_its_program(server: Server, state: str) -> None:
    session = Session(server, server.post("/sessions")["session_id"])
    bring_to(session, state)
    pid = session.get()["pid"]
    assert session.delete()["deleted"] is True
    assert pid is None or is_gone(pid)
    for path in ("", "/status", "/output", "/events", "/export"):
        assert session.get(path, expect=404)["error_code"] == "session_not_found"
    assert session.id not in [each["session_id"] for each in server.get("/sessions")["sessions"]]
    session.delete(expect=404)


# -- many at once --------------------------------------------------------------------------------


@pytest.mark.slow
def test_twenty_sessions_live_at_the_same_time(server: Server) -> None:
    def life(number: int) -> tuple[str, str]:
        with server.session(name=f"s{number}") as session:
            session.break_at(LOOP, "add", condition=f"number == {number % 10}")
            stop = session.launch(LOOP)
            assert stop["locals"][1]["value"] == str(number % 10), stop
            return session.id, session.resume()["status"]

    with ThreadPoolExecutor(20) as pool:
        lives = list(pool.map(life, range(20)))
    assert len({session_id for session_id, _ in lives}) == 20
    assert {status for _, status in lives} == {"terminated"}
    left = [each["session_id"] for each in server.get("/sessions")["sessions"]]
    assert not {session_id for session_id, _ in lives} & set(left)


def test_sessions_created_and_deleted_by_many_clients_leave_nothing(server: Server) -> None:
    before = server.get("/health")["sessions"]

    def flicker(_: int) -> None:
        server.delete(f"/sessions/{server.post('/sessions')['session_id']}")

    with ThreadPoolExecutor(20) as pool:
        list(pool.map(flicker, range(60)))
    assert server.get("/health")["sessions"] == before


def test_a_session_deleted_twice_at_once_is_deleted_once(server: Server) -> None:
    session = Session(server, server.post("/sessions")["session_id"])
    bring_to(session, "paused")
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(server.http.delete, session.path("")) for _ in range(4)]
        answers = sorted(each.result().status_code for each in asked)
    assert answers[0] == 200
    assert set(answers) <= {200, 404}
    session.get(expect=404)


def test_a_client_that_disappears_while_it_waits_does_no_harm(session: Session) -> None:
    bring_to(session, "running")
    url = urlsplit(session.server.url)
    with socket.create_connection((url.hostname, url.port or 0)) as client:
        path = session.path("/status?wait=60")
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    stop = session.post("/pause", {"wait": 60})
    assert (stop["status"], stop["reason"]) == ("paused", "pause")
    assert session.get("/status")["status"] == "paused"


# -- idle time -----------------------------------------------------------------------------------


BRIEF = 0.005  # minutes


def test_a_paused_program_ends_with_its_idle_session(server: Server) -> None:
    session = Session(server, server.post("/sessions")["session_id"])
    bring_to(session, "paused")
    program = psutil.Process(session.get()["pid"])
    session.patch("", {"timeout_minutes": BRIEF})
    assert psutil.wait_procs([program], timeout=60)[1] == []
    assert session.get()["reason"] == "timeout"
    held = [each["session_id"] for each in server.get("/api/holds")["holds"]]
    assert session.id not in held
