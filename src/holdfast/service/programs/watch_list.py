"""Expressions whose values are wanted at every stop."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from holdfast import errors, timings
from holdfast.model.config import Watch
from holdfast.model.hold import Hold
from holdfast.model.session_state import State
from holdfast.wire import program_answers as answers

if TYPE_CHECKING:
    from holdfast.service.programs.program_session import ProgramSession


class WatchList:
    def __init__(self, session: ProgramSession) -> None:
        self._session = session
        self._watches: list[Watch] = []
        self._numbers = itertools.count(1)
        self._slow: set[str] = set()
        self._values: tuple[Hold, list[answers.Watch]] | None = None

    def __bool__(self) -> bool:
        return bool(self._watches)

    @property
    def expressions(self) -> list[str]:
        return [watch.expression for watch in self._watches]

    def append(self, expression: str) -> Watch:
        watch = Watch(f"watch_{next(self._numbers)}", expression)
        self._watches.append(watch)
        return watch

    async def add(self, expression: str) -> answers.Watch:
        """Watch an expression. Return its value now."""
        try:
            compile(expression.strip(), "<watch>", "eval")
        except (SyntaxError, ValueError) as problem:
            raise errors.InvalidInput(f"not an expression: {problem}", field="expression") from None
        watch = self.append(expression)
        self.forget_values()
        await self._session.storage.save()
        return (await self._evaluate([watch]))[0]

    async def clear(self) -> int:
        """Forget all watches. Return how many there were."""
        count = len(self._watches)
        self._watches = []
        self.forget_values()
        await self._session.storage.save()
        return count

    async def remove(self, watch_id: str) -> None:
        left = [watch for watch in self._watches if watch.id != watch_id]
        if len(left) == len(self._watches):
            raise errors.NotFound(
                f"no watch {watch_id}",
                hint="GET the session's /watch for the ids.",
                watch_id=watch_id,
                known=[watch.id for watch in self._watches],
            )
        self._watches = left
        self.forget_values()
        await self._session.storage.save()

    # -- values -----------------------------------------------------------------------------

    def describe(self) -> list[answers.Watch]:
        """Every watch, without values."""
        return [_build_watch(watch) for watch in self._watches]

    async def all(self) -> answers.WatchList:
        """Every watch with its value now."""
        watches = await self._evaluate(self._watches)
        return answers.WatchList(watches, len(watches))

    async def at_stop(self) -> list[answers.Watch]:
        """Every watch with its value at this stop. They are evaluated once for each stop."""
        session, hold = self._session, self._session.stops.hold
        if self._values is None or self._values[0] is not hold:
            watches = await self._evaluate(self._watches)
            if hold is None or session.stops.hold is not hold:
                return watches
            self._values = hold, watches
        return self._values[1]

    def forget_values(self) -> None:
        """Evaluate them again, because the user's code may have changed something."""
        self._values = None

    async def _evaluate(self, watches: Sequence[Watch]) -> list[answers.Watch]:
        """Evaluate them in one request. None delays the answer for long, or spoils another."""
        session = self._session
        if session.state is not State.PAUSED or not watches:
            return [_build_watch(watch) for watch in watches]
        # Those that took too long last time come last.
        order = sorted(watches, key=lambda watch: watch.id in self._slow)
        seconds = min(timings.TIMINGS.watches, session.evaluate_timeout)
        try:
            values = await session.inspection.evaluate_watches(
                [watch.expression for watch in order], seconds
            )
        except errors.TimedOut:
            values = [{"error": "no value", "timed_out": True} for _ in order]
        found: dict[str, answers.Watch] = {}
        for watch, value in zip(order, values, strict=True):
            found[watch.id] = self._describe_value(watch, dict(value), seconds)
        return [found[watch.id] for watch in watches]

    def _describe_value(self, watch: Watch, value: dict[str, Any], seconds: float) -> answers.Watch:
        answer = _build_watch(watch)
        self._slow.discard(watch.id)
        if value.pop("timed_out", False):
            self._slow.add(watch.id)
            value["error"] = f"it has no value after {seconds:g} s, all watches together"
        elif value.pop("skipped", False):
            value["error"] = f"not evaluated: other watches took {seconds:g} s"
        value.pop("name", None)
        if "result" in value:
            value["value"] = value["result"]
        answer.update(value)  # type: ignore[typeddict-item]
        return answer


def _build_watch(watch: Watch) -> answers.Watch:
    return answers.Watch(id=watch.id, watch_id=watch.id, expression=watch.expression)
