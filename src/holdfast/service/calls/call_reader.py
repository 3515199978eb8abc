"""Reads recorded calls: lists, one call, its tree; functions; values, and how two differ.

A page costs the same however many calls there are: it looks at a limited number of calls, and says
where to go on.
"""

from __future__ import annotations

import asyncio
import dataclasses
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from msgspec import UNSET

from holdfast import errors
from holdfast.core import filters
from holdfast.core.filters import Filter
from holdfast.core.signatures import NameCheck
from holdfast.model.call import IMPLICIT_SESSION, CallRecord, CallStatus, call_number, is_id_of
from holdfast.model.call_query import CallQuery
from holdfast.service.calls.call_renderer import (
    CallRenderer,
    build_condition_errors,
    build_function,
)
from holdfast.service.calls.call_sessions import CallSessions
from holdfast.service.calls.content_cache import ContentCache
from holdfast.service.calls.filter_values import FilterValues, ValueNotAtHand
from holdfast.service.calls.function_catalog import FunctionCatalog
from holdfast.store import CallLog
from holdfast.wire import pickle_viewer
from holdfast.wire.call_answers import (
    CallDetail,
    CallPage,
    CallTree,
    Difference,
    FunctionList,
    UndecidedCondition,
    Value,
    ValueComparison,
)
from holdfast.wire.call_items import parse_cid
from holdfast.wire.call_requests import CallSearch
from holdfast.wire.pickle_differ import compare_pickles

MAX_LOOKED_AT = 20_000
MAX_SECONDS = 5.0
_MAX_REASONS = 20
_CHUNK = 1000
_JUDGED_TOGETHER = 100
_MAX_INDEXED_FUNCTIONS = 64
_MAX_TREE_DEPTH = 20
_SESSION_ID = re.compile(r"calls_([0-9a-f]{8}|[1-9a-f][0-9a-f]{8,14})")

Check = Callable[[CallRecord], bool]
Verdict = tuple[bool, str | None]
"""Whether a filter matches, and why that could not be decided."""


@dataclass(frozen=True, slots=True)
class _Page:
    """`next` is where the next page begins, None at the end; `looked_at` counts what was read."""

    records: list[CallRecord]
    next: str | None
    looked_at: int


class _FilterCheck:
    """Applies a filter to calls, and counts the calls that it could not decide.

    Values that many calls need are read together. The bytes of a value may be many, so they are
    read for one call at a time.
    """

    def __init__(self, contents: ContentCache, expression: Filter) -> None:
        self._values = FilterValues(contents)
        self._expression = expression
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
        return self._expression.decide(self._values.build(call))

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


@dataclass(eq=False)
class CallReader:
    _call_log: CallLog
    _sessions: CallSessions
    _functions: FunctionCatalog
    _contents: ContentCache
    _renderer: CallRenderer

    # -- lists ------------------------------------------------------------------------------

    async def list_calls(self, search: CallSearch) -> CallPage:
        """Newest first."""
        check = None
        if search.filter:
            check = _FilterCheck(self._contents, filters.parse(search.filter))
        if search.session is not None:
            await self.check_session(search.session)
        query, checks = self._plan(search)
        page = _Page([], None, 0)
        if query.functions is None or query.functions:
            page = await self._search(query, checks, check, search.limit)
        return CallPage(
            calls=await self._renderer.build_summaries(page.records),
            count=len(page.records),
            next=page.next,
            has_more=page.next is not None,
            looked_at=page.looked_at,
            undecided=0 if check is None else check.undecided,
            condition_errors=UNSET if check is None else check.build_errors() or UNSET,
        )

    async def _search(
        self, query: CallQuery, checks: list[Check], check: _FilterCheck | None, limit: int
    ) -> _Page:
        records: list[CallRecord] = []
        looked_at, deadline = 0, time.monotonic() + MAX_SECONDS
        chunk = _CHUNK if checks or check else limit + 1
        while True:
            rows = await self._call_log.newest(query, chunk)
            for at, row in enumerate(rows):
                if len(records) == limit:
                    return _Page(records, records[-1].id if records else None, looked_at)
                if check is not None and at % _JUDGED_TOGETHER == 0:
                    together = rows[at : at + _JUDGED_TOGETHER]
                    await check.prepare([row for row in together if _fits_all(row, checks)])
                looked_at += 1
                if _fits_all(row, checks) and (check is None or await check.fits(row)):
                    records.append(row)
                if (check or checks) and time.monotonic() > deadline:  # large values are slow
                    return _Page(records, row.id, looked_at)
            if len(rows) < chunk:
                return _Page(records, None, looked_at)
            if looked_at >= MAX_LOOKED_AT:
                return _Page(records, rows[-1].id, looked_at)
            query = dataclasses.replace(query, below=rows[-1].number)

    def _plan(self, search: CallSearch) -> tuple[CallQuery, list[Check]]:
        """Build the query that an index answers, and the checks for the rest."""
        functions = self._find_functions(search)
        is_many = functions is not None and len(functions) > _MAX_INDEXED_FUNCTIONS
        query = CallQuery(
            functions=None if is_many else functions,
            session_id=search.session,
            status=_parse_status(search.status),
            call_type=search.call_type,
            cid=None if search.cid is None else parse_cid(search.cid),
            below=_parse_upper_bound(search),
            above=None if search.since is None else _parse_time(search.since, "since") - 1,
        )
        checks = _build_checks(query)
        if is_many and functions is not None:
            # The index is queried once per function, so for many functions a scan is cheaper.
            checks.insert(0, lambda call: call.function.id in functions)
        return query, checks

    def _find_functions(self, search: CallSearch) -> frozenset[int] | None:
        named = None if search.function is None else self._functions.find_named(search.function)
        if search.alias is None:
            return named
        aliased = self._functions.find_aliased(search.alias)
        return aliased if named is None else named & aliased

    async def list_functions(self, session_id: str | None) -> FunctionList:
        if session_id is not None:
            await self.check_session(session_id)
        counted = await self._functions.list_counted(session_id)
        functions = [
            build_function(function, calls, self._functions.sessions_of(function))
            for function, calls in counted
        ]
        return FunctionList(functions=functions, total=len(functions))

    async def check_session(self, session_id: str) -> None:
        """Raise SessionNotFound unless there is such a session, or a call of a former one."""
        if session_id in self._sessions or session_id == IMPLICIT_SESSION:
            return
        if _SESSION_ID.fullmatch(session_id):
            query = CallQuery(session_id=session_id)
            if await self._call_log.newest(query, 1):
                return
        self._sessions.require(session_id)

    # -- one call ---------------------------------------------------------------------------

    async def get_call(self, call_id: str) -> CallDetail:
        return await self._renderer.build_detail(await self._read_call(call_id))

    async def get_tree(self, call_id: str, limit: int) -> CallTree:
        """A call and the calls made within it, nested."""
        record = await self._read_call(call_id)
        children, is_complete = await self._read_children(record, limit)
        return CallTree(
            call=await self._renderer.build_tree(record, children),
            complete=is_complete,
            total=1 + sum(map(len, children.values())),
        )

    async def _read_call(self, call_id: str) -> CallRecord:
        number = call_number(call_id)
        record = None if number is None else await self._call_log.call(number)
        if record is None or not is_id_of(call_id, record):
            raise errors.CallNotFound(f"no call {call_id}", call_id=call_id)
        return record

    async def _read_children(
        self, record: CallRecord, limit: int
    ) -> tuple[dict[int, list[CallRecord]], bool]:
        """The calls within a call, and within those, by parent; True when that is all of them."""
        by_parent: dict[int, list[CallRecord]] = {}
        level, left = [record.number], limit
        for _depth in range(_MAX_TREE_DEPTH):
            children = await self._call_log.children(level, left + 1)
            for child in children[:left]:
                by_parent.setdefault(child.parent or 0, []).append(child)
            if len(children) > left:
                return by_parent, False
            left -= len(children)
            level = [child.number for child in children if child.number != child.parent]
            if not level:
                return by_parent, True
        return by_parent, False

    # -- values -----------------------------------------------------------------------------

    async def get_content(self, cid: str) -> bytes:
        return await self._contents.require_data(parse_cid(cid))

    async def get_value(self, cid: str) -> Value:
        key = parse_cid(cid)
        preview = (await self._contents.previews([key])).get(key)
        if preview is None:
            preview = pickle_viewer.build_preview(await self.get_content(cid))
        return Value.of(cid, preview)

    async def compare(self, left: str, right: str) -> ValueComparison:
        """Where two values differ, read from their bytes without loading them."""
        differences: list[Difference] = []
        is_complete = True
        first, second = await self.get_content(left), await self.get_content(right)
        if left != right:
            differences, is_complete = await asyncio.to_thread(compare_pickles, first, second)
        return ValueComparison(
            left=await self.get_value(left),
            right=await self.get_value(right),
            equal=left == right or (is_complete and not differences),
            identical=left == right,
            differences=differences,
            complete=is_complete,
        )


# -- reading the request -------------------------------------------------------------------------


def _fits_all(call: CallRecord, checks: list[Check]) -> bool:
    return all(check(call) for check in checks)


def _build_checks(query: CallQuery) -> list[Check]:
    """The checks that the index of a query leaves to be done."""
    checks: list[Check] = []
    functions, session, status = query.functions, query.session_id, query.status
    if query.cid is not None and functions is not None:
        checks.append(lambda call: call.function.id in functions)
    if session is not None and (query.cid is not None or functions is not None):
        checks.append(lambda call: call.session_id == session)
    if status is not None:
        checks.append(lambda call: call.status is status)
    if query.call_type is not None:
        checks.append(lambda call: call.call_type == query.call_type)
    return checks


def _parse_status(given: str | None) -> CallStatus | None:
    if given is None:
        return None
    try:
        return CallStatus(given)
    except ValueError:
        known = ", ".join(status.value for status in CallStatus)
        raise errors.InvalidInput(
            f"status: {given!r} is none; there are {known}", field="status"
        ) from None


def _parse_upper_bound(search: CallSearch) -> int | None:
    bounds = []
    if search.before is not None:
        number = call_number(search.before)
        if number is None:
            raise errors.InvalidInput(
                f"before: {search.before!r} is no call_id",
                hint="Use `next` of the answer before.",
                field="before",
            )
        bounds.append(number)
    if search.until is not None:
        bounds.append(_parse_time(search.until, "until"))
    return min(bounds, default=None)


def _parse_time(seconds: float, field: str) -> int:
    """A time as a call number."""
    if not 0 <= seconds < 9e9:
        raise errors.InvalidInput(f"{field}: not a time in seconds", field=field)
    return int(seconds * 1_000_000) * 1000
