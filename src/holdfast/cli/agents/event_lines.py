"""Formats events for people: when, what, and the one thing that matters about it.

    [13:10:00] api_response         tool_use (812ms)
                 I look into both files.
                 → read_file (c1), read_file (c2)
    [13:10:01] tool_call_start      read_file {"path": "one.txt"} (c1)

What sub-agents and tools do stands below the tool that runs them, behind a bar. In a pipe each
event is one line.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from typing import Any

from rich.text import Text

from holdfast.model.agent_events import MAIN, EventData, RecordedEvent
from holdfast.recording.lane_tree import LaneTree
from holdfast.recording.run_totals import TotalsAnswer
from holdfast.wire import agent_lines
from holdfast.wire.message_text import format_answer, format_message, format_result

_MAX_CHARS = 200
"""Of an input or a result."""
_MAX_SAID_CHARS = 1_000
"""Of what a model or a user said."""
_INDENT = 13
_MIN_WIDTH = 40
_MIN_COST = 0.0001
_BAR = "│ "
_SHOWN: dict[int, int | str] = {
    # A terminal would obey what a model or a tool wrote.
    **{code: 0x2400 + code for code in range(0x20)},
    **dict.fromkeys(range(0x80, 0xA0), 0xFFFD),
    **{ord(blank): " " for blank in "\t\n\r"},
    0x7F: 0x2421,
}
"""Control characters, as signs that show them."""
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


class EventFormatter:
    """Formats the events of a session, one after the other.

    `read_body` finds a body that is not in its event. With `is_full`, nothing is shortened.
    """

    def __init__(
        self, read_body: Callable[[Any], Any] | None = None, *, is_full: bool = False
    ) -> None:
        self._tree = LaneTree()
        self._read_body = read_body
        self._is_full = is_full

    def skip(self, event: RecordedEvent) -> None:
        """Take an event that is not shown."""
        self._tree.take(event)

    def format(self, event: RecordedEvent, width: int | None = None) -> Text:
        """One line; with a width, as many as it takes, below each other."""
        kind, data = str(event.get("type")), event["data"]
        place = self._tree.take(event)
        moment = agent_lines.parse_timestamp(event.get("timestamp"))
        clock = (
            datetime.datetime.fromtimestamp(moment).strftime("%H:%M:%S") if moment else "??:??:??"
        )
        line = Text(f"[{clock}] {kind:<20}", style=_COLOURS.get(kind, "dim"))
        bars = Text(_BAR * place.depth, style="dim")
        summary = self._summarize(kind, data)
        summary = summary if isinstance(summary, Text) else Text(summary)
        if place.lane != MAIN:
            bars.append(f"{place.lane}: " if summary else place.lane, style="bold")
        if bars or summary:
            line.append(" ").append(bars).append(summary)
        line.plain = line.plain.translate(_SHOWN)
        said = [_show_controls(text) for text in self._list_said(kind, data) if text]
        if width is None:
            for text in said:
                line.append(" ").append(" ".join(text.split()), style="default")
            return line
        return _wrap(line, said, Text(_BAR * place.depth, style="dim"), width)

    def _list_said(self, kind: str, data: EventData) -> list[str]:
        """What a model said, and what it asks for."""
        if kind != "api_response" or data.get("isError"):
            return []
        text = format_answer(self._read(data.get("content")))
        return [self._shorten(text, _MAX_SAID_CHARS), _format_wanted(data.get("toolCalls"))]

    def _read(self, value: Any) -> Any:
        return value if self._read_body is None else self._read_body(value)

    def _format_result(self, data: EventData) -> Any:
        result = data.get("result")
        is_elsewhere = isinstance(result, dict) and agent_lines.CID in result
        return result if is_elsewhere and not self._is_full else format_result(self._read(result))

    def _shorten(self, value: Any, limit: int = _MAX_CHARS) -> str:
        if self._is_full:
            value = self._read(value)
            return value if isinstance(value, str) else _encode(value)
        if isinstance(value, dict) and agent_lines.CID in value:
            value = value.get("preview", "")
        text = value.strip() if isinstance(value, str) else _encode(value)
        return text if len(text) <= limit else text[: limit - 1] + "…"

    def _one_line(self, value: Any) -> str:
        return " ".join(self._shorten(value).split())

    def _summarize(self, kind: str, data: EventData) -> str | Text:
        match kind:
            case "session_start":
                return _format_start(data)
            case "session_end":
                return str(data.get("reason") or "")
            case "lane_start":
                parent = f"begins, called by {data['parent']}" if data.get("parent") else "begins"
                return f"{parent} in {data['within']}" if data.get("within") else parent
            case "conversation_edited":
                return ", ".join(name for name in ("system", "messages") if name in data)
            case "user_input":
                content = self._read(data.get("content"))
                text = format_message({"content": content})[1] if content else ""
                return " ".join(self._shorten(text, _MAX_SAID_CHARS).split())
            case "run_end":
                failed = _format_error(data) if data.get("isError") else ""
                return Text(f"✗ {failed}", style="red") if failed else ""
            case "api_request":
                return f"{_count(data.get('messageCount'), 'message')}{_format_replayed(data)}"
            case "api_response":
                return _format_response(data)
            case "tool_call_start":
                called = f"{data.get('name')} {self._one_line(data.get('input'))}"
                return f"{called} ({data.get('toolId')}){_format_replayed(data)}"
            case "tool_result":
                faked = " (made up)" if data.get("faked") else ""
                called = f"{data.get('name')} ({data.get('toolId')})"
                return f"{called} → {self._one_line(self._format_result(data))}{faked}"
            case "tool_call_end":
                return _format_end(data)
            case "paused":
                return self._format_pause(data)
            case "resumed":
                who = f"by {data.get('by')} ({data.get('stop')})"
                return f"Agent resumed: {data.get('action')}, {who}"
            case "breakpoint_hit":
                point = data.get("breakpoint")
                return (
                    f"{point.get('id')}: {format_point(point)}" if isinstance(point, dict) else ""
                )
            case "step_complete" | "state_snapshot":
                return f"iteration {data.get('iteration')}"
            case "command_executed" | "command_applied" | "command_response":
                status = data.get("status") or ""
                return f"{data.get('type')} {status} {data.get('note') or ''}".rstrip()
            case "message_injected":
                return f"{data.get('role')}: {self._one_line(data.get('content'))}"
            case "variable_set" | "value_recorded":
                name = data.get("key", data.get("name"))
                return f"{name} = {self._one_line(data.get('value'))}"
            case "context_compaction":
                return f"{data.get('before')} → {data.get('after')} messages"
            case "events_lost":
                return f"{data.get('count')} events could not be written"
            case "error" | "replay_diverged":
                return self._one_line(data.get("message") or data.get("kind"))
            case _:
                return ""

    def _format_pause(self, data: EventData) -> str:
        held = " ".join(str(data[field]) for field in ("at", "name") if data.get(field))
        why = f"({data.get('reason')}, {data.get('stop')})"
        tool = f" ({data['toolId']})" if data.get("toolId") else ""
        match data.get("at"):
            case "error":
                error = f"{data.get('name')}: {_format_error(data)}"
                return f"Agent paused at an error of {error} {why}{tool}"
            case "tool":
                given = f" {self._one_line(data.get('input'))}"
                return f"Agent paused before {held} {why}{given}{tool}"
            case _:
                return f"Agent paused before {held} {why}"


def _show_controls(text: str) -> str:
    return "\n".join(row.translate(_SHOWN) for row in text.splitlines())


def _wrap(line: Text, said: list[str], bars: Text, width: int) -> Text:
    """Lines of at most this width. What does not fit goes on further in, behind the same bars."""
    start = Text(" " * _INDENT).append(bars)
    room = max(width - len(start.plain), _MIN_WIDTH)
    lines = [line]
    if len(line.plain) > width:
        lines = _split(line, width, room)
    for text in said:
        lines += [part for row in text.splitlines() for part in _split(Text(row), room, room)]
    first, *rest = lines
    whole = first.copy()
    for part in rest:
        whole.append("\n").append(start).append(part)
    return whole


def _split(text: Text, first: int, others: int) -> list[Text]:
    """The text in pieces, cut between words where there are any."""
    pieces: list[Text] = []
    width = first
    while len(text.plain) > width:
        at = text.plain.rfind(" ", width // 2, width + 1)
        at = at if at > 0 else width
        pieces.append(text[:at])
        text = text[at:]
        while text.plain.startswith(" "):
            text = text[1:]
        width = others
    return [*pieces, text]


def _format_wanted(calls: Any) -> str:
    """The tools that a model asks for: `→ read_file (c1), write_file (c2)`."""
    if not isinstance(calls, list):
        return ""
    wanted = [call for call in calls if isinstance(call, dict)]
    names = [
        f"{call.get('name')} ({call['id']})" if call.get("id") else str(call.get("name"))
        for call in wanted
    ]
    return f"→ {', '.join(names)}" if names else ""


def _format_start(data: EventData) -> str:
    names = [str(data[field]) for field in ("provider", "model") if data.get(field)]
    return "  ".join(part for part in (str(data.get("name") or ""), "/".join(names)) if part)


def _format_replayed(data: EventData) -> str:
    return " (from the recording)" if data.get("replayed") else ""


def _count(number: Any, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _encode(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _format_response(data: EventData) -> str | Text:
    took = f"({', '.join([_format_duration(data.get('durationMs')), *_list_usage(data)])})"
    if data.get("isError"):
        return Text(f"✗ {_format_error(data)} {took}", style="red")
    return f"{data.get('stopReason') or 'answered'} {took}"


def _format_end(data: EventData) -> Text:
    failed = bool(data.get("isError"))
    mark = Text("✗" if failed else "✓", style="red" if failed else "green")
    mark.append(
        f" {data.get('name')} ({_format_duration(data.get('durationMs'))}, {data.get('toolId')})",
        style="default",
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


def _list_usage(data: EventData) -> list[str]:
    usage = data.get("usage")
    if not isinstance(usage, dict):
        return []
    counts = [usage.get("inputTokens"), usage.get("outputTokens")]
    known = [f"{count:,}" for count in counts if isinstance(count, int)]
    cost = data.get("cost")
    costs = [f"cost {format_cost(cost)}"] if isinstance(cost, (int, float)) and cost else []
    return [*([f"{' + '.join(known)} tokens"] if known else []), *costs]


def format_totals(totals: TotalsAnswer) -> dict[str, str]:
    """What a run came to, by name: `{"model calls": "7", "tokens": "8,400 + 560", …}`."""
    lines = {
        "model calls": str(totals["modelCalls"]),
        "tools": str(totals["toolCalls"]),
        "failures": str(totals["failures"]),
        "tokens": f"{totals['inputTokens']:,} + {totals['outputTokens']:,}",
        "time": f"{totals['seconds']:.1f} s",
    }
    if totals["cachedTokens"]:
        lines["tokens"] += f" ({totals['cachedTokens']:,} of them cached)"
    if totals["heldSeconds"]:
        lines["time"] += f", held for {totals['heldSeconds']:.1f} s"
    if totals["cost"] is not None:
        lines["cost"] = format_cost(totals["cost"])
        if totals["unpriced"]:
            names = ", ".join(name or "a model without a name" for name in totals["unpriced"])
            lines["cost"] += f", without {names}: no price"
    return lines


def format_cost(cost: float) -> str:
    """In the unit in which the prices are given."""
    if 0 < cost < _MIN_COST:
        return f"<{_MIN_COST}"
    return f"{cost:.4f}" if cost < 1 else f"{cost:,.2f}"


def format_point(point: EventData) -> str:
    """A breakpoint: `tool write_*`."""
    main = next((point[n] for n in ("name", "count", "regex", "condition") if point.get(n)), "")
    return f"{point.get('on')} {main}".rstrip()


def format_rule(rule: EventData) -> str:
    """A rule: `rule-1: hold tool write_* for 60 s, then deny, of holdfast.toml:3`."""
    parts = [f"{name} {rule[name]}" for name in ("tool", "pattern", "condition") if rule.get(name)]
    text = f"{rule.get('id')}: {rule.get('action')} {', '.join(parts)}".rstrip()
    if isinstance(rule.get("timeout"), (int, float)):
        text += f" for {rule['timeout']:g} s, then {rule.get('onTimeout')}"
    return f"{text}, of {rule['source']}" if rule.get("source") else text


def shorten(value: Any) -> str:
    """A value in one line, its end left out if it is long."""
    if isinstance(value, dict) and agent_lines.CID in value:
        value = value.get("preview", "")
    text = " ".join((value if isinstance(value, str) else _encode(value)).split())
    return text if len(text) <= _MAX_CHARS else text[: _MAX_CHARS - 1] + "…"
