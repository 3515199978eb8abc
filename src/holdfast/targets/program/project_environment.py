"""Finds the Python environment of a project, as people expect it to be found.

In this order: the interpreter that is asked for, the one that the command names, `VIRTUAL_ENV`,
`.venv` or `venv` beside the program or above it, `UV_PROJECT_ENVIRONMENT`, the environment of
Poetry or of Pipenv, `CONDA_PREFIX`, and Holdfast's own Python, unless that lives in an environment
of a tool: then `python3` of the PATH.
"""

from __future__ import annotations

import asyncio
import base64
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from holdfast import timings
from holdfast.errors import InterpreterMissing
from holdfast.targets.program import interpreters
from holdfast.targets.program.interpreters import IN_ENVIRONMENT, Interpreter

_NAMES = (".venv", "venv")
_TOOL_ENVIRONMENTS = re.compile(r"/(pipx/venvs|uv/tools|uv/archive-v\d+|uv/environments-v\d+)/")
_PROJECT_NAME = re.compile(
    r"^\[(?:tool\.poetry|project)\]\s*$(?:(?!^\[).)*?^name\s*=\s*[\"']([^\"']+)[\"']",
    re.MULTILINE | re.DOTALL,
)
_MAX_FILE_BYTES = 1_000_000
_CHOOSE = "Give `python`: an interpreter, or the directory of an environment."


@dataclass(frozen=True)
class EnvironmentRequest:
    """What is known of a program before its environment is."""

    folders: Sequence[str]
    """Where to look, and above: the program's directory, and the one that it runs in."""
    environ: Mapping[str, str]
    """The variables of whoever runs it."""
    asked: str | None = None
    """A path, a name, a version, or the directory of an environment."""
    named: str | None = None
    """The interpreter that the command itself names."""
    runner: str | None = None
    """The tool that runs it, such as `uv`."""


@dataclass(frozen=True)
class Environment:
    """A Python that can run the program."""

    interpreter: Interpreter
    source: str
    """How it was found, in few words."""
    is_own: bool = False
    """It is the Python that runs Holdfast."""
    problems: tuple[str, ...] = ()
    """Environments that were there, and could not be used."""

    @property
    def version(self) -> str:
        return ".".join(map(str, self.interpreter.version))

    @property
    def python_path(self) -> str | None:
        return None if self.is_own else self.interpreter.path

    def activate(self, environ: Mapping[str, str]) -> dict[str, str]:
        """The variables of a program that runs in it."""
        if self.is_own or not self.interpreter.is_venv:
            return dict(environ)
        if environ.get("VIRTUAL_ENV") == self.interpreter.prefix:
            return dict(environ)
        return interpreters.venv_environment(self.interpreter.prefix, environ)

    def find_script(self, name: str) -> str | None:
        """A console script that is written in Python, and installed here."""
        folder = os.path.dirname(self.interpreter.path)
        path = os.path.join(folder, name)
        return path if os.path.isfile(path) and _is_python_script(path) else None


@dataclass(frozen=True)
class _Candidate:
    python: str | None
    """None: our own."""
    source: str
    folder: str | None = None
    """The environment; None if it is an interpreter."""
    is_required: bool = False


@dataclass
class _Search:
    request: EnvironmentRequest
    problems: list[str] = field(default_factory=list)

    async def run(self) -> Environment:
        for candidate in self._list_candidates():
            environment = await self._try(candidate)
            if environment is not None:
                return environment
        for candidate in [*await self._ask_poetry(), *self._list_last()]:
            environment = await self._try(candidate)
            if environment is not None:
                return environment
        raise InterpreterMissing("no Python was found for this program", hint=_CHOOSE)

    async def _try(self, candidate: _Candidate) -> Environment | None:
        if candidate.python is None and candidate.folder is None:
            own = await interpreters.resolve()
            return Environment(own, candidate.source, is_own=True, problems=(*self.problems,))
        try:
            found = await interpreters.resolve(candidate.python, candidate.folder)
        except InterpreterMissing as problem:
            behind = _find_behind_shim(candidate.python)
            if behind is not None:
                return await self._try(replace(candidate, python=behind))
            if candidate.is_required:
                raise _explain(problem) from None
            self.problems.append(f"{candidate.source} is not used: {problem.message}")
            return None
        is_own = _is_same_environment(found)
        return Environment(found, candidate.source, is_own, (*self.problems,))

    # -- where environments are --------------------------------------------------------------

    def _list_candidates(self) -> Iterator[_Candidate]:
        request, environ = self.request, self.request.environ
        if request.asked:
            yield self._build_asked(request.asked, "as asked")
        if request.named:
            yield self._build_asked(request.named, "named by the command")
        active = environ.get("VIRTUAL_ENV")
        if active and request.runner is None and not _is_tool_environment(active):
            yield _Candidate(None, "VIRTUAL_ENV", os.path.abspath(active))
        yield from self._list_in_project()
        for folder in request.folders[-1:]:
            chosen = environ.get("UV_PROJECT_ENVIRONMENT")
            if chosen:
                yield _Candidate(None, "UV_PROJECT_ENVIRONMENT", os.path.join(folder, chosen))
        yield from self._list_of_tools()

    def _build_asked(self, asked: str, source: str) -> _Candidate:
        name = f"python{asked}" if re.fullmatch(r"3(\.\d+)*", asked) else asked
        if os.sep not in name and not name.startswith("~"):
            on_path = shutil.which(name, path=self.request.environ.get("PATH"))
            if on_path is not None:
                return _Candidate(os.path.abspath(on_path), source, is_required=True)
        base = self.request.folders[-1] if self.request.folders else os.getcwd()
        path = os.path.abspath(os.path.join(base, os.path.expanduser(name)))
        if os.path.isdir(path):
            return _Candidate(None, source, path, is_required=True)
        if not os.path.lexists(path):
            raise InterpreterMissing(
                f"no Python {asked!r}: it is neither on the PATH nor at {path}",
                hint=_CHOOSE,
                field="python",
            )
        return _Candidate(path, source, is_required=True)

    def _list_in_project(self) -> Iterator[_Candidate]:
        for folder in self._list_folders():
            for name in _NAMES:
                path = os.path.join(folder, name)
                if not os.path.isdir(path) or not _is_trusted(path):
                    continue
                if _find_python(path) is not None:
                    yield _Candidate(None, "project", path)
                elif name == ".venv" or os.path.isfile(os.path.join(path, "pyvenv.cfg")):
                    self.problems.append(f"{path} is not used: it has no Python that can run")

    def _list_folders(self) -> Iterator[str]:
        """The folders and those above, up to the root of the repository; never the user's home."""
        seen: set[str] = set()
        home = os.path.expanduser("~")
        for start in self.request.folders:
            folder = os.path.abspath(start)
            while folder not in seen:
                seen.add(folder)
                is_end = folder in (home, os.path.dirname(folder))
                if not is_end or folder == os.path.abspath(start):
                    yield folder
                if is_end or os.path.exists(os.path.join(folder, ".git")):
                    break
                folder = os.path.dirname(folder)

    def _list_of_tools(self) -> Iterator[_Candidate]:
        for folder in self._list_folders():
            if _uses_poetry(folder):
                for path in _find_poetry_environments(folder, self.request.environ):
                    if _is_trusted(path):
                        yield _Candidate(None, "poetry", path)
            if _is_trusted(os.path.join(folder, "Pipfile")):
                path = _name_pipenv_environment(folder, self.request.environ)
                if _is_trusted(path):
                    yield _Candidate(None, "pipenv", path)

    async def _ask_poetry(self) -> list[_Candidate]:
        """Poetry itself knows, if it is there. That takes a second, so its answer is remembered."""
        environ = self.request.environ
        folder = next(filter(_uses_poetry, self._list_folders()), None)
        command = shutil.which("poetry", path=environ.get("PATH")) if folder else None
        if command is None or folder is None:
            return []
        key = folder, _find_poetry_store(environ)
        path = _POETRY_ANSWERS.get(key)
        if path is None or not os.path.isdir(path):
            path = await asyncio.to_thread(_run_poetry, command, folder, environ)
        if path is None or not _is_trusted(path):
            return []
        _POETRY_ANSWERS[key] = path
        return [_Candidate(None, "poetry", path)]

    def _list_last(self) -> Iterator[_Candidate]:
        environ = self.request.environ
        conda = environ.get("CONDA_PREFIX")
        if conda:
            yield _Candidate(None, "CONDA_PREFIX", conda)
        if not sys.executable or _is_tool_environment(sys.prefix):
            on_path = shutil.which("python3", path=environ.get("PATH"))
            if on_path is not None:
                yield _Candidate(os.path.abspath(on_path), "python3 on the PATH")
        yield _Candidate(None, "Holdfast's own")


async def find_environment(request: EnvironmentRequest) -> Environment:
    """The environment that the program runs in.

    Raises InterpreterMissing if the one that is asked for cannot be used."""
    return await _Search(request).run()


def _explain(problem: InterpreterMissing) -> InterpreterMissing:
    """The refusal of what was asked for, with the first line of what it said itself."""
    said = str(problem.details.get("said") or "").strip().partition("\n")[0]
    message = f"{problem.message}. It said: {said}" if said else problem.message
    return InterpreterMissing(message, hint=_CHOOSE, **problem.details)


def _find_behind_shim(python: str | None) -> str | None:
    """A Python of pyenv that is installed, and not switched on."""
    if python is None or os.path.basename(os.path.dirname(python)) != "shims":
        return None
    root = os.path.dirname(os.path.dirname(python))
    installed = glob.glob(os.path.join(root, "versions", "*", "bin", os.path.basename(python)))
    return max(installed, key=_read_version, default=None)


def _read_version(path: str) -> list[int]:
    """The numbers in a path such as `versions/3.13.0/bin/python`."""
    return [int(number) for number in re.findall(r"\d+", path.rpartition("/versions/")[2])]


def _is_same_environment(found: Interpreter) -> bool:
    """Whether it is our own Python: its interpreters are warm."""
    if not sys.executable:
        return False
    if found.path == sys.executable:
        return True
    is_ours = found.is_venv and os.path.realpath(found.prefix) == os.path.realpath(sys.prefix)
    return is_ours and found.version == sys.version_info[:3]


def _is_tool_environment(prefix: str) -> bool:
    return _TOOL_ENVIRONMENTS.search(prefix + "/") is not None


def _is_trusted(path: str) -> bool:
    """Whether it is the user's own, or root's: what another user left in `/tmp` is not used."""
    try:
        return {os.stat(path).st_uid, os.lstat(path).st_uid} <= {os.getuid(), 0}
    except OSError:
        return False


def _find_python(folder: str) -> str | None:
    paths = [os.path.join(folder, *place.split("/")) for place in IN_ENVIRONMENT]
    return next((path for path in paths if os.access(path, os.X_OK)), None)


def _is_python_script(path: str) -> bool:
    """By its first lines: pip writes a shell line before a long path to Python."""
    try:
        with open(path, "rb") as file:
            head = file.read(512)
    except OSError:
        return False
    lines = head.split(b"\n")[:3]
    return head.startswith(b"#!") and any(b"python" in line or b"pypy" in line for line in lines)


# -- poetry and pipenv -----------------------------------------------------------------------------

_POETRY_ANSWERS: dict[tuple[str, str], str] = {}
"""By project and store: its environment."""


def _uses_poetry(folder: str) -> bool:
    if _is_trusted(os.path.join(folder, "poetry.lock")):
        return True
    project = os.path.join(folder, "pyproject.toml")
    return _is_trusted(project) and "[tool.poetry]" in _read(project)


def _find_poetry_environments(folder: str, environ: Mapping[str, str]) -> list[str]:
    """Those with the project's name and the hash of its path; the chosen one first."""
    name = _PROJECT_NAME.search(_read(os.path.join(folder, "pyproject.toml")))
    store = _find_poetry_store(environ)
    if name is None or not os.path.isdir(store):
        return []
    base = _name_poetry_environment(name[1], folder)
    chosen = re.search(
        rf"^\[{re.escape(base)}\]\s*(?:^(?!\[).*\n)*?^minor\s*=\s*\"([\d.]+)\"",
        _read(os.path.join(store, "envs.toml")),
        re.MULTILINE,
    )
    names = sorted(entry for entry in os.listdir(store) if entry.startswith(f"{base}-py"))
    if chosen is not None:
        names.sort(key=lambda entry: entry != f"{base}-py{chosen[1]}")
    return [os.path.join(store, entry) for entry in names]


def _name_poetry_environment(name: str, folder: str) -> str:
    # As `poetry` does it: a name as package indexes spell it, and what a shell would stumble over.
    normal = re.sub(r"[-_.]+", "-", name.lower())
    sanitized = re.sub(r'[ $`!*@"\\\r\n\t]', "_", normal)[:42]
    digest = hashlib.sha256(os.fsencode(os.path.realpath(folder))).digest()
    return f"{sanitized}-{base64.urlsafe_b64encode(digest).decode()[:8]}"


def _find_poetry_store(environ: Mapping[str, str]) -> str:
    if environ.get("POETRY_VIRTUALENVS_PATH"):
        return environ["POETRY_VIRTUALENVS_PATH"]
    home = environ.get("HOME") or os.path.expanduser("~")
    if sys.platform == "darwin":
        cache = os.path.join(home, "Library", "Caches", "pypoetry")
    else:
        base = environ.get("XDG_CACHE_HOME") or os.path.join(home, ".cache")
        cache = os.path.join(base, "pypoetry")
    return os.path.join(environ.get("POETRY_CACHE_DIR") or cache, "virtualenvs")


def _run_poetry(command: str, folder: str, environ: Mapping[str, str]) -> str | None:
    try:
        answer = subprocess.run(
            [command, "env", "info", "-p"],
            cwd=folder,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timings.TIMINGS.poetry_answer,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeError):
        return None
    path = answer.stdout.strip()
    return path if answer.returncode == 0 and os.path.isdir(path) else None


def _name_pipenv_environment(folder: str, environ: Mapping[str, str]) -> str:
    home = environ.get("HOME") or os.path.expanduser("~")
    data = environ.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share")
    store = environ.get("WORKON_HOME") or os.path.join(data, "virtualenvs")
    name = re.sub(r'[ &$`!*@"()\[\]\\\r\n\t]', "_", os.path.basename(folder))[:42]
    digest = hashlib.sha256(os.fsencode(os.path.join(folder, "Pipfile"))).digest()[:6]
    return os.path.join(store, f"{name}-{base64.urlsafe_b64encode(digest).decode()[:8]}")


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_MAX_FILE_BYTES)
    except OSError:
        return ""
