"""Children that nobody asked to debug: told, left alone, and as they are without a debugger."""

from __future__ import annotations

from children import FAMILY, WAYS, plainly, told, without_pids
from harness import Session


def test_children_run_as_without_a_debugger_and_never_stop(session: Session, python: str) -> None:
    session.break_at(FAMILY, "work", "end")
    session.post("/exception-breakpoints", {"filters": ["raised"], "types": ["Stumble"]})

    stop = session.launch(FAMILY, python=python, args=WAYS, wait=60)

    assert (stop["status"], stop["location"]["line"]) == ("paused", FAMILY.line("end"))
    end = session.resume()
    stdout, stderr, code = plainly(python, *WAYS)
    assert (session.output(), end["exit_code"]) == (stdout, code)
    assert without_pids(session.output("stderr")) == without_pids(stderr)
    kinds = [each["how"] for each in told(session)]
    assert {"exec", "spawn", "fork"} == set(kinds)
    assert len(kinds) >= len(WAYS)


def test_each_child_is_told_once_with_what_it_runs(session: Session) -> None:
    end = session.launch(FAMILY, args=["popen", "fork_exits"])

    assert end["status"] == "terminated"
    popen, fork = told(session)
    assert popen["command"][1:] == [FAMILY.path, "child", "a b", ""]
    assert (popen["debuggable"], fork["debuggable"]) == (False, False)
    assert "debug_subprocesses" in popen["message"]
    listed = session.get("")["subprocesses"]
    assert [each["pid"] for each in listed] == [popen["pid"], fork["pid"]]
    assert session.get("")["children"] == []


def test_a_function_that_was_held_may_fork_and_is_stepped_on(session: Session, python: str) -> None:
    session.break_at(FAMILY, "fork")
    stop = session.launch(FAMILY, python=python, args=["fork_returns"])
    assert stop["location"]["line"] == FAMILY.line("fork")

    step = session.post("/step-over", {"wait": 20})

    assert (step["reason"], step["location"]["function"]) == ("step", "fork_returns")
    assert int(session.evaluate("pid")) > 0
    session.break_at(FAMILY, "end")
    assert session.resume()["location"]["line"] == FAMILY.line("end")
    assert session.resume()["exit_code"] == 0
    assert session.output() == "fork_returns 4\nend\n"
