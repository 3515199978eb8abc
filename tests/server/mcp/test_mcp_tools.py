"""The tools as agents call them: the official client, both transports, both eras."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from mcp import Client, MCPError

from harness import Program, Server
from mcp_clients import MODES, call, over_http, over_stdio, read_text, run
from polling import PATIENCE_SECONDS, wait_until

LOOP = Program("loop.py")
Connect = Callable[[], contextlib.AbstractAsyncContextManager[Client]]


WAYS = [f"{way} {mode}" for way in ("stdio", "http") for mode in MODES]
both = pytest.mark.parametrize("connect", ["stdio legacy", "http auto"], indirect=True)
"""For what does not depend on the combination of transport and era."""


@pytest.fixture(params=WAYS)
def connect(request: pytest.FixtureRequest, server: Server) -> Connect:
    """Connects one more agent to the same server."""
    way, mode = request.param.split()

    @contextlib.asynccontextmanager
    async def open_client() -> AsyncIterator[Client]:
        opened = over_stdio(server.data_dir, mode) if way == "stdio" else over_http(server, mode)
        async with opened as client:
            yield client

    return open_client


def get_sessions(server: Server) -> dict[str, Any]:
    return {one["session_id"]: one for one in server.get("/sessions")["sessions"]}


def test_an_agent_goes_from_nothing_to_locals_in_one_call(connect: Connect, server: Server) -> None:
    async def main() -> None:
        async with connect() as agent:
            tools = [tool.name for tool in (await agent.list_tools()).tools]
            assert "debug_run" in tools
            place = f"loop.py:{LOOP.line('add')}"
            result = await agent.call_tool(
                "debug_run", {"target": "loop.py", "breakpoints": [place]}
            )
            assert not result.is_error
            report = result.structured_content
            assert report is not None
            assert report["status"] == "paused"
            assert report["at"] == place
            assert report["locals"] == {"total": "0", "number": "0"}
            text = read_text(result)
            for fact in ("paused", place, report["session_id"], "total", "number"):
                assert fact in text
            server.delete(f"/sessions/{report['session_id']}")

    run(main)


@both
def test_wrong_arguments_are_a_result_that_says_what_is_valid(connect: Connect) -> None:
    async def main() -> None:
        async with connect() as agent:
            missing = await agent.call_tool("debug_run", {"targe": "loop.py"})
            assert missing.is_error
            assert "did you mean target" in read_text(missing)
            wrong = await agent.call_tool("debug_step", {"kind": "sideways"})
            assert wrong.is_error
            assert "over, into, out" in read_text(wrong)
            error = wrong.structured_content
            assert error is not None
            assert error["error"]["code"] == "REQUEST_INVALID"
            assert error["error"]["message"] in read_text(wrong)
            with pytest.raises(MCPError, match="Unknown tool"):
                await agent.call_tool("debug_everything", {})

    run(main)


@both
def test_an_error_says_what_to_do_next_as_text_and_as_structure(connect: Connect) -> None:
    async def main() -> None:
        async with connect() as agent:
            result = await agent.call_tool("debug_step", {"session_id": "nobody"})
            assert result.is_error
            error = result.structured_content
            assert error is not None
            assert error["error_code"] == "session_not_found"
            assert error["error"]["message"] in read_text(result)
            assert error["error"]["hint"] in read_text(result)

    run(main)


def test_a_call_that_waits_tells_that_it_does(connect: Connect, server: Server) -> None:
    async def main() -> None:
        told: list[tuple[float, float | None, str | None]] = []
        is_told = asyncio.Event()

        async def note(progress: float, total: float | None, message: str | None) -> None:
            told.append((progress, total, message))
            is_told.set()

        before = get_sessions(server)
        async with connect() as agent:
            request = {"target": "idle.py", "timeout": 50}
            calling = asyncio.create_task(
                agent.call_tool("debug_run", request, progress_callback=note)
            )
            await asyncio.wait_for(is_told.wait(), PATIENCE_SECONDS)
            assert told[0][:2] == (2.0, 50.0)
            assert "waiting" in (told[0][2] or "")
            (started,) = get_sessions(server).keys() - before.keys()
            await asyncio.to_thread(server.post, f"/sessions/{started}/pause")
            result = await calling  # it has waited for this
            assert result.structured_content is not None
            assert result.structured_content["status"] == "paused"
            await call(agent, "debug_stop", session_id=started)

    run(main)


def test_a_cancelled_call_leaves_its_session_alive(connect: Connect, server: Server) -> None:
    async def main() -> None:
        before = get_sessions(server)
        async with connect() as agent:
            calling = asyncio.create_task(agent.call_tool("debug_run", {"target": "idle.py"}))
            started = await asyncio.to_thread(
                wait_until, lambda: [one for one in get_sessions(server) if one not in before]
            )
            status = f"/sessions/{started[0]}/status"
            await asyncio.to_thread(wait_until, lambda: server.get(status)["status"] == "running")
            calling.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await calling
            listed = await call(agent, "debug_sessions")
            assert started[0] in str(listed)
            assert server.get(status)["status"] == "running"
            report = await call(agent, "debug_step", session_id=started[0], kind="pause")
            assert report["status"] == "paused"
            await call(agent, "debug_stop", session_id=started[0])

    run(main)


@both
def test_two_agents_at_once_have_sessions_of_their_own(connect: Connect) -> None:
    async def main() -> None:
        async with connect() as first, connect() as second:
            place = f"loop.py:{LOOP.line('call')}"
            runs = [
                call(one, "debug_run", target="loop.py", breakpoints=[place])
                for one in (first, second)
            ]
            reports = await asyncio.gather(*runs)
            assert [report["status"] for report in reports] == ["paused", "paused"]
            assert reports[0]["session_id"] != reports[1]["session_id"]
            for agent, report in zip((first, second), reports, strict=True):
                known = {"session_id": report["session_id"]}
                after = await call(agent, "debug_step", **known, kind="over")
                assert after["session_id"] == report["session_id"]
                await call(agent, "debug_stop", **known)

    run(main)


@both
def test_a_prompt_teaches_to_find_the_root_cause(connect: Connect) -> None:
    async def main() -> None:
        async with connect() as agent:
            (prompt,) = (await agent.list_prompts()).prompts
            assert prompt.name == "root_cause"
            told = await agent.get_prompt("root_cause", {"symptom": "the total is 7"})
            text = str(getattr(told.messages[0].content, "text", ""))
            assert "the total is 7" in text
            assert "debug_run" in text
            with pytest.raises(MCPError, match="symptom"):
                await agent.get_prompt("root_cause", {})
            with pytest.raises(MCPError, match="Unknown prompt"):
                await agent.get_prompt("poem", {})

    run(main)
