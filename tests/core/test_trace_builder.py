"""Frame traces from the lines of a recording."""

from __future__ import annotations

import json
from typing import Any

import pytest

from holdfast.core import loop_rounds, trace_builder
from holdfast.model.trace import FrameTrace, Iteration, LoopRows, LoopRun, Step

HEADER = {"format": 1, "kind": "frame", "python": "3.12.1", "function": "work"}
CODE = {
    "code": 1,
    "function": "shop.work",
    "file": "shop.py",
    "first_line": 1,
    "source": {"1": "def work(n):", "2": "    for i in range(n):"},
    "tests": {"2": [3, 5], "3": [4, 4]},
    "leaders": [3, 4, 5],
}
FRAME = {"frame": 1, "code": 1, "index": 1, "thread": "MainThread", "args": [["n", "2"]]}


def encode(*lines: Any) -> list[bytes]:
    return [json.dumps(line).encode() + b"\n" for line in lines]


def build(*lines: Any, **header: Any) -> FrameTrace:
    (frame,) = trace_builder.build_frames(encode({**HEADER, **header}, CODE, FRAME, *lines))
    return frame


def step(line: int, following: int, *path: int, changes: Any = (), **more: Any) -> list[Any]:
    return ["s", 1, list(path), line, following, list(changes), [], more]


def test_a_header_is_read_and_anything_else_is_none() -> None:
    assert trace_builder.read_header(encode(HEADER)[0])["function"] == "work"
    assert trace_builder.read_header(b'{"frame": 1}') == {}
    assert trace_builder.read_header(b'{"form') == {}


def test_statements_have_changes_calls_and_outcomes() -> None:
    changes = [
        ["a", "=", "1"],
        ["b", "~", "[1, 2]", "b + [2]"],
        ["c", "~", "[1, 2]", None, None, "b"],
        ["d", "s", "3"],
        ["e", "d"],
        ["f", "=", "'x'... 9 more", None, "cid"],
    ]
    calls = [["g", "x=1", "2"], ["h", "", None, "KeyError(1)"], ["k", ""]]
    line = ["s", 1, [], 7, 8, changes, calls, {"left_out": 4, "yielded": "5"}]
    (item,) = build(line).items
    assert isinstance(item, Step)
    assert [(c.how, c.text, c.alias) for c in item.changes] == [
        ("set", "a = 1", None),
        ("mutated", "b + [2]", None),
        ("mutated", "c = [1, 2]", "b"),
        ("same", "d = 3", None),
        ("deleted", "del e", None),
        ("set", "f = 'x'... 9 more", None),
    ]
    assert item.changes[4].value is None
    assert item.changes[5].value is not None
    assert item.changes[5].value.content_id == "cid"
    assert [(c.function, c.result, c.raised) for c in item.calls] == [
        ("g", "2", None),
        ("h", None, "KeyError(1)"),
        ("k", None, None),
    ]
    assert (item.calls_left_out, item.yielded) == (4, "5")


def test_more_of_a_statement_belongs_to_the_one_before() -> None:
    lines = [step(7, 0, yielded="1"), ["m", 1, [["got", "=", "2"]], [], {"raised": "E()"}]]
    (item,) = build(*lines).items
    assert isinstance(item, Step)
    assert [change.text for change in item.changes] == ["got = 2"]
    assert (item.yielded, item.raised) == ("1", "E()")


def test_a_test_was_taken_if_its_body_follows() -> None:
    items = build(step(3, 4), step(3, 5), step(3, 0, raised="E()"), step(9, 10)).items
    assert [item.taken for item in items if isinstance(item, Step)] == [True, False, None, None]


ROUNDS = [
    ["b", 1, [], 2, {"total": "0"}],
    step(2, 3, 2, 1, changes=[["i", "=", "0"]]),
    step(3, 5, 2, 1),
    step(5, 2, 2, 1, changes=[["total", "=", "1"]]),
    step(2, 3, 2, 2, changes=[["i", "=", "1"]]),
    step(3, 4, 2, 2),
    step(4, 2, 2, 2, changes=[["total", "=", "5"]]),
    step(2, 9, 2, 3),
    ["e", 1, [], 2, 2, {"i": "1", "total": "5"}, []],
    step(9, 0),
    {"end": 1, "outcome": "returned", "result": "5"},
]


def test_rounds_of_a_loop_are_gathered() -> None:
    frame = build(*ROUNDS)
    loop, last = frame.items
    assert isinstance(loop, LoopRun)
    assert (loop.line, loop.iterations, loop.before) == (2, 2, {"total": "0"})
    assert [one.number for one in loop.kept] == [1, 2]
    assert [one.path for one in loop.kept] == [(5,), (4,)]
    assert [one.remark for one in loop.kept] == ["", "new path"]
    assert loop.kept[1].values == {"i": "1", "total": "5"}
    assert list(loop.paths) == [((5,), 1, 1), ((4,), 1, 2)]
    assert isinstance(last, Step)
    assert frame.outcome == "returned"


def test_the_test_that_ends_a_loop_is_a_step_in_a_full_recording_only() -> None:
    assert [item.line for item in build(*ROUNDS).items] == [2, 9]
    assert [item.line for item in build(*ROUNDS, full=True).items] == [2, 2, 9]


LAST_IN_CALL = [
    ["b", 1, [], 2, {}],
    step(2, 3, 2, 1, changes=[["i", "=", "0"]]),
    step(3, 2, 2, 1),
]


def test_the_test_that_ends_a_loop_and_the_call_is_no_round() -> None:
    end = {"end": 1, "outcome": "returned", "result": "None"}
    lines = [*LAST_IN_CALL, step(2, 0, 2, 2), ["e", 1, [], 2, 2, {"i": "0"}, []], end]
    (loop,) = build(*lines).items
    assert isinstance(loop, LoopRun)
    assert loop.iterations == 1
    assert [one.remark for one in loop.kept] == [""]
    assert [item.line for item in build(*lines, full=True).items] == [2, 2]


@pytest.mark.parametrize(
    ("outcome", "remark"), [("returned", "left by return"), ("raised", "left by an exception")]
)
def test_a_round_that_ends_the_call_says_how(outcome: str, remark: str) -> None:
    end = {"end": 1, "outcome": outcome, "result": "1"}
    (loop,) = build(*LAST_IN_CALL[:2], step(3, 0, 2, 1), ["e", 1, [], 2, 1, {}, []], end).items
    assert isinstance(loop, LoopRun)
    assert loop.kept[-1].remark == remark


def test_a_torn_last_line_and_unknown_lines_do_no_harm() -> None:
    lines = encode(HEADER, CODE, FRAME, *ROUNDS[:4], ["?", 1, 2], {"unknown": 1}, ["s", 1])
    (frame,) = trace_builder.build_frames([*lines, b'["s",1,[2,2],2,3,[["i'])
    assert frame.outcome == "running"
    (loop,) = frame.items
    assert isinstance(loop, LoopRun)
    assert loop.iterations == 1


def test_loops_within_loops_are_found_by_their_paths() -> None:
    frame = build(
        step(2, 6, 2, 1), step(6, 7, 2, 1, 6, 1), step(7, 6, 2, 1, 6, 2), step(6, 7, 2, 2, 6, 1)
    )
    (outer,) = frame.items
    assert isinstance(outer, LoopRun)
    inner = [[item for item in one.steps if isinstance(item, LoopRun)] for one in outer.kept]
    assert [[loop.iterations for loop in loops] for loops in inner] == [[2], [1]]


def rows(first: int, cells: Any, runs: Any, paths: Any) -> list[Any]:
    return ["r", 1, [], 2, first, cells, runs, paths]


def test_rows_of_all_chunks_are_joined() -> None:
    import array
    import base64

    packed = "q" + base64.b64encode(array.array("q", [3, 30, 4, 40]).tobytes()).decode()
    floats = "d" + base64.b64encode(array.array("d", [0.5, 1.5]).tobytes()).decode()
    cells = {"i": [5, ["<list of 2>"]], "t": ["x", []]}
    frame = build(
        *ROUNDS[:7],
        rows(3, [["i", "t"], 2, packed], [[0, 2]], [[5]]),
        rows(5, cells, [[0, 1], [1, 1]], [[5], [4]]),
        rows(7, {"i": floats, "t": [None, True]}, [[0, 2]], [[5]]),
        ["e", 1, [], 2, 8, {"i": "7"}, [[[5], 5, 3], [[4], 1, 6]]],
    )
    (loop,) = frame.items
    assert isinstance(loop, LoopRun)
    assert loop.rows is not None
    assert loop.rows.first == 3
    assert loop.rows.columns == {
        "i": ["3", "4", "5", "<list of 2>", "0.5", "1.5"],
        "t": ["30", "40", "'x'", "", "None", "True"],
    }
    assert list(loop.rows.paths) == [(5,), (5,), (5,), (4,), (5,), (5,)]
    assert list(loop.paths) == [((5,), 6, 1), ((4,), 2, 2)]
    assert [one.number for one in loop_rounds.list_rows(loop)] == [3, 4, 5, 6, 7, 8]


def test_rounds_that_left_nothing_are_counted() -> None:
    lines = [rows(90, {"i": [1, 2]}, [[0, 2]], [[]]), ["e", 1, [], 2, 91, {}, []]]
    (loop,) = build(*lines).items
    assert isinstance(loop, LoopRun)
    assert (loop.iterations, loop.forgotten) == (91, 89)


def test_frames_come_by_their_index_and_the_picked_one_is_marked() -> None:
    other = {**FRAME, "frame": 2, "index": 0}
    lines = encode(HEADER, CODE, FRAME, other, {"picked": 1}, {"left": 2, "remark": "dropped"})
    frames = trace_builder.build_frames(lines)
    assert [(frame.index, frame.is_picked) for frame in frames] == [(0, False), (1, True)]
    assert frames[0].remarks == ["dropped"]
    assert frames[1].source == {1: "def work(n):", 2: "    for i in range(n):"}


def test_remarks_and_contents_are_listed() -> None:
    lines = encode(
        HEADER,
        {"remark": "slow"},
        {"dropped": 3, "keep": "newest"},
        {"failed": "OSError: full"},
        {"content": "abc", "data": "eA=="},
    )
    assert trace_builder.list_remarks(lines) == [
        "slow",
        "3 lines of the oldest detail were not kept",
        "the recording ended early: OSError: full",
    ]
    assert list(trace_builder.list_contents(lines)) == [("abc", "eA==")]


# -- rounds that are worth a line ------------------------------------------------------------------


def make_loop(columns: dict[str, list[str]], paths: list[tuple[int, ...]]) -> LoopRun:
    kept = [Iteration(n, steps=[Step(2)], path=paths[0]) for n in (1, 2, 3)]
    firsts = {paths[0]: 1}  # the path of those that were kept
    counted = {
        path: (paths.count(path), firsts.get(path, paths.index(path) + 4))
        for path in dict.fromkeys(paths)
    }
    return LoopRun(
        line=2,
        iterations=3 + len(paths),
        kept=kept,
        rows=LoopRows(4, columns, paths),
        paths=[(path, times, first) for path, (times, first) in counted.items()],
    )


def test_ten_thousand_rounds_fold_into_a_few() -> None:
    count = 9997
    paths: list[tuple[int, ...]] = [(5,)] * count
    paths[5000], paths[7000] = (4,), (4, 5)
    values = [str(n) for n in range(count)]
    values[6000] = "None"
    loop = make_loop({"x": values}, paths)
    folded = loop_rounds.fold(loop)
    assert [(one.number, one.remark) for one in folded] == [
        (1, ""),
        (5004, "only time on this path"),
        (6004, "x is NoneType"),
        (7004, "only time on this path"),
        (10_000, "last"),
    ]


def test_types_jumps_and_unbound_variables_are_unusual() -> None:
    numbers = [str(n) for n in range(50)]
    numbers[20] = "9999"
    kinds = ["1"] * 30 + ["1.5"] * 10 + ["'x'"] * 9 + [""]
    loop = make_loop({"n": numbers, "k": kinds}, [()] * 50)
    remarks = {one.number: one.remark for one in loop_rounds.find_unusual(loop)}
    assert remarks == {24: "n jumps", 34: "k is float", 44: "k is str", 53: "k is unbound"}


def test_the_span_of_a_variable_is_told_if_it_went_beyond_its_ends() -> None:
    loop = make_loop({"a": ["1", "5", "2"], "b": ["1", "2", "3"], "c": ["x", "y", "z"]}, [()] * 3)
    assert loop_rounds.find_span(loop, "a") == ("1", "5")
    assert loop_rounds.find_span(loop, "b") is None
    assert loop_rounds.find_span(loop, "c") is None
    assert loop_rounds.find_span(loop, "missing") is None


def test_a_call_that_has_not_ended_is_at_the_line_after_its_last_step() -> None:
    assert build(step(7, 8), {"end": 1, "outcome": "returned", "result": "1"}).now == 0
    assert build(step(7, 8)).now == 8
    assert build(step(7, 8), rows(1, {"i": [1]}, [[0, 1]], [[3]])).now == 0
    assert build(rows(1, {"i": [1]}, [[0, 1]], [[3]]), step(5, 6)).now == 6
