"""Values by their content ids in SQLite: queued, in a table, or inside the rows of calls."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterable, Sequence

from holdfast.errors import ContentDamaged
from holdfast.model.call import Preview
from holdfast.store.sqlite import call_pruning
from holdfast.store.sqlite.call_buffer import CallBuffer
from holdfast.store.sqlite.call_row_reader import CallRowReader
from holdfast.store.sqlite.database import Database
from holdfast.store.sqlite.document_codec import decode_object, encode_object
from holdfast.wire import pickle_viewer

_PAGE = 500


class SqliteContents:
    def __init__(self, database: Database, buffer: CallBuffer, rows: CallRowReader) -> None:
        self._database = database
        self._buffer = buffer
        self._rows = rows

    def put(self, cid: str, data: bytes, preview: Preview) -> None:
        self._buffer.add_content(bytes.fromhex(cid), data, encode_object(preview))

    async def data(self, cid: str) -> bytes | None:
        queued = self._buffer.content(bytes.fromhex(cid))
        return queued[0] if queued is not None else await self._database.run(self._data, cid)

    def _data(self, cid: str) -> bytes | None:
        sql = "SELECT data FROM contents WHERE cid = ?"
        for (data,) in self._database.rows(sql, (bytes.fromhex(cid),)):
            if not _is_intact(cid, data):
                raise ContentDamaged(f"the stored bytes of {cid} are damaged", cid=cid)
            return bytes(data)
        # A value may be inside the rows of the calls that used it.
        return self._rows.inline_data(cid)

    async def previews(self, cids: Iterable[str], *, exact: bool = False) -> dict[str, Preview]:
        previews: dict[str, Preview] = {}
        rest: list[str] = []
        for cid in dict.fromkeys(cids):
            queued = self._buffer.content(bytes.fromhex(cid))
            if queued is None:
                rest.append(cid)
            else:
                previews[cid] = decode_object(queued[1].encode())
        if rest:
            previews.update(await self._database.run(self._read_previews, rest, exact))
        return previews

    def _read_previews(self, cids: Sequence[str], exact: bool) -> dict[str, Preview]:
        previews: dict[str, Preview] = {}
        for start in range(0, len(cids), _PAGE):
            page = [bytes.fromhex(cid) for cid in cids[start : start + _PAGE]]
            marks = ", ".join("?" * len(page))
            sql = f"SELECT cid, CAST(preview AS BLOB) FROM contents WHERE cid IN ({marks})"
            for cid, preview in self._database.rows(sql, page):
                previews[cid.hex()] = decode_object(preview)
        damaged = {cid for cid in previews if exact and not self._has_intact(cid)}
        for cid in damaged:
            del previews[cid]
        for cid in cids:
            if cid not in previews and cid not in damaged:
                data = self._rows.inline_data(cid, exact=exact)
                if data is not None:
                    previews[cid] = pickle_viewer.build_preview(data)
        return previews

    def _has_intact(self, cid: str) -> bool:
        sql = "SELECT data FROM contents WHERE cid = ?"
        rows = self._database.rows(sql, (bytes.fromhex(cid),))
        return all(_is_intact(cid, data) for (data,) in rows)

    async def drop_unused(self, cids: Sequence[str], may_drop: Callable[[str], bool]) -> int | None:
        dropped: list[int | None] = []

        def drop(connection: sqlite3.Connection) -> None:
            if self._buffer.is_behind:  # what could not be written may use them
                dropped.append(None)
            else:
                dropped.append(call_pruning.drop_contents(connection, cids, may_drop))

        self._buffer.schedule()
        await self._database.writer.submit(drop)
        return dropped[-1]


def _is_intact(cid: str, data: object) -> bool:
    """Whether these are the bytes that the id names; SQLite may give any type for damaged ones."""
    return isinstance(data, bytes) and hashlib.sha256(data).hexdigest() == cid
