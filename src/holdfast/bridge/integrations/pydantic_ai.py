"""pydantic-ai: `Agent(…, capabilities=[HoldfastCapability()])`, or for one `run`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from pydantic import TypeAdapter
from pydantic_ai import RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import (
    InstructionPart,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestContext, ModelRequestParameters
from pydantic_ai.run import AgentRunResult
from pydantic_ai.tools import ToolDefinition

from holdfast.bridge import Bridge, active
from holdfast.bridge.agent_calls import ModelCall, ToolCall
from holdfast.bridge.answer_summary import AnswerSummary, build_usage, drop_empty
from holdfast.bridge.integrations._agent_runs import name_lane, open_run
from holdfast.bridge.integrations._message_history import Histories, is_unchanged, reuse_messages
from holdfast.core.call_parameters import read_schema

_MESSAGE: TypeAdapter[ModelMessage] = TypeAdapter(ModelMessage)
# Made anew for every run, or of no interest to a model.
_VOLATILE = ("timestamp", "run_id", "conversation_id", "usage", "metadata", "provider_details")


class HoldfastCapability(AbstractCapability[Any]):
    """Records and steers the agent that has it."""

    def __init__(self, dbg: Bridge | None = None, *, lane: str | None = None) -> None:
        self._dbg = dbg or active()
        self._lane = lane
        self._histories = Histories(show)

    async def wrap_run(self, ctx: RunContext[Any], *, handler: Any) -> AgentRunResult[Any]:
        with open_run(self._dbg, self._lane, _name(ctx)):
            return await handler()

    async def wrap_model_request(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, handler: Any
    ) -> ModelResponse:
        messages = list(request_context.messages)
        given = self._histories.restore(messages)
        settings = cast("dict[str, Any]", dict(request_context.model_settings or {}))
        parameters = request_context.model_request_parameters
        tools = [tool.name for tool in [*parameters.function_tools, *parameters.output_tools]]
        prompt = _Prompt()
        call = ModelCall(
            messages=list(given),
            model=request_context.model.model_name,
            provider=request_context.model.system,
            lane=name_lane(self._lane),
            settings={**settings, "tools": tools},
            show=show,
            make=reuse_messages(given, show, make),
            describe=describe,
            dump=lambda response: _MESSAGE.dump_python(response, mode="json"),
            load=_load,
            system=prompt,
        )

        async def send(call: ModelCall) -> ModelResponse:
            wanted: Any = {k: value for k, value in call.settings.items() if k != "tools"}
            changed = replace(
                request_context,
                messages=list(call.messages),
                model_settings=wanted or request_context.model_settings,
                model_request_parameters=prompt.put_into(parameters),
            )
            return await handler(changed)

        try:
            return await self._dbg.acall_model(call, send)
        finally:
            self._keep_edits(ctx, messages, given, call.messages)

    def _keep_edits(
        self,
        ctx: RunContext[Any],
        messages: list[ModelMessage],
        given: list[ModelMessage],
        sent: list[ModelMessage],
    ) -> None:
        """What was put in by hand stays in the run's own history, if the request was all of it."""
        if is_unchanged(sent, given):
            return
        if is_unchanged(ctx.messages, messages):
            ctx.messages[:] = sent
        else:
            self._histories.note(messages, given, sent)

    async def wrap_tool_execute(
        self,
        ctx: RunContext[Any],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: dict[str, Any],
        handler: Any,
    ) -> Any:
        asked = call.args_as_dict()

        async def run(given: dict[str, Any]) -> Any:
            # What a person typed is JSON: it is checked, and made into objects, as a model's is.
            return await handler(args if given == asked else _validate(ctx, call, given))

        held = ToolCall(call.tool_name, asked, id=call.tool_call_id, lane=name_lane(self._lane))
        held.parameters = read_schema(tool_def.parameters_json_schema)
        return await self._dbg.acall_tool(held, run)


class _Prompt:
    """A part of a message, or else the instructions, which the request has beside its messages."""

    def __init__(self) -> None:
        self._written: str | None = None

    def read(self, call: ModelCall) -> Any:
        part = self._find_part(call)
        if part is not None:
            return call.messages[part[0]].parts[part[1]].content
        requests = [each for each in call.messages if isinstance(each, ModelRequest)]
        return next((each.instructions for each in reversed(requests) if each.instructions), None)

    def write(self, call: ModelCall, text: str) -> None:
        part = self._find_part(call)
        if part is not None:
            message, at = call.messages[part[0]], part[1]
            parts = list(message.parts)
            parts[at] = replace(parts[at], content=text)
            call.messages[part[0]] = replace(message, parts=parts)
            return
        has_any = False
        for at, message in enumerate(call.messages):
            if isinstance(message, ModelRequest) and message.instructions:
                call.messages[at] = replace(message, instructions=text)
                has_any = True
        if has_any:
            self._written = text
        else:
            call.messages.insert(0, make({"role": "system", "content": text}))

    def _find_part(self, call: ModelCall) -> tuple[int, int] | None:
        for number, message in enumerate(call.messages):
            for at, part in enumerate(message.parts):
                if isinstance(part, SystemPromptPart):
                    return number, at
        return None

    def put_into(self, parameters: ModelRequestParameters) -> ModelRequestParameters:
        """Newer versions send what stands here, and not what the messages say."""
        if self._written is None or getattr(parameters, "instruction_parts", None) is None:
            return parameters
        return replace(parameters, instruction_parts=[InstructionPart(content=self._written)])


def _name(ctx: RunContext[Any]) -> str | None:
    return None if ctx.agent is None else ctx.agent.name


def _validate(ctx: RunContext[Any], call: ToolCallPart, given: dict[str, Any]) -> dict[str, Any]:
    manager = ctx.tool_manager
    tool = None if manager is None else (manager.tools or {}).get(call.tool_name)
    if tool is None:
        return given
    return tool.args_validator.validate_python(given, context=ctx.validation_context)


def show(message: ModelMessage) -> dict[str, Any]:
    """A message of one text is `{"role", "content"}`; others have their parts."""
    role = "user" if isinstance(message, ModelRequest) else "assistant"
    fields: dict[str, Any] = {}
    match message.parts:
        case [UserPromptPart(content=str() as text)]:
            fields = {"role": "user", "content": text}
        case [SystemPromptPart(content=text)]:
            fields = {"role": "system", "content": text}
        case [TextPart(content=text)]:
            fields = {"role": "assistant", "content": text}
        case _:
            parts = _MESSAGE.dump_python(message, mode="json")["parts"]
            fields = {"role": role, "parts": [_drop_volatile(part) for part in parts]}
    if isinstance(message, ModelRequest) and message.instructions:
        fields["instructions"] = message.instructions
    return fields


def _drop_volatile(part: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value for name, value in part.items() if value is not None and name not in _VOLATILE
    }


def make(message: dict[str, Any]) -> ModelMessage:
    role, content = message["role"], message.get("content")
    if "parts" in message:
        kind = "response" if role == "assistant" else "request"
        return _MESSAGE.validate_python({"kind": kind, "parts": message["parts"]})
    if role == "assistant":
        return ModelResponse(parts=[TextPart(str(content))])
    part = SystemPromptPart(str(content)) if role == "system" else UserPromptPart(content or "")
    return ModelRequest(parts=[part], instructions=message.get("instructions"))


def describe(response: ModelResponse) -> AnswerSummary:
    calls, usage = response.tool_calls, response.usage
    summary: AnswerSummary = {
        "stopReason": response.finish_reason,
        "usage": build_usage(usage.input_tokens, usage.output_tokens, usage.cache_read_tokens),
        "content": response.text,
        "toolCalls": [{"id": call.tool_call_id, "name": call.tool_name} for call in calls],
    }
    return drop_empty(summary)


def _load(answer: Any) -> ModelResponse:
    """Of a recording; or by decision: a text, or a message."""
    if isinstance(answer, str):
        return ModelResponse(parts=[TextPart(answer)])
    is_whole = "kind" in answer
    response = (
        _MESSAGE.validate_python(answer) if is_whole else make({"role": "assistant", **answer})
    )
    if not isinstance(response, ModelResponse):
        raise ValueError("a model's answer is a response, not a request")
    return response
