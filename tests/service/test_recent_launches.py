"""Recent launches: each program once, newest first, remembered without its secrets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import Program, Server
from local_server import LocalServer

COUNTER, ORDERS = Program("counter.py"), Program("functions.py")
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


@pytest.fixture
def own(start: Start) -> Server:
    return start()


def list_launches(server: Server, query: str = "") -> list[dict[str, Any]]:
    launches: list[dict[str, Any]] = server.get(f"/api/launches{query}")["launches"]
    return launches


def test_a_launch_is_remembered_with_all_that_it_takes_to_run_it_again(own: Server) -> None:
    assert own.get("/api/launches") == {"launches": [], "total": 0}
    folder = Path(COUNTER.path).parent
    options = {"script": COUNTER.path, "args": ["--fast", "3"], "cwd": str(folder), "wait": 60}
    with own.session(name="the count", launch=options) as session:
        (launch,) = list_launches(own)
        assert launch["session_id"] == session.id
    assert (launch["target"], launch["name"]) == (COUNTER.path, "the count")
    assert (launch["cwd"], Path(launch["python"]).is_absolute()) == (str(folder), True)
    assert launch["launched_at"].endswith("Z")
    assert launch["launch"]["args"] == ["--fast", "3"]

    again = {**launch["launch"], "wait": 60}
    with own.session(launch=again) as session:
        assert session.created["exit_code"] == 0
    assert len(list_launches(own)) == 1


def test_relative_paths_are_remembered_as_absolute_ones(own: Server) -> None:
    folder = str(Path(COUNTER.path).parent)
    with own.session(cwd=folder) as session:
        session.post("/launch", {"script": "counter.py", "wait": 60})
    (launch,) = list_launches(own)
    assert (launch["launch"]["script"], launch["launch"]["cwd"]) == (COUNTER.path, folder)


def test_values_of_the_environment_and_of_stdin_are_not_remembered(
    own: Server, tmp_path: Path
) -> None:
    with own.session() as session:
        env = {"TOKEN": "tea-and-cake", "HOME": None}
        session.launch(COUNTER, env=env, stdin_inputs=["tea-and-cake\n"])
    (launch,) = list_launches(own)
    assert launch["env_names"] == ["HOME", "TOKEN"]
    assert (launch["launch"]["env"], launch["launch"]["stdin_inputs"]) == ({}, [])
    assert "tea-and-cake" not in str(launch)


def test_a_command_line_that_has_a_secret_is_not_remembered(own: Server) -> None:
    with own.session() as session:
        session.launch(COUNTER, args=["--password=tea-and-cake-1"])
    assert list_launches(own) == []


def test_they_outlive_their_session_and_the_server(start: Start) -> None:
    first = start()
    kept = first.post("/sessions", {"launch": {"script": ORDERS.path, "wait": 60}})
    with first.session() as session:
        session.launch(COUNTER)
    assert ["session_id" in each for each in list_launches(first)] == [False, True]
    before = list_launches(first)
    first.stop()

    second = start()
    assert list_launches(second) == before
    assert list_launches(second)[1]["session_id"] == kept["session_id"]
    assert second.delete("/api/launches") == {"deleted": 2}
    assert list_launches(second) == []
    second.stop()
    assert list_launches(start()) == []


def test_a_launch_that_was_refused_is_not_remembered(own: Server, tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text("def (:\n")
    with own.session() as session:
        session.post("/launch", {"script": str(tmp_path / "missing.py")}, expect=404)
        session.post("/launch", {"script": str(tmp_path / "wrong.py")}, expect=400)
    assert list_launches(own) == []


def test_a_very_long_piece_of_code_is_not_remembered(own: Server) -> None:
    with own.session() as session:
        session.post("/launch", {"code": f"x = '{'a' * 100_000}'", "wait": 60})
    assert list_launches(own) == []


def test_how_many_are_asked_for_is_checked(own: Server) -> None:
    for limit in ("0", "51", "x"):
        own.get(f"/api/launches?limit={limit}", expect=400)
