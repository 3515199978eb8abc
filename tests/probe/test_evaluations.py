"""Evaluations that take too long are interrupted, by their numbers."""

from __future__ import annotations

import signal
from collections.abc import Callable

import pytest

from holdfast.probe import bounded_calls, frames, request_handlers
from holdfast.probe.evaluation import EVALUATIONS, Interrupted, _Evaluations
from holdfast.probe.pydevd_access import RequestFailed


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


def test_a_ctrl_c_while_the_handler_is_put_back_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    evaluations, before = _Evaluations(), signal.getsignal(signal.SIGINT)
    remove, arriving = evaluations._remove, [None, Interrupted]

    def remove_late(number: int) -> None:
        if arriving and (error := arriving.pop(0)):
            raise error
        remove(number)

    monkeypatch.setattr(evaluations, "_remove", remove_late)
    assert evaluations.call(1, lambda: "value") == "value"
    assert arriving == []
    assert signal.getsignal(signal.SIGINT) is before


def test_two_debuggers_count_from_one_and_do_not_meet() -> None:
    """The evaluation of a server that has left may still run when the next one comes."""
    first, second = object(), object()
    for debugger in (first, second):
        request_handlers._announce(debugger, {"number": 1})
    EVALUATIONS.call(request_handlers._identify(first, {"number": 1}), lambda: "value")
    assert request_handlers._interrupt(second, {"number": 1}) == {"interrupted": True}
    assert request_handlers._interrupt(first, {"number": 1}) == {"interrupted": False}


def test_an_expression_for_which_no_thread_is_to_be_had_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def start(_work: object) -> None:
        raise bounded_calls.CallFailed("RuntimeError: can't start new thread")

    monkeypatch.setattr(bounded_calls, "start", start)
    monkeypatch.setattr(request_handlers, "thread_id_of", str)
    monkeypatch.setattr(frames, "is_suspended", lambda _db, _thread: False)
    replies, debugger = list[Callable[[], object]](), object()
    request = {"thread": 1, "mark": 1, "number": 1, "expression": "1"}
    request_handlers._evaluate(debugger, request, replies.append)
    with pytest.raises(RequestFailed, match="can't start new thread"):
        replies[0]()
    assert request_handlers._interrupt(debugger, request) == {"interrupted": False}
