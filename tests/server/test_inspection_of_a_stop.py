"""Every question about a stop of a real program is answered."""

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


def test_a_question_about_the_stop_that_is_shown_is_answered(paused: Session) -> None:
    stop = paused.get("/status")
    ids = find_references(paused, stop)
    for name in READS:
        expect = 201 if name == "watch" else 200
        assert ask_about(paused, name, ids, stop["hold_id"], expect) is not None, name
