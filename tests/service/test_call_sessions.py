"""Sessions of calls, beside those of programs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness import Server
from http_application import HttpApplication
from local_server import LocalServer


def test_a_session_is_listed_with_its_kind(server: Server) -> None:
    app = HttpApplication(server, pid=os.getpid(), argv=["/code/shop.py", "-v"], python="3.12.1")
    app.call("f", 1)
    [listed] = [s for s in server.get("/sessions")["sessions"] if s["session_id"] == app.session_id]
    shown = server.get(f"/sessions/{app.session_id}")
    assert shown == listed
    assert (shown["kind"], shown["status"], shown["name"]) == ("calls", "running", "shop.py")
    assert (shown["pid"], shown["calls"], shown["python"]) == (os.getpid(), 1, "3.12.1")
    assert shown["holds"] == []


def test_who_names_no_session_shares_one(server: Server) -> None:
    app = HttpApplication(server)
    call = app.call("unnamed")
    assert server.get(f"/api/calls/{call}")["session_id"] == "calls_00000000"


@pytest.mark.parametrize(
    "body", [{"pid": "x"}, {"pid": -1}, {"argv": "x"}, {"argv": [1]}, {"name": 5}, []]
)
def test_a_bad_session_is_refused(server: Server, body: object) -> None:
    server.post("/api/call/session", body, expect=400)


def test_an_unknown_session_is_not_found(server: Server) -> None:
    for path, body in (
        ("/api/call/start", {"method_name": "f", "session_id": "calls_ffffffff"}),
        ("/api/call/register", {"name": "f", "session_id": "calls_ffffffff"}),
        ("/api/call/session/end", {"session_id": "calls_ffffffff"}),
    ):
        assert server.post(path, body, expect=404)["error_code"] == "session_not_found"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/status"),
        ("POST", "/continue"),
        ("POST", "/step-over"),
        ("GET", "/stacktrace"),
        ("GET", "/output"),
        ("GET", "/breakpoints"),
        ("POST", "/terminate"),
        ("GET", "/export"),
    ],
)
def test_what_only_programs_can_do_names_the_kind(server: Server, method: str, path: str) -> None:
    app = HttpApplication(server, name="no program")
    error = server.ask(method, f"/sessions/{app.session_id}{path}", {}, expect=409)
    assert error["error"]["details"]["kind"] == "calls"
    assert "delete" in error["error"]["details"]["possible"]


def test_events_are_waited_for(server: Server) -> None:
    app = HttpApplication(server, name="waited")
    path = f"/sessions/{app.session_id}/events"
    first = server.get(path)
    assert [event["event"] for event in first["events"]] == ["session_started"]
    body = {"session_id": app.session_id, "name": "f", "signature": "(a)"}
    server.post("/api/call/register", body)
    after = server.get(f"{path}?since={first['last_seq']}&wait=30")
    assert [(e["event"], e["name"]) for e in after["events"]] == [("function_registered", "f")]


def test_a_deleted_session_is_gone_with_its_calls(server: Server) -> None:
    app = HttpApplication(server, name="deleted")
    call = app.call("f", ["its value"])
    value = server.get(f"/api/calls/{call}")["args"][0]["cid"]
    server.delete(f"/sessions/{app.session_id}")
    server.get(f"/sessions/{app.session_id}", expect=404)
    server.get(f"/api/calls/{call}", expect=404)
    server.get(f"/api/calls?session={app.session_id}", expect=404)
    assert server.get(f"/api/cid/{value}/calls")["calls"] == []
    assert server.get(f"/api/cid/{value}/preview")["json"] == ["its value"]


def test_a_report_proves_that_its_application_lives(server: Server) -> None:
    """An application in a container says a pid that is somebody else's here, who may go."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    app = HttpApplication(server, pid=process.pid)
    path = f"/sessions/{app.session_id}"
    since = server.get(path)["last_event"]
    process.communicate(b"\n")
    server.get(f"{path}/events?since={since}&wait=30")
    app.call("f")
    assert server.get(path)["status"] == "running"


def test_of_sessions_that_are_over_only_so_many_are_shown(tmp_path: Path) -> None:
    running = LocalServer(tmp_path / "data")
    try:
        running.patch("/config", {"max_sessions": 2})
        apps = [HttpApplication(running, name=str(number)) for number in range(5)]
        call = apps[0].call("f")
        for app in apps:
            running.post("/api/call/session/end", {"session_id": app.session_id})
        newest = HttpApplication(running, name="newest")
        shown = [each["session_id"] for each in running.get("/sessions")["sessions"]]
        assert shown == [apps[3].session_id, apps[4].session_id, newest.session_id]
        assert running.get(f"/api/calls/{call}")["status"] == "success"
    finally:
        running.stop()


def test_after_a_restart_the_calls_are_there_and_the_application_goes_on(tmp_path: Path) -> None:
    first = LocalServer(tmp_path / "data")
    app = HttpApplication(first, pid=os.getpid(), name="survivor")
    done = app.call("f", 1, result=2)
    begun = app.start("g", 3)
    first.stop()
    second = LocalServer(tmp_path / "data")
    try:
        path = f"/sessions/{app.session_id}"
        shown = second.get(path)
        assert (shown["status"], shown["calls"]) == ("running", 2)
        assert second.get(f"/api/calls/{begun['call_id']}")["status"] == "lost"
        assert second.get(f"/api/calls/{done}")["result"]["json"] == 2
        assert second.get("/api/functions")["total"] == 2
        app.server = second
        assert app.complete(begun, 4) == {"status": "ok"}
        assert second.get(f"/api/calls/{begun['call_id']}")["status"] == "success"
        app.complete(begun, 4, expect=409)
        assert app.call("f", 5) > begun["call_id"]
        assert second.get(path)["status"] == "running"
        assert [call["method_name"] for call in second.get("/api/calls")["calls"]] == [
            *("f", "g", "f"),
        ]
    finally:
        second.stop()


def test_a_call_that_was_answered_is_kept_when_the_server_stops(tmp_path: Path) -> None:
    first = LocalServer(tmp_path / "data")
    app = HttpApplication(first)
    ids = [app.call("f", number, result=number) for number in range(50)]
    first.stop()
    second = LocalServer(tmp_path / "data")
    try:
        listed = second.get("/api/calls?limit=1000")["calls"]
        assert [call["call_id"] for call in listed] == ids[::-1]
        assert all(call["status"] == "success" for call in listed)
    finally:
        second.stop()
