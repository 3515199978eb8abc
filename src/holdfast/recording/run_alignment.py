"""Two runs side by side: every step of one beside its like in the other.

`run_comparison` says where two runs part. Here they are compared to their ends: where one has
steps that the other lacks, the steps after them stand beside each other again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest

from holdfast.recording.recording_state import seq_of
from holdfast.recording.run_comparison import (
    ComparedRun,
    Step,
    compare_steps,
    group_steps,
    leave_out_inner_steps,
    pair_steps,
)

_MAX_MATCHED = 400
"""More groups than this are not searched for their like: that takes the square of the time."""

_Groups = list[list[Step]]


@dataclass(frozen=True)
class AlignedStep:
    """A step of the left run, of the right run, or of both."""

    lane: str
    left: Step | None
    right: Step | None
    what: str | None
    """What differs: `call`, `request`, `decision` or `outcome`; None if they are the same."""
    detail: str = ""


def align_runs(
    left: ComparedRun, right: ComparedRun, check: Callable[[], None] = lambda: None
) -> list[AlignedStep]:
    """All steps, in the order of the left run. `check` raises if that is wanted no more."""
    lanes_a, lanes_b = leave_out_inner_steps(left, right), leave_out_inner_steps(right, left)
    placed: list[tuple[int, AlignedStep]] = []
    for lane in dict.fromkeys([*lanes_a, *lanes_b]):
        place = 0
        for step in _align_lane(lane, lanes_a.get(lane, []), lanes_b.get(lane, [])):
            check()
            if step.left is not None:
                place = max(place, seq_of(step.left.call.began))
            placed.append((place, step))
    return [step for _place, step in sorted(placed, key=lambda item: item[0])]


def _align_lane(lane: str, ours: list[Step], theirs: list[Step]) -> Iterator[AlignedStep]:
    for group_a, group_b in _align_groups(group_steps(ours), group_steps(theirs)):
        for one, other in pair_steps(group_a, group_b):
            found = compare_steps(one, other)
            if found is None:
                yield AlignedStep(lane, one, other, None)
            else:
                yield AlignedStep(lane, one, other, found[1], found[2])


def _align_groups(ours: _Groups, theirs: _Groups) -> Iterator[tuple[list[Step], list[Step]]]:
    names_a, names_b = list(map(_name_group, ours)), list(map(_name_group, theirs))
    same = 0
    while same < min(len(ours), len(theirs)) and names_a[same] == names_b[same]:
        yield ours[same], theirs[same]
        same += 1
    rest_a, rest_b = ours[same:], theirs[same:]
    if max(len(rest_a), len(rest_b)) > _MAX_MATCHED:
        yield from _put_beside(rest_a, rest_b)
        return
    matcher = SequenceMatcher(None, names_a[same:], names_b[same:], autojunk=False)
    for _tag, from_a, to_a, from_b, to_b in matcher.get_opcodes():
        yield from _put_beside(rest_a[from_a:to_a], rest_b[from_b:to_b])


def _put_beside(ours: _Groups, theirs: _Groups) -> Iterator[tuple[list[Step], list[Step]]]:
    """One by one as far as they are of the same kind; what is left, alone."""
    nothing: list[Step] = []
    for one, other in zip_longest(ours, theirs, fillvalue=nothing):
        if one and other and one[0].call.kind != other[0].call.kind:
            yield one, []
            yield [], other
        else:
            yield one, other


def _name_group(group: list[Step]) -> tuple[object, ...]:
    """What is called, without what it is asked for."""
    return tuple(sorted(step.key[:2] for step in group))
