"""Calls of a leased application, many in one body, in a binary format that is cheap on both sides.

All numbers are little-endian. A batch is complete in itself:

    head      magic, sequence, session (as a number), how many sites, contents and calls
    sites     id and length, then JSON: the function, the thread and the stack of many calls
    contents  lengths of data and preview, then the bytes of a value and its preview in JSON
    calls     size, site, number, duration, parent; then a *body* that is stored as it is

The body: flags, how many values, how many of them are arguments, the length of each, their bytes,
and to the end JSON with what few calls have (`k` names of keyword arguments, `ch` what changed,
`ta` task, `et` and `em` type and message of an exception, `m` marker). A small value is there with
its bytes, another by its content id, which its length says. In order: the target, the arguments,
the keyword arguments, the outcome, what changed. Nothing here loads a value.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from holdfast.errors import InvalidInput

MAGIC = b"HFB1"
MEDIA_TYPE = "application/octet-stream"
INLINE = 128  # bytes of a value that go with every call

HEAD = struct.Struct("<4sQIIII")
SITE = struct.Struct("<II")
CONTENT = struct.Struct("<II")
CALL = struct.Struct("<IIqqq")
BODY = struct.Struct("<BHH")

BY_CID = 1 << 31  # in a length: not the bytes, but the id of the value
CID_LENGTH = BY_CID | 32

RAISED = 1
HAS_TARGET = 2
HAS_OUTCOME = 4
HAS_MORE = 8
_FLAGS = RAISED | HAS_TARGET | HAS_OUTCOME | HAS_MORE
_USUAL = HAS_TARGET | HAS_OUTCOME


def lengths(count: int) -> struct.Struct:
    """How the lengths of so many values are written."""
    return struct.Struct(f"<{count}I")


_LENGTHS = [lengths(count) for count in range(64)]


class Call(NamedTuple):
    """`body` is kept as it came; `keys` are what its values are found by."""

    site: int
    number: int
    duration: int
    parent: int | None
    raised: bool
    body: bytes
    keys: list[int]


@dataclass(frozen=True, slots=True)
class Batch:
    session: int
    sequence: int
    sites: dict[int, bytes]
    contents: list[tuple[bytes, bytes]]
    calls: list[Call]
    needed: set[bytes]
    """The ids of the values that are not here with their bytes."""


class _Keys(dict[bytes, int]):
    """What a value is found by: the first eight bytes of its id; the latest are remembered."""

    def __missing__(self, data: bytes) -> int:
        if len(self) > 20_000:
            self.clear()
        key: int = _KEY(hashlib.sha256(data).digest())[0]
        self[data] = key
        return key


_KEY = struct.Struct(">q").unpack_from
_keys = _Keys()


def read(data: bytes) -> Batch:
    """The batch; InvalidInput says where it is not one."""
    try:
        return _read(data)
    except (struct.error, IndexError) as problem:
        raise _wrong(f"it breaks off: {problem}") from None


def _read(data: bytes) -> Batch:
    magic, sequence, session, site_count, content_count, call_count = HEAD.unpack_from(data)
    if magic != MAGIC:
        raise _wrong("it does not begin as one")
    at, sites = _sites(data, HEAD.size, site_count)
    at, contents = _contents(data, at, content_count)
    at, calls, needed = _calls(data, at, call_count, sites)
    if at != len(data):
        raise _wrong("there is something behind it")
    return Batch(session, sequence, sites, contents, calls, needed)


def _sites(data: bytes, at: int, count: int) -> tuple[int, dict[int, bytes]]:
    sites: dict[int, bytes] = {}
    for _ in range(count):
        number, length = SITE.unpack_from(data, at)
        at += SITE.size
        sites[number] = _taken(data, at, length)
        at += length
    return at, sites


def _contents(data: bytes, at: int, count: int) -> tuple[int, list[tuple[bytes, bytes]]]:
    contents = []
    for _ in range(count):
        length, shown = CONTENT.unpack_from(data, at)
        at += CONTENT.size
        contents.append((_taken(data, at, length), _taken(data, at + length, shown)))
        at += length + shown
    return at, contents


def _taken(data: bytes, at: int, length: int) -> bytes:
    found = data[at : at + length]
    if len(found) != length:
        raise _wrong("it breaks off")
    return found


def _calls(
    data: bytes, at: int, count: int, sites: Mapping[int, bytes]
) -> tuple[int, list[Call], set[bytes]]:
    calls: list[Call] = []
    needed: set[bytes] = set()
    unpack, head, add, new = CALL.unpack_from, CALL.size, calls.append, tuple.__new__
    for _ in range(count):
        size, site, number, duration, parent = unpack(data, at)
        body = data[at + head : at + size]
        if size < head or len(body) != size - head:
            raise _wrong("a call breaks off")
        if site not in sites:
            raise _wrong(f"a call has an unknown site {site}")
        if number <= 0 or duration < 0 or parent < 0:
            raise _wrong("a call has a negative number")
        keys = _checked(body, needed)
        raised = body[0] & RAISED == RAISED
        add(new(Call, (site, number, duration, parent or None, raised, body, keys)))
        at += size
    return at, calls, needed


def _checked(body: bytes, needed: set[bytes]) -> list[int]:
    """The keys of a body's values, when the body is sound."""
    flags, count, args = BODY.unpack_from(body)
    sizes = _LENGTHS[count] if count < 64 else lengths(count)
    at = BODY.size + sizes.size
    keys = []
    for size in sizes.unpack_from(body, BODY.size):
        if size & BY_CID:
            if size != CID_LENGTH:
                raise _wrong("a content id has 32 bytes")
            value = body[at : at + 32]
            needed.add(value)
            at += 32
            keys.append(_KEY(value)[0])
        else:
            value = body[at : at + size]
            at += size
            keys.append(_keys[value])
    if at > len(body) or (flags & ~_FLAGS):
        raise _wrong("a call breaks off, or says what is not known")
    if flags & ~RAISED == _USUAL and args + 2 == count and at == len(body):
        return keys
    _parts(flags, count, args, body[at:])
    return keys


def _parts(flags: int, count: int, args: int, more: bytes) -> dict[str, Any]:
    """What few calls have; every value has its place."""
    found: Any = {}
    if flags & HAS_MORE:
        try:
            found = json.loads(more)
        except (ValueError, RecursionError):
            raise _wrong("what is said of a call is not JSON") from None
    elif more:
        raise _wrong("there is something behind a call")
    if not isinstance(found, dict):
        raise _wrong("what is said of a call is no object")
    names, changed = found.get("k", []), found.get("ch", [])
    if not _are_texts(names, 1) or not _are_texts(changed, 2):
        raise _wrong("the values of a call have no proper names")
    if any(not isinstance(found.get(name, ""), str) for name in ("ta", "et", "em", "m")):
        raise _wrong("what is said of a call is not text")
    taken = args + len(names) + len(changed)
    if taken + bool(flags & HAS_TARGET) + bool(flags & HAS_OUTCOME) != count:
        raise _wrong("a call has more values than places, or fewer")
    return found


def _are_texts(given: Any, depth: int) -> bool:
    if not isinstance(given, list):
        return False
    if depth == 1:
        return all(isinstance(each, str) for each in given)
    return all(_are_texts(each, 1) and len(each) == 2 for each in given)


def _wrong(why: str) -> InvalidInput:
    return InvalidInput(f"body: no batch of calls: {why}", field="body")


# -- a body that was stored --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Body:
    """The values of a call by their content ids, and the bytes of those that are here."""

    target: str | None
    args: tuple[str, ...]
    kwargs: dict[str, str]
    outcome: str | None
    raised: bool
    changed: dict[str, Any] | None
    more: dict[str, Any]
    inline: dict[str, bytes]


def body_of(stored: bytes) -> Body:
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
    more = _parts(flags, count, args, stored[at:])
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
    return Body(target, positional, kwargs, outcome, raised, changed or None, more, inline)


# -- writing -------------------------------------------------------------------------------------


def head(session: int, sequence: int, sites: int, contents: int, calls: int) -> bytes:
    return HEAD.pack(MAGIC, sequence, session, sites, contents, calls)


def site(number: int, text: bytes) -> bytes:
    return SITE.pack(number, len(text)) + text


def content(data: bytes, preview: bytes) -> bytes:
    return CONTENT.pack(len(data), len(preview)) + data + preview
