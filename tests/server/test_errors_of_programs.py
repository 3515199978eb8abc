"""Errors whose cause is in a process, or in how a request is sent."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import Server, Session
from session_states import IDLE, LOOP, bring_to, check_error

# -- bad bodies ----------------------------------------------------------------------------------


def test_a_body_that_is_not_declared_as_json_is_415(server: Server) -> None:
    error = check_error(server.http.post("/sessions", content=b"{}"), 415)
    assert error["short"] == "unsupported_media_type"


# -- hints ---------------------------------------------------------------------------------------


def find_hint(session: Session, route: str, body: Any = None) -> tuple[str, list[str]]:
    error = check_error(session.server.http.post(session.path(route), json=body), 409)
    return error["hint"], error["details"]["possible"]


def test_what_was_attached_to_is_not_offered_to_be_restarted(
    session: Session, server: Server
) -> None:
    with server.session(launch={"script": IDLE.path}) as other:
        pid = other.get("/status?wait=0.01") and other.get()["pid"]
        other.post("/detach")
        hint, possible = find_hint(other, "/continue")
        assert "POST /attach with its pid" in hint
        assert "restart" in possible
        session.post("/attach", {"pid": pid})
        hint, possible = find_hint(session, "/launch", {"code": "1"})
        assert "/restart" not in hint
        assert "restart" not in possible
        session.post("/terminate")
        hint, possible = find_hint(session, "/continue")
        assert "/restart" not in hint
        assert "POST /attach" in hint
        assert "restart" not in possible


def test_a_hint_asks_for_nothing_of_a_session_that_is_not_there(server: Server) -> None:
    nowhere = {"code": "1", "route": "direct", "env": {"PYTHONHOME": "/nowhere"}}
    error = check_error(server.http.post("/sessions", json={"launch": nowhere}), 500)
    assert "send the request again" in error["hint"]
    assert "PYTHONHOME" in error["details"]["output"], "what the interpreter printed"
    error = check_error(server.http.post("/sessions", json={"launch": {"code": "x ="}}), 400)
    assert "send the request again" in error["hint"]


# -- unknown ids ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def paused(server: Server) -> Iterator[Session]:
    with server.session() as session:
        bring_to(session, "paused")
        yield session


# -- launching what cannot be launched -----------------------------------------------------------


def test_a_syntax_error_says_where_and_leaves_the_session_created(
    session: Session, tmp_path: Path, python: str
) -> None:
    script = tmp_path / "broken.py"
    script.write_text("x = 1\nif x == 1\n    print(x)\n")
    launch = {"script": str(script), "python": python, "wait": 60}
    error = check_error(session.server.http.post(session.path("/launch"), json=launch), 400)
    assert error["short"] == "syntax_error"
    details = error["details"]
    assert (details["file"], details["line"]) == (str(script), 2)
    assert details["offset"] >= 1
    assert details["message"]
    assert details["text"].strip() == "if x == 1"
    assert session.get("/status")["status"] == "created"
    assert "terminated" not in [each["event"] for each in session.get("/events")["events"]]

    script.write_text("print('mended')\n")
    assert session.post("/launch", launch)["status"] == "terminated"
    assert session.output() == "mended\n"


def test_an_interpreter_that_breaks_is_a_failed_launch_with_a_reference(session: Session) -> None:
    body = {"code": "1", "route": "direct", "env": {"PYTHONHOME": "/nowhere"}}
    error = check_error(session.server.http.post(session.path("/launch"), json=body), 500)
    assert error["short"] == "launch_failed"
    assert error["details"]["reference"]
    assert session.get("/status")["status"] == "failed"
    assert session.get("/status")["error_details"]["code"] == "LAUNCH_FAILED"
    assert session.output("stderr")  # its last words
    assert session.launch(LOOP)["status"] == "terminated"


# -- while it runs -------------------------------------------------------------------------------


def test_a_target_that_dies_while_it_is_asked_is_a_crashed_session(session: Session) -> None:
    bring_to(session, "paused")
    body = {"expression": "__import__('os')._exit(7)"}
    error = check_error(session.server.http.post(session.path("/evaluate"), json=body), 500)
    assert error["short"] == "session_crashed"
    assert error["details"]["operation"] == "evaluate"
    assert error["details"]["reference"]
    end = session.get("/status?wait=60")
    assert (end["status"], end["reason"], end["exit_code"]) == ("terminated", "target_exited", 7)
    assert session.post("/restart", {"wait": 60})["status"] == "paused"


def test_an_expression_that_takes_too_long_is_504_and_says_what_to_do(session: Session) -> None:
    bring_to(session, "paused")
    body = {"expression": "__import__('time').sleep(60)", "timeout": 0.2}
    error = check_error(session.server.http.post(session.path("/evaluate"), json=body), 504)
    assert error["short"] == "debugpy_timeout"
    assert error["details"]["operation"] == "evaluate"
    assert "longer timeout" in error["hint"]
    assert session.evaluate("number + 1") == "1"


def test_a_program_that_is_killed_while_it_is_looked_at_is_just_over(
    session: Session, tmp_path: Path
) -> None:
    script = tmp_path / "threads.py"
    script.write_text(
        "import threading\n"
        "threading.Thread(target=threading.Event().wait, daemon=True).start()\n"
        "x = 1\n"
    )
    session.post("/breakpoints", {"file": str(script), "line": 3})
    assert session.launch(str(script))["status"] == "paused"
    os.kill(session.get()["pid"], signal.SIGKILL)
    while (status := session.get("/status?include=locals,stack"))["status"] != "terminated":
        pass  # every answer on the way is one that a client can act on
    assert (status["reason"], status["exit_code"]) == ("target_exited", -9)
