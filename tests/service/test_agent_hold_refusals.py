"""Decisions and commands that an agent never gets to see, since the server refuses them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from local_server import LocalServer
from written_agents import A_LOOK, WrittenAgent

ALLOWS = ["continue", "modify", "skip", "raise", "cancel", "step"]


@pytest.fixture
def agent(server: LocalServer) -> Iterator[WrittenAgent]:
    made = WrittenAgent(server.data_dir / "agents", f"by_hand_{time.time_ns()}")
    made.write(made.event(1, "session_start", name="by hand"))
    server.turn(A_LOOK)
    yield made
    made.close()


@pytest.fixture
def held(server: LocalServer, agent: WrittenAgent) -> Any:
    """Held before `double(1)`."""
    stop = {"stop": "s1", "reason": "breakpoint", "at": "tool", "name": "double"}
    agent.write(agent.event(2, "paused", **stop, input={"number": 1}, allows=ALLOWS))
    server.turn(A_LOOK)
    return server.get(f"/api/holds/{server.get(agent.path)['hold_id']}")


MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"action": "dance"}, "action"),
    ({"action": "modify"}, "input"),
    ({"action": "modify", "input": 5}, "input"),
    ({"action": "modify", "input_text": "number: 4"}, "input_text"),
    ({"action": "modify", "input_text": "4"}, "input_text"),
    ({"action": "modify", "input_text": {}}, "input_text"),
    ({"action": "skip", "fake_result": {"text": "seven"}}, "fake_result"),
    ({"action": "skip"}, "result"),
    ({"action": "skip", "fake_result": 5}, "fake_result"),
    ({"action": "skip", "fake_result": {"literal": "f()"}}, "fake_result"),
    ({"action": "raise", "exception_type": 5}, "exception_type"),
    ({"action": "raise", "exception_message": 5}, "exception_message"),
    ({"action": "continue", "timeout": "x"}, "timeout"),
]


def test_a_mistake_leaves_the_hold_open(
    server: LocalServer, agent: WrittenAgent, held: Any
) -> None:
    path = f"/api/holds/{held['hold_id']}"
    for body, field in MISTAKES:
        error = server.post(f"{path}/decision", body, expect=400)["error"]
        assert error["details"]["field"] == field, body
        assert server.get(path)["open"]
    assert not agent.home.commands.exists(), "nothing was sent to the agent"


def test_what_a_hold_does_not_allow_is_refused(server: LocalServer, held: Any) -> None:
    path = f"/api/holds/{held['hold_id']}/decision"
    injected = {"action": "inject", "role": "user", "content": "x"}
    error = server.post(path, injected, expect=409)["error"]
    assert error["details"]["possible"] == held["allows"]
    error = server.post(path, {"action": "step-into"}, expect=409)["error"]
    assert "does not allow" in error["message"]


def test_a_hold_of_an_agent_evaluates_nothing(server: LocalServer, held: Any) -> None:
    path = f"/api/holds/{held['hold_id']}/evaluate"
    error = server.post(path, {"expression": "1"}, expect=409)["error"]
    assert error["details"]["kind"] == "agent"


def test_there_is_nothing_to_continue_while_nothing_is_held(
    server: LocalServer, agent: WrittenAgent
) -> None:
    for path in ("/continue", "/step-over"):
        error = server.post(agent.path + path, {}, expect=409)["error"]
        assert "nothing is held" in error["message"]
        assert "/pause" in error["hint"]


def test_an_agent_that_is_over_takes_no_commands(server: LocalServer, agent: WrittenAgent) -> None:
    agent.write(agent.event(2, "session_end", reason="closed"))
    server.turn(A_LOOK)
    for error in (
        server.post(f"{agent.path}/command", {"type": "pause", "data": {}}, expect=409),
        server.get(f"{agent.path}/state?live=true", expect=409),
    ):
        assert error["error"]["details"]["state"] == "terminated"
        assert "delete" in error["error"]["details"]["possible"]


def test_only_agents_take_commands(server: LocalServer) -> None:
    with server.session() as session:
        error = session.post("/command", {"type": "pause"}, expect=409)["error"]
        assert error["details"]["kind"] == "program"
        session.get("/state", expect=409)
        session.get(f"/contents/{'0' * 64}", expect=409)
    server.post("/sessions/nothing/command", {"type": "pause"}, expect=404)
