"""Values by their content ids. Their bytes are stored and returned, and never unpickled."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Sequence

from msgspec import UNSET

from holdfast import errors
from holdfast.model.call import Item, Preview
from holdfast.store import Contents
from holdfast.wire.call_answers import Value
from holdfast.wire.literal_text import LITERAL_TYPES, MAX_TEXT, format_literal

_MAX_REMEMBERED = 50_000


class ContentCache:
    """Stored values, with a cache of the latest previews."""

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self._recent: OrderedDict[str, Preview] = OrderedDict()
        self._read: OrderedDict[str, Preview] = OrderedDict()  # may include deleted values
        self._doomed: set[str] = set()
        self._drops = 0

    # -- storing ----------------------------------------------------------------------------

    async def take(self, items: Iterable[Item]) -> None:
        """Store what came with its bytes; CidNotFound names all that are not stored.

        A call that uses these values must be queued before anything else is awaited: until then
        nothing keeps them from being deleted.
        """
        unknown = []
        for item in items:
            if item.data is not None:
                self._store(item.cid, item.data, item.preview or {})
            elif item.cid not in self._recent:
                unknown.append(item.cid)
        if unknown:
            await self._require(list(dict.fromkeys(unknown)))

    def _store(self, cid: str, data: bytes, preview: Preview) -> None:
        if cid not in self._recent:
            self._doomed.discard(cid)
            self._contents.put(cid, data, preview)
            _put(self._recent, cid, preview)

    async def _require(self, cids: list[str]) -> None:
        """A value that is damaged or about to be deleted counts as missing: its sender has it."""
        while True:
            drops = self._drops
            stored = await self._contents.previews(cids, exact=True)
            if drops == self._drops:
                break  # otherwise one of them may have been deleted meanwhile
        missing = [cid for cid in cids if cid in self._doomed or cid not in stored]
        for cid, preview in stored.items():
            if cid not in self._doomed:
                _put(self._recent, cid, preview)
        if missing:
            raise errors.CidNotFound("Resend with full data", missing_cids=missing)

    async def drop(self, cids: Sequence[str]) -> int | None:
        """Delete those of these values that no call uses; None when it cannot be done now.

        A value that is sent meanwhile, with its bytes, is kept.
        """
        self._drops += 1
        self._doomed.update(cids)
        for cid in cids:
            self._recent.pop(cid, None)
        try:
            return await self._contents.drop_unused(cids, self._doomed.__contains__)
        finally:
            self._doomed.difference_update(cids)

    # -- reading ----------------------------------------------------------------------------

    def known_preview(self, cid: str) -> Preview | None:
        """The preview, if it is cached."""
        return self._recent.get(cid) or self._read.get(cid)

    async def previews(self, cids: Iterable[str]) -> dict[str, Preview]:
        """The previews of those of these values that are stored, for answers."""
        previews: dict[str, Preview] = {}
        unknown: list[str] = []
        for cid in cids:
            preview = self.known_preview(cid)
            if preview is None:
                unknown.append(cid)
            else:
                previews[cid] = preview
        if unknown:
            for cid, preview in (await self._contents.previews(unknown)).items():
                previews[cid] = preview
                _put(self._read, cid, preview)
        return previews

    async def data(self, cid: str) -> bytes | None:
        """The bytes. ContentDamaged: they are not what they were, until somebody sends them."""
        try:
            return await self._contents.data(cid)
        except errors.ContentDamaged:
            self._recent.pop(cid, None)  # whoever names it next is asked for its bytes
            raise

    async def read_literal(self, value: Value) -> str | None:
        """The whole value as a Python literal, if it is exactly one and not long."""
        is_long = value.length is not UNSET and value.length > MAX_TEXT
        if value.type not in LITERAL_TYPES or value.marker is not UNSET or is_long:
            return None
        try:
            data = await self.data(value.cid)
        except errors.ContentDamaged:
            return None
        return None if data is None else await asyncio.to_thread(format_literal, data)

    async def require_data(self, cid: str) -> bytes:
        data = await self.data(cid)
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
