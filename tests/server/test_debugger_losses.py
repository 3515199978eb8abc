"""A program that takes the debugger or its tracing away goes on, and the session says so."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from child_processes import PATIENCE, wait_for_children
from harness import Program, Server, Session
from interpreters import find_interpreters

LOSSES = Program("debugger_losses.py")


def has_monitoring(python: str) -> bool:
    """Whether pydevd uses `sys.monitoring` there, which `sys.settrace` does not concern."""
    versions = {each.path: each.version for each in find_interpreters()}
    return versions[python] >= (3, 12)


def launch(session: Session, way: str, **options: Any) -> dict[str, Any]:
    answer: dict[str, Any] = session.launch(LOSSES, args=[way], **options)
    return answer


def list_events(session: Session, *kinds: str) -> list[dict[str, Any]]:
    events = session.get("/events?limit=1000")["events"]
    return [event for event in events if event["event"] in kinds]


# -- tracing --------------------------------------------------------------------------------------


def test_tracing_that_the_program_switches_off_is_told_and_warned_of(
    session: Session, python: str
) -> None:
    session.break_at(LOSSES, "settrace", "reach", "end")
    stop = launch(session, "settrace_none", python=python)
    assert stop["location"]["line"] == LOSSES.line("settrace")

    end = session.resume()

    if has_monitoring(python):  # it cannot be switched off in this way
        assert end["location"]["line"] == LOSSES.line("reach")
        assert list_events(session, "tracing_lost") == []
        return
    assert (end["status"], end["exit_code"]) == ("terminated", 0), end
    [lost] = list_events(session, "tracing_lost")
    assert (lost["how"], lost["thread_id"]) == ("sys.settrace", stop["thread_id"])
    assert lost["location"]["line"] == LOSSES.line("settrace")
    assert "restart" in lost["message"]
    assert session.output() == "end\n"


def test_the_warning_lasts_while_the_tracing_is_away(session: Session) -> None:
    oldest = find_interpreters()[0].path
    if has_monitoring(oldest):
        pytest.skip("needs a Python before 3.12")
    code = "import sys, time\nsys.settrace(None)\nprint('off', flush=True)\ninput()\n"
    session.post("/breakpoints", {"function": "time.sleep"})
    session.post("/exception-breakpoints", {"filters": ["raised"], "types": []})
    session.post("/launch", {"code": code, "python": oldest, "wait": 60})

    [warning] = session.get("/status")["warnings"]

    assert "sys.settrace" in warning
    session.post("/input", {"input": "\n"})
    assert "warnings" not in session.get("/status?wait=60")


def test_tracing_that_is_given_back_stops_again(session: Session, python: str) -> None:
    session.break_at(LOSSES, "reach")

    stop = launch(session, "settrace_back", python=python)

    assert (stop["status"], session.evaluate("what")) == ("paused", "'seen'")
    assert "warnings" not in stop
    kinds = [event["event"] for event in list_events(session, "tracing_lost", "tracing_restored")]
    assert kinds == ([] if has_monitoring(python) else ["tracing_lost", "tracing_restored"])


def test_a_thread_is_traced_whose_ident_was_that_of_one_without_tracing(
    session: Session, python: str
) -> None:
    launch(session, "settrace_in_ended_thread", python=python)
    session.break_at(LOSSES, "reach")

    stop = session.post("/stdin", {"input": "\n", "wait": PATIENCE})

    assert (stop["status"], stop["reason"]) == ("paused", "breakpoint"), stop
    assert session.evaluate("what") == "'in the next thread'"


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="coverage takes nothing away from 3.12 on")
def test_tracing_that_coverage_takes_away_is_told(session: Session) -> None:
    session.break_at(LOSSES, "reach", "end")

    end = launch(session, "coverage")

    assert end["status"] == "terminated", end
    [lost] = list_events(session, "tracing_lost")
    assert "coverage" in lost["location"]["file"]


def test_tools_of_the_debugger_that_the_program_frees_are_told(session: Session) -> None:
    python = find_interpreters()[-1].path
    if not has_monitoring(python):
        pytest.skip("needs a Python from 3.12 on")
    session.break_at(LOSSES, "reach")

    end = launch(session, "free_tools", python=python)

    assert (end["status"], end["exit_code"]) == ("terminated", 0)
    assert (session.output(), session.output("stderr")) == ("end\n", "")
    lost = list_events(session, "tracing_lost")
    assert {event["how"] for event in lost} == {"sys.monitoring.free_tool_id"}
    assert {event["thread_id"] for event in lost} == {None}


# -- the debugger ---------------------------------------------------------------------------------


def test_a_program_that_execs_another_says_that_its_debugger_is_gone(
    session: Session, python: str
) -> None:
    session.break_at(LOSSES, "reach")

    answer = launch(session, "exec_shell", python=python, wait=PATIENCE)

    assert answer["status"] == "running"  # the loss ended the wait
    [lost] = list_events(session, "debugger_disconnected")
    assert (lost["reason"], lost["command"][0]) == ("exec", "sh")
    assert answer["warnings"] == [lost["message"]]
    assert "debug_subprocesses" in lost["message"]
    session.post("/stdin", {"input": "\n"})
    end = session.get(f"/status?wait={PATIENCE}")
    assert (end["status"], end["exit_code"]) == ("terminated", 3)
    assert session.output() == "replaced\n"


def test_an_exec_that_fails_takes_nothing_away(session: Session) -> None:
    session.break_at(LOSSES, "reach")
    stop = launch(session, "exec_fails")
    assert (stop["status"], session.evaluate("what")) == ("paused", "'still here'")
    assert list_events(session, "debugger_disconnected") == []


def test_an_exec_of_python_is_followed_as_a_child(session: Session) -> None:
    session.break_at(LOSSES, "reach")

    answer = launch(session, "exec_python", debug_subprocesses=True, wait=PATIENCE)

    [lost] = list_events(session, "debugger_disconnected")
    assert "child session" in lost["message"]
    [child] = wait_for_children(session)
    assert child.get(f"/status?wait={PATIENCE}")["status"] == "paused"
    assert child.evaluate("what") == "'in the next program'"
    assert child.get()["pid"] == session.get()["pid"]
    assert answer["status"] == "running"
    child.resume(wait=0)
    end = session.get(f"/status?wait={PATIENCE}")
    while end["status"] == "running":  # a child that was held ended the wait
        end = session.get(f"/status?wait={PATIENCE}")
    assert end["exit_code"] == 4


@pytest.mark.slow
def test_a_program_that_closes_the_debuggers_connection_ends_the_wait_with_a_warning(
    server_with: Callable[..., Server],
) -> None:
    with server_with(end_after_debugger=0.05).session() as session:
        answer = launch(session, "close_all", wait=PATIENCE)

        session.get("/output?type=stdout&wait=60")  # the loss may be told before it prints
        assert (answer["status"], session.output()) == ("running", "alone\n")
        [warning] = answer["warnings"]
        [lost] = list_events(session, "debugger_disconnected")
        assert (lost["reason"], lost["message"]) == ("connection_lost", warning)
        assert "restart" in warning
        assert session.get("/status?wait=0.1")["warnings"] == [warning]
        assert session.post("/terminate")["status"] == "terminated"
