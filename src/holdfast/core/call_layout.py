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
_NO_ROW = 2**64
_FEW = 32


def find_depths(calls: CallSpans) -> list[int]:
    """The depth of each call. The number of a call is its time in nanoseconds."""
    depths: list[int] = []
    by_lane: list[tuple[dict[int | None, int], _Rows]] = [({}, _Rows()) for _lane in calls.lanes]
    columns = zip(calls.numbers, calls.parents, calls.durations_ns, calls.lanes_at, strict=True)
    for number, parent, duration, lane in columns:
        known, rows = by_lane[lane]
        depth = rows.find_free(known.get(parent, -1) + 1, number + _TOLERANCE_NS)
        rows.occupy(depth, _NEVER if duration is None else number + duration)
        known[number] = depth
        depths.append(depth)
    return depths


class _Rows:
    """When each row of a lane is free again.

    A lane has few rows, unless many calls overlap in it. The first few are looked at in turn. For
    more there is a tree of minima: the parent of `_tree[i]` is `_tree[i // 2]`, the rows are its
    leaves, from `_size` on.
    """

    def __init__(self) -> None:
        self._ends: list[int] = []
        self._size = _FEW
        self._tree: list[int] = []

    def find_free(self, first: int, time: int) -> int:
        """The first row from `first` on that is free at this time; a new one if none is."""
        ends = self._ends
        for row in range(first, min(first + _FEW, len(ends))):
            if ends[row] <= time:
                return row
        return len(ends) if first + _FEW >= len(ends) else self._search(first + _FEW, time)

    def _search(self, first: int, time: int) -> int:
        tree, at = self._tree, self._size + first
        while tree[at] > time:
            while at % 2:  # the right one of its parent
                at //= 2
            if at == 0:
                return len(self._ends)
            at += 1
        while at < self._size:
            at *= 2
            at += tree[at] > time
        return at - self._size

    def occupy(self, row: int, end: int) -> None:
        if row == len(self._ends):
            self._ends.append(end)
        self._ends[row] = end
        if len(self._ends) <= _FEW:
            return
        if row == self._size or not self._tree:
            self._grow()
        at = self._size + row
        self._tree[at] = end
        while at > 1:
            at //= 2
            self._tree[at] = min(self._tree[2 * at], self._tree[2 * at + 1])

    def _grow(self) -> None:
        self._size *= 2
        leaves = self._ends + [_NO_ROW] * (self._size - len(self._ends))
        self._tree = [_NO_ROW] * self._size + leaves
        for at in range(self._size - 1, 0, -1):
            self._tree[at] = min(self._tree[2 * at], self._tree[2 * at + 1])
