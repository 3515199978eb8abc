"""Arranges calls for a chart: which depth each one has in its lane, so that no two overlap.

A lane is a thread, or an asyncio task in it. It makes one call at a time, so there calls nest, and
the depth of a call is that of its parent and one more. A call whose parent is not shown, or is in
another lane, begins at depth 0. Where two calls overlap all the same (tasks may have one name), the
later one goes deeper.
"""

from __future__ import annotations

from holdfast.model.call_span import CallSpans

# A call begins up to two microseconds after the time in its number.
_TOLERANCE_NS = 2000
_NEVER = 2**63


def find_depths(calls: CallSpans) -> list[int]:
    """The depth of each call. The number of a call is its time in nanoseconds."""
    depths: list[int] = []
    by_lane: list[tuple[dict[int | None, int], list[int]]] = [({}, []) for _lane in calls.lanes]
    columns = zip(calls.numbers, calls.parents, calls.durations_ns, calls.lanes_at, strict=True)
    for number, parent, duration, lane in columns:
        known, ends = by_lane[lane]
        depth = known.get(parent, -1) + 1
        start = number + _TOLERANCE_NS
        while depth < len(ends) and ends[depth] > start:
            depth += 1
        end = _NEVER if duration is None else number + duration
        if depth < len(ends):
            ends[depth] = end
        else:
            ends.append(end)
        known[number] = depth
        depths.append(depth)
    return depths
