"""Which Python runs a target: the one named, the one of an environment, or our own."""

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

from holdfast.errors import InterpreterMissing

OLDEST = (3, 9)
PROBE_SECONDS = 10.0
IN_ENVIRONMENT = ("bin/python", "bin/python3", "Scripts/python.exe", "python.exe")

# Runs on any Python, 2 included, so that one too old can say so; imports nothing but `sys`.
PROBE = """
import sys
name = getattr(getattr(sys, "implementation", None), "name", "python")
facts = ("holdfast", tuple(sys.version_info[:3]), name, sys.prefix, sys.executable)
sys.stdout.write(repr(facts).encode("ascii", "backslashreplace").decode("ascii"))
"""
# Without `site` no user's code runs and a venv's `sys.prefix` is not its own: see `_environment`.
# Not -I, which Python 2 does not know.
FLAGS = ("-E", "-s", "-S")

Version = tuple[int, int, int]
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

    Raises InterpreterMissing, with what was asked for, what was tried and why it will not do.
    """
    if not python_path and not venv and sys.executable:
        return _own()
    return await asyncio.to_thread(_resolve, python_path, venv, cwd)


def venv_environment(venv: str, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """What activating `venv` makes of the variables (by default, of our own)."""
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


def _own() -> Interpreter:
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


def _locate(python_path: str, cwd: str | None, asked: dict[str, Any]) -> str:
    path = _absolute(python_path, cwd)
    if os.path.basename(python_path) == python_path:
        # As in a shell: a bare name is not a file of the directory that one happens to be in.
        found = shutil.which(python_path)
        if found is not None:
            path = os.path.abspath(found)
        elif not os.path.lexists(path):
            message = f"`{python_path}` is not on the PATH, nor at {path}"
            raise _refusal(message, "missing", asked, path=path)
    _check(path, asked)
    return path


def _locate_in(venv: str, cwd: str | None, asked: dict[str, Any]) -> str:
    folder = _absolute(venv, cwd)
    tried = [os.path.join(folder, *place.split("/")) for place in IN_ENVIRONMENT]
    for path in tried:
        if os.path.lexists(path):
            _check(path, asked)
            return path
    what = "has no Python" if os.path.isdir(folder) else "is not a directory"
    raise _refusal(f"The environment {folder} {what}", "missing", asked, path=folder, tried=tried)


def _check(path: str, asked: dict[str, Any]) -> None:
    if os.path.isdir(path):
        hint = "Give a directory as `venv`; `python_path` is an executable."
        raise _refusal(f"{path} is a directory", "directory", asked, hint=hint, path=path)
    if not os.path.exists(path):
        dangling = f", the link to {os.path.realpath(path)}," if os.path.islink(path) else ""
        raise _refusal(f"{path}{dangling} does not exist", "missing", asked, path=path)
    if not os.access(path, os.X_OK):
        raise _refusal(f"{path} is not executable", "not_executable", asked, path=path)


def _absolute(path: str, cwd: str | None) -> str:
    # Links stay as they are: the python of a venv is a link, and is known by where it stands.
    return os.path.abspath(os.path.join(cwd or os.getcwd(), os.path.expanduser(path)))


# -- what it is ----------------------------------------------------------------------------------


def _key(path: str, cwd: str | None) -> _Key:
    stat = os.stat(path)
    # A wrapper (a pyenv shim, for one) may choose by the directory it is called in.
    return path, stat.st_mtime_ns, stat.st_size, cwd if _is_script(path) else None


def _is_script(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(2) == b"#!"
    except PermissionError:
        return False  # may be run, may not be read: only a binary can be so


def _probe(path: str, cwd: str | None, asked: dict[str, Any]) -> Interpreter:
    facts = _ask(path, cwd, asked)
    try:
        marker, version, implementation, prefix, executable = ast.literal_eval(facts)
    except (ValueError, SyntaxError, TypeError):
        marker = None
    if marker != "holdfast":
        said = facts[-400:].strip()
        raise _refusal(
            f"{path} is not a Python interpreter", "not_python", asked, path=path, said=said
        )
    if version < OLDEST:
        need, has = ".".join(map(str, OLDEST)), ".".join(map(str, version))
        hint = f"Choose Python {need} or newer."
        message = f"{path} is Python {has}; a target needs {need} or newer"
        raise _refusal(message, "too_old", asked, hint=hint, path=path, version=has)
    environment = _environment(executable or path)
    is_venv = environment is not None or _is_conda(prefix)
    return Interpreter(path, version, implementation, environment or prefix, is_venv)


def _ask(path: str, cwd: str | None, asked: dict[str, Any]) -> str:
    """Run the probe; what it printed, or else what it complained about."""
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
        message = f"{path} cannot be run: {error.strerror}"
        raise _refusal(message, "not_python", asked, path=path) from error
    with process:
        try:
            out, err = process.communicate(timeout=PROBE_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            message = f"{path} did not answer within {PROBE_SECONDS:g} s"
            raise _refusal(message, "no_answer", asked, path=path) from None
    return (out if process.returncode == 0 else err or out).decode(errors="replace")


def _environment(executable: str) -> str | None:
    """The venv that an executable stands in, by the rule that Python itself follows."""
    folder = os.path.dirname(executable)
    for place in (folder, os.path.dirname(folder)):
        if os.path.isfile(os.path.join(place, "pyvenv.cfg")):
            return place
    return None


def _is_conda(prefix: str) -> bool:
    return os.path.isdir(os.path.join(prefix, "conda-meta"))


def _refusal(
    message: str, reason: str, asked: dict[str, Any], *, hint: str | None = None, **details: Any
) -> InterpreterMissing:
    named = {name: value for name, value in asked.items() if value}
    field = next(iter(named), "python_path")
    return InterpreterMissing(message, hint=hint, field=field, reason=reason, **named, **details)
