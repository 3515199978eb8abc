"""Batches of completed calls.

A `CallBatch` has two kinds of calls. The arguments and the result of a plain call are numbers,
texts, booleans or None. Nearly all calls are plain. They are kept as columns, which is cheaper than
as objects. Any other call is a `CompletedCall`.
"""

from __future__ import annotations

import pickle
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

PlainValue = int | float | str | bool | None
PLAIN_TYPES = frozenset((int, float, str, bool, type(None)))

CallValue = bytes | str
"""A value of a call: the bytes of a small one, or the content id of one stored elsewhere."""


def plain_value_bytes(value: PlainValue) -> bytes:
    """The bytes whose SHA-256 is the content id of a plain value, the same on every Python."""
    return pickle.dumps(value, 5)


@dataclass(frozen=True, slots=True)
class CallSite:
    """What all calls from one line of one thread have in common."""

    function_id: int
    call_type: str
    stack: int | None = None
    thread: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class CallOutline:
    """The meaning of the values of a `CompletedCall`, and the fields that few calls have.

    The values are in this order: the target, the arguments, the keyword arguments, the outcome
    (the result, or the exception), and what the call changed (as pairs of part and name).
    """

    has_target: bool = True
    argument_count: int = 0
    keywords: tuple[str, ...] = ()
    has_outcome: bool = True
    changed: tuple[tuple[str, str], ...] = ()
    task: str | None = None
    exception_type: str | None = None
    exception_message: str | None = None
    marker: str | None = None
    target_age_ns: int | None = None


class CompletedCall(NamedTuple):
    """A call that has ended. `site` is a key of `CallBatch.sites`."""

    site: int
    number: int
    duration_ns: int
    parent: int | None
    raised: bool
    outline: CallOutline
    values: tuple[CallValue, ...]


class PlainCalls(NamedTuple):
    """Plain calls, column by column. Entries at the same place belong to the same call.

    `parents` has 0 for none, and `targets` has indexes into `target_values`. `arguments` has the
    arguments of all calls, one call after the other, and `argument_counts` how many each has.
    """

    sites: array[int]
    numbers: array[int]
    durations_ns: array[int]
    parents: array[int]
    targets: array[int]
    target_values: Sequence[CallValue]
    argument_counts: array[int]
    arguments: list[PlainValue]
    results: list[PlainValue]


_NONE = array("q")
NO_PLAIN_CALLS = PlainCalls(_NONE, _NONE, _NONE, _NONE, _NONE, (), _NONE, [], [])


@dataclass(frozen=True, slots=True)
class CallBatch:
    """Calls of one session. A store takes all of them or none."""

    session_id: str
    sites: Mapping[int, CallSite]
    calls: Sequence[CompletedCall] = ()
    plain: PlainCalls = NO_PLAIN_CALLS
    body: bytes | None = None
    """The batch as the application sent it, if it did."""

    def __len__(self) -> int:
        return len(self.calls) + len(self.plain.numbers)
