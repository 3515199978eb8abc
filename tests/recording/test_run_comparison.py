"""Two runs compared: how far they are the same, and where they part."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from holdfast.model.agent_events import RecordedEvent
from holdfast.recording.content_files import ContentFiles
from holdfast.recording.directories import SessionDirectory
from holdfast.recording.run_comparison import (
    ComparisonAnswer,
    DifferenceAnswer,
    compare_runs,
    read_run,
)
from replayable_agent import CountingLoop, build_writes, open_bridge, read_events

TURNS = [build_writes("a.txt", "b.txt"), [{"tool": "fail", "why": "no"}], build_writes("c.txt")]


class SettableLoop(CountingLoop):
    """The same loop, in which a tool or the model may do something else."""

    written: str = "wrote"
    said: str = "turn"
    is_backwards: bool = False

    def _write(self, path: str, text: str = "") -> str:
        return f"{self.written} {path}"

    def _ask(self, messages: list[Any], model: str = "scripted", heat: float = 0.5) -> Any:
        answer = super()._ask(messages, model, heat)
        usage = {"input_tokens": 3, "output_tokens": 1}
        words = answer["content"].replace("turn", self.said)
        return {**answer, "content": words, "usage": usage, "id": str(random.random())}

    def perform(self, calls: list[dict[str, Any]]) -> list[Any]:
        """In the one order or the other, as threads might."""
        if not self.is_backwards:
            return super().perform(calls)
        return super().perform(calls[::-1])[::-1]


def record(
    directory: Path, turns: list[list[dict[str, Any]]] = TURNS, **changed: Any
) -> SessionDirectory:
    with open_bridge(directory) as dbg:
        loop = SettableLoop(dbg, turns)
        for name, value in changed.items():
            setattr(loop, name, value)
        loop()
        return loop.home


def compare(one: SessionDirectory, other: SessionDirectory) -> ComparisonAnswer:
    return compare_runs(*(read_home(home) for home in (one, other)))


def read_home(home: SessionDirectory) -> Any:
    return read_run(home.id, read_events(home), ContentFiles(home.contents))


def find_first(one: SessionDirectory, other: SessionDirectory) -> DifferenceAnswer:
    first = compare(one, other)["first"]
    assert first is not None
    return first


def test_two_runs_of_the_same_agent_are_equal(tmp_path: Path) -> None:
    one = record(tmp_path)
    other = record(tmp_path, is_backwards=True)  # tools of a turn may come in any order
    answer = compare(one, other)
    assert answer["equal"]
    assert answer["first"] is None
    [lane] = answer["lanes"]
    assert (lane["lane"], lane["same"], lane["stepsA"], lane["stepsB"]) == ("main", 8, 8, 8)
    totals = answer["a"]["totals"]
    assert (totals["modelCalls"], totals["toolCalls"], totals["failures"]) == (4, 4, 1)
    assert (totals["outputTokens"], totals["cost"]) == (4, None)


def test_another_answer_of_the_model_is_where_they_part(tmp_path: Path) -> None:
    first = find_first(record(tmp_path), record(tmp_path, said="iteration"))
    assert (first["lane"], first["step"], first["what"]) == ("main", 1, "outcome")
    assert '"turn 0"' in first["detail"]
    assert '"iteration 0"' in first["detail"]
    assert first["a"] is not None
    assert first["b"] is not None
    assert first["a"]["answered"] == {"content": "turn 0"}
    assert first["b"]["answered"] == {"content": "iteration 0"}


def test_another_result_of_a_tool_is_found_before_what_follows_from_it(tmp_path: Path) -> None:
    answer = compare(record(tmp_path), record(tmp_path, written="kept"))
    first = answer["first"]
    assert first is not None
    assert (first["step"], first["what"]) == (2, "outcome")
    assert first["detail"] == (
        'tool write gave something else: it was "wrote a.txt" and is "kept a.txt"'
    )
    assert answer["lanes"][0]["same"] == 1


def test_another_input_of_a_tool_is_shown_where_it_differs(tmp_path: Path) -> None:
    turns = [build_writes("a.txt", "x.txt"), *TURNS[1:]]
    answer = compare(record(tmp_path), record(tmp_path, turns, is_backwards=True))
    first = answer["first"]
    assert first is not None
    assert first["a"] is not None
    assert first["b"] is not None
    # The model asked for it, but only what it said is compared: this model says no more.
    assert (first["what"], first["a"]["asked"], first["b"]["asked"]) == (
        "request",
        {"path": "b.txt"},
        {"path": "x.txt"},
    )
    assert answer["lanes"][0]["same"] == 2  # the model call, and the other tool


def test_a_step_that_only_one_has_is_named(tmp_path: Path) -> None:
    first = find_first(record(tmp_path, TURNS[:1]), record(tmp_path, [TURNS[0][:1]]))
    assert (first["what"], first["detail"], first["b"]) == ("call", "only A calls tool write", None)
    assert first["a"] is not None
    assert first["a"]["asked"] == {"path": "b.txt"}


def test_a_run_that_goes_on_is_told_from_one_that_ends(tmp_path: Path) -> None:
    first = find_first(record(tmp_path, TURNS[:1]), record(tmp_path, TURNS[:2]))
    assert (first["step"], first["detail"]) == (5, "only B calls tool fail")


def test_a_failure_in_one_of_them_is_told(tmp_path: Path) -> None:
    one = record(tmp_path, [[{"tool": "fail", "why": "no"}]])
    other = record(tmp_path, [[{"tool": "fail", "why": "no"}]])
    events = read_events(other)
    run = read_run(other.id, [_without_error(event) for event in events])
    first = compare_runs(read_home(one), run)["first"]
    assert first is not None
    assert first["detail"] == "tool fail failed in A only: ValueError: no"


def _without_error(event: RecordedEvent) -> RecordedEvent:
    if event["type"] != "tool_call_end":
        return event
    return {**event, "data": {**event["data"], "isError": False}}


def run_experts(directory: Path, topic: str, **environment: str) -> SessionDirectory:
    with open_bridge(directory, **environment) as dbg:

        @dbg.model
        def ask(messages: list[Any]) -> str:
            return f"about {messages[-1]['content']}"

        @dbg.tool
        def research(number: int) -> str:
            with dbg.run(lane=f"expert-{number}"):
                return str(ask([{"role": "user", "content": topic if number == 2 else "x"}]))

        with dbg.run():
            ask([{"role": "user", "content": "begin"}])
            results = [research(number=number) for number in (1, 2)]
            ask([{"role": "user", "content": results[1]}])
        assert dbg.home is not None
        return dbg.home


def test_lanes_are_compared_apart_and_the_earliest_difference_is_first(tmp_path: Path) -> None:
    answer = compare(run_experts(tmp_path, "tea"), run_experts(tmp_path, "cake"))
    found = {lane["lane"]: lane["difference"] for lane in answer["lanes"]}
    assert found["expert-1"] is None
    assert found["main"] is not None
    assert found["main"]["what"] == "outcome"
    first = answer["first"]
    assert first is not None
    assert (first["lane"], first["what"]) == ("expert-2", "request")
    assert 'messages[0].content was "tea" and is "cake"' in first["detail"]


def test_what_went_on_inside_a_tool_is_no_difference_to_a_fork_that_has_it_recorded(
    tmp_path: Path,
) -> None:
    parent = run_experts(tmp_path, "tea")
    fork = run_experts(tmp_path, "tea", REPLAY=str(parent.path), FORK_AT="1")
    assert "expert-1" not in read_home(fork).lanes
    for answer in (compare(parent, fork), compare(fork, parent)):
        assert answer["equal"]
        assert [lane["lane"] for lane in answer["lanes"]] == ["main"]


def test_a_fork_is_known_as_one(tmp_path: Path) -> None:
    parent = record(tmp_path)
    with open_bridge(tmp_path, REPLAY=str(parent.path), FORK_AT="2") as dbg:
        loop = SettableLoop(dbg, TURNS)
        loop.written = "kept"
        loop()
    answer = compare(parent, loop.home)
    assert answer["lineage"] == {
        "relation": "fork",
        "parent": parent.id,
        "child": loop.home.id,
        "at": 2,
        "detail": f"{loop.home.id} is a fork of {parent.id} at 2",
    }
    first = answer["first"]
    assert first is not None
    assert first["b"] is not None
    assert (first["what"], first["b"]["iteration"]) == ("outcome", 3)
    assert "replayed" not in first["b"]
    assert compare(loop.home, parent)["lineage"] == answer["lineage"]
