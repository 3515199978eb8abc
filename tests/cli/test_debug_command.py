"""`holdfast debug` as a command: what it starts or joins, and a run in a real terminal."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import PROGRAMS, Program, Server
from holdfast.cli.screen.program_start import build_run, choose_session
from polling import wait_until

LOOP = Program("loop.py")
SCRIPT = str(PROGRAMS / "loop.py")
FIRST_LINE = {"until": "True"}


# -- what it starts --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "module", "target", "args", "first"),
    [
        ([SCRIPT, "-x", "1"], None, SCRIPT, ["-x", "1"], FIRST_LINE),
        (["a"], "package.tool", "python -m package.tool a", [], FIRST_LINE),
        (["python", "-X", "dev", "x.py"], None, "python -X dev x.py", [], FIRST_LINE),
        (["pytest", "-k", "cart or shop"], None, "pytest -k 'cart or shop'", [], {}),
        (["uv", "run", "pytest"], None, "uv run pytest", [], {}),
        (["-x"], "pytest", "python -m pytest -x", [], {}),
    ],
)
def test_a_program_stops_at_its_first_line_and_pytest_where_tests_fail(
    words: list[str], module: str | None, target: str, args: list[str], first: dict[str, Any]
) -> None:
    run = build_run(words, module)
    assert (run["target"], run["args"], run["breakpoints"]) == (target, args, [])
    assert {name: run[name] for name in run if name == "until"} == first


@pytest.mark.parametrize(
    "words",
    [
        ["tests/test_cart.py::TestCart::test_total[a]"],
        ["pytest", "tests/test_cart.py::TestCart::test_total"],
    ],
)
def test_a_test_that_is_named_stops_where_it_begins(words: list[str]) -> None:
    run = build_run(words)
    assert run["breakpoints"] == ["tests/test_cart.py:TestCart.test_total"]
    assert "until" not in run


def test_a_program_with_breakpoints_runs_to_them() -> None:
    run = build_run([SCRIPT], None, ["loop.py:5 if total"], "python3.12")
    assert run["breakpoints"] == ["loop.py:5 if total"]
    assert run["python"] == "python3.12"
    assert "until" not in run


def test_a_program_gets_the_variables_of_the_terminal_but_no_token(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOLDFAST_TOKEN", "secret")
    monkeypatch.setenv("COLOUR", "green")
    env = build_run([SCRIPT])["env"]
    assert env["COLOUR"] == "green"
    assert "HOLDFAST_TOKEN" not in env


# -- what it joins ---------------------------------------------------------------------------------


def make_session(number: int, status: str) -> dict[str, Any]:
    created = f"2026-01-0{number}T00:00:00Z"
    fields = {"session_id": f"sess_{number}0ab", "name": f"name {number}", "created_at": created}
    return {**fields, "status": status}


SESSIONS = [
    make_session(3, "terminated"),
    make_session(1, "paused"),
    make_session(2, "running"),
]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("latest", "sess_20ab"),
        ("sess_30ab", "sess_30ab"),
        ("10", "sess_10ab"),
        ("name 1", "sess_10ab"),
        ("sess_40ab", None),
        ("", None),
    ],
)
def test_a_session_is_found_by_id_name_or_age(wanted: str, found: str | None) -> None:
    assert choose_session(SESSIONS, wanted) == found


# -- a real terminal -------------------------------------------------------------------------------


class Terminal:
    """`holdfast debug` in a terminal of its own."""

    def __init__(self, server: Server, *arguments: str) -> None:
        self._mine, its = pty.openpty()
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        home = {"HOLDFAST_HOME": str(server.data_dir), "TERM": "xterm-256color"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "holdfast", "debug", *arguments],
            stdin=its,
            stdout=its,
            stderr=its,
            env={**os.environ, **home},
            start_new_session=True,
        )
        os.close(its)
        self._shown = b""

    def type(self, keys: bytes) -> None:
        """Press keys. What was shown so far is forgotten."""
        self._read()
        self._shown = b""
        os.write(self._mine, keys)

    def wait_for(self, text: str) -> None:
        wanted = text.encode()
        wait_until(lambda: self._read() and wanted in self._shown, lambda: self._shown[-3000:])

    def wait_for_end(self) -> int:
        """Its exit code. What it still writes is read: a full terminal would hold it."""
        wait_until(lambda: self._read() and self.process.poll() is not None, "its end")
        return int(self.process.returncode)

    def _read(self) -> bool:
        with contextlib.suppress(OSError):  # it has ended
            while select.select([self._mine], [], [], 0)[0]:
                data = os.read(self._mine, 65536)
                if not data:
                    break
                self._shown += data
        return True

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._mine)


@pytest.fixture
def open_terminal(server: Server) -> Iterator[Callable[..., Terminal]]:
    with contextlib.ExitStack() as stack:

        def open_one(*arguments: str) -> Terminal:
            terminal = Terminal(server, *arguments)
            stack.callback(terminal.close)
            return terminal

        yield open_one


def find_others(server: Server, known: list[str]) -> list[Any]:
    """The sessions that there are beside those that are known."""
    sessions = server.get("/sessions")["sessions"]
    return [session for session in sessions if session["session_id"] not in known]


@pytest.mark.slow
def test_a_person_debugs_a_script_in_a_terminal(
    server: Server, open_terminal: Callable[..., Terminal]
) -> None:
    known = server.list_ids()
    terminal = open_terminal("-b", f"{SCRIPT}:{LOOP.line('add')}", SCRIPT)
    terminal.wait_for(f"breakpoint  ·  loop.py:{LOOP.line('add')}")
    terminal.type(b"n\x1b[21~")  # F10
    terminal.wait_for(f"loop.py:{LOOP.line('call')}")
    terminal.type(b"q")
    terminal.wait_for("The program has not ended")
    [session] = find_others(server, known)
    assert Path(session["name"]).name == "loop.py"
    terminal.type(b"e")
    assert terminal.wait_for_end() == 0
    assert find_others(server, known) == []


@pytest.mark.slow
def test_a_terminal_that_goes_away_ends_the_program_but_not_a_joined_one(
    server: Server, open_terminal: Callable[..., Terminal]
) -> None:
    known = server.list_ids()
    first = open_terminal(SCRIPT)
    first.wait_for("entry  ·  loop.py:1")
    [session] = find_others(server, known)
    second = open_terminal("--session", session["session_id"])
    second.wait_for("entry  ·  loop.py:1")
    second.process.send_signal(signal.SIGHUP)
    second.wait_for_end()
    [left] = find_others(server, known)
    assert (left["session_id"], left["status"]) == (session["session_id"], "paused")
    first.process.send_signal(signal.SIGTERM)
    first.wait_for_end()
    assert find_others(server, known) == []


def test_without_a_terminal_it_says_what_to_use() -> None:
    command = [sys.executable, "-m", "holdfast", "debug", SCRIPT]
    ran = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert ran.returncode == 1
    assert "holdfast run" in ran.stderr
