"""From nothing to a stop with its locals in one request, and from a copy to its program in `{}`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness import Program, Server, Session
from session_states import check_error

LOOP = Program("loop.py")


def at(marker: str, program: Program = LOOP, **more: Any) -> dict[str, Any]:
    return {"file": program.path, "line": program.line(marker), **more}


def list_ids(server: Server) -> set[str]:
    return {each["session_id"] for each in server.get("/sessions")["sessions"]}


# -- a session with its program -------------------------------------------------------------------


def test_a_relative_breakpoint_is_found_beside_its_script(server: Server) -> None:
    point = {"file": "loop.py", "line": LOOP.line("print"), "strict": True}
    launch = {"script": LOOP.path, "breakpoints": [point]}
    with server.session(launch=launch, wait=60) as session:
        assert session.created["location"]["line"] == LOOP.line("print")


def test_a_breakpoint_that_is_there_already_is_not_set_twice(
    server: Server, tmp_path: Path
) -> None:
    """The breakpoints of a project come with each session in it."""
    body = {"cwd": str(tmp_path), "launch": {"script": LOOP.path}, "breakpoints": [at("print")]}
    for _ in range(2):
        with server.session(**body, wait=60) as session:
            assert session.created["location"]["line"] == LOOP.line("print")
            assert session.get("/breakpoints")["total"] == 1
            again = session.post("/launch", body["launch"], expect=409)
            assert again["error"]["details"]["state"] == "paused"
            session.resume()
            stop = session.launch(LOOP, breakpoints=[at("print"), at("print")])
            assert len(stop["breakpoints_set"]) == session.get("/breakpoints")["total"] == 1


def test_a_session_is_created_with_breakpoints_alone(server: Server) -> None:
    with server.session(breakpoints=at("add"), exception_filters=["uncaught"]) as session:
        assert session.created["status"] == "created"
        assert session.created["breakpoints_set"][0]["verified"] is True
        assert session.launch(LOOP)["location"]["line"] == LOOP.line("add")


MISTAKES: dict[str, tuple[dict[str, Any], int, str]] = {
    "no script": ({"launch": {"script": "/no/such.py"}}, 404, "file_not_found"),
    "a syntax error": ({"launch": {"code": "x ="}}, 400, "syntax_error"),
    "no target": ({"launch": {}}, 400, "invalid_request"),
    "two targets": ({"launch": {"code": "1", "module": "x"}}, 400, "invalid_request"),
    "a bad line": ({"breakpoints": [at("add") | {"line": 999}]}, 400, "invalid_line"),
    "a bad condition": (
        {"launch": {"code": "1"}, "breakpoints": [at("add", condition="x =")]},
        400,
        "invalid_condition",
    ),
    "a bad filter": ({"exception_filters": ["caught"]}, 400, "invalid_request"),
    "a bad wait": ({"launch": {"code": "1"}, "wait": "soon"}, 400, "invalid_request"),
    "a bad include": ({"launch": {"code": "1", "include": "x"}}, 400, "invalid_request"),
    "no profile": ({"breakpoint_profile": "no such"}, 404, "profile_not_found"),
    "no process": ({"mode": "attach", "pid": 2**22 + 1}, 404, "process_not_found"),
    "both ways": ({"mode": "attach", "pid": 1, "launch": {"code": "1"}}, 400, "invalid_request"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_session_with_a_mistake_in_it_is_not_created(
    server: Server, tmp_path: Path, mistake: str
) -> None:
    body, status, name = MISTAKES[mistake]
    before = list_ids(server)
    whole = {"cwd": str(tmp_path), "breakpoints": [at("print")], **body}
    answer = server.http.post("/sessions", json=whole)
    check_error(answer, status)
    assert answer.json()["error_code"] == name
    assert list_ids(server) == before
    with server.session(cwd=str(tmp_path)) as session:
        assert session.created["breakpoints"] == 0, "the project has kept a breakpoint"


def test_a_refused_launch_leaves_the_breakpoints_as_they_were(session: Session) -> None:
    [kept] = session.break_at(LOOP, "print")
    session.post("/exception-breakpoints", {"filters": ["raised"], "types": ["KeyError"]})
    more = {"breakpoints": [at("add")], "exception_filters": ["uncaught"]}
    session.post("/launch", {"code": "x =", **more}, expect=400)
    session.post("/launch", {"script": "/no/such.py", **more}, expect=404)
    shown = session.get("/breakpoints")
    assert [each["id"] for each in shown["breakpoints"]] == [kept]
    assert shown["exception_breakpoints"] == {"filters": ["raised"], "types": ["KeyError"]}


# -- a copy with its program ----------------------------------------------------------------------


@pytest.mark.parametrize(("copy", "body"), [("clone", {}), ("import", {}), ("import", None)])
def test_a_copy_is_launched_with_nothing(server: Server, copy: str, body: Any) -> None:
    with server.session() as session:
        session.break_at(LOOP, "print")
        session.launch(LOOP, args=["one"], stop_on_entry=True)
        if copy == "clone":
            made = session.post("/clone")
        else:
            made = server.post("/sessions/import", session.get("/export"))
        again = Session(server, made["session_id"])
        entry = again.post("/launch?wait=60", body)
        assert (entry["status"], entry["reason"]) == ("paused", "entry")
        assert again.get()["launch"] == session.get()["launch"]
        again.post("/terminate")
        # What is given replaces what the copy has, even if it is given as its default.
        changed = {"wait": 60, "stop_on_entry": False, "args": ["two"]}
        stop = again.post("/launch", changed)
        assert (stop["reason"], stop["location"]["line"]) == ("breakpoint", LOOP.line("print"))
        assert again.get()["launch"]["args"] == ["two"]
        again.delete()


def test_a_launch_without_a_target_is_named_in_the_error(server: Server) -> None:
    for path in ("/sessions", "/sessions/import"):
        error = check_error(server.http.post(path, json={"launch": {}}), 400)
        assert error["message"] == "body: in launch, give exactly one of script, module and code"


def test_only_a_session_with_a_launch_is_launched_with_nothing(session: Session) -> None:
    refused = session.post("/launch", {"wait": 5}, expect=400)
    assert "script, module and code" in refused["error"]["message"]
    assert session.get()["status"] == "created"


# -- waits ----------------------------------------------------------------------------------------


def test_a_session_that_was_never_launched_is_not_waited_for(session: Session) -> None:
    """The longest wait is longer than this test may take."""
    assert session.get("/status?wait=true")["status"] == "created"
    session.post("/launch", {"code": "x ="}, expect=400)
    assert session.get("/status?wait=true")["status"] == "created"
