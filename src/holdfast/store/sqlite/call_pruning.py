"""Deletes calls, and what nobody refers to when they are gone, in small steps.

A value outlives its calls until it is certain that nobody will use it: `drop_oldest` deletes calls
and returns which values these used, `drop_contents` deletes those of them that no call uses now.
Between the two, whoever takes in calls must have stopped to count on these values. While uses wait
to be sorted in nobody can tell, and both return None.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable

from holdfast.store.interface import DroppedCalls
from holdfast.store.sqlite import call_rows, value_uses
from holdfast.store.sqlite.document_codec import decode_object, encode_object
from holdfast.store.sqlite.value_keys import key_of_cid
from holdfast.wire import pickle_viewer

_OLDEST = f"{call_rows.SELECT} WHERE status <> 0 ORDER BY id LIMIT ?"
# Other values may refer to a class or function by its id, and nothing records which.
_KEPT_TYPES = ("type", "function")


def drop_oldest(connection: sqlite3.Connection, limit: int) -> DroppedCalls | None:
    """Delete the oldest calls that are over."""
    if not value_uses.are_sorted(connection):
        return None
    rows = connection.execute(_OLDEST, (limit,)).fetchall()
    used: dict[str, None] = {}
    inside: dict[str, bytes] = {}
    uses: list[tuple[int, int]] = []
    for row in rows:
        cids, small = call_rows.cids_of(row)
        inside.update(small)
        used.update(dict.fromkeys(cids))
        uses += [(key_of_cid(bytes.fromhex(cid)), row[0]) for cid in cids]
    # A small value that other calls use may be in these rows only. It moves to the contents.
    connection.executemany(
        "INSERT OR IGNORE INTO contents (cid, data, preview) VALUES (?, ?, ?)",
        [
            (bytes.fromhex(cid), data, encode_object(pickle_viewer.build_preview(data)))
            for cid, data in inside.items()
        ],
    )
    connection.executemany("DELETE FROM uses WHERE value = ? AND call_id = ?", uses)
    connection.executemany("DELETE FROM calls WHERE id = ?", [(row[0],) for row in rows])
    return DroppedCalls(len(rows), list(used))


def drop_contents(
    connection: sqlite3.Connection, cids: Iterable[str], may_drop: Callable[[str], bool]
) -> int | None:
    """Delete those of these values that nobody refers to; return how many."""
    if not value_uses.are_sorted(connection):
        return None
    rules = [row[0] for row in connection.execute("SELECT document FROM call_breakpoints")]
    dropped = 0
    for cid in cids:
        key = bytes.fromhex(cid)
        value = (key_of_cid(key),)
        if connection.execute("SELECT 1 FROM uses WHERE value = ? LIMIT 1", value).fetchone():
            continue
        select = "SELECT CAST(preview AS BLOB) FROM contents WHERE cid = ?"
        preview = connection.execute(select, (key,)).fetchone()
        if preview is None or decode_object(preview[0]).get("type") in _KEPT_TYPES:
            continue
        if not may_drop(cid) or any(cid in text for text in rules):
            continue
        connection.execute("DELETE FROM contents WHERE cid = ?", (key,))
        dropped += 1
    return dropped


def delete_session(connection: sqlite3.Connection, session: int) -> None:
    """Delete a session's calls; the contents stay, for others may use them."""
    while value_uses.sort_in(connection):
        pass
    connection.execute(
        "DELETE FROM uses WHERE call_id IN (SELECT id FROM calls WHERE session = ?)", (session,)
    )
    connection.execute("DELETE FROM calls WHERE session = ?", (session,))


def lose_running(connection: sqlite3.Connection) -> None:
    # `status <> 1` selects the index of unusual calls.
    connection.execute("UPDATE calls SET status = 3 WHERE status = 0 AND status <> 1")
