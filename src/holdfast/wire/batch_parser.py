"""Parses batches of calls; `batch_format` describes their layout.

Nothing here loads a value. A batch with anything wrong in it is refused as a whole.
"""

from __future__ import annotations

import json
import struct
import sys
from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from holdfast.errors import InvalidInput
from holdfast.model.call import CALL_TYPES, Parameters
from holdfast.model.call_batch import (
    NO_PLAIN_CALLS,
    PLAIN_TYPES,
    CallOutline,
    CallValue,
    CompletedCall,
    PlainCalls,
    PlainValue,
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
    build_lengths,
)
from holdfast.wire.call_items import parse_parameters
from holdfast.wire.call_requests import MAX_FRAMES

_FLAGS = RAISED | HAS_TARGET | HAS_OUTCOME | HAS_MORE
_LENGTHS = [build_lengths(count) for count in range(64)]
_USUAL = HAS_TARGET | HAS_OUTCOME
_USUAL_OUTLINES = [CallOutline(argument_count=count) for count in range(64)]


@dataclass(frozen=True, slots=True)
class ParsedBatch:
    """A batch whose sites are still JSON: the server knows most of them already."""

    session_id: str
    sequence: int
    sites: dict[int, bytes]
    contents: list[tuple[bytes, bytes]]
    """The bytes and the preview in JSON of each value."""
    calls: list[CompletedCall]
    plain: PlainCalls
    needed: set[str]
    """The content ids of the values that calls name without their bytes."""

    def __len__(self) -> int:
        return len(self.calls) + len(self.plain.numbers)


def parse_batch(data: bytes) -> ParsedBatch:
    """Parse a batch. InvalidInput says what is wrong with it."""
    try:
        return _parse_batch(data)
    except (struct.error, IndexError, OverflowError) as problem:
        raise _invalid(f"it breaks off: {problem}") from None


def _parse_batch(data: bytes) -> ParsedBatch:
    magic, sequence, session, *counts = HEAD.unpack_from(data)
    if magic != MAGIC:
        raise _invalid("it does not begin as one")
    site_count, content_count, call_count, target_count, plain_count = counts
    at, sites = _parse_sites(data, HEAD.size, site_count)
    at, contents = _parse_contents(data, at, content_count)
    needed: set[str] = set()
    at, calls = _parse_calls(data, at, call_count, sites, needed)
    at, targets = _parse_targets(data, at, target_count, needed)
    at, plain = _parse_plain(data, at, plain_count, targets, sites)
    if at != len(data):
        raise _invalid("there is something behind it")
    return ParsedBatch(f"calls_{session:08x}", sequence, sites, contents, calls, plain, needed)


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
        length, preview_length = CONTENT.unpack_from(data, at)
        at += CONTENT.size
        contents.append((_take(data, at, length), _take(data, at + length, preview_length)))
        at += length + preview_length
    return at, contents


def _take(data: bytes, at: int, length: int) -> bytes:
    part = data[at : at + length]
    if len(part) != length:
        raise _invalid("it breaks off")
    return part


def _invalid(why: str) -> InvalidInput:
    return InvalidInput(f"body: no batch of calls: {why}", field="body")


# -- plain calls -------------------------------------------------------------------------------


def _parse_targets(
    data: bytes, at: int, count: int, needed: set[str]
) -> tuple[int, list[CallValue]]:
    targets: list[CallValue] = []
    for _ in range(count):
        [size] = LENGTH.unpack_from(data, at)
        value = _take(data, at + LENGTH.size, size & ~BY_CID)
        targets.append(_parse_cid(size, value, needed) if size & BY_CID else value)
        at += LENGTH.size + len(value)
    return at, targets


def _parse_cid(size: int, value: bytes, needed: set[str]) -> str:
    if size != CID_LENGTH:
        raise _invalid("a content id has 32 bytes")
    cid = value.hex()
    needed.add(cid)
    return cid


def _parse_plain(
    data: bytes, at: int, count: int, targets: list[CallValue], known_sites: Mapping[int, bytes]
) -> tuple[int, PlainCalls]:
    """Few steps for each call, and no list that lives on: the collector would look at each."""
    if count == 0:
        return at, NO_PLAIN_CALLS
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
    args, results = _parse_values(_take(data, at, length), sum(sizes), count)
    columns = (sites, numbers, durations, parents, places, targets, sizes, args, results)
    return at + length, PlainCalls(*columns)


def _parse_column(data: bytes, at: int, kind: str, count: int) -> tuple[int, array[int]]:
    column = array(kind)
    end = at + count * column.itemsize
    column.frombytes(_take(data, at, end - at))
    if sys.byteorder == "big":
        column.byteswap()
    return end, column


def _parse_values(
    text: bytes, arguments: int, count: int
) -> tuple[list[PlainValue], list[PlainValue]]:
    """The arguments of all calls, and the results. The standard library's parser takes integers
    of every length, and whatever a text may hold."""
    try:
        args, results = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        raise _invalid("the values of plain calls are not as expected") from None
    if type(args) is not list or type(results) is not list:
        raise _invalid("the values of plain calls are not as expected")
    if len(args) != arguments or len(results) != count:
        raise _invalid("plain calls have more values than places, or fewer")
    if not PLAIN_TYPES.issuperset(map(type, args)) or not PLAIN_TYPES.issuperset(
        map(type, results)
    ):
        raise _invalid("plain calls have other values than plain ones")
    return args, results


# -- other calls -------------------------------------------------------------------------------


def _parse_calls(
    data: bytes, at: int, count: int, sites: Mapping[int, bytes], needed: set[str]
) -> tuple[int, list[CompletedCall]]:
    calls: list[CompletedCall] = []
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
        outline, values = _parse_body(body, needed)
        raised = body[0] & RAISED == RAISED
        call = (site, number, duration, parent or None, raised, outline, values)
        add(new(CompletedCall, call))
        at += size
    return at, calls


def _parse_body(body: bytes, needed: set[str]) -> tuple[CallOutline, tuple[CallValue, ...]]:
    flags, count, argument_count = BODY.unpack_from(body)
    sizes = _LENGTHS[count] if count < 64 else build_lengths(count)
    at = BODY.size + sizes.size
    values: list[CallValue] = []
    for size in sizes.unpack_from(body, BODY.size):
        if size & BY_CID:
            values.append(_parse_cid(size, body[at : at + 32], needed))
            at += 32
        else:
            values.append(body[at : at + size])
            at += size
    if at > len(body) or (flags & ~_FLAGS):
        raise _invalid("a call breaks off, or says what is not known")
    if flags & ~RAISED == _USUAL and argument_count + 2 == count < 64 and at == len(body):
        return _USUAL_OUTLINES[argument_count], tuple(values)
    outline = _parse_outline(flags, argument_count, body[at:])
    named = len(outline.keywords) + len(outline.changed)
    if argument_count + named + outline.has_target + outline.has_outcome != count:
        raise _invalid("a call has more values than places, or fewer")
    return outline, tuple(values)


def _parse_outline(flags: int, argument_count: int, more: bytes) -> CallOutline:
    extra = _parse_more(flags, more)
    return CallOutline(
        has_target=bool(flags & HAS_TARGET),
        argument_count=argument_count,
        keywords=tuple(extra.get("k", ())),
        has_outcome=bool(flags & HAS_OUTCOME),
        changed=tuple((part, name) for part, name in extra.get("ch", ())),
        task=extra.get("ta"),
        exception_type=extra.get("et"),
        exception_message=extra.get("em"),
        marker=extra.get("m"),
        target_age_ns=extra.get("tg"),
    )


def _parse_more(flags: int, more: bytes) -> dict[str, Any]:
    """What few calls have."""
    if not flags & HAS_MORE:
        if more:
            raise _invalid("there is something behind a call")
        return {}
    try:
        extra = json.loads(more)
    except (ValueError, RecursionError):
        raise _invalid("what is said of a call is not JSON") from None
    if not isinstance(extra, dict):
        raise _invalid("what is said of a call is no object")
    if not _are_texts(extra.get("k", []), 1) or not _are_texts(extra.get("ch", []), 2):
        raise _invalid("the values of a call have no proper names")
    if any(not isinstance(extra.get(name, ""), str) for name in ("ta", "et", "em", "m")):
        raise _invalid("what is said of a call is not text")
    age = extra.get("tg", 0)
    if type(age) is not int or not 0 <= age < 2**63:
        raise _invalid("the age of a call's target is no number")
    return extra


def _are_texts(given: Any, depth: int) -> bool:
    if not isinstance(given, list):
        return False
    if depth == 1:
        return all(isinstance(text, str) for text in given)
    return all(_are_texts(texts, 1) and len(texts) == 2 for texts in given)


# -- sites --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SiteDescription:
    """What many calls have in common: the function, the thread and the stack."""

    name: str
    call_type: str
    alias: str | None
    qualname: str | None
    signature: str | None
    parameters: Parameters | None
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
        parameters=parse_parameters(site.get("parameters")),
        thread=site.get("thread"),
        frames=site["frames"][:MAX_FRAMES],
    )
