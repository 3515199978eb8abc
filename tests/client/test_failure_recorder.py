"""`pytest --holdfast` records what the own code of a failing test did."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.core import run_frames, run_reader, why_slice
from holdfast.core.run_diff import compare_runs
from holdfast.model.run_recording import RunRecording
from pytest_runs import PytestRun, run_pytest

SHOP = """\
def price(item, rate):
    cost = len(item) * rate
    return cost


def total(items, rate):
    amount = 0
    for item in items:
        amount += price(item, rate)
    return amount
"""
TESTS = """\
import pytest
import shop


@pytest.fixture
def rate():
    base = 2
    return base


@pytest.fixture
def broken():
    wanted = {"a": 1}
    return wanted["b"]


def test_passes(rate):
    assert shop.price("tea", rate) == 6


def test_fails(rate):
    items = ["tea", "cake"]
    got = shop.total(items, rate)
    assert got == 15


def test_needs_what_is_broken(broken):
    pass


def test_is_hot():
    for number in range(20_000):
        shop.price("tea", number)
    assert shop.total(["tea"], 1) == 4
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> PytestRun:
    folder = tmp_path_factory.mktemp("project")
    (folder / "shop.py").write_text(SHOP)
    (folder / "test_shop.py").write_text(TESTS)
    return run_pytest(folder / "home", "-q", "--holdfast", folder=folder)


def read(run: PytestRun, test: str) -> RunRecording:
    trace = run.captures()[test]["trace"]
    lines = (run.home / "traces" / f"{trace}.jsonl").read_bytes().splitlines()
    return run_reader.read_run(lines)


def find_line(text: str, part: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if part in line)


def test_only_failing_tests_leave_a_recording(run: PytestRun) -> None:
    assert run.status == 1, run.text
    failed = {"test_fails", "test_needs_what_is_broken", "test_is_hot"}
    assert run.captures().keys() == failed
    assert len(list((run.home / "traces").glob("*.jsonl"))) == len(failed)


def test_the_value_in_the_assertion_is_explained(run: PytestRun) -> None:
    recording = read(run, "test_fails")
    file = next(one.path for one in recording.files.values() if one.path.endswith("test_shop.py"))
    chain = why_slice.explain_value(recording, file, find_line(TESTS, "assert got"), "got", 1)
    assert chain.value == "14"
    assert find_line(SHOP, "cost = ") in [link.line for link in chain.links]


def test_calls_of_the_test_are_shown_as_traces(run: PytestRun) -> None:
    recording = read(run, "test_fails")
    [call] = [one for one in run_frames.list_calls(recording) if one.function.endswith("total")]
    frame = run_frames.build_frame_trace(recording, call.number)
    assert frame.result is not None
    assert frame.result.text == "14"
    assert frame.args["rate"].text == "2"


def test_a_failing_fixture_is_recorded(run: PytestRun) -> None:
    recording = read(run, "test_needs_what_is_broken")
    assert "broken" in {one.function.rpartition(".")[2] for one in run_frames.list_calls(recording)}


def test_a_hot_function_is_left_alone_and_that_is_said(run: PytestRun) -> None:
    recording = read(run, "test_is_hot")
    assert any("price" in remark for remark in recording.remarks)


def test_it_can_be_turned_off(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text("def test_one():\n    assert 1 == 2\n")
    run = run_pytest(tmp_path / "home", "-q", "--holdfast", "--holdfast-trace=off", folder=tmp_path)
    [capture] = [json.loads(file.read_text("utf-8")) for file in run.files]
    assert "trace" not in capture
    assert not (run.home / "traces").exists()


def test_only_the_test_is_compared_with_a_whole_run(run: PytestRun) -> None:
    captured = read(run, "test_fails")
    node = captured.header["node"]
    more = replace(captured, header={**captured.header, "node": None})
    frames = {n: one for n, one in captured.frames.items() if one.code.qualname != "rate"}
    assert len(frames) < len(captured.frames)
    difference = compare_runs(replace(captured, frames=frames), more)
    assert difference.equal
    assert difference.remarks == [f"only {node} was compared"]
    assert not compare_runs(replace(more, frames=frames), more).equal
