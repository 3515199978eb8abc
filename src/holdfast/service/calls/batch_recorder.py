"""Calls that a leased application reports after the fact, many at once."""

from __future__ import annotations

import hashlib
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection
from itertools import repeat
from typing import TYPE_CHECKING, Any

import orjson

from holdfast import errors
from holdfast.model.call import CALL_TYPES, Item
from holdfast.service.calls.call_session import CallSession
from holdfast.store import Packed
from holdfast.store.sqlite import document_codec
from holdfast.wire import batch_parser
from holdfast.wire import call_requests as wire

if TYPE_CHECKING:
    from holdfast.service.calls.call_service import Calls

Json = dict[str, Any]
_REMEMBERED = 5_000


Site = tuple[int, str, int | None, str]
"""What many calls have in common, as their rows say it: function, call type, stack, document."""


class Leased:
    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._sites: OrderedDict[tuple[str, bytes], Site] = OrderedDict()

    def take(self, body: bytes, limit: int) -> Json:
        """Keep a batch: all of it, or, when anything in it is wrong, nothing."""
        batch = batch_parser.read(body)
        session = self._calls.reporting(f"calls_{batch.session:08x}")
        if batch.sequence <= session.taken:
            return {"status": "ok", "taken": 0}  # it came before, and the answer was lost
        items = [_item(at, *content, limit) for at, content in enumerate(batch.contents)]
        coming = {bytes.fromhex(item.cid) for item in items}
        needed = [Item(cid.hex()) for cid in batch.needed if cid not in coming]
        described = {number: _described(text) for number, text in batch.sites.items()}
        self._calls.contents.take([*items, *needed])
        sites = {
            number: self._site(session, batch.sites[number], about)
            for number, about in described.items()
        }
        self._calls.tables.put_packed(rows_of(batch, sites.__getitem__, batch.session))
        session.taken = batch.sequence
        taken = len(batch.calls) + len(batch.plain.numbers)
        session.calls += taken
        return {"status": "ok", "taken": taken}

    def forget_stacks(self, stacks: Collection[int]) -> None:
        for key in [key for key, site in self._sites.items() if site[2] in stacks]:
            del self._sites[key]

    def _site(self, session: CallSession, text: bytes, about: Json) -> Site:
        key = session.id, text
        known = self._sites.get(key)
        if known is not None:
            return known
        names = {name: about[name] for name in ("alias", "qualname", "signature")}
        function, _new = self._calls.functions.seen(session.id, about["name"], **names)
        document = document_codec.encode({"p": 1, "th": about["thread"]})
        stack = self._calls.stack_of(about["frames"])
        made = (function.id, about["call_type"], stack, document)
        self._sites[key] = made
        if len(self._sites) > _REMEMBERED:
            self._sites.popitem(last=False)
        return made


def rows_of(batch: batch_parser.Batch, sites: Callable[[int], Site], session: int) -> Packed:
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
    packed: Packed, plain: batch_parser.Plain, sites: Callable[[int], Site], session: int
) -> None:
    """Column by column: a step here is one for all of them."""
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


def _item(at: int, data: bytes, preview: bytes, limit: int) -> Item:
    if len(data) > limit:
        raise errors.BodyTooLarge(
            f"contents.{at}: the value is larger than {limit} bytes", max_bytes=limit
        )
    try:
        shown = orjson.loads(preview) if preview else None
    except orjson.JSONDecodeError:
        shown = None
    return Item(hashlib.sha256(data).hexdigest(), data, wire.preview_of(shown, data))


_TEXTS: dict[str, Callable[[Any], bool]] = {
    "name": lambda given: isinstance(given, str) and bool(given),
    "call_type": lambda given: given in CALL_TYPES,
    "alias": lambda given: given is None or isinstance(given, str),
    "qualname": lambda given: given is None or isinstance(given, str),
    "signature": lambda given: given is None or isinstance(given, str),
    "thread": lambda given: given is None or isinstance(given, dict),
    "frames": lambda given: isinstance(given, list),
}


def _described(text: bytes) -> Json:
    """What a site says, checked as the fields of a single call are."""
    try:
        about = orjson.loads(text)
    except orjson.JSONDecodeError as problem:
        raise errors.InvalidInput(f"sites: not JSON: {problem}", field="sites") from None
    if not isinstance(about, dict):
        raise errors.InvalidInput("sites: an object is expected", field="sites")
    for name, is_right in _TEXTS.items():
        if not is_right(about.setdefault(name, None)):
            raise errors.InvalidInput(f"sites: {name} is not as expected", field="sites")
    return {**about, "frames": about["frames"][: wire.MOST_FRAMES]}
