"""Commands that start a server, and those that need none."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from fork_server import run_holdfast
from harness import Server
from holdfast.cli import server_start
from holdfast.trust.private_files import write_private_file
from polling import wait_until
from server_processes import is_gone

FINDING = ("HOLDFAST_SERVER_URL", "CIDELDILL_SERVER_URL", "HOLDFAST_HOME", "HOLDFAST_TOKEN")
Ran = subprocess.CompletedProcess[str]


class Home:
    """A data directory without a server, and a script to run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data_dir = folder / "data"
        (folder / "hello.py").write_text("print('hello')\n")

    def run(self, *words: str, **env: str) -> Ran:
        plain = {name: value for name, value in os.environ.items() if name not in FINDING}
        environment = {**plain, "HOLDFAST_HOME": str(self.data_dir), **env}
        return run_holdfast(*words, env=environment, cwd=self.folder)

    def find_pid(self) -> int | None:
        try:
            announcement = json.loads((self.data_dir / "server.json").read_text())
        except FileNotFoundError:
            return None
        return int(announcement["pid"])


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    home = Home(tmp_path)
    yield home
    pid = home.find_pid()
    if pid is not None:
        process = psutil.Process(pid)
        process.terminate()
        wait_until(lambda: is_gone(process), "the end of the server")


def test_a_run_starts_a_server_that_the_next_one_finds(home: Home) -> None:
    first = home.run("run", "hello.py")
    assert first.returncode == 0, first.stderr
    assert "output: hello" in first.stdout
    pid = home.find_pid()
    assert first.stderr == (
        f"started a server (pid {pid}); it ends by itself when unused for 10 minutes\n"
    )
    second = home.run("run", "hello.py")
    assert (second.returncode, second.stderr, home.find_pid()) == (0, "", pid)
    assert home.run("calls", "list").stdout == "no calls\n"


@pytest.mark.parametrize(("option", "variable"), [("--no-start", ""), ("--json", "1")])
def test_a_server_is_not_started_by_those_who_do_not_want_that(
    home: Home, option: str, variable: str
) -> None:
    ran = home.run("run", option, "hello.py", HOLDFAST_NO_START=variable)
    assert ran.returncode == 1
    assert "holdfast serve" in ran.stdout + ran.stderr
    assert not home.data_dir.exists()


def test_a_server_that_was_chosen_is_not_started(home: Home) -> None:
    ran = home.run("run", "--url", "http://127.0.0.1:1", "hello.py")
    assert ran.returncode == 1
    assert "http://127.0.0.1:1" in ran.stderr
    assert not home.data_dir.exists()


@pytest.mark.parametrize(
    ("words", "text", "document"),
    [
        (("sessions",), "no sessions\n", {"sessions": [], "total": 0}),
        (("holds",), "nothing is held\n", {"holds": []}),
        (("calls", "list"), "no calls\n", {"calls": [], "next": None}),
        (("calls", "breaks"), "no call breakpoints\n", {"breakpoints": []}),
    ],
)
def test_a_list_of_nothing_needs_no_server(
    home: Home, words: tuple[str, ...], text: str, document: object
) -> None:
    ran = home.run(*words)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, text, "")
    assert json.loads(home.run(*words, "--json").stdout) == document
    assert not home.data_dir.exists()


@pytest.mark.parametrize(
    "words", [("continue",), ("step",), ("inspect",), ("eval", "1"), ("break",), ("stop",)]
)
def test_without_a_server_there_is_no_session(home: Home, words: tuple[str, ...]) -> None:
    ran = home.run(*words)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert "nothing is being debugged" in ran.stderr
    assert "holdfast run" in ran.stderr
    assert not home.data_dir.exists()


def test_a_server_of_another_directory_is_not_taken_for_this_one(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in FINDING:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOLDFAST_HOME", str(server.data_dir))
    assert server_start.find_server() is not None
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    stale = {"url": server.url, "pid": os.getpid(), "data_dir": str(tmp_path)}
    write_private_file(tmp_path / "server.json", json.dumps(stale))
    assert server_start.find_server() is None
