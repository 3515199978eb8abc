"""Applies the filter of a list to calls, and tells for which it had no answer."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence

from holdfast.core.filters import Filter
from holdfast.core.signatures import NameCheck
from holdfast.model.call import CallRecord
from holdfast.service.calls.call_renderer import build_condition_errors
from holdfast.service.calls.content_cache import ContentCache
from holdfast.service.calls.filter_values import FilterValues, ValueNotAtHand
from holdfast.wire.call_answers import UndecidedCondition

_MAX_REASONS = 20

Verdict = tuple[bool, str | None]
"""Whether a filter matches, and why that could not be decided."""


class FilterCheck:
    """Applies a filter to calls, and counts the calls that it could not decide.

    Values that many calls need are read together. The bytes of a value may be many, so they are
    read for one call at a time.
    """

    def __init__(self, contents: ContentCache, expression: Filter) -> None:
        self._values = FilterValues(contents)
        self.expression = expression
        self._verdicts: dict[int, Verdict] = {}
        self.undecided = 0
        self._reasons: Counter[str] = Counter()
        self._names = NameCheck(expression.parameters)

    async def prepare(self, calls: Sequence[CallRecord]) -> None:
        """Apply the filter to the calls that it can decide from previews."""
        self._verdicts = {}
        while calls:
            missing = await asyncio.to_thread(self._judge_all, calls)
            calls = [call for call, value in missing if not value.needs_data]
            await self._values.load(*[value for _, value in missing if not value.needs_data])

    def _judge_all(self, calls: Sequence[CallRecord]) -> list[tuple[CallRecord, ValueNotAtHand]]:
        missing = []
        for call in calls:
            try:
                self._verdicts[call.number] = self._judge(call)
            except ValueNotAtHand as value:
                missing.append((call, value))
        return missing

    def _judge(self, call: CallRecord) -> Verdict:
        return self.expression.decide(self._values.build(call))

    async def fits(self, call: CallRecord) -> bool:
        verdict = self._verdicts.get(call.number)
        while verdict is None:
            try:
                verdict = await asyncio.to_thread(self._judge, call)
            except ValueNotAtHand as missing:
                await self._values.load(missing)
        self._names.look_at(call)
        matches, why_undecided = verdict
        if why_undecided is not None:
            self.undecided += 1
            if why_undecided in self._reasons or len(self._reasons) < _MAX_REASONS:
                self._reasons[why_undecided] += 1
        return matches

    def build_errors(self) -> list[UndecidedCondition]:
        return build_condition_errors({**self._names.list_problems(), **self._reasons})
