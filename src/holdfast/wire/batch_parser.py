"""Parses batches of calls. `batch_format` describes the layout.

A batch that is wrong anywhere is refused as a whole. Nothing here loads a value.
"""

from __future__ import annotations

import json
import struct
import sys
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.errors import InvalidInput
from holdfast.model.call_batch import (
    NO_PLAIN_CALLS,
    PLAIN_TYPES,
    CallOutline,
    CallValue,
    CompletedCall,
    PlainCalls,
)
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
    RAISED,
    SITE,
    lengths,
)

_FLAGS = RAISED | HAS_TARGET | HAS_OUTCOME | HAS_MORE
_USUAL = HAS_TARGET | HAS_OUTCOME
_LENGTHS = [lengths(count) for count in range(64)]
# Nearly every call has one of these: a target, so many arguments, and an outcome.
_USUAL_OUTLINES = [CallOutline(argument_count=count) for count in range(64)]


@dataclass(frozen=True, slots=True)
class ParsedBatch:
    """A batch as it was sent: `sites` are JSON, `contents` are pairs of data and preview."""

    session: int
    sequence: int
    sites: dict[int, bytes]
    contents: list[tuple[bytes, bytes]]
    calls: list[CompletedCall]
    plain: PlainCalls
    needed: set[str]
    """The content ids of the values that came without their bytes."""


def parse_batch(data: bytes) -> ParsedBatch:
    """Parse a batch. InvalidInput says where it is wrong."""
    try:
        return _parse(data)
    except (struct.error, IndexError, OverflowError) as problem:
        raise _wrong(f"it breaks off: {problem}") from None


def _parse(data: bytes) -> ParsedBatch:
    magic, sequence, session, *counts = HEAD.unpack_from(data)
    if magic != MAGIC:
        raise _wrong("it does not begin as one")
    site_count, content_count, call_count, target_count, plain_count = counts
    needed: set[str] = set()
    at, sites = _sites(data, HEAD.size, site_count)
    at, contents = _contents(data, at, content_count)
    at, calls = _calls(data, at, call_count, sites, needed)
    at, targets = _targets(data, at, target_count, needed)
    at, plain = _plain(data, at, plain_count, targets, sites)
    if at != len(data):
        raise _wrong("there is something behind it")
    return ParsedBatch(session, sequence, sites, contents, calls, plain, needed)


def _sites(data: bytes, at: int, count: int) -> tuple[int, dict[int, bytes]]:
    sites: dict[int, bytes] = {}
    for _ in range(count):
        number, length = SITE.unpack_from(data, at)
        at += SITE.size
        sites[number] = _slice(data, at, length)
        at += length
    return at, sites


def _contents(data: bytes, at: int, count: int) -> tuple[int, list[tuple[bytes, bytes]]]:
    contents = []
    for _ in range(count):
        size, preview_size = CONTENT.unpack_from(data, at)
        at += CONTENT.size
        contents.append((_slice(data, at, size), _slice(data, at + size, preview_size)))
        at += size + preview_size
    return at, contents


def _slice(data: bytes, at: int, length: int) -> bytes:
    part = data[at : at + length]
    if len(part) != length:
        raise _wrong("it breaks off")
    return part


def _calls(
    data: bytes, at: int, count: int, sites: Mapping[int, bytes], needed: set[str]
) -> tuple[int, list[CompletedCall]]:
    calls: list[CompletedCall] = []
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
        outline, values = _body(body, needed)
        raised = body[0] & RAISED == RAISED
        fields = (site, number, duration, parent or None, raised, outline, values)
        add(new(CompletedCall, fields))
        at += size
    return at, calls


def _body(body: bytes, needed: set[str]) -> tuple[CallOutline, tuple[CallValue, ...]]:
    flags, count, arguments = BODY.unpack_from(body)
    sizes = _LENGTHS[count] if count < 64 else lengths(count)
    at = BODY.size + sizes.size
    values: list[CallValue] = []
    for size in sizes.unpack_from(body, BODY.size):
        if size & BY_CID:
            if size != CID_LENGTH:
                raise _wrong("a content id has 32 bytes")
            cid = body[at : at + 32].hex()
            needed.add(cid)
            values.append(cid)
            at += 32
        else:
            values.append(body[at : at + size])
            at += size
    if at > len(body) or (flags & ~_FLAGS):
        raise _wrong("a call breaks off, or says what is not known")
    if flags & ~RAISED == _USUAL and arguments + 2 == count < 64 and at == len(body):
        return _USUAL_OUTLINES[arguments], tuple(values)
    return _outline(flags, count, arguments, body[at:]), tuple(values)


# -- plain calls -------------------------------------------------------------------------------


def _targets(data: bytes, at: int, count: int, needed: set[str]) -> tuple[int, list[CallValue]]:
    targets: list[CallValue] = []
    for _ in range(count):
        [size] = LENGTH.unpack_from(data, at)
        value = _slice(data, at + LENGTH.size, size & ~BY_CID)
        at += LENGTH.size + len(value)
        if not size & BY_CID:
            targets.append(value)
            continue
        if size != CID_LENGTH:
            raise _wrong("a content id has 32 bytes")
        needed.add(value.hex())
        targets.append(value.hex())
    return at, targets


def _plain(
    data: bytes,
    at: int,
    count: int,
    target_values: list[CallValue],
    known_sites: Mapping[int, bytes],
) -> tuple[int, PlainCalls]:
    if count == 0:
        return at, NO_PLAIN_CALLS
    at, numbers = _column(data, at, "q", count)
    at, durations = _column(data, at, "q", count)
    at, parents = _column(data, at, "q", count)
    at, sites = _column(data, at, "I", count)
    at, targets = _column(data, at, "I", count)
    at, sizes = _column(data, at, "I", count)
    if min(numbers) <= 0 or min(durations) < 0 or min(parents) < 0:
        raise _wrong("a call has a negative number")
    if not known_sites.keys() >= set(sites) or max(targets) >= len(target_values):
        raise _wrong("a call has an unknown site or target")
    [length] = LENGTH.unpack_from(data, at)
    at += LENGTH.size
    arguments, results = _values(_slice(data, at, length), sum(sizes), count)
    plain = PlainCalls(
        sites, numbers, durations, parents, targets, target_values, sizes, arguments, results
    )
    return at + length, plain


def _column(data: bytes, at: int, kind: str, count: int) -> tuple[int, array[int]]:
    column = array(kind)
    end = at + count * column.itemsize
    column.frombytes(_slice(data, at, end - at))
    if sys.byteorder == "big":
        column.byteswap()
    return end, column


def _values(text: bytes, argument_count: int, count: int) -> tuple[list[Any], list[Any]]:
    """The arguments of all calls, and their results.

    The standard library's parser takes integers of every length, and whatever a text may hold.
    """
    try:
        arguments, results = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        raise _wrong("the values of plain calls are not as expected") from None
    if type(arguments) is not list or type(results) is not list:
        raise _wrong("the values of plain calls are not as expected")
    if len(arguments) != argument_count or len(results) != count:
        raise _wrong("plain calls have more values than places, or fewer")
    if not PLAIN_TYPES.issuperset(map(type, arguments)) or not PLAIN_TYPES.issuperset(
        map(type, results)
    ):
        raise _wrong("plain calls have other values than plain ones")
    return arguments, results


# -- other calls -------------------------------------------------------------------------------


def _outline(flags: int, count: int, argument_count: int, more: bytes) -> CallOutline:
    """Says which value is which, and what few calls have; every value has its place."""
    facts: Any = {}
    if flags & HAS_MORE:
        try:
            facts = json.loads(more)
        except (ValueError, RecursionError):
            raise _wrong("what is said of a call is not JSON") from None
    elif more:
        raise _wrong("there is something behind a call")
    if not isinstance(facts, dict):
        raise _wrong("what is said of a call is no object")
    names, changed = facts.get("k", []), facts.get("ch", [])
    if not _are_texts(names) or not _are_pairs_of_texts(changed):
        raise _wrong("the values of a call have no proper names")
    if any(not isinstance(facts.get(name, ""), str) for name in ("ta", "et", "em", "m")):
        raise _wrong("what is said of a call is not text")
    has_target, has_outcome = bool(flags & HAS_TARGET), bool(flags & HAS_OUTCOME)
    if argument_count + len(names) + len(changed) + has_target + has_outcome != count:
        raise _wrong("a call has more values than places, or fewer")
    return CallOutline(
        has_target=has_target,
        argument_count=argument_count,
        keywords=tuple(names),
        has_outcome=has_outcome,
        changed=tuple((part, name) for part, name in changed),
        task=facts.get("ta"),
        exception_type=facts.get("et"),
        exception_message=facts.get("em"),
        marker=facts.get("m"),
    )


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _are_pairs_of_texts(value: Any) -> bool:
    return isinstance(value, list) and all(_are_texts(item) and len(item) == 2 for item in value)


def _wrong(why: str) -> InvalidInput:
    return InvalidInput(f"body: no batch of calls: {why}", field="body")
