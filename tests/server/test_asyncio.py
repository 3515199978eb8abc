"""asyncio: a stop in a coroutine is a stop like any other, and the other tasks can be seen."""

from __future__ import annotations

from typing import Any

from harness import Program, Session

ASYNCIO_TASKS = Program("asyncio_tasks.py")


def list_tasks_by_name(session: Session) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in session.get("/tasks")["tasks"]}


def check_waiting(tasks: dict[str, dict[str, Any]]) -> None:
    def waits(name: str) -> tuple[str, int, dict[str, Any]]:
        task = tasks[name]
        assert task["location"]["file"] == ASYNCIO_TASKS.path
        return task["coroutine"], task["location"]["line"], task["waiting_for"]

    coroutine, line, why = waits("sleeping")
    assert (coroutine, line, why["call"]) == (
        "sleeper",
        ASYNCIO_TASKS.line("sleep"),
        "asyncio.sleep",
    )
    coroutine, line, why = waits("waits for a task")
    assert (coroutine, line) == ("waits_for", ASYNCIO_TASKS.line("task"))
    assert (why["kind"], why["task"]) == ("task", "sleeping")
    coroutine, line, why = waits("waits for a lock")
    assert (coroutine, line, why["call"]) == (
        "locked",
        ASYNCIO_TASKS.line("lock"),
        "asyncio.Lock.acquire",
    )
    coroutine, line, why = waits("waits for a queue")
    assert (coroutine, line, why["call"]) == (
        "gets",
        ASYNCIO_TASKS.line("queue"),
        "asyncio.Queue.get",
    )
    coroutine, line, why = waits("waits for several")
    assert (coroutine, line, why["kind"]) == ("gathers", ASYNCIO_TASKS.line("gather"), "task")
    assert set(why["task"].split(", ")) == {"sleeping", "other"}


def test_a_stop_in_a_coroutine_shows_its_stack_its_locals_and_the_tasks(
    session: Session, python: str
) -> None:
    session.break_at(ASYNCIO_TASKS, "add")
    stop = session.launch(ASYNCIO_TASKS, python=python)
    assert stop["location"] == {
        "file": ASYNCIO_TASKS.path,
        "line": ASYNCIO_TASKS.line("add"),
        "function": "adds",
    }
    assert {v["name"]: v["value"] for v in stop["locals"]} == {"a": "2", "b": "3"}
    names = [each["name"] for each in session.get("/stacktrace")["frames"]]
    assert names[:2] == ["adds", "main"]
    assert names[-1] == "<module>"

    tasks = list_tasks_by_name(session)
    check_waiting(tasks)
    [current] = [each for each in tasks.values() if each["current"]]
    assert current["coroutine"] == "main"
    assert current["location"]["function"] == "adds"
    assert current["state"] == "running"

    step = session.post("/step-over")
    assert step["location"]["line"] == ASYNCIO_TASKS.line("return")
    step = session.post("/step-over")
    assert step["location"]["function"] == "main"
    end = session.resume()
    assert (end["status"], end["exit_code"]) == ("terminated", 0)


def test_tasks_are_seen_while_the_program_runs(session: Session, python: str) -> None:
    session.launch(ASYNCIO_TASKS, wait=0, python=python, args=["stay"])
    session.get("/output?wait=60")
    tasks = list_tasks_by_name(session)
    while ASYNCIO_TASKS.line("stay") not in [t["location"]["line"] for t in tasks.values()]:
        tasks = list_tasks_by_name(session)
    check_waiting(tasks)
    assert session.get("/status")["status"] == "running"


def test_a_program_without_asyncio_has_no_tasks(session: Session) -> None:
    session.post("/launch", {"code": "x = 1\ny = 2\n", "stop_on_entry": True, "wait": 60})
    assert session.get("/tasks") == {"tasks": [], "total": 0}
