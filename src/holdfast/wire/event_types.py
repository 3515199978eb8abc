"""Every type of event: when it is sent, and what its fields mean.

The docstring of a type says when it is sent. The OpenAPI document, docs/api.md, the types of the
page and the tests are made from these tables. Nobody looks at them when an event is sent.

Every event belongs to a session. Events of programs and calls have the fields of their type beside
those of `EventHead`; events of agents have them in `data`, as the recording has them. A name that
sessions of two kinds use, such as `terminated`, is in both tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from holdfast.model import agent_events
from holdfast.wire.described import about
from holdfast.wire.program_answers import BreakpointFacts, Subprocess
from holdfast.wire.session_answers import Location

if TYPE_CHECKING:
    from typing_extensions import NotRequired  # in `typing` from Python 3.11 on

Fields = type[Any]
"""A typed dict or a struct: its docstring, and its fields with a sentence each."""

# -- programs: sessions and runs ------------------------------------------------------------------


class Created(TypedDict):
    """The session was created."""

    name: Annotated[str | None, about("The session's name.")]
    parent_id: NotRequired[Annotated[str, about("Of a child process: the session of its parent.")]]
    imported: NotRequired[Annotated[bool, about("It was made from an exported session.")]]


class Configured(TypedDict, total=False):
    """Settings of the session were changed. The event has those that were given."""

    name: Annotated[str | None, about("The session's name.")]
    cwd: Annotated[str | None, about("The project directory.")]
    timeout_minutes: Annotated[float | None, about("How long it may be idle.")]
    output_limit_bytes: Annotated[int | None, about("How many bytes of output it keeps.")]
    evaluate_timeout: Annotated[float | None, about("How many seconds an expression may take.")]


class Launching(TypedDict):
    """A program is about to be started."""

    target: Annotated[str, about("The script, the module or the code.")]
    args: Annotated[list[str], about("The program's command line arguments.")]
    cwd: Annotated[str, about("The directory that it runs in.")]


class Attaching(TypedDict):
    """The debugger is about to attach to a program that runs already."""

    pid: Annotated[int | None, about("The process, if it is attached to by its id.")]
    host: Annotated[str | None, about("The host of a debugpy that listens.")]
    port: Annotated[int | None, about("The port of a debugpy that listens.")]


class RouteChanged(TypedDict):
    """The debugger could not start in the program. The program is started in another way."""

    route: Annotated[str, about("The other way: always `adapter`.")]
    why: Annotated[str, about("Why the first way failed.")]


class Started(TypedDict):
    """The program runs, with the debugger in it."""

    pid: Annotated[int | None, about("Its process id, if it is known.")]
    route: Annotated[str, about("How it was reached: direct, pid or adapter.")]


class Terminating(TypedDict):
    """A client asked to end the program."""

    by: Annotated[str | None, about("Who asked for it, if that is known, such as an editor.")]


class Jumped(TypedDict):
    """A client set the line at which a held thread goes on."""

    thread_id: Annotated[int, about("The thread.")]
    file: Annotated[str, about("The path of the file.")]
    line: Annotated[int, about("The line.")]


class ProgramTerminated(TypedDict):
    """The program ended, could not be started, or was let go."""

    reason: Annotated[
        str, about("Why: target_exited, terminated, detached, deleted, timeout… or an error code.")
    ]
    exit_code: Annotated[int | None, about("Its exit code, if it is known.")]
    signal: NotRequired[Annotated[str, about("The signal that ended it, such as SIGKILL.")]]
    exception: NotRequired[
        Annotated[str, about("The exception that ended it, such as `ValueError: no such key`.")]
    ]


class Expired(TypedDict):
    """The session was idle for too long. The server ends it and forgets it."""

    timeout_minutes: Annotated[float, about("How long it was allowed to be idle.")]


class DebuggerDisconnected(TypedDict):
    """The debugger in the program is gone, and the program runs on without it."""

    reason: Annotated[
        str, about("connection_lost; or exec: the program was replaced by another in its process.")
    ]
    message: Annotated[str, about("What that means, and what to do.")]
    command: NotRequired[Annotated[list[str], about("Of exec: the command line that follows.")]]


class TracingLost(TypedDict):
    """The program, or a library such as coverage.py, took the debugger's tracing away."""

    thread_id: Annotated[int | None, about("The thread that no longer stops; null for all.")]
    how: Annotated[str, about("The function that was called, such as sys.settrace.")]
    location: Annotated[Location | None, about("Where it was called.")]
    message: Annotated[str, about("What that means, and what to do.")]


class TracingRestored(TypedDict):
    """The program gave the debugger's tracing back, after `tracing_lost`."""

    thread_id: Annotated[int | None, about("The thread that stops again.")]


class NotSaved(TypedDict):
    """The session could not be saved, for example because the disk is full."""

    message: Annotated[str, about("Why it could not be saved.")]


class Saved(TypedDict):
    """The session could be saved again, after `not_saved`."""


# -- programs: stops ------------------------------------------------------------------------------


class Stopped(TypedDict):
    """A thread of the program stopped."""

    reason: Annotated[str, about("Why: breakpoint, step, pause, exception…")]
    thread_id: Annotated[int, about("The thread that stopped.")]
    location: Annotated[Location | None, about("Where it stopped, if that is known.")]
    breakpoint_ids: Annotated[list[str], about("The breakpoints that it stopped at.")]
    hold_id: NotRequired[
        Annotated[
            str, about("The hold that it opened; left out while the session shows another stop.")
        ]
    ]


class Continued(TypedDict):
    """The program, or one thread of it, runs on."""

    action: Annotated[str, about("The action that was decided, such as continue or step-over.")]
    by: Annotated[str, about("Who decided it.")]
    thread_id: NotRequired[Annotated[int, about("The thread, if only one of several runs on.")]]


class PauseRequested(TypedDict):
    """A client asked the program to pause. `stopped` follows when it does."""

    thread_id: Annotated[int | None, about("The thread that is to pause; null for any.")]


class ProgramVariableSet(TypedDict):
    """A client gave a variable another value."""

    name: Annotated[str, about("The name of the variable.")]
    value: Annotated[str | None, about("A preview of its new value.")]


# -- programs: input and child processes ----------------------------------------------------------


class InputWanted(TypedDict):
    """The program waits for input."""

    prompt: Annotated[str, about("The last line that it wrote without an end.")]


class InputGiven(TypedDict):
    """A client wrote to the program's stdin."""

    bytes: Annotated[int, about("How many bytes were written.")]
    closed: Annotated[bool, about("Whether stdin was closed after them.")]


class SubprocessSpawned(Subprocess):
    """The program started a process."""


class ChildSession(TypedDict):
    """A process that the program started became a session of its own."""

    session_id: Annotated[
        str, about("The session of the child: not the one whose list has the event.")
    ]
    pid: Annotated[int | None, about("The child's process id.")]


# -- programs: breakpoints ------------------------------------------------------------------------


class _BreakpointEvent(BreakpointFacts, kw_only=True):
    by: Annotated[str, about("Who did it: `rest`, `controller`, `editor:1`…, or the `program`.")]


class BreakpointSet(_BreakpointEvent, kw_only=True):
    """A breakpoint was set."""


class ProgramBreakpointChanged(_BreakpointEvent, kw_only=True):
    """A breakpoint was changed, or what a data breakpoint watches is gone."""


class ProgramBreakpointRemoved(TypedDict):
    """A breakpoint was removed."""

    breakpoint_id: Annotated[str, about("The id that it had.")]
    by: Annotated[str, about("Who removed it.")]


class BreakpointsCleared(TypedDict):
    """All breakpoints were removed."""

    count: Annotated[int, about("How many there were.")]


class BreakpointVerified(TypedDict):
    """The file or function of a breakpoint was missing and is there now: it can fire."""

    breakpoint_id: Annotated[str, about("The id of the breakpoint.")]
    file: NotRequired[Annotated[str, about("The path of its file.")]]
    line: NotRequired[Annotated[int, about("Its line; of a function, that of its `def`.")]]
    function: NotRequired[Annotated[str, about("The function or pattern, if it names one.")]]


class BreakpointError(TypedDict):
    """An expression of a breakpoint raised an exception, for the first time in this run.

    If it was the condition, the program stopped there, once; a breakpoint that logs did not stop.
    """

    breakpoint_id: Annotated[str, about("The id of the breakpoint.")]
    error: Annotated[str, about("What the expression raised.")]
    expression: Annotated[str, about("The expression.")]
    field: Annotated[str, about("Where it stands: condition or log_message.")]


class ExceptionBreakpointsSet(TypedDict):
    """A client chose which exceptions stop the program."""

    filters: Annotated[list[str], about("Which ones: raised, uncaught or userUnhandled.")]
    types: Annotated[list[str], about("The classes that stop; empty for all.")]
    by: Annotated[str, about("Whose choice it is: `rest`, `controller`, `editor:1`…")]


# -- calls ----------------------------------------------------------------------------------------


class _Application(TypedDict):
    name: Annotated[str | None, about("The session's name, if it has one.")]
    pid: Annotated[int | None, about("The application's process id, if it gave one.")]


class SessionStarted(_Application):
    """An application opened a session for its calls."""


class SessionResumed(_Application):
    """A session that had ended goes on, because its application is still there."""


class CallsTerminated(TypedDict):
    """The session ended."""

    reason: Annotated[str, about("Why: ended, process_ended, deleted or server_stopped.")]


class FunctionRegistered(TypedDict):
    """The application reported a function for the first time, or with another signature."""

    name: Annotated[str, about("The name of the function.")]
    signature: Annotated[str | None, about("Its signature, if it is known.")]


class HoldOpened(TypedDict):
    """A call is held: it waits for a decision."""

    hold_id: Annotated[str, about("The id of the hold.")]
    call_id: Annotated[str, about("The id of the call.")]
    method_name: Annotated[str, about("The name of the function.")]
    when: Annotated[str, about("Whether it is held before or after the call.")]
    breakpoint_id: Annotated[str, about("The breakpoint that was hit.")]


class HoldDecided(TypedDict):
    """A held call got its decision."""

    hold_id: Annotated[str, about("The id of the hold.")]
    call_id: Annotated[str, about("The id of the call.")]
    action: Annotated[str, about("The action that was decided.")]
    by: Annotated[str, about("Who decided it.")]


class HoldWithdrawn(TypedDict):
    """A held call does not wait any more, and nobody decided it."""

    hold_id: Annotated[str, about("The id of the hold.")]
    call_id: Annotated[str, about("The id of the call.")]
    why: Annotated[str, about("Why it does not wait any more.")]


class _CallBreakpoint(TypedDict):
    breakpoint_id: Annotated[str, about("The id of the breakpoint.")]
    function: Annotated[
        str | None, about("The name or the pattern of its functions; null if it names none.")
    ]


class BreakpointAdded(_CallBreakpoint):
    """A breakpoint that concerns the session was added."""


class CallBreakpointChanged(_CallBreakpoint):
    """A breakpoint that concerns the session was changed."""


class CallBreakpointRemoved(_CallBreakpoint):
    """A breakpoint that concerned the session was removed."""


# -- the tables -----------------------------------------------------------------------------------

PROGRAM_EVENTS: Mapping[str, Fields] = {
    "created": Created,
    "configured": Configured,
    "launching": Launching,
    "attaching": Attaching,
    "route_changed": RouteChanged,
    "started": Started,
    "stopped": Stopped,
    "continued": Continued,
    "pause_requested": PauseRequested,
    "variable_set": ProgramVariableSet,
    "input_wanted": InputWanted,
    "input_given": InputGiven,
    "subprocess_spawned": SubprocessSpawned,
    "child_session": ChildSession,
    "breakpoint_set": BreakpointSet,
    "breakpoint_changed": ProgramBreakpointChanged,
    "breakpoint_removed": ProgramBreakpointRemoved,
    "breakpoints_cleared": BreakpointsCleared,
    "breakpoint_verified": BreakpointVerified,
    "breakpoint_error": BreakpointError,
    "exception_breakpoints_set": ExceptionBreakpointsSet,
    "debugger_disconnected": DebuggerDisconnected,
    "tracing_lost": TracingLost,
    "tracing_restored": TracingRestored,
    "not_saved": NotSaved,
    "saved": Saved,
    "expired": Expired,
    "terminating": Terminating,
    "jumped": Jumped,
    "terminated": ProgramTerminated,
}
CALL_EVENTS: Mapping[str, Fields] = {
    "session_started": SessionStarted,
    "session_resumed": SessionResumed,
    "function_registered": FunctionRegistered,
    "hold_opened": HoldOpened,
    "hold_decided": HoldDecided,
    "hold_withdrawn": HoldWithdrawn,
    "breakpoint_added": BreakpointAdded,
    "breakpoint_changed": CallBreakpointChanged,
    "breakpoint_removed": CallBreakpointRemoved,
    "terminated": CallsTerminated,
}
AGENT_EVENTS: Mapping[str, Fields] = {str(type_): type_.fields for type_ in agent_events.EVENTS}


@dataclass(frozen=True)
class EventGroup:
    """The events of one kind of session. `prefix` begins the names of their schemas."""

    prefix: str
    meaning: str
    types: Mapping[str, Fields]
    is_nested: bool = False  # their fields are in `data`


EVENT_GROUPS = (
    EventGroup("Program", "An event of a program.", PROGRAM_EVENTS),
    EventGroup("Call", "An event of an application's calls.", CALL_EVENTS),
    EventGroup(
        "Agent", "An event of an agent. Its fields are in `data`.", AGENT_EVENTS, is_nested=True
    ),
)
OPEN_EVENTS = frozenset((agent_events.ERROR,))
"""Those to which an agent's loop adds fields of its own."""
