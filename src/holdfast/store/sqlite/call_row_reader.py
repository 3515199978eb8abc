"""Finds rows of calls by the right index, and the small values inside them."""

from __future__ import annotations

import heapq

from holdfast.model.call import CallRecord, Function
from holdfast.model.call_query import CallQuery
from holdfast.store.sqlite import call_rows, value_uses
from holdfast.store.sqlite.database import Database
from holdfast.store.sqlite.reader_pool import Row
from holdfast.store.sqlite.value_keys import key_of_cid

_MAX_INLINE = 50_000


class CallRowReader:
    """Its methods block, so they run on a thread that reads."""

    def __init__(self, database: Database, origin: int) -> None:
        self._database = database
        self._origin = origin
        self._inline: dict[str, bytes] = {}  # values read from rows lately, by their ids
        self.functions: dict[int, Function] = {
            function.id: function for function, _count in self.read_functions()
        }

    def read_functions(self) -> list[tuple[Function, int]]:
        rows = self._database.rows(
            "SELECT id, calls, CAST(document AS BLOB) FROM functions ORDER BY id"
        )
        return [
            (call_rows.decode_function(number, document), count) for number, count, document in rows
        ]

    def read(self, sql: str, *parameters: int) -> list[CallRecord]:
        return [self.decode(row) for row in self._database.rows(sql, parameters)]

    def decode(self, row: Row) -> CallRecord:
        record, inline = call_rows.decode_call(row, self.functions, self._origin)
        if inline:
            if len(self._inline) > _MAX_INLINE:
                self._inline.clear()
            self._inline.update(inline)
        return record

    def find(self, query: CallQuery, limit: int) -> list[Row]:
        """The newest rows of the part of the query that an index answers."""
        # In this order, because a use that is sorted in meanwhile is then read twice, not missed.
        users = [] if query.cid is None else self._unsorted_users(query, query.cid, limit)
        rows = [row for number in users for row in self._database.rows(call_rows.ONE, (number,))]
        rows += [
            row
            for sql, values in call_rows.selections(query)
            for row in self._database.rows(sql, (*values, limit))
        ]
        by_number = {int(row[0]): row for row in rows}
        return [by_number[number] for number in sorted(by_number, reverse=True)[:limit]]

    def _unsorted_users(self, query: CallQuery, cid: str, limit: int) -> list[int]:
        """The newest calls that used a value, of those whose uses are not sorted in yet."""
        key = key_of_cid(bytes.fromhex(cid))
        low, high = query.bounds
        users = {
            user
            for keys, users in self._database.rows(
                value_uses.COMING, (value_uses.encode_pattern(key),)
            )
            for user in value_uses.users_in(keys, users, key)
            if low < user < high
        }
        return heapq.nlargest(limit, users)

    def inline_data(self, cid: str, *, exact: bool = False) -> bytes | None:
        """A value that is small enough to be in the rows of the calls that used it.

        `exact` asks for what is stored now, not for what was read lately.
        """
        data = None if exact else self._inline.get(cid)
        if data is None:
            for row in self.find(CallQuery(cid=cid), 4):
                data = call_rows.decode_call(row, {})[1].get(cid, data)
                self.decode(row)
        return data
