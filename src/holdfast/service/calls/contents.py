"""Values by their content id: bytes that are kept and handed out, and never loaded."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

from holdfast import errors
from holdfast.model.call import Item, Preview
from holdfast.store import CallTables

_REMEMBERED = 50_000


class Contents:
    """The store is the source of truth; the previews used last are at hand."""

    def __init__(self, tables: CallTables) -> None:
        self._tables = tables
        self._recent: OrderedDict[str, Preview] = OrderedDict()

    def take(self, items: Iterable[Item]) -> None:
        """Keep what came with its bytes; CidNotFound names all that nobody knows."""
        missing = []
        for item in items:
            if item.data is not None:
                self._keep(item.cid, item.data, item.preview or {})
            elif item.cid not in self._recent:
                missing.append(item.cid)
        if missing:
            missing = [cid for cid in dict.fromkeys(missing) if self.preview(cid) is None]
        if missing:
            raise errors.CidNotFound("Resend with full data", missing_cids=missing)

    def _keep(self, cid: str, data: bytes, preview: Preview) -> None:
        if cid not in self._recent:
            self._tables.put_content(cid, data, preview)
            self._remember(cid, preview)

    def _remember(self, cid: str, preview: Preview) -> None:
        self._recent[cid] = preview
        if len(self._recent) > _REMEMBERED:
            self._recent.popitem(last=False)

    def preview(self, cid: str) -> Preview | None:
        found = self._recent.get(cid)
        if found is None:
            found = self._tables.preview(cid)
            if found is not None:
                self._remember(cid, found)
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
