"""A held call, from its side: asking for the decision, and answering questions meanwhile."""

from __future__ import annotations

import asyncio
import time
import types
from typing import Any
from urllib.parse import urlsplit

from holdfast.client import value_preview
from holdfast.client.exceptions import (
    DebugProtocolError,
    DebugServerError,
    DebugTimeoutError,
)
from holdfast.client.http_client import Reply
from holdfast.client.proxy_base import without_interception
from holdfast.client.recorder import Recorder
from holdfast.client.time_limit import bounded

# Seconds for an expression, if the server does not say.
LONGEST_EVALUATION = 10.0
# Seconds that the server may let us wait for one answer; a decision ends the wait at once.
LONGEST_WAIT = 20.0


class Hold:
    """The step that waits for a decision."""

    def __init__(
        self,
        recorder: Recorder,
        call_id: str,
        answer: dict[str, Any],
        frame: types.FrameType | None,
    ) -> None:
        self._recorder = recorder
        self._call_id = call_id
        self._frame = frame
        self._path = _path(answer.get("poll_url"))
        self._interval = _milliseconds(answer, "poll_interval_ms", 100)
        self._timeout = _milliseconds(answer, "timeout_ms", 60_000)
        self._waits = True  # whether this server takes `?wait=`
        self._answered = False  # a question, just now: more may come

    def now(self) -> dict[str, Any]:
        deadline = time.monotonic() + self._timeout
        while True:
            asked = time.monotonic()
            wait = self._wait(deadline, asked)
            with without_interception():
                decision = self._decision(self._recorder.poll(self._asking(wait), wait))
            if decision is not None:
                return decision
            time.sleep(self._pause(asked, deadline))

    async def soon(self) -> dict[str, Any]:
        if asyncio._get_running_loop() is None:
            return self.now()  # another event loop than asyncio's
        deadline = time.monotonic() + self._timeout
        while True:
            asked = time.monotonic()
            wait = self._wait(deadline, asked)
            reply = await self._recorder.poll_async(self._asking(wait), wait)
            with without_interception():
                decision = self._decision(reply)
            if decision is not None:
                return decision
            await asyncio.sleep(self._pause(asked, deadline))

    def _wait(self, deadline: float, now: float) -> float:
        if now >= deadline:
            raise DebugTimeoutError(
                f"nobody decided about call {self._call_id} within {self._timeout:g} s"
            )
        return min(LONGEST_WAIT, deadline - now)

    def _asking(self, wait: float) -> str:
        if not self._waits:
            return self._path
        return f"{self._path}{'&' if '?' in self._path else '?'}wait={wait:.3f}"

    def _pause(self, asked: float, deadline: float) -> float:
        """A server that answers at once is asked again at the interval that it named."""
        if self._answered:
            self._answered = False
            return 0.0
        now = time.monotonic()
        return max(0.0, min(asked + self._interval, deadline) - now)

    def _decision(self, reply: Reply) -> dict[str, Any] | None:
        if reply.status == 404:
            if self._waits:
                self._waits = False
                return None
            raise DebugServerError(f"the server does not know the held call {self._call_id}")
        if reply.status in (409, 410):
            raise DebugServerError(
                f"call {self._call_id} is no longer held, and is not made: "
                f"the session has ended ({reply.error_message()})"
            )
        answer = self._recorder.checked(reply)
        match answer.get("status"):
            case "waiting":
                return None
            case "evaluate":
                self._evaluate(answer)
                return None
            case "ready":
                decision = answer.get("action")
                if isinstance(decision, str):
                    decision = answer
                if not isinstance(decision, dict) or "action" not in decision:
                    raise DebugProtocolError("the server is ready but says no action")
                return decision
        raise DebugProtocolError(f"a held call is told an unknown status: {answer!r:.200}")

    def _evaluate(self, question: dict[str, Any]) -> None:
        answer: dict[str, Any] = {"request_id": question.get("request_id")}
        expression = str(question.get("expression"))
        try:
            answer["result"] = value_preview.of(
                bounded(_seconds(question), lambda: evaluated(expression, self._frame))
            )
        except Exception as problem:
            said = {"type": type(problem).__name__, "message": value_preview.clean(str(problem))}
            answer["error"] = said
        self._recorder.answer(self._call_id, answer)
        self._answered = True


def _seconds(question: dict[str, Any]) -> float:
    found = question.get("timeout")
    return found if isinstance(found, (int, float)) and found > 0 else LONGEST_EVALUATION


def evaluated(expression: str, frame: types.FrameType | None) -> Any:
    """The value of an expression in a frame; a statement is run there, and has none."""
    names: dict[str, Any] = {} if frame is None else frame.f_globals
    local: Any = {} if frame is None else frame.f_locals
    try:
        code = compile(expression.strip(), "<held call>", "eval")
    except SyntaxError:
        exec(compile(expression, "<held call>", "exec"), names, local)
        return None
    # In one namespace, so that a lambda or a comprehension sees the local names, too.
    return eval(code, {**names, **local})


def _path(url: Any) -> str:
    if not isinstance(url, str) or not url:
        raise DebugProtocolError("a held call is told no poll_url")
    parts = urlsplit(url)
    return parts.path + (f"?{parts.query}" if parts.query else "")


def _milliseconds(answer: dict[str, Any], field: str, default: int) -> float:
    found = answer.get(field, default)
    if isinstance(found, bool) or not isinstance(found, (int, float)) or found < 0:
        raise DebugProtocolError(f"a held call is told a {field} of {found!r}")
    return found / 1000
