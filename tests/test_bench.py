"""The benchmark runs and measures everything. Figures depend on the machine; none is checked."""

from __future__ import annotations

import json
import math
import subprocess
import sys
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


def run(folder: Path, *options: str) -> tuple[Any, str]:
    """Run the benchmark, and return its figures and its output."""
    path = folder / "figures.json"
    command = [sys.executable, "-m", "bench", "--quick", "--json", str(path), *options]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=110)
    assert ran.returncode == 0, ran.stderr
    return json.loads(path.read_text()), ran.stdout


def is_whole(row: Any) -> bool:
    """Whether the row has a figure and a ratio of every debugger."""
    ratios = row["ratios"]
    right = all(math.isfinite(ratio) and ratio > 0 for ratio in ratios.values())
    return list(row["figures"]) == DEBUGGERS and list(ratios) == DEBUGGERS[1:] and right


@pytest.mark.slow
def test_every_debugger_is_measured_in_every_row(tmp_path: Path) -> None:
    figures, printed = run(tmp_path, "--rounds", "1", "--steps", "2", "--only", "lives")

    assert [row["name"] for row in figures["rows"]] == ROWS
    assert all(is_whole(row) and row["name"] in printed for row in figures["rows"])
    assert len(figures["inside"]) == 4


@pytest.mark.slow
def test_hot_loops_are_measured_for_every_debugger(tmp_path: Path) -> None:
    figures, printed = run(tmp_path, "--only", "breakpoints")

    condition, count = figures["breakpoints"]
    assert is_whole(condition)
    assert is_whole(count)
    assert condition["name"].endswith("conditional, false")
    assert f"| {count['name']}, µs" in printed


@pytest.mark.slow
def test_code_that_could_not_stop_is_compared_with_plain_python(tmp_path: Path) -> None:
    figures, printed = run(tmp_path, "--only", "quiet")

    assert len(figures["quiet"]) == 4
    for slowdown in figures["quiet"]:
        assert slowdown["case"] in printed
        assert len(slowdown["ratios"]) == 3
        assert min(slowdown["ratios"]) > 0


@pytest.mark.slow
def test_watched_writes_are_compared_with_plain_ones(tmp_path: Path) -> None:
    figures, printed = run(tmp_path, "--only", "watches")

    assert len(figures["watches"]) == 5
    for ratio in figures["watches"]:
        assert ratio["ours"] > 0
        assert ratio["name"] in printed


@pytest.mark.slow
def test_a_step_through_the_door_for_editors_is_compared_with_one_over_http(
    tmp_path: Path,
) -> None:
    figures, printed = run(tmp_path, "--only", "editors")

    (ratio,) = figures["editors"]
    assert min(ratio["ours"], ratio["base"]) > 0
    assert ratio["name"] in printed


@pytest.mark.slow
def test_round_trips_and_concurrent_sessions_are_measured(tmp_path: Path) -> None:
    figures, printed = run(tmp_path, "--only", "trips", "crowds")

    assert list(figures["trips"]) == ["bare round trip", "GET /health", "GET /sessions/{id}/status"]
    assert [len(pace["steps"]) for pace in figures["crowds"]] == [1, 10, 30]
    assert all(min(pace["steps"]) > 0 for pace in figures["crowds"])
    assert "| sessions at once |" in printed


@pytest.mark.slow
def test_growth_is_measured_and_drawn(tmp_path: Path) -> None:
    plots = tmp_path / "plots"
    options = ("--only", "growth", "--sessions", "2", "--plots", str(plots))

    figures, _printed = run(tmp_path, *options)

    assert [curve["key"] for curve in figures["growth"]] == CURVES
    assert [x for x, _y in figures["growth"][0]["points"]] == [10, 100, 1000, 5000]
    assert sorted(path.stem for path in plots.iterdir()) == sorted(CURVES)
    for curve in figures["growth"]:
        words = " ".join(ElementTree.parse(plots / f"{curve['key']}.svg").getroot().itertext())
        assert curve["name"] in words
        assert curve["against"] in words


@pytest.mark.slow
def test_calls_are_measured_and_none_escapes_or_is_lost(tmp_path: Path) -> None:
    figures, printed = run(tmp_path, "--only", "calls")

    assert len(figures["calls"]) == 7
    for ratio in figures["calls"]:
        assert ratio["ours"] > 0
        assert ratio["base"] > 0
        assert ratio["name"] in printed
    storm = figures["storm"]
    assert (storm["escaped"], storm["lost"]) == (0, 0)
    assert storm["calls"] == 20_000


@pytest.mark.slow
def test_agent_loops_are_measured_and_a_replay_calls_nothing(tmp_path: Path) -> None:
    figures, printed = run(tmp_path, "--only", "agents")

    assert len(figures["agents"]) == 4
    for ratio in figures["agents"]:
        assert ratio["ours"] > 0
        assert ratio["name"] in printed
    assert figures["replayed"] == {
        "steps": 50,
        "model_calls": 0,
        "tool_calls": 0,
        "same_messages": True,
    }


@pytest.mark.slow
def test_the_page_is_measured_in_a_real_browser(tmp_path: Path) -> None:
    plots = tmp_path / "plots"
    figures, printed = run(tmp_path, "--only", "page", "--plots", str(plots))

    sizes, measured = figures["page"]["sizes"], figures["page"]["figures"]
    assert sizes[0]["name"] == "the first view"
    assert sizes[0]["kilobytes"] <= 300
    arrived = next(each for each in measured if "arrived of" in each["name"])
    assert arrived["name"].endswith(f"arrived of {arrived['median']:,}")
    assert all(each["name"] in printed for each in measured)
    words = " ".join(ElementTree.parse(plots / "page.svg").getroot().itertext())
    assert "between frames" in words


@pytest.mark.slow
def test_an_agent_over_mcp_is_measured_call_by_call(tmp_path: Path) -> None:
    figures, printed = run(tmp_path, "--rounds", "1", "--only", "mcp")

    rows = {row["name"]: row["figures"] for row in figures["mcp"]}
    assert rows["calls"]["Holdfast"]["median"] == 9
    assert rows["calls"]["Holdfast, steps together"]["median"] == 5
    assert rows["calls to the first locals"]["Holdfast"]["median"] == 1
    assert rows["bytes of all answers"]["Holdfast"]["median"] <= 5_000
    assert [ratio["unit"] for ratio in figures["mcp_ratios"]] == ["ms", "bytes"]
    assert "Agents over MCP" in printed
