"""Held calls: opens their holds, answers their polls, and settles them."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec import UNSET

from holdfast import errors, timings
from holdfast.core import decision_check
from holdfast.core.call_matcher import describe_point
from holdfast.core.ledger import Ledger
from holdfast.model.call import CallBreakpoint, CallRecord, When, call_number
from holdfast.model.decision import CONTINUE, Decision, names_at
from holdfast.model.hold import Hold
from holdfast.model.location import Location
from holdfast.model.session_state import Kind
from holdfast.service.calls.argument_names import resolve_names
from holdfast.service.calls.call_actions import ActionBuilder, CallAction
from holdfast.service.calls.call_session import CallSession
from holdfast.service.calls.held_call import HeldCall
from holdfast.service.calls.running_calls import RunningCall
from holdfast.service.new_ids import new_id
from holdfast.service.settings import Settings
from holdfast.store import CallLog
from holdfast.wire.call_answers import CallEvaluation, CallInstruction, PollAnswer
from holdfast.wire.call_requests import CheckAnswer, QuestionAnswer

_MAX_REMEMBERED = 20_000


@dataclass(frozen=True)
class SettledCall:
    """A held call that was decided. `verdict` is what its application said before, if asked."""

    held: HeldCall
    verdict: CheckAnswer | None


@dataclass(eq=False)
class CallHolds:
    """The holds of calls: the open ones by hold id, and the latest of each call by call number."""

    _ledger: Ledger
    _call_log: CallLog
    _actions: ActionBuilder
    _settings: Callable[[], Settings]
    _open: dict[str, HeldCall] = field(default_factory=dict, init=False)
    _by_call: OrderedDict[int, HeldCall] = field(default_factory=OrderedDict, init=False)

    def open(
        self, running: RunningCall, when: When, point: CallBreakpoint, location: Location | None
    ) -> CallInstruction:
        """Hold a call. The answer tells its application to poll."""
        record, session, settings = running.record, running.session, self._settings()
        timeout_ms = settings.call_hold_timeout_ms
        if session.is_implicit:
            timeout_ms = min(timeout_ms, round(timings.TIMINGS.implicit_hold * 1000))
        held = HeldCall(new_id("hold"), running, when, point, timeout_ms)
        self._ledger.open(_build_hold(held, location))
        self._open[held.id] = held
        self._by_call[record.number] = held
        if len(self._by_call) > _MAX_REMEMBERED:
            self._by_call.popitem(last=False)
        session.holds.add(held.id)
        held.timer = asyncio.get_running_loop().call_later(
            timeout_ms / 1000 + timings.TIMINGS.call_gives_up,
            self._withdraw,
            held,
            "nobody decided in time",
        )
        session.event(
            "hold_opened",
            hold_id=held.id,
            call_id=record.id,
            method_name=record.function.name,
            when=when.value,
            breakpoint_id=point.id,
        )
        return CallInstruction(
            action="poll",
            poll_interval_ms=settings.call_poll_interval_ms,
            poll_url=f"/api/poll/{record.id}",
            timeout_ms=timeout_ms,
            hold_id=held.id,
            breakpoint_id=point.id,
            breakpoint=describe_point(point),
        )

    def list_held_by(self, point_ids: Collection[str]) -> list[str]:
        """The open holds that these breakpoints made."""
        return [held.id for held in self._open.values() if held.point.id in point_ids]

    def list_held(self, numbers: Iterable[int]) -> dict[int, str]:
        """The open holds of those of these calls that are held, by the numbers of the calls."""
        latest = {number: self._by_call.get(number) for number in numbers}
        return {
            number: held.id
            for number, held in latest.items()
            if held is not None and held.id in self._open
        }

    # -- for deciders -----------------------------------------------------------------------

    def require_open(self, hold_id: str) -> HeldCall:
        """The held call; an error says how its hold was settled otherwise."""
        self._ledger.get_open(hold_id)
        return self._open[hold_id]

    def newest_of(self, session: CallSession) -> HeldCall:
        """The session's hold that was opened last."""
        holds = self._ledger.open_holds(session.id)
        if not holds:
            raise errors.WrongState(
                f"no call of session {session.id} is held",
                hint="It has ended, and makes no more calls."
                if session.over
                else "Set a breakpoint with POST /api/breakpoints and let the call come.",
                session_id=session.id,
                state=session.state.value,
                possible=["delete"],
            )
        return self._open[holds[-1].id]

    async def decide(
        self, hold_id: str, action: str, by: str, options: Mapping[str, Any]
    ) -> SettledCall:
        """Settle a hold. A decision that cannot be carried out leaves it open.

        An application that can is asked to try it first. `continue` needs no trial.
        """
        held = self.require_open(hold_id)
        decision_check.check_allowed(self._ledger.get(hold_id), action)
        if action == CONTINUE.name or not held.checks:
            running = held.running
            prepared = await self._actions.build(
                held.when, action, options, running.check_replacement
            )
            prepared = resolve_names(held.record, prepared)
            return self._settle(held, Decision(action, by, prepared.summary), prepared, None)
        prepared = await self._actions.build(held.when, action, options, lambda name: None)
        async with held.turn:
            verdict = await self._check(held, prepared)
            if verdict.note is not None:
                prepared.summary["note"] = verdict.note
            return self._settle(held, Decision(action, by, prepared.summary), prepared, verdict)

    async def _check(self, held: HeldCall, prepared: CallAction) -> CheckAnswer:
        """What the application says about a decision. Raises if it cannot carry it out."""
        self._ledger.get_open(held.id)  # it may have been decided while this one waited
        try:
            verdict = await held.check(prepared.instruction, self._settings().evaluate_timeout)
        except errors.WrongState:
            self._ledger.get_open(held.id)  # raises, and says who decided meanwhile
            raise
        if verdict.refusal is not None:
            raise _refuse(held, verdict.refusal)
        return verdict

    def _settle(
        self,
        held: HeldCall,
        decision: Decision,
        prepared: CallAction,
        verdict: CheckAnswer | None,
    ) -> SettledCall:
        action, by = decision.action, decision.by
        self._ledger.get_open(held.id)  # somebody else may have decided meanwhile
        if action != CONTINUE.name:
            decided = held.running.with_decision(held.when, prepared.summary, by)
            self._call_log.update_call(decided)  # if that fails, the hold stays open
            held.running.record = decided
        self._ledger.decide(held.id, decision)
        session = self._forget(held)
        held.release(prepared.instruction, None if verdict is None else verdict.request_id)
        session.event("hold_decided", hold_id=held.id, call_id=held.record.id, action=action, by=by)
        return SettledCall(held, verdict)

    async def continue_all(self, session: CallSession, by: str) -> list[str]:
        """Continue every held call of a session. Return the ids of their holds."""
        hold_ids = [hold.id for hold in self._ledger.open_holds(session.id)]
        for hold_id in hold_ids:
            await self.decide(hold_id, CONTINUE.name, by, {})
        return hold_ids

    async def evaluate(
        self,
        held: HeldCall,
        expression: str,
        timeout: float | None,
        max_chars: int | None = None,
    ) -> CallEvaluation:
        """Have the application evaluate an expression in the frame of the caller."""
        seconds = timeout or self._settings().evaluate_timeout
        answer = await held.evaluate(expression, seconds, max_chars)
        if answer.result is None:
            error = answer.error or {}
            kind, message = (str(error.get(name, "")) for name in ("type", "message"))
            raise errors.EvaluationFailed(
                f"{kind}: {message}", exception_type=kind, expression=expression
            )
        return CallEvaluation(
            result=answer.result["text"],
            type=answer.result["type"],
            hold_id=held.id,
            length=answer.result.get("length", UNSET),
            json=answer.result.get("json", UNSET),
        )

    # -- for the application that waits -----------------------------------------------------------

    async def poll(self, call_id: str, seconds: float) -> PollAnswer:
        return await self._require_call(call_id).poll(seconds)

    def give_up(self, call_id: str) -> None:
        """Withdraw the hold, because the application no longer waits. An earlier decision stays."""
        self._withdraw(self._require_call(call_id), "its caller waits no longer")

    def answer_question(self, call_id: str, answer: QuestionAnswer) -> bool:
        return self._require_call(call_id).answer_question(answer)

    def _require_call(self, call_id: str) -> HeldCall:
        number = call_number(call_id)
        held = None if number is None else self._by_call.get(number)
        if held is None:
            raise errors.CallNotFound(f"no call {call_id} is held", call_id=call_id)
        return held

    # -- withdrawing ------------------------------------------------------------------------

    def withdraw_call(self, record: CallRecord) -> None:
        """Withdraw the hold of a call that has ended because its caller gave up."""
        held = self._by_call.get(record.number)
        if held is not None and held.id in self._open:
            self._withdraw(held, "its call has ended")

    def withdraw_all(self, session: CallSession, why: str) -> None:
        for hold_id in list(session.holds):
            self._withdraw(self._open[hold_id], why)

    def _withdraw(self, held: HeldCall, why: str) -> None:
        if self._ledger.withdraw(held.id, why) is None:
            return
        session = self._forget(held)
        held.withdraw(why)
        session.event("hold_withdrawn", hold_id=held.id, call_id=held.record.id, why=why)

    def _forget(self, held: HeldCall) -> CallSession:
        self._open.pop(held.id, None)
        session = held.running.session
        session.holds.discard(held.id)
        return session

    def stop_waiting(self) -> None:
        for held in self._open.values():
            held.stop_waiting()


def _refuse(held: HeldCall, refusal: Mapping[str, Any]) -> errors.InvalidDecision:
    return errors.InvalidDecision(
        f"the application cannot do that: {refusal['message']}",
        hint=f"{refusal.get('hint') or ''} The call is still held: decide again.".strip(),
        field=refusal.get("field"),
        choices=refusal["choices"],
        hold_id=held.id,
        state="held",
        possible=list(names_at(held.moment)),
    )


def _build_hold(held: HeldCall, location: Location | None) -> Hold:
    thread = (held.record.thread or {}).get("id")
    return Hold(
        id=held.id,
        session_id=held.record.session_id,
        kind=Kind.CALLS,
        reason="breakpoint",
        opened_at=held.opened_at,
        thread_id=thread if isinstance(thread, int) else None,
        location=location,
        moment=held.moment,
        allows=names_at(held.moment),
    )
