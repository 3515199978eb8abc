"""Parses batches of calls; `batch_format` describes their layout.

Nothing here loads a value. A batch with anything wrong in it is refused as a whole.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import struct
import sys
from array import array
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice, repeat
from typing import Any, NamedTuple

import orjson

from holdfast.errors import InvalidInput
from holdfast.model.call import CALL_TYPES
from holdfast.wire.batch_format import (
    BODY,
    BY_CID,
    CALL,
    CID_LENGTH,
    CONTENT,
    HAS_MORE,
    HAS_OUTCOME,
    HAS_TARGET,
    HEAD,
    LENGTH,
    MAGIC,
    PLAIN,
    RAISED,
    SITE,
    lengths,
)
from holdfast.wire.call_requests import MAX_FRAMES

_FLAGS = RAISED | HAS_TARGET | HAS_OUTCOME | HAS_MORE
_USUAL = HAS_TARGET | HAS_OUTCOME
_LENGTHS = [lengths(count) for count in range(64)]
_MAX_REMEMBERED = 20_000
_PICKLE_PROTOCOL = 5


class Call(NamedTuple):
    """`body` is kept as it came; `keys` are what its values are found by."""

    site: int
    number: int
    duration: int
    parent: int | None
    raised: bool
    body: bytes
    keys: list[int]


class PlainCalls(NamedTuple):
    """Plain calls column by column, each with the body that is kept; `keys` are those of all their
    values, and `users` the call that used the value at the same place."""

    sites: array[int]
    numbers: array[int]
    durations: array[int]
    parents: array[int]
    bodies: list[bytes]
    keys: array[int]
    users: array[int]


@dataclass(frozen=True, slots=True)
class Batch:
    session: int
    sequence: int
    sites: dict[int, bytes]
    contents: list[tuple[bytes, bytes]]
    calls: list[Call]
    plain: PlainCalls
    needed: set[bytes]
    """The ids of the values that are not here with their bytes."""


class _Keys(dict[bytes, int]):
    """What a value is found by: the first eight bytes of its id; the latest are remembered."""

    def __missing__(self, data: bytes) -> int:
        if len(self) > _MAX_REMEMBERED:
            self.clear()
        self[data] = key = _key(data)
        return key


class _PlainKeys(dict[Any, int]):
    """The same by the value itself. One for each type: 1, 1.0 and True are one key of a dict."""

    def __missing__(self, value: Any) -> int:
        if len(self) > _MAX_REMEMBERED:
            self.clear()
        key: int = _KEY(_sha256(_dumps(value, _PICKLE_PROTOCOL)).digest())[0]
        self[value] = key
        return key


class _FloatKeys(_PlainKeys):
    """0.0 and -0.0 are one key of a dict, too, so none is remembered."""

    def __getitem__(self, value: float) -> int:
        return _key(_pickled(value))


def _pickled(value: Any) -> bytes:
    """A plain value's bytes, which are the same from every Python."""
    return pickle.dumps(value, _PICKLE_PROTOCOL)


def _key(data: bytes) -> int:
    key: int = _KEY(hashlib.sha256(data).digest())[0]
    return key


_KEY = struct.Struct(">q").unpack_from
_dumps, _sha256 = pickle.dumps, hashlib.sha256
_keys = _Keys()
_plain_keys: dict[type, _PlainKeys] = {
    int: _PlainKeys(),
    str: _PlainKeys(),
    bool: _PlainKeys(),
    type(None): _PlainKeys(),
    float: _FloatKeys(),
}


def parse_batch(data: bytes) -> Batch:
    """The batch; InvalidInput says where it is not one."""
    try:
        return _parse_batch(data)
    except (struct.error, IndexError, OverflowError) as problem:
        raise _invalid(f"it breaks off: {problem}") from None


def _parse_batch(data: bytes) -> Batch:
    magic, sequence, session, *counts = HEAD.unpack_from(data)
    if magic != MAGIC:
        raise _invalid("it does not begin as one")
    site_count, content_count, call_count, target_count, plain_count = counts
    at, sites = _parse_sites(data, HEAD.size, site_count)
    at, contents = _parse_contents(data, at, content_count)
    at, calls, needed = _parse_calls(data, at, call_count, sites)
    at, targets = _parse_targets(data, at, target_count, needed)
    at, plain = _parse_plain(data, at, plain_count, targets, sites)
    if at != len(data):
        raise _invalid("there is something behind it")
    return Batch(session, sequence, sites, contents, calls, plain, needed)


def _parse_sites(data: bytes, at: int, count: int) -> tuple[int, dict[int, bytes]]:
    sites: dict[int, bytes] = {}
    for _ in range(count):
        number, length = SITE.unpack_from(data, at)
        at += SITE.size
        sites[number] = _take(data, at, length)
        at += length
    return at, sites


def _parse_contents(data: bytes, at: int, count: int) -> tuple[int, list[tuple[bytes, bytes]]]:
    contents = []
    for _ in range(count):
        length, shown = CONTENT.unpack_from(data, at)
        at += CONTENT.size
        contents.append((_take(data, at, length), _take(data, at + length, shown)))
        at += length + shown
    return at, contents


def _take(data: bytes, at: int, length: int) -> bytes:
    part = data[at : at + length]
    if len(part) != length:
        raise _invalid("it breaks off")
    return part


def _parse_calls(
    data: bytes, at: int, count: int, sites: Mapping[int, bytes]
) -> tuple[int, list[Call], set[bytes]]:
    calls: list[Call] = []
    needed: set[bytes] = set()
    unpack, head, add, new = CALL.unpack_from, CALL.size, calls.append, tuple.__new__
    for _ in range(count):
        size, site, number, duration, parent = unpack(data, at)
        body = data[at + head : at + size]
        if size < head or len(body) != size - head:
            raise _invalid("a call breaks off")
        if site not in sites:
            raise _invalid(f"a call has an unknown site {site}")
        if number <= 0 or duration < 0 or parent < 0:
            raise _invalid("a call has a negative number")
        keys = _parse_keys(body, needed)
        raised = body[0] & RAISED == RAISED
        add(new(Call, (site, number, duration, parent or None, raised, body, keys)))
        at += size
    return at, calls, needed


def _parse_keys(body: bytes, needed: set[bytes]) -> list[int]:
    """The keys of a body's values, when the body is sound."""
    flags, count, args = BODY.unpack_from(body)
    sizes = _LENGTHS[count] if count < 64 else lengths(count)
    at = BODY.size + sizes.size
    keys = []
    for size in sizes.unpack_from(body, BODY.size):
        if size & BY_CID:
            if size != CID_LENGTH:
                raise _invalid("a content id has 32 bytes")
            value = body[at : at + 32]
            needed.add(value)
            at += 32
            keys.append(_KEY(value)[0])
        else:
            value = body[at : at + size]
            at += size
            keys.append(_keys[value])
    if at > len(body) or (flags & ~_FLAGS):
        raise _invalid("a call breaks off, or says what is not known")
    if flags & ~RAISED == _USUAL and args + 2 == count and at == len(body):
        return keys
    _parse_parts(flags, count, args, body[at:])
    return keys


# -- plain calls -------------------------------------------------------------------------------


def _parse_targets(
    data: bytes, at: int, count: int, needed: set[bytes]
) -> tuple[int, list[tuple[bytes, int]]]:
    """How the body of a call of each begins, and the key of each."""
    targets = []
    for _ in range(count):
        [size] = LENGTH.unpack_from(data, at)
        value = _take(data, at + LENGTH.size, size & ~BY_CID)
        if size & BY_CID:
            if size != CID_LENGTH:
                raise _invalid("a content id has 32 bytes")
            needed.add(value)
        key: int = _KEY(value)[0] if size & BY_CID else _keys[value]
        targets.append((bytes((PLAIN,)) + LENGTH.pack(size) + value, key))
        at += LENGTH.size + len(value)
    return at, targets


def _parse_plain(
    data: bytes,
    at: int,
    count: int,
    targets: list[tuple[bytes, int]],
    known_sites: Mapping[int, bytes],
) -> tuple[int, PlainCalls]:
    """Few steps for each call, and no list that lives on: the collector would look at each."""
    if count == 0:
        none = array("q")
        return at, PlainCalls(none, none, none, none, [], none, none)
    at, numbers = _parse_column(data, at, "q", count)
    at, durations = _parse_column(data, at, "q", count)
    at, parents = _parse_column(data, at, "q", count)
    at, sites = _parse_column(data, at, "I", count)
    at, places = _parse_column(data, at, "I", count)
    at, sizes = _parse_column(data, at, "I", count)
    if min(numbers) <= 0 or min(durations) < 0 or min(parents) < 0:
        raise _invalid("a call has a negative number")
    if not known_sites.keys() >= set(sites) or max(places) >= len(targets):
        raise _invalid("a call has an unknown site or target")
    [length] = LENGTH.unpack_from(data, at)
    at += LENGTH.size
    text = _take(data, at, length)
    args, results = _parse_values(text, sum(sizes), count)
    known = _plain_keys
    try:
        keys = array("q", [known[type(value)][value] for value in args])
        keys.extend([known[type(value)][value] for value in results])
    except KeyError:
        raise _invalid("plain calls have other values than plain ones") from None
    keys.extend([targets[place][1] for place in places])
    users = array("q", list(chain.from_iterable(map(repeat, numbers, sizes))))
    users.extend(numbers)
    users.extend(numbers)
    begins = [targets[place][0] for place in places]
    bodies = _build_bodies(text, begins, args, sizes, results)
    return at + length, PlainCalls(sites, numbers, durations, parents, bodies, keys, users)


def _build_bodies(
    text: bytes, begins: list[bytes], args: list[Any], sizes: array[int], results: list[Any]
) -> list[bytes]:
    def build(dump: Callable[[list[Any]], bytes]) -> list[bytes]:
        values = iter(args)
        return [
            begin + dump([*islice(values, size), result])
            for begin, size, result in zip(begins, sizes, results, strict=True)
        ]

    if b"NaN" not in text and b"Infinity" not in text:
        try:
            return build(orjson.dumps)
        except TypeError:  # a long integer, or half of a surrogate pair
            pass
    return build(lambda row: json.dumps(row, separators=(",", ":")).encode())


def _parse_column(data: bytes, at: int, kind: str, count: int) -> tuple[int, array[int]]:
    column = array(kind)
    end = at + count * column.itemsize
    column.frombytes(_take(data, at, end - at))
    if sys.byteorder == "big":
        column.byteswap()
    return end, column


def _parse_values(text: bytes, arguments: int, count: int) -> tuple[list[Any], list[Any]]:
    """The arguments of all, and the results. The standard library's reader knows integers of every
    length, and whatever a text may hold."""
    try:
        args, results = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        raise _invalid("the values of plain calls are not as expected") from None
    if type(args) is not list or type(results) is not list:
        raise _invalid("the values of plain calls are not as expected")
    if len(args) != arguments or len(results) != count:
        raise _invalid("plain calls have more values than places, or fewer")
    return args, results


# -- other calls -------------------------------------------------------------------------------


def _parse_parts(flags: int, count: int, args: int, more: bytes) -> dict[str, Any]:
    """What few calls have; every value has its place."""
    extra: Any = {}
    if flags & HAS_MORE:
        try:
            extra = json.loads(more)
        except (ValueError, RecursionError):
            raise _invalid("what is said of a call is not JSON") from None
    elif more:
        raise _invalid("there is something behind a call")
    if not isinstance(extra, dict):
        raise _invalid("what is said of a call is no object")
    names, changed = extra.get("k", []), extra.get("ch", [])
    if not _are_texts(names, 1) or not _are_texts(changed, 2):
        raise _invalid("the values of a call have no proper names")
    if any(not isinstance(extra.get(name, ""), str) for name in ("ta", "et", "em", "m")):
        raise _invalid("what is said of a call is not text")
    taken = args + len(names) + len(changed)
    if taken + bool(flags & HAS_TARGET) + bool(flags & HAS_OUTCOME) != count:
        raise _invalid("a call has more values than places, or fewer")
    return extra


def _are_texts(given: Any, depth: int) -> bool:
    if not isinstance(given, list):
        return False
    if depth == 1:
        return all(isinstance(text, str) for text in given)
    return all(_are_texts(texts, 1) and len(texts) == 2 for texts in given)


def _invalid(why: str) -> InvalidInput:
    return InvalidInput(f"body: no batch of calls: {why}", field="body")


# -- sites --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SiteDescription:
    """What many calls have in common: the function, the thread and the stack."""

    name: str
    call_type: str
    alias: str | None
    qualname: str | None
    signature: str | None
    thread: dict[str, Any] | None
    frames: list[Any]


_SITE_CHECKS: dict[str, Callable[[Any], bool]] = {
    "name": lambda given: isinstance(given, str) and bool(given),
    "call_type": lambda given: given in CALL_TYPES,
    "alias": lambda given: given is None or isinstance(given, str),
    "qualname": lambda given: given is None or isinstance(given, str),
    "signature": lambda given: given is None or isinstance(given, str),
    "thread": lambda given: given is None or isinstance(given, dict),
    "frames": lambda given: isinstance(given, list),
}


def parse_site(text: bytes) -> SiteDescription:
    """Checked as the fields of a single call are."""
    try:
        site = orjson.loads(text)
    except orjson.JSONDecodeError as problem:
        raise InvalidInput(f"sites: not JSON: {problem}", field="sites") from None
    if not isinstance(site, dict):
        raise InvalidInput("sites: an object is expected", field="sites")
    for name, is_valid in _SITE_CHECKS.items():
        if not is_valid(site.get(name)):
            raise InvalidInput(f"sites: {name} is not as expected", field="sites")
    return SiteDescription(
        name=site["name"],
        call_type=site["call_type"],
        alias=site.get("alias"),
        qualname=site.get("qualname"),
        signature=site.get("signature"),
        thread=site.get("thread"),
        frames=site["frames"][:MAX_FRAMES],
    )


# -- a body that was stored --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StoredBody:
    """The values of a call by their content ids, and the bytes of those that are here."""

    target: str | None
    args: tuple[str, ...]
    kwargs: dict[str, str]
    outcome: str | None
    raised: bool
    changed: dict[str, Any] | None
    more: dict[str, Any]
    inline: dict[str, bytes]


def parse_stored(stored: bytes) -> StoredBody:
    return _parse_plain_body(stored) if stored[0] == PLAIN else _parse_packed_body(stored)


def _parse_plain_body(stored: bytes) -> StoredBody:
    [size] = LENGTH.unpack_from(stored, 1)
    end = 1 + LENGTH.size + (size & ~BY_CID)
    target = stored[1 + LENGTH.size : end]
    inline: dict[str, bytes] = {}

    def cid(data: bytes) -> str:
        content_id = hashlib.sha256(data).hexdigest()
        inline[content_id] = data
        return content_id

    target_id = target.hex() if size & BY_CID else cid(target)
    *args, result = [cid(_pickled(value)) for value in json.loads(stored[end:])]
    return StoredBody(target_id, tuple(args), {}, result, False, None, {}, inline)


def _parse_packed_body(stored: bytes) -> StoredBody:
    flags, count, args = BODY.unpack_from(stored)
    inline: dict[str, bytes] = {}
    ids, at = [], BODY.size + 4 * count
    for size in lengths(count).unpack_from(stored, BODY.size):
        value = stored[at : at + (size & ~BY_CID)]
        at += len(value)
        if size & BY_CID:
            ids.append(value.hex())
        else:
            ids.append(hashlib.sha256(value).hexdigest())
            inline[ids[-1]] = value
    more = _parse_parts(flags, count, args, stored[at:])
    every: Iterator[str] = iter(ids)
    target = next(every) if flags & HAS_TARGET else None
    positional = tuple(next(every) for _ in range(args))
    kwargs = {name: next(every) for name in more.get("k", ())}
    outcome = next(every) if flags & HAS_OUTCOME else None
    changed: dict[str, Any] = {}
    for part, name in more.get("ch", ()):
        if part == "target":
            changed[part] = next(every)
        else:
            changed.setdefault(part, {})[name] = next(every)
    raised = bool(flags & RAISED)
    return StoredBody(target, positional, kwargs, outcome, raised, changed or None, more, inline)
