"""LangChain's `create_agent`, with a chat model of our own."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("langchain")

from contract import (
    DONE,
    AsyncContract,
    Cancelling,
    Contract,
    Everything,
    Loop,
    Outside,
    ToolContract,
)
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langchain_models import ScriptedChat, tool_of
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Send
from steering import PATIENCE, SteeredSession

from background import run_in_thread
from holdfast.bridge.integrations.langchain import HoldfastMiddleware


class LangChainLoop(Loop):
    def agent(self) -> Any:
        model = ScriptedChat(outside=self.outside)
        tools = [tool_of(self.outside.send)]
        return create_agent(model, tools, middleware=[HoldfastMiddleware(self.dbg)])

    def run(self, prompt: str = "go") -> str:
        return get_last_text(self.agent().invoke({"messages": [("user", prompt)]}))

    async def arun(self, prompt: str = "go") -> str:
        return get_last_text(await self.agent().ainvoke({"messages": [("user", prompt)]}))


def get_last_text(state: Any) -> str:
    return str(state["messages"][-1].content)


class TestLangChain(Everything, AsyncContract):
    loop = LangChainLoop

    def test_tools_that_run_side_by_side_are_held_side_by_side(
        self, session: SteeredSession, outside: Outside
    ) -> None:
        both = ({"to": "ann", "text": "hi"}, {"to": "bob", "text": "hi"})
        agent = agent_of(session, ScriptedChat(outside=outside, calls=both), outside)
        session.break_on_tool("send")
        ran = run_in_thread(lambda: get_last_text(agent.invoke({"messages": [("user", "go")]})))
        stops = {stop["input"]["to"]: stop for stop in (session.held(), session.held())}
        assert outside.sent == []
        session.resume(stops["bob"], "skip", result="bob is out")
        session.resume(stops["ann"], "modify", input={"text": "no"})
        assert self.said(ran) == "sent no to ann, bob is out | go"

    def test_what_was_put_in_stays_in_the_state_of_the_agent(
        self, session: SteeredSession, outside: Outside
    ) -> None:
        agent = agent_of(session, ScriptedChat(outside=outside), outside)
        session.pause()
        ran = run_in_thread(lambda: agent.invoke({"messages": [("user", "go")]}))
        session.resume(session.held(), "inject", role="user", content="and be kind")
        kinds = [(each.type, each.content) for each in ran.result(PATIENCE)["messages"]]
        assert kinds == [
            *(("human", "go"), ("human", "and be kind"), ("ai", "")),
            *(("tool", "sent hi to ann"), ("ai", "sent hi to ann | go, and be kind")),
        ]

    def test_the_system_prompt_is_the_first_message_and_can_be_edited(
        self, session: SteeredSession, outside: Outside
    ) -> None:
        agent = agent_of(session, ScriptedChat(outside=outside), outside, system_prompt="Be brief.")
        session.pause()
        ran = run_in_thread(lambda: agent.invoke({"messages": [("user", "go")]}))
        stop = session.held()
        messages = stop["input"]["messages"]
        assert messages[0] == {"role": "system", "content": "Be brief."}
        messages[0]["content"] = "Be long."
        session.resume(stop, "modify", input={"messages": messages})
        ran.result(PATIENCE)
        assert session.data("api_request")[0]["messages"][0]["content"] == "Be long."


class AskingChat(ScriptedChat):
    """Asks another agent, which is a tool."""

    def answer(self, messages: list[Any]) -> AIMessage:
        if len(messages) > 1:
            return AIMessage(str(messages[-1].content))
        calls: Any = [
            {"name": "ask", "args": {"question": "go"}, "id": each} for each in ("a1", "a2")
        ]
        return AIMessage("", tool_calls=calls)


class TestNestedAgents(Contract):
    loop = LangChainLoop

    def test_an_agent_inside_a_tool_has_a_lane_of_its_own(
        self, agent: Any, session: SteeredSession, outside: Outside
    ) -> None:
        def ask(question: str) -> str:
            """Ask the other agent."""
            return get_last_text(agent.agent().invoke({"messages": [("user", question)]}))

        middleware = [HoldfastMiddleware(session.dbg)]
        manager = create_agent(AskingChat(outside=outside), [ask], middleware=middleware)
        assert get_last_text(manager.invoke({"messages": [("user", "go")]})) == DONE
        lanes = {each["lane"]: each for each in session.data("lane_start")}
        assert lanes == {
            "ask": {"lane": "ask", "parent": "main", "within": "a1"},
            "ask-2": {"lane": "ask-2", "parent": "main", "within": "a2"},
        }
        places = [(each.get("lane"), each["iteration"]) for each in of_send(session)]
        assert sorted(places) == [("ask", 1), ("ask-2", 1)]
        asked = [each["iteration"] for each in session.data("api_request") if "lane" not in each]
        assert asked == [1, 2]

    def test_agents_that_are_nodes_have_lanes_side_by_side(
        self, agent: Any, session: SteeredSession, begin: Any, outside: Outside
    ) -> None:
        def run(loop: Any) -> int:
            graph: Any = StateGraph(MessagesState)
            graph.add_node("worker", loop.agent())
            task = {"messages": [("user", "go")]}
            graph.add_conditional_edges(START, lambda _: [Send("worker", task)] * 2)
            return len(graph.compile().invoke({"messages": []})["messages"])

        count = run(agent)
        assert [each["lane"] for each in session.data("lane_start")] == ["worker", "worker-2"]
        assert {each["parent"] for each in session.data("lane_start")} == {"main"}
        places = sorted((each["lane"], each["iteration"]) for each in session.data("api_request"))
        assert places == [("worker", 1), ("worker", 2), ("worker-2", 1), ("worker-2", 2)]
        assert sorted(each["lane"] for each in of_send(session)) == ["worker", "worker-2"]
        replay, other = begin(of=session), Outside()
        assert run(LangChainLoop(replay.dbg, other)) == count
        assert (other.asked, other.sent) == (0, [])


def of_send(session: SteeredSession) -> list[dict[str, Any]]:
    return [each for each in session.data("tool_call_start") if each["name"] == "send"]


class AsyncLangChainLoop(LangChainLoop):
    def run(self, prompt: str = "go") -> str:
        return asyncio.run(self.arun(prompt))


class TestAsyncLangChain(ToolContract, Cancelling):
    """A plain function of an async agent runs in a thread."""

    loop = AsyncLangChainLoop
    is_abandoned = True


def agent_of(session: SteeredSession, model: Any, outside: Outside, **more: Any) -> Any:
    middleware = [HoldfastMiddleware(session.dbg)]
    return create_agent(model, [tool_of(outside.send)], middleware=middleware, **more)
