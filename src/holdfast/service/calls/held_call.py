"""A held call: what it waits for, who polls it, and what is asked of it meanwhile."""

from __future__ import annotations

import asyncio
import secrets
import time
from dataclasses import dataclass, field
from typing import Any

from holdfast import errors
from holdfast.model.call import CallRecord, When
from holdfast.service.waitable import Waitable

Json = dict[str, Any]
ALLOWED = {
    When.BEFORE: ("continue", "skip", "raise", "modify", "replace"),
    When.AFTER: ("continue", "skip", "raise"),
    When.EXCEPTION: ("continue", "skip", "raise"),
}


@dataclass
class Question:
    """An expression for the caller's frame, until the application has answered it."""

    expression: str
    timeout: float
    answer: asyncio.Future[Json]
    id: str = field(default_factory=lambda: f"eval_{secrets.token_hex(4)}")


class Held(Waitable):
    """One hold of one call. Whoever polls it is woken by the decision, or by a question."""

    def __init__(
        self, hold_id: str, call: CallRecord, when: When, *, evaluates: bool, timeout_ms: int
    ) -> None:
        super().__init__()
        self.id = hold_id
        self.call = call
        self.when = when
        self.evaluates = evaluates
        self.timeout_ms = timeout_ms
        self.opened_at = time.time()
        self.action: Json | None = None
        self.gone: str | None = None
        self.breakpoint_id: str | None = None
        self._questions: list[Question] = []
        self.timer: asyncio.TimerHandle | None = None

    # -- the application's side -------------------------------------------------------------------

    async def polled(self, seconds: float) -> Json:
        if seconds > 0:
            await self.wait_until(
                lambda: bool(self.action or self._questions or self.gone), seconds
            )
        if self.action is not None:
            return {"status": "ready", "action": self.action}
        if self.gone is not None:
            raise self._gone(self.gone)
        if self._questions:
            asked = self._questions[0]
            return {
                "status": "evaluate",
                "request_id": asked.id,
                "expression": asked.expression,
                "timeout": asked.timeout,
            }
        return {"status": "waiting"}

    def answered(self, request_id: str, answer: Json) -> bool:
        """False when nobody waits for this answer (any more)."""
        for asked in self._questions:
            if asked.id == request_id:
                self._questions.remove(asked)
                if not asked.answer.done():
                    asked.answer.set_result(answer)
                return True
        return False

    # -- the deciders' side -----------------------------------------------------------------------

    def decided(self, action: Json) -> None:
        self.action = action
        self._close("the call was decided meanwhile")

    def withdrawn(self, why: str) -> None:
        self.gone = why
        self._close(why)

    def _close(self, why: str) -> None:
        if self.timer is not None:
            self.timer.cancel()
        for asked in self._questions:
            if not asked.answer.done():
                asked.answer.set_exception(self._gone(why))
        self._questions.clear()
        self.wake()

    async def evaluate(self, expression: str, timeout: float) -> Json:
        """What the application's answer was: `result` (a preview) or `error`."""
        if not self.evaluates:
            raise errors.WrongState(
                "this application does not evaluate at a hold",
                hint="Only clients that say `evaluates` do; decide the call instead.",
                hold_id=self.id,
                state="held",
                possible=list(ALLOWED[self.when]),
            )
        asked = Question(expression, timeout, asyncio.get_running_loop().create_future())
        self._questions.append(asked)
        self.wake()
        try:
            return await asyncio.wait_for(asked.answer, timeout)
        except asyncio.TimeoutError:
            raise errors.EvaluationTimedOut(
                f"no answer within {timeout:g} s", hold_id=self.id, timeout=timeout
            ) from None
        finally:
            if asked in self._questions:
                self._questions.remove(asked)

    def _gone(self, why: str) -> errors.WrongState:
        return errors.WrongState(
            f"hold {self.id} is no longer open: {why}",
            hold_id=self.id,
            state="settled",
            possible=[],
        )
