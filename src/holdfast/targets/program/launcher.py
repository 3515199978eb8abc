"""Starts a program with the debugger inside it, without an adapter in between."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

from holdfast import errors
from holdfast.core import interpreter_flags
from holdfast.model.breakpoint import Breakpoint, ExceptionFilters
from holdfast.model.launch import Launch
from holdfast.targets.program import debugger_files, descriptors, interpreters
from holdfast.targets.program.dap_connection import ConnectionClosed, Reply, body_of
from holdfast.targets.program.interpreter_pool import environment_changes
from holdfast.targets.program.pipes import Pipes
from holdfast.targets.program.process_spawner import Spawn, Spawned, spawn
from holdfast.targets.program.target import Target, TargetListener, kill_on_failure
from holdfast.targets.program.terminal import DEFAULT_TERM, Terminal
from holdfast.wire import dap

PROBE, DEBUGPY = debugger_files.PROBE, debugger_files.DEBUGPY
LAUNCH_AGAIN = "It was ended. Launch again; PATCH /config with launch_timeout gives it more time."
INITIALIZE = {
    "clientID": "holdfast",
    "adapterID": "debugpy",
    "linesStartAt1": True,
    "columnsStartAt1": True,
    "pathFormat": "path",
}


@dataclass(frozen=True)
class Setup:
    """The breakpoints that a debugger must know before the program runs."""

    lines: dict[str, list[Breakpoint]]
    functions: Sequence[Breakpoint] = ()
    exceptions: ExceptionFilters = field(default_factory=ExceptionFilters)
    data: Sequence[Breakpoint] = ()


class ProgramSpec(TypedDict, total=False):
    """What the probe is to run: a `script`, a `module` or `code`."""

    args: list[str]
    cwd: str
    script: str
    given: str
    """The script as the user wrote it, for `sys.argv[0]`."""
    python_args: list[str]
    """The interpreter's flags, which it was started with."""
    module: str
    code: str | None
    experiment: dict[str, Any]
    """What breakpoints do at a hit in place of a stop."""
    trace: dict[str, Any]
    """What is recorded, and into which file."""
    env: dict[str, str | None] | None
    """Changes to the environment of an interpreter that has already started."""


@dataclass(frozen=True)
class Place:
    """Where a program runs, with absolute paths."""

    interpreter: interpreters.Interpreter
    cwd: str
    env: dict[str, str]
    spec: ProgramSpec

    @property
    def main_file(self) -> str | None:
        """The file that a script begins with: itself, or the `__main__.py` in it."""
        script = self.spec.get("script")
        if script is None:
            return None
        has_main = os.path.isdir(script) or zipfile.is_zipfile(script)
        return os.path.join(script, "__main__.py") if has_main else script


@dataclass(frozen=True)
class Request:
    """Everything that is needed to start a program."""

    launch: Launch
    place: Place
    setup: Setup
    listener: TargetListener
    adopt: Callable[[Spawned], None]
    """Called with each process as soon as it exists, so that somebody will end it."""
    timeout: float
    request_timeout: float
    late_setup: Callable[[list[str]], Setup] | None = None
    """Set when functions were not found yet. Called with the program's own import path."""
    tag: int | None = None
    child_ticket: str = ""
    """With which its children join; none: they are not followed."""
    spawn: Spawn = spawn


async def locate(launch: Launch, session_cwd: str | None) -> Place:
    """Resolve the paths of a launch, and check them before a process is started."""
    cwd = _resolve_directory(launch, session_cwd)
    interpreter = await interpreters.resolve(launch.python_path, launch.venv, cwd)
    interpreter_flags.check(launch.python_args)
    if launch.terminal and launch.route == "adapter":
        raise errors.InvalidInput(
            "a program that is started through the adapter has no terminal",
            hint="Leave `route` out, or `terminal`.",
            field="terminal",
        )
    spec: ProgramSpec = {
        "args": list(launch.args),
        "cwd": cwd,
        "python_args": list(launch.python_args),
    }
    if launch.script is not None:
        script = _resolve_script(launch.script, launch, session_cwd, cwd)
        if os.path.isdir(script):
            _check_directory(script)
        elif not os.path.isfile(script):
            raise errors.FileMissing(f"no such script: {script}", file=script, field="script")
        if not os.access(script, os.R_OK):
            raise errors.UnusablePath(f"cannot read {script}", file=script, field="script")
        spec["script"], spec["given"] = os.path.normpath(script), launch.script
    elif launch.module is not None:
        spec["module"] = launch.module
    else:
        spec["code"] = launch.code
    return Place(interpreter, cwd, _build_environment(launch), spec)


def _check_directory(folder: str) -> None:
    names = [f"__main__.{ending}" for ending in ("py", "pyc")]
    if not any(os.path.isfile(os.path.join(folder, name)) for name in names):
        raise errors.UnusablePath(
            f"the directory {folder} has no __main__.py",
            hint="Name a script, or a directory or zip file that has a __main__.py.",
            file=folder,
            field="script",
        )


def _resolve_script(given: str, launch: Launch, session_cwd: str | None, cwd: str) -> str:
    """A relative path starts at the given directory, or else at the server's."""
    base = cwd if launch.cwd or session_cwd else os.getcwd()
    return os.path.join(base, os.path.expanduser(given))


def _resolve_directory(launch: Launch, session_cwd: str | None) -> str:
    base = os.path.expanduser(session_cwd) if session_cwd else os.getcwd()
    if launch.cwd:
        cwd = os.path.join(base, os.path.expanduser(launch.cwd))
    elif session_cwd or launch.script is None:
        cwd = base
    else:
        script = os.path.join(base, os.path.expanduser(launch.script))
        cwd = os.path.dirname(script.rstrip(os.sep))
    if not os.path.isdir(cwd):
        if launch.script is not None and not (launch.cwd or session_cwd):
            script = os.path.join(base, os.path.expanduser(launch.script))
            raise errors.FileMissing(f"no such script: {script}", file=script, field="script")
        raise errors.UnusablePath(f"no such directory: {cwd}", file=cwd, field="cwd")
    return os.path.abspath(cwd)


def _build_environment(launch: Launch) -> dict[str, str]:
    env = interpreters.venv_environment(launch.venv) if launch.venv else dict(os.environ)
    env.pop("HOLDFAST_TOKEN", None)  # the server's secret, not the program's
    if launch.terminal:
        env.setdefault("TERM", DEFAULT_TERM)
        for name in ("COLUMNS", "LINES"):  # those of the server's terminal
            env.pop(name, None)
    for name, value in launch.env.items():
        if value is None:
            env.pop(name, None)
        else:
            env[name] = value
    if launch.pythonpath:
        parts = [*launch.pythonpath, *filter(None, [env.get("PYTHONPATH")])]
        env["PYTHONPATH"] = os.pathsep.join(parts)
    return env


def debug_options(launch: Launch) -> dap.Body:
    return {
        "justMyCode": launch.just_my_code,
        "stopOnEntry": launch.stop_on_entry,
        "stopAllThreadsOnSuspend": launch.stop_all_threads,
        "steppingResumesAllThreads": launch.stop_all_threads,
        "showReturnValue": True,
        "redirectOutput": False,
        "subProcess": launch.debug_subprocesses,
    }


class GeventNeeded(Exception):
    """The program uses gevent, and the debugger must be loaded for that from the start."""


async def start(
    request: Request, warm: Target | None = None, *, with_gevent: bool = False
) -> Target:
    """Start the program under the debugger. Return when it has begun to run.

    Raises GeventNeeded, before any of the program has run, unless `with_gevent` is given.
    """
    spec = request.place.spec
    if warm is None:
        target = await arm(
            request.place.interpreter.path,
            flags=request.launch.python_args,
            cwd=request.place.cwd,
            env=request.place.env,
            tag=request.tag,
            child_ticket=request.child_ticket,
            with_gevent=with_gevent,
            terminal_size=request.launch.terminal_size if request.launch.terminal else None,
            request_timeout=request.request_timeout,
            spawn=request.spawn,
            listener=request.listener,
        )
    else:
        target = warm
        target.listener = request.listener
        target.request_timeout = request.request_timeout
        spec = {**spec, "env": environment_changes(request.place.env)}
        warm.own_process().retag(request.tag)
    request.adopt(target.own_process())
    async with kill_on_failure(target):
        await _run_program(target, request, spec)
    return target


async def _run_program(target: Target, request: Request, spec: ProgramSpec) -> None:
    """Tell a waiting interpreter which program to run, with all breakpoints, in one write."""
    if target.input is not None:
        # Write the input first, so that the program never has to wait for it.
        target.input.write(b"".join(map(_encode_line, request.launch.stdin_inputs)))
    wire = target.connection
    wire.hold_back()
    program = wire.post("holdfast", {"op": "program", "spec": spec})
    wire.post("launch", debug_options(request.launch))
    if request.late_setup is None:
        post_setup(target, request.setup)
        wire.post("configurationDone")
    wire.release()
    answer = await _wait_for_program(program, target, request.timeout)
    if request.late_setup is not None:
        post_setup(target, request.late_setup(list(answer["path"])))
        wire.post("configurationDone")
    target.import_path = list(answer["path"])


def _encode_line(text: str) -> bytes:
    line = text if text.endswith("\n") else text + "\n"
    return line.encode("utf-8", "surrogateescape")


def post_setup(target: Target, setup: Setup) -> list[Reply]:
    replies = [target.post_lines(file, lines) for file, lines in setup.lines.items()]
    replies.append(target.post_functions(setup.functions))
    if setup.data:
        replies.append(target.post_data(setup.data))
    replies.append(target.post_exceptions(setup.exceptions))
    return replies


async def arm(
    python: str,
    *,
    flags: Sequence[str] = (),
    cwd: str,
    env: dict[str, str],
    tag: int | None,
    child_ticket: str = "",
    with_gevent: bool = False,
    terminal_size: tuple[int, int] | None = None,
    request_timeout: float,
    spawn: Spawn = spawn,
    listener: TargetListener | None = None,
) -> Target:
    """Start an interpreter with the debugger in it, which then waits for its program.

    `listener`: hears what the interpreter writes while it starts, which may be all that it does.
    """
    descriptors.check_room()
    target = Target(listener or TargetListener(), route="direct", request_timeout=request_timeout)
    with (
        descriptors.report_exhaustion(),
        contextlib.ExitStack() as on_failure,
        contextlib.ExitStack() as always,
    ):
        ours, theirs = socket.socketpair()
        on_failure.callback(ours.close)
        always.callback(theirs.close)
        streams = Pipes() if terminal_size is None else Terminal(terminal_size)
        on_failure.callback(streams.close_ours)
        always.callback(streams.close_theirs)
        boot = str(PROBE / "boot.py")
        argv = [python, *flags, boot, str(theirs.fileno()), DEBUGPY, child_ticket]
        argv += ["gevent" if with_gevent else "", *map(str, streams.inherited)]
        try:
            process = await spawn(
                argv,
                cwd=cwd,
                env=env,
                stdin=streams.streams[0],
                stdout=streams.streams[1],
                stderr=streams.streams[2],
                pass_fds=(theirs.fileno(), *streams.inherited),
                tag=tag,
            )
        except OSError as error:
            if descriptors.is_exhausted(error):
                raise
            raise errors.LaunchFailed(f"cannot start {python}: {error}") from error
        on_failure.pop_all()
    target.input, target.outputs = streams.connect(
        lambda kind, text: target.listener.on_output(kind, text)
    )
    target.watch_process(process)
    ours.setblocking(False)
    async with kill_on_failure(target):
        await asyncio.get_running_loop().create_connection(lambda: target.connection, sock=ours)
    target.connection.post("initialize", INITIALIZE)
    target.post_hello()
    return target


async def _wait_for_program(program: Reply, target: Target, timeout: float) -> dap.Body:
    """Return the probe's answer, or raise the reason why the program did not start."""
    try:
        answer = body_of(await asyncio.wait_for(program, timeout), "launch")
    except asyncio.TimeoutError:
        raise errors.TimedOut(
            f"the program did not start within {timeout:g} s",
            hint=LAUNCH_AGAIN,
            operation="launch",
        ) from None
    except ConnectionClosed:
        code = await target.process.wait() if target.process else None
        raise errors.LaunchFailed(
            f"the interpreter ended with {code} before the program began", exit_code=code
        ) from None
    problem = answer.get("syntax_error")
    if problem:
        raise errors.ProgramSyntaxError(
            f"{problem['message']} ({problem['file']}, line {problem['line']})", **problem
        )
    if answer.get("missing_module"):
        module = str(answer["missing_module"])
        raise errors.ModuleMissing(f"no module named {module!r}", module=module)
    if answer.get("needs_gevent"):
        raise GeventNeeded
    if answer.get("failed"):
        raise errors.LaunchFailed(str(answer["failed"]))
    await target.read_hello()
    return answer
