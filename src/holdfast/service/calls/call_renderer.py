"""Calls, functions and held calls as clients see them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from holdfast.core.call_matcher import Armed
from holdfast.model.call import CallRecord, Function, When, call_id
from holdfast.service.calls.held_call import Held
from holdfast.wire import call_requests as wire
from holdfast.wire import rest

if TYPE_CHECKING:
    from holdfast.service.calls.call_service import Calls

Json = dict[str, Any]
_PARAMETER = re.compile(r"\s*(\*{0,2}\w+)")


def value_json(calls: Calls, cid: str) -> Json:
    return {"cid": cid, **(calls.contents.preview(cid) or {"text": "<not stored>", "type": "?"})}


def call_json(calls: Calls, record: CallRecord) -> Json:
    """A call in a list."""
    shown: Json = {
        "call_id": record.id,
        "session_id": record.session_id,
        "method_name": record.function.name,
        "alias": record.function.alias,
        "qualname": record.function.qualname,
        "call_type": record.call_type,
        "status": record.status.value,
        "timestamp": rest.timestamp(record.number / 1e9),
        "args": [value_json(calls, cid) for cid in record.args],
        "kwargs": {name: value_json(calls, cid) for name, cid in record.kwargs.items()},
        "target_cid": record.target,
        "result_cid": record.result,
        "result": None if record.result is None else value_json(calls, record.result),
        "duration_ms": None if record.duration_ns is None else record.duration_ns / 1e6,
    }
    if record.exception_type is not None or record.exception is not None:
        shown["exception_type"] = record.exception_type
        shown["exception_message"] = record.exception_message
        shown["exception_cid"] = record.exception
    if record.marker is not None:
        shown["marker"] = record.marker
    delivered = _delivered(calls, record)
    if delivered is not None:
        shown["delivered"] = delivered
    return shown


def _delivered(calls: Calls, record: CallRecord) -> Json | None:
    """What the caller got in place of what the function came to, if somebody decided so then."""
    decision = record.decision or {}
    if decision.get("when") not in (When.AFTER.value, When.EXCEPTION.value):
        return None
    match decision.get("action"):
        case "skip":
            return {"result": value_json(calls, decision["fake_result_cid"])}
        case "raise":
            named = ("exception_type", "exception_message", "exception_cid")
            thrown = {name: decision[name] for name in named if name in decision}
            if "exception_cid" in thrown:
                thrown["exception"] = value_json(calls, thrown["exception_cid"])
            return thrown
    return None


def whole_json(calls: Calls, record: CallRecord) -> Json:
    """Everything that was recorded of one call."""
    frames = [] if record.stack is None else calls.tables.stack(record.stack)
    shown = {
        **call_json(calls, record),
        "signature": record.function.signature,
        "call_site": {
            "timestamp": record.started_at,
            "target_cid": record.target,
            "stack_trace": frames,
        },
        "location": rest.location(calls.location(record)),
        "thread": record.thread,
        "task": record.task,
        "parent_call_id": None if record.parent is None else call_id(record.parent),
        "completed_at": record.completed_at,
        "duration_ns": record.duration_ns,
        "changed": _changed_json(calls, record),
        "decision": record.decision,
    }
    shown.setdefault("delivered", None)
    if record.exception is not None:
        shown["exception"] = value_json(calls, record.exception)
    return shown


def _changed_json(calls: Calls, record: CallRecord) -> Json | None:
    if record.changed is None:
        return None
    return {
        part: value_json(calls, found)
        if isinstance(found, str)
        else {key: value_json(calls, cid) for key, cid in found.items()}
        for part, found in record.changed.items()
    }


def tree_json(calls: Calls, record: CallRecord, found: dict[int, list[CallRecord]]) -> Json:
    children = [
        tree_json(calls, child, found)
        for child in found.get(record.number, [])
        if child.number != record.number
    ]
    return {**call_json(calls, record), "children": children}


def function_json(calls: Calls, function: Function, count: int) -> Json:
    return {
        "name": function.name,
        "alias": function.alias,
        "qualname": function.qualname,
        "module": function.module,
        "signature": function.signature,
        "file": function.file,
        "line": function.line,
        "target_cid": function.target_cid,
        "sessions": calls.functions.sessions_of(function),
        "calls": count,
    }


def breakpoint_json(armed: Armed) -> Json:
    return wire.breakpoint_json(armed.point, armed.hits, armed.undecided, armed.message)


# -- holds ---------------------------------------------------------------------------------------


def held_json(calls: Calls, held: Held) -> Json:
    """What a decider has to know: the call, its values by parameter, and what may replace it."""
    record = held.call
    names = parameters(record.function.signature)
    args = [value_json(calls, cid) for cid in record.args]
    for name, value in zip(names, args, strict=False):
        value["name"] = name
    return {
        **whole_json(calls, record),
        "args": args,
        "when": held.when.value,
        "breakpoint_id": held.breakpoint_id,
        "evaluates": held.evaluates,
        "timeout_ms": held.timeout_ms,
        "replacements": calls.replacements(record),
    }


def brief_json(held: Held) -> Json:
    """A held call in a list of holds."""
    record = held.call
    return {
        "call_id": record.id,
        "method_name": record.function.name,
        "when": held.when.value,
        "breakpoint_id": held.breakpoint_id,
    }


def parameters(signature: str | None) -> list[str]:
    """The names in `(a, b=1, *rest)` that positional arguments go to, one for each in turn."""
    names: list[str] = []
    for part in _parts((signature or "").strip().removeprefix("(")):
        found = _PARAMETER.match(part)
        if found is None or found[1].startswith("*"):
            break
        if found[1] != "self" or names:
            names.append(found[1])
    return names


def _parts(text: str) -> list[str]:
    """Split at the commas that stand in no bracket, up to the closing one."""
    parts, depth = [""], 0
    for character in text[:2000]:
        if character in ")]}" and depth == 0:
            break
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part for part in parts if part.strip() != "/"]
