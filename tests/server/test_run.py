"""`debug_run`: from nothing to what is wanted to be known, in one call."""

from __future__ import annotations

import contextlib
import sys
import venv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import Program, Server
from tool_user import ToolUser, place

SHOP = Program("shopping.py")


@pytest.fixture
def open_user(server: Server) -> Iterator[Callable[..., ToolUser]]:
    """Makes users; their programs are ended."""
    with contextlib.ExitStack() as stack:

        def open_one(**options: str) -> ToolUser:
            user = ToolUser(server, **options)
            stack.callback(user.stop_all)
            return user

        yield open_one


@pytest.fixture
def user(open_user: Callable[..., ToolUser]) -> ToolUser:
    return open_user()


def refuse(user: ToolUser, **request: Any) -> dict[str, Any]:
    """The error, and no session left behind."""
    before = user.server.list_ids()
    error: dict[str, Any] = user.call("debug_run", expect=400, **request)["error"]
    assert error["hint"]
    assert user.server.list_ids(but=before) == []
    return error


# -- what comes of it ------------------------------------------------------------------------------


def test_one_call_leads_to_a_stop_with_its_variables(user: ToolUser) -> None:
    report = user.run(SHOP, "cost")
    assert (report["status"], report["reason"]) == ("paused", "breakpoint")
    assert report["at"] == place(SHOP, "cost")
    assert report["locals"] == {"item": "'tea'", "count": "2"}
    assert "Python 3." in report["environment"]


@pytest.mark.parametrize(
    "point",
    [
        "shopping.price if item == 'cake'",
        "price if item == 'cake'",
        "shopping.py:price if item == 'cake'",
        f"shopping.py:{SHOP.line('cost')} hit 2",
        {"function": "price", "condition": "item == 'cake'"},
        {"file": "shopping.py", "line": SHOP.line("cost"), "hit_condition": "== 2"},
    ],
)
def test_a_breakpoint_is_written_as_people_write_it(user: ToolUser, point: Any) -> None:
    report = user.call("debug_run", target="shopping.py", breakpoints=[point])
    assert report["reason"] == "breakpoint"
    assert report["locals"] == {"item": "'cake'", "count": "1"}


def test_a_crash_is_a_stop_whose_frames_can_be_looked_at(user: ToolUser) -> None:
    report = user.call("debug_run", target="shopping.py", args=["fail"])
    assert (report["status"], report["reason"]) == ("paused", "exception")
    assert report["exception"]["type"] == "KeyError"
    assert report["at"] == place(SHOP, "cost")
    assert report["output"].startswith("total 21")
    assert user.inspect(frame=1)["locals"]["total"] == "0"


def test_an_end_says_its_code_its_output_and_what_was_never_hit(user: ToolUser) -> None:
    report = user.run(SHOP, "never", "rate", args=["plain"], exceptions="none", max_hits=9)
    assert (report["status"], report["exit_code"]) == ("terminated", 0)
    assert report["output"] == "total 21"
    assert report["never_hit"] == [place(SHOP, "never")]


def test_a_line_that_cannot_stop_is_said_with_one_that_can(user: ToolUser) -> None:
    line = SHOP.line("cost") - 1
    report = user.call(
        "debug_run", target="shopping.py", breakpoints=[f"shopping.py:{line}", "gone.py:1"]
    )
    missing, empty = report["problems"]
    assert f"shopping.py:{line}" in empty
    assert f"Try line {line + 1}" in empty
    assert missing == "gone.py:1: no such file was found"


def test_a_program_that_runs_on_is_waited_for_later(user: ToolUser) -> None:
    report = user.call("debug_run", target="shopping.py forever", timeout=1)
    assert report["status"] == "running"
    assert user.step("pause")["status"] == "paused"


def test_a_program_that_asks_says_what_and_gets_an_answer(user: ToolUser) -> None:
    report = user.call("debug_run", target="shopping.py ask")
    assert (report["status"], report["prompt"]) == ("waiting_for_input", "how? ")
    assert user.resume(input="")["exit_code"] == 0


def test_stdin_is_all_that_the_program_reads(user: ToolUser) -> None:
    code = "import sys; print(sys.stdin.read().upper())"
    report = user.call("debug_run", target="python", args=["-c", code], stdin="a\nb")
    assert (report["status"], report["output"]) == ("terminated", "A\nB")


def test_raised_exceptions_stop_where_they_are_raised(user: ToolUser) -> None:
    code = "try:\n    int('x')\nexcept ValueError:\n    pass\n"
    report = user.call("debug_run", target="python", args=["-c", code], exceptions="raised")
    assert (report["status"], report["at"]) == ("paused", "<string>:2")
    assert user.resume()["status"] == "terminated"
    report = user.call("debug_run", target="shopping.py fail", exceptions="none")
    assert (report["status"], report["exit_code"]) == ("terminated", 1)
    assert report["exception"]["type"] == "KeyError"


def test_breakpoints_of_the_project_do_not_stop_an_experiment_nor_are_its_own_kept(
    user: ToolUser, tmp_path: Path
) -> None:
    script = tmp_path / "one.py"
    script.write_text("x = 1\ny = 2\n")
    server = user.server
    with server.session(cwd=str(tmp_path)) as session:
        session.post("/breakpoints", {"file": str(script), "line": 1})
        report = user.call("debug_run", target=str(script), breakpoints=[f"{script}:2"])
        assert report["at"].endswith("one.py:2")
    with server.session(cwd=str(tmp_path)) as session:
        lines = [point["line"] for point in session.get("/breakpoints")["breakpoints"]]
        assert lines == [1]


# -- what is run -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "argv"),
    [
        ("show.py a 'b c'", ["show.py", "a", "b c"]),
        ("python -X dev show.py", ["show.py"]),
        ("python -m show x", [None, "x"]),
        ("show y", [None, "y"]),
        ("cd sub && ../show.py", ["../show.py"]),
        ("two words.py", ["two words.py"]),
    ],
)
def test_a_command_line_runs_as_a_shell_would_run_it(
    open_user: Callable[..., ToolUser], tmp_path: Path, target: str, argv: list[str | None]
) -> None:
    text = "import os, sys\nprint(sys.argv, os.path.basename(os.getcwd()), os.environ.get('FOO'))\n"
    for name in ("show.py", "two words.py"):
        (tmp_path / name).write_text(text)
    (tmp_path / "sub").mkdir()
    user = open_user(cwd=str(tmp_path))
    output = user.call("debug_run", target=target, env={"FOO": "7"})["output"]
    expected = [str(tmp_path / "show.py") if each is None else each for each in argv]
    folder = "sub" if "sub" in target else tmp_path.name
    assert output == f"{expected} {folder} 7"


def test_what_cannot_be_run_is_refused_and_leaves_nothing(user: ToolUser, tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text("def f(:\n")
    (tmp_path / "tool.sh").write_text("#!/bin/sh\necho\n")
    cwd = str(tmp_path)
    assert refuse(user, target="wrong.py", cwd=cwd)["code"] == "LAUNCH_SYNTAX_ERROR"
    assert refuse(user, target="no_such_module.part", cwd=cwd)["code"] == "LAUNCH_MODULE_NOT_FOUND"
    assert refuse(user, target="json.no_such_part", cwd=cwd)["code"] == "LAUNCH_MODULE_NOT_FOUND"
    assert refuse(user, target="tox -e py", cwd=cwd)["code"] == "RUN_INVALID_TARGET"
    assert refuse(user, target="./tool.sh", cwd=cwd)["code"] == "RUN_INVALID_TARGET"
    assert refuse(user, target=".", cwd=cwd)["code"] == "RUN_INVALID_TARGET"
    assert refuse(user, target="json.tool", cwd=cwd + "/gone")["code"] == "FILE_NOT_FOUND"
    point = {"breakpoints": ["what is this"]}
    assert refuse(user, target="wrong.py", cwd=cwd, **point)["code"] == "BREAKPOINT_INVALID_PLACE"
    missing = user.call("debug_run", expect=404, target="gone.py", cwd=cwd)["error"]
    assert str(tmp_path / "gone.py") in missing["message"]


# -- its environment -------------------------------------------------------------------------------


def test_the_environment_of_the_project_runs_it_and_is_said(
    open_user: Callable[..., ToolUser], tmp_path: Path
) -> None:
    (tmp_path / ".git").mkdir()
    venv.create(tmp_path / ".venv", symlinks=True, with_pip=False)
    (tmp_path / "where.py").write_text("import os, sys\nprint(sys.prefix, os.environ['PATH'])\n")
    tool = tmp_path / ".venv" / "bin" / "where"
    tool.write_text(f"#!{tmp_path}/.venv/bin/python\nprint('a console script')\n")
    user = open_user(cwd=str(tmp_path))
    none = {"VIRTUAL_ENV": None}
    report = user.call("debug_run", target="where.py", env=none)
    version = ".".join(map(str, sys.version_info[:3]))
    assert report["environment"] == f"Python {version} of .venv (project)"
    prefix, path = report["output"].split()
    assert prefix == str(tmp_path / ".venv")
    assert path.startswith(f"{prefix}/bin:")
    assert user.call("debug_run", target="where.py", env=none)["output"] == report["output"]
    assert user.call("debug_run", target="uv run where", env=none)["output"] == "a console script"
    error = refuse(user, target="pytest -q", env=none)
    assert error["message"] == f"pytest is not installed in Python {version} of .venv (project)"
    (tmp_path / ".venv" / "bin" / "python").unlink()
    for name in ("python3", f"python{sys.version_info[0]}.{sys.version_info[1]}"):
        (tmp_path / ".venv" / "bin" / name).unlink(missing_ok=True)
    report = user.call("debug_run", target="python where.py", env=none)
    assert "has no Python that can run" in report["problems"][0]


def test_the_program_gets_the_variables_of_its_client(user: ToolUser) -> None:
    code = "import os; print(os.environ.get('HOLDFAST_TOKEN'), 'NO_PROXY' in os.environ)"
    report = user.call(
        "debug_run",
        target="python",
        args=["-c", code],
        env={"HOLDFAST_TOKEN": "secret", "NO_PROXY": None},
    )
    assert report["output"] == "None False"


def test_every_python_runs_it(user: ToolUser, python: str) -> None:
    report = user.run(SHOP, "total", python=python)
    assert "(as asked)" in report["environment"]
    assert report["locals"]["total"] == "21"


# -- bad days --------------------------------------------------------------------------------------


def test_children_forks_and_threads_that_exit_do_not_hang_it(
    user: ToolUser, tmp_path: Path
) -> None:
    script = tmp_path / "bad.py"
    script.write_text(
        "import os, subprocess, sys, threading\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    x = 1\n"
        "    os._exit(3)\n"
        "os.waitpid(pid, 0)\n"
        "subprocess.run([sys.executable, '-c', 'x = 1'])\n"
        "x = 2\n"
        "thread = threading.Thread(target=os._exit, args=(7,))\n"
        "thread.start()\n"
        "thread.join()\n"
    )
    report = user.call("debug_run", target=str(script), breakpoints=[f"{script}:4", f"{script}:8"])
    assert report["at"].endswith("bad.py:8")
    assert user.resume()["exit_code"] == 7


def test_a_program_that_replaces_the_tracing_says_so(user: ToolUser, tmp_path: Path) -> None:
    script = tmp_path / "traces.py"
    script.write_text("import sys\nsys.settrace(None)\nx = 1\nraise KeyError('x')\n")
    report = user.call("debug_run", target=str(script), breakpoints=[f"{script}:3"])
    if report["reason"] == "exception":  # before 3.12 it takes the debugger's tracing away
        assert any("settrace" in problem for problem in report["problems"])
    else:
        assert report["reason"] == "breakpoint"


def test_a_breakpoint_that_lost_tracing_has_missed_is_explained_at_the_end(
    user: ToolUser, python: str, tmp_path: Path
) -> None:
    script = tmp_path / "traces.py"
    script.write_text("import sys\nsys.settrace(None)\ndef f():\n    return 1\nf()\n")
    point = f"{script}:4"
    report = user.call("debug_run", target=str(script), breakpoints=[point], python=python)
    if report["status"] == "terminated":  # before 3.12
        assert report["never_hit"] == [point]
        assert any("settrace" in problem for problem in report["problems"])
    else:
        assert report["reason"] == "breakpoint"


def test_the_server_needs_no_directory_of_the_client(server: Server) -> None:
    answer = server.post("/api/v1/run", {"target": SHOP.path, "args": ["plain"]})
    server.delete(f"/sessions/{answer['session_id']}")
    assert (answer["status"], answer["exit_code"]) == ("terminated", 0)
