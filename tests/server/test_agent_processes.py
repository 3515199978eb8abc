"""Agents in processes of their own: killed, frozen, elsewhere, and servers that come and go."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_process import AgentProcess, AgentView, agent_view, running_agent
from harness import Server
from polling import wait_until


@pytest.fixture
def looper(server: Server) -> Iterator[AgentView]:
    with agent_view(server) as found:
        yield found


def wait_for_status(server: Server, path: str, status: str) -> Any:
    """The session, once it is so: there is no event to wait for when an agent was killed."""

    def look() -> Any:
        answer = server.get(path)
        return answer if answer["status"] == status else None

    return wait_until(look, f"{path} to be {status}")


@contextlib.contextmanager
def start_own_server(folder: Path) -> Iterator[Server]:
    running = Server(folder / "data")
    try:
        yield running
    finally:
        running.stop()


def test_an_agent_that_was_killed_has_crashed_and_holds_nothing(looper: AgentView) -> None:
    looper.break_on("double")
    looper.agent.send("turn 1")
    hold = looper.wait_for_hold()
    looper.agent.process.kill()
    shown = wait_for_status(looper.server, looper.path, "terminated")
    assert (shown["reason"], shown["holds"]) == ("crashed", [])
    settled = looper.server.get(f"/api/holds/{hold['hold_id']}")
    assert (settled["open"], settled["outcome"]) == (False, "withdrawn")
    error = looper.decide(hold, "continue", expect=409)
    assert "crashed" in error["error"]["message"]


# -- servers that come and go ---------------------------------------------------------------------


def test_the_next_server_reads_on(tmp_path: Path) -> None:
    with start_own_server(tmp_path) as first, running_agent(first.data_dir) as running:
        looper = AgentView(first, running)
        looper.break_on("double")
        running.send("turn 1")
        looper.wait_for_hold()
        first.stop()
        with start_own_server(tmp_path) as second:
            again = AgentView(second, running)
            hold = again.wait_for_hold()
            assert (hold["name"], hold["input"]) == ("double", {"number": 1})
            again.decide(hold, "skip", result=70)
            assert running.read_reply() == "it is 70"


def test_a_hold_is_found_at_the_end_of_a_long_recording(tmp_path: Path) -> None:
    with start_own_server(tmp_path) as first, running_agent(first.data_dir) as running:
        looper = AgentView(first, running)
        looper.break_on("double")
        looper.agent.ask("flood 20000")
        running.send("turn 1")
        held = looper.wait_for_hold()
        seq = looper.get()["last_event"]
        first.stop()
        assert running.home.events.stat().st_size > 2 << 20
        with start_own_server(tmp_path) as second:
            again = second.get(f"/sessions/{running.id}")
            assert (again["status"], again["iteration"]) == ("paused", 1)
            assert again["last_event"] >= seq
            assert again["counters"]["events"] == again["last_event"]
            hold = second.get(f"/api/holds/{again['hold_id']}")
            assert hold["stop"] == held["stop"]
            first_ones = second.get(f"/sessions/{running.id}/events?limit=2")["events"]
            assert [each["type"] for each in first_ones] == ["session_start", "run_start"]
            second.post(f"/api/holds/{hold['hold_id']}/decision", {"action": "continue"})
            assert running.read_reply() == "it is 2"


def test_recordings_are_there_after_their_agents_and_their_server(tmp_path: Path) -> None:
    with start_own_server(tmp_path) as first:
        with agent_view(first) as looper:
            looper.agent.ask("turn 3")
        with agent_view(first) as other:
            other.agent.send("crash")
            other.agent.process.wait()
    with start_own_server(tmp_path) as second:
        listed = {each["session_id"]: each for each in second.get("/sessions")["sessions"]}
        ended, crashed = listed[looper.agent.id], listed[other.agent.id]
        assert (ended["status"], ended["reason"], ended["iteration"]) == ("terminated", "exit", 3)
        assert (crashed["status"], crashed["reason"]) == ("terminated", "crashed")
        assert second.get(looper.path)["counters"]["tool_calls"] == 3
        events = second.get(f"{looper.path}/events")["events"]
        assert events[0]["type"] == "session_start"
        assert events[-1]["type"] == "session_end"


def test_an_agent_that_stands_still_is_not_dead(looper: AgentView) -> None:
    with agent_view(looper.server) as other, looper.agent.frozen():
        other.agent.process.kill()  # which is seen by the same look at all agents
        wait_for_status(looper.server, other.path, "terminated")
        assert looper.get()["status"] == "running"


# -- agents whose directory is elsewhere ----------------------------------------------------------


def test_an_agent_elsewhere_makes_itself_known(server: Server, tmp_path: Path) -> None:
    with running_agent(server.data_dir, str(tmp_path)) as running:
        shown = server.post("/api/agents", {"directory": str(running.home.path)})
        assert (shown["session_id"], shown["kind"]) == (running.id, "agent")
        looper = AgentView(server, running)
        looper.break_on("double")
        running.send("turn 1")
        looper.decide(looper.wait_for_hold(), "continue")
        assert running.read_reply() == "it is 2"
        server.post("/api/agents", {"directory": str(running.home.path)}, expect=201)


def test_two_agents_of_one_name_are_two_sessions(server: Server) -> None:
    with agent_view(server) as one, agent_view(server) as other:
        assert one.agent.id != other.agent.id
        assert one.agent.ask("turn 1") == other.agent.ask("turn 1")
        assert one.get()["name"] == other.get()["name"] == "looper"


def test_agents_are_found_where_the_environment_says(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    running = Server(tmp_path / "data", env={"HOLDFAST_AGENT_DIR": str(elsewhere)})
    try:
        with running_agent(running.data_dir, str(elsewhere)) as loop:
            assert isinstance(loop, AgentProcess)
            AgentView(running, loop).wait_for_event("run_start")
    finally:
        running.stop()
