"""One run of a loop, and the lane that it runs in."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from holdfast.bridge.lanes import current_scope
from holdfast.bridge.recorded_values import error_message
from holdfast.model.agent_events import MAIN, RUN_END, RUN_START, RunEnd

if TYPE_CHECKING:
    from holdfast.bridge.agent_bridge import Bridge


class Run:
    """One run of the loop: `with dbg.run(messages=…, vars=…):`, or `async with`."""

    def __init__(
        self,
        bridge: Bridge,
        messages: list[Any] | None,
        given: Any,
        tools: list[str],
        lane: str | None,
    ) -> None:
        self._bridge = bridge
        self.messages, self.vars, self.tools = messages, given, tools
        self._wanted = lane
        self.lane = lane or MAIN
        self.name: str | None = None
        """What the agent is called: the lane of a run inside a tool that names no lane."""
        self.is_alone = False
        """Whether it gets a lane of its own while another run uses the main one."""
        self.max_tokens: int | None = None
        self.summary: str | None = None
        self.working_set: Sequence[str] = ()

    def __enter__(self) -> Run:
        lanes = self._bridge.lanes
        self._scope = lanes.open_run(self._wanted, self.name, is_alone=self.is_alone)
        self.lane = self._scope.lane.name
        self._before = current_scope.set((lanes, self._scope))
        self._bridge.runs.append(self)
        self._scope.lane.count = 0  # a conversation may begin anew
        self._bridge.emit(RUN_START({} if self.lane == MAIN else {"lane": self.lane}))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        bridge = self._bridge
        with contextlib.suppress(ValueError):  # closed in another task than it was opened in
            current_scope.reset(self._before)
        bridge.lanes.close_scope(self._scope)
        if self in bridge.runs:
            bridge.runs.remove(self)
        if not bridge.runs:
            bridge.control.end_run()
        event: RunEnd = {"isError": error is not None, "iterations": self._scope.lane.iteration}
        if self.lane != MAIN:
            event["lane"] = self.lane
        if error is not None:
            event["error"] = {"type": type(error).__qualname__, "message": error_message(error)}
            if isinstance(error, Exception):
                bridge.error(error_message(error), context="run", type=type(error).__qualname__)
        bridge.emit(RUN_END(event))

    async def __aenter__(self) -> Run:
        return self.__enter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.__exit__(kind, error, trace)
