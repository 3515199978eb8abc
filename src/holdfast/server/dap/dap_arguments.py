"""The arguments of the requests of an editor, by the names that the protocol gives them.

What an editor sends besides is ignored: each has fields of its own.
"""

from __future__ import annotations

import os
import shlex
from typing import Any
from urllib.parse import unquote, urlsplit

from msgspec import Struct, field

from holdfast import errors
from holdfast.model.launch import Attach, Launch, LaunchChanges

Text = str | int | float | bool | None


class Arguments(Struct, rename="camel", kw_only=True):
    """Of a request that needs none."""


# -- start and end --------------------------------------------------------------------------------


class InitializeArguments(Arguments):
    client_id: str | None = field(name="clientID", default=None)
    client_name: str | None = None
    lines_start_at1: bool = True
    columns_start_at1: bool = True
    path_format: str | None = None
    supports_variable_paging: bool = False
    supports_invalidated_event: bool = False
    supports_start_debugging_request: bool = False

    @property
    def name(self) -> str:
        return self.client_name or self.client_id or "an unnamed editor"


class JoinArguments(Arguments):
    """What `launch` and `attach` share."""

    name: str | None = None
    token: str | None = None
    session: str | None = None
    just_my_code: bool = True
    sub_process: bool = False


class LaunchArguments(JoinArguments):
    program: str | None = None
    module: str | None = None
    code: str | list[str] | None = None
    args: str | list[Text] = []
    env: dict[str, Text] = {}
    cwd: str | None = None
    python: str | list[str] | None = None
    python_path: str | None = None
    python_args: list[str] = []
    stop_on_entry: bool = False
    no_debug: bool = False

    @property
    def has_program(self) -> bool:
        return any(part is not None for part in (self.program, self.module, self.code))

    def to_launch(self) -> Launch:
        code = "\n".join(self.code) if isinstance(self.code, list) else self.code
        chosen = [part for part in (self.program, self.module, code) if part is not None]
        if len(chosen) != 1:
            raise errors.InvalidInput(
                "a launch needs exactly one of program, module and code",
                hint="Name the program in the configuration of your editor.",
                field="program",
            )
        python, *flags = self._get_command()
        return Launch(
            script=self._resolve(self.program),
            module=self.module,
            code=code,
            args=tuple(_split(self.args)),
            env={name: None if text is None else str(text) for name, text in self.env.items()},
            cwd=self.cwd or None,
            python_path=python or None,
            python_args=(*flags, *self.python_args),
            stop_on_entry=self.stop_on_entry,
            just_my_code=self.just_my_code,
            debug_subprocesses=self.sub_process,
        )

    def _get_command(self) -> list[str]:
        if isinstance(self.python, list):
            return self.python or [""]
        return [self.python or self.python_path or ""]

    def _resolve(self, program: str | None) -> str | None:
        if program is None or not self.cwd:
            return program
        return os.path.join(self.cwd, program)


def _split(args: str | list[Text]) -> list[str]:
    if not isinstance(args, str):
        return [str(part) for part in args]
    try:
        return shlex.split(args)
    except ValueError as problem:
        raise errors.InvalidInput(f"args: {problem} in {args!r:.100}", field="args") from None


class Address(Struct):
    port: int | str
    host: str = "127.0.0.1"


class PathMapping(Struct, rename="camel"):
    local_root: str
    remote_root: str


class AttachArguments(JoinArguments):
    process_id: int | str | None = None
    pid: int | None = None
    connect: Address | None = None
    port: int | None = None
    host: str | None = None
    listen: Any = None
    path_mappings: list[PathMapping] = []

    @property
    def address(self) -> tuple[str, int] | None:
        if self.connect is not None:
            return self.connect.host, _to_number(self.connect.port, "connect.port")
        return None if self.port is None else (self.host or "127.0.0.1", self.port)

    def to_attach(self) -> Attach | None:
        """A program that runs without us; None if a session is to be joined."""
        if self.listen is not None:
            raise errors.InvalidInput(
                "`listen` is not possible: this adapter does not wait for a program",
                hint="Use `connect`, `processId`, or `session`.",
                field="listen",
            )
        pid = self.process_id if self.pid is None else self.pid
        number = None if pid is None else _to_number(pid, "processId")
        host, port = (None, None) if number is not None else self.address or (None, None)
        if number is None and port is None:
            return None
        return Attach(
            pid=number,
            host=host,
            port=port,
            just_my_code=self.just_my_code,
            debug_subprocesses=self.sub_process,
            path_mappings=tuple((each.local_root, each.remote_root) for each in self.path_mappings),
        )


def _to_number(text: int | str, field: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise errors.InvalidInput(f"{field}: {text!r:.100} is no number", field=field) from None


class RestartArguments(Arguments):
    arguments: dict[str, Any] | None = None


class DisconnectArguments(Arguments):
    restart: bool = False
    terminate_debuggee: bool | None = None


class TerminateArguments(Arguments):
    restart: bool = False


NO_CHANGES = LaunchChanges()

# -- breakpoints ----------------------------------------------------------------------------------


class Source(Struct, rename="camel"):
    name: str | None = None
    path: str | None = None
    source_reference: int | None = None


def to_path(path: str) -> str:
    """A path of the file system; an editor may send a URI."""
    return unquote(urlsplit(path).path) if path.startswith("file://") else path


class SourceBreakpoint(Struct, rename="camel"):
    line: int
    condition: str | None = None
    hit_condition: str | None = None
    log_message: str | None = None


class SetBreakpointsArguments(Arguments):
    source: Source
    breakpoints: list[SourceBreakpoint] | None = None
    lines: list[int] | None = None


class FunctionBreakpoint(Struct, rename="camel"):
    name: str
    condition: str | None = None
    hit_condition: str | None = None


class SetFunctionBreakpointsArguments(Arguments):
    breakpoints: list[FunctionBreakpoint]


class DataBreakpoint(Struct, rename="camel"):
    data_id: str
    access_type: str | None = None
    condition: str | None = None
    hit_condition: str | None = None


class SetDataBreakpointsArguments(Arguments):
    breakpoints: list[DataBreakpoint]


class DataBreakpointInfoArguments(Arguments):
    name: str
    variables_reference: int | None = None
    frame_id: int | None = None


class FilterOptions(Struct, rename="camel"):
    filter_id: str
    condition: str | None = None


class PathSegment(Struct):
    names: list[str]
    negate: bool = False


class ExceptionOptions(Struct, rename="camel"):
    break_mode: str
    path: list[PathSegment] | None = None


class SetExceptionBreakpointsArguments(Arguments):
    filters: list[str] = []
    filter_options: list[FilterOptions] | None = None
    exception_options: list[ExceptionOptions] | None = None


class BreakpointLocationsArguments(Arguments):
    source: Source
    line: int
    end_line: int | None = None


# -- execution ------------------------------------------------------------------------------------


class ThreadArguments(Arguments):
    thread_id: int | None = None
    single_thread: bool = False


class GotoTargetsArguments(Arguments):
    source: Source
    line: int


class GotoArguments(Arguments):
    thread_id: int
    target_id: int


# -- inspection -----------------------------------------------------------------------------------


class StackTraceArguments(Arguments):
    thread_id: int
    start_frame: int | None = None
    levels: int | None = None


class ScopesArguments(Arguments):
    frame_id: int


class VariablesArguments(Arguments):
    variables_reference: int
    filter: str | None = None
    start: int | None = None
    count: int | None = None


class SetVariableArguments(Arguments):
    variables_reference: int
    name: str
    value: str


class EvaluateArguments(Arguments):
    expression: str
    frame_id: int | None = None
    context: str | None = None


class SetExpressionArguments(Arguments):
    expression: str
    value: str
    frame_id: int | None = None


class CompletionsArguments(Arguments):
    text: str
    column: int
    line: int | None = None
    frame_id: int | None = None


class ExceptionInfoArguments(Arguments):
    thread_id: int


class ModulesArguments(Arguments):
    start_module: int | None = None
    module_count: int | None = None


class SourceArguments(Arguments):
    source_reference: int = 0
    source: Source | None = None
