"""Builds the answers about calls out of their records."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec import UNSET

from holdfast.core.call_matcher import ArmedBreakpoint
from holdfast.model.call import CallRecord, Function, When, call_id
from holdfast.model.hold import Hold
from holdfast.service.calls.content_cache import ContentCache
from holdfast.service.calls.function_catalog import FunctionCatalog
from holdfast.service.calls.held_call import HeldCall
from holdfast.service.calls.stack_cache import StackCache
from holdfast.service.holds import hold_fields
from holdfast.wire import rest
from holdfast.wire.call_answers import (
    CallBreakpointAnswer,
    CallDetail,
    CallHold,
    CallHoldDetail,
    CallNode,
    CallSite,
    CallSummary,
    ChangedValues,
    Delivered,
    FunctionSummary,
    Value,
)

Json = dict[str, Any]
_PARAMETER = re.compile(r"\s*(\*{0,2}\w+)")
_MAX_SIGNATURE = 2000


class CallRenderer:
    """Values that are not at hand are looked up in the store, so large answers need a thread."""

    def __init__(
        self, contents: ContentCache, stacks: StackCache, functions: FunctionCatalog
    ) -> None:
        self._contents = contents
        self._stacks = stacks
        self._functions = functions

    def build_value(self, cid: str) -> Value:
        return Value.of(cid, self._contents.preview(cid))

    # -- recorded calls ---------------------------------------------------------------------

    def build_summary(self, record: CallRecord) -> CallSummary:
        return CallSummary(**self._summary_fields(record))

    def build_node(self, record: CallRecord, children: Mapping[int, list[CallRecord]]) -> CallNode:
        """A call with the calls made within it, which are given by their parent."""
        nodes = [
            self.build_node(child, children)
            for child in children.get(record.number, [])
            if child.number != record.number
        ]
        return CallNode(**self._summary_fields(record), children=nodes)

    def build_detail(self, record: CallRecord) -> CallDetail:
        return CallDetail(**self._detail_fields(record))

    def _summary_fields(self, record: CallRecord) -> Json:
        value = self.build_value
        fields: Json = {
            "call_id": record.id,
            "session_id": record.session_id,
            "method_name": record.function.name,
            "alias": record.function.alias,
            "qualname": record.function.qualname,
            "call_type": record.call_type,
            "status": record.status.value,
            "timestamp": rest.timestamp(record.number / 1e9),
            "args": [value(cid) for cid in record.args],
            "kwargs": {name: value(cid) for name, cid in record.kwargs.items()},
            "target_cid": record.target,
            "result_cid": record.result,
            "result": None if record.result is None else value(record.result),
            "duration_ms": None if record.duration_ns is None else record.duration_ns / 1e6,
        }
        if record.exception_type is not None or record.exception is not None:
            fields["exception_type"] = record.exception_type
            fields["exception_message"] = record.exception_message
            fields["exception_cid"] = record.exception
        if record.marker is not None:
            fields["marker"] = record.marker
        delivered = self._build_delivered(record)
        if delivered is not None:
            fields["delivered"] = delivered
        return fields

    def _build_delivered(self, record: CallRecord) -> Delivered | None:
        """What the caller got instead of what the function came to, if that was decided after."""
        decision = record.decision or {}
        if decision.get("when") not in (When.AFTER.value, When.EXCEPTION.value):
            return None
        match decision.get("action"):
            case "skip":
                return Delivered(result=self.build_value(decision["fake_result_cid"]))
            case "raise":
                cid = decision.get("exception_cid", UNSET)
                return Delivered(
                    exception_type=decision.get("exception_type", UNSET),
                    exception_message=decision.get("exception_message", UNSET),
                    exception_cid=cid,
                    exception=UNSET if cid is UNSET else self.build_value(cid),
                )
        return None

    def _detail_fields(self, record: CallRecord) -> Json:
        fields: Json = {
            "delivered": None,
            **self._summary_fields(record),
            "signature": record.function.signature,
            "call_site": CallSite(
                timestamp=record.started_at,
                target_cid=record.target,
                stack_trace=self._stacks.frames(record),
            ),
            "location": self._stacks.location(record),
            "thread": record.thread,
            "task": record.task,
            "parent_call_id": None if record.parent is None else call_id(record.parent),
            "completed_at": record.completed_at,
            "duration_ns": record.duration_ns,
            "changed": self._build_changed(record),
            "decision": record.decision,
        }
        if record.exception is not None:
            fields["exception"] = self.build_value(record.exception)
        return fields

    def _build_changed(self, record: CallRecord) -> ChangedValues | None:
        if record.changed is None:
            return None
        values: Json = {
            part: self.build_value(changed)
            if isinstance(changed, str)
            else {key: self.build_value(cid) for key, cid in changed.items()}
            for part, changed in record.changed.items()
        }
        return ChangedValues(**values)

    # -- functions and breakpoints ----------------------------------------------------------

    def build_function(self, function: Function, calls: int) -> FunctionSummary:
        return FunctionSummary(
            name=function.name,
            alias=function.alias,
            qualname=function.qualname,
            module=function.module,
            signature=function.signature,
            file=function.file,
            line=function.line,
            target_cid=function.target_cid,
            sessions=self._functions.sessions_of(function),
            calls=calls,
        )

    # -- held calls -------------------------------------------------------------------------

    def build_hold(self, hold: Hold, held: HeldCall) -> CallHold:
        return CallHold(
            **hold_fields(hold),
            call_id=held.record.id,
            method_name=held.record.function.name,
            when=held.when.value,
            breakpoint_id=held.breakpoint_id,
        )

    def build_hold_detail(self, hold: Hold, held: HeldCall) -> CallHoldDetail:
        record, session = held.record, held.running.session
        fields = self._detail_fields(record)
        names = parse_parameters(record.function.signature)
        for name, value in zip(names, fields["args"], strict=False):
            value.name = name
        return CallHoldDetail(
            **(fields | hold_fields(hold)),
            when=held.when.value,
            breakpoint_id=held.breakpoint_id,
            evaluates=held.running.evaluates,
            timeout_ms=held.timeout_ms,
            replacements=session.list_replacements(record.function),
        )


def build_breakpoint(armed: ArmedBreakpoint) -> CallBreakpointAnswer:
    point = armed.point

    def known(value: Any) -> Any:
        return UNSET if value is None else value

    return CallBreakpointAnswer(
        id=point.id,
        breakpoint_id=point.id,
        when=point.when.value,
        enabled=point.enabled,
        hits=armed.hits,
        undecided=armed.undecided,
        function=known(point.function),
        alias=known(point.alias),
        call_type=known(point.call_type),
        condition=known(point.condition),
        hit_condition=known(point.hit_condition),
        session_id=known(point.session_id),
        action=known(point.action),
        message=known(armed.message),
    )


# -- signatures ----------------------------------------------------------------------------------


def parse_parameters(signature: str | None) -> list[str]:
    """The names in `(a, b=1, *rest)` that positional arguments go to, one for each in turn."""
    names: list[str] = []
    for part in _split_parameters((signature or "").strip().removeprefix("(")):
        match = _PARAMETER.match(part)
        if match is None or match[1].startswith("*"):
            break
        if match[1] != "self" or names:
            names.append(match[1])
    return names


def _split_parameters(text: str) -> list[str]:
    """Split at the commas that are in no bracket, up to the closing one."""
    parts, depth = [""], 0
    for character in text[:_MAX_SIGNATURE]:
        if character in ")]}" and depth == 0:
            break
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part for part in parts if part.strip() != "/"]
