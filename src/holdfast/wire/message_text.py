"""A message of a conversation as text: who wrote it, and what it says.

Messages come in the shapes of the common providers and frameworks: chat messages with
`tool_calls`, contents of typed parts (Anthropic), items without a role (OpenAI's responses), and
messages of parts (pydantic-ai). `→` is a tool that is asked for, `←` what a tool gave.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

SYSTEM_ROLES = ("system", "developer")
"""The roles of a message that is a system prompt."""
SYSTEM_ARGUMENTS = ("system", "instructions", "system_prompt")
"""The names that an argument with a system prompt has."""

# Who writes an item that has no role.
_AUTHORS = {
    "function_call": "assistant",
    "custom_tool_call": "assistant",
    "reasoning": "assistant",
    "function_call_output": "tool",
    "custom_tool_call_output": "tool",
}
_CALLS = ("tool_use", "server_tool_use", "tool-call", "function_call", "custom_tool_call")
_RESULTS = ("tool_result", "tool-return", "function_call_output", "custom_tool_call_output")
_THOUGHTS = ("thinking", "reasoning", "redacted_thinking")
_OTHER_MEDIA = ("image", "image_url", "input_image", "input_audio", "input_file", "document")


def format_message(message: object) -> tuple[str, str]:
    """The author and the text of a message, for people to read."""
    if not isinstance(message, dict):
        return "", format_content(message)
    author = find_author(message)
    if message.get("name") and _kind(message) not in _CALLS:
        author = f"{author} {message['name']}"
    if _kind(message) in _RESULTS:
        return author, _format_any(_result_of(message))
    if _is_part(message):
        return author, _format_part(message)
    rest = {name: part for name, part in message.items() if name not in ("role", "content", "name")}
    content = message.get("content")
    if content is None:
        content = rest.pop("parts", None)
    text = format_content(content) if content is not None else ""
    calls = rest.get("tool_calls")
    if isinstance(calls, list) and calls:
        text = f"{text}\n→ {', '.join(map(_format_tool_call, calls))}".strip()
    return author, text or ("" if content is not None else format_content(rest))


def find_author(message: Mapping[str, object]) -> str:
    """The role of a message; of an item without one, who writes such items.

    Some providers give what tools gave in the name of the user.
    """
    kind = _kind(message)
    role = message.get("role") or _AUTHORS.get(kind) or kind or ""
    parts = message.get("parts") or message.get("content")
    if role == "user" and isinstance(parts, list) and parts:
        kinds = {_kind(part) if isinstance(part, dict) else "" for part in parts}
        if kinds <= {"tool-return", "retry-prompt", "tool_result"}:
            return "tool"
    return str(role)


def format_content(content: object) -> str:
    """The content of a message or an answer: text, parts, or whatever else."""
    if isinstance(content, list):  # the parts of a message, as the common providers have them
        return "\n".join(text for part in content if (text := _format_part(part)))
    if isinstance(content, str):
        return content
    if isinstance(content, dict) and _is_part(content):
        return _format_part(content)
    return _encode(content)


def format_answer(content: object) -> str:
    """The content of an answer without the tools that it asks for."""
    if isinstance(content, list):
        content = [
            part for part in content if not (isinstance(part, dict) and _kind(part) in _CALLS)
        ]
    return format_content(content) if content else ""


def split_thoughts(content: object) -> tuple[str, object]:
    """What a model thought, as text; and the content of its answer without that."""
    if not isinstance(content, list):
        return "", content
    thoughts = [part for part in content if isinstance(part, dict) and _kind(part) in _THOUGHTS]
    rest = [part for part in content if part not in thoughts]
    return "\n".join(map(_format_thought, thoughts)), rest


def format_result(result: object) -> object:
    """What a tool gave, where a framework has wrapped it; else the result itself."""
    if isinstance(result, dict):
        if result.get("kind") == "tool-return" and "return_value" in result:
            return result["return_value"]  # pydantic-ai's `ToolReturn`
        if _kind(result) in _RESULTS:
            return _result_of(result)
        parts = result.get("content")
        if isinstance(parts, list) and parts and set(result) <= _TOOL_RESULT_FIELDS:
            return format_content(parts)  # a tool of the Model Context Protocol
    if isinstance(result, list) and result and all(map(_is_text_part, result)):
        return format_content(result)
    return result


_TOOL_RESULT_FIELDS = {
    *("content", "isError", "is_error", "structuredContent", "structured_content", "meta", "_meta"),
}


def _kind(part: Mapping[str, object]) -> str:
    return str(part.get("part_kind") or part.get("type") or "")


def _is_part(part: Mapping[str, object]) -> bool:
    return _kind(part) in (*_CALLS, *_RESULTS, *_THOUGHTS, *_OTHER_MEDIA)


def _is_text_part(part: object) -> bool:
    return (
        isinstance(part, dict)
        and _kind(part) in ("text", "output_text", "input_text")
        and isinstance(part.get("text"), str)
    )


def _format_part(part: object) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return _encode(part)
    kind = _kind(part)
    if kind in _CALLS:
        return f"→ {_format_tool_call(part)}"
    if kind in _RESULTS:
        tool = f"{part['tool_name']}: " if part.get("tool_name") else ""
        return f"← {tool}{_format_any(_result_of(part))}"
    if kind in _THOUGHTS:
        return f"({_format_thought(part)})"
    if kind in _OTHER_MEDIA:
        return f"[{kind.replace('_', ' ')}]"
    for name in ("text", "refusal", "content"):  # the last one of pydantic-ai's parts
        if isinstance(part.get(name), str):
            return str(part[name])
    if kind in ("user-prompt", "retry-prompt") and part.get("content") is not None:
        return format_content(part["content"])
    return _encode(part)


def _format_thought(part: Mapping[str, object]) -> str:
    for name in ("thinking", "text", "content", "summary"):
        given = part.get(name)
        if given and isinstance(given, (str, list)):
            return format_content(given)
    return "reasoning"


def _format_tool_call(call: object) -> str:
    if not isinstance(call, dict):
        return str(call)
    function = call.get("function")
    inner = function if isinstance(function, dict) else call
    name = inner.get("name") or inner.get("tool_name")
    arguments = next(
        (inner[key] for key in ("arguments", "args", "input") if inner.get(key) is not None), None
    )
    return str(name) if arguments is None else f"{name}({_format_any(arguments)})"


def _result_of(part: Mapping[str, object]) -> object:
    return part["output"] if "output" in part else part.get("content")


def _format_any(value: object) -> str:
    if isinstance(value, list) and all(map(_is_text_part, value)):
        return format_content(value)
    return value if isinstance(value, str) else _encode(value)


def _encode(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
