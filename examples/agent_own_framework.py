"""The bridge in a framework of your own: two functions around what it does, and a run.

    python examples/agent_own_framework.py

`Agent` stands for the framework. It has its own classes for messages and answers, and knows nothing
of Holdfast. `watch` is the whole integration: it tells the bridge what a model call and a tool call
are, how a message looks as JSON, and how an answer is restored in a replay.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from holdfast.bridge import Bridge, ModelCall, ToolCall, start

# -- the framework -------------------------------------------------------------------------------


@dataclass
class Message:
    author: str
    text: str
    wants: list[dict[str, Any]] = field(default_factory=list)
    """The tools that it asks for: `{"id", "tool", "arguments"}`."""


@dataclass
class Agent:
    name: str
    model: Callable[[list[Message]], Message]
    tools: dict[str, Callable[..., str]]
    temperature: float = 0.0

    def ask(self, messages: list[Message]) -> Message:
        return self.model(messages)

    def perform(self, call_id: str, tool: str, arguments: dict[str, Any]) -> str:
        return self.tools[tool](**arguments)

    def run(self, task: str) -> str:
        messages = [Message("user", task)]
        while True:
            answer = self.ask(messages)
            messages.append(answer)
            if not answer.wants:
                return answer.text
            for want in answer.wants:
                result = self.perform(want["id"], want["tool"], want["arguments"])
                messages.append(Message("tool", result))


# -- the integration -----------------------------------------------------------------------------


def watch(agent: Agent, dbg: Bridge) -> Agent:
    """Record and steer this agent: its model calls, its tools, and its runs."""
    ask, perform, run = agent.ask, agent.perform, agent.run

    def watched_ask(messages: list[Message]) -> Message:
        call = ModelCall(
            messages=messages,  # the agent's own list: what is injected or edited is in it
            model=getattr(agent.model, "__name__", None),
            settings={"temperature": agent.temperature},  # compared in a replay, editable in a hold
            show=show,
            make=lambda message: Message(message["role"], str(message["content"])),
            describe=describe,
            dump=asdict,
            load=load,
        )
        return dbg.call_model(call, lambda call: ask(call.messages))

    def watched_perform(call_id: str, tool: str, arguments: dict[str, Any]) -> str:
        # With the id, the bridge knows which turn asked for it.
        call = ToolCall(tool, arguments, id=call_id)
        return dbg.call_tool(call, lambda given: perform(call_id, tool, given))

    def watched_run(task: str) -> str:
        # An agent that a tool runs gets a lane of its own.
        with dbg.run(tools=list(agent.tools)):
            return run(task)

    agent.ask, agent.perform, agent.run = (  # type: ignore[method-assign]
        *(watched_ask, watched_perform),
        watched_run,
    )
    return agent


def show(message: Message) -> dict[str, Any]:
    """As commands and screens show it: `role` and `content` are the names that they know."""
    shown: dict[str, Any] = {"role": message.author, "content": message.text}
    if message.wants:
        shown["tool_calls"] = [
            {"id": want["id"], "name": want["tool"], "arguments": want["arguments"]}
            for want in message.wants
        ]
    return shown


def describe(answer: Message) -> Any:
    """What the event of the answer says: all of it is optional."""
    calls = [{"id": want["id"], "name": want["tool"]} for want in answer.wants]
    usage = {"inputTokens": 10, "outputTokens": len(answer.text.split())}
    return {"content": answer.text, "toolCalls": calls, "usage": usage}


def load(answer: Any) -> Message:
    """Of a recording; or of a decision, where somebody may give just a text."""
    return Message("assistant", answer) if isinstance(answer, str) else Message(**answer)


# -- a program that uses both --------------------------------------------------------------------

asked: list[str] = []


def lead(messages: list[Message]) -> Message:
    """A real model would be asked here."""
    asked.append("lead")
    if len(messages) == 1:
        wants = [{"id": "call-1", "tool": "research", "arguments": {"topic": "tea"}}]
        return Message("assistant", "I have it looked up.", wants)
    return Message("assistant", f"Report: {messages[-1].text}")


def researcher(messages: list[Message]) -> Message:
    asked.append("researcher")
    return Message("assistant", f"much is known about {messages[0].text}")


def main(dbg: Bridge) -> str:
    def research(topic: str) -> str:
        return watch(Agent("researcher", researcher, {}), dbg).run(topic)

    return watch(Agent("lead", lead, {"research": research}), dbg).run("Write a report.")


if __name__ == "__main__":
    with start("own framework") as dbg:
        print(main(dbg))
    print("asked:", *asked)

    asked.clear()
    os.environ["HOLDFAST_REPLAY"] = dbg.id  # as `holdfast agent replay ID --mode full` does
    with start("own framework") as again:
        print(main(again), "(replayed)")
    print("asked:", *asked or ["nobody"])
