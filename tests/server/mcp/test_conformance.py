"""The official suite and the inspector, which nobody here wrote."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import mcp_suite
from harness import Program, Server

REVISIONS = ("2025-11-25", "2026-07-28")
LOOP = Program("loop.py")


@pytest.fixture(scope="module", autouse=True)
def _installed() -> None:
    mcp_suite.install()


@pytest.fixture(scope="module")
def suite_url() -> Iterator[str]:
    """A server of the suite's own tools, behind our HTTP server."""
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", str(mcp_suite.HERE / "suite_server.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process.stdout:
        yield process.stdout.readline().strip()
        process.stdin.close()
        assert process.wait(60) == 0


def check_conformance(url: str, revision: str, baseline: Path, results: Path) -> None:
    """Run what a revision requires. What is expected to fail has to fail, and nothing else."""
    arguments = ["server", "--url", url, "--requirements", revision, "-o", str(results)]
    if baseline.exists():
        arguments += ["--expected-failures", str(baseline)]
    done = mcp_suite.run_node(mcp_suite.CONFORMANCE, *arguments)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    assert "Total:" in done.stdout


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_server_conforms(server: Server, revision: str, tmp_path: Path) -> None:
    baseline = mcp_suite.HERE / f"holdfast-{revision}.yml"
    check_conformance(f"{server.url}/mcp", revision, baseline, tmp_path)


@pytest.mark.parametrize("revision", REVISIONS)
def test_our_http_server_carries_all_that_the_protocol_knows(
    suite_url: str, revision: str, tmp_path: Path
) -> None:
    baseline = mcp_suite.HERE / f"suite-{revision}.yml"
    check_conformance(suite_url, revision, baseline, tmp_path)


def test_the_inspector_finds_the_schemas_portable_over_stdio(server: Server) -> None:
    done = mcp_suite.run_node(
        mcp_suite.INSPECTOR,
        *("--cli", sys.executable, "-m", "holdfast", "mcp"),
        *("-e", f"HOLDFAST_HOME={server.data_dir}"),
        *("--method", "tools/list", "--strict"),
    )
    assert done.returncode == 0, done.stderr
    assert "debug_run" in [tool["name"] for tool in json.loads(done.stdout)["tools"]]
    # A value that may be anything has no type, which it takes note of. It finds nothing else.
    issues = [line for line in done.stderr.splitlines() if "Issue:" in line]
    assert [line for line in issues if "no validation keyword" not in line] == []


def test_the_inspector_calls_a_tool_over_http(server: Server) -> None:
    done = mcp_suite.run_node(
        mcp_suite.INSPECTOR,
        *("--cli", f"{server.url}/mcp", "--transport", "http"),
        *("--method", "tools/call", "--tool-name", "debug_run"),
        *("--tool-arg", f"target={LOOP.path}", f'breakpoints=["{LOOP.path}:{LOOP.line("add")}"]'),
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)["structuredContent"]
    assert report["status"] == "paused"
    server.delete(f"/sessions/{report['session_id']}")
