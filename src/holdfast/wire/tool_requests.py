"""What the tools for agents take: over MCP, over HTTP and on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import UNSET, Meta

from holdfast.model.decision import names_at
from holdfast.wire.described import SystemText, VariableName, about
from holdfast.wire.program_requests import BreakpointSpec
from holdfast.wire.session_requests import Body, Query

DEFAULT_BUDGET = 800
MIN_BUDGET = 100
DEFAULT_TIMEOUT = 30.0
MAX_TIMEOUT = 50.0
"""Clients of MCP give up after 60 seconds."""

Budget = Annotated[int, about("At most so many tokens in the answer.", ge=MIN_BUDGET, le=20_000)]
Timeout = Annotated[
    float, about("Seconds; then it answers `running`, and goes on.", ge=0, le=MAX_TIMEOUT)
]
SessionId = Annotated[str | None, about("Default: the latest session.")]
Place = Annotated[str, about("`file:line`, `module.func`, or either with ` if condition`.")]
ShowSecrets = Annotated[bool, about("Show values that look like secrets.")]


class ToolQuery(Query):
    """Who calls a tool over HTTP."""

    client: Annotated[
        str | None,
        about("A name of your own: reports say what is new since the last one under this name."),
    ] = None
    cwd: Annotated[
        SystemText | None, about("The directory that you work in: paths are relative to it.")
    ] = None


class ToolRequest(Body, kw_only=True):
    """What every tool takes."""

    budget_tokens: Budget = DEFAULT_BUDGET

    @property
    def limit_tokens(self) -> int | None:
        """How long the answer may be; None: as long as it is."""
        return self.budget_tokens


_TARGET = "Script, module, `file.py::test`, or a command line: `pytest -k cart`."
Target = Annotated[SystemText, about(_TARGET, min_length=1)]
Arguments = Annotated[list[SystemText], about("Arguments of the program.")]
Variables = Annotated[dict[VariableName, SystemText | None], about("Variables; null unsets.")]
WorkingDirectory = Annotated[SystemText | None, about("Working directory.")]
Interpreter = Annotated[SystemText | None, about("Interpreter. Default: the project's own.")]
Input = Annotated[str | None, about("What the program reads.")]


class DebugRun(ToolRequest, kw_only=True):
    """Run a program to its first breakpoint, crash, failing test or end, and report it."""

    target: Target
    args: Arguments = []
    env: Variables = {}
    cwd: WorkingDirectory = None
    python: Interpreter = None
    stdin: Input = None
    breakpoints: Annotated[
        list[Place | BreakpointSpec],
        about("`file:line`, `module.func`, either with ` if condition`; or objects."),
    ] = []
    collect: Annotated[
        list[str],
        about("Expressions: a table, a row for each hit, without stopping."),
    ] = []
    until: Annotated[str | None, about("Stop where this is true, or at this `file:line`.")] = None
    max_hits: Annotated[
        Annotated[int, Meta(ge=1, le=10_000)] | None,
        about("Stop at this hit, or after so many rows."),
    ] = None
    exceptions: Annotated[
        Literal["uncaught", "raised", "none"], about("Which exceptions stop it.")
    ] = "uncaught"
    subprocesses: Annotated[bool, about("Debug child processes, too.")] = False
    timeout: Timeout = DEFAULT_TIMEOUT
    show_secrets: ShowSecrets = False


class DebugContinue(ToolRequest, kw_only=True):
    """Let it run to its next stop, or wait for it if it runs."""

    session_id: SessionId = None
    input: Annotated[str | None, about("A line that it waits for; `\\x04` ends its input.")] = None
    until: Annotated[str | None, about("`file:line`, or an expression to become true.")] = None
    timeout: Timeout = DEFAULT_TIMEOUT
    show_secrets: ShowSecrets = False


StepKind = Literal["over", "into", "out", "to_line", "return", "pause"]


class DebugStep(ToolRequest, kw_only=True):
    """Step. `count` and `until` make several steps in one call."""

    session_id: SessionId = None
    kind: Annotated[
        StepKind,
        about("`to_line`: to `line`; `return`: to the end of the frame; `pause`: stop a run."),
    ] = "over"
    count: Annotated[int, about("How many steps; with `until`, at most.", ge=1, le=1000)] = 1
    until: Annotated[str | None, about("Until this is true.")] = None
    line: Annotated[int | None, about("For `to_line`.")] = None
    timeout: Timeout = DEFAULT_TIMEOUT
    show_secrets: ShowSecrets = False


class DebugInspect(ToolRequest, kw_only=True):
    """Look at a stop again: source, stack, variables; unfold a value; several expressions."""

    session_id: SessionId = None
    frame: Annotated[int, about("0 is where it stopped, 1 its caller…", ge=0)] = 0
    expand: Annotated[str | None, about("A value to unfold: `q.child`, `rows[3]`.")] = None
    expressions: Annotated[list[str], about("Expressions to evaluate there.")] = []
    show: Annotated[
        list[Literal["locals", "stack", "source", "output", "threads", "breakpoints"]],
        about("Which parts."),
    ] = []
    start: Annotated[int, about("From which item, frame or line on.", ge=0)] = 0
    capture: Annotated[str | None, about("Instead of a session: a capture, or `latest`.")] = None
    show_secrets: ShowSecrets = False


class DebugEvaluate(ToolRequest, kw_only=True):
    """Evaluate an expression, or run a statement, where the program stands."""

    expression: Annotated[str, about("Python.", min_length=1)]
    session_id: SessionId = None
    frame: Annotated[int, about("0 is where it stopped, 1 its caller…", ge=0)] = 0
    timeout: Timeout = 10.0
    show_secrets: ShowSecrets = False


class DebugSetBreakpoints(ToolRequest, kw_only=True):
    """Set and remove breakpoints while a session lives; answers with all of them."""

    session_id: SessionId = None
    add: Annotated[list[Place | BreakpointSpec], about("As `breakpoints` of debug_run.")] = []
    watch: Annotated[list[str], about("Stop where it is written: `cart.total`.")] = []
    remove: Annotated[list[str], about("Ids or places; `all` for all.")] = []
    exceptions: Annotated[
        Literal["uncaught", "raised", "none"] | None, about("Which exceptions stop it.")
    ] = None


Recorded = Annotated[
    str | None,
    about("Instead of a run: a recording, a capture, `latest`."),
]


Again = Annotated[bool, about("Run it again for what was not recorded.")]


class DebugTrace(ToolRequest, kw_only=True):
    """One call's whole life: arguments, each line with what it changed, callees, its result."""

    target: Annotated[SystemText | None, about(_TARGET)] = None
    args: Arguments = []
    function: Annotated[
        str | None,
        about("`module.func`, `Class.method`; a bare name: the script's. None: the call tree."),
    ] = None
    call: Annotated[Annotated[int, Meta(ge=1)] | None, about("Which call, from 1 on.")] = None
    where: Annotated[str | None, about("The first call with, say, `n > 3`.")] = None
    raised: Annotated[bool, about("The first call that raised.")] = False
    full: Annotated[bool, about("Fold no loop.")] = False
    trace: Recorded = None
    go: Annotated[
        Literal["parent", "child", "next", "previous"] | None,
        about("In a recording, from that call."),
    ] = None
    find: Annotated[str | None, about("Where the recording has this value.")] = None
    again: Again = False
    env: Variables = {}
    cwd: WorkingDirectory = None
    python: Interpreter = None
    stdin: Input = None
    timeout: Timeout = DEFAULT_TIMEOUT
    show_secrets: ShowSecrets = False
    budget_tokens: Annotated[int, about("With `full`: no limit.", ge=0, le=20_000)] = 0

    def __post_init__(self) -> None:
        if 0 < self.budget_tokens < MIN_BUDGET:
            raise ValueError(f"budget_tokens: expected `int` >= {MIN_BUDGET}")

    @property
    def limit_tokens(self) -> int | None:
        return self.budget_tokens or (None if self.full else DEFAULT_BUDGET)


class DebugWhy(ToolRequest, kw_only=True):
    """Where a value came from: the write that made it, and what fed that."""

    variable: Annotated[
        str | None, about("`total`, `order.total`, `rows[2]`. None: the exception.")
    ] = None
    at: Annotated[str | None, about("`file:line`, before it runs.")] = None
    hit: Annotated[int, about("Which time; -1: the last.")] = 1
    target: Annotated[SystemText | None, about("Default: the file of `at`.")] = None
    args: Arguments = []
    trace: Recorded = None
    again: Again = False
    env: Variables = {}
    cwd: WorkingDirectory = None
    python: Interpreter = None
    stdin: Input = None
    timeout: Timeout = DEFAULT_TIMEOUT
    show_secrets: ShowSecrets = False


class DebugDiff(ToolRequest, kw_only=True):
    """The first place where two runs differ, with both states."""

    run_a: Annotated[SystemText | None, about("A recording, a capture, or a command line.")] = None
    run_b: Annotated[SystemText | None, about("The other one.")] = None
    against: Annotated[SystemText | None, about("A commit: `target` then and now.")] = None
    target: Annotated[SystemText | None, about("With `against`.")] = None
    args: Arguments = []
    env: Variables = {}
    cwd: WorkingDirectory = None
    python: Interpreter = None
    stdin: Input = None
    timeout: Timeout = DEFAULT_TIMEOUT
    show_secrets: ShowSecrets = False


class DebugSessions(ToolRequest, kw_only=True):
    """List sessions (programs, calls, agents) and captures of failing tests."""

    limit: Annotated[int, about("At most so many.", ge=1, le=200)] = 20


class DebugStop(ToolRequest, kw_only=True):
    """End a session and its program."""

    session_id: Annotated[str | None, about("`all`: all of yours.")] = None


HoldTimeout = Annotated[float, about("Seconds to wait for that.", ge=0, le=MAX_TIMEOUT)]


class ListHolds(ToolRequest, kw_only=True):
    """What waits for a decision: programs, calls and agents, with their actions."""

    session_id: Annotated[str | None, about("Only those of this session.")] = None
    hold_id: Annotated[str | None, about("Only this one, in full.")] = None
    evaluate: Annotated[list[str], about("With hold_id: expressions there.")] = []
    wait: Annotated[float, about("Seconds to wait for one.", ge=0, le=MAX_TIMEOUT)] = 0
    show_secrets: ShowSecrets = False


if TYPE_CHECKING:
    HoldAction = str
else:
    HoldAction = Literal[names_at()]  # of every moment in the table of decisions


class DecideHold(ToolRequest, kw_only=True):
    """Decide a hold, and see what comes of it. The first decision wins."""

    hold_id: Annotated[str, about("The hold.", min_length=1)]
    action: Annotated[HoldAction, about("What to do.")]
    value: Annotated[Any, about("skip: the result.")] = UNSET
    literal: Annotated[str | None, about("skip: as a Python literal.")] = None
    args: Annotated[dict[str, Any], about("modify: by name (of a model: messages, system).")] = {}
    literals: Annotated[dict[str, str], about("modify: as Python literals.")] = {}
    exception: Annotated[str | None, about("raise: `ValueError`, or a dotted path.")] = None
    message: Annotated[str | None, about("raise, inject: the text.")] = None
    role: Annotated[str | None, about("inject: user, assistant or system.")] = None
    function: Annotated[str | None, about("replace: a registered function.")] = None
    timeout: HoldTimeout = 10.0


class SearchCalls(ToolRequest, kw_only=True):
    """Search recorded calls of applications, newest first; or show one, or its tree."""

    function: Annotated[str | None, about("Name, or pattern such as `Cart.*`.")] = None
    where: Annotated[
        str | None,
        about("`item == 'tea'`, `status == 'exception'`, `duration > 1`."),
    ] = None
    session_id: Annotated[str | None, about("Only those of this session.")] = None
    call_id: Annotated[str | None, about("Only this one, in full.")] = None
    tree: Annotated[bool, about("With call_id: the calls made within it.")] = False
    before: Annotated[str | None, about("`older` of the last answer.")] = None
    limit: Annotated[int, about("At most so many.", ge=1, le=200)] = 20
    show_secrets: ShowSecrets = False


AgentVerb = Literal[
    "status",
    "pause",
    "resume",
    "step",
    "inspect",
    "inject",
    "set",
    "cancel",
    "break",
    "breakpoints",
    "unbreak",
]


class ControlAgent(ToolRequest, kw_only=True):
    """Look at and steer another agent's loop. hold_decide decides what it holds."""

    command: Annotated[AgentVerb, about("What to do.")] = "status"
    session_id: Annotated[str | None, about("Id or name. Default: the latest agent.")] = None
    lane: Annotated[str | None, about("Of several agents.")] = None
    breakpoint: Annotated[
        str | None,
        about(
            "break: `tool:write_*`, `model`, `iteration:3`, `pattern:rm -rf`, `error`, "
            "`call:Cart.*`; unbreak: id or `all`."
        ),
    ] = None
    condition: Annotated[str | None, about("break: only if `input['n'] > 3`.")] = None
    what: Annotated[
        Literal["all", "messages", "context", "tools"] | None, about("inspect: which part.")
    ] = None
    start: Annotated[int | None, about("inspect: from this message; below 0, the last.")] = None
    message: Annotated[str | None, about("inject: the text.")] = None
    role: Annotated[str | None, about("inject: user, assistant or system.")] = None
    key: Annotated[str | None, about("set: a variable.")] = None
    value: Annotated[Any, about("set: its value.")] = UNSET
    tool_id: Annotated[str | None, about("cancel: the tool call.")] = None
    timeout: HoldTimeout = 10.0
