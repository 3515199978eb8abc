"""Which calls used which value.

In the table `uses` that is sorted by value, so that the calls of a value are found at once; but the
values of a batch of calls lie all over it. So a batch notes its uses whole, as two columns of
numbers in one row of `coming_uses`, and they are sorted in when nothing else comes. Until then
whoever looks for a value looks through those columns, too.
"""

from __future__ import annotations

import sqlite3
import sys
from array import array
from collections.abc import Iterable
from itertools import compress

NOTE = "INSERT INTO coming_uses (keys, users) VALUES (?, ?)"
COMING = "SELECT keys, users FROM coming_uses WHERE instr(keys, ?) > 0"
SORTED_AT_ONCE = 20_000  # or the uses of one batch
_INSERT = "INSERT OR IGNORE INTO uses (value, call_id) VALUES (?, ?)"


def note(connection: sqlite3.Connection, keys: array[int], users: array[int]) -> None:
    if keys:
        connection.execute(NOTE, (_bytes(keys), _bytes(users)))


def add(connection: sqlite3.Connection, uses: Iterable[tuple[int, int]]) -> None:
    """Insert these into the sorted table."""
    connection.executemany(_INSERT, uses)


def are_sorted(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM coming_uses LIMIT 1").fetchone() is None


def sort_in(connection: sqlite3.Connection) -> bool:
    """Sort in a part of them, so that other writes wait little. False when there are none."""
    uses: list[tuple[int, int]] = []
    last = 0
    for number, keys, users in connection.execute(
        "SELECT id, keys, users FROM coming_uses ORDER BY id"
    ):
        last = number
        uses += zip(_numbers(keys), _numbers(users), strict=True)
        if len(uses) >= SORTED_AT_ONCE:
            break
    if not uses:
        return False
    add(connection, sorted(uses))
    connection.execute("DELETE FROM coming_uses WHERE id <= ?", (last,))
    return True


def encode_pattern(key: int) -> bytes:
    """The parameter of `COMING`."""
    return key.to_bytes(8, "little", signed=True)


def users_in(keys: bytes, users: bytes, key: int) -> Iterable[int]:
    """The calls of one row of `COMING` that used a value."""
    return compress(_numbers(users), map(key.__eq__, _numbers(keys)))


def _numbers(data: bytes) -> array[int]:
    numbers = array("q")
    numbers.frombytes(data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def _bytes(numbers: array[int]) -> bytes:
    if sys.byteorder == "big":
        numbers = array("q", numbers)
        numbers.byteswap()
    return numbers.tobytes()
