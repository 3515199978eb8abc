"""Waiting is the server's work: one request is one step, and asking again loses nothing."""

from __future__ import annotations

from typing import Any

import pytest

from harness import Program, Session
from local_server import LocalServer

STDIN_GATES = Program("stdin_gates.py")
LOOP = Program("loop.py")
SLEEPS = "import time\ntime.sleep(10)\nawake = True\ntime.sleep(60)\n"
WRONG = ["soon", "-1", "nan", "inf", "1e999", [1], {"seconds": 1}]
ROUTES = ["launch", "continue", "step-over", "step-into", "step-out", "pause", "restart"]


def waiting_at_gate(session: Session) -> dict[str, Any]:
    session.break_at(STDIN_GATES, "gate")
    asked: dict[str, Any] = session.launch(STDIN_GATES)
    assert asked["status"] == "waiting_for_input"
    return asked


def test_without_wait_a_continue_says_running_at_once(session: Session) -> None:
    session.break_at(LOOP, "add", condition="number == 3")
    session.launch(LOOP)
    answer = session.post("/continue")
    assert answer["status"] in ("running", "terminated")
    assert session.get("/status?wait=true")["status"] == "terminated"


def test_wait_is_a_number_or_true_in_body_or_query(session: Session) -> None:
    session.break_at(LOOP, "add")
    session.launch(LOOP, wait=True)
    for wait in (20, 20.5, "20", True, "true"):
        assert session.post("/continue", {"wait": wait})["status"] == "paused"
    for query in ("20", "20.5", "true"):
        assert session.post(f"/continue?wait={query}")["status"] == "paused"
    assert session.evaluate("number") == "8"


@pytest.mark.parametrize("route", ROUTES)
def test_a_wait_that_means_nothing_is_refused_before_anything_happens(
    session: Session, route: str
) -> None:
    session.break_at(LOOP, "add")
    if route != "launch":
        session.launch(LOOP)
    body: dict[str, Any] = {"script": LOOP.path} if route == "launch" else {}
    before = session.get("/status")["status"]
    for wrong in WRONG:
        refused = session.post(f"/{route}", {**body, "wait": wrong}, expect=400)
        assert "wait" in refused["error"]["details"]["field"]
        if isinstance(wrong, str):
            refused = session.post(f"/{route}?wait={wrong}", body, expect=400)
            assert refused["error"]["details"]["field"] == "wait"
    assert session.get("/status")["status"] == before


@pytest.mark.parametrize("path", ["/status", "/output", "/events"])
def test_reads_that_wait_refuse_nonsense_as_well(session: Session, path: str) -> None:
    assert session.get(f"{path}?wait=soon", expect=400)["error"]["details"]["field"] == "wait"


def test_when_time_is_up_it_runs_and_asking_again_loses_nothing(session: Session) -> None:
    asked = waiting_at_gate(session)
    assert asked["prompt"] == ""
    session.post("/input", {"input": "\n"})
    stop = session.get("/status?wait=20")
    assert (stop["status"], session.evaluate("number")) == ("paused", "0")

    session.post("/breakpoints", {"file": STDIN_GATES.path, "line": STDIN_GATES.line("call")})
    late = session.post("/continue", {"wait": 0.001})
    assert late["status"] in ("running", "waiting_for_input")
    # What happens between two requests is there for the second one.
    session.post("/input", {"input": "\n"})
    stop = session.get("/status?wait=20")
    assert (stop["reason"], stop["location"]["line"]) == ("breakpoint", STDIN_GATES.line("call"))
    assert session.get("/status?wait=20")["hold_id"] == stop["hold_id"]


def test_a_step_waits_by_itself_and_a_long_one_is_asked_after(
    server: LocalServer, session: Session
) -> None:
    session.post("/launch", {"code": SLEEPS, "stop_on_entry": True, "wait": 20})
    with server.settings(step_wait=5):
        assert session.post("/step-over")["location"]["line"] == 2
        late = server.begin("POST", session.path("/step-over"))
        server.turn(4.9)
        assert not late.is_there
        server.turn(0.1)
        assert late.read()["status"] == "running"
    asked = server.begin("GET", session.path("/status?wait=20&include=stack"))
    server.turn(4.9)
    assert not asked.is_there
    server.turn(0.1)
    stop = asked.read()
    assert (stop["reason"], stop["location"]["line"]) == ("step", 3)
    assert len(stop["stack"]) == 1


def test_an_answer_carries_what_it_was_asked_to_include(session: Session) -> None:
    session.break_at(LOOP, "add")
    stop = session.launch(LOOP)
    assert {"source", "locals"} <= set(stop)
    assert not {"stack", "output"} & set(stop)

    nothing = session.resume(include=[])
    assert not {"source", "locals", "stack", "output"} & set(nothing)
    assert nothing["location"]["line"] == LOOP.line("add")

    every = session.resume(include=["source", "locals", "stack", "output"])
    assert every["source"]["text"].strip().startswith("result = total")
    assert [each["name"] for each in every["locals"]] == ["total", "number"]
    assert [each["name"] for each in every["stack"]] == ["add", "main", "<module>"]
    assert every["output"] == []

    query = session.post("/continue?wait=20&include=stack,output")
    assert "locals" not in query
    assert query["stack"][0]["id"] == 0


def test_the_output_of_an_answer_is_what_was_written_since_the_last_stop(session: Session) -> None:
    code = "print('one')\nprint('two')\nprint('three')\n"
    session.post("/launch", {"code": code, "stop_on_entry": True, "wait": 20})
    for expected in ("one\n", "two\n"):
        step = session.post("/step-over", {"include": ["output"]})
        assert "".join(each["text"] for each in step["output"]) == expected
    end = session.resume(include=["output"])
    assert "".join(each["text"] for each in end["output"]) == "three\n"


def test_input_that_is_wanted_ends_a_wait(session: Session) -> None:
    asked = session.post("/launch", {"code": "input('Name: ')", "wait": True})
    assert (asked["status"], asked["prompt"]) == ("waiting_for_input", "Name: ")
    assert session.get("/status?wait=20")["status"] == "waiting_for_input"
