"""Waiting is the server's work: one request is one step, and asking again loses nothing."""

from __future__ import annotations

from typing import Any

import pytest

from harness import Program, Server, Session

STDIN_GATES = Program("stdin_gates.py")
LOOP = Program("loop.py")
SLEEPS = "import time\ntime.sleep(0.4)\nawake = True\ntime.sleep(60)\n"
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


def test_a_step_waits_by_itself_and_a_long_one_is_asked_after(session: Session) -> None:
    session.post("/launch", {"code": SLEEPS, "stop_on_entry": True, "wait": 20})
    assert session.post("/step-over")["location"]["line"] == 2
    late = session.post("/step-over", {"wait": 0.01})
    assert late["status"] == "running"
    stop = session.get("/status?wait=20&include=stack")
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


def test_a_paused_answer_always_knows_where_and_can_be_looked_into(server: Server) -> None:
    """Polling as fast as it goes, from a breakpoint on the very first line on."""
    seen = []
    with server.session() as session:
        code = "".join(f"x = {n}\n" for n in range(60))
        with_points = "import sys\n" + code
        session.post("/launch", {"code": with_points, "stop_on_entry": True})
        while (now := session.get("/status"))["status"] != "paused":
            assert now["status"] in ("launching", "running")
        for _ in range(50):
            seen.append(now["location"]["line"])
            top = session.get("/stacktrace")["frames"][0]
            assert top["line"] == now["location"]["line"]
            assert session.post("/step-over", {"wait": 0})["status"] == "running"
            while (now := session.get("/status"))["status"] != "paused":
                assert now["status"] == "running"
    assert seen == list(range(1, 51))


def test_a_very_fast_breakpoint_is_there_before_the_answer(session: Session, python: str) -> None:
    session.break_at(LOOP, "define")
    stop = session.launch(LOOP, python=python)
    assert stop["location"]["line"] == LOOP.line("define")
    assert [each["line"] for each in session.get("/stacktrace")["frames"]] == [LOOP.line("define")]
    assert session.evaluate("__name__") == "'__main__'"


def test_fifty_continues_without_waiting_lose_no_stop(session: Session) -> None:
    session.post("/launch", {"script": LOOP.path, "stop_on_entry": True, "wait": 20})
    session.break_at(LOOP, "add", "return", "call")
    stops = []
    for _ in range(100):
        session.post("/continue", {"wait": 0})
        while (now := session.get("/status"))["status"] == "running":
            pass
        if now["status"] != "paused":
            break
        stops.append(now["location"]["line"])
        assert session.get("/frames/0/variables")["variables"]
    assert now["status"] == "terminated"
    assert stops == [LOOP.line("call"), LOOP.line("add"), LOOP.line("return")] * 10


# -- pause ----------------------------------------------------------------------------------------


def test_a_busy_program_is_paused_where_it_is(session: Session, python: str) -> None:
    code = "print('go', flush=True)\nn = 0\nwhile True:\n    n += 1\n"
    session.post("/launch", {"code": code, "python": python})
    session.get("/output?wait=20")
    stop = session.post("/pause")
    assert (stop["status"], stop["reason"]) == ("paused", "pause")
    assert stop["location"]["line"] in (2, 3, 4)
    session.post("/continue")
    assert session.get("/status")["status"] == "running"
    assert session.post("/pause", {"wait": 20})["status"] == "paused"


def test_a_pause_during_a_sleep_is_pending_and_takes_effect_later(session: Session) -> None:
    code = "import time\nprint('zzz', flush=True)\ntime.sleep(1)\nawake = True\nawake = 2\n"
    session.post("/launch", {"code": code})
    session.get("/output?wait=20")
    answer = session.post("/pause", {"wait": 0.1})
    assert (answer["status"], answer["pause_pending"]) == ("running", True)
    stop = session.get("/status?wait=20")
    assert (stop["status"], stop["reason"], stop["location"]["line"]) == ("paused", "pause", 4)
