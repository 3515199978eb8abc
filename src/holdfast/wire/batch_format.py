"""The layout of a batch: many calls of a leased application in one body, cheap on both sides.

All numbers are little-endian. A batch is complete in itself:

    head      magic, sequence, session (as a number), how many sites, contents, calls, targets and
              plain calls
    sites     id and length, then JSON: the function, the thread and the stack of many calls
    contents  lengths of data and preview, then the bytes of a value and its preview in JSON
    calls     size, site, number, duration, parent; then a *body*
    targets   length and bytes of what plain calls were made on
    plain     column by column: numbers, durations, parents, sites, targets (by their place), how
              many arguments; then the length of a JSON text, and the text: the arguments of all,
              one after the other, and the results

Nearly all calls are plain: the positional arguments and the result are numbers, short texts, True,
False or None, and the target does not change. JSON holds such values as well as a pickle does, and
a column is encoded and parsed in a few steps for all calls together, where a single call takes
dozens. The body of any other call has flags, the number of values, how many of them are arguments,
the length of each, their bytes, and at the end JSON with what few calls have (`k` names of keyword
arguments, `ch` what changed, `ta` task, `et` and `em` type and message of an exception, `m`
marker). A small value is there with its bytes, another by its content id; a bit of its length tells
which. The order is: the target, the arguments, the keyword arguments, the outcome, what changed.

This module has the layout and the encoder; `batch_parser` parses it.
"""

from __future__ import annotations

import json
import struct
import sys
from array import array
from collections.abc import Iterable, Sequence
from itertools import chain

MAGIC = b"HFB3"
MEDIA_TYPE = "application/octet-stream"
INLINE = 128  # bytes of a value that go with every call

HEAD = struct.Struct("<4sQQIIIII")
SITE = struct.Struct("<II")
CONTENT = struct.Struct("<II")
CALL = struct.Struct("<IIqqq")
BODY = struct.Struct("<BHH")
LENGTH = struct.Struct("<I")

BY_CID = 1 << 31  # in a length: the content id instead of the bytes
CID_LENGTH = BY_CID | 32

RAISED = 1
HAS_TARGET = 2
HAS_OUTCOME = 4
HAS_MORE = 8


def build_lengths(count: int) -> struct.Struct:
    """The layout of the lengths of so many values."""
    return struct.Struct(f"<{count}I")


# -- encoding -------------------------------------------------------------------------------------


def encode_head(
    session: int,
    sequence: int,
    sites: int,
    contents: int,
    calls: int,
    targets: int = 0,
    plain: int = 0,
) -> bytes:
    return HEAD.pack(MAGIC, sequence, session, sites, contents, calls, targets, plain)


def encode_site(number: int, text: bytes) -> bytes:
    return SITE.pack(number, len(text)) + text


def encode_content(data: bytes, preview: bytes) -> bytes:
    return CONTENT.pack(len(data), len(preview)) + data + preview


def encode_target(length: int, data: bytes) -> bytes:
    return LENGTH.pack(length) + data


def encode_column(kind: str, numbers: Iterable[int]) -> bytes:
    """Numbers, each of eight bytes (`q`) or four (`I`)."""
    encoded = array(kind, numbers)
    if sys.byteorder == "big":
        encoded.byteswap()
    return encoded.tobytes()


_encode = json.JSONEncoder(check_circular=False, separators=(",", ":")).encode


def encode_values(args: Iterable[tuple[object, ...]], results: Sequence[object]) -> bytes:
    """ValueError: JSON cannot hold one of them (an integer of thousands of digits)."""
    text = _encode([list(chain.from_iterable(args)), results]).encode()
    return LENGTH.pack(len(text)) + text
