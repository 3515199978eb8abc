"""Calls as rows and back, and which index answers which question."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.model.call import (
    CallBreakpoint,
    CallRecord,
    CallStatus,
    Function,
    Parameter,
    When,
)
from holdfast.model.call_query import CallQuery
from holdfast.store.sqlite.document_codec import decode_object, encode
from holdfast.store.sqlite.packed_calls import session_number, unpack_body
from holdfast.store.sqlite.reader_pool import Row
from holdfast.store.sqlite.value_keys import key_of_cid

Json = dict[str, Any]
_STATUS = {
    CallStatus.RUNNING: 0,
    CallStatus.SUCCESS: 1,
    CallStatus.EXCEPTION: 2,
    CallStatus.LOST: 3,
}
STATUSES = {number: status for status, number in _STATUS.items()}
UNKNOWN_FUNCTION = Function(0, "?")

_COLUMNS = (
    "id, session, function_id, call_type, status, parent, stack, duration_ns, cids, "
    "CAST(document AS BLOB)"
)
SELECT = f"SELECT {_COLUMNS} FROM calls"
ONE = f"{SELECT} WHERE id = ?"
CHILDREN = f"{SELECT} WHERE parent = ? ORDER BY id LIMIT ?"
# The parameters of the next two are JSON lists of numbers.
SEVERAL = f"{SELECT} WHERE id IN (SELECT value FROM json_each(?))"
CHILD_COUNTS = (
    "SELECT value, (SELECT count(*) FROM (SELECT 1 FROM calls WHERE parent = value LIMIT ?)) "
    "FROM json_each(?)"
)


@functools.lru_cache(1024)
def session_id(number: int) -> str:
    return f"calls_{number:08x}"


# -- calls ---------------------------------------------------------------------------------------


class _Positions(dict[str, int]):
    """Each content id once, by its position."""

    def __missing__(self, cid: str) -> int:
        self[cid] = position = len(self)
        return position


def encode_call(call: CallRecord) -> Row:
    at = _Positions()
    document: Json = {"a": [at[cid] for cid in call.args]}
    if call.kwargs:
        document["k"] = {name: at[cid] for name, cid in call.kwargs.items()}
    for name, cid in (("t", call.target), ("r", call.result), ("e", call.exception)):
        if cid is not None:
            document[name] = at[cid]
    if call.changed:
        document["ch"] = _positions(call.changed, at)
    for cid in _decision_cids(call.decision or {}):
        _ = at[cid]  # for whoever looks for the calls of a value
    for name, value in (
        *(("et", call.exception_type), ("em", call.exception_message), ("th", call.thread)),
        *(("ta", call.task), ("s", call.started_at), ("c", call.completed_at)),
        *(("d", call.decision), ("m", call.marker), ("tg", call.target_age_ns)),
    ):
        if value is not None:
            document[name] = value
    return (
        call.number,
        session_number(call.session_id),
        call.function.id,
        call.call_type,
        _STATUS[call.status],
        call.parent,
        call.stack,
        call.duration_ns,
        bytes.fromhex("".join(at)),
        encode(document),
    )


def _decision_cids(decision: Mapping[str, Any]) -> Iterator[str]:
    """The values that a decision brought in."""
    args, kwargs = decision.get("modified_args") or [], decision.get("modified_kwargs") or {}
    new = [item.get("cid") for item in (*args, *kwargs.values()) if isinstance(item, Mapping)]
    for cid in (decision.get("fake_result_cid"), decision.get("exception_cid"), *new):
        if isinstance(cid, str):
            yield cid


def _positions(changed: Mapping[str, Any], at: _Positions) -> Json:
    return {
        part: at[cids] if isinstance(cids, str) else {key: at[cid] for key, cid in cids.items()}
        for part, cids in changed.items()
    }


def decode_call(
    row: Row, functions: Mapping[int, Function], origin: int | None = None
) -> tuple[CallRecord, dict[str, bytes]]:
    """The call, and the values that its row has with their bytes."""
    document = decode_object(row[9])
    if "p" in document:
        return _decode_packed(row, document, functions, origin)
    return _decode_plain(row, document, functions, origin), {}


def cids_of(row: Row) -> tuple[list[str], dict[str, bytes]]:
    """Every value that a call used, and those that its row has with their bytes."""
    if "p" not in decode_object(row[9]):
        hexed = row[8].hex()
        return [hexed[at : at + 64] for at in range(0, len(hexed), 64)], {}
    record, small = decode_call(row, {})
    cids = [*record.args, *record.kwargs.values(), record.target, record.result, record.exception]
    for part in (record.changed or {}).values():
        cids += [part] if isinstance(part, str) else part.values()
    return [cid for cid in dict.fromkeys(cids) if cid is not None], small


def _decode_packed(
    row: Row, document: Json, functions: Mapping[int, Function], origin: int | None
) -> tuple[CallRecord, dict[str, bytes]]:
    """A row of a batch: `cids` has the packed values."""
    number, session, function_id, call_type, status, parent, stack, duration_ns, body, _text = row
    unpacked = unpack_body(bytes(body))
    outline = unpacked.outline
    record = CallRecord(
        number=number,
        session_id=session_id(session),
        function=functions.get(function_id, UNKNOWN_FUNCTION),
        call_type=call_type,
        status=STATUSES[status],
        target=unpacked.target,
        args=unpacked.args,
        kwargs=unpacked.kwargs,
        result=None if unpacked.raised else unpacked.outcome,
        exception=unpacked.outcome if unpacked.raised else None,
        exception_type=outline.exception_type,
        exception_message=outline.exception_message,
        stack=stack,
        parent=parent,
        thread=document.get("th"),
        task=outline.task,
        started_at=number / 1e9,
        completed_at=(number + (duration_ns or 0)) / 1e9,
        duration_ns=duration_ns,
        changed=unpacked.changed,
        marker=outline.marker,
        target_age_ns=outline.target_age_ns,
        origin=origin,
    )
    return record, unpacked.inline


def _decode_plain(
    row: Row, document: Json, functions: Mapping[int, Function], origin: int | None
) -> CallRecord:
    number, session, function_id, call_type, status, parent, stack, duration_ns, cids, _text = row
    hexed = cids.hex()
    every = [hexed[at : at + 64] for at in range(0, len(hexed), 64)]

    def cid(position: int | None) -> str | None:
        return None if position is None else every[position]

    return CallRecord(
        number=number,
        session_id=session_id(session),
        function=functions.get(function_id, UNKNOWN_FUNCTION),
        call_type=call_type,
        status=STATUSES[status],
        target=cid(document.get("t")),
        args=tuple(every[position] for position in document["a"]),
        kwargs={name: every[position] for name, position in document.get("k", {}).items()},
        result=cid(document.get("r")),
        exception=cid(document.get("e")),
        exception_type=document.get("et"),
        exception_message=document.get("em"),
        stack=stack,
        parent=parent,
        thread=document.get("th"),
        task=document.get("ta"),
        started_at=document.get("s"),
        completed_at=document.get("c"),
        duration_ns=duration_ns,
        changed=_select_changed_cids(document.get("ch"), every),
        decision=document.get("d"),
        marker=document.get("m"),
        target_age_ns=document.get("tg"),
        origin=origin,
    )


def _select_changed_cids(changed: Json | None, every: list[str]) -> Json | None:
    if changed is None:
        return None
    return {
        part: every[places]
        if isinstance(places, int)
        else {key: every[place] for key, place in places.items()}
        for part, places in changed.items()
    }


# -- finding them --------------------------------------------------------------------------------


def selections(query: CallQuery) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Statements that read newest first, from one index each. Their last parameter is a limit.

    Of several conditions the most selective one picks the index; the caller checks the rest and
    reads on in pages (a page costs the same however many calls there are).
    """
    low, high = query.bounds
    if query.cid is not None:
        key = key_of_cid(bytes.fromhex(query.cid))
        sql = (
            f"{SELECT} WHERE id IN (SELECT call_id FROM uses WHERE value = ? "
            "AND call_id > ? AND call_id < ? ORDER BY call_id DESC LIMIT ?) ORDER BY id DESC"
        )
        yield sql, (key, low, high)
        return
    bounds = "id > ? AND id < ? ORDER BY id DESC LIMIT ?"
    unusual = query.status is not None and query.status is not CallStatus.SUCCESS
    if query.functions is not None:
        for function in sorted(query.functions):
            if unusual and query.status is not None:
                sql = f"{SELECT} WHERE function_id = ? AND status = ? AND status <> 1 AND {bounds}"
                yield sql, (function, _STATUS[query.status], low, high)
            else:
                yield f"{SELECT} WHERE function_id = ? AND {bounds}", (function, low, high)
    elif query.session_id is not None:
        number = session_number(query.session_id)
        yield f"{SELECT} WHERE session = ? AND {bounds}", (number, low, high)
    elif unusual and query.status is not None:
        sql = f"{SELECT} WHERE status = ? AND status <> 1 AND {bounds}"
        yield sql, (_STATUS[query.status], low, high)
    else:
        yield f"{SELECT} WHERE {bounds}", (low, high)


# -- functions and breakpoints -------------------------------------------------------------------


def function_document(function: Function) -> Json:
    document = dataclasses.asdict(function)
    del document["id"]
    return {name: value for name, value in document.items() if value is not None}


def decode_function(number: int, text: bytes) -> Function:
    document = decode_object(text)
    if document.get("parameters") is not None:
        document["parameters"] = tuple(Parameter(**fields) for fields in document["parameters"])
    return Function(number, **document)


def breakpoint_document(point: CallBreakpoint) -> Json:
    return {**dataclasses.asdict(point), "when": point.when.value}


def decode_breakpoint(text: bytes) -> CallBreakpoint:
    document = decode_object(text)
    return CallBreakpoint(**{**document, "when": When(document["when"])})
