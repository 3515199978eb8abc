"""A session, and the way onto the loop that it lives in."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar

from holdfast.embed.loop_calls import NOT_RUNNING, LoopCalls
from holdfast.service.programs.program_session import ProgramSession

T = TypeVar("T")


@dataclass(frozen=True)
class SessionLink:
    """Without a session, every call fails."""

    calls: LoopCalls
    session: ProgramSession | None = None

    def submit(self, work: Callable[[ProgramSession], Coroutine[Any, Any, T]]) -> Future[T]:
        """Run an operation of the session on its loop."""
        if self.session is None:
            return self.calls.fail(RuntimeError(NOT_RUNNING))
        return self.calls.submit(work(self.session))


NO_SESSION = SessionLink(LoopCalls())
"""The link of an adapter that does not run."""
