"""The depths of calls in a chart."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.call_layout import find_depths
from holdfast.model.call_span import CallLane, CallSpans

MICROSECOND = 1000


def build_spans(*calls: tuple[int, int | None, int | None, int]) -> CallSpans:
    """Calls: start and duration in milliseconds, the start of the parent, and the lane."""
    numbers = [start * 10**6 for start, _duration, _parent, _lane in calls]
    lanes = max((lane for _, _, _, lane in calls), default=-1) + 1
    return CallSpans(
        numbers,
        [None if parent is None else parent * 10**6 for _, _, parent, _ in calls],
        [None if duration is None else duration * 10**6 for _, duration, _, _ in calls],
        *([0] * len(calls), [0] * len(calls), [0] * len(calls)),
        [lane for _, _, _, lane in calls],
        [],
        [CallLane("calls_0000000a", lane, None, None) for lane in range(lanes)],
    )


def test_a_call_is_below_its_parent() -> None:
    calls = build_spans((1, 9, None, 0), (2, 3, 1, 0), (3, 1, 2, 0), (6, 2, 1, 0), (20, 1, None, 0))
    assert find_depths(calls) == [0, 1, 2, 1, 0]


def test_a_call_whose_parent_is_elsewhere_begins_at_the_top_of_its_lane() -> None:
    calls = build_spans((2, 9, 1, 0), (3, 2, 2, 1), (4, 1, 3, 1))
    assert find_depths(calls) == [0, 0, 1]


def test_a_call_within_one_that_is_not_its_parent_goes_deeper() -> None:
    calls = build_spans((1, 9, None, 0), (2, 3, None, 0), (3, 9, None, 0), (6, 1, None, 0))
    assert find_depths(calls) == [0, 1, 2, 1]


def test_what_still_runs_keeps_its_place() -> None:
    calls = build_spans((1, None, None, 0), (2, 1, 1, 0), (900, 1, None, 0))
    assert find_depths(calls) == [0, 1, 1]


def test_a_call_may_follow_within_the_same_microsecond() -> None:
    spans = build_spans((1, 1, None, 0), (2, 1, None, 0))
    close = CallSpans(
        [spans.numbers[0], spans.numbers[1] - MICROSECOND],
        *(spans.parents, spans.durations_ns, spans.are_inline, spans.statuses_at),
        *(spans.functions_at, spans.lanes_at, spans.functions, spans.lanes),
    )
    assert find_depths(close) == [0, 0]


@given(
    st.lists(
        st.tuples(
            st.integers(0, 50),
            st.none() | st.integers(0, 20),
            st.none() | st.integers(0, 50),
            st.integers(0, 2),
        ),
        max_size=40,
        unique_by=lambda call: call[0],
    )
)
def test_no_two_calls_of_a_lane_overlap_at_one_depth(
    calls: list[tuple[int, int | None, int | None, int]],
) -> None:
    calls.sort()
    taken: dict[tuple[int, int], float] = {}
    for (start, duration, _parent, lane), depth in zip(
        calls, find_depths(build_spans(*calls)), strict=True
    ):
        assert taken.get((lane, depth), 0) <= start
        taken[lane, depth] = float("inf") if duration is None else start + duration


@given(
    st.lists(st.tuples(st.none() | st.integers(0, 400), st.integers(-1, 90)), max_size=300),
    st.integers(0, 200),
)
def test_many_that_overlap_are_each_put_into_the_first_free_row(
    calls: list[tuple[int | None, int]], waiting: int
) -> None:
    """The same as looking at every row in turn, which takes long."""
    lengths = [None] * waiting + [duration for duration, _parent in calls]
    parents = [None] * waiting + [None if parent < 0 else parent for _duration, parent in calls]
    spans = build_spans(
        *((start, length, parents[start], 0) for start, length in enumerate(lengths))
    )
    rows: list[float] = []
    depths: dict[int | None, int] = {}
    for start, length in enumerate(lengths):
        depth = depths.get(parents[start], -1) + 1
        while depth < len(rows) and rows[depth] > start:
            depth += 1
        rows[depth:] = [float("inf") if length is None else start + length, *rows[depth + 1 :]]
        depths[start] = depth
    assert find_depths(spans) == [depths[start] for start in range(len(lengths))]
