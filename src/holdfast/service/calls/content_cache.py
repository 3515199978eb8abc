"""Values by their content id: bytes that are kept and handed out, and never loaded."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Sequence

from holdfast import errors
from holdfast.model.call import Item, Preview
from holdfast.store import CallTables

_REMEMBERED = 50_000


class Contents:
    """The store is the source of truth; the previews used last are at hand."""

    def __init__(self, tables: CallTables) -> None:
        self._tables = tables
        self._recent: OrderedDict[str, Preview] = OrderedDict()
        self._shown: OrderedDict[str, Preview] = OrderedDict()  # and perhaps gone since
        self._doomed: set[str] = set()

    def take(self, items: Iterable[Item]) -> None:
        """Keep what came with its bytes; CidNotFound names all that nobody knows."""
        missing = []
        for item in items:
            if item.data is not None:
                self._keep(item.cid, item.data, item.preview or {})
            elif item.cid not in self._recent:
                missing.append(item.cid)
        if missing:
            missing = [cid for cid in dict.fromkeys(missing) if not self._has(cid)]
        if missing:
            raise errors.CidNotFound("Resend with full data", missing_cids=missing)

    def _has(self, cid: str) -> bool:
        """Who names a value that is about to go is asked to send it again."""
        if cid in self._doomed:
            return False
        found = self._tables.preview(cid, surely=True)
        if found is not None:
            self._remember(cid, found)
        return found is not None

    async def drop(self, cids: Sequence[str]) -> int | None:
        """Delete those of these values that nobody uses. From here on nobody counts on them; who
        sends one meanwhile, with its bytes, has it kept. None: it cannot be done now."""
        self._doomed.update(cids)
        for cid in cids:
            self._recent.pop(cid, None)
        try:
            return await asyncio.to_thread(
                self._tables.drop_contents, cids, self._doomed.__contains__
            )
        finally:
            self._doomed.difference_update(cids)

    def _keep(self, cid: str, data: bytes, preview: Preview) -> None:
        if cid not in self._recent:
            self._doomed.discard(cid)
            self._tables.put_content(cid, data, preview)
            self._remember(cid, preview)

    def _remember(self, cid: str, preview: Preview) -> None:
        _put(self._recent, cid, preview)

    def preview(self, cid: str) -> Preview | None:
        """To be shown; of any thread."""
        found = self._recent.get(cid) or self._shown.get(cid)
        if found is None:
            found = self._tables.preview(cid)
            if found is not None:
                _put(self._shown, cid, found)
        return found

    def data(self, cid: str) -> bytes | None:
        return self._tables.data(cid)

    def required(self, cid: str) -> bytes:
        data = self.data(cid)
        if data is None:
            raise errors.CidNotFound(
                f"no content {cid}",
                hint="Give its data too, or a cid that GET /api/calls shows.",
                missing_cids=[cid],
            )
        return data


def _put(known: OrderedDict[str, Preview], cid: str, preview: Preview) -> None:
    known[cid] = preview
    if len(known) > _REMEMBERED:
        known.popitem(last=False)
