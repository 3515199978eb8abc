"""The OpenAI Agents SDK, with a model of our own."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

pytest.importorskip("agents")

from agents import (
    Agent,
    Model,
    ModelResponse,
    OpenAIProvider,
    RunConfig,
    RunHooks,
    Runner,
    Usage,
    function_tool,
    set_tracing_disabled,
)
from contract import (
    DONE,
    ONE_ROUND,
    AsyncContract,
    Contract,
    Everything,
    Loop,
    Outside,
    ReplayContract,
    ToolContract,
)
from fake_apis import FakeApis
from openai import AsyncOpenAI
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseUsage,
)
from openai.types.responses.response_usage import InputTokensDetails, OutputTokensDetails
from steering import PATIENCE, SteeredSession, turn_clocks

from holdfast.bridge.integrations.openai_agents import install

set_tracing_disabled(True)


class Scripted(Model):
    def __init__(self, outside: Outside, tool: str = "send", asked: Any = None) -> None:
        self.outside = outside
        self.tool, self.asked = tool, asked or {"to": "ann", "text": "hi"}

    async def get_response(self, *args: Any, **asked: Any) -> Any:
        self.outside.asked += 1
        items: Any = asked["input"]
        items = [{"role": "user", "content": items}] if isinstance(items, str) else items
        results = [each["output"] for each in items if each.get("type") == "function_call_output"]
        users = [each["content"] for each in items if each.get("role") == "user"]
        if results:
            text = f"{results[-1]} | {', '.join(users)}"
            said = ResponseOutputText(type="output_text", text=text, annotations=[])
            item: Any = ResponseOutputMessage(
                id="m1",
                type="message",
                role="assistant",
                status="completed",
                content=[said],
            )
        else:
            arguments = json.dumps(self.asked)
            item = ResponseFunctionToolCall(
                type="function_call",
                call_id=f"call_{self.tool}",
                name=self.tool,
                arguments=arguments,
            )
        usage = Usage(requests=1, input_tokens=10, output_tokens=5, total_tokens=15)
        return ModelResponse(output=[item], usage=usage, response_id=None)

    async def stream_response(self, *args: Any, **asked: Any) -> Any:
        found = await self.get_response(*args, **asked)
        usage = ResponseUsage(
            input_tokens=10,
            output_tokens=5,
            total_tokens=15,
            input_tokens_details=InputTokensDetails(cached_tokens=0, cache_write_tokens=0),
            output_tokens_details=OutputTokensDetails(reasoning_tokens=0),
        )
        response = Response(
            id="r1",
            object="response",
            created_at=1,
            model="fake",
            tools=[],
            parallel_tool_calls=False,
            tool_choice="auto",
            usage=usage,
            output=found.output,
        )
        yield ResponseCompletedEvent(
            type="response.completed", sequence_number=0, response=response
        )


class AgentsLoop(Loop):
    tool: Any = None

    def agent(self) -> Any:
        tool = self.tool or function_tool(
            self.outside.send, name_override="send", failure_error_function=told
        )
        return Agent(name="sender", model=Scripted(self.outside), tools=[tool])

    def run_of(self, agent: Any, **more: Any) -> str:
        uninstall = install(self.dbg)
        # It would make a loop, and leave it open.
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        try:
            return str(Runner.run_sync(agent, "go", **more).final_output)
        finally:
            asyncio.set_event_loop(None)
            loop.close()
            uninstall()

    async def arun(self, prompt: str = "go") -> str:
        uninstall = install(self.dbg)
        try:
            return str((await Runner.run(self.agent(), prompt)).final_output)
        finally:
            uninstall()


def told(_context: Any, error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


class TestOpenAIAgents(Everything, AsyncContract):
    loop = AgentsLoop
    is_abandoned = True  # a plain function runs in a thread

    def test_a_hold_does_not_use_up_the_time_of_the_tool(
        self,
        agent: Any,
        session: SteeredSession,
        outside: Outside,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        async def send(to: str, text: str) -> str:
            return outside.send(to, text)

        agent.tool = function_tool(send, timeout=600)
        session.break_on_tool("send")
        ran = self.started(agent)
        stop = session.held()
        turn_clocks(monkeypatch, 3600)
        session.stays_held()
        session.resume(stop)
        assert self.said(ran) == DONE

    def test_a_coroutine_is_really_cancelled(
        self, agent: Any, session: SteeredSession, outside: Outside
    ) -> None:
        async def send(to: str, text: str) -> str:
            outside.begun.set()
            await asyncio.Event().wait()
            return outside.send(to, text)

        agent.tool = function_tool(send, failure_error_function=told)
        ran = self.started(agent)
        assert outside.begun.wait(PATIENCE)
        session.command("cancel_tool", toolId="call_send")
        assert "it was cancelled" in self.said(ran)
        (ended,) = session.data("tool_call_end")
        assert (ended["cancelled"], ended["abandoned"]) == (True, False)

    def test_what_a_tool_raises_is_recorded_though_the_sdk_hides_it(
        self, agent: Any, session: SteeredSession
    ) -> None:
        def send(to: str, text: str) -> str:
            raise ValueError("no such person")

        agent.tool = function_tool(send)
        assert "An error occurred" in agent.run()
        (ended,) = session.data("tool_call_end")
        assert (ended["isError"], ended["error"]["message"]) == (True, "no such person")

    def test_an_agent_that_is_a_tool_of_another_has_a_lane(
        self, agent: Any, session: SteeredSession, outside: Outside, begin: Any
    ) -> None:
        def run(loop: Any) -> str:
            sender = loop.agent()
            manager = Agent(
                name="manager",
                model=Scripted(loop.outside, "ask_sender", {"input": "go"}),
                tools=[sender.as_tool("ask_sender", "Sends.")],
            )
            return str(loop.run_of(manager))

        done = run(agent)
        assert done == f"{DONE} | go"
        tools = [(each["name"], each.get("lane")) for each in session.data("tool_call_start")]
        assert tools == [("ask_sender", None), ("send", "sender")]
        (began,) = session.data("lane_start")
        (asked, _) = session.data("tool_call_start")
        assert began == {"lane": "sender", "parent": "main", "within": asked["toolId"]}
        places = [(each.get("lane"), each["iteration"]) for each in session.data("api_request")]
        assert places == [(None, 1), ("sender", 1), ("sender", 2), (None, 2)]
        replay, other = begin(of=session), Outside()
        assert run(AgentsLoop(replay.dbg, other)) == done
        assert (other.asked, other.sent) == (0, [])

    def test_a_handoff_stays_in_the_lane(self, agent: Any, session: SteeredSession) -> None:
        sender = agent.agent()
        model = Scripted(agent.outside, "transfer_to_sender", {})
        manager = Agent(name="manager", model=model, handoffs=[sender])
        # What the handoff gave is a result to the scripted model of the sender.
        assert agent.run_of(manager) == '{"assistant": "sender"} | go'
        assert session.data("lane_start") == []
        assert [each["iteration"] for each in session.data("api_request")] == [1, 2]

    def test_the_hooks_of_the_user_are_called_as_ever(
        self, agent: Any, session: SteeredSession
    ) -> None:
        seen: list[str] = []

        class Own(RunHooks[Any]):
            async def on_tool_start(self, *_args: Any) -> None:
                seen.append("tool")

            async def on_llm_start(self, *_args: Any) -> None:
                seen.append("model")

        assert agent.run_of(agent.agent(), hooks=Own()) == DONE
        assert seen == ["model", "tool", "model"]


class StreamedLoop(AgentsLoop):
    async def arun(self, prompt: str = "go") -> str:
        uninstall = install(self.dbg)
        try:
            result = Runner.run_streamed(self.agent(), prompt)
            async for _ in result.stream_events():
                pass
            return str(result.final_output)
        finally:
            uninstall()


class TestStreamedRuns(ToolContract, ReplayContract, AsyncContract):
    loop = StreamedLoop


class TestClientOfOpenAI(Contract):
    """A model of the SDK itself, found by its name, against a server on loopback."""

    def test_models_that_are_found_by_name_are_seen(
        self, session: SteeredSession, outside: Outside
    ) -> None:
        apis = FakeApis(outside)
        tool = function_tool(outside.send, name_override="send")
        agent = Agent(name="sender", model="fake", tools=[tool])

        async def run() -> str:
            async with AsyncOpenAI(base_url=apis.url, api_key="none") as client:
                provider = OpenAIProvider(openai_client=client)
                config = RunConfig(model_provider=provider, tracing_disabled=True)
                uninstall = install(session.dbg)
                try:
                    return str((await Runner.run(agent, "go", run_config=config)).final_output)
                finally:
                    uninstall()

        try:
            assert asyncio.run(run()) == DONE
        finally:
            apis.close()
        assert session.kinds() == ONE_ROUND
        assert session.data("api_request")[0]["model"] == "fake"
