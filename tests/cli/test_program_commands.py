"""`holdfast run` and what follows it, as typed: text, JSON, exit codes, terminals, Ctrl-C."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from fork_server import run_holdfast, start_python
from harness import Server
from holdfast.cli import exit_codes
from holdfast.cli.tool_access import join_reports
from polling import wait_until

SHOP = """\
def total(cart):
    amount = 0
    for item in cart:
        amount += item
    return amount


print("total", total([1, 2, 3]))
"""
TEST = """\
from shop import total


def test_total():
    assert total([1, 2]) == 4
"""
PROGRAMS = {
    "shop.py": SHOP,
    "test_shop.py": TEST,
    "crash.py": "def price(name):\n    return {}[name]\n\n\nprice('tea')\n",
    "exits.py": "import sys\n\nsys.exit(7)\n",
    "asks.py": "name = input('name? ')\nprint('hello', name)\n",
    "waits.py": "import time\n\nprint('working', flush=True)\nwhile True:\n    time.sleep(0.01)\n",
    "shows.py": "import os, sys\n\nprint(sys.argv[1:], os.environ.get('COLOUR'), os.getcwd())\n",
    "reads.py": "import sys\n\nprint(sys.stdin.read().upper())\n",
    "evil.py": "text = '\\x1b]0;owned\\x07[red]'\nprint(text)\n",
}
FINDING = ("HOLDFAST_SERVER_URL", "CIDELDILL_SERVER_URL", "HOLDFAST_HOME", "HOLDFAST_TOKEN")
Ran = subprocess.CompletedProcess[str]


class Shell:
    """A directory with programs in it, and a server."""

    def __init__(self, folder: Path, server: Server) -> None:
        self.folder = folder
        self.server = server
        plain = {name: value for name, value in os.environ.items() if name not in FINDING}
        self.env = {**plain, "HOLDFAST_HOME": str(server.data_dir), "COLUMNS": "100"}

    def run(self, *words: str, **env: str) -> Ran:
        return run_holdfast(*words, env={**self.env, **env}, cwd=self.folder)

    def run_python(self, *words: str, **env: str) -> Ran:
        """The same in an interpreter of its own, for a test about its start."""
        return subprocess.run(
            [sys.executable, *words],
            env={**self.env, **env},
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def ask(self, *words: str, code: int) -> Any:
        ran = self.run(words[0], "--json", *words[1:])
        assert ran.returncode == code, (ran.stdout, ran.stderr)
        return json.loads(ran.stdout)

    def stop_all(self) -> None:
        for session_id in self.server.list_ids():
            self.server.delete(f"/sessions/{session_id}")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """With a server of its own: there are no sessions but those that a test begins."""
    folder = tmp_path_factory.mktemp("shop")
    for name, text in PROGRAMS.items():
        (folder / name).write_text(text)
    server = Server(tmp_path_factory.mktemp("holdfast") / "data", "--pool-size", "2")
    try:
        yield Shell(folder, server)
    finally:
        server.stop()


@pytest.fixture
def shell(shop: Shell) -> Iterator[Shell]:
    yield shop
    shop.stop_all()


# -- one experiment ------------------------------------------------------------------------------


def test_a_run_answers_with_its_first_stop(shell: Shell) -> None:
    ran = shell.run("run", "--break", "shop.py:4", "shop.py")

    assert ran.returncode == exit_codes.PAUSED, ran.stderr
    assert ran.stdout.startswith("paused at shop.py:4 in total (breakpoint) · sess_")
    assert re.search(r"^> +4 +amount \+= item$", ran.stdout, re.M)
    assert "item = 1" in ran.stdout.splitlines()
    assert "next: holdfast step" in ran.stdout
    assert "\x1b" not in ran.stdout
    assert ran.stderr == ""


def test_json_is_the_structured_answer(shell: Shell) -> None:
    report = shell.ask("run", "-b", "shop.py:4 if item == 2", "shop.py", code=exit_codes.PAUSED)
    assert (report["status"], report["at"]) == ("paused", "shop.py:4")
    assert report["locals"]["amount"] == "1"


def test_a_terminal_without_these_characters_gets_others(shell: Shell) -> None:
    words = ("-m", "holdfast", "run", "-b", "shop.py:4", "shop.py")
    ran = shell.run_python(*words, PYTHONIOENCODING="ascii")
    assert ran.returncode == exit_codes.PAUSED, ran.stderr
    assert "in total (breakpoint) \\xb7 sess_" in ran.stdout


def test_values_are_collected_without_a_stop(shell: Shell) -> None:
    words = ("run", "-b", "shop.py:4", "-c", "amount", "-c", "item", "shop.py")
    report = shell.ask(*words, code=exit_codes.OK)
    assert report["rows"] == [["shop.py:4", *row] for row in (["0", "1"], ["1", "2"], ["3", "3"])]


def test_a_run_stops_where_an_expression_is_true(shell: Shell) -> None:
    words = ("run", "-b", "shop.py:4", "--until", "amount == 3", "shop.py")
    assert shell.ask(*words, code=exit_codes.PAUSED)["locals"]["item"] == "3"


def test_a_run_stops_at_a_hit(shell: Shell) -> None:
    words = ("run", "-b", "shop.py:4", "--max-hits", "2", "shop.py")
    assert shell.ask(*words, code=exit_codes.PAUSED)["locals"]["item"] == "2"


@pytest.mark.parametrize(
    "command",
    [
        ("shows.py", "a", "-b", "--json"),
        ("--", "python", "shows.py", "a", "-b", "--json"),
        ("python shows.py a -b --json",),
        ("-m", "shows", "a", "-b", "--json"),
        (sys.executable, "shows.py", "a", "-b", "--json"),
    ],
)
def test_what_follows_the_program_is_its_own(shell: Shell, command: tuple[str, ...]) -> None:
    ran = shell.run("run", "-e", "COLOUR=red", *command)
    assert ran.returncode == exit_codes.OK, (ran.stdout, ran.stderr)
    assert f"['a', '-b', '--json'] red {shell.folder}" in ran.stdout


def test_an_option_behind_the_program_is_noticed(shell: Shell) -> None:
    ran = shell.run("run", "shows.py", "--break", "shop.py:4")
    assert "['--break', 'shop.py:4']" in ran.stdout
    assert "options of Holdfast come before it" in ran.stderr


def test_a_program_has_the_environment_of_the_shell(shell: Shell, tmp_path: Path) -> None:
    words = ("run", "--cwd", str(tmp_path), str(shell.folder / "shows.py"))
    ran = shell.run(*words, COLOUR="blue")
    assert f"[] blue {tmp_path}" in ran.stdout
    ran = shell.run("run", "-e", "COLOUR", "shows.py", COLOUR="blue")
    assert "[] None" in ran.stdout


def test_a_program_can_be_given_its_input(shell: Shell) -> None:
    (shell.folder / "words.txt").write_text("some words\n")
    ran = shell.run("run", "--stdin", "words.txt", "reads.py")
    assert "SOME WORDS" in ran.stdout
    assert shell.run("run", "--stdin", "none.txt", "reads.py").returncode == exit_codes.ERROR


def test_a_failing_test_stops_at_its_failure(shell: Shell) -> None:
    ran = shell.run("run", "test_shop.py::test_total")
    assert ran.returncode == exit_codes.PAUSED, (ran.stdout, ran.stderr)
    assert "AssertionError: assert 3 == 4" in ran.stdout
    assert "paused at test_shop.py:5 in test_total" in ran.stdout


# -- what the exit code says ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("shop.py",), exit_codes.OK, "total 6"),
        (("crash.py",), exit_codes.PAUSED, "KeyError: 'tea'"),
        (("--exceptions", "none", "crash.py"), exit_codes.FAILED, "KeyError: 'tea'"),
        (("exits.py",), exit_codes.FAILED, "exit code 7"),
        (("--timeout", "0.5", "waits.py"), exit_codes.RUNNING, "running"),
        (("asks.py",), exit_codes.WAITS_FOR_INPUT, "name?"),
    ],
)
def test_the_exit_code_says_where_the_program_is(
    shell: Shell, words: tuple[str, ...], code: int, said: str
) -> None:
    ran = shell.run("run", *words)
    assert ran.returncode == code, (ran.stdout, ran.stderr)
    assert said in ran.stdout


@pytest.mark.parametrize(
    "words",
    [
        ("run",),
        ("run", "--max-hits", "0", "shop.py"),
        ("run", "--exceptions", "some", "shop.py"),
        ("run", "-e", "=1", "shop.py"),
        ("step", "sideways"),
        ("step", "to-line"),
        ("step", "over", "4"),
        ("eval",),
        ("runn",),
    ],
)
def test_a_wrong_command_line_is_code_2(shell: Shell, words: tuple[str, ...]) -> None:
    ran = shell.run(*words)
    assert (ran.returncode, ran.stdout) == (exit_codes.USAGE, "")
    assert "Traceback" not in ran.stderr


def test_an_error_of_holdfast_is_code_1(shell: Shell) -> None:
    ran = shell.run("run", "missing.py")
    assert (ran.returncode, ran.stdout) == (exit_codes.ERROR, "")
    assert "missing.py" in ran.stderr
    error = shell.ask("run", "missing.py", code=exit_codes.ERROR)["error"]
    assert error["code"]
    assert "missing.py" in error["message"]


def test_a_reader_that_leaves_does_not_change_the_exit_code(shell: Shell) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    words = ("-m", "holdfast", "run", "-b", "shop.py:4", "shop.py")
    process = start_python(*words, stdout=writing, env=shell.env, cwd=shell.folder)
    os.close(writing)
    assert process.wait(60) == exit_codes.PAUSED


def test_a_directory_that_is_gone_is_said(shell: Shell, tmp_path: Path) -> None:
    code = "import os, sys; os.rmdir(os.getcwd()); from holdfast.cli import main; main()"
    (tmp_path / "gone").mkdir()
    ran = subprocess.run(
        [sys.executable, "-c", code, "run", str(shell.folder / "shop.py")],
        env=shell.env,
        cwd=tmp_path / "gone",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.returncode == exit_codes.ERROR
    assert ran.stderr.startswith("the directory that you work in is gone")


def test_the_exit_codes_are_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "cli.md").read_text()
    codes = [value for value in vars(exit_codes).values() if isinstance(value, int)]
    assert [int(code) for code in re.findall(r"^\| (\d+) \|", page, re.M)] == codes


# -- going on ------------------------------------------------------------------------------------


@pytest.fixture
def held(shell: Shell) -> Shell:
    shell.ask("run", "-b", "shop.py:4", "shop.py", code=exit_codes.PAUSED)
    return shell


def test_steps_say_what_changed(held: Shell) -> None:
    ran = held.run("step")
    assert ran.returncode == exit_codes.PAUSED
    assert "amount = 1 (was 0)" in ran.stdout.splitlines()
    assert "cart" not in ran.stdout.replace("in cart", "")
    assert held.ask("step", "return", code=exit_codes.PAUSED)["at"] == "shop.py:4"


def test_several_steps_are_one_command(held: Shell) -> None:
    held.ask("break", "--remove", "all", code=exit_codes.OK)
    report = held.ask("step", "-n", "4", code=exit_codes.PAUSED)
    assert len(report["steps"]) == 4
    assert held.ask("step", "to-line", "5", code=exit_codes.PAUSED)["at"] == "shop.py:5"
    assert held.ask("step", "out", code=exit_codes.PAUSED)["function"] == "<module>"


def test_a_stop_can_be_looked_at(held: Shell) -> None:
    values = held.ask("inspect", "amount + 1", "len(cart)", code=exit_codes.OK)["values"]
    assert values == {"amount + 1": "1", "len(cart)": "3"}
    assert held.ask("inspect", "--frame", "1", code=exit_codes.OK)["function"] == "<module>"
    assert "[1] = 2" in held.run("inspect", "--expand", "cart").stdout
    assert "shop.py:8" in held.run("inspect", "--show", "stack").stdout


def test_a_statement_changes_the_program(held: Shell) -> None:
    assert "100" in held.run("eval", "amount = 100").stdout
    held.ask("break", "-r", "all", code=exit_codes.OK)
    ran = held.run("continue")
    assert ran.returncode == exit_codes.OK
    assert "total 106" in ran.stdout


def test_what_cannot_be_evaluated_is_an_error(held: Shell) -> None:
    report = held.ask("eval", "1 / 0", code=exit_codes.ERROR)
    assert report["error"] == "ZeroDivisionError: division by zero"
    assert (report["status"], "values" in report) == ("paused", False)
    ran = held.run("eval", "if")
    assert (ran.returncode, "\nerror: SyntaxError" in ran.stdout) == (exit_codes.ERROR, True)


def test_breakpoints_are_set_listed_and_removed(held: Shell) -> None:
    ran = held.run("break", "shop.py:5", "--watch", "amount")
    assert ran.returncode == exit_codes.OK
    assert {"shop.py:5", "amount"} <= set(ran.stdout.split())
    points = held.ask("break", code=exit_codes.OK)["breakpoints"]
    assert len(points) == 3
    left = held.ask("break", "-r", points[0]["id"], "-r", "shop.py:5", code=exit_codes.OK)
    assert ["amount" in point["place"] for point in left["breakpoints"]] == [True]


def test_a_program_that_waits_for_input_gets_it(shell: Shell) -> None:
    assert shell.run("run", "asks.py").returncode == exit_codes.WAITS_FOR_INPUT
    ran = shell.run("continue", "--input", "Ada")
    assert ran.returncode == exit_codes.OK
    assert "hello Ada" in ran.stdout


def test_a_running_program_can_be_paused(shell: Shell) -> None:
    shell.ask("run", "--timeout", "0.3", "waits.py", code=exit_codes.RUNNING)
    assert shell.ask("continue", "--timeout", "0.1", code=exit_codes.RUNNING)
    assert shell.ask("step", "pause", code=exit_codes.PAUSED)["at"].startswith("waits.py:")


def test_a_session_is_named_by_its_id_or_the_beginning_of_it(held: Shell) -> None:
    first = held.ask("inspect", code=exit_codes.OK)["session_id"]
    held.ask("run", "-b", "shop.py:5", "shop.py", code=exit_codes.PAUSED)
    assert held.ask("inspect", code=exit_codes.OK)["at"] == "shop.py:5"
    assert held.ask("inspect", "-s", first[:14], code=exit_codes.OK)["at"] == "shop.py:4"
    assert held.run("inspect", "-s", "sess_none").returncode == exit_codes.ERROR


def test_sessions_are_ended(held: Shell) -> None:
    session = held.ask("run", "-b", "shop.py:5", "shop.py", code=exit_codes.PAUSED)["session_id"]
    ran = held.run("stop")
    assert (ran.returncode, session in ran.stdout) == (exit_codes.OK, True)
    [other] = held.server.list_ids()
    stopped = held.ask("stop", "-s", other, code=exit_codes.OK)["stopped"]
    assert [one["session_id"] for one in stopped] == [other]
    assert held.run("sessions").stdout == "no sessions\n"


def test_a_part_that_a_stop_does_not_have_is_a_wrong_command_line(shell: Shell) -> None:
    ran = shell.run("inspect", "--show", "bogus")
    assert ran.returncode == exit_codes.USAGE
    assert "there is no part 'bogus'" in ran.stderr


def test_an_end_without_an_exit_code_is_no_success() -> None:
    assert exit_codes.choose_code({"status": "terminated", "exit_code": 0}) == exit_codes.OK
    unknown = {"status": "terminated", "exit_code": None}
    assert exit_codes.choose_code(unknown) == exit_codes.UNKNOWN_END


def test_a_wait_may_be_longer_than_one_request_of_the_server() -> None:
    first: dict[str, Any] = {
        "status": "running",
        "session_id": "s",
        "environment": "Python",
        "output": "a",
    }
    first |= {"problems": ["p", "q"], "rows": [["x:1", "1"]], "next": "debug_continue"}
    first |= {"columns": ["x"], "hits": 1}
    last: dict[str, Any] = {
        "status": "terminated",
        "session_id": "s",
        "output": "b",
        "rows": [["x:1", "2"]],
        "hits": 2,
        "problems": ["q", "r"],
    }
    assert join_reports(first, last) == {
        "status": "terminated",
        "session_id": "s",
        "environment": "Python",
        "problems": ["p", "q", "r"],
        "output": "a\nb",
        "columns": ["x"],
        "rows": [["x:1", "1"], ["x:1", "2"]],
        "hits": 2,
    }


# -- at a terminal -------------------------------------------------------------------------------


class Terminal:
    """A terminal that a command runs in."""

    def __init__(self, shell: Shell, *words: str, **env: str) -> None:
        self._master, slave = pty.openpty()
        terminal = {"TERM": "xterm-256color", **env}
        self.process = start_python(
            *("-m", "holdfast", *words),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**shell.env, **terminal},
            cwd=shell.folder,
        )
        os.close(slave)
        self.shown = ""

    def read_until(self, words: str) -> str:
        while words not in self.shown:
            assert self._read(), self.shown
        return self.shown

    def wait(self) -> int:
        while self._read():
            pass
        os.close(self._master)
        return self.process.wait(60)

    def _read(self) -> bool:
        ready, _, _ = select.select([self._master], [], [], 60)
        assert ready, self.shown
        with contextlib.suppress(OSError):  # the other end is closed
            data = os.read(self._master, 65536)
            self.shown += data.decode(errors="replace")
            return bool(data)
        return False


def strip(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).replace("\r", "")


def test_a_terminal_gets_colours(shell: Shell) -> None:
    terminal = Terminal(shell, "run", "-b", "shop.py:4", "shop.py")
    assert terminal.wait() == exit_codes.PAUSED
    assert "\x1b[" in terminal.shown
    assert re.search(r"^▶ 4 +amount \+= item", strip(terminal.shown), re.M)


def test_no_color_is_respected(shell: Shell) -> None:
    terminal = Terminal(shell, "run", "-b", "shop.py:4", "shop.py", NO_COLOR="1")
    assert terminal.wait() == exit_codes.PAUSED
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]", terminal.shown)


def test_ids_are_whole_on_a_narrow_terminal(held: Shell) -> None:
    [session] = held.server.list_ids()
    terminal = Terminal(held, "sessions", COLUMNS="50")
    terminal.wait()
    assert session in strip(terminal.shown)


def test_what_a_program_prints_cannot_command_the_terminal(shell: Shell) -> None:
    terminal = Terminal(shell, "run", "-b", "evil.py:2", "evil.py")
    terminal.wait()
    assert "\x1b]" not in terminal.shown
    assert "\x07" not in terminal.shown
    assert "[red]" in strip(terminal.shown)


def test_a_long_wait_shows_the_last_line_and_ctrl_c_leaves_the_program(shell: Shell) -> None:
    terminal = Terminal(shell, "run", "--timeout", "300", "waits.py")
    terminal.read_until("working")
    os.kill(terminal.process.pid, signal.SIGINT)
    assert terminal.wait() == exit_codes.INTERRUPTED
    [session] = shell.server.get("/sessions")["sessions"]
    assert session["status"] == "running"
    assert f"holdfast continue -s {session['session_id']}" in strip(terminal.shown)
    assert f"holdfast stop {session['session_id']}" in strip(terminal.shown)
    assert shell.ask("step", "pause", code=exit_codes.PAUSED)["status"] == "paused"


def test_ctrl_c_in_a_pipe_says_how_to_go_on(shell: Shell, tmp_path: Path) -> None:
    with open(tmp_path / "err", "w+") as err, open(os.devnull, "w") as out:
        process = start_python(
            *("-m", "holdfast", "run", "--timeout", "300", "waits.py"),
            stdout=out.fileno(),
            stderr=err.fileno(),
            env=shell.env,
            cwd=shell.folder,
        )
        wait_until(lambda: _has_own_running(shell), "the program")
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == exit_codes.INTERRUPTED
        err.seek(0)
        assert "holdfast continue -s sess_" in err.read()


def _has_own_running(shell: Shell) -> bool:
    """Whether the server knows a running program as one that this shell has started."""
    tool = f"/api/v1/tools/debug_sessions?client=cli&cwd={quote(str(shell.folder))}"
    sessions = shell.server.post(tool, {})["sessions"]
    return any(one["status"] == "running" and one.get("is_yours", False) for one in sessions)


# -- the start of a command ----------------------------------------------------------------------

IMPORTED = """
import sys
sys.argv = ["holdfast", *sys.argv[1:]]
from holdfast.cli import main
try:
    main()
finally:
    heavy = {"pydantic", "textual", "starlette", "debugpy", "rich", "mcp"} & set(sys.modules)
    print(*sorted(heavy), file=sys.stderr)
"""


@pytest.mark.parametrize("words", [("step",), ("sessions", "--json"), ("inspect", "-f", "1")])
def test_a_command_imports_only_what_it_needs(held: Shell, words: tuple[str, ...]) -> None:
    ran = held.run_python("-c", IMPORTED, *words)
    assert (ran.returncode in (0, 3), ran.stderr.strip()) == (True, "")
