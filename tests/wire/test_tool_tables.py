"""The tables of breakpoints and sessions: text and structure say the same, and fit."""

from __future__ import annotations

import pytest

from holdfast.wire import rest
from holdfast.wire.breakpoint_table import BreakpointTable, ListedBreakpoint
from holdfast.wire.session_table import (
    ListedSession,
    SessionTable,
    StoppedSession,
    StoppedSessions,
)
from holdfast.wire.tool_answers import ToolAnswer, fit

BREAKPOINTS = BreakpointTable(
    status="paused",
    session_id="sess_1",
    breakpoints=[
        ListedBreakpoint(
            id=f"bp_{number}",
            place=f"shop.py:{number} if {'price > 3 and ' * 20}True",
            verified=number % 2 == 0,
            hits=number,
            message="It is off. " * 20,
        )
        for number in range(40)
    ],
    exceptions="uncaught",
    removed=3,
)
SESSIONS = SessionTable(
    sessions=[
        ListedSession(
            session_id=f"sess_{number}",
            kind="program",
            status="paused",
            age="3 s",
            name="/a/long/way/" * 20,
            at=f"shop.py:{number}",
            reason="breakpoint",
        )
        for number in range(30)
    ],
    total=50,
    captures=[f"cap_{number}  test_shop.py::test_{number}" for number in range(30)],
)
STOPPED = StoppedSessions(
    stopped=[StoppedSession(session_id=f"sess_{number}", was="running") for number in range(99)],
    message="They are ended and forgotten.",
)


@pytest.mark.parametrize("answer", [BREAKPOINTS, SESSIONS, STOPPED])
@pytest.mark.parametrize("budget", [100, 150, 400, 2000, 20_000])
def test_a_table_fits_its_budget_and_says_what_it_leaves_out(
    answer: ToolAnswer, budget: int
) -> None:
    result = fit(answer, budget)
    assert len(rest.encode(result.answer)) <= 4 * budget
    assert len(result.text.encode()) <= 4 * budget
    if result.answer != answer and budget == 100:
        assert "omitted: " in result.text


def test_many_sessions_leave_room_for_captures() -> None:
    text = fit(SESSIONS, 400).text
    assert "sess_2 " in text
    assert "capture cap_2 " in text
    assert "27 captures: " in text


def test_the_text_of_breakpoints_has_all_that_the_structure_has() -> None:
    text = BREAKPOINTS.to_text()
    assert text.startswith("paused · sess_1\nremoved: 3\n")
    for point in BREAKPOINTS.breakpoints:
        assert f"{point.id}  {point.place}" in text
    assert "1 hit" in text
    assert "NOT VERIFIED" in text
    assert text.endswith("exceptions: uncaught")


def test_breakpoints_that_are_new_are_left_out_last() -> None:
    new = ListedBreakpoint(id="bp_new", place="new.py:1", verified=True, hits=0, is_new=True)
    table = BreakpointTable(
        status="running",
        session_id="sess_1",
        breakpoints=[*BREAKPOINTS.breakpoints, new],
        exceptions="none",
    )
    smallest = fit(table, 150).answer
    assert isinstance(smallest, BreakpointTable)
    assert smallest.breakpoints[0] == new


def test_the_text_of_sessions_has_all_that_the_structure_has() -> None:
    text = SESSIONS.to_text()
    assert text.startswith("50 sessions\n")
    assert "sess_7  program paused at shop.py:7 (breakpoint)" in text
    assert "capture cap_3  test_shop.py::test_3" in text


def test_the_text_of_stopped_sessions_names_them() -> None:
    text = STOPPED.to_text()
    assert text.startswith("They are ended and forgotten.\nsess_0  was running")
