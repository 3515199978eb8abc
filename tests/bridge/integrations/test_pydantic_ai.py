"""pydantic-ai, with a model that is a function."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

pytest.importorskip("pydantic_ai")

from contract import DONE, ONE_ROUND, AsyncContract, Contract, Everything, Loop, Outside
from pydantic_ai import Agent
from pydantic_ai.messages import (
    ModelResponse,
    RetryPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import DeltaToolCall, FunctionModel
from pydantic_ai.usage import RequestUsage
from pydantic_core import core_schema
from steering import PATIENCE, SteeredSession, turn_clocks

from background import run_in_thread
from holdfast.bridge.integrations.pydantic_ai import HoldfastCapability


class PydanticLoop(Loop):
    timeout: float | None = None

    def model(self, messages: list[Any], _info: Any) -> ModelResponse:
        self.outside.asked += 1
        parts = [part for message in messages for part in message.parts]
        results = [p.content for p in parts if isinstance(p, (ToolReturnPart, RetryPromptPart))]
        users = [str(p.content) for p in parts if isinstance(p, UserPromptPart)]
        answer: Any = TextPart(f"{results[-1]} | {', '.join(users)}") if results else None
        asked = ToolCallPart("send", {"to": "ann", "text": "hi"}, tool_call_id="c1")
        return ModelResponse(
            parts=[answer or asked], usage=RequestUsage(input_tokens=10, output_tokens=5)
        )

    def agent(self) -> Any:
        agent: Any = Agent(
            FunctionModel(self.model),
            capabilities=[HoldfastCapability(self.dbg)],
            tool_timeout=self.timeout,
        )
        agent.tool_plain(self.outside.send)
        return agent

    async def stream(self, messages: list[Any], info: Any) -> AsyncIterator[Any]:
        (part,) = self.model(messages, info).parts
        if isinstance(part, TextPart):
            for word in part.content.split(" "):
                yield word if part.content.startswith(word) else f" {word}"
        else:
            yield {0: DeltaToolCall(part.tool_name, part.args_as_json_str(), tool_call_id="c1")}

    def streaming(self) -> Any:
        agent: Any = Agent(
            FunctionModel(stream_function=self.stream), capabilities=[HoldfastCapability(self.dbg)]
        )
        agent.tool_plain(self.outside.send)
        return agent

    async def arun(self, prompt: str = "go") -> str:
        return str((await self.agent().run(prompt)).output)


class TestDelegation(Contract):
    loop = PydanticLoop

    def test_an_agent_that_a_tool_runs_has_a_lane_of_its_own_name(
        self, agent: Any, session: SteeredSession, outside: Outside
    ) -> None:
        def manage(messages: list[Any], _info: Any) -> ModelResponse:
            parts = [part for message in messages for part in message.parts]
            results = [str(p.content) for p in parts if isinstance(p, ToolReturnPart)]
            if results:
                return ModelResponse(parts=[TextPart(results[-1])])
            calls = [ToolCallPart("ask", {"question": "go"}, tool_call_id=i) for i in ("a1", "a2")]
            return ModelResponse(parts=calls)

        manager: Any = Agent(FunctionModel(manage), capabilities=[HoldfastCapability(session.dbg)])
        helper = agent.agent()
        helper.name = "helper"

        @manager.tool_plain
        async def ask(question: str) -> str:
            return str((await helper.run(question)).output)

        assert asyncio.run(manager.run("go")).output == DONE
        lanes = {each["lane"]: each for each in session.data("lane_start")}
        assert lanes == {
            "helper": {"lane": "helper", "parent": "main", "within": "a1"},
            "helper-2": {"lane": "helper-2", "parent": "main", "within": "a2"},
        }
        tools = session.data("tool_call_start")
        sent = [(each["lane"], each["iteration"]) for each in tools if each["name"] == "send"]
        assert sorted(sent) == [("helper", 1), ("helper-2", 1)]

    def test_agents_that_run_side_by_side_have_lanes(
        self, agent: Any, session: SteeredSession
    ) -> None:
        async def both() -> None:
            one, two = agent.agent(), agent.agent()
            two.name = "second"
            await asyncio.gather(one.run("go"), two.run("go"))

        asyncio.run(both())
        places = [(each.get("lane"), each["iteration"]) for each in session.data("api_request")]
        assert sorted(places, key=str) == [("second", 1), ("second", 2), (None, 1), (None, 2)]

    def test_instructions_are_the_system_prompt(
        self, session: SteeredSession, outside: Outside
    ) -> None:
        seen: list[Any] = []

        def model(messages: list[Any], info: Any) -> ModelResponse:
            seen.append(info.instructions)
            return PydanticLoop(session.dbg, outside).model(messages, info)

        capabilities = [HoldfastCapability(session.dbg)]
        agent: Any = Agent(FunctionModel(model), capabilities=capabilities, instructions="be brief")
        agent.tool_plain(outside.send)
        session.pause()
        ran = run_in_thread(lambda: asyncio.run(agent.run("go")))
        stop = session.held()
        assert stop["system"] == "be brief"
        session.resume(stop, "modify", system="be thorough")
        assert ran.result(PATIENCE).output == DONE
        assert seen == ["be thorough", "be thorough"]


class Text(str):
    """Made from what the model says."""

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> Any:
        return core_schema.no_info_after_validator_function(cls, core_schema.str_schema())

    def upper(self) -> str:
        assert type(self) is Text
        return super().upper()


class TestPydanticAI(Everything, AsyncContract):
    loop = PydanticLoop
    is_abandoned = True  # a plain function runs in a thread

    def test_a_hold_does_not_use_up_the_time_of_the_tool(
        self, agent: Any, session: SteeredSession, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        agent.timeout = 600
        session.break_on_tool("send")
        ran = self.started(agent)
        stop = session.held()
        turn_clocks(monkeypatch, 3600)
        session.stays_held()
        session.resume(stop)
        assert self.said(ran) == DONE

    def test_what_was_put_in_stays_in_the_history_of_the_run(
        self, agent: Any, session: SteeredSession
    ) -> None:
        session.pause()
        ran = run_in_thread(lambda: asyncio.run(agent.agent().run("go")))
        session.resume(session.held(), "inject", role="user", content="and be kind")
        history = ran.result(PATIENCE).all_messages()
        users = [p.content for m in history for p in m.parts if isinstance(p, UserPromptPart)]
        assert users == ["go", "and be kind"]

    def test_an_edited_input_is_checked_and_made_into_objects(
        self, session: SteeredSession, outside: Outside
    ) -> None:
        loop = PydanticLoop(session.dbg, outside)
        agent: Any = Agent(
            FunctionModel(loop.model), capabilities=[HoldfastCapability(session.dbg)]
        )

        @agent.tool_plain
        def send(to: str, text: Text) -> str:
            return outside.send(to, text.upper())

        session.break_on_tool("send")
        ran = run_in_thread(lambda: asyncio.run(agent.run("go")).output)
        session.resume(session.held(), "modify", input={"text": "no"})
        assert self.said(ran) == "sent NO to ann | go"

    def test_a_streamed_run_is_recorded_and_replayed(
        self, agent: Any, session: SteeredSession, begin: Any
    ) -> None:
        async def words(loop: Any) -> str:
            async with loop.streaming().run_stream("go") as result:
                return "".join([piece async for piece in result.stream_text(delta=True)])

        assert asyncio.run(words(agent)) == DONE
        assert session.kinds() == ONE_ROUND
        replay, outside = begin(of=session), Outside()
        assert asyncio.run(words(PydanticLoop(replay.dbg, outside))) == DONE
        assert (outside.asked, outside.sent) == (0, [])
