"""What a target means, as people write it."""

from __future__ import annotations

import pytest

from holdfast.core.command_line import Command, parse_target
from holdfast.errors import InvalidTarget

FILES = {"app.py", "my app.py", "tests", "tests/test a.py", "shop/__main__.py", "tool", "local.py"}
FILES |= {"package", "package/__init__.py", "package/__main__.py", "folder", "folder/__main__.py"}


def parse(target: str, *args: str) -> Command:
    return parse_target(target, args, FILES.__contains__)


@pytest.mark.parametrize(
    ("target", "command"),
    [
        ("app.py", Command(script="app.py")),
        ("my app.py", Command(script="my app.py")),
        ("app.py --all 'a b'", Command(script="app.py", args=("--all", "a b"))),
        ("./missing.py a", Command(script="./missing.py", args=("a",))),
        ("tool x", Command(script="tool", args=("x",))),
        ("json.tool", Command(module="json.tool")),
        ("local", Command(module="local")),
        ("shop a", Command(module="shop", args=("a",))),
        ("package", Command(module="package")),
        ("package a", Command(module="package", args=("a",))),
        ("folder", Command(script="folder")),
        ("flask run", Command(program="flask", args=("run",))),
        ("flask-admin run", Command(program="flask-admin", args=("run",))),
        ("test_a.py::test_b", Command(module="pytest", args=("test_a.py::test_b",))),
        ("tests/test a.py::test_b", Command(module="pytest", args=("tests/test a.py::test_b",))),
        ("t.py::T::test[a b]", Command(module="pytest", args=("t.py::T::test[a b]",))),
        ("pytest -k 'a or b'", Command(module="pytest", args=("-k", "a or b"))),
        ("venv/bin/pytest -x", Command(module="pytest", args=("-x",))),
    ],
)
def test_a_target_is_a_script_a_module_or_tests(target: str, command: Command) -> None:
    assert parse(target) == command


@pytest.mark.parametrize(
    ("target", "command"),
    [
        ("python app.py a", Command(script="app.py", args=("a",))),
        ("python3 -m shop -v", Command(module="shop", args=("-v",))),
        ("python -m pytest -q", Command(module="pytest", args=("-q",))),
        (
            "python -X dev -W error app.py",
            Command(script="app.py", python_args=("-X", "dev", "-W", "error")),
        ),
        ("python -Xdev -um shop", Command(module="shop", python_args=("-Xdev", "-u"))),
        ("python -c 'print(1)' a", Command(code="print(1)", args=("a",))),
        ("python3.12 x.py", Command(script="x.py", python="python3.12")),
        ("/opt/bin/python x.py", Command(script="x.py", python="/opt/bin/python")),
    ],
)
def test_a_command_line_of_python_is_read_as_python_reads_it(target: str, command: Command) -> None:
    assert parse(target) == command


@pytest.mark.parametrize(
    ("target", "command"),
    [
        ("uv run pytest -x", Command(module="pytest", args=("-x",), runner="uv")),
        ("uv run shop", Command(program="shop", runner="uv")),
        ("uv run --no-sync -m shop", Command(module="shop", runner="uv")),
        ("uv run -p 3.12 app.py", Command(script="app.py", python="3.12", runner="uv")),
        ("uv run --extra a -- app.py", Command(script="app.py", runner="uv")),
        ("poetry run python x.py", Command(script="x.py", runner="poetry")),
        ("FOO=1 BAR= pytest", Command(module="pytest", env={"FOO": "1", "BAR": ""})),
        ("env FOO=1 timeout 60 pytest", Command(module="pytest", env={"FOO": "1"})),
        ("cd sub && pytest -x", Command(module="pytest", args=("-x",), directory="sub")),
    ],
)
def test_what_stands_before_a_command_is_understood(target: str, command: Command) -> None:
    assert parse(target) == command


def test_arguments_are_appended_and_never_parsed() -> None:
    assert parse("app.py", "a && b", "|").args == ("a && b", "|")
    assert parse("python app.py 1", "2").args == ("1", "2")
    assert parse("pytest -q", "|").args == ("-q", "|")


def test_coverage_is_left_out() -> None:
    command = parse("coverage run --source shop -m pytest -x")
    assert (command.module, command.args) == ("pytest", ("-x",))
    assert "coverage is left out" in command.remarks[0]
    assert parse("python -m coverage run app.py a").script == "app.py"


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("  ", "empty"),
        ("tox -e py312", "`tox` is not a Python program"),
        ("make test", "`make`"),
        ("pytest | tail", "a shell's `|`"),
        ("FOO=1", "no command"),
        ("python", "without a program"),
        ("python -m", "nothing follows -m"),
        ("uv sync", "without `run"),
        ("uv run --with x app.py", "environment of its own"),
        ("app.py 'x", "shell could not read it"),
        ("work.ipynb", "notebook"),
        ("a$b", "neither a script nor a module"),
    ],
)
def test_what_cannot_be_run_is_refused_with_what_can(target: str, said: str) -> None:
    with pytest.raises(InvalidTarget) as raised:
        parse(target)
    assert said in raised.value.message
    assert raised.value.hint
