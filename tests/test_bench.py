"""The benchmark runs and measures everything. Figures depend on the machine; none is checked.

One process measures all but the page, with as few repetitions as work.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[1]
DEBUGGERS = ["stock debugpy", "quick ack", "Holdfast"]
ROWS = [
    "launch to first stop",
    "launch, nothing prepared",
    "step with locals",
    "evaluate",
    "status",
    "end of program",
    "memory while paused",
]
CURVES = ["depth", "breakpoints", "output", "memory", "descriptors"]


class QuickRun:
    """The figures of a quick run of the benchmark, what it printed, and the folder of its plots."""

    def __init__(self, folder: Path, *parts: str) -> None:
        path, self.plots = folder / "figures.json", folder / "plots"
        command = [sys.executable, "-m", "bench", "--quick", "--only", *parts]
        command += ["--json", str(path), "--plots", str(self.plots)]
        ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
        self.figures: Any = json.loads(path.read_text())
        self.printed = ran.stdout

    def read_plot(self, name: str) -> str:
        return " ".join(ElementTree.parse(self.plots / f"{name}.svg").getroot().itertext())


def is_whole(row: Any) -> bool:
    """Whether the row has a figure and a ratio of every debugger."""
    ratios = row["ratios"]
    right = all(math.isfinite(ratio) and ratio > 0 for ratio in ratios.values())
    return list(row["figures"]) == DEBUGGERS and list(ratios) == DEBUGGERS[1:] and right


def every_debugger_is_measured_in_every_row(run: QuickRun) -> None:
    rows = run.figures["rows"]
    assert [row["name"] for row in rows] == ROWS
    assert all(is_whole(row) and row["name"] in run.printed for row in rows)
    assert len(run.figures["inside"]) == 4


def hot_loops_are_measured_for_every_debugger(run: QuickRun) -> None:
    condition, count = run.figures["breakpoints"]
    assert is_whole(condition)
    assert is_whole(count)
    assert condition["name"].endswith("conditional, false")
    assert f"| {count['name']}, µs" in run.printed


def code_that_could_not_stop_is_compared_with_plain_python(run: QuickRun) -> None:
    assert len(run.figures["quiet"]) == 4
    for slowdown in run.figures["quiet"]:
        assert slowdown["case"] in run.printed
        assert len(slowdown["ratios"]) == 3
        assert min(slowdown["ratios"]) > 0


def watched_writes_are_compared_with_plain_ones(run: QuickRun) -> None:
    assert len(run.figures["watches"]) == 5
    for ratio in run.figures["watches"]:
        assert ratio["ours"] > 0
        assert ratio["name"] in run.printed


def a_step_through_the_door_for_editors_is_compared_with_one_over_http(run: QuickRun) -> None:
    (ratio,) = run.figures["editors"]
    assert min(ratio["ours"], ratio["base"]) > 0
    assert ratio["name"] in run.printed


def round_trips_and_concurrent_sessions_are_measured(run: QuickRun) -> None:
    trips = ["bare round trip", "GET /health", "GET /sessions/{id}/status"]
    assert list(run.figures["trips"]) == trips
    assert [len(pace["steps"]) for pace in run.figures["crowds"]] == [1, 3]
    assert all(min(pace["steps"]) > 0 for pace in run.figures["crowds"])
    assert "| sessions at once |" in run.printed


def growth_is_measured_and_drawn(run: QuickRun) -> None:
    growth = run.figures["growth"]
    assert [curve["key"] for curve in growth] == CURVES
    assert [x for x, _y in growth[0]["points"]] == [10, 100]
    assert {path.stem for path in run.plots.iterdir()} >= set(CURVES)
    for curve in growth:
        words = run.read_plot(curve["key"])
        assert curve["name"] in words
        assert curve["against"] in words


def calls_are_measured_and_none_escapes_or_is_lost(run: QuickRun) -> None:
    assert len(run.figures["calls"]) == 7
    for ratio in run.figures["calls"]:
        assert ratio["ours"] > 0
        assert ratio["base"] > 0
        assert ratio["name"] in run.printed
    storm = run.figures["storm"]
    assert (storm["escaped"], storm["lost"]) == (0, 0)
    assert storm["calls"] == 10_000


def agent_loops_are_measured_and_a_replay_calls_nothing(run: QuickRun) -> None:
    assert len(run.figures["agents"]) == 4
    for ratio in run.figures["agents"]:
        assert ratio["ours"] > 0
        assert ratio["name"] in run.printed
    same = {"model_calls": 0, "tool_calls": 0, "same_messages": True}
    assert run.figures["replayed"] == {"steps": 5, **same}


def an_agent_over_mcp_is_measured_call_by_call(run: QuickRun) -> None:
    rows = {row["name"]: row["figures"] for row in run.figures["mcp"]}
    assert rows["calls"]["Holdfast"]["median"] == 9
    assert rows["calls"]["Holdfast, steps together"]["median"] == 5
    assert rows["calls to the first locals"]["Holdfast"]["median"] == 1
    assert rows["bytes of all answers"]["Holdfast"]["median"] <= 5_000
    assert [ratio["unit"] for ratio in run.figures["mcp_ratios"]] == ["ms", "bytes"]
    assert "Agents over MCP" in run.printed


def traced_frames_are_compared_with_plain_ones(run: QuickRun) -> None:
    assert len(run.figures["traces"]) == 3
    for ratio in run.figures["traces"]:
        assert ratio["ours"] > 0
        assert ratio["name"] in run.printed


PARTS: dict[tuple[str, ...], Callable[[QuickRun], None]] = {
    ("lives",): every_debugger_is_measured_in_every_row,
    ("breakpoints",): hot_loops_are_measured_for_every_debugger,
    ("quiet",): code_that_could_not_stop_is_compared_with_plain_python,
    ("watches",): watched_writes_are_compared_with_plain_ones,
    ("editors",): a_step_through_the_door_for_editors_is_compared_with_one_over_http,
    ("trips", "crowds"): round_trips_and_concurrent_sessions_are_measured,
    ("growth",): growth_is_measured_and_drawn,
    ("calls",): calls_are_measured_and_none_escapes_or_is_lost,
    ("agents",): agent_loops_are_measured_and_a_replay_calls_nothing,
    ("mcp",): an_agent_over_mcp_is_measured_call_by_call,
    ("traces",): traced_frames_are_compared_with_plain_ones,
}


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_every_part_measures_and_prints_its_figures(tmp_path: Path) -> None:
    run = QuickRun(tmp_path, *(name for names in PARTS for name in names))

    for check in PARTS.values():
        check(run)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_page_is_measured_in_a_real_browser(tmp_path: Path) -> None:
    run = QuickRun(tmp_path, "page")

    sizes, measured = run.figures["page"]["sizes"], run.figures["page"]["figures"]
    assert sizes[0]["name"] == "the first view"
    assert sizes[0]["kilobytes"] <= 300
    arrived = next(each for each in measured if "arrived of" in each["name"])
    assert arrived["name"].endswith(f"arrived of {arrived['median']:,}")
    assert all(each["name"] in run.printed for each in measured)
    assert "between frames" in run.read_plot("page")
