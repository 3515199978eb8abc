"""What clients may send, each with an example that works."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    PlainValidator,
    Tag,
    WithJsonSchema,
    field_validator,
    model_validator,
)


def _patience(value: Any) -> Any:
    if isinstance(value, bool | int | float | str):
        return value
    raise ValueError("give true, false or a number of seconds")


Wait = Annotated[
    bool | float | int | str,
    PlainValidator(_patience),
    WithJsonSchema({"anyOf": [{"type": "boolean"}, {"type": "number"}, {"type": "string"}]}),
]


def _without_null(value: str) -> str:
    if "\0" in value:
        raise ValueError("it cannot hold a null character")
    return value


def _variable(name: str) -> str:
    if not name or "=" in name:
        raise ValueError("the name of an environment variable is not empty and has no `=`")
    return _without_null(name)


Text = Annotated[str, AfterValidator(_without_null)]
"""What is handed to the operating system: it ends at the first null character there."""
Environment = dict[Annotated[str, AfterValidator(_variable)], Text | None]


class Body(BaseModel):
    """Unknown fields are refused: a misspelt option must not be silently ignored."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=False)


def _example(**value: Any) -> ConfigDict:
    return ConfigDict(extra="forbid", json_schema_extra={"example": value})


class Configuration(Body):
    """Settings of a session, at creation or later."""

    model_config = _example(name="debug-my-script", cwd="/code", timeout_minutes=120)

    name: str | None = Field(None, max_length=500)
    cwd: Text | None = Field(None, description="The project directory; relative paths start here.")
    timeout_minutes: float | None = Field(None, gt=0, le=1e6)
    output_limit_bytes: int | None = Field(None, ge=1024, le=2**40)
    evaluate_timeout: float | None = Field(None, gt=0, le=3600)


class AttachOptions(Body):
    model_config = _example(pid=1234)

    pid: int | None = Field(None, gt=0)
    host: str | None = None
    port: int | None = Field(None, gt=0, lt=65536)
    just_my_code: bool = False
    debug_subprocesses: bool = False
    stop_all_threads: bool = True
    path_mappings: list[tuple[str, str]] = Field(default_factory=list)
    wait: Wait | None = None

    @model_validator(mode="after")
    def _either(self) -> AttachOptions:
        if (self.pid is None) == (self.port is None):
            raise ValueError("give either pid, or port (with host, 127.0.0.1 if left out)")
        return self


class CreateSession(Configuration):
    model_config = _example(name="debug-my-script", timeout_minutes=120)

    mode: Literal["launch", "attach"] = "launch"
    wait: Wait | None = Field(None, description="For an attached program: wait for its stop.")
    breakpoint_profile: str | None = None
    pid: int | None = Field(None, gt=0)
    host: str | None = None
    port: int | None = Field(None, gt=0, lt=65536)
    just_my_code: bool = False
    debug_subprocesses: bool = False
    stop_all_threads: bool = True
    path_mappings: list[tuple[str, str]] = Field(default_factory=list)


class LaunchOptions(Body):
    model_config = _example(
        script="/code/main.py",
        args=["--verbose"],
        env={"DEBUG": "1"},
        stop_on_exception="uncaught",
        wait=10,
    )

    script: Text | None = None
    program: Text | None = Field(None, description="Another name for script.")
    module: Text | None = None
    code: str | None = None
    args: list[Text] = Field(default_factory=list)
    env: Environment = Field(default_factory=dict)
    cwd: Text | None = None
    pythonpath: list[Text] | Text = Field(default_factory=list)
    python_path: Text | None = None
    python: Text | None = Field(None, description="Another name for python_path.")
    venv: Text | None = None
    stdin_inputs: list[str] = Field(default_factory=list)
    stop_on_exception: bool | Literal["uncaught"] = False
    stop_on_entry: bool = False
    just_my_code: bool = False
    debug_subprocesses: bool = False
    stop_all_threads: bool = True
    route: Literal["auto", "direct", "adapter"] = "auto"
    wait: Wait | None = None
    include: list[str] | str | None = None

    @model_validator(mode="after")
    def _one_target(self) -> LaunchOptions:
        given = [n for n in ("script", "program", "module", "code") if getattr(self, n) is not None]
        if len(given) != 1:
            raise ValueError("give exactly one of script, module and code")
        if not getattr(self, given[0]).strip():
            raise ValueError(f"{given[0]} is empty")
        return self


class Run(Body):
    """Options of every request that makes a program run."""

    model_config = _example(wait=5, include=["source", "locals"])

    wait: Wait | None = None
    include: list[str] | str | None = None
    thread_id: int | None = None
    by: str | None = Field(None, description="Who decides; shown to whoever comes second.")


class Restart(Run):
    model_config = _example(wait=10)

    args: list[Text] | None = None
    env: Environment | None = None
    stop_on_entry: bool | None = None
    stop_on_exception: bool | Literal["uncaught"] | None = None


class Source(Body):
    path: Text


class BreakpointSpec(Body):
    model_config = _example(source={"path": "/code/main.py"}, line=10, condition="i > 100")

    source: Source | None = None
    file: Text | None = None
    line: int | None = Field(None, strict=True)
    function: str | None = None
    condition: str | None = None
    hit_condition: str | int | None = None
    log_message: str | None = None
    enabled: bool = True
    strict: bool = False

    @field_validator("condition", "log_message")
    @classmethod
    def _not_blank(cls, value: str | None) -> str | None:
        return value if value is None or value.strip() else None

    @model_validator(mode="after")
    def _a_place(self) -> BreakpointSpec:
        path = self.file if self.file is not None else (self.source.path if self.source else None)
        if self.function is not None:
            if path is not None or self.line is not None:
                raise ValueError("a function breakpoint has no file or line")
            if not self.function.strip():
                raise ValueError("function is empty")
        elif path is None or not path.strip():
            raise ValueError("give file (or source.path) and line, or function")
        elif self.line is None:
            raise ValueError("line is missing")
        return self

    def values(self) -> dict[str, Any]:
        hit = self.hit_condition
        shown = {
            "file": self.file if self.file is not None else (self.source and self.source.path),
            "line": self.line,
            "function": self.function.strip() if self.function else None,
            "condition": self.condition,
            "hit_condition": None if hit is None else str(hit),
            "log_message": self.log_message,
            "enabled": self.enabled,
        }
        return {name: value for name, value in shown.items() if value is not None}


class BreakpointSpecs(Body):
    """Several at once, or a profile's: all are set or none is."""

    model_config = _example(breakpoints=[{"file": "/code/main.py", "line": 10}])

    breakpoints: list[BreakpointSpec] | None = None
    profile: str | None = None
    strict: bool = False

    @model_validator(mode="after")
    def _something(self) -> BreakpointSpecs:
        if (self.breakpoints is None) == (self.profile is None):
            raise ValueError("give breakpoints (a list) or profile (a name)")
        return self


def _shape(body: Any) -> str:
    if isinstance(body, list):
        return "list"
    named = isinstance(body, dict) and ("breakpoints" in body or "profile" in body)
    return "set" if named or isinstance(body, BreakpointSpecs) else "one"


# By shape, so that a mistake is said of the shape that was meant.
BreakpointBody = Annotated[
    Annotated[BreakpointSpec, Tag("one")]
    | Annotated[list[BreakpointSpec], Tag("list")]
    | Annotated[BreakpointSpecs, Tag("set")],
    Discriminator(_shape),
]


class BreakpointChanges(Body):
    """Fields left out stay; null removes a condition, hit condition or log message."""

    model_config = _example(enabled=False)

    line: int | None = Field(None, strict=True)
    condition: str | None = None
    hit_condition: str | int | None = None
    log_message: str | None = None
    enabled: bool | None = None

    def values(self) -> dict[str, Any]:
        given = {name: getattr(self, name) for name in self.model_fields_set}
        for name in ("line", "enabled"):
            if name in given and given[name] is None:
                del given[name]
        if given.get("hit_condition") is not None:
            given["hit_condition"] = str(given["hit_condition"])
        return given


class ExceptionOptions(Body):
    model_config = _example(filters=["uncaught"], types=["ValueError"])

    filters: list[Literal["raised", "uncaught", "userUnhandled"]] = Field(default_factory=list)
    types: list[str] = Field(default_factory=list)


class Profile(Body):
    model_config = _example(
        name="checkout", breakpoints=[{"file": "/code/checkout.py", "line": 42}]
    )

    name: str = Field(min_length=1, max_length=200)
    breakpoints: list[BreakpointSpec]


class Evaluate(Body):
    model_config = _example(expression="len(my_list)", frame_id=0, context="watch")

    expression: str = Field(min_length=1)
    frame_id: int = 0
    context: Literal["watch", "repl", "hover", "clipboard", "variables"] | None = None
    timeout: float | None = Field(None, gt=0, le=3600)


class EvaluateAnywhere(Evaluate):
    """`hold_id` says which of a session's held calls is meant."""

    hold_id: str | None = None


class ContinueAll(Body):
    model_config = _example(session_id="calls_1a2b3c4d", by="me")

    session_id: str | None = None
    by: str | None = None


class WatchExpression(Body):
    model_config = _example(expression="len(queue)")

    expression: str = Field(min_length=1)


class SetVariable(Body):
    model_config = _example(name="x", value="42")

    name: str = Field(min_length=1)
    value: str
    timeout: float | None = Field(None, gt=0, le=3600)


class Completions(Body):
    model_config = _example(text="order.to", frame_id=0)

    text: str
    frame_id: int = 0
    column: int | None = Field(None, ge=1)


class Hover(Body):
    model_config = _example(expression="order.total", frame_id=0)

    expression: str | None = None
    frame_id: int = 0
    file: str | None = None
    line: int | None = Field(None, ge=1)
    column: int | None = Field(None, ge=1)

    @model_validator(mode="after")
    def _what(self) -> Hover:
        if self.expression is None and (self.line is None or self.column is None):
            raise ValueError("give expression, or line and column (and file)")
        return self


class Input(Body):
    model_config = _example(input="user response\n")

    input: str | None = None
    text: str | None = Field(None, description="Another name for input.")
    close: bool = Field(False, description="End of file after this.")

    @model_validator(mode="after")
    def _something(self) -> Input:
        if self.input is None and self.text is None and not self.close:
            raise ValueError("give input, or close: true")
        return self


class Clone(Body):
    model_config = _example(name="second try")

    name: str | None = Field(None, max_length=500)


class ExportedBreakpoint(BreakpointSpec):
    id: str | None = Field(None, pattern=r"^bp_[1-9][0-9]{0,8}$")


class ExportedExceptions(ExceptionOptions):
    user_code_only: bool = False


class Exported(Body):
    """What `/export` gives, and `/import` takes."""

    model_config = _example(
        version=1,
        config={"name": "debug-my-script"},
        launch={"script": "/code/main.py"},
        breakpoints=[{"id": "bp_1", "file": "/code/main.py", "line": 10, "enabled": True}],
        watches=["len(queue)"],
    )

    version: Literal[1] = 1
    name: str | None = None
    config: Configuration | None = None
    launch: LaunchOptions | None = None
    attach: AttachOptions | None = None
    breakpoints: list[ExportedBreakpoint] = Field(default_factory=list)
    exception_breakpoints: ExportedExceptions | None = None
    watches: list[str] = Field(default_factory=list)


class DecisionBody(BaseModel):
    model_config = ConfigDict(
        extra="allow", json_schema_extra={"example": {"action": "continue", "by": "me"}}
    )

    action: str
    by: str | None = None
    wait: Wait | None = None
    include: list[str] | str | None = None


class AgentCommand(Body):
    """A command as agents know them; see `docs/agents.md`."""

    model_config = _example(
        type="breakpoint", data={"action": "add", "on": "tool", "name": "write_*"}
    )

    type: str
    data: dict[str, Any] = Field(default_factory=dict)
    timeout: Annotated[float, Field(gt=0, le=300)] | None = Field(
        None, description="How long to wait for the agent's answer, in seconds."
    )


class AgentDirectory(Body):
    model_config = _example(directory="/code/agents/sessions/debug_20260123_131000_abc123")

    directory: str = Field(min_length=1, max_length=4096)


class CallBreakpointBody(Body):
    """Which calls to hold. `action` is a decision made beforehand."""

    model_config = _example(enabled=False)

    function: str | None = None
    alias: str | None = None
    call_type: str | None = None
    condition: str | None = None
    hit_condition: str | int | None = None
    when: Literal["before", "after", "exception"] = "before"
    enabled: bool = True
    session_id: str | None = None
    action: dict[str, Any] | None = None

    def given(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.model_fields_set}


class NewCallBreakpoint(CallBreakpointBody):
    model_config = _example(function="add", condition="args[0] > 10")
