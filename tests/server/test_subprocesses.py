"""Children that nobody asked to debug: told, left alone, and as they are without a debugger."""

from __future__ import annotations

import pytest

from child_processes import CHILD_STARTER, WAYS, list_spawn_events, mask_pids, run_undebugged
from harness import Session


@pytest.mark.slow
def test_children_run_as_without_a_debugger_and_never_stop(session: Session, python: str) -> None:
    session.break_at(CHILD_STARTER, "work", "end")
    session.post("/exception-breakpoints", {"filters": ["raised"], "types": ["Stumble"]})

    stop = session.launch(CHILD_STARTER, python=python, args=WAYS, wait=60)

    assert (stop["status"], stop["location"]["line"]) == ("paused", CHILD_STARTER.line("end"))
    end = session.resume()
    stdout, stderr, code = run_undebugged(python, *WAYS)
    assert (session.output(), end["exit_code"]) == (stdout, code)
    assert mask_pids(session.output("stderr")) == mask_pids(stderr)
    kinds = [each["how"] for each in list_spawn_events(session)]
    assert {"exec", "spawn", "fork"} == set(kinds)
    assert len(kinds) >= len(WAYS)


def test_each_child_is_reported_once_with_what_it_runs(session: Session) -> None:
    end = session.launch(CHILD_STARTER, args=["popen", "fork_exits"])

    assert end["status"] == "terminated"
    popen, fork = list_spawn_events(session)
    assert popen["command"][1:] == [CHILD_STARTER.path, "child", "a b", ""]
    assert (popen["debuggable"], fork["debuggable"]) == (False, False)
    assert "debug_subprocesses" in popen["message"]
    listed = session.get("")["subprocesses"]
    assert [each["pid"] for each in listed] == [popen["pid"], fork["pid"]]
    assert session.get("")["children"] == []


def test_a_function_that_was_held_may_fork_and_is_stepped_on(session: Session, python: str) -> None:
    session.break_at(CHILD_STARTER, "fork")
    stop = session.launch(CHILD_STARTER, python=python, args=["fork_returns"])
    assert stop["location"]["line"] == CHILD_STARTER.line("fork")

    step = session.post("/step-over", {"wait": 60})

    assert (step["reason"], step["location"]["function"]) == ("step", "fork_returns")
    assert int(session.evaluate("pid")) > 0
    session.break_at(CHILD_STARTER, "end")
    assert session.resume()["location"]["line"] == CHILD_STARTER.line("end")
    assert session.resume()["exit_code"] == 0
    assert session.output() == "fork_returns 4\nend\n"
