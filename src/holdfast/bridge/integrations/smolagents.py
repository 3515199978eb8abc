"""smolagents: `watch(agent)`, of any kind, with the agents that it manages.

Its callbacks come after a step, too late to hold one: so the model's `generate`, and each tool's
`forward`, are wrapped on these very objects. Code of a `CodeAgent` that runs elsewhere (docker, a
remote sandbox) takes its tools along: those are not seen.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from types import GeneratorType
from typing import Any, TypeVar

from smolagents import LocalPythonExecutor, MultiStepAgent, Tool
from smolagents.models import (
    ChatMessage,
    ChatMessageStreamDelta,
    ChatMessageToolCallFunction,
    ChatMessageToolCallStreamDelta,
    MessageRole,
    Model,
    TokenUsage,
    agglomerate_stream_deltas,
)

from holdfast.bridge import Bridge, active
from holdfast.bridge.agent_calls import ModelCall, ToolCall
from holdfast.bridge.answer_summary import AnswerSummary
from holdfast.bridge.integrations import _nested_models
from holdfast.bridge.integrations._agent_runs import name_lane, open_run
from holdfast.bridge.integrations._message_history import Histories, reuse_messages
from holdfast.core.call_parameters import read_schema

AgentT = TypeVar("AgentT", bound=MultiStepAgent)


def watch(agent: AgentT, dbg: Bridge | None = None, *, lane: str | None = None) -> AgentT:
    """Record and steer this agent; returns it.

    A `CodeAgent` gives a piece of code 30 seconds, and a hold would count: so that limit is lifted.
    """
    watching = _AgentWatch(dbg or active(), lane)
    watching.watch_agent(agent)
    _wrap(agent, "run", watching.run)
    return agent


def _wrap(thing: Any, name: str, wrapper: Callable[..., Any]) -> None:
    """Put `wrapper(original, thing)` in its place; once, even if it is watched again."""
    now = getattr(thing, name)
    original = getattr(now, "_holdfast_original", now)

    @functools.wraps(original)
    def call_wrapper(*args: Any, **more: Any) -> Any:
        return wrapper(original, thing, *args, **more)

    call_wrapper._holdfast_original = original  # type: ignore[attr-defined]
    setattr(thing, name, call_wrapper)


class _AgentWatch:
    def __init__(self, dbg: Bridge, lane: str | None) -> None:
        self._dbg = dbg
        self._lane_given = lane
        self._histories = Histories(show)

    @property
    def _lane(self) -> str:
        return name_lane(self._lane_given)

    def watch_agent(self, agent: Any) -> None:
        _wrap(agent.model, "generate", self.generate)
        if hasattr(agent.model, "generate_stream"):
            _wrap(agent.model, "generate_stream", self.generate_stream)
        executor = getattr(agent, "python_executor", None)
        if executor is None or isinstance(executor, LocalPythonExecutor):
            for tool in agent.tools.values():
                _wrap(tool, "forward", self.forward)
        if isinstance(executor, LocalPythonExecutor):
            executor.timeout_seconds = None
        for inner in agent.managed_agents.values():
            self.watch_agent(inner)
            _wrap(inner, "run", self.run_managed)

    def run(self, original: Callable[..., Any], agent: Any, *args: Any, **more: Any) -> Any:
        with open_run(self._dbg, self._lane_given, agent.name):
            result = original(*args, **more)
        if not isinstance(result, GeneratorType):
            return result
        return self._run_steps(result)

    def _run_steps(self, steps: Iterator[Any]) -> Iterator[Any]:
        with open_run(self._dbg, self._lane_given):
            yield from steps

    def run_managed(
        self, original: Callable[..., Any], agent: Any, task: str, *args: Any, **more: Any
    ) -> Any:
        """For the agent that manages it, an agent is a tool."""

        def run(given: dict[str, Any]) -> Any:
            with open_run(self._dbg, None, agent.name):
                return original(given["task"], *args, **more)

        return self._dbg.call_tool(ToolCall(agent.name, {"task": task}, lane=self._lane), run)

    def forward(self, original: Callable[..., Any], tool: Tool, *args: Any, **more: Any) -> Any:
        asked = _bind_arguments(original, args, more)
        is_answer = tool.name == "final_answer"
        call = ToolCall(tool.name, asked, lane=self._lane, pure=is_answer)
        call.parameters = read_schema({"properties": tool.inputs})
        return self._dbg.call_tool(call, lambda given: original(**given))

    def generate(
        self,
        original: Callable[..., Any],
        model: Model,
        messages: list[Any],
        *args: Any,
        **more: Any,
    ) -> Any:
        if _nested_models.is_inside():
            return original(messages, *args, **more)
        call, given = self._build_call(model, messages, args, more)

        def send(call: ModelCall) -> Any:
            return _nested_models.call_inside(lambda: original(call.messages, *args, **more))

        try:
            return self._dbg.call_model(call, send)
        finally:
            self._histories.note(messages, given, call.messages)

    def generate_stream(
        self,
        original: Callable[..., Any],
        model: Model,
        messages: list[Any],
        *args: Any,
        **more: Any,
    ) -> Iterator[Any]:
        if _nested_models.is_inside():
            yield from original(messages, *args, **more)
            return
        call, given = self._build_call(model, messages, args, more)
        call.describe = lambda deltas: describe(agglomerate_stream_deltas(deltas))
        call.dump, call.load = _dump_deltas, _load_deltas
        try:
            yield from self._dbg.stream_model(
                call,
                lambda call: _nested_models.stream_inside(original(call.messages, *args, **more)),
            )
        finally:
            self._histories.note(messages, given, call.messages)

    def _build_call(
        self, model: Model, messages: list[Any], args: tuple[Any, ...], more: dict[str, Any]
    ) -> tuple[ModelCall, list[Any]]:
        given = self._histories.restore(messages)
        settings = {name: value for name, value in more.items() if name != "tools_to_call_from"}
        if args:
            settings["args"] = list(args)
        tools = more.get("tools_to_call_from")
        if tools:
            settings["tools"] = [tool.name for tool in tools]
        call = ModelCall(
            messages=list(given),
            model=model.model_id or type(model).__name__,
            provider="smolagents",
            lane=self._lane,
            settings=settings,
            show=show,
            make=reuse_messages(given, show, make),
            describe=describe,
            dump=_dump,
            load=_load,
        )
        return call, given


def _bind_arguments(
    function: Callable[..., Any], args: tuple[Any, ...], more: dict[str, Any]
) -> dict[str, Any]:
    """The arguments of a call by their names; of one that does not fit, as they are."""
    try:
        bound = inspect.signature(function).bind(*args, **more)
    except (TypeError, ValueError):
        return dict(more)
    arguments: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        kind = bound.signature.parameters[name].kind
        arguments |= value if kind is inspect.Parameter.VAR_KEYWORD else {name: value}
    return arguments


def show(message: Any) -> dict[str, Any]:
    if isinstance(message, dict):
        return message
    fields: dict[str, Any] = {"role": _role(message.role), "content": message.content}
    if message.tool_calls:
        fields["tool_calls"] = [_dump_call(call) for call in message.tool_calls]
    return fields


def make(message: dict[str, Any]) -> ChatMessage:
    content = message.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    return ChatMessage.from_dict({**message, "content": content})


def describe(message: ChatMessage) -> AnswerSummary:
    summary: AnswerSummary = {"content": message.content}
    if message.tool_calls:
        summary["toolCalls"] = [
            {"id": call.id, "name": call.function.name} for call in message.tool_calls
        ]
    if message.token_usage is not None:
        summary["usage"] = {
            "inputTokens": message.token_usage.input_tokens,
            "outputTokens": message.token_usage.output_tokens,
        }
    return summary


def _role(role: Any) -> str:
    return role.value if isinstance(role, MessageRole) else str(role)


def _dump_call(call: Any) -> dict[str, Any]:
    function = {"name": call.function.name, "arguments": call.function.arguments}
    return {"id": call.id, "type": call.type, "function": function}


def _dump_usage(usage: TokenUsage | None) -> dict[str, int] | None:
    if usage is None:
        return None
    return {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}


def _load_usage(usage: dict[str, int] | None) -> TokenUsage | None:
    return None if usage is None else TokenUsage(**usage)


def _dump(message: ChatMessage) -> dict[str, Any]:
    """Without `raw`, which is whatever the provider's own client gave."""
    return {**show(message), "token_usage": _dump_usage(message.token_usage)}


def _load(answer: Any) -> ChatMessage:
    """Of a recording; or by decision: a text, or a message."""
    if isinstance(answer, str):
        answer = {"content": answer}
    usage = _load_usage(answer.get("token_usage"))
    return ChatMessage.from_dict({"role": "assistant", **answer}, token_usage=usage)


def _dump_deltas(deltas: list[ChatMessageStreamDelta]) -> list[dict[str, Any]]:
    return [
        {
            "content": delta.content,
            "tool_calls": [
                {
                    "index": call.index,
                    "id": call.id,
                    "type": call.type,
                    "function": None
                    if call.function is None
                    else {"name": call.function.name, "arguments": call.function.arguments},
                }
                for call in delta.tool_calls or []
            ],
            "token_usage": _dump_usage(delta.token_usage),
        }
        for delta in deltas
    ]


def _load_deltas(answer: Any) -> list[ChatMessageStreamDelta]:
    if isinstance(answer, str):
        answer = [{"content": answer}]
    return [
        ChatMessageStreamDelta(
            content=delta.get("content"),
            tool_calls=[
                ChatMessageToolCallStreamDelta(
                    index=call["index"],
                    id=call["id"],
                    type=call["type"],
                    function=None
                    if call["function"] is None
                    else ChatMessageToolCallFunction(**call["function"]),
                )
                for call in delta.get("tool_calls") or []
            ]
            or None,
            token_usage=_load_usage(delta.get("token_usage")),
        )
        for delta in answer
    ]
