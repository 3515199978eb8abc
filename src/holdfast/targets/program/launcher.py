"""Starting a program with the debugger inside it, and nothing in between."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import debugpy

from holdfast import errors
from holdfast.model.breakpoint import Breakpoint, ExceptionFilters
from holdfast.model.launch import Launch
from holdfast.targets.program import interpreters
from holdfast.targets.program.dap_connection import Gone, body_of
from holdfast.targets.program.interpreter_pool import environment_changes
from holdfast.targets.program.pipes import Input, Output
from holdfast.targets.program.process_spawner import Spawned, spawn
from holdfast.targets.program.target import Nobody, Target, Watcher

PROBE = Path(__file__).parents[2] / "probe"
DEBUGPY = str(Path(debugpy.__file__).parents[1])
INITIALIZE = {
    "clientID": "holdfast",
    "adapterID": "debugpy",
    "linesStartAt1": True,
    "columnsStartAt1": True,
    "pathFormat": "path",
}


@dataclass(frozen=True)
class Setup:
    """What a debugger must know before the program runs."""

    lines: dict[str, list[Breakpoint]]
    functions: Sequence[Breakpoint] = ()
    exceptions: ExceptionFilters = field(default_factory=ExceptionFilters)


@dataclass(frozen=True)
class Place:
    """Where a launch happens: the program made absolute, its directory, its environment."""

    interpreter: interpreters.Interpreter
    cwd: str
    env: dict[str, str]
    spec: dict[str, Any]


@dataclass(frozen=True)
class Request:
    """Everything that starting a program takes."""

    launch: Launch
    place: Place
    setup: Setup
    watcher: Watcher
    adopted: Callable[[Spawned], None]
    """Called with each process at once, so that it has an owner from its first moment."""
    late_setup: Callable[[list[str]], Setup] | None = None
    """Given when functions could not be found yet: asked again with the program's own path."""
    tag: int | None = None
    child_port: int = 0
    timeout: float = 30.0
    request_timeout: float = 10.0


async def locate(launch: Launch, session_cwd: str | None) -> Place:
    """Check everything that can be checked before a process exists."""
    cwd = _directory(launch, session_cwd)
    interpreter = await interpreters.resolve(launch.python_path, launch.venv, cwd)
    spec: dict[str, Any] = {"args": list(launch.args), "cwd": cwd}
    if launch.script is not None:
        script = _script(launch.script, launch, session_cwd, cwd)
        if not os.path.isfile(script):
            raise errors.FileMissing(f"no such script: {script}", file=script, field="script")
        if not os.access(script, os.R_OK):
            raise errors.FileMissing(f"cannot read {script}", file=script, field="script")
        spec.update(script=os.path.normpath(script), given=launch.script)
    elif launch.module is not None:
        spec["module"] = launch.module
    else:
        spec["code"] = launch.code
    return Place(interpreter, cwd, _environment(launch), spec)


def _script(given: str, launch: Launch, session_cwd: str | None, cwd: str) -> str:
    """A relative script is looked for in the directory given; with none given, in the server's."""
    base = cwd if launch.cwd or session_cwd else os.getcwd()
    return os.path.join(base, os.path.expanduser(given))


def _directory(launch: Launch, session_cwd: str | None) -> str:
    base = os.path.expanduser(session_cwd) if session_cwd else os.getcwd()
    if launch.cwd:
        cwd = os.path.join(base, os.path.expanduser(launch.cwd))
    elif session_cwd or launch.script is None:
        cwd = base
    else:
        cwd = os.path.dirname(os.path.join(base, os.path.expanduser(launch.script)))
    if not os.path.isdir(cwd):
        field = "cwd" if launch.cwd or session_cwd else "script"
        raise errors.FileMissing(f"no such directory: {cwd}", file=cwd, field=field)
    return os.path.abspath(cwd)


def _environment(launch: Launch) -> dict[str, str]:
    env = interpreters.venv_environment(launch.venv) if launch.venv else dict(os.environ)
    env.pop("HOLDFAST_TOKEN", None)  # the server's secret, not the program's
    for name, value in launch.env.items():
        if value is None:
            env.pop(name, None)
        else:
            env[name] = value
    if launch.pythonpath:
        parts = [*launch.pythonpath, *filter(None, [env.get("PYTHONPATH")])]
        env["PYTHONPATH"] = os.pathsep.join(parts)
    return env


def debug_options(launch: Launch) -> dict[str, Any]:
    return {
        "justMyCode": launch.just_my_code,
        "stopOnEntry": launch.stop_on_entry,
        "stopAllThreadsOnSuspend": launch.stop_all_threads,
        "steppingResumesAllThreads": launch.stop_all_threads,
        "showReturnValue": True,
        "redirectOutput": False,
        "subProcess": launch.debug_subprocesses,
    }


async def start(request: Request, warm: Target | None = None) -> Target:
    """Start the program under the debugger; returns when it has begun to run."""
    spec = request.place.spec
    if warm is None:
        target = await arm(
            request.place.interpreter.path,
            cwd=request.place.cwd,
            env=request.place.env,
            tag=request.tag,
            child_port=request.child_port,
            request_timeout=request.request_timeout,
        )
    else:
        target = warm
        spec = {**spec, "env": environment_changes(request.place.env)}
        warm.process_of_ours().retag(request.tag)
    request.adopted(target.process_of_ours())
    target.watcher = request.watcher
    try:
        await _begin(target, request, spec)
    except BaseException:
        await target.kill()
        raise
    return target


async def _begin(target: Target, request: Request, spec: dict[str, Any]) -> None:
    """Tell an armed interpreter which program to be, and all it must know first, in one write."""
    if target.input is not None:
        # Before it can ask: a program that finds its answers there never waits.
        target.input.write(b"".join(map(_line, request.launch.stdin_inputs)))
    wire = target.connection
    wire.hold_back()
    program = wire.post("holdfast", {"op": "program", "spec": spec})
    wire.post("launch", debug_options(request.launch))
    if request.late_setup is None:
        post_setup(target, request.setup)
        wire.post("configurationDone")
    wire.release()
    answer = await _answer(program, target, request.timeout)
    if request.late_setup is not None:
        post_setup(target, request.late_setup(list(answer["path"])))
        wire.post("configurationDone")
    target.import_path = list(answer["path"])


def _line(text: str) -> bytes:
    line = text if text.endswith("\n") else text + "\n"
    return line.encode("utf-8", "surrogateescape")


def post_setup(target: Target, setup: Setup) -> list[asyncio.Future[dict[str, Any]]]:
    posted = [target.post_lines(file, lines) for file, lines in setup.lines.items()]
    posted.append(target.post_functions(setup.functions))
    posted.append(target.post_exceptions(setup.exceptions))
    return posted


async def arm(
    python: str,
    *,
    cwd: str,
    env: dict[str, str],
    tag: int | None,
    child_port: int = 0,
    request_timeout: float = 10.0,
) -> Target:
    """Start an interpreter with the debugger in it, connected, and waiting for its program."""
    target = Target(Nobody(), route="direct", request_timeout=request_timeout)
    ours, theirs = socket.socketpair()
    stdin, give = os.pipe()
    take_out, stdout = os.pipe()
    take_err, stderr = os.pipe()
    argv = [python, str(PROBE / "boot.py"), str(theirs.fileno()), DEBUGPY, str(child_port)]
    try:
        process = await spawn(
            argv,
            cwd=cwd,
            env=env,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            pass_fds=(theirs.fileno(),),
            tag=tag,
        )
    except BaseException as error:
        ours.close()
        for fd in (give, take_out, take_err):
            os.close(fd)
        if isinstance(error, OSError):
            raise errors.LaunchFailed(f"cannot start {python}: {error}") from error
        raise
    finally:
        theirs.close()
        for fd in (stdin, stdout, stderr):
            os.close(fd)
    target.input = Input(give)
    target.outputs = [
        Output(take_out, lambda text: target.watcher.output("stdout", text)),
        Output(take_err, lambda text: target.watcher.output("stderr", text)),
    ]
    for output in target.outputs:
        output.others = [other for other in target.outputs if other is not output]
    target.watch_process(process)
    ours.setblocking(False)
    try:
        await asyncio.get_running_loop().create_connection(lambda: target.connection, sock=ours)
    except BaseException:
        await target.kill()
        raise
    target.connection.post("initialize", INITIALIZE)
    target.hello = target.connection.post("holdfast", {"op": "hello"})
    return target


async def _answer(
    program: asyncio.Future[dict[str, Any]], target: Target, timeout: float
) -> dict[str, Any]:
    """What the probe says of the program: ready, or why not."""
    try:
        answer = body_of(await asyncio.wait_for(program, timeout), "launch")
    except asyncio.TimeoutError:
        raise errors.TimedOut(
            f"the program did not start within {timeout:g} s", operation="launch"
        ) from None
    except Gone:
        code = await target.process.wait() if target.process else None
        raise errors.LaunchFailed(
            f"the interpreter ended with {code} before the program began", exit_code=code
        ) from None
    problem = answer.get("syntax_error")
    if problem:
        raise errors.ProgramSyntaxError(
            f"{problem['message']} ({problem['file']}, line {problem['line']})", **problem
        )
    if answer.get("failed"):
        raise errors.LaunchFailed(str(answer["failed"]))
    assert target.hello is not None
    target.introduce(body_of(await target.hello, "hello"))
    return answer
