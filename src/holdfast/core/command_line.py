"""What is to be run: a script, a module, a test, or a command line as people type it.

    app.py    shop.main    tests/test_cart.py::test_total[a]    pytest -k cart    ./tool.py --all
    python -X dev -m shop a    python3.12 -c 'print(1)'    uv run pytest    FOO=1 flask run

A command line is split as a shell splits it, and nothing else of a shell is done.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from holdfast.errors import InvalidTarget

_PYTHON = re.compile(r"(?:.*/)?(?:python|pypy)(?P<version>[0-9.]*)t?(?:\.exe)?")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_OPERATORS = frozenset({"&&", "||", "|", ";", "&", ">", ">>", "<", "<<", "2>&1", "2>", "&>"})
_PYTEST = frozenset({"pytest", "py.test"})
_RUNNERS = frozenset({"uv", "poetry", "pipenv", "pdm", "hatch", "rye"})
_UV_FLAGS_WITH_VALUE = frozenset(
    [
        "--extra",
        "--group",
        "--no-group",
        "--only-group",
        "--env-file",
        "--index",
        "--index-url",
        "--cache-dir",
        "--config-file",
        "--package",
        "--color",
        "--project",
    ]
)
_UV_REFUSED = ("--with", "--with-requirements", "--with-editable", "--isolated", "--no-project")
_FLAGS_WITH_VALUE = frozenset({"-X", "-W", "--check-hash-based-pycs"})
_COVERAGE_WITH_VALUE = frozenset(
    [
        "--concurrency",
        "--context",
        "--data-file",
        "--include",
        "--omit",
        "--rcfile",
        "--source",
        "--source-pkgs",
    ]
)
_ALTERNATIVES = (
    "Name the Python program itself: a script, a module, `file.py::test`, or `pytest …`, "
    "`python …`, `uv run …`, `poetry run …`, or a console script that is written in Python."
)
_OTHERS = frozenset(
    [
        "tox",
        "nox",
        "make",
        "npm",
        "docker",
        "sudo",
        "ssh",
        "uvx",
        "bash",
        "sh",
        "zsh",
        "conda",
        "pipx",
    ]
)


@dataclass(frozen=True)
class Command:
    """A program, and how it is started: one of `script`, `module`, `code` and `program`."""

    script: str | None = None
    module: str | None = None
    code: str | None = None
    program: str | None = None
    """A name that is no file here: of a console script, or else of a module."""
    args: tuple[str, ...] = ()
    python_args: tuple[str, ...] = ()
    python: str | None = None
    """The interpreter that it names."""
    runner: str | None = None
    """The tool whose environment it runs in, such as `uv`."""
    directory: str | None = None
    """Where it changes to first."""
    env: dict[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    """What is done in another way than it says."""

    @property
    def is_pytest(self) -> bool:
        return self.module == "pytest"


def parse_target(
    target: str, args: Sequence[str] = (), is_file: Callable[[str], bool] = lambda _path: False
) -> Command:
    """What a target means. `is_file` says whether there is such a file or directory."""
    text = target.strip()
    if not text:
        raise _refuse(target, "it is empty")
    if is_file(text) and not _is_package(text, is_file):
        return Command(script=text, args=(*args,))
    before_test = text.partition("::")[0]
    if "::" in text and (is_file(before_test) or not re.search(r"\s", before_test)):
        return Command(module="pytest", args=(text, *args))
    try:
        words = shlex.split(text)
    except ValueError as problem:
        raise _refuse(target, f"a shell could not read it ({problem})") from None
    return _Parser(target, is_file).parse([*words, *args], len(words))


def _is_package(name: str, is_file: Callable[[str], bool]) -> bool:
    """Whether it is a package that `python -m` runs. Run as a directory, it could import nothing
    relative to itself."""
    parts = ("__init__.py", "__main__.py")
    return name.isidentifier() and all(is_file(f"{name}/{part}") for part in parts)


class _Parser:
    def __init__(self, target: str, is_file: Callable[[str], bool]) -> None:
        self._target = target
        self._is_file = is_file

    def parse(self, words: list[str], own: int) -> Command:
        """`own` of the words are of the command line; arguments follow, and mean nothing here."""
        words, own, directory = self._take_directory(words, own)
        operator = next((word for word in words[:own] if word in _OPERATORS), None)
        if operator is not None:
            hint = f"No shell runs it. {_ALTERNATIVES}"
            raise _refuse(self._target, f"it has a shell's `{operator}`", hint)
        words, env = self._take_prefix(words)
        return replace(self._parse_command(words), directory=directory, env=env)

    def _take_directory(self, words: list[str], own: int) -> tuple[list[str], int, str | None]:
        """`cd DIRECTORY && COMMAND` is the one thing of a shell that is easily done."""
        if words[0] == "cd" and own > 3 and words[2] in ("&&", ";"):
            return words[3:], own - 3, words[1]
        if words[0] == "cd" and own > 2 and words[1].endswith(";"):
            return words[2:], own - 2, words[1].rstrip(";")
        return words, own, None

    def _take_prefix(self, words: list[str]) -> tuple[list[str], dict[str, str]]:
        """What stands before the command: variables, and commands that only start another."""
        env: dict[str, str] = {}
        rest = list(words)
        while rest:
            assignment = _ASSIGNMENT.fullmatch(rest[0])
            if assignment is not None:
                env[assignment[1]] = assignment[2]
                rest.pop(0)
            elif rest[0] in ("env", "time", "nohup", "exec", "command"):
                rest.pop(0)
            elif rest[0] == "timeout" and len(rest) > 2 and rest[1][:1].isdigit():
                del rest[:2]
            else:
                return rest, env
        raise _refuse(self._target, "it names no command")

    def _parse_command(self, words: list[str]) -> Command:
        first, rest = words[0], words[1:]
        name = first.rpartition("/")[2]
        if _PYTHON.fullmatch(first):
            return self._parse_python(first, rest)
        if name in _PYTEST:
            return Command(module="pytest", args=(*rest,))
        if first in _RUNNERS:
            return self._parse_runner(first, rest)
        if first == "coverage" and rest[:1] == ["run"]:
            return self._parse_coverage(rest[1:])
        if first in _OTHERS:
            raise _refuse(self._target, f"`{first}` is not a Python program, or starts others")
        return self._parse_program(first, rest)

    def _parse_program(self, first: str, rest: list[str]) -> Command:
        args = (*rest,)
        if "::" in first:
            return Command(module="pytest", args=(first, *args))
        if first.endswith(".ipynb"):
            raise _refuse(self._target, "a notebook is not a program")
        if _is_package(first, self._is_file):
            return Command(module=first, args=args)
        if first.endswith((".py", ".pyw", ".pyz")) or "/" in first or self._is_file(first):
            return Command(script=first, args=args)
        if not all(part.isidentifier() for part in first.split(".")):
            if re.fullmatch(r"[\w.-]+", first) and not first.startswith("-"):
                return Command(program=first, args=args)
            raise _refuse(self._target, f"{first!r} is neither a script nor a module")
        if "." in first or self._is_file(f"{first}.py") or self._is_file(f"{first}/__main__.py"):
            return Command(module=first, args=args)
        return Command(program=first, args=args)

    # -- python ------------------------------------------------------------------------------

    def _parse_python(self, first: str, words: list[str]) -> Command:
        match = _PYTHON.fullmatch(first)
        assert match is not None
        is_chosen = "/" in first or match["version"] not in ("", "3") or "pypy" in first
        command = self._parse_arguments(words)
        return replace(command, python=first if is_chosen else None)

    def _parse_arguments(self, words: list[str]) -> Command:
        """What `python WORDS` runs."""
        flags: list[str] = []
        rest = list(words)
        while rest and rest[0].startswith("-") and rest[0] != "-":
            word = rest.pop(0)
            program = re.fullmatch(r"-(?P<flags>[a-zA-Z]*?)(?P<kind>[mc])(?P<value>.*)", word, re.S)
            if program is not None and not re.search("[XW]", program["flags"]):
                flags += [f"-{program['flags']}"] if program["flags"] else []
                return self._build_program(program["kind"], program["value"], flags, rest)
            flags.append(word)
            if word in _FLAGS_WITH_VALUE and rest:
                flags.append(rest.pop(0))
        if not rest or rest[0] == "-":
            raise _refuse(self._target, "it starts Python without a program")
        return Command(script=rest[0], args=(*rest[1:],), python_args=(*flags,))

    def _build_program(self, kind: str, value: str, flags: list[str], rest: list[str]) -> Command:
        if not value and not rest:
            raise _refuse(self._target, f"nothing follows -{kind}")
        value = value or rest.pop(0)
        args, python_args = (*rest,), (*flags,)
        if kind == "c":
            return Command(code=value, args=args, python_args=python_args)
        if value == "coverage" and args[:1] == ("run",):
            return replace(self._parse_coverage([*args[1:]]), python_args=python_args)
        module = "pytest" if value == "py.test" else value
        return Command(module=module, args=args, python_args=python_args)

    # -- tools that run a command ------------------------------------------------------------

    def _parse_runner(self, runner: str, words: list[str]) -> Command:
        if words[:1] != ["run"] or len(words) == 1:
            raise _refuse(self._target, f"`{runner}` without `run COMMAND` runs no program")
        rest = words[1:]
        python: str | None = None
        directory: str | None = None
        while rest and rest[0].startswith("-"):
            name, equals, value = rest.pop(0).partition("=")
            if name in _UV_REFUSED:
                hint = "Make an environment that has what it needs, and name its Python."
                raise _refuse(self._target, f"`{name}` needs an environment of its own", hint)
            takes_value = name in _UV_FLAGS_WITH_VALUE or name in ("-p", "--python", "--directory")
            if takes_value and not equals and rest:
                value = rest.pop(0)
            if name in ("-p", "--python"):
                python = value
            elif name == "--directory":
                directory = value
            elif name in ("-m", "--module") and rest:
                rest = ["python", "-m", *rest]
            elif name == "--":
                break
        if not rest:
            raise _refuse(self._target, f"`{runner} run` without a command runs no program")
        command = self._parse_command(rest)
        if command.module == rest[0] and "." not in rest[0] and not command.is_pytest:
            # It runs commands, also where a module of that name is in the directory.
            command = replace(command, module=None, program=rest[0])
        return replace(
            command,
            runner=runner,
            python=python or command.python,
            directory=directory or command.directory,
        )

    def _parse_coverage(self, words: list[str]) -> Command:
        """It would trace the program, and so would the debugger: the program runs without it."""
        rest = list(words)
        remark = "coverage is left out: it cannot trace a program that is debugged"
        while rest and rest[0].startswith("-"):
            word = rest.pop(0)
            if word in ("-m", "--module") and rest:
                return Command(module=rest[0], args=(*rest[1:],), remarks=(remark,))
            if word in _COVERAGE_WITH_VALUE and rest:
                rest.pop(0)
        if not rest:
            raise _refuse(self._target, "`coverage run` names no program")
        return Command(script=rest[0], args=(*rest[1:],), remarks=(remark,))


def _refuse(target: str, problem: str, hint: str = _ALTERNATIVES) -> InvalidTarget:
    return InvalidTarget(f"cannot run {target!r:.200}: {problem}", hint=hint, field="target")
