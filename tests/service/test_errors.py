"""Every mistake is answered in one shape: what happened, where, and what to do next."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness import Server, Session
from holdfast.errors import InvalidInput
from holdfast.server.request_parser import convert
from session_states import LOOP, bring_to, check_error

JSON = {"content-type": "application/json"}


# -- bad bodies ----------------------------------------------------------------------------------


DEEP = b"[" * 100_000
BAD_BODIES = {
    "not JSON": (b"{", "body"),
    "no object": (b"[]", "body"),
    "a word": (b'"x"', "body"),
    "a number": (b"1", "body"),
    "NaN": (b"NaN", "body"),
    "bytes that are no text": (b"\xff\xfe", "body"),
    "nested too deeply": (DEEP, "body"),
    "nested too deeply in a field": (b'{"name":' + DEEP, "body"),
    "a number beyond all bounds": (b'{"output_limit_bytes":' + b"9" * 5000 + b"}", "body"),
    "a wrong type": (b'{"name":1}', "name"),
    "an unknown field": (b'{"nmae":"x"}', "nmae"),
    "a number that is too large": (b'{"timeout_minutes":1e999}', "timeout_minutes"),
    "not a number": (b'{"timeout_minutes":NaN}', "timeout_minutes"),
    "an integer that is too large": (
        b'{"output_limit_bytes":' + b"9" * 300 + b"}",
        "output_limit_bytes",
    ),
    "below zero": (b'{"timeout_minutes":-1}', "timeout_minutes"),
    "half a character in a key": (b'{"\\ud800":1}', "body"),
    "half a character": (b'{"name":"\\ud800"}', "name"),
    "a null character in a path": (b'{"cwd":"\\u0000"}', "cwd"),
    "an unknown choice": (b'{"mode":"steal"}', "mode"),
    "attach to nothing": (b'{"mode":"attach"}', "pid"),
}


@pytest.mark.parametrize("name", BAD_BODIES)
def test_a_bad_body_is_400_and_names_the_field(server: Server, name: str) -> None:
    body, field = BAD_BODIES[name]
    error = check_error(server.http.post("/sessions", content=body, headers=JSON), 400)
    assert error["details"]["field"] == field


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/launch", {}, "body"),
        ("/launch", {"script": LOOP.path, "module": "x"}, "body"),
        ("/launch", {"script": 5}, "script"),
        ("/launch", {"script": "  "}, "body"),
        ("/launch", {"script": LOOP.path, "args": ["a", 1]}, "args.1"),
        ("/launch", {"script": LOOP.path, "args": ["\0"]}, "args.0"),
        ("/launch", {"script": LOOP.path, "env": {"A": "\0"}}, "env.A"),
        ("/launch", {"script": LOOP.path, "env": {"": "x"}}, "env."),
        ("/launch", {"script": LOOP.path, "env": {"A": 1}}, "env.A"),
        ("/launch", {"script": LOOP.path, "pythonpath": ["\0"]}, "pythonpath.0"),
        ("/launch", {"script": LOOP.path, "wait": "soon"}, "wait"),
        ("/launch", {"script": LOOP.path, "wait": -1}, "wait"),
        ("/launch", {"script": LOOP.path, "wait": [1]}, "wait"),
        ("/launch", {"script": LOOP.path, "include": ["everything"]}, "include"),
        ("/launch", {"script": LOOP.path, "stop_on_exception": "sometimes"}, "stop_on_exception"),
        ("/breakpoints", {"file": LOOP.path}, "body"),
        ("/breakpoints", {"file": LOOP.path, "line": "ten"}, "line"),
        ("/breakpoints", {"file": LOOP.path, "line": 1, "lime": 2}, "lime"),
        ("/breakpoints", {"file": "\0", "line": 1}, "file"),
        ("/breakpoints", [{"file": LOOP.path, "line": 1}, {"line": 2}], "1"),
        ("/breakpoints", [{"file": LOOP.path, "line": []}], "0.line"),
        ("/breakpoints", {"breakpoints": [{"file": LOOP.path, "line": {}}]}, "breakpoints.0.line"),
        ("/exception-breakpoints", {"filters": ["caught"]}, "filters.0"),
        ("/exception-breakpoints", {"types": ["not a name"]}, "types"),
        ("/evaluate", {}, "expression"),
        ("/evaluate", {"expression": ""}, "expression"),
        ("/watch", {"expression": "x ="}, "expression"),
        ("/completions", {"text": 1}, "text"),
        ("/hover", {}, "body"),
        ("/hover", {"expression": ""}, "body"),
        ("/input", {}, "body"),
        ("/variables/1/set", {"name": "x"}, "value"),
        ("/attach", {}, "body"),
        ("/attach", {"pid": 0}, "pid"),
        ("/attach", {"port": 70000}, "port"),
        ("/continue", {"wait": None, "thread_id": "x"}, "thread_id"),
        ("/step-over", [], "body"),
        ("/restart", {"args": "x"}, "args"),
        ("/clone", {"name": 1}, "name"),
    ],
)
def test_every_route_names_the_field_that_is_wrong(
    session: Session, path: str, body: Any, field: str
) -> None:
    error = check_error(session.server.http.post(session.path(path), json=body), 400)
    assert error["details"]["field"] == field
    assert session.get("/status")["status"] == "created"


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/status?wait=soon", "wait"),
        ("/status?wait=nan", "wait"),
        ("/status?include=all", "include"),
        ("/output?since=-1", "since"),
        ("/output?limit=0", "limit"),
        ("/events?since=x", "since"),
        ("/stacktrace?start=-1", "start"),
        ("/frames/top/variables", "frame_id"),
        ("/variables/" + "9" * 5000, "reference"),
        ("/source", "path"),
    ],
)
def test_a_bad_query_is_400_too(session: Session, path: str, field: str) -> None:
    error = check_error(session.server.http.get(session.path(path)), 400)
    assert error["details"]["field"] == field


LEVELS = 100_000


def test_a_value_that_only_the_parser_of_requests_finds_too_deep_is_refused() -> None:
    class Body(msgspec.Struct):
        value: Any

    nested: Any = None
    for _ in range(5_000):
        nested = [nested]

    with pytest.raises(InvalidInput, match="nested too deeply"):
        convert({"value": nested}, Body)


@pytest.mark.parametrize(
    "body",
    [b"[" * LEVELS + b"]" * LEVELS, b'{"a":' * LEVELS + b"1" + b"}" * LEVELS],
    ids=["lists", "objects"],
)
@pytest.mark.parametrize("path", ["/sessions", "/sessions/import", "/launch", "/breakpoints"])
def test_a_body_that_is_nested_too_deeply_is_400_and_says_so(
    session: Session, path: str, body: bytes
) -> None:
    where = path if path.startswith("/sessions") else session.path(path)
    headers = {"Content-Type": "application/json"}
    error = check_error(session.server.http.post(where, content=body, headers=headers), 400)
    assert (error["message"], error["details"]["field"]) == (
        "the body is nested too deeply",
        "body",
    )


@pytest.mark.parametrize("body", [b"", b"null", b"{}"])
def test_a_route_that_needs_nothing_takes_no_body(server: Server, body: bytes) -> None:
    answer = server.http.post("/sessions", content=body, headers=JSON)
    assert answer.status_code == 201
    server.delete(f"/sessions/{answer.json()['session_id']}")


def test_a_route_that_needs_a_body_says_so(session: Session) -> None:
    for content in (b"", b"null"):
        answer = session.server.http.post(session.path("/launch"), content=content, headers=JSON)
        assert check_error(answer, 400)["details"]["field"] == "body"


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({"version": 2}, "version"),
        ({"config": {"timeout_minutes": "long"}}, "config.timeout_minutes"),
        ({"config": {"cwd": "/no/such/directory"}}, "cwd"),
        ({"launch": {"script": 1}}, "launch.script"),
        ({"breakpoints": [{"id": "x", "file": "a.py", "line": 1}]}, "breakpoints.0.id"),
        ({"breakpoints": {}}, "breakpoints"),
        ({"watches": [1]}, "watches.0"),
        ({"something": 1}, "something"),
    ],
)
def test_what_was_not_exported_is_not_imported(server: Server, document: Any, field: str) -> None:
    before = server.get("/health")["sessions"]
    error = check_error(server.http.post("/sessions/import", json=document), 400)
    assert error["details"]["field"] == field
    assert server.get("/health")["sessions"] == before


def test_an_imported_breakpoint_is_checked_like_any_other(server: Server) -> None:
    point = {"file": LOOP.path, "line": 1, "condition": "1 +"}
    error = check_error(server.http.post("/sessions/import", json={"breakpoints": [point]}), 400)
    assert error["short"] == "invalid_condition"


# -- unknown names -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "body", "field", "nearest"),
    [
        ("/sessions", {"luanch": {}}, "luanch", "launch"),
        ("/sessions", {"launch": {"scirpt": "x"}}, "launch.scirpt", "script"),
        (
            "/sessions",
            {"breakpoints": [{"file": "x", "line": 1, "conditon": "x"}]},
            "breakpoints.0.conditon",
            "condition",
        ),
        ("/breakpoint-profiles", {"nam": "x", "breakpoints": []}, "nam", "name"),
        ("/sessions/import", {"config": {"timeoutMinutes": 1}}, "config.timeoutMinutes", "timeout"),
        ("/api/breakpoints", {"functoin": "x"}, "functoin", "function"),
        ("/api/holds/hold_0/decision", {"action": "skip", "fake_reslt": 1}, "fake_reslt", "fake_"),
    ],
)
def test_an_unknown_field_is_answered_with_those_that_there_are(
    server: Server, path: str, body: Any, field: str, nearest: str
) -> None:
    error = check_error(server.http.post(path, json=body), 400)
    details = error["details"]
    assert field in details["unknown"]
    meant = details["nearest"][field]
    assert meant.startswith(nearest)
    assert meant in details["valid"]
    assert any(
        f"did you mean {meant}?" in problem["message"] and "There are " in problem["message"]
        for problem in details["problems"]
    )


def test_an_unknown_field_like_no_other_is_answered_with_the_list(session: Session) -> None:
    answer = session.server.http.post(session.path("/evaluate"), json={"expression": "1", "zz": 1})
    error = check_error(answer, 400)
    assert error["details"]["nearest"] == {}
    assert error["message"].startswith("zz: there is no such field; there are expression, frame_id")


def test_a_misspelled_field_is_named_before_the_missing_one_that_it_was_meant_as(
    session: Session,
) -> None:
    body = {"expresion": "1"}
    error = check_error(session.server.http.post(session.path("/evaluate"), json=body), 400)
    assert error["message"].startswith("expresion: there is no such field; did you mean expression")
    assert error["details"]["field"] == "expresion"
    assert [each["field"] for each in error["details"]["problems"]] == ["expresion", "expression"]
    assert "Did you mean 'expression'?" in error["hint"]


def test_an_unknown_setting_is_answered_with_those_that_there_are(server: Server) -> None:
    error = check_error(server.http.patch("/config", json={"max_wiat": 1}), 400)
    assert "did you mean max_wait? There are idle_timeout_minutes, " in error["message"]


@pytest.mark.parametrize(
    ("path", "field", "valid"),
    [
        ("/output?type=foo", "type", "stdout"),
        ("/output?type=stdout,foo", "type", "stderr"),
        ("/events?types=foo", "types", "stopped"),
        ("/events?types=stopped,foo", "types", "started"),
        ("/status?include=foo", "include", "locals"),
        ("/sessions?status=foo", "status", "paused"),
        ("/api/events?types=foo", "types", "tool_result"),
        ("/api/calls?status=foo", "status", "success"),
        ("/api/calls?call_type=foo", "call_type", "proxy"),
    ],
)
def test_an_unknown_value_of_a_filter_is_answered_with_those_that_there_are(
    session: Session, path: str, field: str, valid: str
) -> None:
    is_global = path.startswith(("/api/", "/sessions"))
    answer = session.server.http.get(path if is_global else session.path(path))
    error = check_error(answer, 400)
    assert error["details"]["field"] == field
    assert "foo" in error["message"]
    assert valid in error["message"] + error["hint"]


def test_an_unknown_choice_in_a_body_is_answered_with_those_that_there_are(
    session: Session,
) -> None:
    body = {"filters": ["uncougt"]}
    answer = session.server.http.post(session.path("/exception-breakpoints"), json=body)
    assert check_error(answer, 400)["message"] == (
        "filters.0: it cannot be 'uncougt': did you mean uncaught? "
        "There are raised, uncaught, userUnhandled"
    )


# -- files that are gone -------------------------------------------------------------------------


def test_a_source_file_that_is_gone_is_404_in_every_route(session: Session, tmp_path: Path) -> None:
    script = tmp_path / "gone.py"
    script.write_text("def f(x):\n    return x\n\n\nf(1)\n")
    path = str(script)
    session.launch(path, breakpoints=[{"file": path, "line": 2}])
    script.unlink()
    at_any_time: list[tuple[str, str, Any]] = [
        ("GET", f"/source?path={path}", None),
        ("POST", "/breakpoints", {"file": path, "line": 2, "strict": True}),
        ("POST", "/breakpoints", [{"file": path, "line": 2, "strict": True}]),
        ("POST", "/hover", {"file": path, "line": 2, "column": 12}),
    ]
    at_a_stop: list[tuple[str, str, Any]] = [
        ("GET", "/source?frame_id=0", None),
        ("GET", "/source?frame_id=1", None),
        ("POST", "/hover", {"line": 2, "column": 12}),
    ]
    to_start: list[tuple[str, str, Any]] = [
        ("POST", "/restart", {}),
        ("POST", "/launch", {}),
        ("POST", "/launch", {"script": path}),
    ]
    http = session.server.http
    for method, route, body in at_any_time + at_a_stop:
        check_error(http.request(method, session.path(route), json=body), 404)
    stop = session.get("/status?include=source,stack")
    assert (stop["status"], stop["source"]) == ("paused", None)
    session.post("/terminate")
    for method, route, body in at_any_time + to_start:
        error = check_error(http.request(method, session.path(route), json=body), 404)
        assert path in error["message"]
    whole = {"launch": {"script": path}}
    check_error(http.post("/sessions", json=whole), 404)


# -- hints ---------------------------------------------------------------------------------------


def find_hint(session: Session, route: str, body: Any = None) -> tuple[str, list[str]]:
    error = check_error(session.server.http.post(session.path(route), json=body), 409)
    return error["hint"], error["details"]["possible"]


def test_what_was_launched_is_offered_to_be_restarted(session: Session) -> None:
    bring_to(session, "terminated")
    hint, possible = find_hint(session, "/continue")
    assert "POST /restart" in hint
    assert "restart" in possible


@pytest.mark.parametrize(
    ("method", "route", "hint"),
    [
        ("DELETE", "/watch/watch_9", "/watch"),
        ("DELETE", "/breakpoints/bp_9", "/breakpoints"),
    ],
)
def test_an_unknown_id_is_answered_with_where_the_ids_are(
    session: Session, method: str, route: str, hint: str
) -> None:
    error = check_error(session.server.http.request(method, session.path(route)), 404)
    assert f"GET the session's {hint}" in error["hint"]


# -- unknown ids ---------------------------------------------------------------------------------


def test_an_unknown_session_is_404_for_every_route(server: Server) -> None:
    document = server.get("/openapi.json")
    asked = 0
    for path, operations in document["paths"].items():
        if "{session_id}" not in path:
            continue
        concrete = path.replace("{session_id}", "nope").replace("{breakpoint_id}", "bp_1")
        for name in ("thread_id", "frame_id", "reference", "watch_id"):
            concrete = concrete.replace("{" + name + "}", "1")
        for method, operation in operations.items():
            body = _example(operation)
            answer = server.http.request(method, concrete, json=body)
            error = check_error(answer, 404)
            assert error["short"] == "session_not_found", (method, path)
            assert error["details"]["id"] == "nope"
            asked += 1
    assert asked > 40


def _example(operation: dict[str, Any]) -> Any:
    if "requestBody" not in operation:
        return None
    return {"wait": False}  # an unknown session is told before a bad body is


@pytest.fixture(scope="module")
def paused(server: Server) -> Iterator[Session]:
    with server.session() as session:
        bring_to(session, "paused")
        yield session


@pytest.mark.parametrize(
    ("method", "path", "body", "short"),
    [
        ("GET", "/breakpoints/bp_99", None, "breakpoint_not_found"),
        ("PATCH", "/breakpoints/bp_99", {"enabled": False}, "breakpoint_not_found"),
        ("DELETE", "/breakpoints/bp_99", None, "breakpoint_not_found"),
        ("POST", "/breakpoints", {"profile": "no such"}, "profile_not_found"),
        ("GET", "/frames/999/variables", None, "frame_not_found"),
        ("GET", "/frames/999/scopes", None, "frame_not_found"),
        ("GET", "/frames/-1/variables", None, "frame_not_found"),
        ("GET", "/frames/99999999999999999999/variables", None, "frame_not_found"),
        ("POST", "/evaluate", {"expression": "1", "frame_id": 999}, "frame_not_found"),
        ("GET", "/variables/987654321", None, "reference_not_found"),
        ("GET", "/variables/99999999999999999999999", None, "reference_not_found"),
        ("GET", "/scopes/987654321/variables", None, "reference_not_found"),
        ("GET", "/frames/0/variables/nope/children", None, "reference_not_found"),
        ("GET", "/threads/987654321/stacktrace", None, "thread_not_found"),
        ("POST", "/threads/987654321/continue", None, "thread_not_found"),
        ("POST", "/threads/987654321/step-over", None, "thread_not_found"),
        ("POST", "/step-over", {"thread_id": 987654321}, "thread_not_found"),
        ("GET", "/source?path=no/such.py", None, "source_not_found"),
        ("GET", "/source?path=%00", None, "source_not_found"),
        ("DELETE", "/watch/watch_99", None, "not_found"),
    ],
)
def test_an_unknown_id_of_any_kind_is_404(
    paused: Session, method: str, path: str, body: Any, short: str
) -> None:
    error = check_error(paused.server.http.request(method, paused.path(path), json=body), 404)
    assert error["short"] == short
    assert paused.get("/status")["status"] == "paused"


@pytest.mark.parametrize(
    ("method", "path", "short"),
    [
        ("GET", "/no/such/route", "not_found"),
        ("GET", "/breakpoint-profiles/nope", "profile_not_found"),
        ("DELETE", "/breakpoint-profiles/nope", "profile_not_found"),
        ("GET", "/api/holds/hold_0", "hold_not_found"),
        ("GET", "/sessions/%00", "session_not_found"),
        ("GET", "/sessions/%ff", "session_not_found"),
    ],
)
def test_what_is_not_there_is_404(server: Server, method: str, path: str, short: str) -> None:
    assert check_error(server.http.request(method, path), 404)["short"] == short


def test_a_method_that_a_route_does_not_have_is_405(server: Server) -> None:
    error = check_error(server.http.put("/sessions", json={}), 405)
    assert error["short"] == "method_not_allowed"
    assert error["details"]["allowed"] == ["GET", "POST"]
    answer = server.http.put("/api/v1/breakpoints/cbp_1", json={})
    assert check_error(answer, 405)["details"]["allowed"] == ["DELETE", "GET", "PATCH"]
    assert answer.headers["allow"] == "DELETE, GET, PATCH"
    assert "openapi.json" in error["hint"]


# -- wrong states --------------------------------------------------------------------------------


LIVE = ("running", "paused", "waiting_for_input")
OPERATIONS: dict[str, tuple[str, str, Any, tuple[str, ...]]] = {
    # name: method, path, body, the states in which it is possible
    "launch": ("POST", "/launch", {"script": LOOP.path}, ("created", "terminated", "failed")),
    "attach": ("POST", "/attach", {"port": 1}, ("created", "terminated", "failed")),
    "restart": ("POST", "/restart", None, (*LIVE, "terminated", "failed")),
    "relaunch": ("POST", "/relaunch", None, (*LIVE, "terminated", "failed")),
    "continue": ("POST", "/continue", None, ("paused",)),
    "step-over": ("POST", "/step-over", None, ("paused",)),
    "step-into": ("POST", "/step-into", None, ("paused",)),
    "step-out": ("POST", "/step-out", None, ("paused",)),
    "pause": ("POST", "/pause", None, ("running", "waiting_for_input")),
    "terminate": ("POST", "/terminate", None, LIVE),
    "detach": ("POST", "/detach", None, LIVE),
    "input": ("POST", "/input", {"input": "x\n"}, LIVE),
    "stdin": ("POST", "/stdin", {"input": "x\n"}, LIVE),
    "evaluate": ("POST", "/evaluate", {"expression": "1"}, ("paused",)),
    "completions": ("POST", "/completions", {"text": "x"}, ("paused",)),
    "hover": ("POST", "/hover", {"expression": "x"}, ("paused",)),
    "hover at a place": ("POST", "/hover", {"line": 1, "column": 1}, ("paused",)),
    "set": ("POST", "/variables/1/set", {"name": "x", "value": "1"}, ("paused",)),
    "stacktrace": ("GET", "/stacktrace", None, ("paused",)),
    "scopes": ("GET", "/frames/0/scopes", None, ("paused",)),
    "variables": ("GET", "/frames/0/variables", None, ("paused",)),
    "expand": ("GET", "/variables/1", None, ("paused",)),
    "expand in a frame": ("GET", "/frames/0/variables/1/children", None, ("paused",)),
    "source of a frame": ("GET", "/source?frame_id=0", None, ("paused",)),
    "threads": ("GET", "/threads", None, LIVE),
    "tasks": ("GET", "/tasks", None, LIVE),
    "stack of a thread": ("GET", "/threads/1/stacktrace", None, LIVE),
    "continue a thread": ("POST", "/threads/1/continue", None, ("paused",)),
    "pause a thread": ("POST", "/threads/1/pause", None, ("running", "waiting_for_input")),
    "step a thread": ("POST", "/threads/1/step-into", None, ("paused",)),
}
STATES = ("created", "running", "paused", "waiting_for_input", "terminated", "failed")


@pytest.fixture(scope="module", params=STATES)
def session_in_state(
    request: pytest.FixtureRequest, server: Server
) -> Iterator[tuple[str, Session]]:
    with server.session() as session:
        bring_to(session, request.param)
        yield request.param, session


@pytest.mark.parametrize("operation", OPERATIONS)
def test_what_the_state_does_not_allow_is_409_and_says_what_is_possible(
    session_in_state: tuple[str, Session], operation: str
) -> None:
    state, session = session_in_state
    method, path, body, possible = OPERATIONS[operation]
    if state in possible:
        return
    error = check_error(session.server.http.request(method, session.path(path), json=body), 409)
    assert error["short"] == "wrong_state"
    assert error["details"]["state"] == state
    allowed = error["details"]["possible"]
    assert "delete" in allowed
    # What it calls possible is what this table calls possible.
    named = [name for name in allowed if name in OPERATIONS]
    assert named
    assert all(state in OPERATIONS[name][3] for name in named)
    assert session.get("/status")["status"] == state


# -- launching what cannot be launched -----------------------------------------------------------


def test_a_syntax_error_at_a_restart_leaves_something_to_restart(
    session: Session, tmp_path: Path
) -> None:
    script = tmp_path / "changing.py"
    script.write_text("print('one')\n")
    assert session.launch(str(script))["status"] == "terminated"
    script.write_text("print('two'\n")
    error = check_error(session.server.http.post(session.path("/restart"), json={"wait": 20}), 400)
    assert error["short"] == "syntax_error"
    status = session.get("/status")
    assert (status["status"], status["reason"]) == ("terminated", "syntax_error")
    script.write_text("print('three')\n")
    assert session.post("/restart", {"wait": 20})["exit_code"] == 0
    assert session.output().endswith("three\n")


def test_code_with_a_syntax_error_says_where_too(session: Session) -> None:
    answer = session.server.http.post(session.path("/launch"), json={"code": "x = 1\ny ="})
    details = check_error(answer, 400)["details"]
    assert (details["line"], details["text"].strip()) == (2, "y =")


@pytest.mark.parametrize(
    ("launch", "short", "field"),
    [
        ({"script": "/no/such/script.py"}, "file_not_found", "script"),
        ({"script": "/no-such-script.py"}, "file_not_found", "script"),
        ({"script": "no-such-script.py", "cwd": "{tmp}"}, "file_not_found", "script"),
        ({"script": "x" * 10_000}, "file_not_found", "script"),
        ({"script": "{tmp}"}, "file_not_found", "script"),
        ({"script": LOOP.path, "cwd": "/no/such/directory"}, "file_not_found", "cwd"),
        ({"code": "1", "cwd": LOOP.path}, "file_not_found", "cwd"),
        ({"code": "1", "python": "/no/such/python"}, "interpreter_not_found", "python_path"),
        ({"code": "1", "python": "no-such-python"}, "interpreter_not_found", "python_path"),
        ({"code": "1", "python_path": "{tmp}"}, "interpreter_not_found", "python_path"),
        ({"code": "1", "python_path": LOOP.path}, "interpreter_not_found", "python_path"),
        ({"code": "1", "venv": "{tmp}"}, "interpreter_not_found", "venv"),
    ],
)
def test_what_is_missing_is_named_and_the_session_stays_created(
    session: Session, tmp_path: Path, launch: dict[str, str], short: str, field: str
) -> None:
    body = {key: value.replace("{tmp}", str(tmp_path)) for key, value in launch.items()}
    is_gone = field == "script" and body["script"] != str(tmp_path)
    status = 404 if is_gone else 400
    error = check_error(session.server.http.post(session.path("/launch"), json=body), status)
    assert (error["short"], error["details"]["field"]) == (short, field)
    assert session.get("/status")["status"] == "created"
    assert session.launch(LOOP)["status"] == "terminated"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_script_that_may_not_be_read_is_named(session: Session, tmp_path: Path) -> None:
    script = tmp_path / "secret.py"
    script.write_text("1")
    script.chmod(0)
    answer = session.server.http.post(session.path("/launch"), json={"script": str(script)})
    assert "cannot read" in check_error(answer, 400)["message"]


@pytest.mark.parametrize(
    ("body", "status", "short"),
    [
        ({"pid": 2**22 + 1}, 404, "process_not_found"),
        ({"port": 1}, 400, "attach_failed"),
        ({"host": "no such host", "port": 1}, 400, "attach_failed"),
    ],
)
def test_there_is_nothing_to_attach_to(
    session: Session, body: Any, status: int, short: str
) -> None:
    error = check_error(session.server.http.post(session.path("/attach"), json=body), status)
    assert error["short"] == short
    before = session.server.get("/health")["sessions"]
    check_error(session.server.http.post("/sessions", json={"mode": "attach", **body}), status)
    assert session.server.get("/health")["sessions"] == before


# -- while it runs -------------------------------------------------------------------------------


def test_an_expression_that_raises_is_the_expressions_fault(session: Session) -> None:
    bring_to(session, "paused")
    body = {"expression": "no_such_name"}
    error = check_error(session.server.http.post(session.path("/evaluate"), json=body), 400)
    assert error["short"] == "evaluation_error"
    assert "NameError" in error["message"] or "NameError" in json.dumps(error["details"])


def test_a_misspelled_option_in_a_query_is_refused_with_the_nearest(session: Session) -> None:
    error = session.get("/events?type=stopped&wiat=1", expect=400)["error"]
    assert error["details"]["nearest"] == {"type": "types", "wiat": "wait"}
    assert "since" in error["details"]["valid"]
