"""Applies the breakpoints to a call."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast import errors
from holdfast.core.call_matcher import ArmedBreakpoint
from holdfast.model.call import When
from holdfast.model.decision import CONTINUE, Moment, action_at
from holdfast.service.calls.argument_names import resolve_names
from holdfast.service.calls.call_actions import ActionBuilder
from holdfast.service.calls.call_breakpoints import CallBreakpoints
from holdfast.service.calls.call_holds import CallHolds
from holdfast.service.calls.running_calls import RunningCall
from holdfast.service.calls.stack_cache import StackCache
from holdfast.wire.call_answers import CallInstruction


@dataclass(eq=False)
class CallInterceptor:
    """Decides what becomes of a call: it passes, is acted on at once, or is held."""

    _breakpoints: CallBreakpoints
    _holds: CallHolds
    _actions: ActionBuilder
    _stacks: StackCache

    async def intercept(self, running: RunningCall, when: When) -> CallInstruction | None:
        """What its application has to do: None for nothing, an action, or to poll."""
        armed = await self._breakpoints.first_hit(running.record, when)
        if armed is None:
            return None
        if armed.point.action is not None:
            try:
                return await self._act(running, when, armed)
            except errors.InvalidDecision as problem:
                # The breakpoint's own action is not possible for this call, so hold it.
                armed.note_undecided(problem.message)
        location = await self._stacks.location(running.record)
        if running.session.over:
            return None  # the session ended while the store was read
        return self._holds.open(running, when, armed.point, location)

    async def _act(
        self, running: RunningCall, when: When, armed: ArmedBreakpoint
    ) -> CallInstruction | None:
        options = dict(armed.point.action or {})
        action = str(options.pop("action", ""))
        if action == CONTINUE.name or action_at(Moment(when.value), action) is None:
            return None
        prepared = await self._actions.build(when, action, options, running.check_replacement)
        prepared = resolve_names(running.record, prepared)
        by = f"breakpoint {armed.point.id}"
        running.record = running.with_decision(when, prepared.summary, by)
        return prepared.instruction
