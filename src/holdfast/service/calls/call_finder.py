"""Finds recorded calls, and turns a search into what an index answers and what is checked.

A page costs the same however many calls there are: it looks at a limited number of calls, and says
where to go on.
"""

from __future__ import annotations

import dataclasses
import re
import time
from collections.abc import Callable
from dataclasses import dataclass

from holdfast import errors, timings
from holdfast.core import filters
from holdfast.model.call import IMPLICIT_SESSION, CallRecord, CallStatus, call_number
from holdfast.model.call_query import CallQuery
from holdfast.service.calls.call_renderer import cids_of
from holdfast.service.calls.call_sessions import CallSessions
from holdfast.service.calls.content_cache import ContentCache
from holdfast.service.calls.filter_check import FilterCheck
from holdfast.service.calls.function_catalog import FunctionCatalog
from holdfast.store import CallLog
from holdfast.wire.call_items import parse_cid
from holdfast.wire.call_requests import CallSearch

MAX_LOOKED_AT = 20_000
_CHUNK = 1000
JUDGED_TOGETHER = 100
_MAX_INDEXED_FUNCTIONS = 64
_SESSION_ID = re.compile(r"calls_([0-9a-f]{8}|[1-9a-f][0-9a-f]{8,14})")

Check = Callable[[CallRecord], bool]


@dataclass(frozen=True, slots=True)
class FoundCalls:
    """`next` is where the next page begins, None at the end; `looked_at` counts what was read."""

    records: list[CallRecord]
    next: str | None
    looked_at: int


NONE_FOUND = FoundCalls([], None, 0)


@dataclass(eq=False)
class CallFinder:
    _call_log: CallLog
    _sessions: CallSessions
    _functions: FunctionCatalog
    _contents: ContentCache

    def build_filter_check(self, text: str | None) -> FilterCheck | None:
        """Raises InvalidFilter."""
        return FilterCheck(self._contents, filters.parse(text)) if text else None

    async def check_session(self, session_id: str) -> None:
        """Raise SessionNotFound unless there is such a session, or a call of a former one."""
        if session_id in self._sessions or session_id == IMPLICIT_SESSION:
            return
        if _SESSION_ID.fullmatch(session_id):
            query = CallQuery(session_id=session_id)
            if await self._call_log.newest(query, 1):
                return
        self._sessions.require(session_id)

    async def find(self, query: CallQuery, check: FilterCheck | None, limit: int) -> FoundCalls:
        """Newest first."""
        if query.functions is not None and not query.functions:
            return NONE_FOUND
        query, checks = _split(query)
        return await self._scan(query, checks, check, limit)

    async def _scan(
        self, query: CallQuery, checks: list[Check], check: FilterCheck | None, limit: int
    ) -> FoundCalls:
        records: list[CallRecord] = []
        # Real time, also where a test holds the loop's clock: it measures our own work.
        looked_at, deadline = 0, time.monotonic() + timings.TIMINGS.call_search
        chunk = _CHUNK if checks or check else limit + 1
        while True:
            rows = await self._call_log.newest(query, chunk)
            for at, row in enumerate(rows):
                if len(records) == limit:
                    return FoundCalls(records, records[-1].id if records else None, looked_at)
                if check is not None and at % JUDGED_TOGETHER == 0:
                    together = rows[at : at + JUDGED_TOGETHER]
                    await check.prepare([row for row in together if fits_all(row, checks)])
                looked_at += 1
                if fits_all(row, checks) and (check is None or await check.fits(row)):
                    records.append(row)
                if (check or checks) and time.monotonic() > deadline:  # large values are slow
                    return FoundCalls(records, row.id, looked_at)
            if len(rows) < chunk:
                return FoundCalls(records, None, looked_at)
            if looked_at >= MAX_LOOKED_AT:
                return FoundCalls(records, rows[-1].id, looked_at)
            query = dataclasses.replace(query, below=rows[-1].number)

    def build_query(self, search: CallSearch) -> CallQuery:
        """All conditions of a search but its filter."""
        return CallQuery(
            functions=self._find_functions(search),
            session_id=search.session,
            status=_parse_status(search.status),
            call_type=search.call_type,
            cid=None if search.cid is None else parse_cid(search.cid),
            below=_parse_upper_bound(search),
            above=None if search.since is None else parse_time(search.since, "since") - 1,
        )

    def _find_functions(self, search: CallSearch) -> frozenset[int] | None:
        named = None if search.function is None else self._functions.find_named(search.function)
        if search.alias is None:
            return named
        aliased = self._functions.find_aliased(search.alias)
        return aliased if named is None else named & aliased


# -- checks --------------------------------------------------------------------------------------


def fits_all(call: CallRecord, checks: list[Check]) -> bool:
    return all(check(call) for check in checks)


def build_all_checks(query: CallQuery) -> list[Check]:
    """The checks for calls that no index found."""
    low, high = query.bounds
    functions, session, cid = query.functions, query.session_id, query.cid
    checks = _build_checks(query)
    checks.append(lambda call: low < call.number < high)
    if functions is not None:
        checks.append(lambda call: call.function.id in functions)
    if session is not None:
        checks.append(lambda call: call.session_id == session)
    if cid is not None:
        checks.append(lambda call: call.target == cid or cid in cids_of(call))
    return checks


def _split(query: CallQuery) -> tuple[CallQuery, list[Check]]:
    """The query that an index answers, and the checks for the rest."""
    functions = query.functions
    if functions is None or len(functions) <= _MAX_INDEXED_FUNCTIONS:
        return query, _build_checks(query)
    # The index is queried once per function, so for many functions a scan is cheaper.
    query = dataclasses.replace(query, functions=None)
    return query, [lambda call: call.function.id in functions, *_build_checks(query)]


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


# -- reading the request -------------------------------------------------------------------------


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
        bounds.append(parse_time(search.until, "until"))
    return min(bounds, default=None)


def parse_time(seconds: float, field: str) -> int:
    """A time as a call number."""
    if not 0 <= seconds < 9e9:
        raise errors.InvalidInput(f"{field}: not a time in seconds", field=field)
    return int(seconds * 1_000_000) * 1000
