"""`holdfast trace`, `why` and `diff`, as typed: text, JSON, options, exit codes."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fork_server import run_holdfast
from harness import Server

SHOP = """\
import sys


def total(cart):
    amount = 0
    for item in cart:
        amount += item
    return amount


print("total", total([int(word) for word in sys.argv[1:]] or [1, 2, 3]))
"""
FINDING = ("HOLDFAST_SERVER_URL", "CIDELDILL_SERVER_URL", "HOLDFAST_HOME", "HOLDFAST_TOKEN")
Ran = subprocess.CompletedProcess[str]


class Shell:
    """A directory with a program in it, and a server."""

    def __init__(self, folder: Path, server: Server) -> None:
        self.folder = folder
        plain = {name: value for name, value in os.environ.items() if name not in FINDING}
        self.env = {**plain, "HOLDFAST_HOME": str(server.data_dir), "COLUMNS": "100"}

    def run(self, *words: str) -> Ran:
        return run_holdfast(*words, env=self.env, cwd=self.folder)

    def read(self, *words: str) -> Any:
        ran = self.run(*words, "--json") if "--" not in words else self.run(*words)
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)


@pytest.fixture
def shell(server: Server, tmp_path: Path) -> Iterator[Shell]:
    (tmp_path / "shop.py").write_text(SHOP)
    shell = Shell(tmp_path, server)
    yield shell
    shell.run("stop", "all")


def test_a_trace_is_source_with_values_beside_it(shell: Shell) -> None:
    ran = shell.run("trace", "shop.py", "--function", "total", "--call", "1")
    assert ran.returncode == 0, ran.stderr
    head, *lines = ran.stdout.splitlines()
    assert "total(cart=[1, 2, 3]) · call 1 · shop.py:4" in head
    assert "5 amount = 0" in lines
    assert any(line.startswith("6 for item in cart:  # 3 rounds") for line in lines)
    assert "returned 6" in lines
    assert "\x1b" not in ran.stdout


def test_json_has_the_settled_names(shell: Shell) -> None:
    report = shell.read("trace", "shop.py", "--function", "total")
    assert report["args"] == {"cart": "[1, 2, 3]"}
    assert report["return"] == "6"
    assert report["steps"][0] == {"line": 5, "changed": {"amount": "0"}}
    loop = report["steps"][1]["loop"]
    assert (loop["line"], loop["iterations"]) == (6, 3)
    assert loop["first"]["number"] == 1
    assert loop["last"]["number"] == 3


def test_arguments_of_the_program_follow_two_dashes(shell: Shell) -> None:
    ran = shell.run("trace", "--json", "--function", "total", "--", "shop.py", "20", "22")
    assert json.loads(ran.stdout)["return"] == "42"


def test_full_is_not_bounded(shell: Shell) -> None:
    numbers = [str(number) for number in range(1500)]
    words = ["trace", "--json", "--full", "--function", "total", "--", "shop.py", *numbers]
    report = json.loads(shell.run(*words).stdout)
    assert sum(step.get("line") == 7 for step in report["steps"]) == 1500
    bounded = shell.run("trace", "--json", "--budget-tokens", "200", *words[2:])
    assert len(bounded.stdout.encode()) <= 4 * 200 + 200  # the JSON here has spaces


def test_a_call_that_was_not_made_has_an_exit_code(shell: Shell) -> None:
    ran = shell.run("trace", "shop.py", "--function", "total", "--call", "7")
    assert ran.returncode == 1
    assert "not called 7 times" in ran.stdout


def test_a_recording_is_shown_again(shell: Shell) -> None:
    trace = shell.read("trace", "shop.py", "--function", "total")["trace_id"]
    assert shell.read("trace", "--trace", trace)["return"] == "6"
    assert shell.read("trace", "--trace", "latest")["trace_id"] == trace
    assert trace in shell.run("trace", "--list").stdout


def test_input_is_given_again(shell: Shell) -> None:
    program = "def read():\n    return input()\n\n\ndef main():\n    read()\n\n\nmain()\n"
    (shell.folder / "reader.py").write_text(program)
    (shell.folder / "words.txt").write_text("tea\n")
    shell.run("trace", "reader.py", "-f", "read", "--stdin", "words.txt")
    ran = shell.run(
        "trace", "--trace", "latest", "--go", "parent", "--again", "--stdin", "words.txt"
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("reader.main()")


def test_notes_name_commands(shell: Shell) -> None:
    (shell.folder / "asks.py").write_text("def ask():\n    return input()\n\n\nask()\n")
    ran = shell.run("trace", "asks.py", "-f", "ask")
    assert "holdfast continue --input" in ran.stdout
    assert "debug_" not in ran.stdout


def test_why_runs_the_file_and_names_the_write(shell: Shell) -> None:
    report = shell.read("why", "amount", "--at", "shop.py:8")
    assert report["assigned"]["line"] == 7
    assert report["assigned"]["value"] == "6"
    assert report["assigned"]["file"] == "shop.py"
    assert report["from"]
    second = shell.read("why", "amount", "--at", "shop.py:7", "--hit", "2")
    assert second["assigned"]["value"] == "1"


def test_why_runs_a_module(shell: Shell) -> None:
    report = shell.read("why", "amount", "-m", "shop", "--at", "shop.py:8", "4", "5")
    assert report["assigned"]["value"] == "9"


def test_why_prints_at_most_thirty_lines(shell: Shell) -> None:
    ran = shell.run("why", "amount", "--at", "shop.py:8")
    assert ran.returncode == 0, ran.stderr
    assert 2 <= len(ran.stdout.splitlines()) <= 30
    assert "assigned at shop.py:7" in ran.stdout


def test_two_command_lines_are_compared(shell: Shell) -> None:
    report = shell.read("diff", "shop.py 1 2", "shop.py 1 3")
    assert report["status"] == "different"
    ran = shell.run("diff", report["run_a"], report["run_b"])
    assert ran.returncode == 0
    assert "first different" in ran.stdout


@pytest.mark.parametrize(
    "words",
    [
        ["trace"],
        ["why"],
        ["why", "amount"],
        ["diff", "shop.py"],
        ["diff", "--against", "HEAD"],
        ["trace", "shop.py", "--trace", "latest"],
    ],
)
def test_a_wrong_command_line_is_refused(shell: Shell, words: list[str]) -> None:
    assert shell.run(*words).returncode == 2


def test_a_typing_error_names_what_was_meant(shell: Shell) -> None:
    ran = shell.run("trace", "shop.py", "--function", "totla")
    assert ran.returncode == 1
    assert "total" in ran.stderr
