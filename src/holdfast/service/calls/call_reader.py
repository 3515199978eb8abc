"""What was recorded: lists, one call, its tree, the calls of a value, two values compared.

Reads wait for what is still on its way to the disk, so they run in a thread of their own. A page
costs the same however many calls there are: it looks at so many calls and no more, and says where
to go on.
"""

from __future__ import annotations

import asyncio
import dataclasses
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from holdfast import errors
from holdfast.core import filters
from holdfast.core.filters import Filter
from holdfast.model.call import CallRecord, CallStatus, call_number
from holdfast.service.calls import filter_values
from holdfast.service.calls.call_service import Calls
from holdfast.store import CallQuery
from holdfast.wire import pickle_viewer
from holdfast.wire.call_requests import IMPLICIT, cid_of

Json = dict[str, Any]
MOST_LOOKED_AT = 20_000
MOST_SECONDS = 5.0
_CHUNK = 1000
_MANY = 64
_TREE_DEPTH = 20
_SESSION = re.compile(r"calls_[0-9a-f]{8}")


@dataclass(frozen=True)
class Wanted:
    """As it was asked for, in words."""

    function: str | None = None
    alias: str | None = None
    session: str | None = None
    status: str | None = None
    call_type: str | None = None
    since: float | None = None
    until: float | None = None
    cid: str | None = None
    filter: str | None = None
    before: str | None = None
    limit: int = 100


@dataclass(frozen=True)
class Page:
    """`next` is where the next page begins, None at the end; `looked_at` counts what was read, and
    `undecided` those of which the filter could not tell."""

    calls: list[CallRecord]
    next: str | None
    looked_at: int
    undecided: int = 0


class _Judge:
    """A filter, and how often it could not tell."""

    def __init__(self, calls: Calls, expression: Filter) -> None:
        self._calls = calls
        self._expression = expression
        self.undecided = 0

    def __call__(self, call: CallRecord) -> bool:
        matches, why = self._expression.judged(filter_values.of(call, self._calls.contents))
        self.undecided += why is not None
        return matches


async def listed(calls: Calls, wanted: Wanted) -> Page:
    """Newest first."""
    judge = _Judge(calls, filters.parse(wanted.filter)) if wanted.filter else None
    if wanted.session is not None:
        await check_session(calls, wanted.session)
    query, rest = _query(calls, wanted)
    if judge is not None:
        rest.append(judge)
    if query.functions is not None and not query.functions:
        return Page([], None, 0)
    page = await asyncio.to_thread(_page, calls, query, rest, wanted.limit)
    return page if judge is None else dataclasses.replace(page, undecided=judge.undecided)


def _query(calls: Calls, wanted: Wanted) -> tuple[CallQuery, list[Callable[[CallRecord], bool]]]:
    """What an index answers, and what is to be looked at in every call."""
    functions = _functions(calls, wanted)
    many = functions is not None and len(functions) > _MANY
    query = CallQuery(
        functions=None if many else functions,
        session_id=wanted.session,
        status=_status(wanted.status),
        call_type=wanted.call_type,
        cid=None if wanted.cid is None else cid_of(wanted.cid),
        below=_below(wanted),
        above=None if wanted.since is None else _moment(wanted.since, "since") - 1,
    )
    checks = _checks(query)
    if many and functions is not None:
        # Each function is a question of its own to the index; so many are better looked for.
        checks.insert(0, lambda call: call.function.id in functions)
    return query, checks


def _checks(query: CallQuery) -> list[Callable[[CallRecord], bool]]:
    checks: list[Callable[[CallRecord], bool]] = []
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


def _functions(calls: Calls, wanted: Wanted) -> frozenset[int] | None:
    if wanted.function is None and wanted.alias is None:
        return None
    found = calls.functions.named(wanted.function) if wanted.function is not None else None
    if wanted.alias is None:
        return found
    aliased = calls.functions.aliased(wanted.alias)
    return aliased if found is None else found & aliased


async def check_session(calls: Calls, given: str) -> None:
    """SessionNotFound, unless there is such a session of calls, or a call of one that was."""
    if given in calls.sessions or given == IMPLICIT:
        return
    if _SESSION.fullmatch(given):
        query = CallQuery(session_id=given)
        if await asyncio.to_thread(calls.tables.newest, query, 1, calls.functions.by_id):
            return
    calls.session(given)


def _status(given: str | None) -> CallStatus | None:
    if given is None:
        return None
    try:
        return CallStatus(given)
    except ValueError:
        known = ", ".join(status.value for status in CallStatus)
        raise errors.InvalidInput(
            f"status: {given!r} is none; there are {known}", field="status"
        ) from None


def _below(wanted: Wanted) -> int | None:
    bounds = []
    if wanted.before is not None:
        number = call_number(wanted.before)
        if number is None:
            raise errors.InvalidInput(
                f"before: {wanted.before!r} is no call_id",
                hint="Use `next` of the answer before.",
                field="before",
            )
        bounds.append(number)
    if wanted.until is not None:
        bounds.append(_moment(wanted.until, "until"))
    return min(bounds, default=None)


def _moment(seconds: float, field: str) -> int:
    if not 0 <= seconds < 9e9:
        raise errors.InvalidInput(f"{field}: not a time in seconds", field=field)
    return int(seconds * 1_000_000) * 1000


def _page(
    calls: Calls, query: CallQuery, checks: list[Callable[[CallRecord], bool]], limit: int
) -> Page:
    found: list[CallRecord] = []
    looked_at, enough = 0, time.monotonic() + MOST_SECONDS
    chunk = _CHUNK if checks else limit + 1
    functions = calls.functions.by_id
    while True:
        rows = calls.tables.newest(query, chunk, functions)
        for row in rows:
            if len(found) == limit:
                return Page(found, found[-1].id if found else None, looked_at)
            looked_at += 1
            if all(check(row) for check in checks):
                found.append(row)
            if time.monotonic() > enough and checks:  # large values take long to look into
                return Page(found, row.id, looked_at)
        if len(rows) < chunk:
            return Page(found, None, looked_at)
        if looked_at >= MOST_LOOKED_AT:
            return Page(found, rows[-1].id, looked_at)
        query = dataclasses.replace(query, below=rows[-1].number)


# -- one call ------------------------------------------------------------------------------------


async def one(calls: Calls, given: str) -> CallRecord:
    number = call_number(given)
    found = None
    if number is not None:
        found = await asyncio.to_thread(calls.tables.call, number, calls.functions.by_id)
    if found is None:
        raise errors.CallNotFound(f"no call {given}", call_id=given)
    return found


async def tree(
    calls: Calls, record: CallRecord, limit: int
) -> tuple[dict[int, list[CallRecord]], bool]:
    """The calls made within a call, and within those: by parent. True when that is all of them."""
    return await asyncio.to_thread(_tree, calls, record, limit)


def _tree(calls: Calls, record: CallRecord, limit: int) -> tuple[dict[int, list[CallRecord]], bool]:
    found: dict[int, list[CallRecord]] = {}
    level, left = [record.number], limit
    for _depth in range(_TREE_DEPTH):
        following: list[int] = []
        for parent in level:
            children = calls.tables.children(parent, left + 1, calls.functions.by_id)
            if len(children) > left:
                found[parent] = children[:left]
                return found, False
            found[parent] = children
            left -= len(children)
            following += [child.number for child in children if child.number != parent]
        level = following
        if not level:
            return found, True
    return found, False


# -- values --------------------------------------------------------------------------------------


async def content(calls: Calls, cid: str) -> bytes:
    return await asyncio.to_thread(calls.contents.required, cid_of(cid))


async def preview(calls: Calls, cid: str) -> Json:
    found = calls.contents.preview(cid_of(cid))
    if found is None:
        await content(calls, cid)  # says that nobody knows it
    return found or {}


async def diff(calls: Calls, left: str, right: str) -> tuple[list[Json], bool]:
    first, second = await content(calls, left), await content(calls, right)
    if left == right:
        return [], True
    return await asyncio.to_thread(pickle_viewer.differences, first, second)
