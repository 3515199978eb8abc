"""Which calls are too many, and what nobody refers to when they are gone: deleted in small steps.

A value outlives its calls until it is certain that nobody will use it: `oldest` deletes calls and
says which values these used, `contents` deletes those of them that no call uses now. Between the
two, whoever takes in calls must have stopped to count on these values. While uses wait to be sorted
in nobody can tell, and both say so (None): later, when it is quiet.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable

from holdfast.store.sqlite import call_rows as rows
from holdfast.store.sqlite import value_uses
from holdfast.store.sqlite.document_codec import decode_object, encode_object
from holdfast.wire import pickle_viewer

_OLDEST = f"{rows.SELECT} WHERE status <> 0 ORDER BY id LIMIT ?"
# Others may refer to a class or function by its id, and nothing says who does.
_KEPT_TYPES = ("type", "function")


def oldest(connection: sqlite3.Connection, most: int) -> tuple[int, list[str]] | None:
    """Delete the oldest calls that are over: how many there were, and what they used."""
    if not value_uses.are_sorted(connection):
        return None
    found = connection.execute(_OLDEST, (most,)).fetchall()
    used: dict[str, None] = {}
    inside: dict[str, bytes] = {}
    gone: list[tuple[int, int]] = []
    for row in found:
        cids, small = rows.cids_of(row)
        inside.update(small)
        used.update(dict.fromkeys(cids))
        gone += [(rows.value_key(bytes.fromhex(cid)), row[0]) for cid in cids]
    # A small value may be in these rows only, and others refer to it: it moves to the contents.
    connection.executemany(
        "INSERT OR IGNORE INTO contents (cid, data, preview) VALUES (?, ?, ?)",
        [
            (bytes.fromhex(cid), data, encode_object(pickle_viewer.preview(data)))
            for cid, data in inside.items()
        ],
    )
    connection.executemany("DELETE FROM uses WHERE value = ? AND call_id = ?", gone)
    connection.executemany("DELETE FROM calls WHERE id = ?", [(row[0],) for row in found])
    return len(found), list(used)


def contents(
    connection: sqlite3.Connection, cids: Iterable[str], may_go: Callable[[str], bool]
) -> int | None:
    """Delete those of these values that nobody refers to; how many they were."""
    if not value_uses.are_sorted(connection):
        return None
    points = [row[0] for row in connection.execute("SELECT document FROM call_breakpoints")]
    gone = 0
    for cid in cids:
        key = bytes.fromhex(cid)
        value = (rows.value_key(key),)
        if connection.execute("SELECT 1 FROM uses WHERE value = ? LIMIT 1", value).fetchone():
            continue
        select = "SELECT CAST(preview AS BLOB) FROM contents WHERE cid = ?"
        shown = connection.execute(select, (key,)).fetchone()
        if shown is None or decode_object(shown[0]).get("type") in _KEPT_TYPES:
            continue
        if not may_go(cid) or any(cid in text for text in points):
            continue
        connection.execute("DELETE FROM contents WHERE cid = ?", (key,))
        gone += 1
    return gone
