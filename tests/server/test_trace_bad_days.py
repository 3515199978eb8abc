"""Traces of programs that behave badly: the answer comes, in time and in size."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import Server
from interpreters import Interpreter, choose_interpreters
from tool_user import ToolUser

PROGRAMS = {
    "asks.py": """\
def greet(name):
    text = "hello " + name
    return text


def main():
    name = input("name? ")
    print(greet(name))


main()
""",
    "floods.py": """\
def show(number):
    text = "line %d" % number
    print(text * 50)
    return text


number = 0
while True:
    number += 1
    show(number)
""",
    "forks.py": """\
import os
import subprocess
import sys


def work(number):
    doubled = number * 2
    child = os.fork()
    if child == 0:
        doubled = -1
        os._exit(0)
    os.waitpid(child, 0)
    said = subprocess.run([sys.executable, "-c", "print(7)"], stdout=subprocess.PIPE).stdout
    return doubled, said


print(work(4))
""",
    "dies.py": """\
import os
import signal


def work(number):
    doubled = number * 2
    tripled = number * 3
    os.kill(os.getpid(), signal.SIGKILL)
    return tripled


work(5)
""",
    "leaves.py": """\
import os


def work(number):
    doubled = number * 2
    os._exit(3)


work(5)
""",
    "stops.py": """\
import sys


def work(number):
    doubled = number * 2
    sys.settrace(lambda *_: None)
    sys.settrace = None
    tripled = doubled + number
    return tripled


print(work(5))
""",
    "hostile.py": """\
import time


class Hostile:
    def __init__(self):
        self.touched = 0

    def __repr__(self):
        self.touched += 1
        raise RuntimeError("not to be shown")

    def __eq__(self, other):
        self.touched += 1
        time.sleep(60)

    @property
    def value(self):
        self.touched += 1
        return self.touched


def work():
    hostile = Hostile()
    others = [hostile, hostile]
    large = "x" * 10_000_000
    numbers = list(range(1_000_000))
    numbers.append(7)
    return hostile.touched


print("touched", work())
""",
    "exits.py": """\
def work(number):
    doubled = number * 2
    raise SystemExit(doubled)


work(2)
""",
    "made.py": """\
source = "def work(number):\\n    doubled = number * 2\\n    return doubled + 1\\n"
exec(compile(source, "made_here", "exec"))
print(work(5))
""",
    "breaks.py": """\
def work(number):
    doubled = number * 2
    breakpoint()
    return doubled


print(work(1))
""",
}
PYTHONS = choose_interpreters()
each_python = pytest.mark.parametrize("interpreter", PYTHONS, ids=str)


def make_user(server: Server, folder: Path) -> ToolUser:
    """One who works in a folder with the programs."""
    for name, text in PROGRAMS.items():
        (folder / name).write_text(text)
    return ToolUser(server, cwd=str(folder))


@pytest.fixture
def user(server: Server, tmp_path: Path) -> Iterator[ToolUser]:
    user = make_user(server, tmp_path)
    yield user
    user.stop_all()


def trace(user: ToolUser, name: str, interpreter: Interpreter, **more: Any) -> Any:
    function = more.pop("function", "work")
    return user.call(
        "debug_trace", target=f"{name}.py", function=function, python=interpreter.path, **more
    )


def list_changes(report: Any) -> dict[str, str]:
    """What each variable held in the end."""
    held: dict[str, str] = {}
    for step in report["steps"]:
        held.update(step.get("changed", {}))
    return held


@each_python
def test_a_program_that_waits_for_input_says_so(user: ToolUser, interpreter: Interpreter) -> None:
    waiting = trace(user, "asks", interpreter, function="greet")
    assert waiting["status"] == "waiting_for_input"
    assert "steps" not in waiting
    user.call("debug_continue", input="ann", session_id=waiting["session_id"])
    after = user.call("debug_trace", trace=waiting["trace_id"])
    assert after["return"] == "'hello ann'"


@each_python
def test_a_program_that_prints_without_end_is_answered(
    server_with: Callable[..., Server], tmp_path: Path, interpreter: Interpreter
) -> None:
    user = make_user(server_with(end_after_trace=0.05), tmp_path)
    report = trace(user, "floods", interpreter, function="show", call=50)
    assert report["status"] == "running"
    assert report["return"] == "'line 50'"


@each_python
def test_children_neither_hang_nor_write_into_the_recording(
    user: ToolUser, interpreter: Interpreter
) -> None:
    report = trace(user, "forks", interpreter)
    assert report["status"] == "terminated"
    assert list_changes(report)["doubled"] == "8"
    assert "7" in report["return"]


@each_python
def test_a_program_that_is_killed_leaves_what_it_did(
    user: ToolUser, interpreter: Interpreter
) -> None:
    report = trace(user, "dies", interpreter)
    assert list_changes(report)["tripled"] == "15"
    assert "return" not in report
    assert any("not recorded" in remark for remark in report["remarks"])


@each_python
def test_a_sudden_exit_leaves_what_it_did(user: ToolUser, interpreter: Interpreter) -> None:
    report = trace(user, "leaves", interpreter)
    assert report["exit_code"] == 3
    assert list_changes(report)["doubled"] == "10"


@each_python
def test_a_program_may_use_the_trace_function_for_itself(
    user: ToolUser, interpreter: Interpreter
) -> None:
    report = trace(user, "stops", interpreter)
    assert report["exit_code"] == 0
    assert (list_changes(report)["tripled"], report["return"]) == ("15", "15")


@each_python
def test_no_code_of_the_program_runs_for_a_trace(user: ToolUser, interpreter: Interpreter) -> None:
    report = trace(user, "hostile", interpreter, timeout=50)
    assert report["return"] == "0"
    assert "Hostile" in list_changes(report)["hostile"]
    assert "numbers + [7]" in str(report["steps"])


@each_python
def test_an_exit_is_an_exception_of_the_call(user: ToolUser, interpreter: Interpreter) -> None:
    report = trace(user, "exits", interpreter, raised=True)
    assert report["exception"]["type"] == "SystemExit"
    assert report["exit_code"] == 4


@each_python
def test_a_function_that_exec_has_made_is_traced(user: ToolUser, interpreter: Interpreter) -> None:
    report = trace(user, "made", interpreter)
    assert list_changes(report)["doubled"] == "10"
    assert report["return"] == "11"


def test_a_stop_in_the_program_is_reported(user: ToolUser) -> None:
    report = trace(user, "breaks", PYTHONS[-1])
    assert report["status"] == "paused"
    assert list_changes(report) == {"doubled": "2"}


@each_python
@pytest.mark.parametrize("name", ["hostile", "stops", "forks", "exits", "leaves"])
def test_questions_for_a_value_survive_them_too(
    user: ToolUser, name: str, interpreter: Interpreter
) -> None:
    text = PROGRAMS[f"{name}.py"]
    words = {"hostile": "return hostile"}.get(name, "doubled = number")
    line = next(n for n, one in enumerate(text.splitlines(), 1) if words in one)
    variable = "numbers" if name == "hostile" else "number"
    report = user.call(
        "debug_why", variable=variable, at=f"{name}.py:{line}", python=interpreter.path, timeout=50
    )
    assert report["assigned"]["value"]
    assert report["assigned"]["line"]
