"""One run of a loop, and the lane that it runs in."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from contextvars import ContextVar
from types import TracebackType
from typing import TYPE_CHECKING, Any

from holdfast.bridge.recorded_values import error_message
from holdfast.model.agent_events import MAIN, RUN_END, RUN_START, RunEnd

if TYPE_CHECKING:
    from holdfast.bridge.agent_bridge import Bridge

current_lane: ContextVar[str] = ContextVar("holdfast_lane", default=MAIN)


class Run:
    """One run of the loop: `with dbg.run(messages=…, vars=…):`, or `async with`."""

    def __init__(
        self, bridge: Bridge, messages: list[Any] | None, given: Any, tools: list[str], lane: str
    ) -> None:
        self._bridge = bridge
        self.messages, self.vars, self.tools, self.lane = messages, given, tools, lane
        self.max_tokens: int | None = None
        self.summary: str | None = None
        self.working_set: Sequence[str] = ()

    def __enter__(self) -> Run:
        self._before = current_lane.set(self.lane)
        self._bridge.runs.append(self)
        self._bridge.lane(self.lane).count = 0  # a conversation may begin anew
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
            current_lane.reset(self._before)
        if self in bridge.runs:
            bridge.runs.remove(self)
        if not bridge.runs:
            bridge.control.end_run()
        event: RunEnd = {"isError": error is not None, "iterations": bridge.iteration}
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
