"""Frame ids: which thread each belongs to, and when they end."""

from __future__ import annotations

from holdfast.service.programs.frame_ids import FrameIds, FramePlace


def test_a_thread_that_has_not_moved_keeps_its_ids() -> None:
    ids = FrameIds()
    first = ids.assign(7, 0, ["a:1", "b:2"], is_held=False)
    assert ids.assign(7, 1, ["b:2", "c:3"], is_held=False)[0] == first[1]
    assert ids.find(first[0]) == FramePlace(7, 0, "a:1")


def test_a_thread_that_has_moved_gets_new_ids_and_the_old_ones_mean_nothing() -> None:
    ids = FrameIds()
    [old] = ids.assign(7, 0, ["a:1"], is_held=False)
    [new] = ids.assign(7, 0, ["a:2"], is_held=False)
    assert ids.find(old) is None
    assert ids.find(new) == FramePlace(7, 0, "a:2")


def test_held_threads_lose_their_ids_when_they_run_and_blocked_ones_keep_them() -> None:
    ids = FrameIds()
    [held] = ids.assign(1, 0, ["a:1"], is_held=True)
    [blocked] = ids.assign(2, 0, ["b:1"], is_held=False)
    ids.forget_held()
    assert ids.find(held) is None
    assert ids.find(blocked) == FramePlace(2, 0, "b:1")
    ids.forget(2)
    assert ids.is_empty
