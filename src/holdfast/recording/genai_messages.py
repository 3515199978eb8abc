"""Messages in the shape of OpenTelemetry's GenAI conventions: a role, and parts of known types.

    {"role": "assistant", "parts": [
        {"type": "text", "content": "…"},
        {"type": "tool_call", "id": "c1", "name": "…", "arguments": {}}]}

They come in as the common providers have them. What is of no known kind is a part of its own type.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

_SYSTEM = ("system", "developer")
_ROLES = {"human": "user", "ai": "assistant", "model": "assistant", "function": "tool"}


def split_system(messages: Iterable[Any]) -> tuple[list[Any], list[Any]]:
    """The parts of the system's instructions, and the other messages, both in this shape."""
    instructions: list[Any] = []
    others: list[Any] = []
    for message in messages:
        shaped = shape_message(message)
        if shaped["role"] in _SYSTEM:
            instructions += shaped["parts"]
        else:
            others.append(shaped)
    return instructions, others


def shape_message(message: Any) -> dict[str, Any]:
    if not isinstance(message, dict):
        return {"role": "user", "parts": _shape_content(message)}
    role = str(message.get("role") or message.get("type") or "user")
    role = _ROLES.get(role, role)
    content = message.get("content")
    if role == "tool":
        part = {"type": "tool_call_response", "response": content}
        tool_id = message.get("tool_call_id") or message.get("call_id") or message.get("id")
        return {"role": role, "parts": [part if tool_id is None else {**part, "id": tool_id}]}
    parts = _shape_content(content) if content not in (None, "") else []
    parts += [_shape_call(call) for call in _list(message.get("tool_calls"))]
    parts += [_shape_part(part) for part in _list(message.get("parts"))]
    return {"role": role, "parts": parts}


def shape_answer(outcome: dict[str, Any]) -> dict[str, Any]:
    """What a model answered, of the fields of an `api_response` whose bodies are read."""
    shaped = shape_message({"role": "assistant", "content": outcome.get("content")})
    calls = _list(outcome.get("toolCalls"))
    whole = {_id_of(call): call for call in _find_calls(outcome.get("response"))}
    is_shown = any(part["type"] == "tool_call" for part in shaped["parts"])
    if not is_shown:
        shaped["parts"] += [_shape_call(whole.get(_id_of(call), call)) for call in calls]
    if outcome.get("stopReason") is not None:
        shaped["finish_reason"] = str(outcome["stopReason"])
    return shaped


def _shape_content(content: Any) -> list[Any]:
    if isinstance(content, list):
        return [_shape_part(part) for part in content]
    text = content if isinstance(content, str) else json.dumps(content, default=repr)
    return [{"type": "text", "content": text}]


def _shape_part(part: Any) -> dict[str, Any]:
    if not isinstance(part, dict):
        return {"type": "text", "content": str(part)}
    kind = str(part.get("type") or part.get("part_kind") or "unknown")
    if isinstance(part.get("text"), str):
        return {"type": "text", "content": part["text"]}
    if kind in ("tool_use", "function_call", "tool-call"):
        return _shape_call(part)
    if kind in ("tool_result", "function_call_output", "tool-return"):
        result = part.get("content", part.get("output"))
        return {"type": "tool_call_response", "id": _id_of(part), "response": result}
    if isinstance(part.get("content"), str):
        is_text = kind in ("text", "user-prompt", "system-prompt")
        return {"type": "text" if is_text else kind, "content": part["content"]}
    return {**part, "type": kind}


def _shape_call(call: Any) -> dict[str, Any]:
    if not isinstance(call, dict):
        return {"type": "tool_call", "name": str(call)}
    inner = call["function"] if isinstance(call.get("function"), dict) else call
    name = inner.get("name") or inner.get("tool_name")
    shaped = {"type": "tool_call", "id": _id_of(call), "name": name}
    for field in ("arguments", "args", "input"):
        if inner.get(field) is not None:
            return {**shaped, "arguments": _parse(inner[field])}
    return shaped


def _id_of(call: Any) -> Any:
    names = ("call_id", "id", "tool_use_id", "tool_call_id")
    return next((call[name] for name in names if call.get(name)), None)


def _find_calls(response: Any) -> list[Any]:
    """The tool calls of a whole answer, with their arguments, where a common client has them."""
    if not isinstance(response, dict):
        return []
    choices = _list(response.get("choices"))
    message = choices[0].get("message") if choices and isinstance(choices[0], dict) else response
    message = message if isinstance(message, dict) else {}
    found = [*_list(message.get("tool_calls")), *_list(message.get("output"))]
    found += [part for part in _list(message.get("content")) if isinstance(part, dict)]
    return [call for call in found if isinstance(call, dict)]


def _parse(arguments: Any) -> Any:
    try:
        return json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return arguments


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
