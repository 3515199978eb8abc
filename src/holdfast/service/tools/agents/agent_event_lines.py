"""What an agent did, a line for each event that matters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.model.agent_events import MAIN
from holdfast.service.tools.holds.shown_texts import show_json, show_text
from holdfast.wire import agent_lines
from holdfast.wire.message_text import format_answer, format_content, format_result

SHOWN_TYPES = frozenset(
    (
        "user_input",
        "api_response",
        "tool_call_start",
        "tool_result",
        "tool_call_end",
        "paused",
        "resumed",
        "message_injected",
        "variable_set",
        "error",
        "replay_diverged",
        "run_end",
        "session_end",
    )
)


def render_event(kind: str, data: Mapping[str, Any]) -> str | None:
    """The event in words; None if there is nothing to say of it."""
    text = _describe(kind, {name: _shorten_body(value) for name, value in data.items()})
    if text is None:
        return None
    lane = data.get("lane")
    return show_text(f"[{lane}] {text}" if lane and lane != MAIN else text)


def _shorten_body(value: Any) -> Any:
    """A large body is in a file of its own; its preview will do."""
    if isinstance(value, dict) and agent_lines.CID in value:
        return value.get("preview")
    return value


def _describe(kind: str, data: Mapping[str, Any]) -> str | None:
    match kind:
        case "user_input":
            return f"user: {format_content(data.get('content'))}"
        case "api_response":
            return _describe_answer(data)
        case "tool_call_start":
            return (
                f"{data.get('name')} {show_json('input', data.get('input'))} ({data.get('toolId')})"
            )
        case "tool_result":
            return f"{data.get('name')} → {show_json('result', format_result(data.get('result')))}"
        case "tool_call_end":
            return (
                f"{data.get('name')} failed: {_describe_error(data)}" if data["isError"] else None
            )
        case "paused":
            return f"held before {data.get('name') or data.get('at')} ({data.get('reason')})"
        case "resumed":
            return f"{data.get('action')} by {data.get('by')}"
        case "message_injected":
            return f"injected {data.get('role')}: {format_content(data.get('content'))}"
        case "variable_set":
            return f"set {data.get('key')} = {show_json(str(data.get('key')), data.get('value'))}"
        case "run_end":
            return (
                f"its run failed: {_describe_error(data)}"
                if data.get("isError")
                else "its run ended"
            )
        case "session_end":
            return f"it ended: {data.get('reason')}"
        case _:
            return f"{kind}: {data.get('message')}"


def _describe_answer(data: Mapping[str, Any]) -> str:
    if data.get("isError"):
        return f"model failed: {_describe_error(data)}"
    said = format_answer(data.get("content")) or str(data.get("stopReason") or "answered")
    given = data.get("toolCalls")
    calls = [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []
    wanted = ", ".join(str(call.get("name")) for call in calls)
    return f"model {data.get('iteration')}: {said}" + (f" → {wanted}" if wanted else "")


def _describe_error(data: Mapping[str, Any]) -> str:
    error = data.get("error")
    return f"{error.get('type')}: {error.get('message')}" if isinstance(error, dict) else str(error)
