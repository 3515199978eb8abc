"""When and where calls ran, without their values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import NamedTuple, TypeVar

from holdfast.model.call import CallRecord, CallStatus, Function

STATUSES = tuple(CallStatus)
T = TypeVar("T")


class CallLane(NamedTuple):
    """What makes one call after the other: a thread, or an asyncio task in it."""

    session_id: str
    thread_id: int | str | None
    thread: str | None
    task: str | None


@dataclass(frozen=True, slots=True)
class CallSpans:
    """Calls in the order of their numbers, column by column: there may be very many.

    Entries at the same place belong to the same call. Those of `functions_at`, `lanes_at` and
    `statuses_at` are places in `functions`, in `lanes` and in STATUSES.
    """

    numbers: Sequence[int]
    parents: Sequence[int | None]
    durations_ns: Sequence[int | None]
    are_inline: Sequence[int]
    statuses_at: Sequence[int]
    functions_at: Sequence[int]
    lanes_at: Sequence[int]
    functions: Sequence[Function]
    lanes: Sequence[CallLane]

    def select(self, wanted: Sequence[bool]) -> CallSpans:
        """Those calls for which `wanted` is true, and the functions and lanes that they have."""
        functions, functions_at = number_values(compress(self.functions_at, wanted))
        lanes, lanes_at = number_values(compress(self.lanes_at, wanted))
        return CallSpans(
            list(compress(self.numbers, wanted)),
            list(compress(self.parents, wanted)),
            list(compress(self.durations_ns, wanted)),
            list(compress(self.are_inline, wanted)),
            list(compress(self.statuses_at, wanted)),
            functions_at,
            lanes_at,
            [self.functions[place] for place in functions],
            [self.lanes[place] for place in lanes],
        )


@dataclass(frozen=True, slots=True)
class CallRange:
    """The newest calls of a query, and how many calls fit it.

    `first` and `last` are the numbers of the first and the last call of its session, or of all
    sessions; 0 if there is none.
    """

    spans: CallSpans
    total: int
    first: int
    last: int


def number_values(values: Iterable[T]) -> tuple[list[T], list[int]]:
    """Each value once, and the place of each value there."""
    known: dict[T, int] = {}
    places = [known.setdefault(value, len(known)) for value in values]
    return list(known), places


def build_spans(calls: Sequence[CallRecord]) -> CallSpans:
    """The spans of calls in the order of their numbers."""
    functions, functions_at = number_values(call.function for call in calls)
    lanes, lanes_at = number_values(_lane_of(call) for call in calls)
    return CallSpans(
        [call.number for call in calls],
        [call.parent for call in calls],
        [call.duration_ns for call in calls],
        [call.call_type == "inline" for call in calls],
        [STATUSES.index(call.status) for call in calls],
        functions_at,
        lanes_at,
        functions,
        lanes,
    )


def _lane_of(call: CallRecord) -> CallLane:
    thread = call.thread or {}
    return CallLane(call.session_id, thread.get("id"), thread.get("name"), call.task)
