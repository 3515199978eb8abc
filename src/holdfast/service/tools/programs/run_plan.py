"""Plans a run: what its target means, where it runs, and in which environment."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from holdfast import errors
from holdfast.core.command_line import Command, parse_target
from holdfast.model.launch import Launch
from holdfast.service.tools.tool_client import ToolClient
from holdfast.targets.program.project_environment import (
    Environment,
    EnvironmentRequest,
    find_environment,
)
from holdfast.wire.tool_requests import DebugRun

_OTHER_SUFFIXES = (".toml", ".json", ".yml", ".yaml", ".md", ".rst", ".txt", ".cfg", ".ini")
_PYTHON_SUFFIXES = (".py", ".pyw", ".pyz", ".pyc", ".zip")
_ACTIVE = ("VIRTUAL_ENV", "CONDA_PREFIX", "UV_PROJECT_ENVIRONMENT")
_TEST_FILE = re.compile(r"test_.*\.py|.*_test\.py")
_TEST = re.compile(r"^(?:async )?def test|^class Test", re.MULTILINE)
_MAX_TEST_FILE = 1 << 20
_TOKEN = "HOLDFAST_TOKEN"  # the server's secret, not the program's


@dataclass(frozen=True)
class RunPlan:
    """How a target is run."""

    launch: Launch
    environment: Environment
    cwd: str
    remarks: tuple[str, ...]
    """What is done in another way than asked for."""


async def plan_run(client: ToolClient, request: DebugRun) -> RunPlan:
    """Find out how to run the target. Raises what is wrong with it, before anything runs."""
    given = client.find_path(request.cwd) if request.cwd else client.cwd
    base = given or os.getcwd()
    _check_directory(base)
    command = parse_target(request.target, request.args, lambda path: _exists(base, path))
    if command.directory is not None:
        given = base = os.path.join(base, os.path.expanduser(command.directory))
    script = None if command.script is None else _find_script(base, command.script)
    cwd = given or (os.path.dirname(script) if script else base)
    _check_directory(cwd)
    environ = _merge_environment(client, request, command)
    environment = await find_environment(
        EnvironmentRequest(
            folders=[*_list_folders(command, script, cwd), cwd],
            environ=environ,
            asked=request.python,
            named=command.python,
            runner=command.runner,
        )
    )
    if command.program is not None:
        command = _find_program(command, environment)
    wanted = environment.activate(environ)
    launch = Launch(
        # As it was written, because the program sees that; or absolute if cwd is not given.
        script=command.script if given or script is None else script,
        module=command.module,
        code=command.code,
        args=command.args,
        env=_list_changes(wanted),
        cwd=cwd,
        python_path=environment.python_path,
        python_args=command.python_args,
        just_my_code=request.exceptions == "raised",
        debug_subprocesses=request.subprocesses,
    )
    remarks = (*environment.problems, *command.remarks, *_remark_on_tests(script, client))
    return RunPlan(launch, environment, cwd, remarks)


def _check_directory(path: str) -> None:
    if not os.path.isdir(path):
        raise errors.UnusablePath(f"no such directory: {path}", file=path, field="cwd")


def _remark_on_tests(script: str | None, client: ToolClient) -> Iterator[str]:
    """A file of tests, run as a script, defines them and ends well, whatever they would do."""
    if script is None or not _TEST_FILE.fullmatch(os.path.basename(script)):
        return
    with contextlib.suppress(OSError), open(script, encoding="utf-8", errors="replace") as file:
        text = file.read(_MAX_TEST_FILE)
        if _TEST.search(text) and "__main__" not in text:
            shown = client.show_path(script)
            yield f"Its tests were not run: the target `pytest {shown}` runs them."


def describe_environment(environment: Environment, client: ToolClient) -> str:
    """As `Python 3.12.1 of .venv (project)`."""
    interpreter, source = environment.interpreter, environment.source
    name = "PyPy" if interpreter.implementation == "pypy" else "Python"
    if environment.is_own and source == "Holdfast's own":
        return f"{name} {environment.version} ({source}: the project has no environment)"
    place = interpreter.prefix if interpreter.is_venv else interpreter.path
    return f"{name} {environment.version} of {client.show_path(place)} ({source})"


def _exists(base: str, path: str) -> bool:
    try:
        return os.path.exists(os.path.join(base, os.path.expanduser(path)))
    except ValueError:  # no path has a NUL
        return False


def _find_script(base: str, script: str) -> str:
    path = os.path.abspath(os.path.join(base, os.path.expanduser(script)))
    if not os.path.exists(path):
        raise errors.FileMissing(
            f"no such script: {path}",
            hint="Paths are relative to `cwd`, else to the directory that you work in.",
            file=path,
            field="target",
        )
    if os.path.isdir(path) and not os.path.isfile(os.path.join(path, "__main__.py")):
        raise errors.InvalidTarget(
            f"the directory {path} has no __main__.py",
            hint=f"Name a script in it. Its tests are run with `pytest {script}`.",
            field="target",
        )
    is_foreign = path.endswith(_OTHER_SUFFIXES) or (
        not path.endswith(_PYTHON_SUFFIXES) and os.path.isfile(path) and _is_foreign(path)
    )
    if is_foreign:
        raise errors.InvalidTarget(f"{path} is not a Python script", field="target")
    return path


def _is_foreign(path: str) -> bool:
    """Whether a file says that something else than Python runs it."""
    try:
        with open(path, "rb") as file:
            first = file.readline(512)
    except OSError:
        return False
    is_shell = first.startswith(b"#!") and b"python" not in first and b"pypy" not in first
    return is_shell or b"\0" in first


def _list_folders(command: Command, script: str | None, cwd: str) -> list[str]:
    """Where the program is: the directory of its script, or of the tests that it names."""
    if script is not None:
        return [script if os.path.isdir(script) else os.path.dirname(script)]
    if not command.is_pytest:
        return []
    for argument in command.args:
        path = os.path.join(cwd, argument.partition("::")[0])
        if not argument.startswith("-") and _exists(cwd, path):
            return [path if os.path.isdir(path) else os.path.dirname(path)]
    return []


def _merge_environment(client: ToolClient, request: DebugRun, command: Command) -> dict[str, str]:
    environ = dict(os.environ if client.environ is None else client.environ)
    if client.environ is None:  # the server's: which environment it is in says nothing of a project
        for name in _ACTIVE:
            environ.pop(name, None)
    for name, value in {**request.env, **command.env}.items():
        if value is None:
            environ.pop(name, None)
        else:
            environ[name] = value
    environ.pop(_TOKEN, None)
    return environ


def _list_changes(wanted: Mapping[str, str]) -> dict[str, str | None]:
    """What differs from the server's environment. Only that is kept with the session."""
    ours = os.environ
    changes: dict[str, str | None] = {
        name: value for name, value in wanted.items() if ours.get(name) != value
    }
    gone = {name: None for name in ours if name not in wanted and name != _TOKEN}
    return {**changes, **gone}


def _find_program(command: Command, environment: Environment) -> Command:
    """A console script of the environment, else a module."""
    assert command.program is not None
    path = environment.find_script(command.program)
    if path is not None:
        return replace(command, program=None, script=path)
    if not command.program.isidentifier():
        folder = os.path.dirname(environment.interpreter.path)
        message = f"no Python script {command.program!r} in {folder}"
        raise errors.InvalidTarget(message, field="target")
    return replace(command, program=None, module=command.program)
