"""The tools as agents call them: the official client, both transports, both eras."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, MCPError

from harness import Program, Server
from mcp_clients import MODES, call, over_http, over_stdio, read_text
from polling import PATIENCE_SECONDS, wait_until

LOOP = Program("loop.py")
Run = Callable[[Callable[[], Awaitable[None]]], None]


WAYS = [f"{way} {mode}" for way in ("stdio", "http") for mode in MODES]
both = pytest.mark.parametrize("agent", ["stdio legacy", "http auto"], indirect=True)
"""For what does not depend on the combination of transport and era."""


@contextlib.asynccontextmanager
async def connect(server: Server, way: str) -> AsyncIterator[Client]:
    transport, mode = way.split()
    opened = over_stdio(server.data_dir, mode) if transport == "stdio" else over_http(server, mode)
    async with opened as client:
        yield client


@pytest.fixture(scope="module")
def portal() -> Iterator[BlockingPortal]:
    """The event loop of all agents here."""
    with start_blocking_portal() as opened:
        yield opened


@pytest.fixture(scope="module")
def agents(server: Server, portal: BlockingPortal) -> Iterator[dict[str, Client]]:
    """One agent for each way, connected to the same server while the tests of this file run."""
    with contextlib.ExitStack() as connected:
        yield {
            way: connected.enter_context(portal.wrap_async_context_manager(connect(server, way)))
            for way in WAYS
        }


@pytest.fixture(params=WAYS)
def agent(request: pytest.FixtureRequest, agents: dict[str, Client]) -> Client:
    return agents[request.param]


@pytest.fixture
def run(portal: BlockingPortal) -> Run:
    """Runs what a test does with agents, within a time limit."""

    async def limit(main: Callable[[], Awaitable[None]]) -> None:
        await asyncio.wait_for(main(), PATIENCE_SECONDS)

    return lambda main: portal.call(limit, main)


def get_sessions(server: Server) -> dict[str, Any]:
    return {one["session_id"]: one for one in server.get("/sessions")["sessions"]}


def test_an_agent_goes_from_nothing_to_locals_in_one_call(
    agent: Client, run: Run, server: Server
) -> None:
    async def main() -> None:
        tools = [tool.name for tool in (await agent.list_tools()).tools]
        assert "debug_run" in tools
        place = f"loop.py:{LOOP.line('add')}"
        result = await agent.call_tool("debug_run", {"target": "loop.py", "breakpoints": [place]})
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
def test_wrong_arguments_are_a_result_that_says_what_is_valid(agent: Client, run: Run) -> None:
    async def main() -> None:
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
def test_an_error_says_what_to_do_next_as_text_and_as_structure(agent: Client, run: Run) -> None:
    async def main() -> None:
        result = await agent.call_tool("debug_step", {"session_id": "nobody"})
        assert result.is_error
        error = result.structured_content
        assert error is not None
        assert error["error_code"] == "session_not_found"
        assert error["error"]["message"] in read_text(result)
        assert error["error"]["hint"] in read_text(result)

    run(main)


def test_calls_that_wait_tell_that_they_do(
    agents: dict[str, Client], run: Run, server: Server
) -> None:
    """Over each way, at the same time: they tell it after two seconds."""

    async def main() -> None:
        before = get_sessions(server)
        told = {way: asyncio.get_running_loop().create_future() for way in WAYS}

        def list_running() -> set[str] | None:
            """The new sessions, as soon as all of them run."""
            shown = get_sessions(server)
            new = shown.keys() - before.keys()
            running = {one for one in new if shown[one]["status"] == "running"}
            return running if len(running) == len(WAYS) else None

        def start(way: str) -> asyncio.Task[Any]:
            async def note(progress: float, total: float | None, message: str | None) -> None:
                if not told[way].done():
                    told[way].set_result((progress, total, message))

            request = {"target": "idle.py", "timeout": 50}
            calling = agents[way].call_tool("debug_run", request, progress_callback=note)
            return asyncio.ensure_future(calling)

        calls = [start(way) for way in WAYS]
        for progress, total, message in await asyncio.gather(*told.values()):
            assert (progress, total) == (2.0, 50.0)
            assert "waiting" in message
        started = await asyncio.to_thread(wait_until, list_running, "all to run")
        for session_id in started:
            await asyncio.to_thread(server.post, f"/sessions/{session_id}/pause")
        results = await asyncio.gather(*calls)  # they have waited for this
        assert {one.structured_content["session_id"] for one in results} == started
        assert [one.structured_content["status"] for one in results] == ["paused"] * len(WAYS)

    run(main)


def test_a_cancelled_call_leaves_its_session_alive(agent: Client, run: Run, server: Server) -> None:
    async def main() -> None:
        before = get_sessions(server)
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


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_two_agents_at_once_have_sessions_of_their_own(
    agents: dict[str, Client], run: Run, transport: str
) -> None:
    async def main() -> None:
        pair = [agents[f"{transport} {mode}"] for mode in MODES]
        place = f"loop.py:{LOOP.line('call')}"
        runs = [call(one, "debug_run", target="loop.py", breakpoints=[place]) for one in pair]
        reports = await asyncio.gather(*runs)
        assert [report["status"] for report in reports] == ["paused", "paused"]
        assert reports[0]["session_id"] != reports[1]["session_id"]
        for agent, report in zip(pair, reports, strict=True):
            known = {"session_id": report["session_id"]}
            after = await call(agent, "debug_step", **known, kind="over")
            assert after["session_id"] == report["session_id"]
            await call(agent, "debug_stop", **known)

    run(main)


@both
def test_a_prompt_teaches_to_find_the_root_cause(agent: Client, run: Run) -> None:
    async def main() -> None:
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
