"""A launch that stops at a place or an exception, on every interpreter."""

from __future__ import annotations

from typing import Any

from harness import Program, Server, Session

LOOP = Program("loop.py")
ERROR_KINDS = Program("error_kinds.py")


def at(marker: str, program: Program = LOOP, **more: Any) -> dict[str, Any]:
    return {"file": program.path, "line": program.line(marker), **more}


# -- a session with its program -------------------------------------------------------------------


def test_one_request_leads_from_nothing_to_a_stop_with_locals(server: Server, python: str) -> None:
    launch = {"script": LOOP.path, "python": python}
    breakpoints = [at("add", condition="number == 3"), {"function": "loop.main", "enabled": False}]
    with server.session(launch=launch, breakpoints=breakpoints, wait=60) as session:
        stop = session.created
        assert (stop["status"], stop["reason"]) == ("paused", "breakpoint")
        assert stop["location"]["line"] == LOOP.line("add")
        assert [(each["name"], each["value"]) for each in stop["locals"]] == [
            ("total", "3"),
            ("number", "3"),
        ]
        assert stop["source"]["line"] == LOOP.line("add")
        first, second = stop["breakpoints_set"]
        assert stop["breakpoint_id"] == first["id"]
        assert (first["verified"], first["condition"]) == (True, "number == 3")
        assert (second["function"], second["enabled"]) == ("loop.main", False)
        assert stop["launch"]["script"] == LOOP.path
        assert session.resume()["status"] == "terminated"


def test_breakpoints_and_options_may_stand_in_the_launch(server: Server) -> None:
    launch = {
        "script": ERROR_KINDS.path,
        "args": ["crash"],
        "breakpoints": at("caught", ERROR_KINDS),
        "exception_filters": ["uncaught"],
        "wait": 60,
        "include": ["stack"],
    }
    with server.session(launch=launch, breakpoints=[at("end", ERROR_KINDS)]) as session:
        stop = session.created
        assert stop["location"]["line"] == ERROR_KINDS.line("caught")
        assert len(stop["stack"]) == 2
        assert "locals" not in stop
        assert stop["breakpoints"] == 2
        assert stop["exception_breakpoints"]["filters"] == ["uncaught"]
        session.delete("/breakpoints")
        crash = session.resume()
        assert (crash["reason"], crash["exception"]["type"]) == ("exception", "TroubleError")


def test_a_launch_takes_breakpoints_and_filters(session: Session) -> None:
    stop = session.launch(LOOP, breakpoints=[at("print")], exception_filters=["raised"])
    assert stop["location"]["line"] == LOOP.line("print")
    assert [each["hits"] for each in stop["breakpoints_set"]] == [1]
    assert session.get()["exception_breakpoints"]["filters"] == ["raised"]
