"""Reads when and where calls ran. Their values stay unread, so that it is quick for very many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from holdfast.model.call import Function
from holdfast.model.call_query import CallQuery
from holdfast.model.call_span import CallLane, CallRange, CallSpans, number_values
from holdfast.store.sqlite import call_rows
from holdfast.store.sqlite.database import Database
from holdfast.store.sqlite.document_codec import decode_object
from holdfast.store.sqlite.packed_calls import read_task, session_number
from holdfast.store.sqlite.reader_pool import Row

# Of a batch's calls only those bodies are read that may have the name of a task: see `read_task`.
_SELECT = (
    "SELECT id, parent, duration_ns, call_type = 'inline', status, function_id, session, "
    "CASE WHEN cids >= x'08' AND cids < x'10' THEN cids END, CAST(document AS BLOB) FROM calls"
)
_PACKED = b'{"p"'
_MAX_SITES = 10_000

_Thread = tuple[int | str | None, str | None]


class CallSpanReader:
    """Its methods block, so they run on a thread that reads."""

    def __init__(self, database: Database, functions: Mapping[int, Function]) -> None:
        self._database = database
        self._functions = functions

    def read(self, query: CallQuery, limit: int) -> CallRange:
        where, values = _build_conditions(query)
        newest = f"WHERE {where} ORDER BY id DESC LIMIT ?"
        if query.functions is not None:  # sort the numbers, not whole rows
            newest = f"WHERE id IN (SELECT id FROM calls {newest}) ORDER BY id DESC"
        rows = self._database.rows(f"{_SELECT} {newest}", (*values, limit))
        rows.reverse()
        total = len(rows) if len(rows) < limit else self._count(query)
        spans = _decode(rows, self._functions)
        return CallRange(spans, total, *self._read_ends(query.session_id))

    def _count(self, query: CallQuery) -> int:
        where, values = _build_conditions(query)
        # Without a hint it would go through the rows instead of an index, which is much smaller.
        only_bounds = query == CallQuery(below=query.below, above=query.above)
        table = "calls INDEXED BY calls_of_session" if only_bounds else "calls"
        return int(self._database.rows(f"SELECT count(*) FROM {table} WHERE {where}", values)[0][0])

    def _read_ends(self, session_id: str | None) -> tuple[int, int]:
        where, values = "", []
        if session_id is not None:
            where, values = " WHERE session = ?", [session_number(session_id)] * 2
        sql = f"SELECT (SELECT min(id) FROM calls{where}), (SELECT max(id) FROM calls{where})"
        [(first, last)] = self._database.rows(sql, values)
        return first or 0, last or 0


def _build_conditions(query: CallQuery) -> tuple[str, tuple[Any, ...]]:
    conditions = ["id > ?", "id < ?"]
    given: list[Any] = [*query.bounds]
    if query.session_id is not None:
        conditions.append("session = ?")
        given.append(session_number(query.session_id))
    if query.functions is not None:
        conditions.append("function_id IN (SELECT value FROM json_each(?))")
        given.append(orjson.dumps(sorted(query.functions)).decode())
    return " AND ".join(conditions), tuple(given)


def _decode(rows: list[Row], functions: Mapping[int, Function]) -> CallSpans:
    """Column by column, because that takes least for very many."""
    columns = tuple(zip(*rows, strict=True)) or ((),) * 9
    numbers, parents, durations, are_inline, statuses, function_ids, sessions, bodies, texts = (
        columns
    )
    used, functions_at = number_values(function_ids)
    lanes, lanes_at = number_values(_list_lanes(sessions, bodies, texts))
    unknown = call_rows.UNKNOWN_FUNCTION
    return CallSpans(
        *(numbers, parents, durations, are_inline, statuses, functions_at, lanes_at),
        [functions.get(number, unknown) for number in used],
        [CallLane(call_rows.session_id(session), *thread, task) for session, thread, task in lanes],
    )


def _list_lanes(
    sessions: Sequence[int], bodies: Sequence[bytes | None], documents: Sequence[bytes]
) -> Iterator[tuple[int, _Thread, str | None]]:
    known: dict[bytes, _Thread] = {}  # all calls of a batch from one place share a document
    for session, body, document in zip(sessions, bodies, documents, strict=True):
        thread = known.get(document)
        if thread is not None:
            yield session, thread, None if body is None else read_task(body)
            continue
        thread, task = _read_document(document)
        if document.startswith(_PACKED):
            if len(known) < _MAX_SITES:
                known[document] = thread
            task = None if body is None else read_task(body)
        yield session, thread, task


def _read_document(text: bytes) -> tuple[_Thread, str | None]:
    document = decode_object(text)
    thread = document.get("th") or {}
    return (thread.get("id"), thread.get("name")), document.get("ta")
