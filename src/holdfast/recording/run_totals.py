"""What a run came to: its calls, tokens, time and cost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict

from holdfast.model.agent_events import RecordedEvent
from holdfast.recording.recording_state import (
    MODEL,
    EventCounts,
    RecordedCall,
    RecordedStop,
    RecordingState,
)
from holdfast.recording.tail import Tail
from holdfast.wire import agent_lines

_USAGE_MARK = b'"usage":'


class TotalsAnswer(TypedDict):
    """The totals of a run, as JSON."""

    modelCalls: int
    toolCalls: int
    failures: int
    """Of models and tools."""
    inputTokens: int
    cachedTokens: int
    """Of the input tokens, those that the provider had in its cache."""
    outputTokens: int
    cost: float | None
    """None if no price is known; without the calls whose models have none."""
    unpriced: list[str]
    """The models that have no price, although others have one."""
    seconds: float
    """From the first event to the last."""
    heldSeconds: float
    """The part of it in which something was held."""


@dataclass
class RunTotals:
    """Takes the events of a run, and adds them up."""

    model_calls: int = 0
    tool_calls: int = 0
    failures: int = 0
    counts: EventCounts = field(default_factory=EventCounts)
    began: float = 0.0
    ended: float = 0.0
    _held: list[tuple[float, float]] = field(default_factory=list)

    def take(self, event: RecordedEvent, changed: object) -> None:
        """`changed` is what a `RecordingState` made of the event."""
        now = agent_lines.parse_timestamp(event.get("timestamp"))
        if now:
            self.began = self.began or now
            self.ended = max(self.ended, now)
        self.counts.take(event["type"], event)
        if isinstance(changed, RecordedCall):
            if changed.began is event:
                self.model_calls += changed.kind == MODEL
                self.tool_calls += changed.kind != MODEL
            elif changed.ended is event:
                self.failures += bool(changed.outcome.get("isError"))
        elif isinstance(changed, RecordedStop) and changed.ended is event:
            self._held.append((agent_lines.parse_timestamp(changed.began.get("timestamp")), now))

    @property
    def held_seconds(self) -> float:
        """What was held at the same time counts once."""
        total, until = 0.0, 0.0
        for begin, end in sorted(self._held):
            total += max(0.0, end - max(begin, until))
            until = max(until, end)
        return total

    def describe(self) -> TotalsAnswer:
        counts = self.counts
        return {
            "modelCalls": self.model_calls,
            "toolCalls": self.tool_calls,
            "failures": self.failures,
            "inputTokens": counts.input_tokens,
            "cachedTokens": counts.cached_tokens,
            "outputTokens": counts.output_tokens,
            "cost": counts.cost,
            "unpriced": sorted(counts.unpriced) if counts.cost is not None else [],
            "seconds": round(max(0.0, self.ended - self.began), 3),
            "heldSeconds": round(self.held_seconds, 3),
        }


def add_up(events: Iterable[RecordedEvent]) -> RunTotals:
    """The totals of a whole recording."""
    totals, state = RunTotals(), RecordingState(keeps_messages=False)
    for event in events:
        totals.take(event, state.take(event))
    return totals


def read_usage(path: Path) -> EventCounts:
    """Only the tokens of a recording, and their cost: most of its lines need not be parsed."""
    counts = EventCounts()
    for _place, line in Tail(path).all():
        event = agent_lines.parse_event(line) if _USAGE_MARK in line else None
        if event is not None:
            counts.take(event["type"], event)
    return counts
