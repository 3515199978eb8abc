"""A program that wants a terminal has one: it is asked, answered, interrupted and let go there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness import Program, Server, Session
from polling import wait_until

USER = Program("terminal_user.py")
TALK = (
    "[True, True, True] (100, 30)\n"
    "to stderr\n"
    "name? Ann\nhello Ann\n"
    "second\nline 'second\\n'\n"
    "interrupt? ^Cinterrupted\n"
    "end? end of input\n"
)


def answer(session: Session, text: str | None, status: str, prompt: str | None = None) -> Any:
    """Type a text, or the end of the input, and see what the program does then."""
    body: dict[str, Any] = {"close": True} if text is None else {"input": text}
    shown = session.post("/stdin", {**body, "wait": 60})
    assert (shown["status"], shown.get("prompt")) == (status, prompt), shown
    return shown


@pytest.mark.parametrize("reader", ["plain", "readline"])
@pytest.mark.slow
def test_a_program_talks_to_its_terminal(session: Session, python: str, reader: str) -> None:
    session.break_at(USER, "hello")
    options: dict[str, Any] = {"terminal": True, "terminal_size": [100, 30], "python": python}

    asked = session.launch(USER, args=[reader], **options)

    assert (asked["status"], asked["prompt"]) == ("waiting_for_input", "name? ")
    session.post("/stdin", {"input": "An"})  # a terminal hands over whole lines
    assert session.get("/status")["status"] == "waiting_for_input"
    stop = answer(session, "n\n", "paused")
    assert stop["location"]["line"] == USER.line("hello")
    assert session.evaluate("name") == "'Ann'"
    assert session.resume()["status"] == "waiting_for_input"
    answer(session, "second\n", "waiting_for_input", "interrupt? ")
    answer(session, "\x03", "waiting_for_input", "end? ")
    end = answer(session, None, "terminated")
    assert end["exit_code"] == 0
    if reader == "plain":
        assert (session.output(), session.output("stderr")) == (TALK, "")
    events = session.get("/events?limit=1000")["events"]
    assert [event["event"] for event in events].count("input_wanted") == 4


def test_answers_may_be_given_with_the_launch(session: Session) -> None:
    code = "print(input('one? '), input('two? '))"
    body = {"code": code, "terminal": True, "stdin_inputs": ["1", "2"], "wait": 60}
    end = session.post("/launch", body)
    assert (end["status"], end["exit_code"]) == ("terminated", 0)
    assert session.output().endswith("1 2\n")
    launch = session.get("")["launch"]
    assert (launch["terminal"], launch["terminal_size"]) == (True, [80, 24])


def test_a_detached_program_is_not_hung_up_on(server: Server, tmp_path: Path) -> None:
    come, written = tmp_path / "come", tmp_path / "written"
    with server.session() as session:
        args = ["outlive", str(come), str(written)]
        session.launch(USER, args=args, terminal=True, wait=0)
        session.get("/output?wait=60")
        assert session.post("/detach")["detached"] is True
    come.touch()
    wait_until(written.exists, "the detached program to go on")


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"terminal_size": [0, 24]}, "terminal_size"),
        ({"terminal_size": [80]}, "terminal_size"),
        ({"route": "adapter"}, "terminal"),
    ],
)
def test_a_terminal_that_cannot_be_is_refused(
    session: Session, options: dict[str, Any], field: str
) -> None:
    body = {"script": USER.path, "terminal": True, **options}
    refused = session.post("/launch", body, expect=400)
    assert refused["error"]["details"]["field"].startswith(field)
    assert session.get("/status")["status"] == "created"
