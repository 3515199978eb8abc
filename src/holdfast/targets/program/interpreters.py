"""Finds the Python that runs a target: the given one, that of an environment, or our own."""

from __future__ import annotations

import ast
import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from holdfast import timings
from holdfast.errors import InterpreterMissing
from holdfast.targets.program import descriptors

OLDEST = (3, 9)
IN_ENVIRONMENT = ("bin/python", "bin/python3", "Scripts/python.exe", "python.exe")

# Runs on any Python, even 2, so that we can say that it is too old. Imports only `sys`.
PROBE = """
import sys
name = getattr(getattr(sys, "implementation", None), "name", "python")
facts = ("holdfast", tuple(sys.version_info[:3]), name, sys.prefix, sys.executable)
sys.stdout.write(repr(facts).encode("ascii", "backslashreplace").decode("ascii"))
"""
# Without `site` no user's code runs, but `sys.prefix` is not that of the venv: `_find_venv` does
# that. Not -I, which Python 2 does not know.
FLAGS = ("-E", "-s", "-S")

Version = tuple[int, int, int]
Asked = Mapping[str, str | None]
"""What the user asked for: `python_path` and `venv`."""
_Key = tuple[str, int, int, str | None]


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python that can run a target. `is_venv`: a venv, a virtualenv or a conda environment."""

    path: str
    version: Version
    implementation: str
    prefix: str
    is_venv: bool


_known: dict[_Key, Interpreter] = {}


async def resolve(
    python_path: str | None = None, venv: str | None = None, cwd: str | None = None
) -> Interpreter:
    """Find the interpreter: `python_path` if given, else the one of `venv`, else our own.

    Raises InterpreterMissing, which says what was tried and why it cannot be used.
    """
    if not python_path and not venv and sys.executable:
        return _describe_own()
    return await asyncio.to_thread(_resolve, python_path, venv, cwd)


def venv_environment(venv: str, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables (by default our own) as they are after activating `venv`."""
    env = dict(os.environ if environ is None else environ)
    venv = os.path.abspath(os.path.expanduser(venv))
    folder = "Scripts" if os.path.isdir(os.path.join(venv, "Scripts")) else "bin"
    path = env.get("PATH") or os.defpath
    env["PATH"] = os.pathsep.join([os.path.join(venv, folder), path])
    env.pop("PYTHONHOME", None)
    if _is_conda(venv):
        env |= {"CONDA_PREFIX": venv, "CONDA_DEFAULT_ENV": os.path.basename(venv)}
    else:
        env["VIRTUAL_ENV"] = venv
    return env


def _describe_own() -> Interpreter:
    version: Version = sys.version_info[:3]
    is_venv = sys.prefix != sys.base_prefix or _is_conda(sys.prefix)
    return Interpreter(sys.executable, version, sys.implementation.name, sys.prefix, is_venv)


def _resolve(python_path: str | None, venv: str | None, cwd: str | None) -> Interpreter:
    asked = {"python_path": python_path, "venv": venv}
    if python_path:
        path = _locate(python_path, cwd, asked)
    elif venv:
        path = _locate_in(venv, cwd, asked)
    else:
        path = _locate("python3", cwd, asked)
    key = _key(path, cwd)
    if key not in _known:
        _known[key] = _probe(path, cwd, asked)
    return _known[key]


# -- where it is ---------------------------------------------------------------------------------


def _locate(python_path: str, cwd: str | None, asked: Asked) -> str:
    path = _make_absolute(python_path, cwd)
    if os.path.basename(python_path) == python_path:
        # As in a shell, a bare name is looked for on the PATH and not in the current directory.
        on_path = shutil.which(python_path)
        if on_path is not None:
            path = os.path.abspath(on_path)
        elif not os.path.lexists(path):
            message = f"`{python_path}` is not on the PATH, nor at {path}"
            raise _refusal(message, "missing", asked, path=path)
    _check(path, asked)
    return path


def _locate_in(venv: str, cwd: str | None, asked: Asked) -> str:
    folder = _make_absolute(venv, cwd)
    tried = [os.path.join(folder, *place.split("/")) for place in IN_ENVIRONMENT]
    for path in tried:
        if os.path.lexists(path):
            _check(path, asked)
            return path
    what = "has no Python" if os.path.isdir(folder) else "is not a directory"
    raise _refusal(f"The environment {folder} {what}", "missing", asked, path=folder, tried=tried)


def _check(path: str, asked: Asked) -> None:
    if os.path.isdir(path):
        hint = "Give a directory as `venv`; `python_path` is an executable."
        raise _refusal(f"{path} is a directory", "directory", asked, hint=hint, path=path)
    if not os.path.exists(path):
        dangling = f", the link to {os.path.realpath(path)}," if os.path.islink(path) else ""
        raise _refusal(f"{path}{dangling} does not exist", "missing", asked, path=path)
    if not os.path.isfile(path):  # reading a FIFO, to see what it is, would block
        raise _refusal(f"{path} is not a file", "not_python", asked, path=path)
    if not os.access(path, os.X_OK):
        raise _refusal(f"{path} is not executable", "not_executable", asked, path=path)


def _make_absolute(path: str, cwd: str | None) -> str:
    # Do not resolve links: the Python of a venv is a link, and its path identifies the venv.
    return os.path.abspath(os.path.join(cwd or os.getcwd(), os.path.expanduser(path)))


# -- what it is ----------------------------------------------------------------------------------


def _key(path: str, cwd: str | None) -> _Key:
    stat = os.stat(path)
    # A wrapper, such as a pyenv shim, may choose by the current directory.
    return path, stat.st_mtime_ns, stat.st_size, cwd if _is_script(path) else None


def _is_script(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(2) == b"#!"
    except PermissionError:
        return False  # executable but not readable: only a binary can be that


def _probe(path: str, cwd: str | None, asked: Asked) -> Interpreter:
    facts = _ask(path, cwd, asked)
    try:
        marker, version, implementation, prefix, executable = ast.literal_eval(facts)
    except (ValueError, SyntaxError, TypeError):
        marker = None
    if marker != "holdfast":
        output = facts[-400:].strip()
        raise _refusal(
            f"{path} is not a Python interpreter", "not_python", asked, path=path, said=output
        )
    if version < OLDEST:
        need, has = ".".join(map(str, OLDEST)), ".".join(map(str, version))
        hint = f"Choose Python {need} or newer."
        message = f"{path} is Python {has}; a target needs {need} or newer"
        raise _refusal(message, "too_old", asked, hint=hint, path=path, version=has)
    environment = _find_venv(executable or path)
    is_venv = environment is not None or _is_conda(prefix)
    return Interpreter(path, version, implementation, environment or prefix, is_venv)


def _ask(path: str, cwd: str | None, asked: Asked) -> str:
    """Run the probe. Return its output, or its errors if it failed."""
    silent, pipe = subprocess.DEVNULL, subprocess.PIPE
    try:
        process = subprocess.Popen(
            [path, *FLAGS, "-c", PROBE],
            cwd=cwd if cwd and os.path.isdir(cwd) else None,
            stdin=silent,
            stdout=pipe,
            stderr=pipe,
            start_new_session=True,
        )
    except OSError as error:
        with descriptors.report_exhaustion():
            if descriptors.is_exhausted(error):
                raise
        message = f"{path} cannot be run: {error.strerror}"
        raise _refusal(message, "not_python", asked, path=path) from error
    seconds = timings.TIMINGS.interpreter_answer
    with process:
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            message = f"{path} did not answer within {seconds:g} s"
            raise _refusal(message, "no_answer", asked, path=path) from None
    return (out if process.returncode == 0 else err or out).decode(errors="replace")


def _find_venv(executable: str) -> str | None:
    """The venv that an executable belongs to, by the same rule as Python itself uses."""
    folder = os.path.dirname(executable)
    for place in (folder, os.path.dirname(folder)):
        if os.path.isfile(os.path.join(place, "pyvenv.cfg")):
            return place
    return None


def _is_conda(prefix: str) -> bool:
    return os.path.isdir(os.path.join(prefix, "conda-meta"))


def _refusal(
    message: str, reason: str, asked: Asked, *, hint: str | None = None, **details: Any
) -> InterpreterMissing:
    named = {name: value for name, value in asked.items() if value}
    field = next(iter(named), "python_path")
    return InterpreterMissing(message, hint=hint, field=field, reason=reason, **named, **details)
