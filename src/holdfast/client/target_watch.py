"""Compares the target of a call with what is recorded of it, as often as that is worth its time.

Comparing is exact and takes as long as pickling. A target for which that is quick is compared
before and after every call. Any other one is compared for some calls only, so that comparing takes
a twentieth of the time; the other calls refer to the latest snapshot and say how old it is.
docs/decisions/0018-large-targets.md says why there is no cheaper way that is exact.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from holdfast.client.snapshots import Snapshot, Snapshots, build_uncaptured, is_definition

if TYPE_CHECKING:  # the switch has a recorder, which has this
    from holdfast.client.invocation import Invocation

_SMALL_BYTES = 16 << 10  # a target that takes no more is compared for every call,
_QUICK_NS = 2_000_000  # and one for which comparing takes no longer
_SHARE = 20  # of the time, that comparing may take
_NS_PER_BYTE = 20  # that sending and storing a changed target takes, roughly

_now = time.monotonic_ns
_spent = time.thread_time_ns  # other threads and processes do not make a target slow


class TargetWatch:
    def __init__(self, snapshots: Snapshots, capture: bool | str) -> None:
        self._snapshots = snapshots
        self.capture = capture  # as configured

    def take_first(self, target: Any, capture: bool | str | None, lenient: bool | None) -> Snapshot:
        """An object that is wrapped, or a function that is called for the first time."""
        if not self.is_captured(capture) and not is_definition(target):
            return build_uncaptured(target, None)
        began = _spent()
        snapshot = self._snapshots.take(target, lenient=lenient)
        _plan_comparison(snapshot, began, True)
        return snapshot

    def is_captured(self, capture: bool | str | None) -> bool | str:
        return self.capture if capture is None else capture

    def take(self, invocation: Invocation) -> tuple[Snapshot, int | None]:
        """The target before the call, and its age if it was not compared for this call."""
        capture = self.is_captured(invocation.capture_target)
        before, target = invocation.last_snapshot(), invocation.target
        if before is not None and capture and self._is_settled(before):
            return before, None
        if not capture and not is_definition(target):
            return build_uncaptured(target, before), None
        if before is not None and before.compare_at and capture != "always":
            now = _now()
            if now < before.compare_at and self._snapshots.fits_limit(before):
                return before, max(0, now - before.compared_at)
        began = _spent()
        snapshot = self._snapshots.take_current(before, target, invocation.lenient)
        _plan_comparison(snapshot, began, snapshot is not before)
        return snapshot, None

    def _is_settled(self, snapshot: Snapshot) -> bool:
        """Whether nothing can change the target, nor what is to be recorded of it."""
        return snapshot.fixed and snapshot.marker is None and self._snapshots.fits_limit(snapshot)

    def retake(self, before: Snapshot, invocation: Invocation) -> Snapshot | None:
        """The target after the call if that changed it. It was compared before the call, too."""
        if before.fixed:
            return None
        owed = max(0, before.compare_at - before.compared_at)  # for the comparison before the call
        began = _spent()
        after = self._snapshots.retake(before, invocation.target)
        _plan_comparison(before if after is None else after, began, after is not None, owed)
        return after


def _plan_comparison(snapshot: Snapshot, began: int, is_new: bool, owed: int = 0) -> None:
    """Decide when the target is compared next, by what this took."""
    size = max(len(snapshot.data), snapshot.limit)  # of one that is too large, more than the limit
    if size <= _SMALL_BYTES:
        snapshot.compare_at = 0
        return
    took = _spent() - began + (len(snapshot.data) * _NS_PER_BYTE if is_new else 0)
    pause = owed + (_SHARE * took if took > _QUICK_NS else 0)
    snapshot.compared_at = _now()
    snapshot.compare_at = snapshot.compared_at + pause if pause else 0
