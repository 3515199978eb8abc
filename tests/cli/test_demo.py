"""The demonstration really debugs, finds the bug, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from process_trees import find_by_variable

MARK = "HOLDFAST_TEST_DEMO"


def demo(folder: Path, *options: str, **env: str) -> subprocess.CompletedProcess[str]:
    """With a home and a temporary directory in this folder."""
    directories = {"HOME": str(folder / "home"), "TMPDIR": str(folder / "temporary")}
    for directory in directories.values():
        Path(directory).mkdir()
    return subprocess.run(
        [sys.executable, "-m", "holdfast", "demo", *options],
        env={**os.environ, **directories, "PYTHONIOENCODING": "utf-8", **env},
        capture_output=True,
        encoding="utf-8",
    )


def test_it_finds_the_bug_in_nine_requests_and_in_one_and_cleans_up(tmp_path: Path) -> None:
    mark = uuid.uuid4().hex

    ran = demo(tmp_path, "--json", **{MARK: mark})

    assert ran.returncode == 0, ran.stderr
    shown = json.loads(ran.stdout)
    assert shown["found"]["file"] == "checkout.py"
    assert shown["found"]["code"] == 'offer["percent"] += 5'
    stops = [step["answer"] for step in shown["steps"] if "locals" in step["answer"]]
    assert [stop["reason"] for stop in stops] == ["breakpoint", "breakpoint", "step"]
    assert shown["found"]["line"] == stops[1]["location"]["line"]
    many, one = shown["step_by_step"], shown["one_call"]
    assert (many["requests"], one["requests"]) == (len(shown["steps"]), 1) == (9, 1)
    assert many["bytes"] == sum(step["bytes"] for step in shown["steps"])
    assert one["bytes"] == shown["run"]["bytes"] < many["bytes"] / 5
    assert [row[1:3] for row in shown["run"]["answer"]["rows"]] == [
        ["'ann'", "10"],
        ["'ben'", "10"],
        ["'ben'", "15"],
        ["'carol'", "15"],
    ]
    assert list(find_by_variable(MARK, mark)) == []
    assert sorted(tmp_path.rglob("*")) == [tmp_path / "home", tmp_path / "temporary"]


@pytest.mark.slow
@pytest.mark.parametrize("env", [{}, {"NO_COLOR": "1", "PYTHONIOENCODING": "ascii"}])
def test_it_shows_every_request_as_one_would_type_it(tmp_path: Path, env: dict[str, str]) -> None:
    ran = demo(tmp_path, **env)

    assert ran.returncode == 0, ran.stderr
    assert "\x1b[" not in ran.stdout
    assert ran.stdout.count("curl -X ") == 10
    assert 'curl -X POST $URL/sessions/$S/restart -H "$JSON"' in ran.stdout
    assert "changed offer: {'percent': 10}" in ran.stdout
    assert "curl -X POST $URL/api/v1/run" in ran.stdout
    assert "offer is OFFERS[level]" in ran.stdout
    assert "Found: checkout.py:15" in ran.stdout
    assert "9 requests" in ran.stdout
    assert "1 request " in ran.stdout
