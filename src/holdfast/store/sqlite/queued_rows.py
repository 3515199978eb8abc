"""Rows that wait to be written, and how they are written."""

from __future__ import annotations

import sqlite3
from array import array
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from holdfast.model.call import CallRecord, CallStatus, Function
from holdfast.model.call_batch import CallBatch, CallSite
from holdfast.store.sqlite import call_rows, value_uses
from holdfast.store.sqlite.call_journal import Entry
from holdfast.store.sqlite.packed_calls import PackedCalls, pack_batch
from holdfast.store.sqlite.reader_pool import Row
from holdfast.store.sqlite.value_keys import keys_of_cids
from holdfast.wire.batch_parser import parse_batch

ROW_BYTES = 400  # what a row without its contents is worth

_INSERT_CALL = (
    "INSERT INTO calls (id, session, function_id, call_type, status, parent, stack, duration_ns, "
    "cids, document) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
    "status = excluded.status, duration_ns = excluded.duration_ns, cids = excluded.cids, "
    "document = excluded.document"
)
INSERT_PACKED = (
    "INSERT OR IGNORE INTO calls (id, session, function_id, call_type, status, parent, stack, "
    "duration_ns, cids, document) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
# What is there already is the same, unless it was damaged.
_PUT_CONTENT = (
    "INSERT INTO contents (cid, data, preview) VALUES (?, ?, ?) ON CONFLICT (cid) DO UPDATE SET "
    "data = excluded.data, preview = excluded.preview WHERE data IS NOT excluded.data"
)
_PUT_STACK = (
    "INSERT INTO stacks (id, frames, last) VALUES (?, ?, ?) "
    "ON CONFLICT (id) DO UPDATE SET last = max(last, excluded.last)"
)
_USE_STACK = "UPDATE stacks SET last = max(last, ?) WHERE id = ?"
_MOVE_PARENT = "UPDATE calls SET parent = ? WHERE parent = ? AND session = ?"
_PUT_FUNCTION = (
    "INSERT INTO functions (id, document) VALUES (?, ?) "
    "ON CONFLICT (id) DO UPDATE SET document = excluded.document"
)
_COUNT_CALLS = "UPDATE functions SET calls = calls + ? WHERE id = ?"

MovedNumbers = dict[tuple[int, int], int]
"""The new number of a call, by its session and the number that it had."""
StoredContent = tuple[bytes, str]
"""A value's bytes, and its preview in JSON."""


@dataclass
class QueuedRows:
    """What waits to be written; later versions of a call replace earlier ones."""

    calls: dict[int, CallRecord] = field(default_factory=dict)
    contents: dict[bytes, StoredContent] = field(default_factory=dict)
    functions: dict[int, str] = field(default_factory=dict)
    stacks: dict[int, tuple[str, int]] = field(default_factory=dict)  # and when each came
    calls_by_function: Counter[int] = field(default_factory=Counter)  # without those of batches
    packed: list[PackedCalls] = field(default_factory=list)
    packed_rows: int = 0
    size: int = 0

    # -- adding ----------------------------------------------------------------------------------

    def add_entry(self, entry: Entry) -> None:
        """Add what an entry of the journal says."""
        kind, *fields = entry
        match kind:
            case "call":
                self.add_call(*_decode_record(*fields))
            case "content":
                key, data, preview = fields
                self.contents[key] = data, preview
                self.size += len(data) + ROW_BYTES
            case "stack":
                stack, frames, came = fields
                self.stacks[stack] = frames, came
                self.size += len(frames)
            case "function":
                number, document = fields
                self.functions[number] = document
                self.size += ROW_BYTES
            case "rows":
                self.add_packed(_unpack(*fields))
            case "batch":
                self.add_packed(_parse_batch(*fields))
            case _:
                raise ValueError(f"an entry of the kind {kind!r} is not one of this version")

    def add_call(self, record: CallRecord, is_new: bool) -> None:
        self.calls[record.number] = record
        if is_new:
            self.calls_by_function[record.function.id] += 1
        self.size += ROW_BYTES

    def add_packed(self, packed: PackedCalls) -> None:
        self.packed.append(packed)
        self.packed_rows += len(packed.rows)
        self.size += packed.size + ROW_BYTES * len(packed.rows)

    def merge(self, later: QueuedRows) -> None:
        self.calls.update(later.calls)
        self.contents.update(later.contents)
        self.functions.update(later.functions)
        self.stacks.update(later.stacks)
        self.calls_by_function.update(later.calls_by_function)
        self.packed += later.packed
        self.packed_rows += later.packed_rows
        self.size += later.size

    # -- writing ---------------------------------------------------------------------------------

    def write(self, connection: sqlite3.Connection) -> MovedNumbers:
        """Write all of it. Return the calls that got another number."""
        connection.executemany(
            _PUT_CONTENT, [(cid, *content) for cid, content in self.contents.items()]
        )
        stacks = [(stack, frames, came) for stack, (frames, came) in self.stacks.items()]
        connection.executemany(_PUT_STACK, stacks)
        connection.executemany(_PUT_FUNCTION, self.functions.items())
        rows = [call_rows.encode_call(record) for record in self.calls.values()]
        connection.executemany(_INSERT_CALL, rows)
        value_uses.add(connection, [(key, row[0]) for row in rows for key in keys_of_cids(row[8])])
        moved: MovedNumbers = {}
        counts = Counter(self.calls_by_function)
        used_stacks = [(row[0], row[6]) for row in rows]
        for packed in self.packed:
            moved.update(_write_packed(connection, packed, counts))
            if packed.rows:  # of so many the newest will do
                newest = max(row[0] for row in packed.rows)
                used_stacks += [(newest, stack) for stack in {row[6] for row in packed.rows}]
        connection.executemany(_USE_STACK, used_stacks)
        counted = [(count, function) for function, count in counts.items()]
        connection.executemany(_COUNT_CALLS, counted)
        return moved


# -- entries of the journal ----------------------------------------------------------------------


def encode_record(call: CallRecord, is_new: bool) -> Entry:
    """A call as an entry of the journal. Its function is there already, under its id."""
    return (
        *("call", is_new, call.number, call.session_id, call.function.id, call.call_type),
        *(call.status.value, call.target, call.args, dict(call.kwargs), call.result),
        *(call.exception, call.exception_type, call.exception_message, call.stack, call.parent),
        *(call.thread and dict(call.thread), call.task, call.started_at, call.completed_at),
        *(call.duration_ns, call.changed and dict(call.changed)),
        *(call.decision and dict(call.decision), call.marker, call.target_age_ns),
    )


def _decode_record(
    is_new: bool,
    number: int,
    session_id: str,
    function_id: int,
    call_type: str,
    status: str,
    *others: Any,
) -> tuple[CallRecord, bool]:
    function = Function(function_id, "?")
    record = CallRecord(number, session_id, function, call_type, CallStatus(status), *others)
    return record, is_new


def encode_batch(batch: CallBatch, packed: PackedCalls) -> Entry:
    """A batch as an entry of the journal: as it came, because that takes least."""
    if batch.body is None:
        counts = dict(packed.calls_by_function)
        return ("rows", packed.rows, packed.keys, packed.users, counts, packed.size)
    sites = {
        number: (site.function_id, site.call_type, site.stack, site.thread and dict(site.thread))
        for number, site in batch.sites.items()
    }
    return ("batch", batch.session_id, sites, batch.body)


def _parse_batch(
    session_id: str, sites: dict[int, tuple[int, str, int | None, Any]], body: bytes
) -> PackedCalls:
    parsed = parse_batch(body)
    known = {number: CallSite(*site) for number, site in sites.items()}
    return pack_batch(CallBatch(session_id, known, parsed.calls, parsed.plain))


def _unpack(
    rows: list[Row], keys: bytes, users: bytes, counts: dict[int, int], size: int
) -> PackedCalls:
    return PackedCalls(rows, array("q", keys), array("q", users), Counter(counts), size)


def move_parents(connection: sqlite3.Connection, moved: MovedNumbers) -> None:
    """The calls within such a call name it by its first number, and may come later."""
    for (session, number), other in moved.items():
        connection.execute(_MOVE_PARENT, (other, number, session))


def _write_packed(
    connection: sqlite3.Connection, packed: PackedCalls, counts: Counter[int]
) -> MovedNumbers:
    """Insert the rows of a batch, and add them to the counts by function."""
    connection.execute("SAVEPOINT batch")
    before = connection.total_changes
    connection.executemany(INSERT_PACKED, packed.rows)
    moved: dict[int, int] = {}
    if connection.total_changes - before == len(packed.rows):
        counts.update(packed.calls_by_function)
    else:
        connection.execute("ROLLBACK TO batch")
        moved = _insert_one_by_one(connection, packed.rows, counts)
    connection.execute("RELEASE batch")
    users = array("q", [moved.get(user, user) for user in packed.users]) if moved else packed.users
    value_uses.note(connection, packed.keys, users)
    return {(packed.rows[0][1], number): other for number, other in moved.items()}


def _insert_one_by_one(
    connection: sqlite3.Connection, rows: list[Row], counts: Counter[int]
) -> dict[int, int]:
    """Insert rows some of whose numbers were taken; return the numbers that changed.

    A number is taken by the same call, which came before, or, once in a lifetime, by one of
    another application that was made at the very same moment. That one gets the next free number.
    """
    moved: dict[int, int] = {}
    for row in rows:
        number = int(row[0])
        while True:
            there = connection.execute(
                "SELECT session, cids FROM calls WHERE id = ?", (number,)
            ).fetchone()
            if there is None:
                connection.execute(INSERT_PACKED, (number, *row[1:]))
                counts[row[2]] += 1
            if there is None or there == (row[1], row[8]):
                break
            number += 1
        if number != row[0]:
            moved[int(row[0])] = number
    return moved
