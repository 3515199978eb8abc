"""What is said to be taken counts from then on, though it is carried out a moment later."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any

import pytest

from holdfast.bridge.command_executor import CommandExecutor
from holdfast.bridge.loop_control import Control
from holdfast.core.agent_breakpoints import Moment
from holdfast.model.agent_commands import Command
from holdfast.model.agent_events import COMMAND_EXECUTED, MAIN, Event, LaneSummary
from polling import wait_until

MODEL = Moment("model", "m", 1, 0, {}, lambda: "{}")
TOOL = Moment("tool", "write", 1, 0, {}, lambda: "{}")


class ObservedLock:
    """A lock that says whether somebody waits for it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self.is_waited_for = False

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            self.is_waited_for = True
            self._lock.acquire()

    def __exit__(
        self, _type: type[BaseException] | None, _error: object, _trace: TracebackType | None
    ) -> None:
        self._lock.release()


class Hasty:
    """A loop that asks for what concerns it the moment it reads that a command was taken."""

    def __init__(self, ask: Callable[[Control], object]) -> None:
        self.control = Control(self)
        self.lock = ObservedLock()
        self.control.lock = self.lock  # type: ignore[assignment]
        self.answers: list[object] = []
        self.thread = threading.Thread(target=lambda: self.answers.append(ask(self.control)))

    def emit(self, event: Event, /, **_more: object) -> int | None:
        if event[0] == COMMAND_EXECUTED:
            self.thread.start()
            wait_until(lambda: self.lock.is_waited_for or not self.thread.is_alive())
        return None

    def snapshot(
        self, what: str, lane: str | None = None, shown_messages: Any = None
    ) -> dict[str, Any]:
        return {"what": what, "lane": lane}

    def can_set(self, lane: str | None) -> bool:
        return True

    def list_lanes(self) -> list[LaneSummary]:
        return []


@pytest.mark.parametrize(
    ("command", "ask"),
    [
        (Command("pause", "c1", {}), lambda control: control.stop_at_model(MODEL, {}, None)),
        (
            Command("breakpoint", "c1", {"action": "add", "on": "tool", "name": "write"}),
            lambda control: control.stop_at_tool(TOOL, {}, "tool-1"),
        ),
        (
            Command("set_variable", "c1", {"key": "depth", "value": 2}),
            lambda control: control.take_settings(MAIN),
        ),
        (
            Command("inject_message", "c1", {"role": "user", "content": "stop"}),
            lambda control: control.take_injections(MAIN),
        ),
    ],
    ids=lambda value: value.type if isinstance(value, Command) else "",
)
def test_a_command_counts_from_its_acknowledgement(
    command: Command, ask: Callable[[Control], object]
) -> None:
    loop = Hasty(ask)
    CommandExecutor(loop.control).execute(command)
    loop.thread.join(60)
    [answer] = loop.answers
    assert answer
