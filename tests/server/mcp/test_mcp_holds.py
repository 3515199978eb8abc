"""One agent debugs another through the Model Context Protocol, with the official client."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from mcp import Client

from agent_process import AgentView, agent_view
from harness import Server
from mcp_clients import MODES, call, over_http, over_stdio, read_text, run


@pytest.fixture(scope="module")
def own_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Nothing else is held there."""
    running = Server(tmp_path_factory.mktemp("mcp") / "data")
    yield running
    running.stop()


@pytest.fixture
def looper(own_server: Server) -> Iterator[AgentView]:
    with agent_view(own_server) as view:
        yield view


async def debug(client: Client, looper: AgentView) -> None:
    """Hold a tool of the other agent, edit its input, and see what came of it."""
    agent = looper.agent
    found = await call(client, "agent_control", session_id=agent.id)
    assert found["name"] == "looper"
    await call(
        client, "agent_control", session_id=agent.id, command="break", breakpoint="tool:double"
    )
    waiting = asyncio.create_task(
        client.call_tool("hold_list", {"wait": 50, "session_id": agent.id})
    )
    await asyncio.to_thread(agent.send, "turn 1")
    listed = await waiting
    text, [hold] = read_text(listed), listed.structured_content["holds"]
    for fact in (hold["hold_id"], "double", "number = 1", "allows continue, modify"):
        assert fact in text
    wrong = await client.call_tool("hold_decide", {"hold_id": hold["hold_id"], "action": "skip"})
    assert wrong.is_error
    assert "`literal`" in read_text(wrong)
    done: Any = await client.call_tool(
        "hold_decide", {"hold_id": hold["hold_id"], "action": "modify", "args": {"number": 21}}
    )
    assert done.structured_content["result"] == "42"
    assert "returned 42" in read_text(done)
    assert await asyncio.to_thread(agent.read_reply) == "it is 42"


@pytest.mark.parametrize("mode", MODES)
def test_an_agent_debugs_another_over_http(
    own_server: Server, looper: AgentView, mode: str
) -> None:
    async def main() -> None:
        async with over_http(own_server, mode) as client:
            await debug(client, looper)

    run(main)


def test_an_agent_debugs_another_over_stdio(own_server: Server, looper: AgentView) -> None:
    async def main() -> None:
        async with over_stdio(own_server.data_dir) as client:
            await debug(client, looper)

    run(main)


def test_a_wait_that_is_cancelled_leaves_the_hold_to_others(
    own_server: Server, looper: AgentView
) -> None:
    async def main() -> None:
        async with over_http(own_server) as client:
            request = {"wait": 50, "session_id": looper.agent.id}
            waiting = asyncio.create_task(client.call_tool("hold_list", request))
            await call(client, "agent_control", session_id=looper.agent.id)
            waiting.cancel()
            await call(
                client,
                "agent_control",
                session_id=looper.agent.id,
                command="break",
                breakpoint="tool:double",
            )
            await asyncio.to_thread(looper.agent.send, "turn 1")
            [hold] = (await call(client, "hold_list", **request))["holds"]
            await call(client, "hold_decide", hold_id=hold["hold_id"], action="continue")

    run(main)
