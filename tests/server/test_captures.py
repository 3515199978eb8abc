"""Captures of failing tests, over HTTP and for the tools."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from harness import Program, Server
from holdfast.recording.capture_files import (
    Capture,
    CapturedException,
    CaptureDirectory,
    captures_dir,
    create_run_id,
)
from pytest_runs import PROJECT, PytestRun, run_pytest

TESTS = Program("test_failing.py", PROJECT)


@pytest.fixture(scope="module")
def own_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("captures") / "data")
    try:
        yield running
    finally:
        running.stop()


@pytest.fixture(scope="module")
def run(own_server: Server) -> PytestRun:
    chosen = "total or library or secret or cause"
    return run_pytest(own_server.data_dir, "--holdfast", "-q", "-k", chosen)


@pytest.fixture(scope="module")
def ids(run: PytestRun) -> dict[str, str]:
    return {name: capture["id"] for name, capture in run.captures().items()}


def inspect(server: Server, capture: str, **fields: Any) -> Any:
    path = f"/api/v1/tools/debug_inspect?cwd={quote(str(PROJECT))}"
    return server.post(path, {"capture": capture, "budget_tokens": 4000, **fields})


def test_captures_are_listed_newest_first(own_server: Server, ids: dict[str, str]) -> None:
    answer = own_server.get("/api/captures")
    assert answer["total"] == 4
    assert [one["id"] for one in answer["captures"]][-1] == ids["test_total"]
    last = answer["captures"][-1]
    assert last["at"] == f"{TESTS.path}:{TESTS.line('check')}"
    assert last["message"] == "assert 10 == 11"
    assert len(own_server.get("/api/captures?limit=2")["captures"]) == 2


def test_a_capture_is_read_whole(own_server: Server, ids: dict[str, str]) -> None:
    capture = own_server.get(f"/api/captures/{ids['test_total']}")
    assert capture["node"] == "test_failing.py::test_total"
    assert capture["assertion"]["operands"][0]["value"] == "10"
    assert own_server.get("/api/captures/latest")["id"] in ids.values()
    report = own_server.post("/api/v1/tools/debug_inspect", {"session_id": ids["test_total"]})
    assert report["status"] == "captured"


def test_an_id_that_is_not_known_says_what_there_is(
    own_server: Server, ids: dict[str, str]
) -> None:
    error = own_server.get("/api/captures/cap_zzz", expect=404)["error"]
    assert error["code"] == "CAPTURE_NOT_FOUND"
    assert ids["test_total"] in error["details"]["captures"]


def test_a_damaged_capture_is_warned_of_and_left_out(
    own_server: Server, ids: dict[str, str]
) -> None:
    bad = own_server.data_dir / "captures" / "20200101_000000_abcdef-main-1.json"
    bad.write_text("{}")
    bad.chmod(0o600)
    try:
        assert own_server.get("/api/captures")["total"] == 4
        warnings = own_server.get("/health")["warnings"]
        assert [one["code"] for one in warnings] == ["CAPTURE_IGNORED"]
    finally:
        bad.unlink()


def test_a_report_of_a_capture_has_the_operands_and_the_frames(
    own_server: Server, ids: dict[str, str]
) -> None:
    report = inspect(own_server, ids["test_total"])
    assert report["status"] == "captured"
    assert report["at"] == f"test_failing.py:{TESTS.line('check')}"
    assert report["function"] == "check_total"
    assert report["values"] == {"cart.total(factor)": "10"}
    assert report["locals"]["factor"] == "2"
    assert report["exception"]["message"].startswith("assert 10 == 11")
    assert report["stack"][1].startswith("test_total test_failing.py:")
    assert "adding up" in report["output"]
    assert 'debug_run(target="test_failing.py::test_total"' in report["next"]


def test_a_file_that_cannot_be_collected_is_run_again_by_pytest(own_server: Server) -> None:
    directory = CaptureDirectory(captures_dir(own_server.data_dir))
    error: CapturedException = {"type": "ImportError", "message": "no", "frames": []}
    fixed: Capture = {"when": "collect", "time": "2026-01-02T03:04:05Z", "exception": error}
    written = directory.write({"node": "my tests.py", **fixed}, create_run_id(0), None, 1)
    report = inspect(own_server, written)
    assert "debug_run(target=\"pytest 'my tests.py'\"" in report["next"]
    assert directory.delete(written)


def test_another_frame_of_a_capture_can_be_looked_at(
    own_server: Server, ids: dict[str, str]
) -> None:
    report = inspect(own_server, ids["test_total"], frame=1)
    assert report["function"] == "test_total"
    assert list(report["locals"]) == ["cart"]
    path = "/api/v1/tools/debug_inspect"
    error = own_server.post(path, {"capture": ids["test_total"], "frame": 9}, expect=404)["error"]
    assert "2 frames" in error["message"]


def test_a_captured_value_can_be_unfolded(own_server: Server, ids: dict[str, str]) -> None:
    report = inspect(own_server, ids["test_total"], expand="cart.items")
    assert report["values"] == {
        "cart.items": "{'apple': 3, 'pear': 2}",
        "['apple']": "3",
        "['pear']": "2",
    }


def test_what_was_not_captured_cannot_be_evaluated(own_server: Server, ids: dict[str, str]) -> None:
    wanted = ["factor", "cart.items['pear']", "factor + 1"]
    report = inspect(own_server, ids["test_total"], expressions=wanted)
    assert report["values"] == {"factor": "2", "cart.items['pear']": "2"}
    (problem,) = report["problems"]
    assert problem.startswith("factor + 1: not captured")
    assert "debug_run(" in report["next"]


def test_a_report_names_the_causes_and_the_library(own_server: Server, ids: dict[str, str]) -> None:
    (cause,) = inspect(own_server, ids["test_cause"])["exception"]["causes"]
    assert (cause["type"], cause["relation"]) == ("JSONDecodeError", "cause")
    frames = inspect(own_server, ids["test_library"])["exception"]["frames"]
    assert frames[0]["function"].endswith("raw_decode")


def test_secrets_are_hidden_unless_they_are_asked_for(
    own_server: Server, ids: dict[str, str]
) -> None:
    report = inspect(own_server, ids["test_secret"])
    assert report["locals"]["password"].startswith("<hidden")
    assert "correct horse" not in report["exception"]["message"]
    assert "show_secrets" in report["omitted"][0]
    report = inspect(own_server, ids["test_secret"], show_secrets=True)
    assert report["locals"]["password"] == "'correct horse'"


def test_a_report_of_a_capture_fits_its_budget(own_server: Server, ids: dict[str, str]) -> None:
    path = "/api/v1/tools/debug_inspect"
    answer = own_server.http.post(path, json={"capture": ids["test_library"], "budget_tokens": 200})
    assert len(answer.content) <= 800
    assert answer.json()["at"]


def test_the_list_of_sessions_names_the_captures(own_server: Server, ids: dict[str, str]) -> None:
    answer = own_server.post("/api/v1/tools/debug_sessions", {})
    assert len(answer["captures"]) == 4
    assert any(ids["test_total"] in line for line in answer["captures"])
    assert "correct horse" not in str(answer["captures"])


def test_a_debugged_run_captures_and_stops_once(
    own_server: Server, ids: dict[str, str], tmp_path: Path
) -> None:
    report = own_server.post(
        f"/api/v1/run?cwd={quote(str(PROJECT))}",
        {
            "target": "test_failing.py::test_total",
            "args": ["--holdfast-stop", "-p", "no:cacheprovider"],
            "timeout": 50,
            "python": sys.executable,
            "env": {"HOLDFAST_HOME": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"},
        },
    )
    assert report["at"] == f"test_failing.py:{TESTS.line('check')}"
    assert len(list((tmp_path / "captures").iterdir())) == 1
    body = {"session_id": report["session_id"], "timeout": 50}
    assert own_server.post("/api/v1/tools/debug_continue", body)["status"] == "terminated"


def test_captures_can_be_deleted(own_server: Server, ids: dict[str, str]) -> None:
    assert own_server.delete(f"/api/captures/{ids['test_cause']}") == {"deleted": 1}
    assert own_server.get("/api/captures")["total"] == 3
    assert own_server.delete("/api/captures/all") == {"deleted": 3}
    assert own_server.get("/api/captures") == {"captures": [], "total": 0}
