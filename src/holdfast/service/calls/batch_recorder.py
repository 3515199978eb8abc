"""Records the calls that leased applications report after the fact, many at once."""

from __future__ import annotations

import hashlib
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection
from itertools import repeat

import orjson

from holdfast import errors
from holdfast.model.call import Item
from holdfast.service.calls.call_session import CallSession
from holdfast.service.calls.call_sessions import CallSessions
from holdfast.service.calls.content_cache import ContentCache
from holdfast.service.calls.function_catalog import FunctionCatalog
from holdfast.service.calls.stack_cache import StackCache
from holdfast.store import CallTables, Packed
from holdfast.store.sqlite import document_codec
from holdfast.wire import batch_parser
from holdfast.wire.batch_parser import Batch, PlainCalls, SiteDescription
from holdfast.wire.call_answers import BatchReceipt
from holdfast.wire.call_items import parse_preview

_MAX_REMEMBERED = 5_000


Site = tuple[int, str, int | None, str]
"""What many calls have in common, as their rows say it: function, call type, stack, document."""


class BatchRecorder:
    def __init__(
        self,
        tables: CallTables,
        sessions: CallSessions,
        functions: FunctionCatalog,
        contents: ContentCache,
        stacks: StackCache,
    ) -> None:
        self._tables = tables
        self._sessions = sessions
        self._functions = functions
        self._contents = contents
        self._stacks = stacks
        self._sites: OrderedDict[tuple[str, bytes], Site] = OrderedDict()

    def record(self, body: bytes, limit: int) -> BatchReceipt:
        """Store a batch: all of it, or nothing when anything in it is wrong."""
        batch = batch_parser.parse_batch(body)
        session = self._sessions.accept_report(f"calls_{batch.session:08x}")
        if batch.sequence <= session.last_batch:
            return BatchReceipt("ok", 0)  # it came before, and the answer was lost
        items = [_build_item(at, *content, limit) for at, content in enumerate(batch.contents)]
        coming = {bytes.fromhex(item.cid) for item in items}
        needed = [Item(cid.hex()) for cid in batch.needed if cid not in coming]
        described = {
            text: batch_parser.parse_site(text)
            for text in batch.sites.values()
            if (session.id, text) not in self._sites
        }
        self._contents.take([*items, *needed])
        for text, description in described.items():
            self._add_site(session, text, description)
        sites = {number: self._sites[session.id, text] for number, text in batch.sites.items()}
        self._tables.put_packed(build_rows(batch, sites.__getitem__, batch.session))
        while len(self._sites) > _MAX_REMEMBERED:
            self._sites.popitem(last=False)
        session.last_batch = batch.sequence
        taken = len(batch.calls) + len(batch.plain.numbers)
        session.calls += taken
        return BatchReceipt("ok", taken)

    def forget_stacks(self, stacks: Collection[int]) -> None:
        for key in [key for key, site in self._sites.items() if site[2] in stacks]:
            del self._sites[key]

    def _add_site(self, session: CallSession, text: bytes, described: SiteDescription) -> None:
        function = self._functions.note_use(
            session,
            described.name,
            described.alias,
            described.qualname,
            signature=described.signature,
        )
        document = document_codec.encode({"p": 1, "th": described.thread})
        stack = self._stacks.store(described.frames)
        self._sites[session.id, text] = (function.id, described.call_type, stack, document)


def build_rows(batch: Batch, sites: Callable[[int], Site], session: int) -> Packed:
    packed = Packed()
    _add_plain(packed, batch.plain, sites, session)
    add, uses, used_by = packed.rows.append, packed.values.extend, packed.users.extend
    for site, calls in Counter(call.site for call in batch.calls).items():
        packed.begun[sites(site)[0]] += calls
    for call in batch.calls:
        site, number, duration, parent, raised, body, keys = call
        function, call_type, stack, document = sites(site)
        status = 2 if raised else 1
        row = (number, session, function, call_type, status, parent, stack, duration)
        add((*row, body, document))
        uses(keys)
        used_by(repeat(number, len(keys)))
    return packed


def _add_plain(
    packed: Packed, plain: PlainCalls, sites: Callable[[int], Site], session: int
) -> None:
    """Column by column: each step is one for all calls."""
    for number, calls in Counter(plain.sites).items():
        packed.begun[sites(number)[0]] += calls
    where = [sites(number) for number in plain.sites]
    packed.rows += zip(
        plain.numbers,
        repeat(session),
        [site[0] for site in where],
        [site[1] for site in where],
        repeat(1),
        [parent or None for parent in plain.parents],
        [site[2] for site in where],
        plain.durations,
        plain.bodies,
        [site[3] for site in where],
        strict=False,
    )
    packed.values.extend(plain.keys)
    packed.users.extend(plain.users)


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
