"""Formats an event in one line: when, what, and the one thing that matters about it."""

from __future__ import annotations

import datetime
import json
from typing import Any

from rich.text import Text

from holdfast.model.agent_events import EventData, RecordedEvent
from holdfast.wire import agent_lines

_MAX_WIDTH = 100
_COLOURS = {
    "session_start": "green",
    "session_end": "green",
    "user_input": "cyan",
    "api_request": "blue",
    "api_response": "blue",
    "tool_call_start": "yellow",
    "tool_result": "yellow",
    "tool_call_end": "yellow",
    "paused": "magenta",
    "resumed": "magenta",
    "step_complete": "magenta",
    "breakpoint_hit": "magenta",
    "error": "red",
    "replay_diverged": "red",
    "events_lost": "red",
}


def format_event(event: RecordedEvent) -> Text:
    """`[13:10:00] tool_call_end        ✓ read_file (12ms)`"""
    kind = str(event.get("type"))
    moment = agent_lines.parse_timestamp(event.get("timestamp"))
    clock = datetime.datetime.fromtimestamp(moment).strftime("%H:%M:%S") if moment else "??:??:??"
    line = Text(f"[{clock}] {kind:<20}", style=_COLOURS.get(kind, "dim"))
    data = event.get("data")
    summary = _summarize(kind, data) if isinstance(data, dict) else ""
    if summary:
        line.append(" ").append(summary if isinstance(summary, Text) else Text(summary))
    return line


def _summarize(kind: str, data: EventData) -> str | Text:
    match kind:
        case "session_start":
            names = [str(data[field]) for field in ("provider", "model") if data.get(field)]
            return "/".join(names) or str(data.get("name") or "")
        case "session_end":
            return str(data.get("reason") or "")
        case "lane_start":
            parent = f" of {data['parent']}" if data.get("parent") else ""
            inside = f" in {data['within']}" if data.get("within") else ""
            return f"{data.get('lane')}{parent}{inside}"
        case "user_input":
            return shorten(data.get("content"))
        case "api_request":
            return f"{data.get('messageCount')} messages" + _format_lane(data)
        case "api_response":
            return _format_response(data)
        case "tool_call_start":
            return f"{data.get('name')} {shorten(data.get('input'))}".rstrip() + _format_lane(data)
        case "tool_result":
            faked = " (made up)" if data.get("faked") else ""
            return f"{data.get('name')} → {shorten(data.get('result'))}{faked}"
        case "tool_call_end":
            return _format_end(data)
        case "paused":
            held = " ".join(str(data[field]) for field in ("at", "name") if data.get(field))
            paused = f"Agent paused before {held} ({data.get('reason')}, {data.get('stop')})"
            return paused + _format_lane(data)
        case "resumed":
            return f"Agent resumed: {data.get('action')}, by {data.get('by')} ({data.get('stop')})"
        case "breakpoint_hit":
            point = data.get("breakpoint")
            return str(point.get("id")) if isinstance(point, dict) else ""
        case "step_complete" | "state_snapshot":
            return f"iteration {data.get('iteration')}"
        case "command_executed" | "command_applied" | "command_response":
            status = data.get("status") or ""
            return f"{data.get('type')} {status} {data.get('note') or ''}".rstrip()
        case "message_injected":
            return f"{data.get('role')}: {shorten(data.get('content'))}"
        case "variable_set" | "value_recorded":
            name = data.get("key", data.get("name"))
            return f"{name} = {shorten(data.get('value'))}"
        case "context_compaction":
            return f"{data.get('before')} → {data.get('after')} messages"
        case "events_lost":
            return f"{data.get('count')} events could not be written"
        case "error" | "replay_diverged":
            return shorten(data.get("message") or data.get("kind"))
        case _:
            return ""


def _format_response(data: EventData) -> str | Text:
    took = f"({_format_duration(data.get('durationMs'))})"
    if data.get("isError"):
        return Text(f"✗ {_format_error(data)} {took}", style="red")
    return f"{data.get('stopReason') or 'answered'} {took}"


def _format_end(data: EventData) -> Text:
    failed = bool(data.get("isError"))
    mark = Text("✗" if failed else "✓", style="red" if failed else "green")
    mark.append(
        f" {data.get('name')} ({_format_duration(data.get('durationMs'))})", style="default"
    )
    for word in ("cancelled", "abandoned"):
        if data.get(word):
            mark.append(f" {word}", style="red")
    if failed and data.get("error"):
        mark.append(f" {_format_error(data)}", style="red")
    return mark


def _format_error(data: EventData) -> str:
    error = data.get("error")
    if isinstance(error, dict):
        return shorten(f"{error.get('type')}: {error.get('message')}")
    return shorten(error)


def _format_duration(milliseconds: Any) -> str:
    return f"{milliseconds:.0f}ms" if isinstance(milliseconds, (int, float)) else "?ms"


def _format_lane(data: EventData) -> str:
    return f" [{data['lane']}]" if data.get("lane") else ""


def format_point(point: EventData) -> str:
    """A breakpoint: `tool write_*`."""
    main = next((point[n] for n in ("name", "count", "regex", "condition") if point.get(n)), "")
    return f"{point.get('on')} {main}".rstrip()


def shorten(value: Any) -> str:
    """A value in one line, its end left out if it is long."""
    if isinstance(value, dict) and "$cid" in value:
        value = value.get("preview", "")
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    text = " ".join(text.split())
    return text if len(text) <= _MAX_WIDTH else text[: _MAX_WIDTH - 1] + "…"
