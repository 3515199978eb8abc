"""The benchmark runs, and says something about everything; how much is the machine's affair."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

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


@pytest.mark.slow
def test_every_peer_is_measured_in_every_row(tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    command = [sys.executable, "-m", "bench", "--quick", "--rounds", "1", "--steps", "2"]

    ran = subprocess.run(
        [*command, "--json", str(figures)], cwd=ROOT, capture_output=True, text=True, timeout=110
    )

    assert ran.returncode == 0, ran.stderr
    shown = json.loads(figures.read_text())
    assert [row["name"] for row in shown["rows"]] == ROWS
    for row in shown["rows"]:
        assert list(row["figures"]) == PEERS
        assert list(row["ratios"]) == PEERS[1:]
        assert all(math.isfinite(ratio) and ratio > 0 for ratio in row["ratios"].values())
        assert row["name"] in ran.stdout
    assert len(shown["inside"]) == 4
