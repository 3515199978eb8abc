"""What clients may send about programs: how to start them, run them and look into them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType, field

from holdfast.model.launch import Attach, Launch, LaunchChanges, Preparation
from holdfast.wire.described import Label, SystemText, VariableName, about
from holdfast.wire.session_requests import (
    Body,
    By,
    CwdSetting,
    EvaluateSetting,
    Include,
    MaxChars,
    NameSetting,
    OutputBytes,
    OutputSetting,
    OutputSince,
    Query,
    Seconds,
    SessionSettings,
    TimeoutSetting,
    Wait,
)

OUTPUT_TYPES = ("stdout", "stderr", "log")
Environment = dict[VariableName, SystemText | None]
TerminalSide = Annotated[int, Meta(gt=0, lt=65536)]
StopOnException = bool | Literal["uncaught"]
HoldId = Annotated[
    str | None, about("The stop that is asked about. If it is over, the answer is 409, HOLD_OVER.")
]

# -- what is set before a start -------------------------------------------------------------------


class BreakpointSource(Body):
    """A source by its path, as debug adapters name it."""

    path: Annotated[SystemText, about("The path of the file.")]


class BreakpointSpec(Body):
    """Where to stop: `file` (or `source`) and `line`, or `function`."""

    file: Annotated[SystemText | None, about("The path of the file.")] = None
    source: Annotated[BreakpointSource | None, about("The file, in another form.")] = None
    line: Annotated[int | None, about("The line, counted from 1.")] = None
    function: Annotated[
        str | None,
        about(
            "Instead of a line: a function, such as `module.func` or `Class.method`, or a pattern "
            "of names with `*`, `?` and `[…]`."
        ),
    ] = None
    condition: Annotated[str | None, about("Stop only where this expression is true.")] = None
    hit_condition: Annotated[
        str | int | None, about("On which hits: `N`, `== N`, `> N`, `>= N`, `< N`, `<= N`, `% N`.")
    ] = None
    log_message: Annotated[
        str | None, about("Write this, with `{expressions}` filled in, and do not stop.")
    ] = None
    enabled: Annotated[bool, about("Whether it is on.")] = True
    strict: Annotated[bool, about("Whether a missing file is an error.")] = False

    def __post_init__(self) -> None:
        for name in ("condition", "log_message"):
            text = getattr(self, name)
            if text is not None and not text.strip():
                setattr(self, name, None)
        self.check_place()

    def check_place(self) -> None:
        path = self.path
        if self.function is not None:
            if path is not None or self.line is not None:
                raise ValueError("a function breakpoint has no file or line")
            if not self.function.strip():
                raise ValueError("function is empty")
        elif path is None or not path.strip():
            raise ValueError("give file (or source.path) and line, or function")
        elif self.line is None:
            raise ValueError("line is missing")

    @property
    def path(self) -> str | None:
        if self.file is None and self.source is not None:
            return self.source.path
        return self.file

    def fields(self) -> dict[str, Any]:
        """The fields of a breakpoint that were given."""
        hit = self.hit_condition
        values = {
            "file": self.path,
            "line": self.line,
            "function": self.function.strip() if self.function else None,
            "condition": self.condition,
            "hit_condition": None if hit is None else str(hit),
            "log_message": self.log_message,
            "enabled": self.enabled,
        }
        return {name: value for name, value in values.items() if value is not None}


ExceptionFilter = Literal["raised", "uncaught", "userUnhandled"]
FirstBreakpoints = Annotated[
    BreakpointSpec | list[BreakpointSpec] | None,
    about("Breakpoints to set before the program starts: one, or a list; those it has stay."),
]
FirstFilters = Annotated[
    list[ExceptionFilter] | None,
    about("Which exceptions stop the program; null: as they are set."),
]


def _prepare(
    breakpoints: BreakpointSpec | list[BreakpointSpec] | None,
    filters: list[ExceptionFilter] | None,
) -> Preparation:
    points = breakpoints if isinstance(breakpoints, list) else [breakpoints] if breakpoints else []
    return Preparation(
        [point.fields() for point in points], [point.strict for point in points], filters
    )


# -- start ----------------------------------------------------------------------------------------


class AttachOptions(Body):
    """Which running program to attach to, and how."""

    pid: Annotated[Annotated[int, Meta(gt=0)] | None, about("The process to attach to.")] = None
    host: Annotated[str | None, about("Where a debugpy listens; null: 127.0.0.1.")] = None
    port: Annotated[
        Annotated[int, Meta(gt=0, lt=65536)] | None, about("The port on which a debugpy listens.")
    ] = None
    just_my_code: Annotated[bool, about("Whether `raised` and step-into skip libraries.")] = False
    debug_subprocesses: Annotated[
        bool, about("Whether each child process becomes a session of its own.")
    ] = False
    stop_all_threads: Annotated[bool, about("Whether a stop holds every thread.")] = True
    path_mappings: Annotated[
        list[tuple[str, str]],
        about(
            "Pairs of a directory here and the same one there: breakpoints are set, and places"
            " are answered, with paths here."
        ),
    ] = []

    def to_attach(self) -> Attach:
        return Attach(
            pid=self.pid,
            host=(self.host or "127.0.0.1") if self.port else None,
            port=self.port,
            just_my_code=self.just_my_code,
            debug_subprocesses=self.debug_subprocesses,
            stop_all_threads=self.stop_all_threads,
            path_mappings=tuple((here, there) for here, there in self.path_mappings),
        )


class AttachRequest(AttachOptions):
    """A program that runs already: a process of this machine, or a debugpy that listens."""

    breakpoints: FirstBreakpoints = None
    exception_filters: FirstFilters = None
    wait: Wait = None
    include: Include = None
    output_since: OutputSince = None
    output_bytes: OutputBytes = None

    def __post_init__(self) -> None:
        if (self.pid is None) == (self.port is None):
            raise ValueError("give either pid, or port (with host, 127.0.0.1 if left out)")

    def to_preparation(self) -> Preparation:
        return _prepare(self.breakpoints, self.exception_filters)


class JoinRequest(Body):
    """A process that wants to be debugged."""

    pid: Annotated[int, about("The process.", gt=0)]
    name: Annotated[
        Annotated[str, Meta(max_length=500)] | None, about("What its session is called.")
    ] = None


class LaunchOptions(Body):
    """What to start, and how."""

    script: Annotated[
        SystemText | None,
        about("The path of a script, or of a directory or zip file with a `__main__.py`."),
    ] = None
    module: Annotated[SystemText | None, about("A module to run, as `python -m` does.")] = None
    code: Annotated[str | None, about("A piece of code to run, as `python -c` does.")] = None
    args: Annotated[list[SystemText], about("The program's command line arguments.")] = []
    env: Annotated[Environment, about("Environment variables to set; null removes one.")] = {}
    cwd: Annotated[
        SystemText | None,
        about("The working directory; null: the session's, else the script's directory."),
    ] = None
    # A pattern in the second choice would crash the interpreter at its exit (msgspec 0.22).
    pythonpath: Annotated[
        list[SystemText] | str, about("Directories that are put first in the import path.")
    ] = []
    python_path: Annotated[SystemText | None, about("The Python interpreter to use.")] = None
    python_args: Annotated[
        list[SystemText],
        about("Flags of the interpreter, such as `-O`, `-X dev` or `-W error`, one item a word."),
    ] = []
    venv: Annotated[SystemText | None, about("The virtual environment whose Python is used.")] = (
        None
    )
    stdin_inputs: Annotated[list[str], about("What the program reads from its stdin first.")] = []
    terminal: Annotated[
        bool,
        about(
            "Whether its stdin, stdout and stderr are a terminal. It echoes what is written to "
            "stdin, `\\u0003` there interrupts the program, and all output is of type stdout."
        ),
    ] = False
    terminal_size: Annotated[
        Annotated[list[TerminalSide], Meta(min_length=2, max_length=2)],
        about("The columns and rows of the terminal."),
    ] = field(default_factory=lambda: [80, 24])
    stop_on_exception: Annotated[
        StopOnException,
        about("Whether exceptions of the user's code stop it; `uncaught`: only uncaught ones."),
    ] = False
    stop_on_entry: Annotated[bool, about("Whether it stops at its first line.")] = False
    just_my_code: Annotated[bool, about("Whether `raised` and step-into skip libraries.")] = False
    debug_subprocesses: Annotated[
        bool, about("Whether each child process becomes a session of its own.")
    ] = False
    stop_all_threads: Annotated[bool, about("Whether a stop holds every thread.")] = True
    route: Annotated[
        Literal["auto", "direct", "adapter"],
        about("How to reach the program; `adapter` goes through debugpy's own adapter."),
    ] = "auto"


_ONE_TARGET = "give exactly one of script, module and code"


class LaunchRequest(LaunchOptions, dict=True):
    """A program to start: one of `script`, `module` and `code`.

    Without any of them, it is what the session launched before, or what its original launched: a
    clone or an import may be launched with `{}`. Other fields that are given replace those of it.
    """

    program: Annotated[SystemText | None, about("Another name for `script`.")] = None
    python: Annotated[SystemText | None, about("Another name for `python_path`.")] = None
    breakpoints: FirstBreakpoints = None
    exception_filters: FirstFilters = None
    wait: Wait = None
    include: Include = None
    output_since: OutputSince = None
    output_bytes: OutputBytes = None

    def __post_init__(self) -> None:
        given = self._list_targets()
        if len(given) > 1:
            raise ValueError(_ONE_TARGET)
        if given and not getattr(self, given[0]).strip():
            raise ValueError(f"{given[0]} is empty")
        if "\0" in self.pythonpath:
            raise ValueError("pythonpath cannot hold a null character")

    def _list_targets(self) -> list[str]:
        names = ("script", "program", "module", "code")
        return [name for name in names if getattr(self, name) is not None]

    def require_target(self) -> None:
        """Require one in a request or a document that has this as its `launch`."""
        if not self._list_targets():
            raise ValueError(f"in launch, {_ONE_TARGET}")

    def note_given(self, names: Iterable[str]) -> None:
        """Note which fields the request has, because their defaults may be given, too."""
        self.__dict__["given"] = frozenset(names)

    def to_start(self) -> Launch | LaunchChanges:
        """The launch, or what to change of the session's own if no target is named."""
        launch = self.to_launch()
        if self._list_targets():
            return launch
        named = self.__dict__.get("given", ())  # a request without a body gives none
        given = {"python_path" if name == "python" else name for name in named}
        names = [name for name in LaunchOptions.__struct_fields__ if name in given]
        return LaunchChanges({name: getattr(launch, name) for name in names})

    def to_preparation(self) -> Preparation:
        return _prepare(self.breakpoints, self.exception_filters)

    def to_launch(self) -> Launch:
        path = self.pythonpath
        return Launch(
            script=self.script if self.script is not None else self.program,
            module=self.module,
            code=self.code,
            args=tuple(self.args),
            env=self.env,
            cwd=self.cwd,
            pythonpath=tuple(path.split(os.pathsep) if isinstance(path, str) else path),
            python_path=self.python_path or self.python,
            python_args=tuple(self.python_args),
            venv=self.venv,
            stdin_inputs=tuple(self.stdin_inputs),
            terminal=self.terminal,
            terminal_size=(self.terminal_size[0], self.terminal_size[1]),
            stop_on_exception=self.stop_on_exception,
            stop_on_entry=self.stop_on_entry,
            just_my_code=self.just_my_code,
            debug_subprocesses=self.debug_subprocesses,
            stop_all_threads=self.stop_all_threads,
            route=self.route,
        )


class CreateSession(AttachOptions):
    """A new session: empty, or with `launch` or `mode: attach` of a program, from its start on."""

    name: NameSetting = UNSET
    cwd: CwdSetting = UNSET
    timeout_minutes: TimeoutSetting = UNSET
    output_limit_bytes: OutputSetting = UNSET
    evaluate_timeout: EvaluateSetting = UNSET
    mode: Annotated[
        Literal["launch", "attach"], about("`attach`: attach at once, to `pid` or `port`.")
    ] = "launch"
    launch: Annotated[
        LaunchRequest | None, about("Launch this at once; if that is refused, there is no session.")
    ] = None
    breakpoints: FirstBreakpoints = None
    exception_filters: FirstFilters = None
    breakpoint_profile: Annotated[
        str | None, about("The profile whose breakpoints the session begins with.")
    ] = None
    wait: Wait = None
    include: Include = None
    output_since: OutputSince = None
    output_bytes: OutputBytes = None

    def __post_init__(self) -> None:
        if self.launch is not None:
            if self.mode == "attach":
                raise ValueError('launch goes with mode "launch"')
            self.launch.require_target()

    def to_start(self) -> Launch | Attach | None:
        """What the session begins with; None: nothing runs in it yet."""
        if self.mode == "attach":
            return self.to_attach()
        return None if self.launch is None else self.launch.to_launch()

    def to_preparation(self) -> Preparation:
        """The breakpoints of both places; the filters of the launch, if it has some."""
        own = _prepare(self.breakpoints, self.exception_filters)
        if self.launch is None:
            return own
        more = self.launch.to_preparation()
        filters = more.exception_filters
        return Preparation(
            [*own.breakpoints, *more.breakpoints],
            [*own.strict, *more.strict],
            own.exception_filters if filters is None else filters,
        )


# -- run ------------------------------------------------------------------------------------------


class RunRequest(Body):
    """Options of every request that makes a program run."""

    wait: Wait = None
    include: Include = None
    output_since: OutputSince = None
    output_bytes: OutputBytes = None
    thread_id: Annotated[int | None, about("The thread to run; null: the one that stopped.")] = None
    lane: Annotated[str | None, about("Of an agent: the lane that is meant; null: all.")] = None
    by: By = None


class ContinueRequest(RunRequest):
    """How far to run."""

    watch_until: Annotated[
        str | None,
        about("Stop when this expression becomes true, or when the frame that it is of returns."),
    ] = None
    frame_id: Annotated[int, about("The frame whose names `watch_until` means.")] = 0


class WatchUntil(RunRequest, kw_only=True):
    """An expression that ends the run when it becomes true."""

    expression: Annotated[str, about("A Python expression.", min_length=1)]
    frame_id: Annotated[int, about("The frame whose names it means.")] = 0


class RestartRequest(RunRequest):
    """What to change before a program is run over; what is left out stays."""

    args: Annotated[list[SystemText] | None, about("Other command line arguments.")] = None
    env: Annotated[Environment | None, about("Other environment variables.")] = None
    stop_on_entry: Annotated[bool | None, about("Whether it stops at its first line.")] = None
    stop_on_exception: Annotated[
        StopOnException | None, about("Whether exceptions of the user's code stop it.")
    ] = None

    def changes(self) -> dict[str, Any]:
        """Fields of the launch that are to be replaced."""
        changes = {
            "args": None if self.args is None else tuple(self.args),
            "env": self.env,
            "stop_on_entry": self.stop_on_entry,
            "stop_on_exception": self.stop_on_exception,
        }
        return {name: value for name, value in changes.items() if value is not None}


# -- breakpoints ----------------------------------------------------------------------------------


class SetBreakpoints(BreakpointSpec):
    """One breakpoint; or `breakpoints`, or the `profile` that has them: all are set or none is."""

    breakpoints: Annotated[
        list[BreakpointSpec] | None, about("Several breakpoints, instead of one.")
    ] = None
    profile: Annotated[str | None, about("The name of a profile, instead of breakpoints.")] = None
    replace: Annotated[
        bool,
        about(
            "Whether a line breakpoint takes the place of what clients of this API have set at its "
            "line: that one gets the new condition and keeps its id. Otherwise there are two."
        ),
    ] = False

    def check_place(self) -> None:
        if self.breakpoints is None and self.profile is None:
            super().check_place()
        elif self.breakpoints is not None and self.profile is not None:
            raise ValueError("give breakpoints (a list) or profile (a name)")
        elif self.path is not None or self.line is not None or self.function is not None:
            raise ValueError("breakpoints and profile have no file, line or function beside them")


class BreakpointChanges(Body):
    """Fields left out stay; null removes a condition, hit condition or log message."""

    line: Annotated[int | UnsetType | None, about("Another line.")] = UNSET
    condition: Annotated[str | UnsetType | None, about("Another condition.")] = UNSET
    hit_condition: Annotated[str | int | UnsetType | None, about("Another hit condition.")] = UNSET
    log_message: Annotated[str | UnsetType | None, about("Another log message.")] = UNSET
    enabled: Annotated[bool | UnsetType | None, about("Whether it is on.")] = UNSET

    def changes(self) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in self.__struct_fields__}
        changes = {name: value for name, value in values.items() if value is not UNSET}
        for name in ("line", "enabled"):
            if changes.get(name, UNSET) is None:
                del changes[name]
        if changes.get("hit_condition") is not None:
            changes["hit_condition"] = str(changes["hit_condition"])
        return changes


class DataBreakpointSpec(Body):
    """A value to watch: `name` (in the frame `frame_id`, or in the value of a `reference`), or a
    `data_id` that was given before."""

    name: Annotated[
        str | None, about("`counter`, `c.value`, `d['k']`, `items[1]`, or any expression.")
    ] = None
    frame_id: Annotated[int, about("The frame whose names are meant; 0 is the innermost.")] = 0
    reference: Annotated[
        int | None, about("The value of which `name` is a part, instead of a frame.")
    ] = None
    data_id: Annotated[str | None, about("What `GET data-breakpoint-info` gave.")] = None
    access_type: Annotated[
        Literal["write", "change"], about("At every write, or only if the value is another one.")
    ] = "write"
    condition: Annotated[
        str | None,
        about("Stop only where this is true; it knows `old` and `new`, and the writer's names."),
    ] = None
    hit_condition: Annotated[
        str | int | None, about("On which hits: `N`, `== N`, `> N`, `>= N`, `< N`, `<= N`, `% N`.")
    ] = None
    enabled: Annotated[bool, about("Whether it is on.")] = True

    def __post_init__(self) -> None:
        if bool(self.name) == bool(self.data_id):
            raise ValueError("give name (and frame_id or reference), or data_id")
        if self.data_id and self.reference is not None:
            raise ValueError("reference goes with name, not with data_id")

    def fields(self) -> dict[str, Any]:
        """The fields that were given."""
        hit = self.hit_condition
        values = {
            "name": self.name or None,
            "frame_id": self.frame_id if self.name else None,
            "reference": self.reference,
            "data_id": self.data_id or None,
            "access": self.access_type,
            "condition": (self.condition or "").strip() or None,
            "hit_condition": None if hit is None else str(hit),
            "enabled": self.enabled,
        }
        return {name: value for name, value in values.items() if value is not None}


class DataInfoQuery(Query):
    """What to watch: `name` in a frame, or in the value of a reference."""

    name: Annotated[str, about("A variable, an attribute, an item, or any expression.")]
    frame_id: Annotated[int, about("The frame whose names are meant; 0 is the innermost.")] = 0
    reference: Annotated[
        int | None, about("The value of which `name` is a part, instead of a frame.")
    ] = None
    hold_id: HoldId = None


class SetExceptionBreakpoints(Body):
    """Which exceptions stop a program."""

    filters: Annotated[list[ExceptionFilter], about("Which moments stop it.")] = []
    types: Annotated[list[str], about("Class names that these are narrowed to.")] = []


class SaveProfile(Body):
    """A named set of breakpoints."""

    name: Annotated[Label, about("The name of the profile, of at most 200 characters.")]
    breakpoints: Annotated[list[BreakpointSpec], about("Its breakpoints.")]


# -- inspection -----------------------------------------------------------------------------------


class HoldQuery(Query):
    """At which stop."""

    hold_id: HoldId = None


class PageQuery(HoldQuery):
    """Which page of a list; `offset` and `limit` are other names for `start` and `count`."""

    start: Annotated[Annotated[int, Meta(ge=0)] | None, about("The index of the first.")] = None
    count: Annotated[Annotated[int, Meta(ge=0, le=100_000)] | None, about("How many at most.")] = (
        None
    )
    offset: Annotated[Annotated[int, Meta(ge=0)] | None, about("Another name for `start`.")] = None
    limit: Annotated[
        Annotated[int, Meta(ge=0, le=100_000)] | None, about("Another name for `count`.")
    ] = None

    @property
    def first(self) -> int:
        return (self.start if self.start is not None else self.offset) or 0

    @property
    def size(self) -> int | None:
        return self.count if self.count is not None else self.limit


class StackQuery(PageQuery):
    """Which frames of which thread."""

    thread_id: Annotated[int | None, about("The thread; null: the one that stopped.")] = None


class ItemsQuery(PageQuery):
    """Which parts of a value; of a string or bytes, which characters."""

    count: Annotated[
        Annotated[int, Meta(ge=0, le=1_000_000)] | None,
        about("How many at most; null: 100, or 10,000 characters of a string."),
    ] = None
    max_chars: MaxChars = None


class VariablesQuery(PageQuery):
    """Which variables."""

    max_chars: MaxChars = None
    summary: Annotated[bool, about("Types and sizes only, without values.")] = False


class SourceQuery(HoldQuery):
    """Which source: `path` or `frame_id`."""

    path: Annotated[str | None, about("The path of the file.")] = None
    frame_id: Annotated[int | None, about("The frame whose source is wanted.")] = None
    start: Annotated[Annotated[int, Meta(ge=1)] | None, about("The first line.")] = None
    count: Annotated[
        Annotated[int, Meta(ge=0, le=100_000)] | None, about("How many lines at most.")
    ] = None


class SetVariable(Body):
    """A new value for a variable."""

    name: Annotated[str, about("The name of the variable, or of a part of a value.", min_length=1)]
    value: Annotated[str, about("A Python expression for its new value.")]
    timeout: Annotated[Seconds | None, about("How many seconds it may take.")] = None
    hold_id: HoldId = None


class AddWatch(Body):
    """An expression whose value is wanted at every stop."""

    expression: Annotated[str, about("A Python expression.", min_length=1)]
    hold_id: HoldId = None


class CompleteText(Body):
    """A text to complete."""

    text: Annotated[str, about("What was typed so far.")]
    frame_id: Annotated[int, about("The frame whose names are meant; 0 is the innermost.")] = 0
    column: Annotated[
        Annotated[int, Meta(ge=1)] | None, about("The column of the cursor; null: the end.")
    ] = None
    hold_id: HoldId = None


class HoverRequest(Body):
    """What to look at: `expression`, or what stands at `line` and `column`."""

    expression: Annotated[str | None, about("A name, an attribute or an item.")] = None
    frame_id: Annotated[int, about("The frame whose names are meant; 0 is the innermost.")] = 0
    file: Annotated[str | None, about("The path of the file; null: the frame's.")] = None
    line: Annotated[Annotated[int, Meta(ge=1)] | None, about("A line of that file.")] = None
    column: Annotated[Annotated[int, Meta(ge=1)] | None, about("A column of that line.")] = None
    hold_id: HoldId = None

    def __post_init__(self) -> None:
        if not self.expression and (self.line is None or self.column is None):
            raise ValueError("give expression, or line and column (and file)")


class LaunchesQuery(Query):
    """How many of the latest launches."""

    limit: Annotated[int, about("At most so many.", ge=1, le=50)] = 20


# -- output and input -----------------------------------------------------------------------------


class OutputQuery(Query):
    """Which output."""

    since: Annotated[str | None, about("Only what came after this cursor.")] = None
    limit: Annotated[int, about("How many entries at most.", ge=1, le=100_000)] = 1000
    type: Annotated[
        str | None, about(f"Only {', '.join(OUTPUT_TYPES)}: one of them, or some with commas.")
    ] = None
    wait: Annotated[str | None, about("Wait for new output: seconds, or `true`.")] = None


class StreamQuery(Query):
    """Where a stream begins."""

    since: Annotated[str | None, about("Only what came after this cursor.")] = None


class SendInput(Body):
    """What to write to a program's stdin."""

    input: Annotated[str | None, about("The text, with its line ends.")] = None
    text: Annotated[str | None, about("Another name for `input`.")] = None
    close: Annotated[bool, about("Whether stdin ends after this.")] = False
    wait: Wait = None
    include: Include = None
    output_since: OutputSince = None
    output_bytes: OutputBytes = None

    def __post_init__(self) -> None:
        if self.input is None and self.text is None and not self.close:
            raise ValueError("give input, or close: true")


# -- copies ---------------------------------------------------------------------------------------


class CloneSession(Body):
    """How to call the copy."""

    name: Annotated[
        Annotated[str, Meta(max_length=500)] | None, about("The name of the new session.")
    ] = None


class ExportedBreakpoint(BreakpointSpec):
    """A breakpoint of an exported session."""

    id: Annotated[
        Annotated[str, Meta(pattern=r"^bp_[0-9a-f]{1,15}$")] | None,
        about("The id that it had. In the new session it has another one."),
    ] = None


class ExportedExceptions(SetExceptionBreakpoints):
    """Which exceptions stop an exported session's program."""

    user_code_only: Annotated[bool, about("Whether those inside libraries are left out.")] = False


class ImportSession(Body):
    """What `GET /sessions/{session_id}/export` gave."""

    version: Annotated[Literal[1], about("The version of the format.")] = 1
    name: Annotated[
        Annotated[str, Meta(max_length=500)] | None,
        about("The session's name, if `config` has none."),
    ] = None
    config: Annotated[SessionSettings | None, about("The session's settings.")] = None
    launch: Annotated[LaunchRequest | None, about("What it launched.")] = None
    attach: Annotated[AttachRequest | None, about("What it attached to.")] = None
    breakpoints: Annotated[list[ExportedBreakpoint], about("Its breakpoints.")] = []
    exception_breakpoints: Annotated[
        ExportedExceptions | None, about("Which exceptions stop it.")
    ] = None
    watches: Annotated[list[str], about("The expressions that it watches.")] = []

    def __post_init__(self) -> None:
        if self.launch is not None:
            self.launch.require_target()
