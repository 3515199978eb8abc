"""The OpenAI Agents SDK: `install()`, once; every `Runner.run` from then on is watched.

Nested agents and handoffs go through the same runner. A tool is held in `on_tool_start`, where the
SDK's own timeout of the tool has not begun; then its function gets what was decided. Hosted tools
run at the provider, and are not seen; neither are computer, shell and patch tools.
"""

from __future__ import annotations

import functools
import json
from collections.abc import AsyncIterator, Callable
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

from agents import FunctionTool, ModelResponse, RunConfig, RunHooks, Usage
from agents.models.interface import Model, ModelProvider
from agents.run import AgentRunner, get_default_agent_runner, set_default_agent_runner
from openai.types.responses import ResponseOutputItem, ResponseStreamEvent
from pydantic import TypeAdapter

from holdfast.bridge import Bridge, active
from holdfast.bridge.agent_calls import ModelCall, ToolCall
from holdfast.bridge.answer_summary import AnswerSummary, build_usage, drop_empty
from holdfast.bridge.integrations import _nested_models
from holdfast.bridge.integrations._agent_runs import name_lane, open_run
from holdfast.bridge.integrations._message_history import Histories
from holdfast.bridge.integrations._split_tool_call import SplitCall
from holdfast.core.call_parameters import read_schema

_OUTPUT: TypeAdapter[list[ResponseOutputItem]] = TypeAdapter(list[ResponseOutputItem])
_EVENTS: TypeAdapter[list[ResponseStreamEvent]] = TypeAdapter(list[ResponseStreamEvent])
_USAGE: TypeAdapter[Usage] = TypeAdapter(Usage)


def install(dbg: Bridge | None = None, *, lane: str | None = None) -> Callable[[], None]:
    """Record and steer every run of every agent; returns a function that ends that."""
    before = get_default_agent_runner()
    plain = before.before if isinstance(before, HoldfastRunner) else before
    set_default_agent_runner(HoldfastRunner(plain, _WatchOptions(dbg or active(), lane)))
    return lambda: set_default_agent_runner(plain)


@dataclass
class _WatchOptions:
    dbg: Bridge
    lane: str | None

    def __post_init__(self) -> None:
        self.histories = Histories(lambda message: message)


_current: ContextVar[_WatchOptions | None] = ContextVar("holdfast_openai_agents", default=None)
"""What the run that goes on here belongs to."""


class HoldfastRunner(AgentRunner):
    def __init__(self, before: AgentRunner, watching: _WatchOptions) -> None:
        self.before = before
        self._watching = watching

    async def run(self, starting_agent: Any, input: Any, **options: Any) -> Any:  # noqa: A002
        hooks = self._prepare(starting_agent, options)
        token = _current.set(self._watching)
        try:
            with open_run(self._watching.dbg, self._watching.lane, str(starting_agent.name)):
                return await self.before.run(starting_agent, input, **options)
        finally:
            _current.reset(token)
            await hooks.withdraw()

    def run_sync(self, starting_agent: Any, input: Any, **options: Any) -> Any:  # noqa: A002
        self._prepare(starting_agent, options)
        token = _current.set(self._watching)
        try:
            with open_run(self._watching.dbg, self._watching.lane, str(starting_agent.name)):
                return self.before.run_sync(starting_agent, input, **options)
        finally:
            _current.reset(token)

    def run_streamed(self, starting_agent: Any, input: Any, **options: Any) -> Any:  # noqa: A002
        self._prepare(starting_agent, options)
        token = _current.set(self._watching)
        try:
            # The task that it starts takes this context along.
            return self.before.run_streamed(starting_agent, input, **options)
        finally:
            _current.reset(token)

    def _prepare(self, agent: Any, options: dict[str, Any]) -> _Hooks:
        given = options.get("hooks")
        hooks = given if isinstance(given, _Hooks) else _Hooks(given)
        config = options.get("run_config") or RunConfig()
        if isinstance(config, dict):
            config = RunConfig(**config)
        if isinstance(config.model, Model):
            _watch_model(config.model)
        if not isinstance(config.model_provider, _Provider):
            config = replace(config, model_provider=_Provider(config.model_provider))
        options |= {"hooks": hooks, "run_config": config}
        if isinstance(agent.model, Model):
            _watch_model(agent.model)
        return hooks


class _Provider(ModelProvider):
    """Whatever model is asked for by its name."""

    def __init__(self, inner: ModelProvider) -> None:
        self._inner = inner

    def get_model(self, model_name: str | None) -> Model:
        return _watch_model(self._inner.get_model(model_name))

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Hooks(RunHooks[Any]):
    """Ours, and then those of the user."""

    def __init__(self, inner: RunHooks[Any] | None) -> None:
        self._inner: RunHooks[Any] = RunHooks() if inner is None else inner
        self._calls: dict[int, SplitCall] = {}

    async def withdraw(self) -> None:
        """The run is over: whatever it did not come back to."""
        for call in list(self._calls.values()):
            await call.withdraw()

    async def on_llm_start(self, *args: Any, **named: Any) -> None:
        await self._inner.on_llm_start(*args, **named)

    async def on_llm_end(self, *args: Any, **named: Any) -> None:
        await self._inner.on_llm_end(*args, **named)

    async def on_agent_start(self, context: Any, agent: Any) -> None:
        if isinstance(agent.model, Model):
            _watch_model(agent.model)
        await self._inner.on_agent_start(context, agent)

    async def on_agent_end(self, *args: Any, **named: Any) -> None:
        await self._inner.on_agent_end(*args, **named)

    async def on_handoff(self, *args: Any, **named: Any) -> None:
        await self._inner.on_handoff(*args, **named)

    async def on_tool_start(self, context: Any, agent: Any, tool: Any) -> None:
        current = _current.get()
        if current is not None and isinstance(tool, FunctionTool):
            asked = _arguments(context.tool_arguments)
            call = ToolCall(tool.name, asked, id=context.tool_call_id, lane=name_lane(current.lane))
            call.parameters = read_schema(tool.params_json_schema)
            split = SplitCall(current.dbg, call)
            await split.begin()
            _watch_tool(tool)
            self._calls[id(context)] = split
            _pending[id(context)] = (context, split, self._calls)
        await self._inner.on_tool_start(context, agent, tool)

    async def on_tool_end(self, *args: Any, **named: Any) -> None:
        await self._inner.on_tool_end(*args, **named)


# Between `on_tool_start` and the tool's own function there is only its context to know it by.
_pending: dict[int, tuple[Any, SplitCall, dict[int, SplitCall]]] = {}


def _arguments(text: str) -> dict[str, Any]:
    try:
        arguments = json.loads(text or "{}")
    except ValueError:
        return {"input": text}
    return arguments if isinstance(arguments, dict) else {"input": arguments}


def _watch_tool(tool: Any) -> None:
    """Within the SDK's own handling of errors, where the tool has one."""
    invoker = tool.on_invoke_tool
    if hasattr(invoker, "_invoke_tool_impl"):
        invoker._invoke_tool_impl = _wrap_invoker(invoker._invoke_tool_impl)
    else:
        tool.on_invoke_tool = _wrap_invoker(invoker)


def _wrap_invoker(original: Any) -> Any:
    if hasattr(original, "_holdfast_original"):
        return original

    @functools.wraps(original)
    async def invoke(context: Any, arguments: str) -> Any:
        _, split, calls = _pending.pop(id(context), (None, None, {}))
        calls.pop(id(context), None)
        if split is None:
            return await original(context, arguments)

        async def perform(given: dict[str, Any]) -> Any:
            is_same = given == _arguments(arguments)
            return await original(context, arguments if is_same else json.dumps(given))

        split.perform_with(perform)
        return await split.outcome()

    invoke._holdfast_original = original  # type: ignore[attr-defined]
    return invoke


def _watch_model(model: Model) -> Model:
    """On the object itself: the runner asks an agent for it anew in every turn."""
    if hasattr(model.get_response, "_holdfast_original"):
        return model
    get, stream = model.get_response, model.stream_response

    @functools.wraps(get)
    async def get_response(*args: Any, **named: Any) -> Any:
        current, given = _current.get(), {**_name_arguments(args), **named}
        if current is None or _nested_models.is_inside():
            return await get(**given)
        request = _ModelRequest(current, model, given)
        request.call.describe, request.call.dump, request.call.load = _describe, _dump, _load
        try:
            return await current.dbg.acall_model(
                request.call,
                lambda call: _nested_models.await_inside(
                    lambda: get(**request.build_arguments(call))
                ),
            )
        finally:
            request.note()

    @functools.wraps(stream)
    async def stream_response(*args: Any, **named: Any) -> AsyncIterator[Any]:
        current, given = _current.get(), {**_name_arguments(args), **named}
        if current is None or _nested_models.is_inside():
            async for event in stream(**given):
                yield event
            return
        request = _ModelRequest(current, model, given)
        request.call.describe = _describe_events
        request.call.dump = lambda events: _EVENTS.dump_python(
            events, mode="json", exclude_unset=True
        )
        request.call.load = _EVENTS.validate_python
        events = current.dbg.astream_model(
            request.call,
            lambda call: _nested_models.astream_inside(stream(**request.build_arguments(call))),
        )
        try:
            async for event in events:
                request.note()
                # Nobody reads on after this one: so the rest is read first.
                rest = [later async for later in events] if event.type in _LAST else []
                yield event
                for later in rest:
                    yield later
        finally:
            request.note()

    get_response._holdfast_original = get  # type: ignore[attr-defined]
    model.get_response = get_response
    model.stream_response = stream_response
    return model


_LAST = ("response.completed", "response.incomplete", "response.failed")
_PARAMETERS = (
    *("system_instructions", "input", "model_settings", "tools", "output_schema"),
    *("handoffs", "tracing"),
)


def _name_arguments(args: tuple[Any, ...]) -> dict[str, Any]:
    """The runner names all of them; others need not."""
    return dict(zip(_PARAMETERS, args))  # noqa: B905 - some may be named, or left out


class _ModelRequest:
    """One request to a model; the instructions are the first of its messages."""

    def __init__(self, current: _WatchOptions, model: Model, given: dict[str, Any]) -> None:
        self._arguments = given
        self._is_noted = False
        system, asked = given.get("system_instructions"), given["input"]
        first = [] if system is None else [{"role": "system", "content": system}]
        items = [{"role": "user", "content": asked}] if isinstance(asked, str) else list(asked)
        self._messages = [*first, *items]
        self._histories = current.histories
        self._given = self._histories.restore(self._messages)
        settings = given.get("model_settings")
        self.call = ModelCall(
            messages=list(self._given),
            model=str(getattr(model, "model", type(model).__name__)),
            provider="openai-agents",
            lane=name_lane(current.lane),
            settings={
                **({} if settings is None else settings.to_json_dict()),
                "tools": [str(tool.name) for tool in given.get("tools") or []],
                "handoffs": [str(handoff.agent_name) for handoff in given.get("handoffs") or []],
            },
        )

    def build_arguments(self, call: ModelCall) -> dict[str, Any]:
        system, messages = None, list(call.messages)
        if messages and messages[0].get("role") == "system":
            system, messages = str(messages[0]["content"]), messages[1:]
        return {**self._arguments, "system_instructions": system, "input": messages}

    def note(self) -> None:
        if not self._is_noted:
            self._is_noted = True
            self._histories.note(self._messages, self._given, self.call.messages)


def _describe(response: ModelResponse) -> AnswerSummary:
    return _describe_items(response.output, response.usage)


def _describe_items(items: list[Any], usage: Any) -> AnswerSummary:
    texts = [
        getattr(part, "text", "")
        for item in items
        if item.type == "message"
        for part in item.content
    ]
    calls = [
        {"id": item.call_id, "name": item.name} for item in items if item.type == "function_call"
    ]
    summary: AnswerSummary = {"content": "".join(texts) or None, "toolCalls": calls}
    if usage is not None:
        cached = usage.input_tokens_details.cached_tokens
        summary["usage"] = build_usage(usage.input_tokens, usage.output_tokens, cached)
    return drop_empty(summary)


def _describe_events(events: list[Any]) -> AnswerSummary:
    ended = [event.response for event in events if event.type == "response.completed"]
    return _describe_items(ended[-1].output, ended[-1].usage) if ended else {}


def _dump(response: ModelResponse) -> dict[str, Any]:
    return {
        "output": _OUTPUT.dump_python(response.output, mode="json", exclude_unset=True),
        "usage": _USAGE.dump_python(response.usage, mode="json"),
        "response_id": response.response_id,
        "request_id": response.request_id,
    }


def _load(answer: Any) -> ModelResponse:
    """Of a recording; or by decision: a text."""
    if isinstance(answer, str):
        part = {"type": "output_text", "text": answer, "annotations": []}
        item = {"type": "message", "id": "holdfast", "role": "assistant", "status": "completed"}
        answer = {"output": [{**item, "content": [part]}], "response_id": None}
    return ModelResponse(
        output=_OUTPUT.validate_python(answer["output"]),
        usage=_USAGE.validate_python(answer["usage"]) if answer.get("usage") else Usage(),
        response_id=answer.get("response_id"),
        request_id=answer.get("request_id"),
    )
