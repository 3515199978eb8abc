"""A message of a conversation as text: who wrote it, and what it says."""

from __future__ import annotations

import json


def format_message(message: object) -> tuple[str, str]:
    """The author and the text of a message, for people to read."""
    if not isinstance(message, dict):
        return "", _format_content(message)
    author = str(message.get("role") or message.get("type") or "")
    if message.get("name"):
        author = f"{author} {message['name']}"
    rest = {name: part for name, part in message.items() if name not in ("role", "content", "name")}
    text = _format_content(message["content"]) if message.get("content") is not None else ""
    calls = rest.get("tool_calls")
    if isinstance(calls, list) and calls:
        text = f"{text}\n→ {', '.join(map(_format_tool_call, calls))}".strip()
    return author, text or _format_content(rest)


def _format_tool_call(call: object) -> str:
    if not isinstance(call, dict):
        return str(call)
    function = call.get("function")
    inner = function if isinstance(function, dict) else call
    arguments = inner.get("arguments", inner.get("args", inner.get("input")))
    if arguments is None:
        return str(inner.get("name"))
    if not isinstance(arguments, str):
        arguments = _format_content(arguments)
    return f"{inner.get('name')}({arguments})"


def _format_content(content: object) -> str:
    if isinstance(content, list):  # the parts of a message, as the common providers have them
        return "\n".join(
            part["text"]
            if isinstance(part, dict) and isinstance(part.get("text"), str)
            else _format_content(part)
            for part in content
        )
    if isinstance(content, str):
        return content
    return json.dumps(content, ensure_ascii=False, default=str)
