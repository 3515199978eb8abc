"""Messages, answers and tools of LangChain, as the bridge wants them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ToolMessage,
    convert_to_messages,
    messages_from_dict,
    messages_to_dict,
)

from holdfast.bridge.answer_summary import AnswerSummary, build_usage, drop_empty
from holdfast.bridge.recorded_values import is_plain

_ROLES = {"human": "user", "ai": "assistant", "AIMessageChunk": "assistant"}


def show(message: BaseMessage) -> dict[str, Any]:
    fields: dict[str, Any] = {"role": _ROLES.get(message.type, message.type)}
    fields["content"] = message.content
    if message.name:
        fields["name"] = message.name
    if isinstance(message, AIMessage) and message.tool_calls:
        fields["tool_calls"] = [
            {"name": call["name"], "args": call["args"], "id": call["id"]}
            for call in message.tool_calls
        ]
    if isinstance(message, ToolMessage):
        fields["tool_call_id"] = message.tool_call_id
        if message.status != "success":
            fields["status"] = message.status
    return fields


def make(message: dict[str, Any]) -> BaseMessage:
    return convert_to_messages([message])[0]


def describe(messages: Sequence[BaseMessage]) -> AnswerSummary:
    """Of what a model answered."""
    answer = next((message for message in messages if isinstance(message, AIMessage)), None)
    if answer is None:
        return {}
    about = answer.response_metadata
    summary: AnswerSummary = {
        "content": answer.content or None,
        "stopReason": about.get("finish_reason") or about.get("stop_reason"),
        "toolCalls": [{"id": call["id"], "name": call["name"]} for call in answer.tool_calls],
    }
    if answer.usage_metadata is not None:
        usage = answer.usage_metadata
        cached = usage.get("input_token_details", {}).get("cache_read")
        summary["usage"] = build_usage(usage["input_tokens"], usage["output_tokens"], cached)
    return drop_empty(summary)


def dump(messages: Sequence[BaseMessage]) -> list[dict[str, Any]]:
    return messages_to_dict(messages)


def load(answer: Any) -> list[BaseMessage]:
    """Of a recording; or by decision: a text, a message, or several."""
    if isinstance(answer, str):
        return [AIMessage(answer)]
    messages = answer if isinstance(answer, list) else [answer]
    if all(
        isinstance(message, dict) and "type" in message and "data" in message
        for message in messages
    ):
        return messages_from_dict(messages)
    return list(
        convert_to_messages(
            [message if "role" in message else _add_role(message) for message in messages]
        )
    )


def _add_role(message: Any) -> dict[str, Any]:
    return {"role": "assistant", **message}


def model_name(model: Any) -> str:
    for name in ("model_name", "model", "model_id"):
        value = getattr(model, name, None)
        if isinstance(value, str):
            return value
    return type(model).__name__


def tool_names(tools: Sequence[Any]) -> list[str]:
    return [_tool_name(tool) for tool in tools]


def _tool_name(tool: Any) -> str:
    if not isinstance(tool, dict):
        return str(getattr(tool, "name", None) or getattr(tool, "__name__", tool))
    return str((tool.get("function") or tool).get("name") or tool.get("type"))


def result_of(message: Any) -> Any:
    """What a tool gave: its plain text if there is no more to it."""
    is_simple = (
        isinstance(message, ToolMessage)
        and message.status == "success"
        and message.artifact is None
        and not message.additional_kwargs
        and is_plain(message.content)
    )
    return message.content if is_simple else message


def message_of(result: Any, call: Any) -> Any:
    """The message that a tool's result is: what `result_of` made of it, or what was decided."""
    if isinstance(result, ToolMessage) or not is_plain(result):
        return result
    content = result if isinstance(result, str) or _is_blocks(result) else _text(result)
    return ToolMessage(content=content, name=call["name"], tool_call_id=call["id"])


def _is_blocks(result: Any) -> bool:
    return isinstance(result, list) and all(
        isinstance(block, str) or (isinstance(block, dict) and "type" in block) for block in result
    )


def _text(result: Any) -> str:
    return json.dumps(result, ensure_ascii=False)
