"""A held call. Its application polls it; others decide it, or evaluate in its frame."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field

from holdfast import errors
from holdfast.model.call import CallRecord, When
from holdfast.model.decision import Moment, names_at
from holdfast.model.hold import Hold
from holdfast.service.calls.running_calls import RunningCall
from holdfast.service.holds import hold_fields
from holdfast.service.new_ids import new_id
from holdfast.service.waitable import Waitable
from holdfast.wire.call_answers import CallHold, CallInstruction, PollAnswer
from holdfast.wire.call_requests import EvaluationAnswer
from holdfast.wire.described import none_to_unset


@dataclass
class PendingEvaluation:
    """An expression that the application is to evaluate in the frame of the caller."""

    expression: str
    timeout: float
    answer: asyncio.Future[EvaluationAnswer]
    max_chars: int | None = None
    id: str = field(default_factory=lambda: new_id("eval"))


class HeldCall(Waitable):
    """One hold of one call. A decision or an evaluation wakes the application's poll."""

    def __init__(
        self, hold_id: str, running: RunningCall, when: When, breakpoint_id: str, timeout_ms: int
    ) -> None:
        super().__init__()
        self.id = hold_id
        self.running = running
        self.when = when
        self.breakpoint_id = breakpoint_id
        self.timeout_ms = timeout_ms
        self.opened_at = time.time()
        self.timer: asyncio.TimerHandle | None = None
        self._instruction: CallInstruction | None = None
        self._withdrawn_because: str | None = None
        self._evaluations: list[PendingEvaluation] = []

    @property
    def moment(self) -> Moment:
        return Moment(self.when.value)

    @property
    def record(self) -> CallRecord:
        return self.running.record

    def summarize(self, hold: Hold) -> CallHold:
        return CallHold(
            **hold_fields(hold),
            call_id=self.record.id,
            method_name=self.record.function.name,
            when=self.when.value,
            breakpoint_id=self.breakpoint_id,
        )

    # -- the application's side -------------------------------------------------------------------

    async def poll(self, seconds: float) -> PollAnswer:
        """Wait for the decision, or for an expression to evaluate."""
        if seconds > 0:
            await self.wait_until(self._has_news, seconds)
        if self._instruction is not None:
            return PollAnswer(status="ready", action=self._instruction)
        if self._withdrawn_because is not None:
            raise self._not_open(self._withdrawn_because)
        if self._evaluations:
            evaluation = self._evaluations[0]
            return PollAnswer(
                status="evaluate",
                request_id=evaluation.id,
                expression=evaluation.expression,
                timeout=evaluation.timeout,
                max_chars=none_to_unset(evaluation.max_chars),
            )
        return PollAnswer(status="waiting")

    def _has_news(self) -> bool:
        return bool(self._instruction or self._evaluations or self._withdrawn_because)

    def answer_evaluation(self, answer: EvaluationAnswer) -> bool:
        """Pass on an answer of the application. False when nobody waits for it any more."""
        for evaluation in self._evaluations:
            if evaluation.id == answer.request_id:
                self._evaluations.remove(evaluation)
                if not evaluation.answer.done():
                    evaluation.answer.set_result(answer)
                return True
        return False

    # -- the deciders' side -----------------------------------------------------------------------

    def release(self, instruction: CallInstruction) -> None:
        """Hand the decision to the application."""
        self._instruction = instruction
        self._close("the call was decided meanwhile")

    def withdraw(self, why: str) -> None:
        self._withdrawn_because = why
        self._close(why)

    def _close(self, why: str) -> None:
        if self.timer is not None:
            self.timer.cancel()
        for evaluation in self._evaluations:
            if not evaluation.answer.done():
                evaluation.answer.set_exception(self._not_open(why))
        self._evaluations.clear()
        self.wake()

    async def evaluate(
        self, expression: str, timeout: float, max_chars: int | None = None
    ) -> EvaluationAnswer:
        """Have the application evaluate an expression, and wait for its answer."""
        if not self.running.evaluates:
            raise errors.WrongState(
                "this application does not evaluate at a hold",
                hint="Only clients that say `evaluates` do; decide the call instead.",
                hold_id=self.id,
                state="held",
                possible=list(names_at(self.moment)),
            )
        answer: asyncio.Future[EvaluationAnswer] = asyncio.get_running_loop().create_future()
        evaluation = PendingEvaluation(expression, timeout, answer, max_chars)
        self._evaluations.append(evaluation)
        self.wake()
        try:
            return await asyncio.wait_for(answer, timeout)
        except asyncio.TimeoutError:
            raise errors.EvaluationTimedOut(
                f"no answer within {timeout:g} s", hold_id=self.id, timeout=timeout
            ) from None
        finally:
            if evaluation in self._evaluations:
                self._evaluations.remove(evaluation)

    def _not_open(self, why: str) -> errors.WrongState:
        return errors.WrongState(
            f"hold {self.id} is no longer open: {why}",
            hold_id=self.id,
            state="settled",
            possible=[],
        )
