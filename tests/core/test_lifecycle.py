from __future__ import annotations

import itertools

import pytest

from holdfast.core.lifecycle import (
    OPERATIONS,
    Signal,
    list_operations,
    next_state,
    require,
    try_next_state,
)
from holdfast.errors import WrongState
from holdfast.model.session_state import State

LIVE = [State.LAUNCHING, State.RUNNING, State.PAUSED, State.WAITING_FOR_INPUT]
ENDED = [State.TERMINATED, State.FAILED]
REQUESTS = [Signal.LAUNCH, Signal.ATTACH, Signal.RESTART]
REPORTS = [signal for signal in Signal if signal not in REQUESTS]


def apply_signals(*signals: Signal) -> State:
    state = State.CREATED
    for signal in signals:
        state = next_state(state, signal)
    return state


def test_a_program_is_launched_stopped_resumed_and_ends() -> None:
    assert apply_signals(Signal.LAUNCH) is State.LAUNCHING
    assert apply_signals(Signal.LAUNCH, Signal.STARTED) is State.RUNNING
    assert apply_signals(Signal.LAUNCH, Signal.STARTED, Signal.STOPPED) is State.PAUSED
    held = (Signal.LAUNCH, Signal.STARTED, Signal.STOPPED)
    assert apply_signals(*held, Signal.RESUMED) is State.RUNNING
    assert apply_signals(*held, Signal.RESUMED, Signal.EXITED) is State.TERMINATED


def test_a_refused_launch_leaves_the_session_created_and_can_be_tried_again() -> None:
    assert apply_signals(Signal.LAUNCH, Signal.LAUNCH_REFUSED) is State.CREATED
    assert apply_signals(Signal.LAUNCH, Signal.LAUNCH_REFUSED, Signal.LAUNCH) is State.LAUNCHING


def test_input_that_is_given_lets_the_program_run_on() -> None:
    waiting = (Signal.ATTACH, Signal.STARTED, Signal.INPUT_WANTED)
    assert apply_signals(*waiting) is State.WAITING_FOR_INPUT
    assert apply_signals(*waiting, Signal.INPUT_GIVEN) is State.RUNNING


def test_a_program_stops_or_reads_only_after_it_has_started() -> None:
    assert try_next_state(State.LAUNCHING, Signal.STOPPED) is None
    assert try_next_state(State.LAUNCHING, Signal.INPUT_WANTED) is None
    assert try_next_state(State.LAUNCHING, Signal.INPUT_GIVEN) is State.LAUNCHING


@pytest.mark.parametrize("state", LIVE)
def test_every_live_state_can_end_in_every_way(state: State) -> None:
    assert next_state(state, Signal.EXITED) is State.TERMINATED
    assert next_state(state, Signal.DETACHED) is State.TERMINATED
    assert next_state(state, Signal.FAILED) is State.FAILED


@pytest.mark.parametrize("state", LIVE + ENDED)
def test_everything_that_was_launched_can_be_restarted(state: State) -> None:
    assert next_state(state, Signal.RESTART) is State.LAUNCHING
    assert "restart" in list_operations(state)


def test_an_illegal_signal_says_the_state_and_what_is_possible() -> None:
    with pytest.raises(WrongState, match="cannot launch: the session is running") as caught:
        next_state(State.RUNNING, Signal.LAUNCH)
    assert caught.value.details["state"] == "running"
    assert caught.value.details["possible"] == list_operations(State.RUNNING)


@pytest.mark.parametrize(("state", "signal"), [*itertools.product(ENDED, REPORTS)])
def test_what_is_reported_after_the_end_is_ignored(state: State, signal: Signal) -> None:
    assert try_next_state(state, signal) is None


@pytest.mark.parametrize("state", ENDED)
@pytest.mark.parametrize("signal", REQUESTS)
def test_after_the_end_a_session_may_be_given_a_program_again(state: State, signal: Signal) -> None:
    assert try_next_state(state, signal) is State.LAUNCHING
    assert signal.value in list_operations(state)


@pytest.mark.parametrize("state", LIVE)
def test_a_request_at_the_wrong_time_is_refused_with_an_error(state: State) -> None:
    with pytest.raises(WrongState):
        try_next_state(state, Signal.LAUNCH)


@pytest.mark.parametrize(("state", "signal"), [*itertools.product(State, Signal)])
def test_absorbing_agrees_with_the_table_wherever_the_table_speaks(
    state: State, signal: Signal
) -> None:
    try:
        expected: State | None = next_state(state, signal)
    except WrongState:
        expected = None
    if expected is not None:
        assert try_next_state(state, signal) is expected


def test_the_operations_are_those_of_the_rest_vocabulary() -> None:
    assert {
        *("launch", "attach", "continue", "pause", "step-over", "step-into", "step-out"),
        *("evaluate", "terminate", "restart", "detach", "input", "delete"),
    } == OPERATIONS


@pytest.mark.parametrize("state", State)
def test_a_session_can_always_be_deleted(state: State) -> None:
    require(state, "delete")


@pytest.mark.parametrize(("state", "operation"), [*itertools.product(State, sorted(OPERATIONS))])
def test_an_operation_is_refused_exactly_when_it_is_not_listed(
    state: State, operation: str
) -> None:
    if operation in list_operations(state):
        require(state, operation)
        return
    with pytest.raises(WrongState) as caught:
        require(state, operation)
    assert caught.value.message == f"cannot {operation}: the session is {state.value}"
    assert caught.value.details == {"state": state.value, "possible": list_operations(state)}
    assert caught.value.hint


def test_stepping_a_running_session_says_how_to_get_it_held() -> None:
    with pytest.raises(WrongState, match="cannot step-over: the session is running") as caught:
        require(State.RUNNING, "step-over")
    assert caught.value.hint == "Pause it first, or wait for a stop with GET /status?wait=true."


def test_a_hint_never_advises_what_makes_no_sense() -> None:
    for state, operation, advice in [
        (State.RUNNING, "launch", "POST /restart"),
        (State.RUNNING, "continue", "wait for a stop"),
        (State.CREATED, "terminate", "DELETE"),
        (State.CREATED, "continue", "POST /launch"),
        (State.TERMINATED, "continue", "POST /restart"),
    ]:
        with pytest.raises(WrongState) as caught:
            require(state, operation)
        assert advice in caught.value.hint


def test_what_is_possible_is_a_list_of_ones_own() -> None:
    list_operations(State.CREATED).clear()
    assert list_operations(State.CREATED) == ["launch", "attach", "delete"]


def test_an_operation_that_does_not_exist_is_our_own_mistake() -> None:
    with pytest.raises(ValueError, match="no such operation"):
        require(State.PAUSED, "step_over")
