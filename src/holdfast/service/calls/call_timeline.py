"""Recorded calls in the order of time, column by column, for a chart of very many."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from msgspec import UNSET

from holdfast.core.call_layout import find_depths
from holdfast.core.filters import NOTHING, Call, Filter
from holdfast.model.call import call_ids
from holdfast.model.call_query import CallQuery
from holdfast.model.call_span import STATUSES, CallLane, CallRange, CallSpans, build_spans
from holdfast.service.calls.call_finder import CallFinder, parse_time
from holdfast.service.calls.filter_check import FilterCheck
from holdfast.store import CallLog
from holdfast.wire import rest
from holdfast.wire.call_answers import CallTimeline, TimelineLane, UndecidedCondition
from holdfast.wire.call_requests import CallSearch, TimelineQuery

_SPAN_NAMES = {"function", "alias", "call_type", "status", "duration", "thread", "task"}
"""The names of the filter language for which no value of a call is read."""


@dataclass(frozen=True, slots=True)
class _Judged:
    """The calls that fit a filter, and what the answer says about that."""

    spans: CallSpans
    looked_at: int
    is_cut: bool
    undecided: int = 0
    errors: list[UndecidedCondition] | None = None


@dataclass(eq=False)
class TimelineReader:
    _call_log: CallLog
    _finder: CallFinder
    _origin: int

    async def read(self, query: TimelineQuery) -> bytes:
        """The newest calls of the query, as JSON. Threads do what takes long."""
        check = self._finder.build_filter_check(query.filter)
        if query.session is not None:
            await self._finder.check_session(query.session)
        search = CallSearch(
            session=query.session, since=query.since, until=query.until, function=query.function
        )
        for name, seconds in (("from", query.since), ("to", query.until)):
            if seconds is not None:
                parse_time(seconds, name)
        wanted = self._finder.build_query(search)
        if check is None or _is_about_spans(check.expression):
            expression = None if check is None else check.expression
            found = await self._call_log.spans(wanted, query.limit)
            return await asyncio.to_thread(lambda: self._encode(found, _judge(found, expression)))
        found = await self._call_log.spans(wanted, 1)
        judged = await self._judge_values(wanted, check, query.limit)
        return await asyncio.to_thread(self._encode, found, judged)

    async def _judge_values(self, wanted: CallQuery, check: FilterCheck, limit: int) -> _Judged:
        page = await self._finder.find(wanted, check, limit)
        spans = await asyncio.to_thread(build_spans, page.records[::-1])
        is_cut = page.next is not None
        return _Judged(spans, page.looked_at, is_cut, check.undecided, check.build_errors())

    def _encode(self, found: CallRange, judged: _Judged) -> bytes:
        spans = judged.spans
        base = (spans.numbers[0] if spans.numbers else found.first) // 1000

        def milliseconds_after_base(number: int) -> float:
            return (number // 1000 - base) / 1000

        answer = CallTimeline(
            base=base / 1e6,
            call_ids=call_ids(spans.numbers, self._origin),
            start=[(number // 1000 - base) / 1000 for number in spans.numbers],
            duration=[
                None if duration is None else (duration + 500) // 1000 / 1000
                for duration in spans.durations_ns
            ],
            function=list(spans.functions_at),
            lane=list(spans.lanes_at),
            depth=find_depths(spans),
            status=list(spans.statuses_at),
            functions=[function.qualname or function.name for function in spans.functions],
            lanes=[_build_lane(lane) for lane in spans.lanes],
            statuses=[status.value for status in STATUSES],
            total=found.total,
            cut=judged.is_cut,
            earliest=milliseconds_after_base(found.first),
            latest=milliseconds_after_base(_find_end(found.last, spans)),
            looked_at=judged.looked_at,
            undecided=judged.undecided,
            condition_errors=judged.errors or UNSET,
        )
        return rest.encode(answer)


def _build_lane(lane: CallLane) -> TimelineLane:
    return TimelineLane(**lane._asdict())


def _find_end(last: int, spans: CallSpans) -> int:
    ends = [
        number + (duration or 0)
        for number, duration in zip(spans.numbers, spans.durations_ns, strict=True)
    ]
    return max([last, *ends])


# -- filters -------------------------------------------------------------------------------------


def _is_about_spans(expression: Filter) -> bool:
    """Whether it can be decided without the values of a call."""
    return not expression.parameters and _SPAN_NAMES.issuperset(expression.own_names)


def _judge(found: CallRange, expression: Filter | None) -> _Judged:
    spans = found.spans
    looked_at = len(spans.numbers)
    if expression is not None:
        places = range(looked_at)
        spans = spans.select([expression.matches(_build_values(spans, at)) for at in places])
    return _Judged(spans, looked_at, found.total > looked_at)


def _build_values(spans: CallSpans, at: int) -> Call:
    function, lane = spans.functions[spans.functions_at[at]], spans.lanes[spans.lanes_at[at]]
    duration = spans.durations_ns[at]
    return {
        "function": function.name,
        "alias": function.alias,
        "call_type": "inline" if spans.are_inline[at] else "proxy",
        "status": STATUSES[spans.statuses_at[at]].value,
        "duration": NOTHING if duration is None else duration / 1e9,
        "thread": lane.thread,
        "task": lane.task,
    }
