"""Which round of which loop a statement ran in, and which time its line ran."""

from __future__ import annotations

from pathlib import Path

from holdfast.core.line_hits import count_hits, list_hits
from holdfast.core.run_loops import find_rounds
from holdfast.core.why_slice import explain_value
from holdfast.model.run_recording import RunRecording
from run_recordings import record_text

_PROGRAM = """\
def count(rows):
    found = 0
    for row in rows:
        for cell in row:
            found += cell
        found = (
            found * 2
        )
    while True:
        found -= 1
        if found < 20:
            break
    return found
count([[1], [2, 3]])
count([[4, 5]])
"""


def read(folder: Path) -> RunRecording:
    return record_text(_PROGRAM, folder).read()


def list_rounds(run: RunRecording, line: int) -> list[dict[int, int]]:
    """Of each execution of a line: the rounds that it ran in."""
    (file,) = run.files.values()
    return [
        dict(find_rounds(run, event.frame, [event.time])[event.time])
        for event in list_hits(run, file, line)
    ]


def test_a_statement_has_a_round_of_each_loop_around_it(tmp_path: Path, python: str) -> None:
    run = record_text(_PROGRAM, tmp_path, python).read()
    assert list_rounds(run, 2) == [{}, {}]
    inner = [{3: 1, 4: 1}, {3: 2, 4: 1}, {3: 2, 4: 2}, {3: 1, 4: 1}, {3: 1, 4: 2}]
    assert list_rounds(run, 5) == inner
    assert list_rounds(run, 6) == [{3: 1}, {3: 2}, {3: 1}]
    assert list_rounds(run, 3) == [{3: 1}, {3: 2}, {}, {3: 1}, {}]  # the last one enters no round


def test_a_loop_without_a_test_has_rounds(tmp_path: Path, python: str) -> None:
    run = record_text(_PROGRAM, tmp_path, python).read()
    assert list_rounds(run, 10) == [{9: 1}, {9: 1}]


def test_the_hits_of_a_call_are_those_of_the_whole_run(tmp_path: Path) -> None:
    run = read(tmp_path)
    (file,) = run.files.values()
    for frame in run.frames.values():
        for event in frame.events:
            line = event.statement.line
            expected = list_hits(run, file, line).index(event) + 1
            assert count_hits(run, frame)[event.time] == expected


def test_what_a_line_left_is_asked_for_any_execution(tmp_path: Path) -> None:
    run = read(tmp_path)

    def explain(line: int, hit: int, **options: bool) -> str | None:
        return explain_value(run, "program.py", line, "found", hit, **options).value

    assert [explain(5, hit) for hit in (1, 2, 4)] == ["0", "2", "0"]
    assert [explain(5, hit, after=True) for hit in (1, 2, 4)] == ["1", "4", "4"]
    assert explain(10, -1, after=True) == "17"
    link = explain_value(run, "program.py", 5, "found", 4, after=True).assigned
    assert link is not None
    assert link.frame == list(run.frames)[-1]
    assert run.events[link.time].statement.line == 5
