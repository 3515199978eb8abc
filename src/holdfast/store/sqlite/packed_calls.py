"""Calls of a batch as rows of the table `calls`, and back.

Such a row has all values of its call in one blob, the body, and `p` in its document. There are two
layouts of a body; numbers are little-endian.

    plain   the flag PLAIN, the length of the target, the target, and JSON: arguments and result
    other   flags, number of values, number of arguments, the length of each value, the values, and
            to the end JSON with what few calls have: `k` names of keyword arguments, `ch` what
            changed, `ta` task, `et` and `em` type and message of an exception, `m` marker,
            `tg` age of what is recorded of the target

A small value is there with its bytes, another by its content id, which its length says. Databases
of users hold such rows: a new layout needs a new flag.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, repeat
from typing import Any

import orjson

from holdfast.model.call_batch import (
    CallBatch,
    CallOutline,
    CallSite,
    CallValue,
    CompletedCall,
    PlainCalls,
    plain_value_bytes,
)
from holdfast.store.sqlite.document_codec import encode
from holdfast.store.sqlite.reader_pool import Row
from holdfast.store.sqlite.value_keys import KEY_OF_BYTES, KEY_OF_PLAIN, key_of_cid

_BODY = struct.Struct("<BHH")
_LENGTH = struct.Struct("<I")
_BY_CID = 1 << 31  # in a length: what follows is a content id
_CID_LENGTH = _BY_CID | 32

_RAISED = 1  # that is True
_HAS_TARGET = 2
_HAS_OUTCOME = 4
_HAS_MORE = 8
_PLAIN = 16
_SUCCESS, _EXCEPTION = 1, 2  # of the column `status`
_NO_MORE = ((), (), None, None, None, None, None)


def session_number(session_id: str) -> int:
    """`calls_<hex digits>` as a number, which is much shorter in every row."""
    return int(session_id.rpartition("_")[2], 16)


@dataclass
class PackedCalls:
    """Rows to insert, and the uses of their values: `users` has the call for each of `keys`."""

    rows: list[Row] = field(default_factory=list)
    keys: array[int] = field(default_factory=lambda: array("q"))
    users: array[int] = field(default_factory=lambda: array("q"))
    calls_by_function: Counter[int] = field(default_factory=Counter)
    size: int = 0


def pack_batch(batch: CallBatch) -> PackedCalls:
    packed = PackedCalls()
    sites = {number: _site_columns(site) for number, site in batch.sites.items()}
    session = session_number(batch.session_id)
    if batch.plain.numbers:
        _pack_plain(packed, batch.plain, sites, session)
    if batch.calls:
        _pack_others(packed, batch.calls, sites, session)
    packed.size = sum([len(row[8]) for row in packed.rows])
    return packed


_SiteColumns = tuple[int, str, int | None, str]
"""Function, call type, stack, document."""


def _site_columns(site: CallSite) -> _SiteColumns:
    document = encode({"p": 1, "th": site.thread})
    return site.function_id, site.call_type, site.stack, document


# -- plain calls ---------------------------------------------------------------------------------


def _pack_plain(
    packed: PackedCalls, plain: PlainCalls, sites: dict[int, _SiteColumns], session: int
) -> None:
    """Pack column by column, because each step then serves all calls."""
    for site, count in Counter(plain.sites).items():
        packed.calls_by_function[sites[site][0]] += count
    columns = [sites[site] for site in plain.sites]
    targets = [_pack_target(value) for value in plain.target_values]
    starts = [targets[place][0] for place in plain.targets]
    packed.rows += zip(
        plain.numbers,
        repeat(session),
        [site[0] for site in columns],
        [site[1] for site in columns],
        repeat(_SUCCESS),
        [parent or None for parent in plain.parents],
        [site[2] for site in columns],
        plain.durations_ns,
        _plain_bodies(starts, plain),
        [site[3] for site in columns],
        strict=False,
    )
    keys, users, known = packed.keys, packed.users, KEY_OF_PLAIN
    keys.extend([known[type(value)][value] for value in plain.arguments])
    keys.extend([known[type(value)][value] for value in plain.results])
    keys.extend([targets[place][1] for place in plain.targets])
    users.extend(list(chain.from_iterable(map(repeat, plain.numbers, plain.argument_counts))))
    users.extend(plain.numbers)
    users.extend(plain.numbers)


def _pack_target(value: CallValue) -> tuple[bytes, int]:
    """How the body of a plain call on this target begins, and the target's key."""
    length, data, key = _measure(value)
    return bytes((_PLAIN,)) + _LENGTH.pack(length) + data, key


def _measure(value: CallValue) -> tuple[int, bytes, int]:
    if isinstance(value, str):
        cid = bytes.fromhex(value)
        return _CID_LENGTH, cid, key_of_cid(cid)
    return len(value), value, KEY_OF_BYTES[value]


def _plain_bodies(starts: list[bytes], plain: PlainCalls) -> list[bytes]:
    def build(dump: Callable[[list[Any]], bytes]) -> list[bytes]:
        arguments = iter(plain.arguments)
        return [
            start + dump([*islice(arguments, count), result])
            for start, count, result in zip(
                starts, plain.argument_counts, plain.results, strict=True
            )
        ]

    if not _has_special_float(plain):
        try:
            return build(orjson.dumps)
        except TypeError:  # a long integer, or half of a surrogate pair
            pass
    return build(lambda values: json.dumps(values, separators=(",", ":")).encode())


def _has_special_float(plain: PlainCalls) -> bool:
    """Whether orjson would write one as null: NaN and the infinities."""
    floats = [value for value in plain.arguments if type(value) is float]
    floats += [value for value in plain.results if type(value) is float]
    return not all(map(math.isfinite, floats))


# -- other calls ---------------------------------------------------------------------------------


def _pack_others(
    packed: PackedCalls,
    calls: Sequence[CompletedCall],
    sites: dict[int, _SiteColumns],
    session: int,
) -> None:
    add, add_keys, add_users = packed.rows.append, packed.keys.extend, packed.users.extend
    for site, count in Counter([call[0] for call in calls]).items():
        packed.calls_by_function[sites[site][0]] += count
    previous: CallOutline | None = None
    flags, more, join = 0, b"", b"".join
    key_of: Callable[[Any], int] = KEY_OF_BYTES.__getitem__
    lengths: Iterable[int]
    parts: Sequence[Any]
    for site, number, duration_ns, parent, raised, outline, values in calls:
        if outline is not previous:  # those of neighbours are often the same object
            flags, more, previous = _flags(outline), _encode_extras(outline), outline
        try:
            keys, lengths, parts = [*map(key_of, values)], map(len, values), values
        except TypeError:  # one of them is a content id
            lengths, parts, keys = map(list, zip(*map(_measure, values), strict=True))
        count = len(keys)
        head = _HEADS[count] if count < 64 else _head(count)
        start = head.pack(flags | raised, count, outline.argument_count, *lengths)
        function, call_type, stack, document = sites[site]
        status = _EXCEPTION if raised else _SUCCESS
        row = (number, session, function, call_type, status, parent, stack, duration_ns)
        add((*row, join((start, *parts, more)), document))
        add_keys(keys)
        add_users(repeat(number, count))


def _head(count: int) -> struct.Struct:
    return struct.Struct(f"<BHH{count}I")


_HEADS = [_head(count) for count in range(64)]


def _flags(outline: CallOutline) -> int:
    flags = _HAS_TARGET if outline.has_target else 0
    flags |= _HAS_OUTCOME if outline.has_outcome else 0
    return flags | (_HAS_MORE if _encode_extras(outline) else 0)


def _encode_extras(outline: CallOutline) -> bytes:
    values = (
        *(outline.keywords, outline.changed, outline.task),
        *(outline.exception_type, outline.exception_message, outline.marker),
        outline.target_age_ns,
    )
    if values == _NO_MORE:
        return b""
    named = zip(("k", "ch", "ta", "et", "em", "m", "tg"), values, strict=True)
    return encode({name: value for name, value in named if value not in ((), None)}).encode()


# -- reading them --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class UnpackedBody:
    """The values of a call by their content ids, and the bytes of those that are in the body."""

    outline: CallOutline
    raised: bool
    target: str | None
    args: tuple[str, ...]
    kwargs: dict[str, str]
    outcome: str | None
    changed: dict[str, Any] | None
    inline: dict[str, bytes]


def unpack_body(body: bytes) -> UnpackedBody:
    return _unpack_plain(body) if body[0] == _PLAIN else _unpack_other(body)


class _InlineValues(dict[str, bytes]):
    """Values by their content ids."""

    def add(self, data: bytes) -> str:
        cid = hashlib.sha256(data).hexdigest()
        self[cid] = data
        return cid


def _unpack_plain(body: bytes) -> UnpackedBody:
    [length] = _LENGTH.unpack_from(body, 1)
    end = 1 + _LENGTH.size + (length & ~_BY_CID)
    data = body[1 + _LENGTH.size : end]
    inline = _InlineValues()
    target = data.hex() if length & _BY_CID else inline.add(data)
    *args, result = [inline.add(plain_value_bytes(value)) for value in json.loads(body[end:])]
    outline = CallOutline(argument_count=len(args))
    return UnpackedBody(outline, False, target, tuple(args), {}, result, None, inline)


def _unpack_other(body: bytes) -> UnpackedBody:
    flags, count, argument_count = _BODY.unpack_from(body)
    inline = _InlineValues()
    lengths = struct.Struct(f"<{count}I")
    place = _BODY.size + lengths.size
    cids = []
    for length in lengths.unpack_from(body, _BODY.size):
        data = body[place : place + (length & ~_BY_CID)]
        place += len(data)
        cids.append(data.hex() if length & _BY_CID else inline.add(data))
    outline = _decode_outline(flags, argument_count, body[place:])
    rest = iter(cids)
    target = next(rest) if outline.has_target else None
    args = tuple(islice(rest, argument_count))
    kwargs = {name: next(rest) for name in outline.keywords}
    outcome = next(rest) if outline.has_outcome else None
    changed: dict[str, Any] = {}
    for part, name in outline.changed:
        if part == "target":
            changed[part] = next(rest)
        else:
            changed.setdefault(part, {})[name] = next(rest)
    raised = bool(flags & _RAISED)
    return UnpackedBody(outline, raised, target, args, kwargs, outcome, changed or None, inline)


def read_task(body: bytes) -> str | None:
    """The name of the task that made a call, without reading its values."""
    flags, count, _argument_count = _BODY.unpack_from(body)
    if flags & _PLAIN or not flags & _HAS_MORE:
        return None
    lengths = struct.unpack_from(f"<{count}I", body, _BODY.size)
    place = _BODY.size + _LENGTH.size * count + sum(length & ~_BY_CID for length in lengths)
    task = json.loads(body[place:]).get("ta")
    return None if task is None else str(task)


def _decode_outline(flags: int, argument_count: int, more: bytes) -> CallOutline:
    extra = json.loads(more) if flags & _HAS_MORE else {}
    return CallOutline(
        has_target=bool(flags & _HAS_TARGET),
        argument_count=argument_count,
        keywords=tuple(extra.get("k", ())),
        has_outcome=bool(flags & _HAS_OUTCOME),
        changed=tuple((part, name) for part, name in extra.get("ch", ())),
        task=extra.get("ta"),
        exception_type=extra.get("et"),
        exception_message=extra.get("em"),
        marker=extra.get("m"),
        target_age_ns=extra.get("tg"),
    )
