"""Input: a program that asks is waited for, and what it is given is what it reads."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from harness import Program, Session
from session_states import check_error

STDIN_READERS = Program("stdin_readers.py")
IDLE = Program("idle.py")


def wait_for_prompt(session: Session, how: str, prompt: str, **options: Any) -> None:
    answer = session.launch(STDIN_READERS, args=[how], **options)
    assert (answer["status"], answer["prompt"]) == ("waiting_for_input", prompt)


def check_end(session: Session, output: str) -> None:
    end = session.get("/status?wait=60")
    assert (end["status"], end["exit_code"]) == ("terminated", 0), end
    assert session.output().endswith(output)


@pytest.mark.parametrize("route", ["/input", "/stdin"])
def test_a_question_is_seen_and_answered(session: Session, route: str) -> None:
    wait_for_prompt(session, "input", "name? ")
    assert session.get("")["prompt"] == "name? "
    given = session.post(route, {"input": "Ann Ünï\n"})
    assert (given["accepted"], given["bytes"]) == (True, 10)
    check_end(session, "hello Ann Ünï\n")


def test_every_interpreter_reports_that_it_waits_for_input(session: Session, python: str) -> None:
    wait_for_prompt(session, "twice", "first: ", python=python)
    session.post("/input", {"input": "one\n"})
    answer = session.get("/status?wait=60")
    assert (answer["status"], answer["prompt"]) == ("waiting_for_input", "second: ")
    session.post("/input", {"input": "tw"})  # no end of line: it goes on waiting
    assert session.get("/status?wait=60")["prompt"] == "second: "
    session.post("/input", {"input": "o\n"})
    check_end(session, "['one\\n', 'two']\n")


def test_answers_given_with_the_launch_are_found_there(session: Session, python: str) -> None:
    """It never waits, so nobody is told that it does."""
    answer = session.launch(
        STDIN_READERS, args=["twice"], stdin_inputs=["one", "two\n"], python=python
    )
    assert (answer["status"], answer["exit_code"]) == ("terminated", 0)
    assert session.output().endswith("['one\\n', 'two']\n")
    kinds = [each["event"] for each in session.get("/events")["events"]]
    assert "input_wanted" not in kinds


def test_input_may_come_before_it_is_wanted(session: Session, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    code = f"open({str(gate)!r}).read()\nprint(input(), input())\n"
    session.post("/launch", {"code": code})
    session.post("/input", {"input": "early\nbird\n"})
    gate.write_text("")  # the program reads it to its end, and goes on
    check_end(session, "early bird\n")


def test_a_paused_program_takes_input_for_later(session: Session) -> None:
    session.post("/launch", {"code": "print(input())", "stop_on_entry": True, "wait": 60})
    assert session.post("/input", {"input": "x\n"})["status"] == "paused"
    assert session.resume()["status"] == "terminated"
    assert session.output() == "x\n"


def test_lines_are_iterated_as_they_come_until_the_end_of_file(session: Session) -> None:
    wait_for_prompt(session, "iterate", "")
    for word in ("one", "two"):
        session.post("/input", {"input": f"{word}\n"})
        assert session.get("/status?wait=60")["status"] == "waiting_for_input"
        assert session.output().endswith(f"got {word}\n")
    session.post("/input", {"close": True})
    check_end(session, "end of file\n")


def test_reading_everything_waits_for_the_end_of_file(session: Session) -> None:
    wait_for_prompt(session, "all", "")
    session.post("/input", {"input": "a\n"})
    assert session.get("/status?wait=60")["status"] == "waiting_for_input"
    session.post("/input", {"input": "b", "close": True})
    check_end(session, "'a\\nb'\n")


def test_closing_the_input_is_an_end_of_file(session: Session) -> None:
    wait_for_prompt(session, "eof", "more? ")
    session.post("/stdin", {"close": True})
    check_end(session, "no more\n")


def test_after_closing_there_is_nothing_more_to_give(session: Session) -> None:
    wait_for_prompt(session, "iterate", "")
    session.post("/input", {"input": "x\n", "close": True})
    session.get("/status?wait=60")
    assert session.post("/input", {"input": "y\n"}, expect=409)["error"]["details"]["possible"]


def test_a_lot_of_input_does_not_hold_up_the_server(session: Session) -> None:
    session.launch(STDIN_READERS, args=["slowly"], wait=0)
    big = "x" * 1_000_000
    assert session.post("/input", {"input": big, "close": True})["bytes"] == 1_000_000
    assert session.server.get("/health")["status"] == "ok"
    check_end(session, "1000000\n")


def test_input_that_is_not_read_does_not_pile_up_for_ever(session: Session) -> None:
    session.launch(IDLE, wait=0)
    big = "x" * 15_000_000
    accepted = 0
    while (
        answer := session.server.http.post(session.path("/input"), json={"input": big})
    ).is_success:
        accepted += 1
    assert accepted == 2
    assert check_error(answer, 409)["details"]["waiting_bytes"] > 29_000_000
    assert session.get("/status")["status"] == "running"


def test_a_program_that_closed_its_stdin_is_not_ours_to_feed(session: Session) -> None:
    session.launch(STDIN_READERS, args=["close"], wait=0)
    session.get("/output?wait=60")
    assert session.get("/status")["status"] == "running"
    session.post("/terminate")


def test_input_is_for_a_program_that_lives(session: Session) -> None:
    refused = session.post("/input", {"input": "x"}, expect=409)
    assert refused["error"]["details"]["state"] == "created"
    session.post("/input", {}, expect=400)


def test_a_program_that_waits_for_input_can_be_paused_terminated_and_run_again(
    session: Session,
) -> None:
    wait_for_prompt(session, "input", "name? ")
    answer = session.post("/pause", {"wait": 0.1})
    assert (answer["status"], answer["pause_pending"]) == ("waiting_for_input", True)
    session.post("/input", {"input": "Bo\n"})
    stop = session.get("/status?wait=60")
    assert stop["status"] in ("paused", "terminated")
    if stop["status"] == "paused":
        session.post("/terminate")
    again = session.post("/restart", {"wait": 60})
    assert (again["status"], again["prompt"]) == ("waiting_for_input", "name? ")


@pytest.mark.parametrize("route", ["/input", "/stdin"])
def test_an_answer_waits_for_what_comes_of_it(session: Session, route: str) -> None:
    wait_for_prompt(session, "twice", "first: ")
    asked = session.post(route, {"input": "one\n", "wait": 60, "include": ["output"]})
    assert (asked["status"], asked["prompt"]) == ("waiting_for_input", "second: ")
    assert (asked["accepted"], asked["bytes"], asked["session_id"]) == (True, 4, session.id)
    end = session.post(f"{route}?wait=60", {"text": "two\n", "include": "output"})
    assert (end["status"], end["exit_code"]) == ("terminated", 0)
    assert "".join(each["text"] for each in end["output"]).endswith("['one\\n', 'two']\n")


def test_an_answer_waits_for_the_next_stop(session: Session) -> None:
    code = "name = input('name? ')\nx = 1\n"
    session.post("/launch", {"code": code, "stop_on_entry": True, "wait": 60})
    asked = session.post("/step-over", {"wait": 60})
    assert asked["prompt"] == "name? "
    stop = session.post("/stdin", {"input": "Ann\n", "wait": 60})
    assert (stop["status"], stop["reason"], stop["location"]["line"]) == ("paused", "step", 2)
    assert [each["value"] for each in stop["locals"] if each["name"] == "name"] == ["'Ann'"]
    refused = session.post("/stdin", {"input": "x", "wait": "long"}, expect=400)
    assert refused["error"]["details"]["field"] == "wait"
