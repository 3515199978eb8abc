"""Stepping: each kind of step lands where a reader of the program would put a finger."""

from __future__ import annotations

from typing import Any

import pytest

from harness import Program, Session

STEPS = Program("steps.py")
HELPER = Program("steps_helper.py")
SIBLINGS = Program("sibling_calls.py")


def line(answer: dict[str, Any]) -> int:
    assert answer["status"] == "paused", answer
    return int(answer["location"]["line"])


def stop_at(session: Session, marker: str, **options: Any) -> None:
    session.break_at(STEPS, marker)
    assert line(session.launch(STEPS, **options)) == STEPS.line(marker)


def step_over(session: Session) -> dict[str, Any]:
    found: dict[str, Any] = session.post("/step-over")
    return found


def step_into(session: Session) -> dict[str, Any]:
    found: dict[str, Any] = session.post("/step-into")
    return found


def step_out(session: Session) -> dict[str, Any]:
    found: dict[str, Any] = session.post("/step-out")
    return found


def test_a_walk_through_a_program_over_into_and_out(session: Session, python: str) -> None:
    stop_at(session, "call", python=python)

    step = step_over(session)
    assert (step["reason"], line(step)) == ("step", STEPS.line("call_other_file"))
    assert [(each["name"], each["value"]) for each in step["returned"]] == [("double", "8")]

    step = step_into(session)
    assert step["location"] == {
        "file": HELPER.path,
        "line": HELPER.line("triple"),
        "function": "triple",
    }
    frames = session.get("/stacktrace")["frames"]
    assert [each["file"] for each in frames] == [HELPER.path, STEPS.path, STEPS.path]
    assert "value * 3" in session.get("/source?frame_id=0")["content"]
    assert "triple(a)" in session.get("/source?frame_id=1")["content"]

    step = step_out(session)
    assert line(step) == STEPS.line("call_other_file")
    assert [(each["name"], each["value"]) for each in step["returned"]] == [("triple", "24")]

    step = step_over(session)
    assert (line(step), step.get("returned")) == (STEPS.line("call_native"), None)
    step = step_into(session)
    assert line(step) == STEPS.line("comprehension")
    assert step["native_frame"] is True


def test_a_step_passes_each_breakpoint_on_its_way_once(session: Session, python: str) -> None:
    here = session.break_at(STEPS, "call", "call_other_file", "call_native")
    never = session.break_at(STEPS, "call_native", "comprehension", condition="a < 0")
    second = session.break_at(STEPS, "loop_body", hit_condition="== 2")
    stop = session.launch(STEPS, python=python)

    walk = []
    for _ in range(4):
        walk.append((line(stop), stop["reason"]))
        stop = step_over(session)

    assert walk == [
        (STEPS.line("call"), "breakpoint"),
        (STEPS.line("call_other_file"), "breakpoint"),
        (STEPS.line("call_native"), "breakpoint"),
        (STEPS.line("comprehension"), "step"),
    ]
    stop = session.resume()
    assert (line(stop), session.evaluate("n")) == (STEPS.line("loop_body"), "2")
    assert line(step_over(session)) == STEPS.line("loop")
    session.resume()
    hits = {each["id"]: each["hits"] for each in session.get("/breakpoints")["breakpoints"]}
    assert hits == {**dict.fromkeys(here, 1), **dict.fromkeys(never, 0), second[0]: 2}


def test_a_breakpoint_that_a_step_reached_is_not_hit_again_when_others_change(
    session: Session, python: str
) -> None:
    _first, reached = session.break_at(STEPS, "call_other_file", "call_native")
    session.launch(STEPS, python=python)
    session.post("/step-over")
    session.break_at(STEPS, "main_return")
    stop = session.resume()
    assert stop["location"]["line"] == STEPS.line("main_return")
    points = session.get("/breakpoints")["breakpoints"]
    assert {each["id"]: each["hits"] for each in points}[reached] == 1


def test_a_step_over_what_raises_goes_to_where_it_is_caught(session: Session, python: str) -> None:
    stop_at(session, "call_fails", python=python)
    step = step_over(session)
    assert line(step) == STEPS.line("except")
    assert "returned" not in step
    assert line(step_over(session)) == STEPS.line("handled")
    assert line(step_over(session)) == STEPS.line("loop")
    assert line(step_over(session)) == STEPS.line("loop_body")


def test_a_comprehension_is_one_step(session: Session, python: str) -> None:
    stop_at(session, "call_native", python=python)
    assert line(step_over(session)) == STEPS.line("comprehension")
    assert line(step_over(session)) == STEPS.line("try")
    assert session.evaluate("d") == "[3, 4]"


def test_steps_stay_in_a_generator_between_its_yields(session: Session, python: str) -> None:
    stop_at(session, "handled", python=python)
    assert line(step_over(session)) == STEPS.line("loop")
    assert line(step_into(session)) == STEPS.line("first")
    assert line(step_over(session)) == STEPS.line("second")
    assert session.get("/stacktrace")["frames"][0]["name"] == "numbers"
    step = step_out(session)
    assert (line(step), step["location"]["function"]) == (STEPS.line("loop"), "main")


def test_recursion_is_stepped_in_the_frame_one_is_in(session: Session, python: str) -> None:
    stop_at(session, "call_recursive", python=python)
    assert line(step_into(session)) == STEPS.line("test")
    assert line(step_over(session)) == STEPS.line("recurse")
    deeper = step_into(session)
    assert (line(deeper), session.evaluate("n")) == (STEPS.line("test"), "2")
    assert "native_frame" not in deeper
    assert line(step_over(session)) == STEPS.line("recurse")
    # The inner calls pass these lines as well: none of them stops a step over, or out.
    step = step_out(session)
    assert (line(step), session.evaluate("n")) == (STEPS.line("recurse"), "3")
    step = step_out(session)
    assert line(step) == STEPS.line("call_recursive")
    assert step["returned"][0]["value"] == "'bottom'"


def test_a_step_over_a_return_goes_to_the_caller(session: Session, python: str) -> None:
    """And into none of the calls that follow on the caller's line."""
    session.break_at(SIBLINGS, "first", "last", "failing")
    assert line(session.launch(SIBLINGS, python=python)) == SIBLINGS.line("first")
    assert line(step_over(session)) == SIBLINGS.line("first_return")
    step = step_over(session)
    assert (line(step), step["location"]["function"]) == (SIBLINGS.line("siblings"), "main")
    assert [(each["name"], each["value"]) for each in step["returned"]] == [("first", "1")]
    assert line(step_over(session)) == SIBLINGS.line("generator")

    assert line(session.resume()) == SIBLINGS.line("last")
    assert line(step_over(session)) == SIBLINGS.line("last") + 1
    assert line(step_over(session)) == SIBLINGS.line("generator")

    assert line(session.resume()) == SIBLINGS.line("failing")
    assert line(step_over(session)) == SIBLINGS.line("failing") + 1


def test_a_step_from_the_last_line_ends_the_program(session: Session, python: str) -> None:
    stop_at(session, "last", python=python)
    end = step_over(session)
    assert (end["status"], end["exit_code"]) == ("terminated", 0)


@pytest.mark.parametrize("step", ["/step-over", "/step-into", "/step-out"])
def test_a_step_is_for_a_paused_program(session: Session, step: str) -> None:
    refused = session.post(step, expect=409)
    assert refused["error"]["details"]["state"] == "created"
    session.launch(STEPS)
    refused = session.post(step, expect=409)
    assert refused["error"]["details"]["state"] == "terminated"
    assert "restart" in refused["error"]["details"]["possible"]
