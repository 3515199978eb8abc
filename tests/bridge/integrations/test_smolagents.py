"""smolagents: an agent that calls tools, and one that writes code."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("smolagents")

from contract import Contract, Everything, FakedResults, Loop, Outside, ReplayContract, ToolContract
from smolagents import CodeAgent, Tool, ToolCallingAgent
from smolagents.models import (
    ChatMessage,
    ChatMessageStreamDelta,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    ChatMessageToolCallStreamDelta,
    MessageRole,
    Model,
)
from smolagents.monitoring import TokenUsage
from steering import SteeredSession

from holdfast.bridge.integrations.smolagents import watch


class Send(Tool):
    name = "send"
    description = "Send a text."
    inputs = {  # noqa: RUF012 - that is how smolagents wants it
        "to": {"type": "string", "description": "whom"},
        "text": {"type": "string", "description": "what"},
    }
    output_type = "string"

    def __init__(self, outside: Outside) -> None:
        super().__init__()
        self.outside = outside

    def forward(self, to: str, text: str) -> str:
        return self.outside.send(to, text)


def texts(messages: list[Any], role: str) -> list[str]:
    found = []
    for message in messages:
        if message.role.value == role:
            parts = message.content if isinstance(message.content, list) else []
            found += [part.get("text", "") for part in parts]
    return found


def words(messages: list[Any]) -> str:
    """The script: what the tool gave, and what users said."""
    results = texts(messages, "tool-response")
    users = [each.removeprefix("New task:\n") for each in texts(messages, "user")]
    return f"{results[-1].partition(chr(10))[2]} | {', '.join(users)}"


class Scripted(Model):
    def __init__(self, outside: Outside) -> None:
        super().__init__(model_id="scripted")
        self.outside = outside

    def generate(self, messages: list[Any], **more: Any) -> ChatMessage:
        self.outside.asked += 1
        if texts(messages, "tool-response"):
            name, arguments = "final_answer", {"answer": words(messages)}
        else:
            name, arguments = "send", {"to": "ann", "text": "hi"}
        function = ChatMessageToolCallFunction(name=name, arguments=arguments)
        call = ChatMessageToolCall(function=function, id=f"c{self.outside.asked}", type="function")
        return ChatMessage(MessageRole.ASSISTANT, "", [call], token_usage=TokenUsage(10, 5))


class SmolLoop(Loop):
    def agent(self) -> Any:
        agent = ToolCallingAgent([Send(self.outside)], Scripted(self.outside), verbosity_level=0)
        return watch(agent, self.dbg)

    def run(self, prompt: str = "go") -> str:
        return str(self.agent().run(prompt))


class TestSmolagents(Everything):
    loop = SmolLoop
    asks = "Calling tools"  # as smolagents itself words it for its model
    answer = {  # noqa: RUF012
        "content": "",
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {"name": "final_answer", "arguments": {"answer": "nothing to do"}},
            }
        ],
    }


class CodeModel(Scripted):
    """Writes code."""

    def generate(self, messages: list[Any], **more: Any) -> ChatMessage:
        self.outside.asked += 1
        results = texts(messages, "tool-response")
        if not results:
            code = 'print(send(to="ann", text="hi"))'
        else:
            users = [each.removeprefix("New task:\n") for each in texts(messages, "user")]
            lines = [line for line in results[-1].splitlines() if "sent" in line or "Err" in line]
            words_of_ours = ("cancelled", "denied")
            lines += [
                line
                for line in results[-1].splitlines()
                if any(word in line for word in words_of_ours)
            ]
            code = f"final_answer({f'{lines[-1]} | ' + ', '.join(users)!r})"
        content = f"<code>\n{code}\n</code>"
        return ChatMessage(MessageRole.ASSISTANT, content, token_usage=TokenUsage(10, 5))


class CodeLoop(SmolLoop):
    def agent(self) -> Any:
        agent = CodeAgent([Send(self.outside)], CodeModel(self.outside), verbosity_level=0)
        return watch(agent, self.dbg)


class TestCodeAgent(ToolContract, FakedResults, ReplayContract):
    loop = CodeLoop

    def test_a_hold_does_not_use_up_the_time_of_the_code(
        self, agent: Any, session: SteeredSession
    ) -> None:
        assert agent.agent().python_executor.timeout_seconds is None


class ManagingLoop(SmolLoop):
    """An agent that has the one of the contract for a tool."""

    def agent(self) -> Any:
        sender = ToolCallingAgent(
            [Send(self.outside)],
            Scripted(self.outside),
            name="sender",
            description="Sends.",
            verbosity_level=0,
        )
        manager = ToolCallingAgent(
            [], Manager(self.outside), managed_agents=[sender], verbosity_level=0
        )
        return watch(manager, self.dbg)


class Manager(Scripted):
    def generate(self, messages: list[Any], **more: Any) -> ChatMessage:
        self.outside.asked += 1
        if results := texts(messages, "tool-response"):
            name, arguments = "final_answer", {"answer": results[-1]}
        else:
            name, arguments = "sender", {"task": "go"}
        function = ChatMessageToolCallFunction(name=name, arguments=arguments)
        call = ChatMessageToolCall(function=function, id="m1", type="function")
        return ChatMessage(MessageRole.ASSISTANT, "", [call], token_usage=TokenUsage(10, 5))


class TestManagedAgents(Contract):
    loop = ManagingLoop

    def test_an_agent_that_is_managed_has_a_lane_and_is_a_tool(
        self, agent: Loop, session: SteeredSession, begin: Any
    ) -> None:
        done = agent.run()
        assert "sent hi to ann" in done
        tools = [(each["name"], each.get("lane")) for each in session.data("tool_call_start")]
        assert tools == [
            *(("sender", None), ("send", "sender"), ("final_answer", "sender")),
            ("final_answer", None),
        ]
        (began,) = session.data("lane_start")
        within = session.data("tool_call_start")[0]["toolId"]
        assert began == {"lane": "sender", "parent": "main", "within": within}
        places = [(each.get("lane"), each["iteration"]) for each in session.data("api_request")]
        assert places == [(None, 1), ("sender", 1), ("sender", 2), (None, 2)]
        replay, outside = begin(of=session), Outside()
        assert self.loop(replay.dbg, outside).run() == done
        assert (outside.asked, outside.sent) == (0, [])


class StreamingModel(Scripted):
    def generate_stream(self, messages: list[Any], **more: Any) -> Iterator[Any]:
        (call,) = self.generate(messages, **more).tool_calls or []
        yield ChatMessageStreamDelta(content="")
        call.function.arguments = json.dumps(call.function.arguments)
        piece = ChatMessageToolCallStreamDelta(0, call.id, call.type, call.function)
        yield ChatMessageStreamDelta(tool_calls=[piece], token_usage=TokenUsage(10, 5))


class StreamingLoop(SmolLoop):
    def agent(self) -> Any:
        agent = ToolCallingAgent(
            [Send(self.outside)],
            StreamingModel(self.outside),
            stream_outputs=True,
            verbosity_level=0,
        )
        return watch(agent, self.dbg)


class TestStreamedOutputs(ReplayContract):
    loop = StreamingLoop
