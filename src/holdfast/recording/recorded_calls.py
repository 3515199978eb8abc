"""The calls of a recording, and which of them a fork takes from it.

A fork plays only what was recorded before it: N iterations of one lane with all that they asked
for, and of the other lanes the turns that had begun by then (`docs/decisions/0020`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from holdfast.model.agent_events import (
    MAIN,
    SESSION_END,
    SESSION_START,
    VALUE_RECORDED,
    EventData,
)
from holdfast.recording.content_files import ContentFiles
from holdfast.recording.directories import SessionDirectory
from holdfast.recording.recording_state import (
    MODEL,
    TOOL,
    RecordedCall,
    RecordingState,
    lane_of,
    read_events,
    seq_of,
)
from holdfast.recording.tail import Tail

NOT_DONE = ("skip", "raise", "cancel", "deny")
"""Decisions by which a tool did not run."""

ReadValue = tuple[str, int, RecordedCall | None, EventData]
"""A recorded clock, id or random number: its lane, iteration, the tool that asked for it."""


class RecordedCalls:
    def __init__(
        self, home: SessionDirectory, fork_at: int | None = None, fork_lane: str = MAIN
    ) -> None:
        self.home = home
        self.fork_at = fork_at
        self.fork_lane = fork_lane
        self.is_whole = False
        """Whether the recording has an end: that of a killed agent just stops."""
        self.is_old = False
        """Whether iterations are counted for the whole process, as they once were."""
        self.calls: list[RecordedCall] = []
        self.values: list[ReadValue] = []
        self._outer: dict[RecordedCall, RecordedCall] = {}
        """The tool inside which a call was made."""
        self._read()
        self._find_outer()
        self._limits = self._find_limits()
        self._open = self._find_open()

    # -- reading ---------------------------------------------------------------------------------

    def _read(self) -> None:
        state = RecordingState(keeps_messages=False)
        for event in read_events(Tail(self.home.events)):
            data = event["data"]
            changed = state.take(event)
            if isinstance(changed, RecordedCall) and changed.began is event:
                self.calls.append(changed)
            elif event["type"] == SESSION_START:
                self.is_old = self.is_old or "version" not in data
            elif event["type"] == VALUE_RECORDED:
                tool, lane = state.tools.get(str(data.get("within"))), lane_of(data)
                if self.is_old and tool is not None and tool.lane == lane:
                    lane = tool.name if tool.name in state.lanes else lane
                last = state.lanes.get(lane)
                self.values.append((lane, 0 if last is None else last.iteration, tool, data))
        self.is_whole = state.last_type == SESSION_END

    def _find_outer(self) -> None:
        tools: dict[str, RecordedCall] = {}
        for call in self.calls:
            outer = tools.get(call.within) if call.within is not None else None
            if outer is not None:
                self._outer[call] = outer
            if call.tool_id is not None:
                tools[call.tool_id] = call

    def _find_fork_point(self) -> RecordedCall | None:
        """The first model call that is live again; None if all of the recording is played."""
        later = (
            call
            for call in self.calls
            if call.kind == MODEL
            and call.lane == self.fork_lane
            and call.iteration > (self.fork_at or 0)
        )
        return None if self.fork_at is None else next(later, None)

    def _find_limits(self) -> dict[str, int] | None:
        """The last iteration of each lane that had begun when the fork does."""
        if self.fork_at is None:
            return None
        point = self._find_fork_point()
        limits: dict[str, int] = {}
        for call in self.calls:
            if point is not None and seq_of(call.began) >= seq_of(point.began):
                break
            limits[call.lane] = max(limits.get(call.lane, 0), call.iteration)
        limits[self.fork_lane] = self.fork_at
        return limits

    def _find_open(self) -> set[RecordedCall]:
        """The tools inside which a fork begins: they run, up to there with recorded answers."""
        point = self._find_fork_point()
        return set() if point is None else set(self.find_ancestors(point))

    # -- what a fork takes -----------------------------------------------------------------------

    def is_open(self, call: RecordedCall) -> bool:
        return call in self._open

    def find_ancestors(self, call: RecordedCall) -> Iterator[RecordedCall]:
        """The tools inside which it was called, the innermost first."""
        while call in self._outer:
            call = self._outer[call]
            yield call

    def covers(self, lane: str, iteration: int) -> bool:
        """Whether that turn comes from here, with all that it asked for."""
        return self._limits is None or iteration <= self._limits.get(lane, -1)

    def is_played(self, call: RecordedCall) -> bool:
        """Whether it belongs to the part that comes from the recording."""
        return self.covers(call.lane, call.iteration) or any(
            self.covers(tool.lane, tool.iteration) and tool not in self._open
            for tool in self.find_ancestors(call)
        )

    @property
    def iterations(self) -> int:
        """Of the lane that is forked."""
        return max(
            (call.iteration for call in self.calls if call.lane == self.fork_lane), default=0
        )

    @property
    def lanes(self) -> list[str]:
        return list(dict.fromkeys([MAIN, *(call.lane for call in self.calls)]))

    @property
    def has_models(self) -> bool:
        """Whether there is a conversation that a fork could change."""
        return any(call.kind == MODEL for call in self.calls)

    def list_last_tools(self) -> dict[str, str]:
        """The tools of the last turn that is played, whose results may be changed: id to name."""
        return {
            str(call.tool_id): call.name
            for call in self.calls
            if call.kind == TOOL and call.lane == self.fork_lane and call.iteration == self.fork_at
        }

    def list_side_effects(self) -> list[str]:
        """The tools of the recorded part of a fork that may have changed something outside."""
        ran = [
            call
            for call in self.calls
            if call.kind == TOOL and self.is_played(call) and not call.request.get("pure")
        ]
        return sorted({call.name for call in ran if not self._was_prevented(call)})

    @property
    def open_tools(self) -> list[str]:
        """The names of the tools inside which a fork begins, and which run again."""
        return sorted({call.name for call in self._open})

    def _was_prevented(self, call: RecordedCall) -> bool:
        decision = self.read_decision(call.request)
        return decision is not None and decision.get("action") in NOT_DONE

    def read_decision(self, data: EventData) -> EventData | None:
        """What was decided of a call or of its error, as the fields of its event have it."""
        decision = self.read_body(data.get("decision"))
        return decision if isinstance(decision, dict) and "action" in decision else None

    def read_body(self, value: Any) -> Any:
        """A body, wherever it is."""
        return RecordingState(ContentFiles(self.home.contents)).read_body(value)
