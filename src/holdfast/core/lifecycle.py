"""The states of a session, and what leads from one to the next.

    created ──LAUNCH/ATTACH──▶ launching ──STARTED──▶ running ◀──RESUMED── paused
       ▲                        │  ▲                   │ ▲ └────STOPPED──────▲
       └────LAUNCH_REFUSED──────┘  │        INPUT_WANTED │ INPUT_GIVEN       │
                                   │                   ▼ │                   │
                                   │        waiting_for_input ───STOPPED─────┘
                                   │
       any of these ──EXITED/DETACHED──▶ terminated ──┐
                    ──FAILED──▶ failed ───────────────┴──RESTART/LAUNCH──▶ launching

`_NEXT` has the transitions, `_POSSIBLE` the operations that a user may ask for in each state.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType

from holdfast.errors import WrongState
from holdfast.model.decision import Moment, names_at
from holdfast.model.session_state import State


class Origin(Enum):
    """How a session got its program, which decides how it can get one again."""

    LAUNCH = "launched, or not started yet"
    ATTACH = "attached to"
    DETACHED = "let go"
    CHILD = "started by the program of another session"


class Signal(Enum):
    """What changes the state of a session: a request, or an event of its target."""

    LAUNCH = "launch"
    ATTACH = "attach"
    RESTART = "restart"
    LAUNCH_REFUSED = "launch_refused"
    STARTED = "started"
    STOPPED = "stopped"
    RESUMED = "resumed"
    INPUT_WANTED = "input_wanted"
    INPUT_GIVEN = "input_given"
    EXITED = "exited"
    FAILED = "failed"
    DETACHED = "detached"


_REQUESTS = frozenset({Signal.LAUNCH, Signal.ATTACH, Signal.RESTART})

_ENDS: Mapping[Signal, State] = {
    Signal.EXITED: State.TERMINATED,
    Signal.DETACHED: State.TERMINATED,
    Signal.FAILED: State.FAILED,
}

_AGAIN: Mapping[Signal, State] = {
    Signal.LAUNCH: State.LAUNCHING,
    Signal.ATTACH: State.LAUNCHING,
    Signal.RESTART: State.LAUNCHING,
}

_NEXT: Mapping[State, Mapping[Signal, State]] = {
    State.CREATED: {
        Signal.LAUNCH: State.LAUNCHING,
        Signal.ATTACH: State.LAUNCHING,
        # An idle session that never launched still times out.
        Signal.EXITED: State.TERMINATED,
        Signal.FAILED: State.FAILED,
    },
    State.LAUNCHING: {
        Signal.LAUNCH_REFUSED: State.CREATED,
        Signal.STARTED: State.RUNNING,
        # Input may be given before the program has started. It waits in the pipe.
        Signal.INPUT_GIVEN: State.LAUNCHING,
        Signal.RESTART: State.LAUNCHING,
        **_ENDS,
    },
    State.RUNNING: {
        Signal.STOPPED: State.PAUSED,
        # Threads resume one by one.
        Signal.RESUMED: State.RUNNING,
        Signal.INPUT_WANTED: State.WAITING_FOR_INPUT,
        # Input may be given before the program reads it. It waits in the pipe.
        Signal.INPUT_GIVEN: State.RUNNING,
        Signal.RESTART: State.LAUNCHING,
        **_ENDS,
    },
    State.PAUSED: {
        # A second thread stops.
        Signal.STOPPED: State.PAUSED,
        Signal.RESUMED: State.RUNNING,
        # Another thread reads stdin. The stop is what the user has to act on.
        Signal.INPUT_WANTED: State.PAUSED,
        Signal.INPUT_GIVEN: State.PAUSED,
        Signal.RESTART: State.LAUNCHING,
        **_ENDS,
    },
    State.WAITING_FOR_INPUT: {
        Signal.STOPPED: State.PAUSED,
        Signal.RESUMED: State.WAITING_FOR_INPUT,
        Signal.INPUT_WANTED: State.WAITING_FOR_INPUT,
        Signal.INPUT_GIVEN: State.RUNNING,
        Signal.RESTART: State.LAUNCHING,
        **_ENDS,
    },
    State.TERMINATED: _AGAIN,
    State.FAILED: _AGAIN,
}

_POSSIBLE: Mapping[State, tuple[str, ...]] = MappingProxyType(
    {
        State.CREATED: ("launch", "attach", "delete"),
        State.LAUNCHING: ("terminate", "restart", "input", "delete"),
        State.RUNNING: ("pause", "terminate", "restart", "detach", "input", "delete"),
        State.PAUSED: (
            *(*names_at(Moment.STOP), "evaluate"),
            *("terminate", "restart", "detach", "input", "delete"),
        ),
        State.WAITING_FOR_INPUT: ("input", "pause", "terminate", "restart", "detach", "delete"),
        State.TERMINATED: ("launch", "attach", "restart", "delete"),
        State.FAILED: ("launch", "attach", "restart", "delete"),
    }
)

OPERATIONS = frozenset(name for names in _POSSIBLE.values() for name in names)

_HINTS: Mapping[State, str] = {
    State.CREATED: "Launch a program first with POST /launch, or attach to one with POST /attach.",
    State.LAUNCHING: "It is starting. Wait for it with GET /status?wait=true.",
    State.RUNNING: "Pause it first, or wait for a stop with GET /status?wait=true.",
    State.PAUSED: "It is already paused: continue, step or evaluate.",
    State.WAITING_FOR_INPUT: "It reads its stdin. Write to it with POST /input, or pause it.",
    State.TERMINATED: "It has ended. Run it again with POST /restart, or create a new session.",
    State.FAILED: "GET /output may say why. POST /restart runs it again.",
}

_HINTS_AFTER_END: Mapping[Origin, str] = {
    Origin.ATTACH: "It cannot be run again from here: attach with POST /attach, or POST /launch.",
    Origin.DETACHED: "It was let go, and may still run: POST /attach with its pid takes it back.",
    Origin.CHILD: "It was a child process: restart the session of its parent, `parent_id`.",
}
_ENDED = frozenset({State.TERMINATED, State.FAILED})
_LIVE = frozenset({State.LAUNCHING, State.RUNNING, State.PAUSED, State.WAITING_FOR_INPUT})

_BUSY = frozenset({State.LAUNCHING, State.RUNNING})
_SETTLED = frozenset(State) - _BUSY


def is_busy(state: State) -> bool:
    """Whether the target starts or runs, so that the state may change by itself."""
    return state in _BUSY


def is_settled(state: State) -> bool:
    """Whether the state stays as it is until somebody acts: never launched, paused, ended…"""
    return state in _SETTLED


def next_state(state: State, signal: Signal) -> State:
    """The state after `signal`. Raises WrongState if it is not possible in `state`."""
    try:
        return _NEXT[state][signal]
    except KeyError:
        raise _refuse(state, signal.value) from None


def try_next_state(state: State, signal: Signal) -> State | None:
    """As `next_state`, but None for an event of the target that comes too late.

    A process may die at any moment, so a stop may be reported after its end. A request that is not
    possible still raises WrongState. Events of the run before a restart look like those of the run
    after it, so the caller must stop listening to the old run first.
    """
    if signal in _REQUESTS:
        return next_state(state, signal)
    return _NEXT[state].get(signal)


def list_operations(state: State, origin: Origin = Origin.LAUNCH) -> list[str]:
    """The operations that a user may ask for in `state`. Only what was launched is restarted."""
    can_restart = origin in (Origin.LAUNCH, Origin.DETACHED)
    return [name for name in _POSSIBLE[state] if can_restart or name != "restart"]


def require(state: State, operation: str, origin: Origin = Origin.LAUNCH) -> None:
    """Raise WrongState unless `operation` is possible in `state`."""
    if operation not in OPERATIONS:
        raise ValueError(f"no such operation: {operation}")
    if operation not in _POSSIBLE[state]:
        raise _refuse(state, operation, origin)


def wrong_state(state: State, message: str, origin: Origin = Origin.LAUNCH) -> WrongState:
    """The error for something that is not possible in `state` and is not one of the operations."""
    return WrongState(
        f"{message}: the session is {state.value}",
        hint=_choose_hint(state, "", origin),
        state=state.value,
        possible=list_operations(state, origin),
    )


def _refuse(state: State, operation: str, origin: Origin = Origin.LAUNCH) -> WrongState:
    return WrongState(
        f"cannot {operation}: the session is {state.value}",
        hint=_choose_hint(state, operation, origin),
        state=state.value,
        possible=list_operations(state, origin),
    )


def _choose_hint(state: State, operation: str, origin: Origin) -> str:
    if state in _ENDED and origin in _HINTS_AFTER_END:
        return _HINTS_AFTER_END[origin]
    if operation in ("launch", "attach") and state in _LIVE:
        if origin is Origin.LAUNCH:
            return "It has a target. POST /restart starts it again, POST /sessions creates another."
        return "It has a target. POST /detach lets it go, POST /sessions creates another session."
    if operation == "continue" and state is State.RUNNING:
        return "It is already running: wait for a stop with GET /status?wait=true."
    if operation == "terminate" and state is State.CREATED:
        return "Nothing was launched. DELETE removes the session."
    return _HINTS[state]
