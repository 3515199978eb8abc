"""Runs the Python code of docs/calls.md, and compares the results with the page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness import Server
from recorded_program import RecordedProgram

PAGE = (Path(__file__).parents[1] / "docs" / "calls.md").read_text(encoding="utf-8")
FIRST, _FOLLOWING, _LAZY, LEASED, APP, WRITTEN = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def recording(server: Server, tmp_path: Path) -> RecordedProgram:
    return RecordedProgram(server, tmp_path)


def run(recording: RecordedProgram, text: str) -> None:
    """Record a program, changed so that it prints the id of its session."""
    program = text.replace('with_debug("ON")', 'info = with_debug("ON")', 1)
    off = 'print(info.session_id()); with_debug("OFF")'
    recording.record(program.replace('with_debug("OFF")', off))


@pytest.mark.parametrize("before", ["", LEASED], ids=["strict", "leased"])
def test_the_first_program_of_the_page_is_recorded_until_off(
    recording: RecordedProgram, before: str
) -> None:
    run(recording, before + FIRST)
    path = f"/api/calls?session={recording.session_id}"
    calls = recording.server.get(path)["calls"]
    assert [(call["method_name"], call["call_type"]) for call in calls] == [
        ("taxed", "inline"),
        ("price", "proxy"),
    ]
    assert [call["result"]["json"] for call in calls] == [7.5, 6]


@pytest.mark.slow
def test_the_test_on_the_page_is_the_one_that_is_written(recording: RecordedProgram) -> None:
    run(recording, APP)
    [call] = recording.list_ids()
    written = recording.write_test(call)
    assert re.sub(r"Call [0-9.-]+,", f"Call {call},", WRITTEN) in written
    code, output = recording.pytest()
    assert code == 0, output
