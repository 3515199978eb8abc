"""Records the calls that leased applications report after the fact, many at once."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass, field

import orjson

from holdfast import errors
from holdfast.model.call import Item
from holdfast.model.call_batch import CallBatch, CallSite
from holdfast.service.calls.call_session import CallSession
from holdfast.service.calls.call_sessions import CallSessions
from holdfast.service.calls.content_cache import ContentCache
from holdfast.service.calls.function_catalog import FunctionCatalog
from holdfast.service.calls.stack_cache import StackCache
from holdfast.store import CallLog
from holdfast.wire import batch_parser
from holdfast.wire.batch_parser import ParsedBatch, SiteDescription
from holdfast.wire.call_answers import BatchReceipt
from holdfast.wire.call_items import parse_preview

_MAX_REMEMBERED = 5_000


@dataclass(eq=False)
class BatchRecorder:
    _call_log: CallLog
    _sessions: CallSessions
    _functions: FunctionCatalog
    _contents: ContentCache
    _stacks: StackCache
    _sites: OrderedDict[tuple[str, bytes], CallSite] = field(
        default_factory=OrderedDict, init=False
    )

    async def record(self, body: bytes, limit: int) -> BatchReceipt:
        """Store a batch: all of it, or nothing when anything in it is wrong."""
        batch = batch_parser.parse_batch(body)
        if self._find_session(batch) is None:
            return BatchReceipt("ok", 0)
        items = [_build_item(at, *content, limit) for at, content in enumerate(batch.contents)]
        described = {
            text: batch_parser.parse_site(text)
            for text in batch.sites.values()
            if (batch.session_id, text) not in self._sites
        }
        needed = batch.needed.difference(item.cid for item in items)
        await self._contents.take([*items, *map(Item, needed)])
        session = self._find_session(batch)  # the same batch may have been recorded meanwhile
        if session is None:
            return BatchReceipt("ok", 0)
        for text in batch.sites.values():
            if (session.id, text) not in self._sites:
                self._add_site(session, text, described.get(text) or batch_parser.parse_site(text))
        sites = {number: self._sites[session.id, text] for number, text in batch.sites.items()}
        self._call_log.append_batch(CallBatch(session.id, sites, batch.calls, batch.plain, body))
        while len(self._sites) > _MAX_REMEMBERED:
            self._sites.popitem(last=False)
        session.last_batch = batch.sequence
        session.count_calls(len(batch))
        if session.may_repeat:
            session.may_repeat = False
            session.calls = await self._call_log.count_calls(session.id)
            session.note_change()
        if session.is_saving:
            await session.wait_until_saved()
        return BatchReceipt("ok", len(batch))

    def _find_session(self, batch: ParsedBatch) -> CallSession | None:
        """The session of the batch; None if the batch was recorded and the answer was lost."""
        session = self._sessions.accept_report(batch.session_id)
        return None if batch.sequence <= session.last_batch else session

    def forget_stacks(self, stacks: Collection[int]) -> None:
        for key in [key for key, site in self._sites.items() if site.stack in stacks]:
            del self._sites[key]

    def _add_site(self, session: CallSession, text: bytes, described: SiteDescription) -> None:
        function = self._functions.note_use(
            session,
            described.name,
            described.alias,
            described.qualname,
            signature=described.signature,
            parameters=described.parameters,
        )
        stack = self._stacks.store(described.frames)
        self._sites[session.id, text] = CallSite(
            function.id, described.call_type, stack, described.thread
        )


def _build_item(at: int, data: bytes, preview: bytes, limit: int) -> Item:
    if len(data) > limit:
        raise errors.BodyTooLarge(
            f"contents.{at}: the value is larger than {limit} bytes", max_bytes=limit
        )
    try:
        sent = orjson.loads(preview) if preview else None
    except orjson.JSONDecodeError:
        sent = None
    return Item(hashlib.sha256(data).hexdigest(), data, parse_preview(sent, data))
