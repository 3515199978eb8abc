"""Answers about programs: what each field means, and the JSON they become.

A field that may be missing is `UNSET` by default: it is left out of the JSON. Values that the probe
renders inside the program stay plain dicts on their way through; `Variable`, `Frame` and `Thread`
say what these hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypedDict

import msgspec
from msgspec import UNSET, Meta, UnsetType

from holdfast.wire.program_requests import AttachOptions, LaunchOptions
from holdfast.wire.session_answers import Location, SessionStatus

if TYPE_CHECKING:
    from typing_extensions import NotRequired  # in `typing` from Python 3.11 on

# -- what the probe renders -----------------------------------------------------------------------


class Variable(TypedDict, total=False):
    """A value as text, and a few facts about it."""

    name: Annotated[str, Meta(description="The variable's name, or the key or index of an item.")]
    index: Annotated[int, Meta(description="Of an item of a sequence: its index.")]
    value: Annotated[str, Meta(description="The value as text; of bytes, in base64.")]
    result: Annotated[str, Meta(description="Of an expression: its value as text.")]
    type: Annotated[str, Meta(description="The name of its class.")]
    length: Annotated[int, Meta(description="How many items, characters or bytes it has.")]
    indexed: Annotated[
        int, Meta(description="How many of its children are items; the attributes come after.")
    ]
    attributes: Annotated[
        int, Meta(description="Of a collection with attributes of its own: how many it has.")
    ]
    start: Annotated[int, Meta(description="Of a part of a string or of bytes: where it begins.")]
    has_more: Annotated[bool, Meta(description="Of such a part: whether more follows it.")]
    shape: Annotated[list[int], Meta(description="Of an array or a table: its dimensions.")]
    dtype: Annotated[str, Meta(description="Of an array: the type of its elements.")]
    columns: Annotated[list[str], Meta(description="Of a table: the names of its columns.")]
    encoding: Annotated[str, Meta(description="`base64`, where the value is bytes.")]
    truncated: Annotated[bool, Meta(description="Whether the text is cut.")]
    repr_error: Annotated[str, Meta(description="What the value's own repr raised.")]
    expandable: Annotated[bool, Meta(description="Whether it can be unfolded.")]
    variable_reference: Annotated[
        int,
        Meta(
            description="The number to unfold it with, or to read a long string with, until its "
            "thread runs; 0: none."
        ),
    ]
    reference: Annotated[int, Meta(description="The same number.")]


class Watch(Variable, total=False):
    """A watched expression, with its value while the program is paused."""

    id: Annotated[str, Meta(description="The watch's id.")]
    watch_id: Annotated[str, Meta(description="The same id.")]
    expression: Annotated[str, Meta(description="The expression.")]
    error: Annotated[str, Meta(description="Why it has no value now.")]


class Frame(TypedDict, total=False):
    """One frame of a stack."""

    id: Annotated[
        int,
        Meta(
            description="The frame's id, valid until its thread runs. From 0 up they mean the "
            "thread that the session shows; other threads have ids of their own."
        ),
    ]
    name: Annotated[str, Meta(description="The function's name.")]
    function: Annotated[str, Meta(description="The same name.")]
    qualname: Annotated[str, Meta(description="The function's qualified name, if known.")]
    file: Annotated[str, Meta(description="The path of the file.")]
    line: Annotated[int, Meta(description="The line that runs.")]
    module: Annotated[str, Meta(description="The module's name.")]
    library: Annotated[bool, Meta(description="Whether it is code of a library.")]


class TracebackFrame(Frame, total=False):
    """One frame of the traceback of an exception that ended a program."""

    depth: Annotated[int, Meta(description="0 where it was raised, counting outwards.")]
    text: Annotated[str, Meta(description="The text of the line, if the file is there.")]
    locals: Annotated[
        list[Variable],
        Meta(description="Of the nearest frame of the user's own code: its variables at the end."),
    ]
    locals_total: Annotated[int, Meta(description="How many variables it had.")]


class Cause(TypedDict, total=False):
    """An exception that led to another, or that is a member of an exception group."""

    type: Annotated[str, Meta(description="The name of its class.")]
    module: Annotated[str, Meta(description="The module of its class.")]
    message: Annotated[str, Meta(description="Its message.")]
    notes: Annotated[list[str], Meta(description="The notes that were added to it.")]
    relation: Annotated[
        str,
        Meta(
            description="`cause` (raised from it), `context` (raised while it was handled) or "
            "`member` (of a group)."
        ),
    ]
    of: Annotated[
        int, Meta(description="What it led to: 0 the exception itself, n the nth of `causes`.")
    ]
    frames: Annotated[
        list[TracebackFrame], Meta(description="Its traceback, ordered as the exception's.")
    ]
    frames_total: Annotated[int, Meta(description="How many frames its traceback has.")]


class Module(TypedDict):
    """A module that the program has imported."""

    name: Annotated[str, Meta(description="Its name.")]
    file: Annotated[str, Meta(description="The path of its file.")]
    source: Annotated[bool, Meta(description="Whether that is Python source.")]
    library: Annotated[bool, Meta(description="Whether it is code of a library.")]


class Thread(TypedDict, total=False):
    """One thread of the program."""

    thread_id: Annotated[int, Meta(description="The thread's id.")]
    id: Annotated[int, Meta(description="The same id.")]
    name: Annotated[str, Meta(description="The thread's name.")]
    daemon: Annotated[bool, Meta(description="Whether the program ends without waiting for it.")]
    status: Annotated[str, Meta(description="paused or running.")]
    blocked: Annotated[
        bool,
        Meta(
            description="It waits in a lock, in C or asleep while another thread is held. It "
            "can be read, and is held as soon as it runs on."
        ),
    ]
    location: Annotated[Location | None, Meta(description="Where it is.")]
    breakpoint_id: Annotated[str, Meta(description="The breakpoint that it stands at.")]
    outside: Annotated[bool, Meta(description="Read from outside the interpreter.")]
    holds_gil: Annotated[
        bool, Meta(description="Seen from outside: it holds the interpreter's lock.")
    ]


class Task(TypedDict, total=False):
    """One asyncio task of the program."""

    name: Annotated[str, Meta(description="The task's name.")]
    coroutine: Annotated[str, Meta(description="The coroutine that it runs.")]
    state: Annotated[str, Meta(description="running or waiting.")]
    current: Annotated[bool, Meta(description="Whether its loop runs it now.")]
    location: Annotated[Location, Meta(description="Where it is.")]
    stack: Annotated[list[Location], Meta(description="Where it is, innermost first.")]
    waiting_for: Annotated[dict[str, object], Meta(description="What it awaits.")]


class WaitedFor(TypedDict, total=False):
    """Something that a thread or a task waits for."""

    kind: Annotated[
        str,
        Meta(
            description="lock, condition, event, semaphore, barrier, queue, future, thread, "
            "task, process lock, or exit."
        ),
    ]
    name: Annotated[
        str | None,
        Meta(description="What the waiting code calls it, such as `self.lock`, if that is known."),
    ]
    global_name: Annotated[
        str, Meta(description="A variable of the module that holds it under another name.")
    ]
    type: Annotated[str, Meta(description="The name of its class.")]
    id: Annotated[str, Meta(description="Its address: the same for the same object.")]


class WaitingThread(TypedDict, total=False):
    """A thread, and what it waits for."""

    thread_id: Annotated[int, Meta(description="The thread's id.")]
    name: Annotated[str, Meta(description="The thread's name.")]
    status: Annotated[str, Meta(description="paused (held by the debugger) or running.")]
    waits_for: Annotated[
        WaitedFor | None, Meta(description="What it waits for; null: for nothing that is known.")
    ]
    held_by: Annotated[
        int | None, Meta(description="The thread that holds it, if there is one and it is known.")
    ]
    note: Annotated[str, Meta(description="How the holder is known, or why it is not.")]
    location: Annotated[Location, Meta(description="Where it waits, or is.")]


class WaitingTask(TypedDict, total=False):
    """An asyncio task that waits."""

    task: Annotated[str, Meta(description="The task's name.")]
    waits_for: Annotated[WaitedFor, Meta(description="What it waits for.")]
    held_by: Annotated[list[str], Meta(description="The tasks that must go on first, by name.")]
    note: Annotated[str, Meta(description="How they are known, or why they are not.")]
    location: Annotated[Location, Meta(description="Where it waits.")]


class DeadlockCycle(TypedDict):
    """Threads or tasks that wait for one another in a circle: none of them can go on."""

    threads: Annotated[list[int], Meta(description="The ids of the threads.")]
    tasks: Annotated[list[str], Meta(description="The names of the asyncio tasks.")]
    message: Annotated[str, Meta(description="Who waits for what, and who holds it.")]


class Subprocess(TypedDict):
    """A process that the program started."""

    pid: Annotated[int, Meta(description="Its process id.")]
    how: Annotated[str, Meta(description="How it was started: spawn, fork, exec…")]
    command: Annotated[list[str], Meta(description="Its command line.")]
    debuggable: Annotated[bool, Meta(description="Whether it is followed as a session.")]
    message: NotRequired[Annotated[str, Meta(description="Why it is not followed.")]]


class OutputEntry(TypedDict, total=False):
    """Something that the program wrote."""

    type: Annotated[str, Meta(description="stdout, stderr or log.")]
    text: Annotated[str, Meta(description="What was written.")]
    timestamp: Annotated[str, Meta(description="When, as an ISO 8601 time in UTC.")]
    seq: Annotated[int, Meta(description="Its number: a cursor.")]
    run: Annotated[int, Meta(description="The run of the program that wrote it, from 1 on.")]
    omitted_bytes: Annotated[
        int, Meta(description="Only its end is shown: so many bytes before it are left out.")
    ]
    file: Annotated[str, Meta(description="Of a logpoint: the file that it is in.")]
    line: Annotated[int, Meta(description="Of a logpoint: its line.")]
    breakpoint_id: Annotated[str, Meta(description="Of a logpoint: its id.")]


class OutputCounts(msgspec.Struct):
    """How much output there was after a cursor, and how much of it an answer leaves out."""

    since: Annotated[str, Meta(description="The cursor after which it is counted.")]
    entries: Annotated[int, Meta(description="How many entries there are, shown or not.")]
    bytes: Annotated[int, Meta(description="How many bytes they have.")]
    omitted: Annotated[int, Meta(description="How many entries are not shown: the first ones.")]
    omitted_bytes: Annotated[int, Meta(description="How many bytes are not shown.")]
    dropped: Annotated[int, Meta(description="How many entries were gone: more than are kept.")]


# -- how a program is -----------------------------------------------------------------------------


class ThrownException(msgspec.Struct):
    """The exception that a program stopped at, or that ended it."""

    type: Annotated[str, Meta(description="The name of its class.")]
    module: Annotated[str, Meta(description="The module of its class.")]
    message: Annotated[str, Meta(description="Its message.")]
    location: Annotated[
        Location | None,
        Meta(description="Where it was raised; of an end, the nearest line of the user's own."),
    ]
    notes: Annotated[
        list[str] | UnsetType, Meta(description="The notes that were added to it.")
    ] = UNSET
    causes: Annotated[
        list[Cause] | UnsetType, Meta(description="At an end: what led to it, nearest first.")
    ] = UNSET
    frames: Annotated[
        list[TracebackFrame] | UnsetType,
        Meta(
            description="At an end: its traceback. The nearest frame of the user's own code is "
            "first, then the others, innermost first."
        ),
    ] = UNSET
    frames_total: Annotated[
        int | UnsetType, Meta(description="How many frames its traceback has.")
    ] = UNSET


class BreakpointPlace(msgspec.Struct, kw_only=True):
    """Which breakpoint is meant."""

    breakpoint_id: Annotated[str, Meta(description="The breakpoint's id within its session.")]
    file: Annotated[str | UnsetType, Meta(description="The path of its file.")] = UNSET
    line: Annotated[int | UnsetType, Meta(description="Its line.")] = UNSET
    function: Annotated[
        str | UnsetType, Meta(description="The function that it stops in, if it names one.")
    ] = UNSET


class UnhitBreakpoint(BreakpointPlace, kw_only=True):
    """A breakpoint that was never hit in the run that ended."""

    verified: Annotated[bool, Meta(description="Whether it could have been hit.")]
    condition: Annotated[str | UnsetType, Meta(description="Its condition.")] = UNSET
    passes: Annotated[
        int | UnsetType, Meta(description="How often its line ran while the condition was false.")
    ] = UNSET
    message: Annotated[str, Meta(description="Why it was not hit, as far as that is known.")]


class ConditionError(BreakpointPlace, kw_only=True):
    """An expression of a breakpoint that raised."""

    field: Annotated[str, Meta(description="Where it stands: condition or log_message.")]
    expression: Annotated[str, Meta(description="The expression.")]
    error: Annotated[str, Meta(description="What it raised first.")]
    count: Annotated[
        int | UnsetType,
        Meta(description="How often it raised; left out if the program could not say it."),
    ] = UNSET


class FailedCondition(msgspec.Struct):
    """The condition of a breakpoint, which raised for the first time in this run."""

    breakpoint_id: Annotated[str, Meta(description="The breakpoint's id.")]
    expression: Annotated[str, Meta(description="The condition.")]
    error: Annotated[str, Meta(description="What it raised.")]


class SourceLine(msgspec.Struct):
    """A line of source code."""

    line: Annotated[int, Meta(description="The line's number.")]
    text: Annotated[str, Meta(description="The line's text.")]


class SourceContext(msgspec.Struct):
    """The line that is about to run, with a few around it."""

    file: Annotated[str, Meta(description="The path of the file.")]
    line: Annotated[int, Meta(description="The line that is about to run.")]
    text: Annotated[str | None, Meta(description="Its text; null if the file is shorter now.")]
    context: Annotated[list[SourceLine], Meta(description="The lines around it, and itself.")]


class ErrorDetails(msgspec.Struct):
    """Why a program could not be started."""

    code: Annotated[str, Meta(description="The code of the error.")]
    message: Annotated[str, Meta(description="What went wrong.")]
    hint: Annotated[str | None, Meta(description="What to do about it.")]


class HeldChild(msgspec.Struct):
    """A child process, or one of its own children, that is held at a stop."""

    session_id: Annotated[str, Meta(description="The session of the child.")]
    pid: Annotated[int | None, Meta(description="Its process id.")]
    parent_id: Annotated[str, Meta(description="The session of the program that started it.")]
    reason: Annotated[str, Meta(description="Why it stopped.")]
    location: Annotated[Location | None, Meta(description="Where it stopped.")]
    hold_id: Annotated[str, Meta(description="The hold that waits for a decision.")]


class DataChange(msgspec.Struct):
    """A write that a data breakpoint stopped at."""

    breakpoint_id: Annotated[str, Meta(description="The data breakpoint.")]
    name: Annotated[str, Meta(description="What it watches, as it was named.")]
    old: Annotated[
        str | None, Meta(description="A preview of the value before; null if there was none.")
    ]
    new: Annotated[
        str | None, Meta(description="A preview of the value now; null if it was deleted.")
    ]
    location: Annotated[Location, Meta(description="The line that wrote.")]


class ProgramStatus(SessionStatus, kw_only=True):
    """Where a program is: running, or at a stop, or over."""

    reason: Annotated[
        str | UnsetType | None,
        Meta(
            description="Why it is paused (breakpoint, data breakpoint, step, pause, exception…), "
            "or ended."
        ),
    ] = UNSET
    location: Annotated[
        Location | UnsetType | None, Meta(description="While paused: the line about to run.")
    ] = UNSET
    thread_id: Annotated[int | UnsetType, Meta(description="The thread that stopped.")] = UNSET
    breakpoint_id: Annotated[
        str | UnsetType, Meta(description="The breakpoint that it stopped at.")
    ] = UNSET
    breakpoint_ids: Annotated[
        list[str] | UnsetType, Meta(description="All breakpoints at that place.")
    ] = UNSET
    condition_error: Annotated[
        FailedCondition | UnsetType,
        Meta(description="If it stopped because a condition raised; see `message`."),
    ] = UNSET
    exception: Annotated[
        ThrownException | UnsetType,
        Meta(description="The exception that it stopped at, or that ended it."),
    ] = UNSET
    data: Annotated[DataChange | UnsetType, Meta(description="The write that it stopped at.")] = (
        UNSET
    )
    returned: Annotated[
        list[Variable] | UnsetType, Meta(description="What the function just left returned.")
    ] = UNSET
    hold_id: Annotated[
        str | UnsetType | None, Meta(description="The hold that waits for a decision.")
    ] = UNSET
    warnings: Annotated[
        list[str] | UnsetType,
        Meta(description="What may mislead: a changed source, lost tracing, a lost debugger."),
    ] = UNSET
    prompt: Annotated[
        str | UnsetType, Meta(description="While it reads its stdin: the line that it asks with.")
    ] = UNSET
    exit_code: Annotated[
        int | UnsetType | None, Meta(description="How the process ended, if that is known.")
    ] = UNSET
    signal: Annotated[
        str | UnsetType, Meta(description="The signal that ended it, such as SIGKILL.")
    ] = UNSET
    stderr_tail: Annotated[
        str | UnsetType,
        Meta(description="After a bad end: the last lines that it wrote to stderr."),
    ] = UNSET
    never_hit: Annotated[
        list[UnhitBreakpoint] | UnsetType,
        Meta(description="At the end: the breakpoints that were never hit in this run."),
    ] = UNSET
    condition_errors: Annotated[
        list[ConditionError] | UnsetType,
        Meta(description="At the end: the expressions of breakpoints that raised in this run."),
    ] = UNSET
    error_details: Annotated[
        ErrorDetails | UnsetType, Meta(description="Why it could not be started.")
    ] = UNSET
    stopped_threads: Annotated[
        list[Thread] | UnsetType, Meta(description="The threads that stand at a stop of their own.")
    ] = UNSET
    all_threads: Annotated[
        list[Thread] | UnsetType, Meta(description="Every thread, with its status.")
    ] = UNSET
    watches: Annotated[
        list[Watch] | UnsetType,
        Meta(description="While paused, if there are watches: each with its value at this stop."),
    ] = UNSET
    breakpoints_set: Annotated[
        list[BreakpointAnswer] | UnsetType,
        Meta(description="The breakpoints that came with the start, as they are now."),
    ] = UNSET
    output: Annotated[
        list[OutputEntry] | UnsetType,
        Meta(
            description="With `include`: what this run wrote and no answer has shown; its end. "
            "Neighbours of one stream are one entry."
        ),
    ] = UNSET
    output_counts: Annotated[
        OutputCounts | UnsetType,
        Meta(description="With `output`: how much there was, and how much of it is left out."),
    ] = UNSET
    output_cursor: Annotated[
        str | UnsetType,
        Meta(description="With `output`: its end, from which `GET /output?since=` goes on."),
    ] = UNSET
    source: Annotated[
        SourceContext | UnsetType | None,
        Meta(description="With `include`: the line about to run, with a few around it."),
    ] = UNSET
    locals: Annotated[
        list[Variable] | UnsetType,
        Meta(description="With `include`: the local variables of the top frame."),
    ] = UNSET
    locals_total: Annotated[
        int | UnsetType, Meta(description="How many locals there are, if not all are shown.")
    ] = UNSET
    stack: Annotated[
        list[Frame] | UnsetType, Meta(description="With `include`: the innermost frames.")
    ] = UNSET
    stack_total: Annotated[int | UnsetType, Meta(description="How many frames there are.")] = UNSET
    warning: Annotated[str | UnsetType, Meta(description="That the session will expire soon.")] = (
        UNSET
    )
    native_frame: Annotated[
        bool | UnsetType, Meta(description="The step went over a call into native code.")
    ] = UNSET
    pause_pending: Annotated[
        bool | UnsetType, Meta(description="It has not stopped yet: it is busy outside Python.")
    ] = UNSET
    busy_at: Annotated[
        Location | UnsetType, Meta(description="Of a pending pause: where the thread is busy.")
    ] = UNSET
    deadlocks: Annotated[
        list[str] | UnsetType,
        Meta(description="After a pause: who waits for whom in a circle, a sentence each."),
    ] = UNSET
    message: Annotated[
        str | UnsetType,
        Meta(description="What `native_frame`, `pause_pending` or `held_children` means."),
    ] = UNSET
    held_children: Annotated[
        list[HeldChild] | UnsetType,
        Meta(description="The child processes, and theirs, that are held. They end a wait once."),
    ] = UNSET
    action: Annotated[str | UnsetType, Meta(description="The action that was decided.")] = UNSET
    detached: Annotated[bool | UnsetType, Meta(description="The program runs on by itself.")] = (
        UNSET
    )
    resumed_thread_id: Annotated[
        int | UnsetType, Meta(description="The thread that was let go.")
    ] = UNSET


class ExceptionBreakpoints(msgspec.Struct):
    """Which exceptions stop a program."""

    filters: Annotated[
        list[str], Meta(description="`raised`, `uncaught` and `userUnhandled`, those that are on.")
    ]
    types: Annotated[list[str], Meta(description="Class names that these are narrowed to.")]


class ProgramSummary(ProgramStatus, kw_only=True, tag_field="kind", tag="program"):
    """A program session as a list shows it."""

    name: Annotated[str | None, Meta(description="The name that it was given.")]
    created_at: Annotated[str, Meta(description="When, as an ISO 8601 time in UTC.")]
    target: Annotated[
        str | UnsetType,
        Meta(description="What it launched: a script, a module, or `-c` for a piece of code."),
    ] = UNSET
    pid: Annotated[
        int | None, Meta(description="The program's process; after its end, which one it was.")
    ]
    exception_line: Annotated[
        str | UnsetType,
        Meta(description="Of a program that an exception ended: its type and message, in a line."),
    ] = UNSET
    parent_id: Annotated[
        str | UnsetType, Meta(description="Of a child process: its parent's session.")
    ] = UNSET
    recoverable: Annotated[
        bool | UnsetType,
        Meta(description="Of a session of an earlier server: whether it can be restarted."),
    ] = UNSET


class ProgramDetail(ProgramSummary, kw_only=True):
    """A program session on its own: its status, and its configuration."""

    cwd: Annotated[str | None, Meta(description="Its project directory, if one was given.")]
    project: Annotated[str | None, Meta(description="The project whose breakpoints it shares.")]
    timeout_minutes: Annotated[float, Meta(description="How long it may be idle.")]
    expires_in_seconds: Annotated[float, Meta(description="Until it is ended as idle.")]
    launch: Annotated[
        LaunchOptions | None, Meta(description="What it launched, with every option.")
    ]
    attach: Annotated[
        AttachOptions | None, Meta(description="What it attached to, with every option.")
    ]
    breakpoints: Annotated[int, Meta(description="How many breakpoints it has.")]
    exception_breakpoints: Annotated[
        ExceptionBreakpoints, Meta(description="Which exceptions stop it.")
    ]
    watches: Annotated[
        list[Watch], Meta(description="What it watches; while paused, with the values.")
    ]
    children: Annotated[list[str], Meta(description="The sessions of its child processes.")]
    subprocesses: Annotated[list[Subprocess], Meta(description="The processes that it started.")]
    python_version: Annotated[str | None, Meta(description="The version of its Python.")]
    route: Annotated[str | None, Meta(description="How it is reached: direct, child, pid…")]
    output_cursor: Annotated[str, Meta(description="The cursor of what it wrote last.")]
    run: Annotated[int, Meta(description="The number of its last run; 0 before the first.")]
    last_event: Annotated[int, Meta(description="The number of its newest event.")]


class PingAnswer(SessionStatus, kw_only=True):
    """That the session is kept alive."""

    expires_in_seconds: Annotated[float, Meta(description="Until it is ended as idle.")]


# -- breakpoints ----------------------------------------------------------------------------------


class SourcePath(msgspec.Struct):
    """A source by its path, as debug adapters name it."""

    path: Annotated[str, Meta(description="The path of the file.")]


class SuggestedLine(msgspec.Struct):
    """Where a breakpoint could be instead."""

    line: Annotated[int, Meta(description="A line that can stop.")]


class BreakpointFacts(msgspec.Struct, kw_only=True):
    """What answers and events say about a breakpoint."""

    breakpoint_id: Annotated[str, Meta(description="The breakpoint's id within its session.")]
    id: Annotated[str, Meta(description="The same id.")]
    kind: Annotated[str, Meta(description="What it is on: line, function or data.")]
    verified: Annotated[bool, Meta(description="Whether it can fire; if not, see `message`.")]
    enabled: Annotated[bool, Meta(description="Whether it is on.")]
    set_by: Annotated[
        list[str],
        Meta(description="Who wants it: `rest`, an in-process `controller`, `editor:1`…"),
    ]
    hits: Annotated[int, Meta(description="How often it was reached.")]
    file: Annotated[str | UnsetType, Meta(description="The path of its file.")] = UNSET
    line: Annotated[int | UnsetType, Meta(description="Its line.")] = UNSET
    function: Annotated[
        str | UnsetType,
        Meta(description="The function that it stops in, or the pattern of their names."),
    ] = UNSET
    places: Annotated[
        list[Location] | UnsetType,
        Meta(
            description="If there are several such functions: where each begins, up to 100. "
            "`file` and `line` are those of the last."
        ),
    ] = UNSET
    condition: Annotated[
        str | UnsetType, Meta(description="It stops where this expression is true.")
    ] = UNSET
    hit_condition: Annotated[
        str | UnsetType, Meta(description="At which hits it stops, such as `>= 5`.")
    ] = UNSET
    log_message: Annotated[
        str | UnsetType, Meta(description="It writes this, and does not stop.")
    ] = UNSET
    data_id: Annotated[
        str | UnsetType, Meta(description="Of a data breakpoint: the place that it watches.")
    ] = UNSET
    access_type: Annotated[
        str | UnsetType,
        Meta(description="Of a data breakpoint: `write`, or `change` if only other values count."),
    ] = UNSET
    expression: Annotated[
        str | UnsetType, Meta(description="Of a data breakpoint: what it watches, as it was named.")
    ] = UNSET
    source: Annotated[SourcePath | UnsetType, Meta(description="Its file once more.")] = UNSET
    message: Annotated[
        str | UnsetType,
        Meta(
            description="Why it cannot fire, what it does not notice, or what its condition raised."
        ),
    ] = UNSET
    suggestion: Annotated[
        SuggestedLine | UnsetType, Meta(description="A line that could be used instead.")
    ] = UNSET


class BreakpointAnswer(BreakpointFacts, kw_only=True):
    """A breakpoint, as it was set and as it was found."""

    warning: Annotated[
        str | UnsetType, Meta(description="That the file has changed since it was loaded.")
    ] = UNSET


class BreakpointsSet(msgspec.Struct):
    """Breakpoints that one request set."""

    breakpoints: Annotated[list[BreakpointAnswer], Meta(description="The new breakpoints.")]
    total: Annotated[int, Meta(description="How many they are.")]


class BreakpointList(BreakpointsSet):
    """Every breakpoint of a session."""

    exception_breakpoints: Annotated[
        ExceptionBreakpoints, Meta(description="Which exceptions stop the program.")
    ]


class DataBreakpointInfo(msgspec.Struct, kw_only=True):
    """What a name stands for, and whether it can be watched."""

    data_id: Annotated[
        str | None, Meta(description="The place to watch; null if it cannot be, see `message`.")
    ]
    dataId: Annotated[  # noqa: N815  (its name in the protocol)
        str | None, Meta(description="The same, as debug adapters call it.")
    ]
    description: Annotated[str, Meta(description="What would be watched.")]
    access_types: Annotated[
        list[str], Meta(description="When it can stop: at each `write`, or at a `change`.")
    ]
    can_persist: Annotated[
        bool, Meta(description="Whether the id is good for later runs of the program, too.")
    ]
    message: Annotated[
        str | UnsetType, Meta(description="Why it cannot be watched, or what is not noticed.")
    ] = UNSET


class DeletedBreakpoint(msgspec.Struct):
    """A breakpoint that is gone."""

    breakpoint_id: Annotated[str, Meta(description="The id that it had.")]
    deleted: Annotated[bool, Meta(description="Always true.")] = True


class BreakpointFields(TypedDict, total=False):
    """A breakpoint as it was asked for."""

    id: Annotated[str, Meta(description="In an exported session: its id.")]
    file: Annotated[str, Meta(description="The path of its file.")]
    line: Annotated[int, Meta(description="Its line.")]
    function: Annotated[str, Meta(description="The function that it stops in, if it names one.")]
    condition: Annotated[str, Meta(description="It stops where this expression is true.")]
    hit_condition: Annotated[str, Meta(description="At which hits it stops, such as `>= 5`.")]
    log_message: Annotated[str, Meta(description="It writes this, and does not stop.")]
    enabled: Annotated[bool, Meta(description="Whether it is on.")]


class ProfileAnswer(msgspec.Struct):
    """A named set of breakpoints."""

    name: Annotated[str, Meta(description="The profile's name.")]
    breakpoints: Annotated[list[BreakpointFields], Meta(description="Its breakpoints.")]


class ProfileList(msgspec.Struct):
    """Every profile."""

    profiles: Annotated[list[ProfileAnswer], Meta(description="The profiles.")]
    total: Annotated[int, Meta(description="How many there are.")]


class DeletedProfile(msgspec.Struct):
    """A profile that is gone."""

    name: Annotated[str, Meta(description="The name that it had.")]
    deleted: Annotated[bool, Meta(description="Always true.")] = True


# -- recent launches ------------------------------------------------------------------------------


class RecentLaunch(msgspec.Struct, kw_only=True):
    """A program that was launched. Values of its environment and its input are not remembered."""

    target: Annotated[str, Meta(description="The script, the module, or `-c` for code.")]
    name: Annotated[str | None, Meta(description="The name that its session had.")]
    launched_at: Annotated[str, Meta(description="When last, as an ISO 8601 time in UTC.")]
    python: Annotated[str, Meta(description="The path of the interpreter that ran it.")]
    cwd: Annotated[str, Meta(description="The directory that it ran in.")]
    env_names: Annotated[
        list[str], Meta(description="The environment variables that were set or removed for it.")
    ]
    launch: Annotated[
        LaunchOptions,
        Meta(
            description="What `POST /sessions` takes as `launch` to run it again, with absolute "
            "paths, without `env` and `stdin_inputs`."
        ),
    ]
    session_id: Annotated[
        str | UnsetType, Meta(description="The session that launched it last, if it is there.")
    ] = UNSET


class LaunchList(msgspec.Struct):
    """Programs that were launched lately, each of them once."""

    launches: Annotated[list[RecentLaunch], Meta(description="The launches, newest first.")]
    total: Annotated[int, Meta(description="How many are remembered: 50 at most.")]


# -- copies ---------------------------------------------------------------------------------------


class ExportedSettings(TypedDict, total=False):
    """Those settings of a session that were given."""

    name: Annotated[str, Meta(description="The session's name.")]
    cwd: Annotated[str, Meta(description="The project directory.")]
    timeout_minutes: Annotated[float, Meta(description="How long it may be idle.")]
    output_limit_bytes: Annotated[int, Meta(description="How many bytes of output it keeps.")]
    evaluate_timeout: Annotated[float, Meta(description="How many seconds an expression may take.")]


class ExportedExceptionBreakpoints(ExceptionBreakpoints):
    """Which exceptions stop an exported session's program."""

    user_code_only: Annotated[
        bool, Meta(description="Whether those inside libraries are left out.")
    ]


class ExportedSession(msgspec.Struct, kw_only=True):
    """Enough to make the same session elsewhere: `POST /sessions/import` takes it."""

    version: Annotated[int, Meta(description="The version of this format.")] = 1
    name: Annotated[str | None, Meta(description="The session's name.")]
    config: Annotated[ExportedSettings, Meta(description="The session's settings.")]
    launch: Annotated[LaunchOptions | None, Meta(description="What it launched.")]
    attach: Annotated[AttachOptions | None, Meta(description="What it attached to.")]
    breakpoints: Annotated[list[BreakpointFields], Meta(description="Its breakpoints.")]
    exception_breakpoints: Annotated[
        ExportedExceptionBreakpoints, Meta(description="Which exceptions stop it.")
    ]
    watches: Annotated[list[str], Meta(description="The expressions that it watches.")]


# -- inspection -----------------------------------------------------------------------------------


class StackPage(msgspec.Struct):
    """A page of a thread's stack, innermost frame first."""

    frames: Annotated[list[Frame], Meta(description="The frames of this page.")]
    total: Annotated[int, Meta(description="How many frames there are.")]
    start: Annotated[int, Meta(description="The depth of the first one shown.")]
    has_more: Annotated[bool, Meta(description="Whether there are frames below these.")]
    thread_id: Annotated[int, Meta(description="The thread whose stack it is.")]
    outside: Annotated[
        bool | UnsetType,
        Meta(
            description="The program could not answer: the stack was read from outside its "
            "interpreter. Its frames have no ids and no locals."
        ),
    ] = UNSET
    message: Annotated[
        str | UnsetType, Meta(description="Of a stack read from outside: why that was needed.")
    ] = UNSET


class ThreadList(msgspec.Struct):
    """Every thread of the program."""

    threads: Annotated[list[Thread], Meta(description="The threads, held or running.")]
    outside: Annotated[
        bool | UnsetType,
        Meta(description="The program could not answer: read from outside its interpreter."),
    ] = UNSET
    message: Annotated[
        str | UnsetType, Meta(description="Of threads read from outside: why that was needed.")
    ] = UNSET


class DeadlockReport(msgspec.Struct):
    """What every thread waits for, and who can never go on."""

    threads: Annotated[list[WaitingThread], Meta(description="Every thread.")]
    tasks: Annotated[list[WaitingTask], Meta(description="The asyncio tasks that wait.")]
    cycles: Annotated[list[DeadlockCycle], Meta(description="The deadlocks; none if empty.")]
    message: Annotated[str, Meta(description="The result in a sentence or two.")]
    outside: Annotated[
        bool | UnsetType,
        Meta(description="The program could not answer, so that its locks cannot be read."),
    ] = UNSET


class TaskList(msgspec.Struct):
    """Every asyncio task of the program."""

    tasks: Annotated[list[Task], Meta(description="The tasks, and what each waits for.")]
    total: Annotated[int, Meta(description="How many there are.")]


class Scope(TypedDict):
    """A scope of a frame."""

    name: Annotated[str, Meta(description="Locals or Globals.")]
    reference: Annotated[int, Meta(description="The number to list its variables with.")]
    count: Annotated[int, Meta(description="How many variables it has.")]
    variable_reference: Annotated[int, Meta(description="The same number as `reference`.")]


class ScopeList(msgspec.Struct):
    """The scopes of a frame."""

    scopes: Annotated[list[Scope], Meta(description="Locals and Globals.")]


class VariableList(msgspec.Struct):
    """A page of the variables of a frame or a scope."""

    variables: Annotated[list[Variable], Meta(description="The variables of this page.")]
    total: Annotated[int, Meta(description="How many there are.")]
    has_more: Annotated[bool, Meta(description="Whether there are more after these.")]


class ItemPage(msgspec.Struct):
    """A page of what a value holds."""

    items: Annotated[list[Variable], Meta(description="Its items, attributes or entries.")]
    total: Annotated[int, Meta(description="How many there are.")]
    has_more: Annotated[bool, Meta(description="Whether there are more after these.")]
    start: Annotated[int, Meta(description="The index of the first one shown.")]
    variable_reference: Annotated[
        int | UnsetType, Meta(description="The reference that was unfolded.")
    ] = UNSET


class Hover(Variable, total=False):
    """The value of what stands at a place in the source."""

    expression: Annotated[str, Meta(description="The expression that was evaluated.")]


class WatchList(msgspec.Struct):
    """Every watch of a session."""

    watches: Annotated[list[Watch], Meta(description="The watches, in the order they were added.")]
    total: Annotated[int, Meta(description="How many there are.")]


class DeletedWatch(msgspec.Struct):
    """A watch that is gone."""

    watch_id: Annotated[str, Meta(description="The id that it had.")]
    deleted: Annotated[bool, Meta(description="Always true.")] = True


class Completion(TypedDict):
    """Something that can follow the text."""

    label: Annotated[str, Meta(description="The name.")]
    type: Annotated[str, Meta(description="What it is: field, function, module…")]
    start: Annotated[int, Meta(description="Where in the text it begins.")]
    length: Annotated[int, Meta(description="How much of the text it replaces.")]


class CompletionList(msgspec.Struct):
    """What can follow the text."""

    targets: Annotated[list[Completion], Meta(description="The completions, with their places.")]
    completions: Annotated[list[str], Meta(description="Their names alone.")]


class SourceText(msgspec.Struct):
    """The source of a file, or a part of it."""

    path: Annotated[str, Meta(description="The path of the file.")]
    file: Annotated[str, Meta(description="The same path.")]
    content: Annotated[str, Meta(description="The text.")]
    start_line: Annotated[int, Meta(description="The number of its first line.")]
    total_lines: Annotated[int, Meta(description="How many lines the file has.")]
    line: Annotated[
        int | UnsetType, Meta(description="Of a frame's source: the line that runs.")
    ] = UNSET
    executable_lines: Annotated[
        list[int] | UnsetType,
        Meta(
            description="Of a file that can be read here: those lines of this part at which a "
            "breakpoint can stop. None, if it is not Python or has a syntax error."
        ),
    ] = UNSET


# -- output, input, processes ---------------------------------------------------------------------


class OutputPage(msgspec.Struct):
    """What a program wrote after a cursor."""

    outputs: Annotated[list[OutputEntry], Meta(description="What was written, in order.")]
    cursor: Annotated[str, Meta(description="Where the next answer goes on.")]
    has_more: Annotated[bool, Meta(description="Whether there is more: ask again.")]
    dropped: Annotated[int, Meta(description="How many entries after the cursor were gone.")]


class OutputCleared(msgspec.Struct):
    """That the output so far is forgotten."""

    cursor: Annotated[str, Meta(description="Where new output begins.")]
    cleared: Annotated[bool, Meta(description="Always true.")] = True


class InputAccepted(ProgramStatus, kw_only=True):
    """That input was written to the program's stdin; with `wait`, what came of it."""

    bytes: Annotated[int, Meta(description="How many bytes.")]
    accepted: Annotated[bool, Meta(description="Always true.")] = True


class JoinInvitation(msgspec.Struct, kw_only=True):
    """How a process joins the session that was opened for it."""

    session_id: Annotated[str, Meta(description="The session.")]
    ticket: Annotated[
        str, Meta(description="A private file with the address to connect to and a secret.")
    ]
    probe: Annotated[str, Meta(description="The directory of the code that it loads.")]
    debugpy: Annotated[str, Meta(description="The directory that debugpy is in.")]
