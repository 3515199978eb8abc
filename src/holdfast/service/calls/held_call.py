"""A held call. Its application polls it; others decide it, or evaluate in its frame.

The application answers questions while it waits: the value of an expression, or whether it can
carry out a decision.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from holdfast import errors
from holdfast.model.call import CallBreakpoint, CallRecord, When
from holdfast.model.decision import Moment, names_at
from holdfast.model.hold import Hold
from holdfast.service.calls.running_calls import RunningCall
from holdfast.service.holds import hold_fields
from holdfast.service.new_ids import new_id
from holdfast.service.waitable import Waitable
from holdfast.wire.call_answers import CallHold, CallInstruction, PollAnswer
from holdfast.wire.call_requests import CheckAnswer, EvaluationAnswer, QuestionAnswer
from holdfast.wire.described import none_to_unset


@dataclass
class PendingQuestion:
    """An expression to evaluate in the frame of the caller, or a decision to try."""

    question: PollAnswer
    answer: asyncio.Future[QuestionAnswer]


class HeldCall(Waitable):
    """One hold of one call. A decision or an evaluation wakes the application's poll."""

    def __init__(
        self,
        hold_id: str,
        running: RunningCall,
        when: When,
        point: CallBreakpoint,
        timeout_ms: int,
    ) -> None:
        super().__init__()
        self.id = hold_id
        self.running = running
        self.when = when
        self.point = point
        self.timeout_ms = timeout_ms
        self.opened_at = time.time()
        self.timer: asyncio.TimerHandle | None = None
        self._instruction: CallInstruction | None = None
        self._withdrawn_because: str | None = None
        self._request_id: str | None = None  # of the check that the decision has passed
        self._questions: dict[str, PendingQuestion] = {}
        self.turn = asyncio.Lock()  # one decision is tried at a time

    @property
    def moment(self) -> Moment:
        return Moment(self.when.value)

    @property
    def checks(self) -> bool:
        """Whether its application tries decisions before they are taken."""
        return self.running.session.application.checks

    @property
    def record(self) -> CallRecord:
        return self.running.record

    def summarize(self, hold: Hold) -> CallHold:
        return CallHold(
            **hold_fields(hold),
            call_id=self.record.id,
            method_name=self.record.function.name,
            when=self.when.value,
            breakpoint_id=self.point.id,
        )

    # -- the application's side -------------------------------------------------------------------

    async def poll(self, seconds: float) -> PollAnswer:
        """Wait for the decision, or for a question to answer."""
        if seconds > 0:
            await self.wait_until(self._has_news, seconds)
        if self._instruction is not None:
            return PollAnswer(
                status="ready",
                action=self._instruction,
                request_id=none_to_unset(self._request_id),
            )
        if self._withdrawn_because is not None:
            raise self._not_open(self._withdrawn_because)
        for pending in self._questions.values():
            return pending.question
        return PollAnswer(status="waiting")

    def _has_news(self) -> bool:
        return bool(self._instruction or self._questions or self._withdrawn_because)

    def answer_question(self, answer: QuestionAnswer) -> bool:
        """Pass on an answer of the application. False when nobody waits for it any more."""
        pending = self._questions.pop(answer.request_id, None)
        if pending is None:
            return False
        if not pending.answer.done():
            pending.answer.set_result(answer)
        return True

    # -- the deciders' side -----------------------------------------------------------------------

    def release(self, instruction: CallInstruction, request_id: str | None = None) -> None:
        """Hand the decision to the application; `request_id` is of the check that it passed."""
        self._instruction = instruction
        self._request_id = request_id
        self._close("the call was decided meanwhile")

    def withdraw(self, why: str) -> None:
        self._withdrawn_because = why
        self._close(why)

    def _close(self, why: str) -> None:
        if self.timer is not None:
            self.timer.cancel()
        for pending in self._questions.values():
            if not pending.answer.done():
                pending.answer.set_exception(self._not_open(why))
        self._questions.clear()
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
        question = PollAnswer(
            status="evaluate",
            request_id=new_id("ask"),
            expression=expression,
            timeout=timeout,
            max_chars=none_to_unset(max_chars),
        )
        try:
            answer = await self._ask(question, timeout)
        except asyncio.TimeoutError:
            raise errors.EvaluationTimedOut(
                f"no answer within {timeout:g} s", hold_id=self.id, timeout=timeout
            ) from None
        if not isinstance(answer, EvaluationAnswer):
            raise errors.EvaluationFailed("the application answered something else")
        return answer

    async def check(self, instruction: CallInstruction, timeout: float) -> CheckAnswer:
        """Have the application try a decision, and wait for what it says."""
        request_id = new_id("ask")
        question = PollAnswer(
            status="check", request_id=request_id, action=instruction, timeout=timeout
        )
        try:
            answer = await self._ask(question, timeout)
        except asyncio.TimeoutError:
            raise errors.DecisionTimedOut(
                f"the application has not said within {timeout:g} s whether it can carry this out",
                hold_id=self.id,
                session_id=self.record.session_id,
                timeout=timeout,
            ) from None
        return answer if isinstance(answer, CheckAnswer) else CheckAnswer(request_id)

    async def _ask(self, question: PollAnswer, timeout: float) -> QuestionAnswer:
        answer: asyncio.Future[QuestionAnswer] = asyncio.get_running_loop().create_future()
        request_id = str(question.request_id)
        self._questions[request_id] = PendingQuestion(question, answer)
        self.wake()
        try:
            return await asyncio.wait_for(answer, timeout)
        finally:
            self._questions.pop(request_id, None)

    def _not_open(self, why: str) -> errors.WrongState:
        return errors.WrongState(
            f"hold {self.id} is no longer open: {why}",
            hold_id=self.id,
            state="settled",
            possible=[],
        )
