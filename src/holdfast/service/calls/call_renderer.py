"""Builds the answers about calls out of their records."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from msgspec import UNSET

from holdfast.core.call_matcher import ArmedBreakpoint, describe_point
from holdfast.model.call import CallRecord, Function, Preview, When, call_id
from holdfast.model.hold import Hold
from holdfast.service import hold_titles
from holdfast.service.calls import call_arguments
from holdfast.service.calls.breakpoint_advice import advise
from holdfast.service.calls.call_holds import CallHolds
from holdfast.service.calls.content_cache import ContentCache
from holdfast.service.calls.held_call import HeldCall
from holdfast.service.calls.stack_cache import StackCache
from holdfast.service.holds import hold_fields
from holdfast.store import CallLog
from holdfast.wire import rest
from holdfast.wire.call_answers import (
    CallBreakpointAnswer,
    CallDetail,
    CallHoldDetail,
    CallNode,
    CallSite,
    CallSummary,
    ChangedValues,
    Delivered,
    FunctionSummary,
    UndecidedCondition,
    Value,
)
from holdfast.wire.described import none_to_unset

Json = dict[str, Any]
Previews = Mapping[str, Preview]
_MAX_COUNTED = 1000


class CallRenderer:
    """Reads what an answer needs from the store, then builds the answer without waiting."""

    def __init__(
        self, call_log: CallLog, contents: ContentCache, stacks: StackCache, holds: CallHolds
    ) -> None:
        self._call_log = call_log
        self._contents = contents
        self._stacks = stacks
        self._holds = holds

    async def build_summaries(self, records: Sequence[CallRecord]) -> list[CallSummary]:
        previews = await self._previews(records)
        counts = await self._count_children(records)
        held = self._holds.list_held(record.number for record in records)
        return await asyncio.to_thread(
            lambda: [
                CallSummary(
                    **_summary_fields(record, previews),
                    child_count=counts.get(record.number, 0),
                    hold_id=held.get(record.number, UNSET),
                )
                for record in records
            ]
        )

    async def _count_children(self, records: Sequence[CallRecord]) -> Mapping[int, int]:
        if not records:
            return {}
        numbers = [record.number for record in records]
        return await self._call_log.count_children(numbers, _MAX_COUNTED)

    async def build_tree(
        self, record: CallRecord, children: Mapping[int, Sequence[CallRecord]]
    ) -> CallNode:
        """A call with the calls made within it, which are given by their parent."""
        previews = await self._previews([record, *chain.from_iterable(children.values())])
        return await asyncio.to_thread(_build_node, record, children, previews)

    async def build_detail(self, record: CallRecord) -> CallDetail:
        return CallDetail(**await self._detail_fields(record))

    def title_hold(self, held: HeldCall) -> str:
        """What is held, in one line; the values that it shows came in with the call."""
        cids = hold_titles.list_title_cids(held.record)
        known = {cid: self._contents.known_preview(cid) for cid in cids}
        previews = {cid: preview for cid, preview in known.items() if preview is not None}
        return hold_titles.title_call(held.record, held.when, previews)

    async def build_hold_detail(self, hold: Hold, held: HeldCall) -> CallHoldDetail:
        record, session = held.record, held.running.session
        fields = await self._detail_fields(record)
        call_arguments.name_values(record, fields["args"])
        for value in (*fields["args"], *fields["kwargs"].values(), fields["result"]):
            if value is not None:
                value.literal = none_to_unset(await self._contents.read_literal(value))
        return CallHoldDetail(
            **(fields | hold_fields(hold)),
            when=held.when.value,
            breakpoint_id=held.point.id,
            breakpoint=describe_point(held.point),
            evaluates=held.running.evaluates,
            timeout_ms=held.timeout_ms,
            replacements=session.list_replacements(record),
            arguments=call_arguments.list_arguments(
                record.function, fields["args"], fields["kwargs"]
            ),
        )

    async def _previews(self, records: Iterable[CallRecord]) -> Previews:
        return await self._contents.previews({cid for record in records for cid in cids_of(record)})

    async def _detail_fields(self, record: CallRecord) -> Json:
        previews = await self._previews([record])
        counts = await self._count_children([record])
        held = self._holds.list_held([record.number])
        fields: Json = {
            "delivered": None,
            **_summary_fields(record, previews),
            "child_count": counts.get(record.number, 0),
            "hold_id": held.get(record.number, UNSET),
            "signature": record.function.signature,
            "call_site": CallSite(
                timestamp=record.started_at,
                target_cid=record.target,
                stack_trace=await self._stacks.frames(record),
            ),
            "location": await self._stacks.location(record),
            "thread": record.thread,
            "parent_call_id": _parent_id(record),
            "completed_at": record.completed_at,
            "duration_ns": record.duration_ns,
            "changed": _build_changed(record, previews),
            "decision": record.decision,
        }
        if record.exception is not None:
            fields["exception"] = _value(record.exception, previews)
        return fields


def cids_of(record: CallRecord) -> Iterator[str]:
    """The values that an answer about a call previews."""
    yield from record.args
    yield from record.kwargs.values()
    for part in (record.changed or {}).values():
        yield from [part] if isinstance(part, str) else part.values()
    decision = record.decision or {}
    yield from call_arguments.list_decided_cids(decision)
    cids = (decision.get("fake_result_cid"), decision.get("exception_cid"))
    yield from filter(None, (record.result, record.exception, *cids))


def _value(cid: str, previews: Previews) -> Value:
    return Value.of(cid, previews.get(cid))


def _parent_id(record: CallRecord) -> str | None:
    return None if record.parent is None else call_id(record.parent, record.origin)


def _summary_fields(record: CallRecord, previews: Previews) -> Json:
    fields: Json = {
        "call_id": record.id,
        "session_id": record.session_id,
        "method_name": record.function.name,
        "alias": record.function.alias,
        "qualname": record.function.qualname,
        "call_type": record.call_type,
        "status": record.status.value,
        "timestamp": rest.timestamp(record.number / 1e9),
        "args": [_value(cid, previews) for cid in record.args],
        "kwargs": {name: _value(cid, previews) for name, cid in record.kwargs.items()},
        "target_cid": record.target,
        "result_cid": record.result,
        "result": None if record.result is None else _value(record.result, previews),
        "duration_ms": None if record.duration_ns is None else record.duration_ns / 1e6,
        "parent_id": _parent_id(record),
        "thread_name": (record.thread or {}).get("name"),
        "task": record.task,
    }
    if record.exception_type is not None or record.exception is not None:
        fields["exception_type"] = record.exception_type
        fields["exception_message"] = record.exception_message
        fields["exception_cid"] = record.exception
    if record.marker is not None:
        fields["marker"] = record.marker
    if record.target_age_ns is not None:
        fields["target_age_ms"] = record.target_age_ns / 1e6
    delivered = _build_delivered(record, previews)
    if delivered is not None:
        fields["delivered"] = delivered
    if record.decision:
        fields["decided"] = call_arguments.build_decided(record, previews)
    return fields


def _build_delivered(record: CallRecord, previews: Previews) -> Delivered | None:
    """What the caller got instead of the function's result, if that was decided after the call."""
    decision = record.decision or {}
    if decision.get("when") not in (When.AFTER.value, When.EXCEPTION.value):
        return None
    match decision.get("action"):
        case "skip":
            return Delivered(result=_value(decision["fake_result_cid"], previews))
        case "raise":
            cid = decision.get("exception_cid", UNSET)
            return Delivered(
                exception_type=decision.get("exception_type", UNSET),
                exception_message=decision.get("exception_message", UNSET),
                exception_cid=cid,
                exception=UNSET if cid is UNSET else _value(cid, previews),
            )
    return None


def _build_changed(record: CallRecord, previews: Previews) -> ChangedValues | None:
    if record.changed is None:
        return None
    values: Json = {
        part: _value(changed, previews)
        if isinstance(changed, str)
        else {key: _value(cid, previews) for key, cid in changed.items()}
        for part, changed in record.changed.items()
    }
    return ChangedValues(**values)


def _build_node(
    record: CallRecord, children: Mapping[int, Sequence[CallRecord]], previews: Previews
) -> CallNode:
    nodes = [
        _build_node(child, children, previews)
        for child in children.get(record.number, [])
        if child.number != record.number
    ]
    return CallNode(**_summary_fields(record, previews), children=nodes)


def build_function(function: Function, calls: int, sessions: list[str]) -> FunctionSummary:
    return FunctionSummary(
        function_id=function.public_id,
        name=function.name,
        alias=function.alias,
        qualname=function.qualname,
        module=function.module,
        signature=function.signature,
        file=function.file,
        line=function.line,
        target_cid=function.target_cid,
        sessions=sessions,
        calls=calls,
    )


def build_breakpoint(armed: ArmedBreakpoint, functions: Sequence[Function]) -> CallBreakpointAnswer:
    """`functions` are those that were registered or called."""
    point = armed.point
    advice = advise(armed, functions)
    return CallBreakpointAnswer(
        id=point.id,
        breakpoint_id=point.id,
        when=point.when.value,
        enabled=point.enabled,
        hits=armed.hits,
        undecided=armed.undecided,
        function=none_to_unset(point.function),
        alias=none_to_unset(point.alias),
        call_type=none_to_unset(point.call_type),
        condition=none_to_unset(point.condition),
        hit_condition=none_to_unset(point.hit_condition),
        session_id=none_to_unset(point.session_id),
        action=UNSET if point.action is None else dict(point.action),
        message=none_to_unset(armed.message),
        matches=advice.matches,
        suggestions=advice.suggestions or UNSET,
        warnings=advice.warnings or UNSET,
        condition_errors=build_condition_errors(armed.list_condition_errors()) or UNSET,
    )


def build_condition_errors(counts: Mapping[str, int]) -> list[UndecidedCondition]:
    ordered = sorted(counts.items(), key=lambda entry: -entry[1])
    return [UndecidedCondition(error=error, count=count) for error, count in ordered]
