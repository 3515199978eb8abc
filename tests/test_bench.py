"""The benchmark runs, and says something about everything; how much is the machine's affair."""

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
PEERS = ["stock debugpy", "quick ack", "Holdfast"]
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
    """Its figures, and what it printed."""
    figures = folder / "figures.json"
    command = [sys.executable, "-m", "bench", "--quick", "--json", str(figures), *options]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=110)
    assert ran.returncode == 0, ran.stderr
    return json.loads(figures.read_text()), ran.stdout


def is_whole(row: Any) -> bool:
    """Every peer is in it, beside the first."""
    ratios = row["ratios"]
    right = all(math.isfinite(ratio) and ratio > 0 for ratio in ratios.values())
    return list(row["figures"]) == PEERS and list(ratios) == PEERS[1:] and right


@pytest.mark.slow
def test_every_peer_is_measured_in_every_row(tmp_path: Path) -> None:
    shown, printed = run(tmp_path, "--rounds", "1", "--steps", "2", "--only", "lives")

    assert [row["name"] for row in shown["rows"]] == ROWS
    assert all(is_whole(row) and row["name"] in printed for row in shown["rows"])
    assert len(shown["inside"]) == 4


@pytest.mark.slow
def test_hot_loops_are_measured_for_every_peer(tmp_path: Path) -> None:
    shown, printed = run(tmp_path, "--only", "breakpoints")

    condition, count = shown["breakpoints"]
    assert is_whole(condition)
    assert is_whole(count)
    assert condition["name"].endswith("conditional, false")
    assert f"| {count['name']}, µs" in printed


@pytest.mark.slow
def test_round_trips_and_crowds_are_measured(tmp_path: Path) -> None:
    shown, printed = run(tmp_path, "--only", "trips", "crowds")

    assert list(shown["trips"]) == ["bare round trip", "GET /health", "GET /sessions/{id}/status"]
    assert [len(each["steps"]) for each in shown["crowds"]] == [1, 10, 30]
    assert all(min(each["steps"]) > 0 for each in shown["crowds"])
    assert "| sessions at once |" in printed


@pytest.mark.slow
def test_growth_is_measured_and_drawn(tmp_path: Path) -> None:
    plots = tmp_path / "plots"
    options = ("--only", "growth", "--sessions", "2", "--plots", str(plots))

    shown, _printed = run(tmp_path, *options)

    assert [each["key"] for each in shown["growth"]] == CURVES
    assert [x for x, _y in shown["growth"][0]["points"]] == [10, 100, 1000, 5000]
    assert sorted(each.stem for each in plots.iterdir()) == sorted(CURVES)
    for each in shown["growth"]:
        words = " ".join(ElementTree.parse(plots / f"{each['key']}.svg").getroot().itertext())
        assert each["name"] in words
        assert each["against"] in words


@pytest.mark.slow
def test_calls_are_measured_and_none_escapes_or_is_lost(tmp_path: Path) -> None:
    shown, printed = run(tmp_path, "--only", "calls")

    assert len(shown["calls"]) == 7
    for each in shown["calls"]:
        assert each["ours"] > 0
        assert each["base"] > 0
        assert each["name"] in printed
    storm = shown["storm"]
    assert (storm["escaped"], storm["lost"]) == (0, 0)
    assert storm["calls"] == 20_000


@pytest.mark.slow
def test_agent_loops_are_measured_and_a_replay_calls_nothing(tmp_path: Path) -> None:
    shown, printed = run(tmp_path, "--only", "agents")

    assert len(shown["agents"]) == 4
    for each in shown["agents"]:
        assert each["ours"] > 0
        assert each["name"] in printed
    assert shown["replayed"] == {
        "steps": 50,
        "model_calls": 0,
        "tool_calls": 0,
        "same_messages": True,
    }
