"""The call breakpoints. They are in force at once, and outlive the server."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from holdfast import errors
from holdfast.core import call_matcher
from holdfast.core.call_matcher import ArmedBreakpoint
from holdfast.core.signatures import may_replace, parse_signature
from holdfast.model.call import CALL_TYPES, CallBreakpoint, CallRecord, When
from holdfast.service.calls.call_actions import ActionBuilder
from holdfast.service.calls.call_renderer import build_breakpoint
from holdfast.service.calls.call_sessions import CallSessions
from holdfast.service.calls.content_cache import ContentCache
from holdfast.service.calls.filter_values import FilterValues, ValueNotAtHand
from holdfast.service.calls.function_catalog import FunctionCatalog
from holdfast.service.calls.lease_board import LeaseBoard
from holdfast.service.new_ids import new_id
from holdfast.store import Directory
from holdfast.wire.call_answers import CallBreakpointAnswer, CallBreakpointList

_TEXTS = ("function", "alias", "call_type", "condition", "session_id")


@dataclass(eq=False)
class CallBreakpoints:
    _directory: Directory
    _board: LeaseBoard
    _sessions: CallSessions
    _functions: FunctionCatalog
    _actions: ActionBuilder
    _contents: ContentCache
    _armed: dict[str, ArmedBreakpoint] = field(default_factory=dict, init=False)

    async def load(self) -> list[errors.HoldfastError]:
        """Arm the stored breakpoints. Return what is wrong with any of them."""
        problems = []
        for point in await self._directory.call_breakpoints():
            try:
                self._arm(point)
            except errors.HoldfastError as problem:
                problems.append(problem)
        return problems

    def _arm(self, point: CallBreakpoint, hits: int = 0) -> ArmedBreakpoint:
        armed = ArmedBreakpoint(point, hits)
        self._armed[point.id] = armed
        return armed

    # -- reading ----------------------------------------------------------------------------

    async def first_hit(self, call: CallRecord, when: When) -> ArmedBreakpoint | None:
        if not self._armed:
            return None
        values = FilterValues(self._contents)
        while True:
            try:
                return call_matcher.find_hit(
                    self._armed.values(), call, when, lambda: values.build(call)
                )
            except ValueNotAtHand as missing:
                await values.load(missing)

    def all(self) -> list[ArmedBreakpoint]:
        return list(self._armed.values())

    def list(self) -> CallBreakpointList:
        points = [self._build(armed) for armed in self._armed.values()]
        return CallBreakpointList(breakpoints=points, total=len(points))

    def describe(self, point_id: str) -> CallBreakpointAnswer:
        return self._build(self._get(point_id))

    def _build(self, armed: ArmedBreakpoint) -> CallBreakpointAnswer:
        return build_breakpoint(armed, list(self._functions.by_id.values()))

    def _get(self, point_id: str) -> ArmedBreakpoint:
        armed = self._armed.get(point_id)
        if armed is None:
            raise errors.CallBreakpointNotFound(f"no breakpoint {point_id}", id=point_id)
        return armed

    # -- changing ---------------------------------------------------------------------------

    async def add(self, fields: Mapping[str, Any]) -> CallBreakpointAnswer:
        point = await self._check(CallBreakpoint(id="", created_at=time.time()), fields)
        point = dataclasses.replace(point, id=new_id("cbp"))
        armed = self._arm(point)
        await self._save()
        self._announce("breakpoint_added", armed.point)
        return self._build(armed)

    async def change(self, point_id: str, fields: Mapping[str, Any]) -> CallBreakpointAnswer:
        point = await self._check(self._get(point_id).point, fields)
        armed = self._arm(point, self._get(point_id).hits)
        await self._save()
        self._announce("breakpoint_changed", armed.point)
        return self._build(armed)

    async def remove(self, point_id: str) -> None:
        point = self._get(point_id).point
        del self._armed[point_id]
        await self._save()
        self._announce("breakpoint_removed", point)

    async def clear(self) -> Sequence[str]:
        """Remove all. Return their ids."""
        points = [armed.point for armed in self._armed.values()]
        self._armed.clear()
        await self._save()
        for point in points:
            self._announce("breakpoint_removed", point)
        return [point.id for point in points]

    async def _save(self) -> None:
        self._board.announce_change()  # must precede the answer that says it is in force
        points = [armed.point for armed in self._armed.values()]
        await self._directory.put_call_breakpoints(points)

    def _announce(self, event: str, point: CallBreakpoint) -> None:
        for session in self._sessions.values():
            if not session.over and point.session_id in (None, session.id):
                session.event(event, breakpoint_id=point.id, function=point.function)

    # -- checking ---------------------------------------------------------------------------

    async def _check(self, point: CallBreakpoint, fields: Mapping[str, Any]) -> CallBreakpoint:
        """The breakpoint with these fields, if its own action can be carried out."""
        changed = check_fields(point, fields)
        if changed.action is not None:
            options = dict(changed.action)
            action = options.pop("action", None)
            await self._actions.build(
                changed.when, action, options, lambda name: self._check_replacement(changed, name)
            )
        return changed

    def _check_replacement(self, point: CallBreakpoint, name: str) -> None:
        """Whether a function can replace those that a breakpoint names, as far as both are known.

        Whether it can replace one that is not known yet turns out when the breakpoint is hit.
        """
        if point.function is None:
            return
        signatures = {
            signature
            for session in self._sessions.values()
            if not session.over and point.session_id in (None, session.id)
            for signature in session.registered.get(name, ())
        }
        called = map(self._functions.by_id.__getitem__, self._functions.find_named(point.function))
        expected = {function.signature for function in called if function.name != name}
        if expected and signatures and not _may_any_replace(signatures, expected):
            raise errors.InvalidDecision(
                f"{name} cannot replace {point.function}: it does not take the same arguments",
                field="function_name",
                functions=[],
                signature=" or ".join(sorted(map(str, expected))),
            )


def _may_any_replace(signatures: Iterable[str | None], expected: Iterable[str | None]) -> bool:
    """Whether a function of one of these signatures may replace one of those expected."""
    return any(
        may_replace(parse_signature(called), parse_signature(other))
        for called in expected
        for other in signatures
    )


def check_fields(point: CallBreakpoint, fields: Mapping[str, Any]) -> CallBreakpoint:
    """The breakpoint with these fields; InvalidCallBreakpoint names the first that is wrong."""
    changes = dict(fields)
    for name in _TEXTS:
        text = changes.get(name)
        if text is not None and not (isinstance(text, str) and text):
            raise errors.InvalidCallBreakpoint(f"{name}: text is expected", field=name)
    if changes.get("call_type") not in (None, *CALL_TYPES):
        raise errors.InvalidCallBreakpoint(
            f"call_type: {' or '.join(CALL_TYPES)} is expected, not {changes['call_type']!r:.100}",
            field="call_type",
        )
    if changes.get("hit_condition") is not None:
        changes["hit_condition"] = str(changes["hit_condition"])
    if "when" in changes:
        changes["when"] = _parse_when(changes["when"])
    changed = dataclasses.replace(point, **changes)
    if not any((changed.function, changed.alias, changed.call_type, changed.condition)):
        raise errors.InvalidCallBreakpoint(
            "a breakpoint needs a function, an alias, a call_type or a condition",
            hint='{"function": "*"} holds every call.',
            field="function",
        )
    ArmedBreakpoint(changed)  # raises unless its condition and hit condition can be parsed
    return changed


def _parse_when(given: Any) -> When:
    try:
        return When(given or "before")
    except ValueError:
        raise errors.InvalidCallBreakpoint(
            f"when: before, after or exception is expected, not {given!r}", field="when"
        ) from None
