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

from holdfast.bridge.recorded_values import is_plain

_ROLES = {"human": "user", "ai": "assistant", "AIMessageChunk": "assistant"}


def show(message: BaseMessage) -> dict[str, Any]:
    found: dict[str, Any] = {"role": _ROLES.get(message.type, message.type)}
    found["content"] = message.content
    if message.name:
        found["name"] = message.name
    if isinstance(message, AIMessage) and message.tool_calls:
        found["tool_calls"] = [
            {"name": each["name"], "args": each["args"], "id": each["id"]}
            for each in message.tool_calls
        ]
    if isinstance(message, ToolMessage):
        found["tool_call_id"] = message.tool_call_id
        if message.status != "success":
            found["status"] = message.status
    return found


def make(message: dict[str, Any]) -> BaseMessage:
    return convert_to_messages([message])[0]


def describe(messages: Sequence[BaseMessage]) -> dict[str, Any]:
    """Of what a model answered."""
    answer = next((each for each in messages if isinstance(each, AIMessage)), None)
    if answer is None:
        return {}
    about = answer.response_metadata
    found: dict[str, Any] = {
        "content": answer.content,
        "stopReason": about.get("finish_reason") or about.get("stop_reason"),
        "toolCalls": [{"id": each["id"], "name": each["name"]} for each in answer.tool_calls],
    }
    if answer.usage_metadata is not None:
        found["usage"] = {
            "inputTokens": answer.usage_metadata["input_tokens"],
            "outputTokens": answer.usage_metadata["output_tokens"],
        }
    return {name: value for name, value in found.items() if value}


def dump(messages: Sequence[BaseMessage]) -> list[dict[str, Any]]:
    return messages_to_dict(messages)


def load(answer: Any) -> list[BaseMessage]:
    """Of a recording; or by decision: a text, a message, or several."""
    if isinstance(answer, str):
        return [AIMessage(answer)]
    each = answer if isinstance(answer, list) else [answer]
    if all(isinstance(one, dict) and "type" in one and "data" in one for one in each):
        return messages_from_dict(each)
    return list(convert_to_messages([one if "role" in one else _add_role(one) for one in each]))


def _add_role(message: Any) -> dict[str, Any]:
    return {"role": "assistant", **message}


def model_name(model: Any) -> str:
    for name in ("model_name", "model", "model_id"):
        found = getattr(model, name, None)
        if isinstance(found, str):
            return found
    return type(model).__name__


def tool_names(tools: Sequence[Any]) -> list[str]:
    return [_tool_name(each) for each in tools]


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
        isinstance(each, str) or (isinstance(each, dict) and "type" in each) for each in result
    )


def _text(result: Any) -> str:
    return json.dumps(result, ensure_ascii=False)
