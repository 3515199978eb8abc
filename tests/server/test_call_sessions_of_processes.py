"""Sessions of calls, of processes that end and servers that are killed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from harness import Server
from http_application import HttpApplication


def test_beginning_a_session_says_whom_one_speaks_to(server: Server) -> None:
    begun = server.post("/api/call/session", {})
    assert begun["server_pid"] == server.process.pid
    assert begun["version"]
    assert begun["session_id"].startswith("calls_")


def test_a_session_ends_with_its_process(server: Server) -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    app = HttpApplication(server, pid=process.pid)
    path = f"/sessions/{app.session_id}/events"
    since = server.get(path)["last_seq"]
    process.communicate(b"\n")
    [ended] = server.get(f"{path}?since={since}&wait=60")["events"]
    assert (ended["event"], ended["reason"]) == ("terminated", "process_ended")


def test_what_a_killed_server_knew_is_known_to_the_next(tmp_path: Path) -> None:
    first = Server(tmp_path / "data")
    waits = [sys.executable, "-c", "input()"]
    lives, goes = (subprocess.Popen(waits, stdin=subprocess.PIPE) for _ in range(2))
    living, gone = HttpApplication(first, pid=lives.pid), HttpApplication(first, pid=goes.pid)
    body = {"session_id": living.session_id, "name": "twin", "signature": "(a)"}
    first.post("/api/call/register", body)
    calls = {app: app.start("f", 1) for app in (living, gone)}
    living.call("g", result=3)
    first.get("/api/calls")  # what came before is in the database then
    first.close()  # it is killed
    goes.communicate(b"\n")
    second = Server(tmp_path / "data")
    try:
        living.server = gone.server = second
        states = [second.get(f"/sessions/{app.session_id}") for app in calls]
        assert [each["status"] for each in states] == ["running", "terminated"]
        assert [each["calls"] for each in states] == [2, 1]
        for call in calls.values():
            assert second.get(f"/api/calls/{call['call_id']}")["status"] == "lost"
        found = second.get(f"/api/functions?session={living.session_id}")["functions"]
        assert {each["name"] for each in found} == {"f", "g", "twin"}
        [shared] = [
            each for each in second.get("/api/functions")["functions"] if each["calls"] == 2
        ]
        assert shared["sessions"] == sorted(str(app.session_id) for app in calls)
        assert living.complete(calls[living], 5) == {"status": "ok"}
        shown = second.get(f"/api/calls/{calls[living]['call_id']}")
        assert (shown["status"], shown["result"]["json"]) == ("success", 5)
        second.post("/api/breakpoints", {"function": "f"})
        held = living.start("f", 1, signature="(a)")
        assert second.get(f"/api/holds/{held['hold_id']}")["replacements"] == ["twin"]
        path = f"/sessions/{living.session_id}"
        since = second.get(path)["last_event"]
        lives.communicate(b"\n")
        second.get(f"{path}/events?since={since}&wait=60")
        assert second.get(path)["status"] == "terminated"
    finally:
        second.stop()


def test_an_application_that_has_ended_is_not_waited_for(server: Server) -> None:
    app = HttpApplication(server, name="over")
    path = f"/sessions/{app.session_id}/evaluate"
    hint = server.post(path, {"expression": "1"}, expect=409)["error"]["hint"]
    assert "let the call come" in hint
    server.post("/api/call/session/end", {"session_id": app.session_id})
    hint = server.post(path, {"expression": "1"}, expect=409)["error"]["hint"]
    assert "makes no more calls" in hint
