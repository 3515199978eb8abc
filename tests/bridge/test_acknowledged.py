"""What is said to be taken counts from then on, though it is carried out a moment later."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from holdfast.bridge.agent_stop import Stop
from holdfast.bridge.command_executor import CommandExecutor
from holdfast.bridge.hold_decision import HoldDecision
from holdfast.bridge.loop_control import Control
from holdfast.core.agent_breakpoints import Moment
from holdfast.model.agent_commands import Command
from holdfast.model.agent_events import COMMAND_EXECUTED, Event, LaneSummary

MODEL = Moment("model", "m", 1, 0, {}, lambda: "{}")
TOOL = Moment("tool", "write", 1, 0, {}, lambda: "{}")


class Hasty:
    """A loop that comes to its next call the moment it reads that a command was taken."""

    def __init__(self, moment: Moment) -> None:
        self.control = Control(self)
        self.stops: list[Stop | HoldDecision | None] = []
        self._moment = moment
        self.thread = threading.Thread(target=self._call)

    def _call(self) -> None:
        if self._moment is MODEL:
            self.stops.append(self.control.stop_at_model(MODEL, {}, None))
        else:
            self.stops.append(self.control.stop_at_tool(TOOL, {}, "tool-1"))

    def emit(self, event: Event, /, **_more: object) -> int | None:
        if event[0] == COMMAND_EXECUTED:
            self.thread.start()
            self.thread.join(0.1)  # it gets through now, if it gets through at all
        return None

    def snapshot(
        self, what: str, lane: str | None = None, shown_messages: Any = None
    ) -> dict[str, Any]:
        return {"what": what, "lane": lane}

    def can_set(self, lane: str | None) -> bool:
        return False

    def list_lanes(self) -> list[LaneSummary]:
        return []


@pytest.mark.parametrize(
    ("moment", "command"),
    [
        (MODEL, Command("pause", "c1", {})),
        (TOOL, Command("breakpoint", "c1", {"action": "add", "on": "tool", "name": "write"})),
    ],
)
def test_no_call_slips_by_between_the_word_and_the_deed(moment: Moment, command: Command) -> None:
    loop = Hasty(moment)
    CommandExecutor(loop.control).execute(command)
    loop.thread.join(10)
    [stop] = loop.stops
    assert stop is not None
