"""Applies the breakpoints to a call."""

from __future__ import annotations

from typing import Any

from holdfast import errors
from holdfast.core.call_matcher import Armed
from holdfast.model.call import When
from holdfast.service.calls.call_actions import ActionBuilder
from holdfast.service.calls.call_breakpoints import CallBreakpoints
from holdfast.service.calls.call_holds import CallHolds
from holdfast.service.calls.content_cache import ContentCache
from holdfast.service.calls.filter_values import build_filter_values
from holdfast.service.calls.held_call import ALLOWED
from holdfast.service.calls.running_calls import RunningCall

Json = dict[str, Any]


class CallInterceptor:
    """Decides what becomes of a call: it passes, is acted on at once, or is held."""

    def __init__(
        self,
        breakpoints: CallBreakpoints,
        holds: CallHolds,
        actions: ActionBuilder,
        contents: ContentCache,
    ) -> None:
        self._breakpoints = breakpoints
        self._holds = holds
        self._actions = actions
        self._contents = contents

    def intercept(self, running: RunningCall, when: When) -> Json | None:
        """What its application has to do: None for nothing, an action, or to poll."""
        record = running.record
        armed = self._breakpoints.first_hit(
            record, when, lambda: build_filter_values(record, self._contents)
        )
        if armed is None:
            return None
        if armed.point.action is not None:
            try:
                return self._act(running, when, armed)
            except errors.InvalidDecision as problem:
                # The breakpoint's own action does not fit this call, so somebody has to decide.
                armed.cannot(problem.message)
        return self._holds.open(running, when, armed.point.id)

    def _act(self, running: RunningCall, when: When, armed: Armed) -> Json | None:
        options = dict(armed.point.action or {})
        action = str(options.pop("action", ""))
        if action not in ALLOWED[when] or action == "continue":
            return None
        prepared = self._actions.build(action, options, running)
        running.note_decision(when, prepared.summary, f"breakpoint {armed.point.id}")
        return prepared.message
