"""Finds where two values differ, by path.

The values may be live objects, JSON, or views of pickles that nobody loads. A `ValueInspector`
says how its kind of value is compared and taken apart. Needs the standard library only, because it
runs in users' applications too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol


class Verdict(Enum):
    """What a look at two values tells, without a look at their parts."""

    SAME = "same"
    DIFFERENT = "different"
    COMPARE_PARTS = "compare parts"
    """They differ if any of their parts do."""
    FIND_PART = "find part"
    """They differ; if no part is found that does, they differ as a whole."""


class Change(str, Enum):
    CHANGED = "changed"
    ADDED = "added"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Difference:
    """A place at which two values differ. `left` means nothing if it was added, `right` if it was
    removed."""

    path: str
    change: Change
    left: Any = None
    right: Any = None


Part = tuple[str, Any]
"""The step that leads to a part, such as `[0]` or `.name`, and the part."""


class ValueInspector(Protocol):
    """How one kind of values is compared and taken apart."""

    def judge(self, left: Any, right: Any) -> Verdict: ...

    def parts(self, value: Any) -> Mapping[Any, Part]:
        """The parts, by what two values have in common when they both have a part."""
        ...

    def members(self, value: Any) -> Mapping[str, Any] | None:
        """The members of a set, by a text that is equal for equal ones; None for other values."""
        ...

    def looks_same(self, left: Any, right: Any) -> bool:
        """Stands in for a comparison of values that are nested too deeply."""
        ...


class ValueDiffer:
    """Compares two values. Stops after `max_differences`, and does not look below `max_depth`.

    `reports_shared_once`: two parts that meet at several paths are compared at the first only.
    """

    def __init__(
        self,
        inspector: ValueInspector,
        max_differences: int,
        max_depth: int | None = None,
        *,
        reports_shared_once: bool = False,
    ) -> None:
        self._inspector = inspector
        self._max_differences = max_differences
        self._max_depth = max_depth
        self._reports_shared_once = reports_shared_once
        self.differences: list[Difference] = []
        # The values are kept with their ids, so that no id comes to mean another value.
        self._compared: dict[tuple[int, int], tuple[Any, Any]] = {}

    @property
    def is_full(self) -> bool:
        """Whether there may be more differences."""
        return len(self.differences) >= self._max_differences

    def compare(self, left: Any, right: Any, path: str = "", depth: int = 0) -> None:
        pair = (id(left), id(right))
        if left is right or pair in self._compared or self.is_full:
            return
        verdict = self._inspector.judge(left, right)
        if verdict is Verdict.SAME:
            return
        if verdict is Verdict.DIFFERENT:
            self._add(Difference(path, Change.CHANGED, left, right))
            return
        if depth == self._max_depth:
            if not self._inspector.looks_same(left, right):
                self._add(Difference(path, Change.CHANGED, left, right))
            return
        self._compared[pair] = (left, right)
        before = len(self.differences)
        self._compare_inside(left, right, path, depth + 1)
        is_same = len(self.differences) == before
        if is_same and verdict is Verdict.FIND_PART:
            self._add(Difference(path, Change.CHANGED, left, right))
        if not (is_same or self._reports_shared_once):
            del self._compared[pair]

    def _compare_inside(self, left: Any, right: Any, path: str, depth: int) -> None:
        members = self._inspector.members(left)
        others = self._inspector.members(right)
        if members is not None and others is not None:
            for text in sorted(members.keys() - others.keys()):
                self._add(Difference(path, Change.REMOVED, left=members[text]))
            for text in sorted(others.keys() - members.keys()):
                self._add(Difference(path, Change.ADDED, right=others[text]))
            return
        parts, other_parts = self._inspector.parts(left), self._inspector.parts(right)
        for key, (step, part) in parts.items():
            if key in other_parts:
                self.compare(part, other_parts[key][1], path + step, depth)
            else:
                self._add(Difference(path + step, Change.REMOVED, left=part))
        for key, (step, part) in other_parts.items():
            if key not in parts:
                self._add(Difference(path + step, Change.ADDED, right=part))

    def _add(self, difference: Difference) -> None:
        if not self.is_full:
            self.differences.append(difference)
