"""Launches of a script, a module and a text are remembered alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import Program, Server

COUNTER, ORDERS = Program("counter.py"), Program("functions.py")
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


@pytest.fixture
def own(start: Start) -> Server:
    return start()


def list_launches(server: Server, query: str = "") -> list[dict[str, Any]]:
    launches: list[dict[str, Any]] = server.get(f"/api/launches{query}")["launches"]
    return launches


def test_the_newest_is_first_and_each_program_is_there_once(own: Server) -> None:
    with own.session() as session:
        session.launch(COUNTER)
        session.launch(ORDERS)
        session.launch(COUNTER, args=["x"])
        session.launch(COUNTER)
        session.post("/launch", {"module": "this", "wait": 60})
        session.post("/launch", {"code": "print(1)", "wait": 60})
    shown = [(each["target"], each["launch"]["args"]) for each in list_launches(own)]
    assert shown == [
        ("-c", []),
        ("this", []),
        (COUNTER.path, []),
        (COUNTER.path, ["x"]),
        (ORDERS.path, []),
    ]
    assert [each["target"] for each in list_launches(own, "?limit=2")] == ["-c", "this"]
    assert own.get("/api/launches?limit=2")["total"] == 5
