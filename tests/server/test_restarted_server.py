"""What a server knows after another one was stopped or killed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from fork_server import run_holdfast
from harness import Server, Session
from session_states import LOOP


def kill(server: Server) -> None:
    server.process.kill()
    server.close()


def list_sessions(server: Server) -> dict[str, dict[str, Any]]:
    return {each["session_id"]: each for each in server.get("/sessions")["sessions"]}


# -- sessions ------------------------------------------------------------------------------------


@dataclass
class Restarted:
    """A server that had sessions of every sort, went, and came back."""

    server: Server
    paused: Session
    created: Session
    over: Session
    gone: list[str]
    project: Path
    events: list[Any]
    point: str


@pytest.fixture(scope="module", params=[Server.stop, kill], ids=["stopped", "killed"])
def restarted(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Restarted]:
    home = tmp_path_factory.mktemp("restarted")
    first = Server(home / "data")
    paused, created, over, deleted = (
        Session(first, first.post("/sessions", {"name": name})["session_id"])
        for name in ("paused", "created", "over", "deleted")
    )
    idle = Session(first, first.post("/sessions", {"timeout_minutes": 0.005})["session_id"])
    [point] = paused.break_at(LOOP, "add", condition="number == 3")
    paused.post("/watch", {"expression": "total"})
    paused.post("/exception-breakpoints", {"filters": ["uncaught"]})
    paused.launch(LOOP, args=["x"])
    program = psutil.Process(paused.get()["pid"])
    over.launch(LOOP)
    deleted.delete()
    idle.wait_for_events("expired")
    assert idle.get("/status")["reason"] == "timeout"
    with first.session(cwd=str(make_project(home))) as session:
        session.post("/breakpoints", {"file": "app.py", "line": 2, "condition": "x == 1"})
        session.post("/breakpoints", {"file": "app.py", "line": 3, "enabled": False})
        session.post("/breakpoints", {"function": "app.main"})
    events = over.get("/events")["events"]
    request.param(first)
    assert psutil.wait_procs([program], timeout=60)[1] == []

    second = Server(home / "data")
    for session in (paused, created, over):
        session.server = second
    gone = [deleted.id, idle.id]
    yield Restarted(second, paused, created, over, gone, home / "project", events, point)
    second.stop()


def make_project(parent: Path) -> Path:
    folder = parent / "project"
    folder.mkdir()
    (folder / "app.py").write_text("x = 1\ny = 2\nz = 3\n")
    return folder


def test_a_session_can_be_run_again_after_the_server_is_gone(restarted: Restarted) -> None:
    again = restarted.paused
    found = list_sessions(restarted.server)[again.id]
    assert (found["status"], found["reason"]) == ("terminated", "server_stopped")
    assert (found["name"], found["recoverable"]) == ("paused", True)
    kept = again.get("/breakpoints")
    [point] = kept["breakpoints"]
    assert (point["id"], point["condition"]) == (restarted.point, "number == 3")
    assert point["verified"] is True
    assert kept["exception_breakpoints"]["filters"] == ["uncaught"]
    assert [each["expression"] for each in again.get()["watches"]] == ["total"]
    assert again.get()["launch"]["args"] == ["x"]

    stop = again.post("/relaunch", {"wait": 60})
    assert (stop["status"], stop["reason"]) == ("paused", "breakpoint")
    assert stop["location"]["line"] == LOOP.line("add")
    assert again.evaluate("number") == "3"
    assert list_sessions(restarted.server)[again.id].get("recoverable") is not True


def test_the_command_lists_those_of_earlier_servers_if_it_is_asked_for(
    restarted: Restarted,
) -> None:
    env = {**os.environ, "HOLDFAST_SERVER_URL": restarted.server.url}
    plain, full = (
        {one["session_id"] for one in json.loads(ran.stdout)["sessions"]}
        for ran in (
            run_holdfast("sessions", "--json", env=env),
            run_holdfast("sessions", "--json", "--all", env=env),
        )
    )
    listed = list_sessions(restarted.server)
    assert full == {*listed}
    assert full - plain == {name for name, one in listed.items() if one.get("recoverable")} != set()


def test_sessions_that_were_over_or_not_begun_come_back_as_they_were(restarted: Restarted) -> None:
    found = list_sessions(restarted.server)
    assert found[restarted.created.id]["status"] == "created"
    over = found[restarted.over.id]
    assert (over["status"], over["reason"]) == ("terminated", "target_exited")
    assert (over["exit_code"], over["recoverable"]) == (0, True)


def test_sessions_that_were_deleted_or_timed_out_do_not_come_back(restarted: Restarted) -> None:
    assert not set(restarted.gone) & set(list_sessions(restarted.server))


def test_the_story_of_a_session_goes_on_after_a_restart(restarted: Restarted) -> None:
    over, before = restarted.over, restarted.events
    assert over.get("/events")["events"][: len(before)] == before
    over.post("/relaunch", {"wait": 60})
    numbers = [each["seq"] for each in over.get("/events")["events"]]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) > len(before)


def test_a_new_session_of_the_same_project_has_its_breakpoints(restarted: Restarted) -> None:
    project = restarted.project
    with restarted.server.session(cwd=str(project)) as session:
        found = session.get("/breakpoints")["breakpoints"]
        assert [each.get("line") for each in found] == [2, 3, None]
        assert [each["enabled"] for each in found] == [True, False, True]
        assert found[0]["condition"] == "x == 1"
        assert found[0]["file"] == str(project / "app.py")
        assert found[2]["function"] == "app.main"
        stop = session.launch("app.py")
        assert (stop["status"], stop["location"]["line"]) == ("paused", 2)
    with restarted.server.session(cwd=str(project.parent)) as session:
        assert session.get("/breakpoints")["total"] == 0


# -- the breakpoints of a project ----------------------------------------------------------------


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path)
