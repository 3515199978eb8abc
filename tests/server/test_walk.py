"""The shortest useful story: break, look, step, go on, on every interpreter there is."""

from __future__ import annotations

from harness import Program, Session

LOOP = Program("loop.py")


def test_a_program_is_debugged_from_launch_to_end(session: Session, python: str) -> None:
    [point] = session.break_at(LOOP, "add", condition="number == 3")

    stop = session.launch(LOOP, python=python)

    assert (stop["status"], stop["reason"]) == ("paused", "breakpoint")
    assert stop["breakpoint_id"] == point
    assert stop["location"]["line"] == LOOP.line("add")
    assert stop["source"]["text"].strip() == "result = total + number  # @add"
    assert {v["name"]: v["value"] for v in stop["locals"]} == {"total": "3", "number": "3"}

    step = session.post("/step-over")
    assert (step["status"], step["reason"]) == ("paused", "step")
    assert step["location"]["line"] == LOOP.line("return")
    assert session.evaluate("result * 2") == "12"

    end = session.resume()
    assert (end["status"], end["exit_code"]) == ("terminated", 0)
    assert session.output() == "total 45\ndone\n"
