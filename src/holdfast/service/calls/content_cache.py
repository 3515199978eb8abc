"""Values by their content id: their bytes are stored and handed out, and never loaded."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Sequence

from holdfast import errors
from holdfast.model.call import Item, Preview
from holdfast.store import CallTables

_MAX_REMEMBERED = 50_000


class ContentCache:
    """Stored values, with the previews used last at hand."""

    def __init__(self, tables: CallTables) -> None:
        self._tables = tables
        self._recent: OrderedDict[str, Preview] = OrderedDict()
        self._read: OrderedDict[str, Preview] = OrderedDict()  # may be deleted by now
        self._doomed: set[str] = set()

    def take(self, items: Iterable[Item]) -> None:
        """Store what came with its bytes; CidNotFound names all that are not stored."""
        missing = []
        for item in items:
            if item.data is not None:
                self._store(item.cid, item.data, item.preview or {})
            elif item.cid not in self._recent:
                missing.append(item.cid)
        if missing:
            missing = [cid for cid in dict.fromkeys(missing) if not self._has(cid)]
        if missing:
            raise errors.CidNotFound("Resend with full data", missing_cids=missing)

    def _has(self, cid: str) -> bool:
        """A value about to be deleted counts as missing, so that its sender sends it again."""
        if cid in self._doomed:
            return False
        preview = self._tables.preview(cid, surely=True)
        if preview is not None:
            _put(self._recent, cid, preview)
        return preview is not None

    async def drop(self, cids: Sequence[str]) -> int | None:
        """Delete those of these values that no call uses; None when it cannot be done now.

        A value that is sent meanwhile, with its bytes, is kept.
        """
        self._doomed.update(cids)
        for cid in cids:
            self._recent.pop(cid, None)
        try:
            return await asyncio.to_thread(
                self._tables.drop_contents, cids, self._doomed.__contains__
            )
        finally:
            self._doomed.difference_update(cids)

    def _store(self, cid: str, data: bytes, preview: Preview) -> None:
        if cid not in self._recent:
            self._doomed.discard(cid)
            self._tables.put_content(cid, data, preview)
            _put(self._recent, cid, preview)

    def preview(self, cid: str) -> Preview | None:
        """For answers. May be called in any thread."""
        preview = self._recent.get(cid) or self._read.get(cid)
        if preview is None:
            preview = self._tables.preview(cid)
            if preview is not None:
                _put(self._read, cid, preview)
        return preview

    def data(self, cid: str) -> bytes | None:
        return self._tables.data(cid)

    def require_data(self, cid: str) -> bytes:
        data = self.data(cid)
        if data is None:
            raise errors.CidNotFound(
                f"no content {cid}",
                hint="Give its data too, or a cid that GET /api/calls shows.",
                missing_cids=[cid],
            )
        return data


def _put(cache: OrderedDict[str, Preview], cid: str, preview: Preview) -> None:
    cache[cid] = preview
    if len(cache) > _MAX_REMEMBERED:
        cache.popitem(last=False)
