"""`holdfast captures`, as a user types it; no server runs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from fork_server import run_holdfast
from holdfast.recording.capture_files import (
    CaptureDirectory,
    captures_dir,
    create_run_id,
)
from pytest_runs import PROJECT, PytestRun, run_pytest


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> PytestRun:
    home = tmp_path_factory.mktemp("captures") / "home"
    return run_pytest(home, "--holdfast", "-q", "-k", "total or cause or secret or setup")


def ask(home: Path, *words: str, status: int = 0) -> str:
    env = {**os.environ, "HOLDFAST_HOME": str(home), "HOLDFAST_SERVER_URL": ""}
    done = run_holdfast("captures", *words, env=env, cwd=PROJECT)
    assert done.returncode == status, done.stderr
    return done.stdout + done.stderr


def test_failing_tests_are_listed(run: PytestRun) -> None:
    text = ask(run.home)
    capture = run.captures()["test_total"]
    (line,) = [line for line in text.splitlines() if capture["id"] in line]
    assert "test_failing.py::test_total" in line
    assert "AssertionError: assert 10 == 11" in line
    assert "test_failing.py::test_setup (setup)" in text


def test_one_is_shown_with_its_frames_values_and_output(run: PytestRun) -> None:
    text = ask(run.home, run.captures()["test_total"]["id"][:8])
    assert "AssertionError: assert 10 == 11" in text
    assert "  cart.total(factor) = 10" in text
    assert "#0  check_total  test_failing.py:" in text
    assert "#1  test_total  test_failing.py:" in text
    assert any(line.startswith(">") and "assert cart.total" in line for line in text.splitlines())
    assert "adding up" in text
    assert "-m pytest test_failing.py::test_total" in text


def write_capture(home: Path, **fields: Any) -> str:
    error = {"type": "AssertionError", "module": "builtins", "message": "", "frames": []}
    fixed = {"when": "call", "time": "2026-01-02T03:04:05Z", "attempt": 1, "exception": error}
    capture: Any = {"node": "test_shop.py::test_total", **fixed, **fields}
    return CaptureDirectory(captures_dir(home)).write(capture, create_run_id(), None, 1)


def test_what_a_test_wrote_cannot_command_the_terminal(tmp_path: Path) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J[red]"
    error = {"type": "AssertionError", "module": "builtins", "message": evil, "frames": []}
    written = write_capture(tmp_path, exception=error, output=[("Captured stdout call", evil)])
    for text in (ask(tmp_path), ask(tmp_path, written)):
        assert "\x1b" not in text
        assert "AssertionError: [red]" in text


def test_constants_of_an_assertion_say_nothing(tmp_path: Path) -> None:
    operands = [{"name": "total", "value": "51", "type": "int"}]
    operands += [{"name": "54", "value": "54", "type": "int"}]
    assertion = {"source": "assert total == 54", "operands": operands, "is_comparison": True}
    text = ask(tmp_path, write_capture(tmp_path, assertion=assertion))
    assert "  total = 51\n" in text
    assert "54 = 54" not in text


def test_a_frame_that_repeats_is_shown_once(tmp_path: Path) -> None:
    frame = {"file": "/a.py", "line": 2, "function": "dive", "source": [(2, "dive(n + 1)")]}
    frames = [{**frame, "locals": [], "locals_total": 0} for _ in range(9)]
    error = {"type": "RecursionError", "module": "builtins", "message": "deep", "frames": frames}
    text = ask(tmp_path, write_capture(tmp_path, exception=error))
    assert text.count("dive(n + 1)") == 1
    assert "… 8 more frames of dive" in text


def test_what_led_to_an_exception_is_shown(run: PytestRun) -> None:
    text = ask(run.home, run.captures()["test_cause"]["id"])
    assert "KeyError: 'config'" in text
    assert "caused by\nJSONDecodeError: Expecting property name" in text


def test_secrets_are_hidden_unless_they_are_asked_for(run: PytestRun) -> None:
    capture_id = run.captures()["test_secret"]["id"]
    assert "password = <hidden" in ask(run.home, capture_id)
    assert "password = 'correct horse'" in ask(run.home, capture_id, "--show-secrets")


def test_json_is_what_the_server_would_answer(run: PytestRun) -> None:
    listed = json.loads(ask(run.home, "--json"))
    assert listed["total"] == 4
    shown = json.loads(ask(run.home, listed["captures"][0]["id"], "--json"))
    assert shown["id"] == listed["captures"][0]["id"]
    assert json.loads(ask(run.home, "nothing", "--json", status=1))["error"]["hint"]


def test_nothing_and_nonsense_are_said_in_words(tmp_path: Path) -> None:
    assert "no captures; `pytest --holdfast`" in ask(tmp_path)
    assert "there are no captures yet" in ask(tmp_path, "latest", status=1)


def test_captures_can_be_cleared(tmp_path: Path) -> None:
    run_pytest(tmp_path, "--holdfast", "-q", "-k", "total or cause")
    assert "deleted 2 captures" in ask(tmp_path, "clear")
    assert json.loads(ask(tmp_path, "--json"))["total"] == 0
