"""What outlives the server: sessions to run again, and the breakpoints of a project."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from harness import Server
from local_server import LocalServer
from session_states import bring_to

Start = Callable[[], Server]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a server on the same data each time; the one before must be over."""
    servers: list[Server] = []

    def start_server() -> Server:
        servers.append(LocalServer(tmp_path / "data"))
        return servers[-1]

    yield start_server
    for server in servers:
        server.stop()


def list_sessions(server: Server) -> dict[str, dict[str, Any]]:
    return {each["session_id"]: each for each in server.get("/sessions")["sessions"]}


# -- sessions ------------------------------------------------------------------------------------


def make_project(parent: Path) -> Path:
    folder = parent / "project"
    folder.mkdir()
    (folder / "app.py").write_text("x = 1\ny = 2\nz = 3\n")
    return folder


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
    usual = first.get("/config")["step_wait"]
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
    assert second.get("/config")["step_wait"] == usual
