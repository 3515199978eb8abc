"""Evaluations that take too long are interrupted, by their numbers."""

from __future__ import annotations

import signal

import pytest

from holdfast.probe.evaluation import Interrupted, _Evaluations


def test_what_is_interrupted_before_it_begins_never_runs() -> None:
    """Its thread has to wake first, and a machine may be busy."""
    evaluations, ran = _Evaluations(), list[int]()
    for number in (1, 2):
        evaluations.announce(number)
    assert evaluations.interrupt(2)
    with pytest.raises(Interrupted):
        evaluations.call(2, lambda: ran.append(2))
    evaluations.call(1, lambda: ran.append(1))
    assert ran == [1]


def test_what_has_ended_or_was_never_requested_is_not_interrupted() -> None:
    evaluations = _Evaluations()
    evaluations.announce(1)
    assert evaluations.call(1, lambda: "value") == "value"
    assert [evaluations.interrupt(number) for number in (1, 2)] == [False, False]


def test_an_interrupt_reaches_the_one_that_is_meant() -> None:
    evaluations = _Evaluations()

    def interrupt_both() -> bool:
        assert evaluations.interrupt(2)  # which waits behind this one
        return True

    for number in (1, 2):
        evaluations.announce(number)
    assert evaluations.call(1, interrupt_both)
    with pytest.raises(Interrupted):
        evaluations.call(2, lambda: "value")


def test_an_interrupt_as_it_ends_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluations, before = _Evaluations(), signal.getsignal(signal.SIGINT)

    def be_interrupted(_number: int) -> None:
        raise Interrupted  # before a single line of it has run

    monkeypatch.setattr(evaluations, "_close", be_interrupted)
    evaluations.announce(1)
    with pytest.raises(Interrupted):
        evaluations.call(1, lambda: "value")
    assert signal.getsignal(signal.SIGINT) is before
    assert not evaluations.interrupt(1)
