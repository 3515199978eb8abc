"""The invocations of a recorded run, each as a frame trace."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from holdfast.core import run_frames
from holdfast.core.loop_rounds import fold
from holdfast.core.run_reader import read_run
from holdfast.model.run_recording import RunRecording
from holdfast.model.trace import FrameTrace, LoopRun, Step
from run_recordings import record_text

_PROGRAM = """\
class Till:
    def __init__(self):
        self.sums = []
    def add(self, value):
        self.sums.append(value)
        return len(self.sums)
def check(value):
    if value > 2:
        raise ValueError(value)
    return value
def fill(till, values):
    kept = 0
    for value in values:
        try:
            kept += check(value)
        except ValueError:
            continue
        till.add(value)
    del value
    return kept
till = Till()
fill(till, [1, 5, 2])
fill(till, range(3, 500))
def give(n):
    while True:
        n -= 1
        if n < 0:
            return
        yield n
print(list(give(3)))
"""


@pytest.fixture
def run(tmp_path: Path) -> RunRecording:
    return record_text(_PROGRAM, tmp_path).read()


def find_call(run: RunRecording, function: str, index: int = 1) -> int:
    calls = run_frames.list_calls(run)
    return next(c.number for c in calls if (c.function, c.index) == (function, index))


def build(run: RunRecording, function: str, index: int = 1) -> FrameTrace:
    return run_frames.build_frame_trace(run, find_call(run, function, index))


def find_loop(items: Sequence[Step | LoopRun]) -> LoopRun:
    return next(item for item in items if isinstance(item, LoopRun))


def list_texts(step: Step | LoopRun) -> list[str]:
    assert isinstance(step, Step)
    return [change.text for change in step.changes]


def test_calls_are_listed_in_order_with_their_numbers(run: RunRecording) -> None:
    calls = [(call.function, call.index, call.outcome) for call in run_frames.list_calls(run)]
    assert calls[:6] == [
        ("<module>", 1, "returned"),
        ("program.Till", 1, "returned"),
        ("program.Till.__init__", 1, "returned"),
        ("program.fill", 1, "returned"),
        ("program.check", 1, "returned"),
        ("program.Till.add", 1, "returned"),
    ]
    assert ("program.check", 2, "raised") in calls


def test_a_trace_has_arguments_outcome_source_and_callers(run: RunRecording) -> None:
    trace = build(run, "program.check", 2)
    assert {name: value.text for name, value in trace.args.items()} == {"value": "5"}
    assert (trace.outcome, trace.exception_type) == ("raised", "ValueError")
    assert trace.result is not None
    assert trace.result.text == "ValueError(5)"
    assert trace.source[8] == "    if value > 2:"
    assert [(caller.function, caller.line) for caller in trace.callers] == [
        ("program.fill", 15),
        ("<module>", 22),
    ]


def test_steps_say_what_changed_what_was_called_and_what_was_raised(run: RunRecording) -> None:
    trace = build(run, "program.fill")
    first, loop, removal, last = trace.items
    assert list_texts(first) == ["kept = 0"]
    assert isinstance(loop, LoopRun)
    assert list_texts(removal) == ["del value"]
    assert isinstance(last, Step)
    good, bad, _ = loop.kept
    added = good.steps[2]
    assert isinstance(added, Step)
    assert list_texts(added) == ["kept = 1"]
    assert [(call.function, call.args, call.result) for call in added.calls] == [
        ("check", "value=1", "1")
    ]
    failed = bad.steps[2]
    assert isinstance(failed, Step)
    assert failed.raised == "ValueError(5)"
    assert [call.raised for call in failed.calls] == ["ValueError(5)"]


def test_a_change_in_a_callee_is_a_change_of_the_variable(run: RunRecording) -> None:
    loop = find_loop(build(run, "program.fill").items)
    step = loop.kept[0].steps[-1]
    assert isinstance(step, Step)
    assert [(c.name, c.how, c.text) for c in step.changes] == [
        ("till", "mutated", "till.sums = [1]")
    ]


def test_rounds_have_their_values_and_ways(run: RunRecording) -> None:
    loop = find_loop(build(run, "program.fill").items)
    assert loop.iterations == 3
    assert loop.before == {"kept": "0"}
    assert (loop.after["kept"], loop.after["value"]) == ("3", "2")
    assert [one.path for one in loop.kept] == [(), (16,), ()]
    assert loop.kept[1].remark == "new path"


def test_a_long_loop_is_folded(run: RunRecording) -> None:
    loop = find_loop(build(run, "program.fill", 2).items)
    assert loop.iterations == 497
    assert loop.rows is not None
    assert len(loop.kept) < 60
    assert len(fold(loop)) <= 8


def test_a_loop_without_a_test_has_rounds_too(run: RunRecording) -> None:
    trace = build(run, "program.give")
    loop = find_loop(trace.items)
    assert loop.iterations == 4
    given = [step.yielded for one in loop.kept for step in one.steps if isinstance(step, Step)]
    assert [text for text in given if text is not None] == ["2", "1", "0"]


def test_one_finds_ones_way_between_invocations(run: RunRecording) -> None:
    fill = find_call(run, "program.fill")
    assert run_frames.parent(run, fill) == find_call(run, "<module>")
    assert run_frames.parent(run, find_call(run, "<module>")) is None
    assert run_frames.children(run, fill)[0] == find_call(run, "program.check")
    assert run_frames.next_call(run, fill) == find_call(run, "program.fill", 2)
    assert run_frames.previous_call(run, find_call(run, "program.fill", 2)) == fill
    assert run_frames.previous_call(run, fill) is None


def test_values_are_found_wherever_they_were(run: RunRecording) -> None:
    found = run_frames.find_value(run, "ValueError(5)")
    assert found[0] == "program.check call 2: raised ValueError(5)"
    assert "program.fill call 1: line 13: value = 5" in run_frames.find_value(run, "5")


def test_a_recording_of_many_events_is_read_as_a_whole(tmp_path: Path) -> None:
    text = "total = 0\nfor number in range(20000):\n    total += number\n"
    recorded = record_text(text, tmp_path)
    assert len(read_run(recorded.lines).events) == 40_002
