"""Call breakpoints: kept across restarts, in force at once."""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import Callable, Mapping
from typing import Any

from holdfast import errors
from holdfast.core import call_matcher
from holdfast.core.call_matcher import Armed
from holdfast.core.filters import Call
from holdfast.model.call import CALL_TYPES, CallBreakpoint, CallRecord, When
from holdfast.store import CallTables

_TEXTS = ("function", "alias", "call_type", "condition", "session_id")


class CallBreakpoints:
    def __init__(self, tables: CallTables, on_change: Callable[[], None]) -> None:
        self._tables = tables
        self._on_change = on_change  # called before anybody is told that something is in force
        self._armed: dict[str, Armed] = {}
        self._number = 0

    def load(self) -> list[errors.HoldfastError]:
        """Those of the last server; what is wrong with any of them."""
        problems = []
        for point in self._tables.breakpoints():
            try:
                self._arm(point)
            except errors.HoldfastError as problem:
                problems.append(problem)
        return problems

    def _arm(self, point: CallBreakpoint, hits: int = 0) -> Armed:
        armed = Armed(point, hits)
        number = point.id.rpartition("_")[2]
        self._number = max(self._number, int(number) if number.isdecimal() else 0)
        self._armed[point.id] = armed
        return armed

    def first_hit(self, call: CallRecord, when: When, values: Callable[[], Call]) -> Armed | None:
        if not self._armed:
            return None
        return call_matcher.first_hit(self._armed.values(), call, when, values)

    def all(self) -> list[Armed]:
        return list(self._armed.values())

    def get(self, point_id: str) -> Armed:
        found = self._armed.get(point_id)
        if found is None:
            raise errors.CallBreakpointNotFound(f"no breakpoint {point_id}", id=point_id)
        return found

    async def add(self, fields: Mapping[str, Any]) -> Armed:
        point = checked(
            CallBreakpoint(id=f"cbp_{self._number + 1}", created_at=time.time()), fields
        )
        armed = self._arm(point)
        await self._save()
        return armed

    async def change(self, point_id: str, fields: Mapping[str, Any]) -> Armed:
        before = self.get(point_id)
        armed = self._arm(checked(before.point, fields), before.hits)
        await self._save()
        return armed

    async def remove(self, point_id: str) -> CallBreakpoint:
        point = self.get(point_id).point
        del self._armed[point_id]
        await self._save()
        return point

    async def clear(self) -> list[CallBreakpoint]:
        gone = [armed.point for armed in self._armed.values()]
        self._armed.clear()
        await self._save()
        return gone

    async def _save(self) -> None:
        self._on_change()
        points = [armed.point for armed in self._armed.values()]
        await asyncio.wrap_future(self._tables.put_breakpoints(points))


def checked(point: CallBreakpoint, fields: Mapping[str, Any]) -> CallBreakpoint:
    """The breakpoint with these fields; InvalidInput names the first that is wrong."""
    given = dict(fields)
    for name in _TEXTS:
        if given.get(name) is not None and not (isinstance(given[name], str) and given[name]):
            raise errors.InvalidCallBreakpoint(f"{name}: text is expected", field=name)
    if given.get("call_type") not in (None, *CALL_TYPES):
        raise errors.InvalidCallBreakpoint(
            f"call_type: {' or '.join(CALL_TYPES)} is expected, not {given['call_type']!r:.100}",
            field="call_type",
        )
    if given.get("hit_condition") is not None:
        given["hit_condition"] = str(given["hit_condition"])
    if "when" in given:
        given["when"] = _when(given["when"])
    made = dataclasses.replace(point, **given)
    if not any((made.function, made.alias, made.call_type, made.condition)):
        raise errors.InvalidCallBreakpoint(
            "a breakpoint needs a function, an alias, a call_type or a condition",
            hint='{"function": "*"} holds every call.',
            field="function",
        )
    Armed(made)  # its condition and hit condition can be read
    return made


def _when(given: Any) -> When:
    try:
        return When(given or "before")
    except ValueError:
        raise errors.InvalidCallBreakpoint(
            f"when: before, after or exception is expected, not {given!r}", field="when"
        ) from None
