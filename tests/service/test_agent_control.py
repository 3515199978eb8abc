"""`agent_control` where no agent has to answer: which one is meant, and what is no command."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.bridge import start
from local_server import LocalServer
from tool_caller import ToolCaller
from written_agents import A_LOOK, WrittenAgent


@pytest.fixture
def looper(server: LocalServer) -> Iterator[WrittenAgent]:
    made = WrittenAgent(server.data_dir / "agents", f"by_hand_{time.time_ns()}")
    made.write(made.event(1, "session_start", name="by hand"))
    server.turn(A_LOOK)
    yield made
    made.close()
    server.turn(A_LOOK)


@pytest.fixture
def tools(server: LocalServer) -> ToolCaller:
    return ToolCaller(server, "watcher")


def test_without_an_agent_it_says_how_there_is_one(tmp_path: Path) -> None:
    own_server = LocalServer(tmp_path / "data")
    try:
        error = ToolCaller(own_server, "watcher").fail("agent_control", expect=404)
    finally:
        own_server.stop()
    assert "holdfast.bridge" in error["hint"]


@pytest.mark.parametrize(
    ("request_", "field", "said"),
    [
        ({"command": "dance"}, "command", "pause, resume"),
        ({"command": "break"}, "breakpoint", "break needs it"),
        ({"command": "break", "breakpoint": "file:x"}, "breakpoint", "tool, model"),
        ({"command": "pause", "message": "x"}, "message", "inject"),
        ({"command": "inject"}, "message", "inject needs it"),
        ({"command": "set", "key": "x"}, "value", "set needs it"),
        ({"command": "cancel"}, "tool_id", "cancel needs it"),
        ({"command": "status", "fields": {}}, "fields", "no such field"),
    ],
)
def test_a_wrong_command_is_told_what_is_valid(
    tools: ToolCaller, looper: WrittenAgent, request_: Any, field: str, said: str
) -> None:
    error = tools.fail("agent_control", **request_)
    assert error["details"]["field"] == field
    assert said in f"{error['message']} {error['hint']} {error['details']}"


def test_an_agent_is_found_by_name_or_by_a_part_of_its_id(
    tools: ToolCaller, looper: WrittenAgent
) -> None:
    for wanted in ("by hand", looper.home.id, looper.home.id[-6:]):
        assert tools.call("agent_control", session_id=wanted)["session_id"] == looper.home.id
    error = tools.fail("agent_control", expect=404, session_id="nobody")
    assert looper.home.id in error["hint"]


def test_one_that_has_ended_is_still_shown(server: LocalServer, tools: ToolCaller) -> None:
    with start("looper", directory=server.data_dir / "agents") as dbg:
        dbg.tool(lambda number: number * 2, name="double")(number=1)
    server.turn(A_LOOK)
    shown = tools.call("agent_control", session_id=dbg.id)
    assert (shown["status"], shown["reason"]) == ("terminated", "closed")
    assert shown["recent"][-1] == "it ended: closed"
    error = tools.fail("agent_control", expect=409, session_id=dbg.id, command="pause")
    assert "has ended" in error["message"]
