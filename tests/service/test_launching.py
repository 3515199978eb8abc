"""Launches: what the answer is, and what is refused before anything runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness import Program, Session

LOOP = Program("loop.py")


def test_a_launch_answers_at_once_that_it_runs(session: Session) -> None:
    session.break_at(LOOP, "add")
    assert session.post("/launch", {"script": LOOP.path}) == {
        "session_id": session.id,
        "status": "running",
    }
    assert session.get("/status?wait=20")["reason"] == "breakpoint"


def test_a_session_runs_one_program_at_a_time(session: Session) -> None:
    session.break_at(LOOP, "print")
    session.launch(LOOP)
    refused = session.post("/launch", {"script": LOOP.path}, expect=409)
    assert refused["error"]["details"]["state"] == "paused"
    session.resume()
    assert session.launch(LOOP)["status"] == "paused"


def test_a_crash_stops_nothing_unless_asked(session: Session) -> None:
    end = session.post("/launch", {"code": "raise RuntimeError('the end')", "wait": 20})
    assert (end["status"], end["exit_code"]) == ("terminated", 1)


# -- what cannot be launched ----------------------------------------------------------------------


def test_a_directory_without_a_main_file_is_refused(session: Session, tmp_path: Path) -> None:
    refused = session.post("/launch", {"script": str(tmp_path)}, expect=400)
    assert (refused["error_code"], refused["error"]["details"]["field"]) == (
        "file_not_found",
        "script",
    )
    assert "__main__.py" in refused["error"]["message"]


@pytest.mark.parametrize(
    "flags", [["-i"], ["-m", "json"], ["-Oc"], ["-"], ["script.py"], ["--help"], ["-X"], ["-V"]]
)
def test_a_flag_that_cannot_be_given_is_refused_with_those_that_can(
    session: Session, flags: list[str]
) -> None:
    refused = session.post("/launch", {"code": "pass", "python_args": flags}, expect=400)
    details = refused["error"]["details"]
    assert (details["field"], details["flag"]) == ("python_args", flags[0])
    assert "-X OPT" in details["accepted"]
    assert "-X OPT" in refused["error"]["hint"]
    assert session.get("/status")["status"] == "created"


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        ({"script": LOOP.path, "cwd": "/no/such"}, "file_not_found", "cwd"),
        ({"script": LOOP.path, "python": "/no/python"}, "interpreter_not_found", None),
        ({"script": LOOP.path, "venv": "/no/env"}, "interpreter_not_found", None),
        ({}, "invalid_request", None),
        ({"script": LOOP.path, "module": "json"}, "invalid_request", None),
        ({"script": LOOP.path, "args": "one"}, "invalid_request", "args"),
        ({"script": LOOP.path, "env": {"A": 1}}, "invalid_request", "env.A"),
        ({"script": LOOP.path, "stop_on_exception": "often"}, "invalid_request", None),
        ({"script": LOOP.path, "scripts": 1}, "invalid_request", "scripts"),
        ({"script": LOOP.path, "include": ["weather"]}, "invalid_request", "include"),
    ],
)
def test_a_launch_that_cannot_be_leaves_the_session_as_it_was(
    session: Session, body: dict[str, Any], code: str, field: str | None
) -> None:
    refused = session.post("/launch", body, expect=400)
    assert refused["error_code"] == code
    if field is not None:
        assert refused["error"]["details"]["field"] == field
    assert session.get("/status")["status"] == "created"


def test_a_syntax_error_is_reported_with_its_place_and_can_be_corrected(
    session: Session, tmp_path: Path
) -> None:
    script = tmp_path / "broken.py"
    script.write_text("x = 1\nif x == 1\n    pass\n")
    refused = session.post("/launch", {"script": str(script)}, expect=400)
    assert refused["error_code"] == "syntax_error"
    details = refused["error"]["details"]
    assert (details["file"], details["line"]) == (str(script), 2)
    assert details["text"].strip() == "if x == 1"
    assert details["offset"] > 0
    assert session.get("/status")["status"] == "created"

    script.write_text("x = 1\n")
    assert session.launch(str(script))["exit_code"] == 0
