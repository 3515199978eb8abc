"""Calls into the program's code: in one helper thread, for a bounded time."""

from __future__ import annotations

import contextvars
import os
import threading
from collections.abc import Callable
from typing import Any

import pytest

from holdfast.probe import bounded_calls, variables
from holdfast.probe.variables import Handles


def make_preview(value: Any) -> dict[str, Any]:
    return variables.describe(value, "v", Handles(), 1)


def make_stuck_type() -> tuple[type, threading.Event, list[int]]:
    """A class whose repr waits until the event is set, and how often it was tried."""
    release, tried = threading.Event(), list[int]()

    class Stuck:
        def __repr__(self) -> str:
            tried.append(1)
            release.wait()
            return "late"

    return Stuck, release, tried


def test_calls_share_one_helper_thread_that_the_debugger_ignores() -> None:
    first = bounded_calls.call(threading.current_thread, 60)
    second = bounded_calls.call(threading.current_thread, 60)
    assert first is second
    assert first is not threading.current_thread()
    assert first.daemon
    assert (first.is_pydev_daemon_thread, first.pydev_do_not_trace) == (True, True)


def test_the_caller_s_context_is_seen_but_not_changed() -> None:
    setting = contextvars.ContextVar("setting", default="default")
    setting.set("the caller's")

    def look() -> str:
        seen = setting.get()
        setting.set("changed")
        return seen

    assert bounded_calls.call(look, 60) == "the caller's"
    assert setting.get() == "the caller's"


def test_a_call_that_raises_is_a_failure_and_the_helper_lives_on() -> None:
    def fail() -> None:
        raise KeyboardInterrupt

    helper = bounded_calls.call(threading.current_thread, 60)
    with pytest.raises(bounded_calls.CallFailed, match="KeyboardInterrupt"):
        bounded_calls.call(fail, 60)
    assert bounded_calls.call(threading.current_thread, 60) is helper


def test_a_late_call_is_abandoned_and_its_thread_ends_when_it_can() -> None:
    release = threading.Event()
    held: list[threading.Thread] = []

    def wait() -> None:
        held.append(threading.current_thread())
        release.wait()

    while not held:  # it may be over before its thread has begun
        with pytest.raises(bounded_calls.CallTimedOut):
            bounded_calls.call(wait, 0.2)
    assert bounded_calls.call(threading.current_thread, 60) is not held[0]
    release.set()
    held[0].join(60)
    assert not held[0].is_alive()


def test_a_call_that_is_over_before_it_begins_never_runs() -> None:
    ran: list[int] = []
    helper = bounded_calls._Helper()
    helper.start_job(bounded_calls._Job(lambda: ran.append(1)))
    helper.retire()
    helper.start()
    helper.join(60)
    assert (helper.is_alive(), ran) == (False, [])


def test_calls_at_once_do_not_wait_for_each_other() -> None:
    meet = threading.Barrier(2, timeout=60)
    answers: list[int] = []
    threads = [
        threading.Thread(target=lambda: answers.append(bounded_calls.call(meet.wait, 60)))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [0, 1]


class NeverReturns(BaseException):
    """Raised by what would never return, where calls take no time."""


@pytest.fixture
def no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each call takes no time, or all that it is given."""

    def call(fn: Callable[[], Any], seconds: float) -> Any:
        try:
            return fn()
        except NeverReturns:
            raise bounded_calls.CallTimedOut(seconds) from None

    monkeypatch.setattr(bounded_calls, "call", call)
    monkeypatch.setattr(bounded_calls, "monotonic", lambda: 0.0)


def never_return() -> None:
    raise NeverReturns


@pytest.mark.usefixtures("no_time")
def test_calls_of_one_class_spend_one_share_together() -> None:
    budget = bounded_calls.Budget(0.2)
    assert budget.call(lambda: 3) == 3
    with pytest.raises(bounded_calls.CallTimedOut):
        budget.call(never_return)
    with pytest.raises(bounded_calls.BudgetSpent):
        budget.call(lambda: 3)


def test_a_slow_repr_is_given_up_and_its_type_not_tried_again(limits: Callable[..., None]) -> None:
    limits(value_call=1)
    stuck, release, tried = make_stuck_type()
    item = make_preview(stuck())
    assert item["value"] == "<Stuck object: repr took too long>"
    assert item["truncated"] is True
    tries = len(tried)
    assert make_preview([stuck(), stuck()])["value"] == "[%s, %s]" % ((item["value"],) * 2)
    assert len(tried) == tries
    release.set()


@pytest.mark.usefixtures("no_time")
def test_slow_neighbours_do_not_take_the_time_of_the_healthy() -> None:
    tried: list[str] = []

    def make_type(name: str, show: Callable[[], object]) -> type:
        def tell(_self: object) -> str:
            tried.append(name)
            show()
            return "healthy"

        return type(name, (), {"__repr__": tell})

    values = [make_type(f"Stuck{number}", never_return)() for number in range(3)]
    healthy = make_type("Healthy", lambda: None)()
    text = make_preview([*values, healthy, values[0]])["value"]
    late = [f"<Stuck{number} object: repr took too long>" for number in range(3)]
    assert text == f"[{', '.join(late)}, healthy, {late[0]}]"
    assert tried == ["Stuck0", "Stuck1", "Stuck2", "Healthy"]


@pytest.mark.usefixtures("no_time")
def test_each_late_class_leaves_less_to_the_next_and_all_of_them_a_bounded_time() -> None:
    budget = bounded_calls.Budget(0.2)
    waited: list[float] = []
    spent = 0
    for number in range(100):
        try:
            budget.call(never_return, type(f"Owner{number}", (), {}))
        except bounded_calls.CallTimedOut as late:
            waited.append(late.seconds)
        except bounded_calls.BudgetSpent:
            spent += 1
    assert waited[:3] == [0.2, 0.1, 0.05]
    # All of three shares, but for what is too little for one more call.
    assert 0.58 <= sum(waited) <= 0.6000001
    assert spent == 100 - len(waited)


def test_a_class_whose_reprs_are_many_and_slow_spends_its_own_share_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0.0

    def be_slow() -> None:
        nonlocal now
        now += 3

    monkeypatch.setattr(bounded_calls, "monotonic", lambda: now)
    budget = bounded_calls.Budget(10)
    for _ in range(4):
        budget.call(be_slow, list)
    with pytest.raises(bounded_calls.BudgetSpent):
        budget.call(be_slow, list)
    assert budget.call(lambda: "at once", dict) == "at once"


def test_a_class_that_got_too_little_time_is_tried_again(limits: Callable[..., None]) -> None:
    limits(value_call=0.5)

    class Late:
        pass

    bounded_calls.note_late(Late, 0.05)
    assert not bounded_calls.is_slow(Late)
    for _ in range(3):
        bounded_calls.note_late(Late, 0.06)
    assert bounded_calls.is_slow(Late)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_gets_a_helper_of_its_own() -> None:
    bounded_calls.start_helper()
    status = _check_in_fork(lambda: bounded_calls.call(lambda: 42, 60) == 42)
    assert status == 0


def _check_in_fork(check: Callable[[], bool]) -> int:
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if check() else 1)
        finally:
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
