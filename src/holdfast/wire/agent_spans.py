"""An agent's events as spans of OpenTelemetry, with the names of its GenAI conventions.

    invoke_agent my-agent
      chat gpt-5
      execute_tool read_file
        chat gpt-5               a model that the tool asked for

A hold is not work. The span of a call begins when the call is let go, and ends when its work did;
that of a run ends earlier by what was held in it. Each hold is an event of the spans it belongs to.
What was said is not exported, only who said how much of it.

`Spans` takes events one by one and says what began and ended; `document` is OTLP's JSON.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from holdfast.model.agent_events import MAIN
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
    """What it says; None if all went well."""

    @property
    def is_over(self) -> bool:
        return self.end is not None


@dataclass
class _Run:
    span: Span
    lane: str
    held: list[tuple[int, int]] = field(default_factory=list)


class Spans:
    """What began and ended, from one event to the next."""

    def __init__(
        self,
        session_id: str,
        name: str = "agent",
        provider: str | None = None,
        model: str | None = None,
    ) -> None:
        self.session_id = session_id
        self.name = name
        self.trace_id = _digest(session_id, 32)
        self._provider, self._model = provider, model
        self._runs: list[_Run] = []
        self._models: dict[tuple[str, int], Span] = {}
        self._tools: dict[str, Span] = {}
        self._stops: dict[str, tuple[int, dict[str, Any]]] = {}
        self._holds: list[tuple[str, int, SpanEvent]] = []
        """Lane, iteration and hold, of those whose call has not begun."""
        self._last = 0

    def take(self, event: dict[str, Any]) -> list[Span]:
        """The spans that begin or end with it."""
        data, at, lane = event["data"], _nanos(event), event["data"].get("lane", MAIN)
        self._last = max(self._last, at)
        seq = int(event.get("seq") or 0)
        match event["type"]:
            case "session_start":
                self.name = str(data.get("name") or self.name)
                self._provider, self._model = data.get("provider"), data.get("model")
            case "session_end":
                return self.close(at)
            case "run_start":
                return [self._begin_run(lane, seq, at)]
            case "run_end":
                return self._end_run(lane, at, data)
            case "api_request":
                return self._with_run(seq, at, self._begin_model(lane, seq, at, data))
            case "api_response":
                return self._end_model(lane, at, data)
            case "tool_call_start":
                return self._with_run(seq, at, self._begin_tool(lane, seq, at, data))
            case "tool_result":
                if data.get("faked") and str(data.get("toolId")) in self._tools:
                    self._tools[str(data.get("toolId"))].attributes["holdfast.faked"] = True
            case "tool_call_end":
                return self._end_tool(at, data)
            case "paused":
                self._stops[str(data.get("stop"))] = (at, data)
            case "resumed":
                self._resumed(at, data)
        return []

    def close(self, at: int | None = None) -> list[Span]:
        """Whatever is still open ends here: the agent has ended, or is gone."""
        at = self._last if at is None else at
        found: list[Span] = []
        for stop in list(self._stops):
            self._resumed(at, {"stop": stop, "action": "withdrawn"})
        for span in [*self._models.values(), *self._tools.values()]:
            span.attributes["error.type"] = UNFINISHED
            span.end, span.error = max(at, span.start), "it had not ended when the agent did"
            found.append(span)
        self._models.clear()
        self._tools.clear()
        while self._runs:
            found += self._end_run(self._runs[-1].lane, at, {})
        return found

    # -- runs ------------------------------------------------------------------------------------

    def _begin_run(self, lane: str, seq: int, at: int) -> Span:
        attributes = self._attributes("invoke_agent", self._provider)
        attributes["gen_ai.agent.name"] = self.name
        if self._model:
            attributes["gen_ai.request.model"] = self._model
        if lane != MAIN:
            attributes["holdfast.lane"] = lane
        outer = self._run_of(MAIN)
        name = f"invoke_agent {self.name}" if lane == MAIN else f"invoke_agent {lane}"
        parent = None if outer is None else outer.span.id
        span = Span(name, INTERNAL, self._id(seq), parent, at, attributes)
        self._runs.append(_Run(span, lane))
        return span

    def _end_run(self, lane: str, at: int, data: dict[str, Any]) -> list[Span]:
        run = next((each for each in reversed(self._runs) if each.lane == lane), None)
        if run is None:
            return []
        self._runs.remove(run)
        held = _length(run.held)
        if held:
            run.span.attributes["holdfast.held_ms"] = held / 1e6
        run.span.end = max(at - held, run.span.start)
        _blame(run.span, data)
        return [run.span]

    def _run_of(self, lane: str) -> _Run | None:
        own = [each for each in self._runs if each.lane == lane]
        main = [each for each in self._runs if each.lane == MAIN]
        return own[-1] if own else main[-1] if main else None

    def _with_run(self, seq: int, at: int, span: Span) -> list[Span]:
        """A loop that marks no run is one all the same, from its first call to the end."""
        if span.parent is not None:
            return [span]
        run = self._begin_run(MAIN, seq, at)
        run.id = self._id(seq, "run")
        span.parent = run.id
        return [run, span]

    # -- calls -----------------------------------------------------------------------------------

    def _begin_model(self, lane: str, seq: int, at: int, data: dict[str, Any]) -> Span:
        provider = data.get("provider") or self._provider
        attributes = self._attributes("chat", provider)
        model = data.get("model") or self._model
        if model:
            attributes["gen_ai.request.model"] = str(model)
        name = f"chat {model}" if model else "chat"
        span = self._call(name, CLIENT, lane, seq, at, attributes, data)
        self._models[lane, int(data.get("iteration") or 0)] = span
        return span

    def _end_model(self, lane: str, at: int, data: dict[str, Any]) -> list[Span]:
        span = self._models.pop((lane, int(data.get("iteration") or 0)), None)
        if span is None:
            return []
        if data.get("stopReason"):
            span.attributes["gen_ai.response.finish_reasons"] = [str(data["stopReason"])]
        usage = data.get("usage")
        for ours, theirs in (("inputTokens", "input_tokens"), ("outputTokens", "output_tokens")):
            if isinstance(usage, dict) and isinstance(usage.get(ours), int):
                span.attributes[f"gen_ai.usage.{theirs}"] = usage[ours]
        return [self._ended(span, at, data)]

    def _begin_tool(self, lane: str, seq: int, at: int, data: dict[str, Any]) -> Span:
        name, tool_id = str(data.get("name")), str(data.get("toolId"))
        attributes = self._attributes("execute_tool", None)
        attributes |= {"gen_ai.tool.name": name, "gen_ai.tool.call.id": tool_id}
        attributes["gen_ai.tool.type"] = "function"
        span = self._call(f"execute_tool {name}", INTERNAL, lane, seq, at, attributes, data)
        self._tools[tool_id] = span
        return span

    def _end_tool(self, at: int, data: dict[str, Any]) -> list[Span]:
        span = self._tools.pop(str(data.get("toolId")), None)
        if span is None:
            return []
        for name in ("cancelled", "abandoned"):
            if data.get(name):
                span.attributes[f"holdfast.{name}"] = True
        return [self._ended(span, at, data)]

    def _call(
        self,
        name: str,
        kind: int,
        lane: str,
        seq: int,
        at: int,
        attributes: dict[str, Value],
        data: dict[str, Any],
    ) -> Span:
        iteration = int(data.get("iteration") or 0)
        attributes["holdfast.iteration"] = iteration
        if lane != MAIN:
            attributes["holdfast.lane"] = lane
        if data.get("replayed"):
            attributes["holdfast.replayed"] = True
        outer = self._tools.get(str(data.get("within")))
        run = self._run_of(lane)
        parent = outer.id if outer is not None else None if run is None else run.span.id
        span = Span(name, kind, self._id(seq), parent, at, attributes)
        own = [each for each in self._holds if each[:2] == (lane, iteration)]
        tool_id = data.get("toolId")
        for hold in own:
            if hold[2].attributes.get("holdfast.tool_id", tool_id) == tool_id:
                self._holds.remove(hold)
                span.moments.append(hold[2])
        return span

    def _ended(self, span: Span, at: int, data: dict[str, Any]) -> Span:
        took = data.get("durationMs")
        is_known = isinstance(took, (int, float)) and not isinstance(took, bool)
        # The moment of the event may be later: what failed may have been held then.
        span.end = span.start + int(took * 1e6) if is_known and took is not None else at
        if isinstance(data.get("heldMs"), (int, float)):
            span.attributes["holdfast.held_ms"] = float(data["heldMs"])
        if data.get("faked"):
            span.attributes["holdfast.faked"] = True
        _blame(span, data)
        return span

    # -- holds -----------------------------------------------------------------------------------

    def _resumed(self, at: int, data: dict[str, Any]) -> None:
        began, about = self._stops.pop(str(data.get("stop")), (None, {}))
        if began is None:
            return
        attributes: dict[str, Value] = {
            "holdfast.stop": str(data.get("stop")),
            "holdfast.reason": str(about.get("reason")),
            "holdfast.action": str(data.get("action")),
            "holdfast.held_ms": (at - began) / 1e6,
        }
        if about.get("toolId"):
            attributes["holdfast.tool_id"] = str(about["toolId"])
        hold = SpanEvent(HELD, at, attributes)
        lane = about.get("lane", MAIN)
        for run in {id(each): each for each in (self._run_of(lane), self._run_of(MAIN))}.values():
            if run is not None:
                run.held.append((began, at))
                run.span.moments.append(hold)
        under_way = self._under_way(lane, about)
        if under_way is not None:
            under_way.moments.append(hold)
        else:
            self._holds.append((lane, int(about.get("iteration") or 0), hold))

    def _under_way(self, lane: str, about: dict[str, Any]) -> Span | None:
        """The call whose error was held; one that is held before it runs has no span yet."""
        if about.get("at") != "error":
            return None
        if about.get("toolId"):
            return self._tools.get(str(about["toolId"]))
        return self._models.get((lane, int(about.get("iteration") or 0)))

    # -- what they share -------------------------------------------------------------------------

    def _attributes(self, operation: str, provider: Any) -> dict[str, Value]:
        found: dict[str, Value] = {
            "gen_ai.operation.name": operation,
            "gen_ai.conversation.id": self.session_id,
        }
        if provider:
            found["gen_ai.provider.name"] = str(provider)
        return found

    def _id(self, seq: int, more: str = "") -> str:
        """The same each time that a recording is exported."""
        return _digest(f"{self.session_id}:{seq}:{more}", 16)


def build_document(
    events: Iterable[dict[str, Any]], session_id: str, about: dict[str, Value], version: str
) -> dict[str, Any]:
    """A whole recording as OTLP's JSON; `about` is what is known of the process."""
    spans = Spans(session_id)
    # Each is given twice, when it begins and when it ends; they stand in the order of beginning.
    found = dict.fromkeys(span for event in events for span in spans.take(event))
    spans.close()
    resource: dict[str, Value] = {"service.name": spans.name, **about}
    scope = {"name": _SCOPE, "version": version}
    shown = [_shown(span, spans.trace_id) for span in found]
    scoped = [{"scope": scope, "spans": shown}]
    return {
        "resourceSpans": [{"resource": {"attributes": _attributes(resource)}, "scopeSpans": scoped}]
    }


def _shown(span: Span, trace_id: str) -> dict[str, Any]:
    """As the protocol's JSON wants it: ids in hex, 64-bit numbers as text, enums as numbers."""
    found: dict[str, Any] = {"traceId": trace_id, "spanId": span.id}
    if span.parent is not None:
        found["parentSpanId"] = span.parent
    found |= {
        "name": span.name,
        "kind": span.kind,
        "startTimeUnixNano": str(span.start),
        "endTimeUnixNano": str(span.end),
        "attributes": _attributes(span.attributes),
    }
    if span.moments:
        found["events"] = [
            {
                "timeUnixNano": str(each.at),
                "name": each.name,
                "attributes": _attributes(each.attributes),
            }
            for each in span.moments
        ]
    found["status"] = {} if span.error is None else {"code": 2, "message": span.error}
    return found


def _attributes(given: dict[str, Value]) -> list[dict[str, Any]]:
    return [{"key": name, "value": _value(value)} for name, value in given.items()]


def _value(value: Value) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_value(each) for each in value]}}
    return {"stringValue": value}


def _blame(span: Span, data: dict[str, Any]) -> None:
    if not data.get("isError"):
        return
    error = data.get("error")
    error = error if isinstance(error, dict) else {}
    span.attributes["error.type"] = str(error.get("type") or "_OTHER")
    span.error = str(error.get("message") or "")


def _length(held: list[tuple[int, int]]) -> int:
    """How long something was held; what was held at the same time counts once."""
    total, until = 0, 0
    for begin, end in sorted(held):
        total += max(0, end - max(begin, until))
        until = max(until, end)
    return total


def _nanos(event: dict[str, Any]) -> int:
    """A moment is told to the millisecond, which a float has exactly."""
    try:
        return round(agent_lines.parse_timestamp(str(event.get("timestamp"))) * 1000) * 1_000_000
    except ValueError:
        return 0


def _digest(text: str, length: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:length]
