"""Expressions whose values are wanted at every stop."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from holdfast import errors
from holdfast.model.config import Watch
from holdfast.model.session_state import State
from holdfast.wire import program_answers as answers

if TYPE_CHECKING:
    from holdfast.service.programs.program_session import ProgramSession


class WatchList:
    def __init__(self, session: ProgramSession) -> None:
        self._session = session
        self._watches: list[Watch] = []
        self._numbers = itertools.count(1)

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
        await self._session.storage.save()
        return await self._evaluate(watch)

    async def all(self) -> answers.WatchList:
        """Every watch with its value now."""
        watches = [await self._evaluate(watch) for watch in self._watches]
        return answers.WatchList(watches, len(watches))

    async def clear(self) -> int:
        """Forget all watches. Return how many there were."""
        count = len(self._watches)
        self._watches.clear()
        await self._session.storage.save()
        return count

    async def remove(self, watch_id: str) -> None:
        left = [watch for watch in self._watches if watch.id != watch_id]
        if len(left) == len(self._watches):
            raise errors.NotFound(f"no watch {watch_id}", watch_id=watch_id)
        self._watches = left
        await self._session.storage.save()

    async def _evaluate(self, watch: Watch) -> answers.Watch:
        answer = answers.Watch(id=watch.id, watch_id=watch.id, expression=watch.expression)
        if self._session.state is not State.PAUSED:
            return answer
        try:
            value = await self._session.inspection.evaluate(watch.expression, context="watch")
        except errors.HoldfastError as problem:
            answer["error"] = problem.message
            return answer
        value.pop("name", None)
        answer.update(value)  # type: ignore[typeddict-item]
        return answer
