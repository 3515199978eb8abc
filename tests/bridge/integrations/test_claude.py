"""The Claude Agent SDK with the program that it brings along, against a server on loopback."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("claude_agent_sdk")

from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, create_sdk_mcp_server, query, tool
from contract import Contract, Loop, Outside
from fake_apis import FakeApis
from steering import PATIENCE, SteeredSession, WatchedEventLoop

from background import run_in_thread
from holdfast.bridge.integrations.claude import hooks

NAME = "mcp__post__send"

# Its program takes seconds to start.
pytestmark = pytest.mark.slow


class ClaudeLoop(Loop):
    timeout = 3600.0
    home: Path

    async def arun(self, prompt: str = "go") -> str:
        apis = FakeApis(self.outside)
        apis.tool = NAME
        try:
            return await self._ask(prompt, apis)
        finally:
            apis.close()

    async def _ask(self, prompt: str, apis: FakeApis) -> str:
        outside = self.outside

        @tool("send", "Send a text.", {"to": str, "text": str})
        async def send(given: dict[str, Any]) -> dict[str, Any]:
            return {
                "content": [
                    {"type": "text", "text": await asyncio.to_thread(outside.send, **given)}
                ]
            }

        options = ClaudeAgentOptions(
            model="claude-sonnet-4-5",
            cwd=str(self.home),
            setting_sources=[],
            mcp_servers={"post": create_sdk_mcp_server("post", tools=[send])},
            allowed_tools=[NAME],
            max_turns=3,
            hooks=hooks(self.dbg, timeout=self.timeout),
            env={
                "ANTHROPIC_BASE_URL": apis.url,
                "ANTHROPIC_API_KEY": "none",
                "CLAUDE_CONFIG_DIR": str(self.home),
                "HOME": str(self.home),
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "DISABLE_AUTOUPDATER": "1",
                "ENABLE_TOOL_SEARCH": "false",
                "DISABLE_TELEMETRY": "1",
            },
        )

        async def prompts() -> Any:
            yield {"type": "user", "message": {"role": "user", "content": prompt}}

        said = ""
        async for message in query(prompt=prompts(), options=options):
            if isinstance(message, ResultMessage):
                said = str(message.result)
        return said


class TestClaude(Contract):
    loop = ClaudeLoop

    @pytest.fixture
    def agent(self, session: SteeredSession, outside: Outside, tmp_path: Path) -> Loop:
        made = ClaudeLoop(session.dbg, outside)
        made.home = tmp_path / "home"
        made.home.mkdir()
        return made

    def test_tools_are_recorded(self, agent: Loop, session: SteeredSession) -> None:
        assert agent.run().startswith("sent hi to ann")
        (begun,) = session.data("tool_call_start")
        assert (begun["name"], begun["input"]) == (NAME, {"to": "ann", "text": "hi"})
        assert begun["toolId"] == "toolu_1"
        (result,) = session.data("tool_result")
        assert "sent hi to ann" in str(result["result"])

    def test_a_held_tool_has_not_run_and_the_event_loop_goes_on(
        self, agent: Loop, session: SteeredSession, outside: Outside
    ) -> None:
        session.break_on_tool(NAME)
        beating = WatchedEventLoop()
        ran = run_in_thread(lambda: beating.run(agent.arun))
        stop = session.held()
        assert beating.goes_on()
        assert outside.sent == []
        session.resume(stop, "modify", input={"text": "no"})
        assert self.said(ran).startswith("sent no to ann")
        assert outside.sent == [("ann", "no")]

    def test_an_error_that_was_decided_is_why_claude_may_not_run_it(
        self, agent: Loop, session: SteeredSession, outside: Outside
    ) -> None:
        session.break_on_tool(NAME)
        ran = self.started(agent)
        session.resume(session.held(), "raise", exception_message="not to ann")
        assert "RuntimeError: not to ann" in self.said(ran)
        assert outside.sent == []

    def test_it_can_be_cancelled_before_it_runs(
        self, agent: Loop, session: SteeredSession, outside: Outside
    ) -> None:
        session.break_on_tool(NAME)
        ran = self.started(agent)
        session.resume(session.held(), "cancel")
        assert "was cancelled before it ran" in self.said(ran)
        assert outside.sent == []

    def test_one_that_runs_is_abandoned_and_never_called_cancelled(
        self, agent: Loop, session: SteeredSession, outside: Outside
    ) -> None:
        outside.may_end.clear()
        ran = self.started(agent)
        assert outside.begun.wait(PATIENCE)
        session.command("cancel_tool", toolId="toolu_1")
        ended = session.until(lambda kind, _: kind == "tool_call_end")
        assert (ended["cancelled"], ended["abandoned"]) == (False, True)
        outside.may_end.set()
        assert self.said(ran).startswith("sent hi to ann")

    def test_what_claude_does_not_allow_is_not_offered(
        self, agent: Loop, session: SteeredSession
    ) -> None:
        session.break_on_tool(NAME)
        ran = self.started(agent)
        stop = session.held()
        assert stop["allows"] == ["continue", "modify", "raise", "cancel", "step"]
        session.resume(stop)
        assert self.said(ran).startswith("sent hi to ann")

    def test_one_that_nobody_decides_in_time_does_not_run(
        self, agent: Any, session: SteeredSession, outside: Outside
    ) -> None:
        agent.timeout = 1.0
        session.break_on_tool(NAME)
        ran = self.started(agent)
        session.held()
        assert "sent hi" not in self.said(ran)
        assert outside.sent == []
        left = session.until(lambda kind, data: kind == "resumed")
        assert left["action"] == "withdrawn"
