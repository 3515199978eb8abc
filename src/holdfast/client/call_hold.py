"""A held call in the application: it waits for the decision and evaluates expressions meanwhile."""

from __future__ import annotations

import asyncio
import time
import types
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from holdfast.client.decision_effects import Plan
from holdfast.client.exceptions import (
    DebugError,
    DebugProtocolError,
    DebugServerError,
    DebugTimeoutError,
    DecisionRefused,
)
from holdfast.client.http_client import Reply
from holdfast.client.proxy_base import without_interception
from holdfast.client.recorder import Answer, Recorder
from holdfast.client.time_limit import run_limited
from holdfast.client.value_preview import build_preview, clean

# Seconds for an expression, if the server names no limit.
MAX_EVALUATION = 10.0
# Seconds that the server may delay one answer; a decision ends the wait at once.
MAX_WAIT = 20.0


class Hold:
    """The step that waits for a decision."""

    def __init__(
        self,
        recorder: Recorder,
        call_id: str,
        answer: Answer,
        frame: types.FrameType | None,
        plan: Callable[[Answer], Plan],
    ) -> None:
        self._plan = plan
        self._checked: tuple[Any, Plan] | None = None  # the last decision that was tried
        self._recorder = recorder
        self._call_id = call_id
        self._frame = frame
        self._path = _parse_path(answer.get("poll_url"))
        self._interval = _parse_milliseconds(answer, "poll_interval_ms", 100)
        self._timeout = _parse_milliseconds(answer, "timeout_ms", 60_000)
        self._server_waits = True  # whether this server takes `?wait=`
        self._has_evaluated = False  # just now: more expressions may come

    def wait(self) -> Answer:
        deadline = time.monotonic() + self._timeout
        while True:
            asked_at = time.monotonic()
            wait = self._choose_wait(deadline, asked_at)
            with without_interception():
                decision = self._read(self._recorder.poll(self._poll_path(wait), wait))
            if decision is not None:
                return decision
            time.sleep(self._choose_pause(asked_at, deadline))

    async def wait_async(self) -> Answer:
        if asyncio._get_running_loop() is None:
            return self.wait()  # another event loop than asyncio's
        deadline = time.monotonic() + self._timeout
        while True:
            asked_at = time.monotonic()
            wait = self._choose_wait(deadline, asked_at)
            reply = await self._recorder.poll_async(self._poll_path(wait), wait)
            with without_interception():
                decision = self._read(reply)
            if decision is not None:
                return decision
            await asyncio.sleep(self._choose_pause(asked_at, deadline))

    def carry_out(self, decision: Answer) -> Plan:
        """What a decision comes to. One that was tried before is not tried again."""
        if self._checked is not None and self._checked[0] == decision.get("request_id"):
            return self._checked[1]
        return self._plan(decision)

    def _choose_wait(self, deadline: float, now: float) -> float:
        if now >= deadline:
            raise DebugTimeoutError(
                f"nobody decided about call {self._call_id} within {self._timeout:g} s"
            )
        return min(MAX_WAIT, deadline - now)

    def _poll_path(self, wait: float) -> str:
        if not self._server_waits:
            return self._path
        return f"{self._path}{'&' if '?' in self._path else '?'}wait={wait:.3f}"

    def _choose_pause(self, asked_at: float, deadline: float) -> float:
        """A server that answers at once is asked again at the interval that it named."""
        if self._has_evaluated:
            self._has_evaluated = False
            return 0.0
        now = time.monotonic()
        return max(0.0, min(asked_at + self._interval, deadline) - now)

    def _read(self, reply: Reply) -> Answer | None:
        """The decision; None if there is none yet."""
        if reply.status == 404:
            if self._server_waits:
                self._server_waits = False
                return None
            raise DebugServerError(f"the server does not know the held call {self._call_id}")
        if reply.status in (409, 410):
            raise DebugServerError(
                f"call {self._call_id} is no longer held, and is not made: "
                f"the session has ended ({reply.error_message()})"
            )
        answer = self._recorder.parse_answer(reply)
        match answer.get("status"):
            case "waiting":
                return None
            case "evaluate":
                self._evaluate(answer)
                return None
            case "check":
                self._check(answer)
                return None
            case "ready":
                decision = answer.get("action")
                if isinstance(decision, str):
                    decision = answer
                if not isinstance(decision, dict) or "action" not in decision:
                    raise DebugProtocolError("the server is ready but names no action")
                return {**decision, "request_id": answer.get("request_id")}
        raise DebugProtocolError(f"a held call was sent an unknown status: {answer!r:.200}")

    def _evaluate(self, question: Answer) -> None:
        answer: dict[str, Any] = {"request_id": question.get("request_id")}
        expression = str(question.get("expression"))
        try:
            value = run_limited(_parse_limit(question), lambda: evaluate(expression, self._frame))
            answer["result"] = build_preview(value, max_chars=question.get("max_chars"))
        except Exception as problem:  # whatever the expression raises is the answer
            message = clean(str(problem))
            answer["error"] = {"type": type(problem).__name__, "message": message}
        self._recorder.answer_question(self._call_id, answer)
        self._has_evaluated = True

    def _check(self, question: Answer) -> None:
        """Try a decision, and say whether it can be carried out. Nothing is done yet."""
        request_id, decision = question.get("request_id"), question.get("action")
        answer: dict[str, Any] = {"request_id": request_id}
        if not isinstance(decision, dict):
            raise DebugProtocolError("a held call was sent no decision to check")
        try:
            plan = run_limited(_parse_limit(question), lambda: self._plan(decision))
        except DebugServerError:
            raise  # nobody is there to be told
        except Exception as problem:  # loading a value runs code of the application
            answer["refusal"] = _describe_refusal(problem)
        else:
            self._checked = (request_id, plan)
            answer["accepted"] = True
            if plan.note is not None:
                answer["note"] = plan.note
        self._recorder.answer_question(self._call_id, answer)
        self._has_evaluated = True


def _describe_refusal(problem: Exception) -> dict[str, Any]:
    if isinstance(problem, DecisionRefused):
        return {
            "message": clean(str(problem)),
            "hint": clean(problem.hint),
            "field": problem.field,
            "choices": problem.choices,
        }
    message = clean(str(problem))
    if not isinstance(problem, DebugError):
        message = f"{type(problem).__name__}: {message}"
    return {"message": message}


def evaluate(expression: str, frame: types.FrameType | None) -> Any:
    """Evaluate an expression in a frame. A statement is executed there; its value is None."""
    names: dict[str, Any] = {} if frame is None else frame.f_globals
    local: Any = {} if frame is None else frame.f_locals
    try:
        code = compile(expression.strip(), "<held call>", "eval")
    except SyntaxError:
        exec(compile(expression, "<held call>", "exec"), names, local)
        return None
    # In one namespace, so that a lambda or a comprehension sees the local names, too.
    return eval(code, {**names, **local})


def _parse_limit(question: Answer) -> float:
    limit = question.get("timeout")
    return limit if isinstance(limit, (int, float)) and limit > 0 else MAX_EVALUATION


def _parse_path(url: Any) -> str:
    if not isinstance(url, str) or not url:
        raise DebugProtocolError("a held call was sent no poll_url")
    parts = urlsplit(url)
    return parts.path + (f"?{parts.query}" if parts.query else "")


def _parse_milliseconds(answer: Answer, field: str, default: int) -> float:
    """In seconds."""
    number = answer.get(field, default)
    if isinstance(number, bool) or not isinstance(number, (int, float)) or number < 0:
        raise DebugProtocolError(f"a held call was sent a {field} of {number!r}")
    return number / 1000
