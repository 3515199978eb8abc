"""What a program pays for and sees of being traced: nothing, where nothing could stop it."""

from __future__ import annotations

import ast
import re
import subprocess
from typing import Any

import pytest

from harness import Program, Session

TRACE_REPORT = Program("trace_report.py")
LOOPS = Program("untraced_loops.py")
RUNAWAY = Program("runaway_recursion.py")
GENERATOR = Program("generator_exceptions.py")

NOTHING = [[False, False]] * 3
# Of the main thread, a generator and a thread: whether each is traced, and whether its frame is.
THREADS_ONLY = [[True, False]] * 3


def uses_settrace(python: str) -> bool:
    ask = [python, "-c", "import sys; print(hasattr(sys, 'monitoring'))"]
    return subprocess.run(ask, capture_output=True, text=True, check=True).stdout == "False\n"


def reports(session: Session) -> list[Any]:
    return [ast.literal_eval(line) for line in session.output().splitlines()]


def test_nothing_is_traced_while_nothing_could_stop(session: Session, python: str) -> None:
    session.post("/exception-breakpoints", {"filters": ["uncaught"]})

    end = session.launch(TRACE_REPORT, python=python)

    assert end["status"] == "terminated"
    assert reports(session) == [NOTHING, NOTHING]


def test_with_breakpoints_only_frames_that_hold_one_are_traced(
    session: Session, python: str
) -> None:
    session.break_at(TRACE_REPORT, "stop", "never")

    assert session.launch(TRACE_REPORT, python=python)["status"] == "paused"
    assert session.resume()["status"] == "terminated"

    expected = THREADS_ONLY if uses_settrace(python) else NOTHING
    assert reports(session) == [expected, expected]


def test_tracing_ends_with_the_last_breakpoint(session: Session, python: str) -> None:
    [breakpoint_id] = session.break_at(TRACE_REPORT, "stop")
    assert session.launch(TRACE_REPORT, python=python)["status"] == "paused"
    assert session.post("/step-over")["status"] == "paused"

    session.delete(f"/breakpoints/{breakpoint_id}")
    assert session.resume()["status"] == "terminated"

    assert reports(session)[1] == NOTHING


@pytest.mark.parametrize("marker", ["in_main", "in_thread"])
def test_a_loop_that_was_not_traced_stops_for_a_pause_and_for_a_breakpoint(
    session: Session, python: str, marker: str
) -> None:
    """Neither loop calls anything that could notice."""
    session.launch(LOOPS, python=python, wait=0)
    assert session.post("/pause", {"wait": 60})["status"] == "paused"
    assert session.resume(wait=0)["status"] == "running"

    session.break_at(LOOPS, marker)
    stop = session.get("/status?wait=60")

    assert (stop["status"], stop["reason"]) == ("paused", "breakpoint")
    assert stop["location"]["line"] == LOOPS.line(marker)
    # A thread of the two that is not at the breakpoint waits as well.
    assert {each["status"] for each in session.get("/threads")["threads"]} == {"paused"}


# -- runaway recursion ----------------------------------------------------------------------------


def recursion_reports(output: str) -> list[str]:
    """Tracebacks and depths; those depend on how many frames are below the program."""
    return re.sub(r"repeated \d+ more|frames \d+", "(depth)", output).splitlines()


def plain_output(python: str, program: Program) -> str:
    done = subprocess.run([python, program.path], capture_output=True, text=True, check=True)
    return done.stdout


def depths(output: str) -> list[int]:
    return [int(depth) for depth in re.findall(r"frames (\d+)", output)]


def test_breakpoints_stop_after_a_caught_recursion_error(session: Session, python: str) -> None:
    session.break_at(RUNAWAY, "after")

    stops = []
    stop = session.launch(RUNAWAY, python=python)
    while stop["status"] == "paused":
        stops.append((stop["location"]["line"], session.locals()["value"]["value"]))
        stop = session.resume()

    output = session.output()
    assert [line for line, _ in stops] == [RUNAWAY.line("after")] * 3
    assert [value for _, value in stops] == [str(depth) for depth in depths(output)]
    assert recursion_reports(output) == recursion_reports(plain_output(python, RUNAWAY))
    assert session.output("stderr") == ""


def test_a_debugger_takes_no_depth_from_the_program(session: Session, python: str) -> None:
    """A breakpoint in the function that recurses, which never stops."""
    untraced = session.launch(RUNAWAY, python=python)
    assert untraced["status"] == "terminated"
    before = depths(session.output())

    session.break_at(RUNAWAY, "descend", condition="depth < 0")
    session.post("/restart", {"wait": 60})

    after = depths(session.output())[-3:]
    assert all(0 <= was - now <= 1 for was, now in zip(before, after, strict=True)), (before, after)
    assert session.output("stderr") == ""


def test_a_breakpoint_near_the_recursion_limit_stops(session: Session, python: str) -> None:
    session.break_at(RUNAWAY, "descend", condition="depth == 980")

    stop = session.launch(RUNAWAY, python=python)

    assert (stop["status"], stop["location"]["line"]) == ("paused", RUNAWAY.line("descend"))
    assert session.evaluate("depth + len(str(DEEPEST)) * 0") == "980"


def test_a_filter_stops_for_a_recursion_error_in_the_programs_frame(
    session: Session, python: str
) -> None:
    session.post("/exception-breakpoints", {"filters": ["raised"]})

    stop = session.launch(RUNAWAY, python=python)

    assert (stop["reason"], stop["exception"]["type"]) == ("exception", "RecursionError")
    assert (stop["location"]["file"], stop["location"]["function"]) == (RUNAWAY.path, "descend")
    stops = 0
    while stop["status"] == "paused":
        stops += 1
        stop = session.resume()
    assert stops == 3
    assert recursion_reports(session.output()) == recursion_reports(plain_output(python, RUNAWAY))


# -- exceptions -----------------------------------------------------------------------------------


def test_a_generator_does_not_see_an_old_exception(session: Session, python: str) -> None:
    session.break_at(GENERATOR, "yield", condition="False")
    session.break_at(GENERATOR, "after")

    assert session.launch(GENERATOR, python=python)["status"] == "paused"
    assert session.resume()["status"] == "terminated"

    assert session.output() == "<class 'ValueError'>\nNone\n"
