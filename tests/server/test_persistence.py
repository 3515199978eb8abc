"""What outlives the server: sessions to run again, and the breakpoints of a project."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from fork_server import run_holdfast
from harness import Server, Session
from session_states import LOOP, bring_to

Start = Callable[[], Server]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a server on the same data each time; the one before must be over."""
    servers: list[Server] = []

    def start_server() -> Server:
        servers.append(Server(tmp_path / "data"))
        return servers[-1]

    yield start_server
    for server in servers:
        server.stop()


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
    assert psutil.wait_procs([program], timeout=20)[1] == []

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

    stop = again.post("/relaunch", {"wait": 20})
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
    over.post("/relaunch", {"wait": 20})
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


def places(server: Server, project: Path | str) -> list[tuple[int, str | None]]:
    """The breakpoints that a new session of the project begins with."""
    with server.session(cwd=str(project)) as session:
        found = session.get("/breakpoints")["breakpoints"]
        return sorted((each["line"], each.get("condition")) for each in found)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path)


def test_a_removed_breakpoint_stays_removed(server: Server, project: Path) -> None:
    with server.session(cwd=str(project)) as session:
        points = [
            session.post("/breakpoints", {"file": "app.py", "line": line})["id"]
            for line in (1, 2, 3)
        ]
        session.delete(f"/breakpoints/{points[1]}")
        session.patch(f"/breakpoints/{points[2]}", {"condition": "x"})
        assert places(server, project) == [(1, None), (3, "x")]
        session.delete("/breakpoints")
    assert places(server, project) == []


def test_sessions_of_one_project_do_not_undo_each_other(server: Server, project: Path) -> None:
    with server.session(cwd=str(project)) as one, server.session(cwd=str(project)) as other:
        one.post("/breakpoints", {"file": "app.py", "line": 1})
        other.post("/breakpoints", {"file": "app.py", "line": 2})
        assert places(server, project) == [(1, None), (2, None)]
        one.delete("/breakpoints")
        assert places(server, project) == [(2, None)]


def test_a_session_without_breakpoints_takes_none_away(server: Server, project: Path) -> None:
    with server.session(cwd=str(project)) as session:
        session.post("/breakpoints", {"file": "app.py", "line": 1})
    with server.session() as session:
        assert session.launch(str(project / "app.py"))["status"] == "terminated"
    assert places(server, project) == [(1, None)]


def test_without_a_cwd_the_scripts_directory_is_the_project(server: Server, project: Path) -> None:
    with server.session() as session:
        session.post("/breakpoints", {"file": str(project / "app.py"), "line": 3})
        session.launch(str(project / "app.py"))
        assert session.get()["project"] == str(project)
    assert places(server, project) == [(3, None)]


def test_breakpoints_of_a_profile_are_kept_like_any_others(server: Server, project: Path) -> None:
    point = {"file": str(project / "app.py"), "line": 2}
    server.post("/breakpoint-profiles", {"name": "two", "breakpoints": [point]})
    with server.session(cwd=str(project), breakpoint_profile="two") as session:
        assert session.get("/breakpoints")["total"] == 1
    assert places(server, project) == [(2, None)]
    server.delete("/breakpoint-profiles/two")


# -- when the data is bad ------------------------------------------------------------------------


def test_a_damaged_database_is_set_aside_and_reported(start: Start, tmp_path: Path) -> None:
    first = start()
    first.post("/sessions", {"name": "lost"})
    first.stop()
    database = tmp_path / "data" / "holdfast.db"
    database.write_bytes(b"this is not a database" * 1000)

    second = start()
    health = second.get("/health")
    [warning] = health["warnings"]
    assert (health["status"], warning["code"]) == ("ok", "STORE_SET_ASIDE")
    kept = Path(warning["details"]["kept_as"])
    assert kept.read_bytes().startswith(b"this is not a database")
    assert second.get("/sessions")["total"] == 0
    with second.session() as session:
        bring_to(session, "paused")


def test_one_session_that_cannot_be_restored_is_no_reason_to_lose_the_others(
    start: Start, tmp_path: Path
) -> None:
    first = start()
    good = first.post("/sessions", {"name": "good"})["session_id"]
    bad = first.post("/sessions", {"name": "bad"})["session_id"]
    worse = first.post("/sessions", {"name": "worse"})["session_id"]
    first.patch("/config", {"step_wait": 3})
    first.stop()
    with closing(sqlite3.connect(tmp_path / "data" / "holdfast.db")) as database, database:
        change = "UPDATE sessions SET document = ? WHERE id = ?"
        database.execute(change, ('{"config": {"timeout_minutes": "long"}}', bad))
        database.execute(change, ("no JSON at all", worse))
        database.execute("UPDATE settings SET value = '\"often\"' WHERE key = 'step_wait'")

    second = start()
    assert list(list_sessions(second)) == [good]
    codes = [each["code"] for each in second.get("/health")["warnings"]]
    assert sorted(codes) == ["SESSION_IGNORED", "SETTINGS_IGNORED", "STORE_ROW_DAMAGED"]
    assert second.get("/config")["step_wait"] == 5
