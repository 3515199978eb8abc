"""LangChain's `create_agent`: `middleware=[HoldfastMiddleware()]`, the last one in the list.

The last middleware is the innermost: it sees what is really sent, and what a tool really gets.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware.types import (
    AgentMiddleware,
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
    ToolCallRequest,
)
from langchain_core.messages import RemoveMessage, SystemMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.types import Command

from holdfast.bridge import Bridge, active
from holdfast.bridge.agent_calls import ModelCall, ToolCall
from holdfast.bridge.integrations import _langchain_messages
from holdfast.bridge.integrations._graph_lanes import find_lane
from holdfast.bridge.integrations._message_history import Histories, is_unchanged, reuse_messages
from holdfast.core.call_parameters import read_schema


class HoldfastMiddleware(AgentMiddleware[Any, Any, Any]):
    """Records and steers the agent that has it."""

    def __init__(self, dbg: Bridge | None = None, *, lane: str | None = None) -> None:
        super().__init__()
        self._dbg = dbg or active()
        self._lane = lane
        self._histories = Histories(_langchain_messages.show)

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> Any:
        pending = _PendingRequest(request, self._histories, find_lane(self._dbg, self._lane))
        result = self._dbg.call_model(pending.call, lambda call: handler(pending.build(call)))
        return pending.keep_changes(result)

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> Any:
        pending = _PendingRequest(request, self._histories, find_lane(self._dbg, self._lane))
        result = await self._dbg.acall_model(
            pending.call, lambda call: handler(pending.build(call))
        )
        return pending.keep_changes(result)

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]
    ) -> Any:
        return call_tool(self._dbg, self._lane, request, handler)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Any]]
    ) -> Any:
        return await acall_tool(self._dbg, self._lane, request, handler)


def call_tool(
    dbg: Bridge,
    lane: str | None,
    request: ToolCallRequest,
    handler: Callable[[ToolCallRequest], Any],
) -> Any:
    def run(given: dict[str, Any]) -> Any:
        return _langchain_messages.result_of(handler(_replace_input(request, given)))

    return _langchain_messages.message_of(
        dbg.call_tool(_tool_call(dbg, request, lane), run), request.tool_call
    )


async def acall_tool(
    dbg: Bridge,
    lane: str | None,
    request: ToolCallRequest,
    handler: Callable[[ToolCallRequest], Awaitable[Any]],
) -> Any:
    async def run(given: dict[str, Any]) -> Any:
        return _langchain_messages.result_of(await handler(_replace_input(request, given)))

    result = await dbg.acall_tool(_tool_call(dbg, request, lane), run)
    return _langchain_messages.message_of(result, request.tool_call)


def _tool_call(dbg: Bridge, request: ToolCallRequest, lane: str | None) -> ToolCall:
    asked = request.tool_call
    lane = find_lane(dbg, lane)
    call = ToolCall(asked["name"], dict(asked["args"]), id=asked["id"], lane=lane)
    call.parameters = read_schema({"properties": getattr(request.tool, "args", None)})
    return call


def _replace_input(request: ToolCallRequest, given: dict[str, Any]) -> ToolCallRequest:
    return request.override(tool_call={**request.tool_call, "args": given})


class _PendingRequest:
    """One request to a model; its system message is the first of its messages."""

    def __init__(self, request: ModelRequest[Any], histories: Histories, lane: str) -> None:
        self._request = request
        self._histories = histories
        first = [] if request.system_message is None else [request.system_message]
        self._messages = [*first, *request.messages]
        self._given = histories.restore(self._messages)
        self._settings = dict(request.model_settings)
        self.call = ModelCall(
            messages=list(self._given),
            model=_langchain_messages.model_name(request.model),
            provider=request.model._llm_type,
            lane=lane,
            settings={**self._settings, "tools": _langchain_messages.tool_names(request.tools)},
            show=_langchain_messages.show,
            make=reuse_messages(self._given, _langchain_messages.show, _langchain_messages.make),
            describe=lambda response: _langchain_messages.describe(response.result),
            dump=_dump,
            load=lambda answer: ModelResponse(result=_langchain_messages.load(answer)),
        )

    def build(self, call: ModelCall) -> ModelRequest[Any]:
        messages = call.messages
        system = messages[0] if messages and isinstance(messages[0], SystemMessage) else None
        settings = {name: value for name, value in call.settings.items() if name != "tools"}
        return self._request.override(
            system_message=system,
            messages=messages if system is None else messages[1:],
            model_settings=settings,
        )

    def keep_changes(self, response: ModelResponse[Any]) -> Any:
        """What was put in by hand stays in the agent's own state, if the request was that state."""
        sent = self.call.messages
        if is_unchanged(sent, self._given):
            return response
        state = self._request.state.get("messages") or []
        mine = self._request.messages
        if not is_unchanged(state, mine):
            self._histories.note(self._messages, self._given, sent)
            return response
        history = [each for each in sent if not isinstance(each, SystemMessage)]
        all_of_it = [RemoveMessage(REMOVE_ALL_MESSAGES), *history, *response.result]
        return ExtendedModelResponse(response, Command(update={"messages": all_of_it}))


def _dump(response: ModelResponse[Any]) -> Any:
    if response.structured_response is not None:
        raise TypeError("an object of the user's own class is kept by its pickle")
    return _langchain_messages.dump(response.result)
