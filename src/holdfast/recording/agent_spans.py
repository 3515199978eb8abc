"""An agent's events as spans of OpenTelemetry, with the names of its GenAI conventions.

    invoke_agent my-agent
      chat gpt-5
      execute_tool read_file
        chat gpt-5               a model that the tool asked for

A hold is not work. The span of a call begins when the call is let go, and ends when its work did;
that of a run ends earlier by what was held in it. Each hold is an event of the spans it belongs to.
What was said is exported only if that is asked for; else only who said how much of it.

`Spans` takes events one by one and gives the spans that they begin and end; `build_document` makes
OTLP's JSON of a whole recording.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from holdfast.model.agent_events import MAIN, SESSION_END, SESSION_START, EventData, RecordedEvent
from holdfast.recording.content_files import ContentFiles
from holdfast.recording.genai_messages import shape_answer, split_system
from holdfast.recording.recording_state import (
    MODEL,
    RecordedCall,
    RecordedRun,
    RecordedStop,
    RecordingState,
    lane_of,
    seq_of,
)
from holdfast.wire import agent_lines

Value = str | int | float | bool | list[str]
INTERNAL, CLIENT = 1, 3
UNFINISHED = "unfinished"
"""The `error.type` of what had begun when the agent was gone."""
HELD = "holdfast.held"
_SCOPE = "holdfast"


@dataclass(frozen=True)
class SpanEvent:
    """Something that happened in a span."""

    name: str
    at: int
    attributes: dict[str, Value]


@dataclass(eq=False)
class Span:
    name: str
    kind: int
    id: str
    parent: str | None
    start: int
    """Nanoseconds since 1970."""
    attributes: dict[str, Value]
    end: int | None = None
    moments: list[SpanEvent] = field(default_factory=list)
    error: str | None = None
    """Its message; None if all went well."""

    @property
    def is_over(self) -> bool:
        return self.end is not None


@dataclass
class _Run:
    span: Span
    lane: str
    held: list[tuple[int, int]] = field(default_factory=list)


class Spans:
    """Gives the spans that begin and end with each event."""

    def __init__(
        self,
        session_id: str,
        name: str = "agent",
        provider: str | None = None,
        model: str | None = None,
        *,
        with_content: bool = False,
        contents: ContentFiles | None = None,
    ) -> None:
        """`with_content` adds messages, arguments and results; `contents` has the large ones."""
        self.session_id = session_id
        self.name = name
        self.trace_id = _digest(session_id, 32)
        self._provider, self._model = provider, model
        self._has_content = with_content
        self._state = RecordingState(contents, keeps_messages=with_content)
        self._runs: list[_Run] = []
        self._calls: dict[RecordedCall, Span] = {}
        self._stops: list[RecordedStop] = []
        self._holds: list[tuple[str, int, SpanEvent]] = []
        """Lane, iteration and hold, of those whose call has not begun."""
        self._last = 0

    def take(self, event: RecordedEvent) -> list[Span]:
        """The spans that begin or end with it."""
        at = _nanoseconds(event)
        self._last = max(self._last, at)
        if event["type"] == SESSION_END:
            ended = self.close(at)
            self._state.take(event)
            return ended
        match self._state.take(event):
            case RecordedRun() as run if run.ended is None:
                return [self._begin_run(run.lane, seq_of(event), at)]
            case RecordedRun() as run:
                return self._end_run(run.lane, at, event["data"])
            case RecordedCall() as call if call.began is event:
                return self._begin_call(call, at)
            case RecordedCall() as call if call.ended is event:
                return self._end_call(call, at)
            case RecordedCall() as call if call.result.get("faked") and call in self._calls:
                self._calls[call].attributes["holdfast.faked"] = True
            case RecordedStop() as stop if stop.ended is None:
                self._stops.append(stop)
            case RecordedStop() as stop if stop in self._stops:
                self._end_stop(stop, at, str(event["data"].get("action")))
        if event["type"] == SESSION_START:
            data = event["data"]
            self.name = str(data.get("name") or self.name)
            self._provider, self._model = data.get("provider"), data.get("model")
        return []

    def close(self, at: int | None = None) -> list[Span]:
        """End whatever is still open: the agent has ended, or is gone."""
        at = self._last if at is None else at
        for stop in list(self._stops):
            self._end_stop(stop, at, "withdrawn")
        ended = list(self._calls.values())
        for span in ended:
            span.attributes["error.type"] = UNFINISHED
            span.end, span.error = max(at, span.start), "it had not ended when the agent did"
        self._calls.clear()
        while self._runs:
            ended += self._end_run(self._runs[-1].lane, at, {})
        return ended

    # -- runs ------------------------------------------------------------------------------------

    def _begin_run(self, lane: str, seq: int, at: int) -> Span:
        attributes = self._build_attributes("invoke_agent", self._provider)
        attributes["gen_ai.agent.name"] = self.name
        if self._model:
            attributes["gen_ai.request.model"] = self._model
        if lane != MAIN:
            attributes["holdfast.lane"] = lane
        outer = self._find_run(MAIN)
        name = f"invoke_agent {self.name}" if lane == MAIN else f"invoke_agent {lane}"
        parent = None if outer is None else outer.span.id
        span = Span(name, INTERNAL, self._build_id(seq), parent, at, attributes)
        self._runs.append(_Run(span, lane))
        return span

    def _end_run(self, lane: str, at: int, data: EventData) -> list[Span]:
        run = next((run for run in reversed(self._runs) if run.lane == lane), None)
        if run is None:
            return []
        self._runs.remove(run)
        held = _sum_lengths(run.held)
        if held:
            run.span.attributes["holdfast.held_ms"] = held / 1e6
        run.span.end = max(at - held, run.span.start)
        _set_error(run.span, data)
        return [run.span]

    def _find_run(self, lane: str) -> _Run | None:
        own = [run for run in self._runs if run.lane == lane]
        main = [run for run in self._runs if run.lane == MAIN]
        return own[-1] if own else main[-1] if main else None

    # -- calls -----------------------------------------------------------------------------------

    def _begin_call(self, call: RecordedCall, at: int) -> list[Span]:
        span = self._build_model(call, at) if call.kind == MODEL else self._build_tool(call, at)
        for hold in [hold for hold in self._holds if hold[:2] == (call.lane, call.iteration)]:
            if hold[2].attributes.get("holdfast.tool_id", call.tool_id) == call.tool_id:
                self._holds.remove(hold)
                span.moments.append(hold[2])
        self._calls[call] = span
        if span.parent is not None:
            return [span]
        # A loop that marks no run is one all the same, from its first call to the end.
        run = self._begin_run(MAIN, seq_of(call.began), at)
        span.parent = run.id = self._build_id(seq_of(call.began), "run")
        return [run, span]

    def _build_model(self, call: RecordedCall, at: int) -> Span:
        attributes = self._build_attributes("chat", call.request.get("provider") or self._provider)
        model = call.name or self._model
        if model:
            attributes["gen_ai.request.model"] = str(model)
        if self._has_content:
            instructions, messages = split_system(self._state.lanes[lane_of(call.request)].sent)
            attributes["gen_ai.input.messages"] = _encode_content(messages)
            if instructions:
                attributes["gen_ai.system_instructions"] = _encode_content(instructions)
        return self._build_call(f"chat {model}" if model else "chat", CLIENT, call, at, attributes)

    def _build_tool(self, call: RecordedCall, at: int) -> Span:
        attributes = self._build_attributes("execute_tool", None)
        attributes |= {"gen_ai.tool.name": call.name, "gen_ai.tool.call.id": str(call.tool_id)}
        attributes["gen_ai.tool.type"] = "function"
        if self._has_content:
            given = self._state.read_body(call.request.get("input"))
            attributes["gen_ai.tool.call.arguments"] = _encode_content(given)
        return self._build_call(f"execute_tool {call.name}", INTERNAL, call, at, attributes)

    def _build_call(
        self, name: str, kind: int, call: RecordedCall, at: int, attributes: dict[str, Value]
    ) -> Span:
        attributes["holdfast.iteration"] = call.iteration
        if call.lane != MAIN:
            attributes["holdfast.lane"] = call.lane
        if call.request.get("replayed"):
            attributes["holdfast.replayed"] = True
        outer = self._find_span(self._state.tools.get(str(call.within)))
        run = self._find_run(call.lane)
        parent = outer.id if outer is not None else None if run is None else run.span.id
        return Span(name, kind, self._build_id(seq_of(call.began)), parent, at, attributes)

    def _find_span(self, call: RecordedCall | None) -> Span | None:
        return None if call is None else self._calls.get(call)

    def _end_call(self, call: RecordedCall, at: int) -> list[Span]:
        span = self._calls.pop(call, None)
        if span is None:
            return []
        data = call.outcome
        if data.get("stopReason"):
            span.attributes["gen_ai.response.finish_reasons"] = [str(data["stopReason"])]
        usage = data.get("usage")
        for ours, theirs in (("inputTokens", "input_tokens"), ("outputTokens", "output_tokens")):
            if isinstance(usage, dict) and isinstance(usage.get(ours), int):
                span.attributes[f"gen_ai.usage.{theirs}"] = usage[ours]
        if isinstance(usage, dict) and isinstance(usage.get("cachedTokens"), int):
            span.attributes["gen_ai.usage.cache_read.input_tokens"] = usage["cachedTokens"]
        if isinstance(data.get("cost"), (int, float)):
            span.attributes["holdfast.cost"] = float(data["cost"])
        if self._has_content and not data.get("isError"):
            self._add_answer(span, call)
        for name in ("cancelled", "abandoned", "faked"):
            if data.get(name):
                span.attributes[f"holdfast.{name}"] = True
        took = data.get("durationMs")
        is_known = isinstance(took, (int, float)) and not isinstance(took, bool)
        # The moment of the event may be later: what failed may have been held then.
        span.end = span.start + int(took * 1e6) if is_known and took is not None else at
        if isinstance(data.get("heldMs"), (int, float)):
            span.attributes["holdfast.held_ms"] = float(data["heldMs"])
        _set_error(span, data)
        return [span]

    def _add_answer(self, span: Span, call: RecordedCall) -> None:
        data = call.outcome
        if call.kind == MODEL:
            names = ("content", "toolCalls", "stopReason", "response")
            outcome = {name: self._state.read_body(data.get(name)) for name in names}
            span.attributes["gen_ai.output.messages"] = _encode_content([shape_answer(outcome)])
        elif "result" in data:
            result = self._state.read_body(data["result"])
            span.attributes["gen_ai.tool.call.result"] = _encode_content(result)

    # -- holds -----------------------------------------------------------------------------------

    def _end_stop(self, stop: RecordedStop, at: int, action: str) -> None:
        self._stops.remove(stop)
        began, data = _nanoseconds(stop.began), stop.data
        attributes: dict[str, Value] = {
            "holdfast.stop": stop.id,
            "holdfast.reason": str(data.get("reason")),
            "holdfast.action": action,
            "holdfast.held_ms": (at - began) / 1e6,
        }
        if data.get("toolId"):
            attributes["holdfast.tool_id"] = str(data["toolId"])
        hold = SpanEvent(HELD, at, attributes)
        lane = lane_of(data)
        for run in {id(run): run for run in map(self._find_run, (lane, MAIN))}.values():
            if run is not None:
                run.held.append((began, at))
                run.span.moments.append(hold)
        span = self._find_failed(stop)
        if span is not None:
            span.moments.append(hold)
        else:
            self._holds.append((lane, int(data.get("iteration") or 0), hold))

    def _find_failed(self, stop: RecordedStop) -> Span | None:
        """The call whose error was held; one that is held before it runs has no span yet."""
        if stop.data.get("at") != "error":
            return None
        if stop.data.get("toolId"):
            return self._find_span(self._state.tools.get(str(stop.data["toolId"])))
        key = (stop.lane, int(stop.data.get("iteration") or 0))
        return self._find_span(self._state.models.get(key))

    # -- what they share -------------------------------------------------------------------------

    def _build_attributes(self, operation: str, provider: str | None) -> dict[str, Value]:
        attributes: dict[str, Value] = {
            "gen_ai.operation.name": operation,
            "gen_ai.conversation.id": self.session_id,
        }
        if provider:
            attributes["gen_ai.provider.name"] = str(provider)
        return attributes

    def _build_id(self, seq: int, suffix: str = "") -> str:
        """The same each time that a recording is exported."""
        return _digest(f"{self.session_id}:{seq}:{suffix}", 16)


def build_document(
    events: Iterable[RecordedEvent],
    session_id: str,
    about: dict[str, Value],
    version: str,
    *,
    with_content: bool = False,
    contents: ContentFiles | None = None,
) -> dict[str, Any]:
    """A whole recording as OTLP's JSON; `about` is what is known of the process."""
    spans = Spans(session_id, with_content=with_content, contents=contents)
    # Each is given twice, when it begins and when it ends; they stand in the order of beginning.
    taken = dict.fromkeys(span for event in events for span in spans.take(event))
    spans.close()
    resource: dict[str, Value] = {"service.name": spans.name, **about}
    scope = {"name": _SCOPE, "version": version}
    scoped = [{"scope": scope, "spans": [_encode_span(span, spans.trace_id) for span in taken]}]
    return {
        "resourceSpans": [
            {"resource": {"attributes": _encode_attributes(resource)}, "scopeSpans": scoped}
        ]
    }


def _encode_span(span: Span, trace_id: str) -> dict[str, Any]:
    """As the protocol's JSON wants it: ids in hex, 64-bit numbers as text, enums as numbers."""
    encoded: dict[str, Any] = {"traceId": trace_id, "spanId": span.id}
    if span.parent is not None:
        encoded["parentSpanId"] = span.parent
    encoded |= {
        "name": span.name,
        "kind": span.kind,
        "startTimeUnixNano": str(span.start),
        "endTimeUnixNano": str(span.end),
        "attributes": _encode_attributes(span.attributes),
    }
    if span.moments:
        encoded["events"] = [
            {
                "timeUnixNano": str(moment.at),
                "name": moment.name,
                "attributes": _encode_attributes(moment.attributes),
            }
            for moment in span.moments
        ]
    encoded["status"] = {} if span.error is None else {"code": 2, "message": span.error}
    return encoded


def _encode_attributes(attributes: dict[str, Value]) -> list[dict[str, Any]]:
    return [{"key": name, "value": _encode_value(value)} for name, value in attributes.items()]


def _encode_value(value: Value) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_encode_value(item) for item in value]}}
    return {"stringValue": value}


def _encode_content(value: Any) -> str:
    """Attributes of spans have no structure: what has one is JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=repr)


def _set_error(span: Span, data: EventData) -> None:
    if not data.get("isError"):
        return
    error = data.get("error")
    error = error if isinstance(error, dict) else {}
    span.attributes["error.type"] = str(error.get("type") or "_OTHER")
    span.error = str(error.get("message") or "")


def _sum_lengths(held: list[tuple[int, int]]) -> int:
    """How long something was held; what was held at the same time counts once."""
    total, until = 0, 0
    for begin, end in sorted(held):
        total += max(0, end - max(begin, until))
        until = max(until, end)
    return total


def _nanoseconds(event: RecordedEvent) -> int:
    """Timestamps have milliseconds, which a float has exactly."""
    return round(agent_lines.parse_timestamp(event.get("timestamp")) * 1000) * 1_000_000


def _digest(text: str, length: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:length]
