"""A LangGraph graph that was built and compiled before anybody thought of Holdfast."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("langgraph")

from contract import (
    DONE,
    ONE_ROUND,
    AsyncContract,
    Contract,
    Everything,
    Loop,
    Outside,
    ReplayContract,
)
from langchain_models import ScriptedChat, StreamingChat, tool_of
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from steering import SteeredSession

from holdfast.bridge.integrations.langgraph import watch


def get_last_text(state: Any) -> str:
    return str(state["messages"][-1].content)


def compiled(model: Any, outside: Outside, **more: Any) -> Any:
    tools = [tool_of(outside.send)]
    bound = model.bind_tools(tools)
    graph: Any = StateGraph(MessagesState)
    graph.add_node("agent", lambda state: {"messages": [bound.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode(tools, **more))
    graph.add_edge(START, "agent")
    graph.add_conditional_edges("agent", tools_condition)
    graph.add_edge("tools", "agent")
    return graph.compile()


class LangGraphLoop(Loop):
    chat: type[ScriptedChat] = ScriptedChat

    def graph(self) -> Any:
        model = self.chat(outside=self.outside)
        return watch(compiled(model, self.outside), self.dbg, models=[model])

    def run(self, prompt: str = "go") -> str:
        return get_last_text(self.graph().invoke({"messages": [("user", prompt)]}))

    async def arun(self, prompt: str = "go") -> str:
        return get_last_text(await self.graph().ainvoke({"messages": [("user", prompt)]}))


class TestLangGraph(Everything, AsyncContract):
    loop = LangGraphLoop


class TestSubgraphs(Contract):
    loop = LangGraphLoop

    def test_a_subgraph_has_a_lane_and_its_tools_too(
        self, agent: Any, session: SteeredSession
    ) -> None:
        model = ScriptedChat(outside=agent.outside)
        inner: Any = StateGraph(MessagesState)
        inner.add_node("sender", compiled(model, agent.outside))
        inner.add_edge(START, "sender")
        outer: Any = StateGraph(MessagesState)
        outer.add_node("team", inner.compile())
        outer.add_edge(START, "team")
        graph = watch(outer.compile(), session.dbg, models=[model])
        assert get_last_text(graph.invoke({"messages": [("user", "go")]})) == DONE
        assert session.data("lane_start") == [
            {"lane": "team", "parent": "main"},
            {"lane": "sender", "parent": "team"},
        ]
        (tool,) = session.data("tool_call_start")
        assert (tool["lane"], tool["iteration"]) == ("sender", 1)
        places = [(each["lane"], each["iteration"]) for each in session.data("api_request")]
        assert places == [("sender", 1), ("sender", 2)]


class StreamingLoop(LangGraphLoop):
    """The words of the model are streamed to whoever watches the graph."""

    def run(self, prompt: str = "go") -> str:
        model = StreamingChat(outside=self.outside)
        graph = watch(compiled(model, self.outside), self.dbg, models=[model])
        asked = {"messages": [("user", prompt)]}
        pieces = [
            str(piece.content)
            for piece, about in graph.stream(asked, stream_mode="messages")
            if about["langgraph_node"] == "agent"
        ]
        assert len(pieces) > 1
        return "".join(pieces)


class TestStreaming(ReplayContract):
    loop = StreamingLoop

    def test_a_stream_is_one_call(self, agent: Loop, session: SteeredSession) -> None:
        assert agent.run() == DONE
        assert session.kinds() == ONE_ROUND
        assert session.data("api_response")[-1]["content"] == DONE


class OwnWrapperLoop(LangGraphLoop):
    """The graph has a wrapper of its own around its tools."""

    def run(self, prompt: str = "go") -> str:
        model = ScriptedChat(outside=self.outside)

        def louder(request: Any, execute: Any) -> Any:
            result = execute(request)
            result.content += "!"
            return result

        graph = watch(compiled(model, self.outside, wrap_tool_call=louder), self.dbg)
        return get_last_text(graph.invoke({"messages": [("user", prompt)]}))


class TestOwnWrapper(Contract):
    loop = OwnWrapperLoop

    def test_it_is_kept_and_without_a_model_only_tools_are_seen(
        self, agent: Loop, session: SteeredSession
    ) -> None:
        assert agent.run() == "sent hi to ann! | go"
        assert session.kinds() == ["tool_call_start", "tool_result", "tool_call_end"]
