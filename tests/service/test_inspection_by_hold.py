"""Whoever asks about one stop gets the values of that stop, or hears that it is over."""

from __future__ import annotations

import pytest

from harness import Program, Session
from stop_questions import READS, ask_about, find_references

COUNTER = Program("counter.py")


@pytest.fixture
def paused(session: Session) -> Session:
    session.break_at(COUNTER, "loop")
    session.launch(COUNTER)
    session.resume()
    return session


def test_a_question_about_a_stop_that_is_over_is_refused_and_told_the_present_one(
    paused: Session,
) -> None:
    before = paused.get("/status")
    now = paused.resume()
    ids = find_references(paused, now)

    for name in READS:
        refused = ask_about(paused, name, ids, before["hold_id"], 409)
        assert refused["error_code"] == "hold_over", name
        details = refused["error"]["details"]
        assert refused["error"]["code"] == "HOLD_OVER"
        assert details["hold_id"] == before["hold_id"]
        assert details["current_hold_id"] == now["hold_id"] != before["hold_id"]
        assert (details["state"], details["session_id"]) == ("paused", paused.id)
        assert "continue" in details["possible"]
    assert paused.get("/watch")["total"] == 0, "what was refused has done nothing"


def test_after_the_end_a_stop_is_over_too(paused: Session) -> None:
    before = paused.get("/status")
    ids = find_references(paused, before)
    paused.delete("/breakpoints")
    assert paused.resume()["status"] == "terminated"

    for name in READS:
        details = ask_about(paused, name, ids, before["hold_id"], 409)["error"]["details"]
        assert (details["state"], details["current_hold_id"]) == ("terminated", None), name


def test_what_changes_values_changes_none_of_another_stop(paused: Session) -> None:
    before = paused.get("/status")["hold_id"]
    now = paused.resume()["hold_id"]
    body = {"expression": "numbers.append('late')", "context": "repl"}
    paused.post("/evaluate", {**body, "hold_id": before}, expect=409)
    assert "late" not in paused.evaluate("numbers")
    paused.post("/evaluate", {**body, "hold_id": now})
    assert "late" in paused.evaluate("numbers")


def test_a_hold_that_never_was_is_over(paused: Session) -> None:
    refused = paused.get("/stacktrace?hold_id=hold_0", expect=409)
    assert refused["error"]["details"]["current_hold_id"] == paused.get("/status")["hold_id"]


def test_without_a_hold_a_question_is_about_the_stop_of_now(paused: Session) -> None:
    assert paused.evaluate("i") == "1"
    paused.resume()
    assert paused.evaluate("i") == "2"
