"""What is known of an agent from its events: what it said, what is held, where it would stop."""

from __future__ import annotations

import json
from typing import Any

from holdfast.model.agent_events import MAIN
from holdfast.recording.content_files import ContentFiles
from holdfast.recording.directories import SessionDirectory
from holdfast.wire import agent_lines

Json = dict[str, Any]


class SessionView:
    def __init__(self, home: SessionDirectory) -> None:
        self._contents = ContentFiles(home.contents)
        self.name = home.id
        self.model = ""
        self.iteration = 0
        self.tokens = 0
        self.is_over = False
        self.held: dict[str, Json] = {}
        self.running: dict[str, str] = {}
        """The tools under way: names by id."""
        self.breakpoints: dict[str, Json] = {}
        self.lane = MAIN
        """The one that spoke last."""
        self._sent: dict[str, list[Any]] = {}
        self._since: dict[str, list[Any]] = {}
        """What came after the last request, and will be in the next."""

    @property
    def messages(self) -> list[Any]:
        """Of the lane that spoke last: what was sent, and what came since."""
        return [*self._sent.get(self.lane, []), *self._since.get(self.lane, [])]

    def input_of(self, stop: Json) -> Any:
        """What is held, as it can be edited: a tool's input, a model's messages."""
        found = self.body(stop.get("input"))
        if stop.get("at") != "model" or not isinstance(found, dict):
            return found
        return {"messages": self._whole(stop.get("lane", MAIN), found)}

    def _whole(self, lane: str, data: Json) -> list[Any]:
        new = self.body(data.get("messages"))
        kept = self._sent.get(lane, [])[: int(data.get("messagesKept") or 0)]
        return kept + (new if isinstance(new, list) else [])

    def take(self, event: Json) -> None:
        data = event["data"]
        lane = data.get("lane", MAIN)
        match event["type"]:
            case "session_start":
                self.name = str(data.get("name") or self.name)
                self.model = str(data.get("model") or self.model)
                self.is_over = False
                self.held, self.running, self.breakpoints = {}, {}, {}
            case "session_end":
                self.is_over = True
                self.held, self.running = {}, {}
            case "api_request":
                self.lane, self._sent[lane] = lane, self._whole(lane, data)
                self._since[lane] = []
                self.iteration = int(data.get("iteration") or self.iteration)
                self.model = str(data.get("model") or self.model)
            case "api_response":
                self._answered(lane, data)
            case "tool_call_start":
                self.running[str(data.get("toolId"))] = str(data.get("name"))
            case "tool_result":
                said = {"role": "tool", "name": data.get("name"), "content": data.get("result")}
                self._since.setdefault(self.lane, []).append(said)
            case "tool_call_end":
                self.running.pop(str(data.get("toolId")), None)
            case "paused":
                self.held[str(data.get("stop"))] = data
                self.lane = lane
                if data.get("at") == "model" and isinstance(data.get("input"), dict):
                    self._sent[lane], self._since[lane] = self._whole(lane, data["input"]), []
            case "resumed":
                self.held.pop(str(data.get("stop")), None)
            case "message_injected":
                said = {"role": data.get("role"), "content": data.get("content")}
                place = (data.get("before") or {}).get("lane", MAIN)
                self._since.setdefault(place, []).append(said)
            case "command_response" if data.get("type") == "breakpoint":
                self._broken(data.get("data") or {})

    def _answered(self, lane: str, data: Json) -> None:
        usage = data.get("usage")
        for name in ("inputTokens", "outputTokens"):
            if isinstance(usage, dict) and isinstance(usage.get(name), int):
                self.tokens += usage[name]
        if data.get("isError"):
            return
        said: Json = {"role": "assistant", "content": data.get("content")}
        if data.get("toolCalls"):
            said["tool_calls"] = data["toolCalls"]
        self._since.setdefault(lane, []).append(said)

    def _broken(self, data: Json) -> None:
        for point in [*data.get("breakpoints", []), data.get("breakpoint")]:
            if isinstance(point, dict):
                self.breakpoints[str(point.get("id"))] = point
        for gone in data.get("cleared", []):
            self.breakpoints.pop(str(gone), None)

    def body(self, value: Any) -> Any:
        """A body, wherever it is; what is shown of it, if it is gone."""
        if isinstance(value, dict) and agent_lines.CID in value:
            try:
                return json.loads(self._contents.get(str(value[agent_lines.CID])))
            except (KeyError, ValueError):
                return value.get("preview")
        return value


def format_message(message: Any) -> tuple[str, str]:
    """Who said it, and what, for people to read."""
    if not isinstance(message, dict):
        return "", _text(message)
    who = str(message.get("role") or message.get("type") or "")
    if message.get("name"):
        who = f"{who} {message['name']}"
    rest = {name: each for name, each in message.items() if name not in ("role", "content", "name")}
    said = _text(message.get("content")) if message.get("content") is not None else ""
    calls = rest.get("tool_calls")
    if isinstance(calls, list) and calls:
        said = f"{said}\n→ {', '.join(_called(each) for each in calls)}".strip()
    return who, said or _text(rest)


def _called(call: Any) -> str:
    if not isinstance(call, dict):
        return str(call)
    inner = call.get("function") if isinstance(call.get("function"), dict) else call
    given = inner.get("arguments", inner.get("args", "")) if isinstance(inner, dict) else ""
    name = inner.get("name") if isinstance(inner, dict) else call
    return f"{name}({given if isinstance(given, str) else _text(given)})"


def _text(value: Any) -> str:
    if isinstance(value, list):  # the parts of a message, as the common providers have them
        parts = [
            each["text"]
            if isinstance(each, dict) and isinstance(each.get("text"), str)
            else _text(each)
            for each in value
        ]
        return "\n".join(parts)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
