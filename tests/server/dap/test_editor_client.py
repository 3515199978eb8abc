"""Microsoft's own client, which nobody here wrote: over a port and over pipes, one and two."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from dap_tap import tapped
from harness import Program, Server
from polling import wait_until

HERE = Path(__file__).parent / "editor_client"
CLIENT = Path(sys.prefix) / "editor_client"  # where `make test` installs it
TOUR = Program("editor_tour.py")


@pytest.fixture(scope="module")
def modules() -> Path:
    """The client, installed from its lock file unless it is there."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("there is no Node here")
    installed = CLIENT / "node_modules"
    if not installed.is_dir():
        CLIENT.mkdir(exist_ok=True)
        for name in ("package.json", "package-lock.json", ".npmrc"):
            shutil.copy(HERE / name, CLIENT / name)
        subprocess.run(["npm", "ci", "--no-progress"], cwd=CLIENT, check=True, capture_output=True)
    return installed


def drive(modules: Path, scenario: str, environment: dict[str, str], **task: Any) -> None:
    lines = {name: TOUR.line(name) for name in ("inside", "log", "work", "next", "raise")}
    told = {"scenario": scenario, "program": TOUR.path, "lines": lines, **task}
    done = subprocess.run(
        ["node", str(HERE / "editor_client.js"), json.dumps(told)],
        env={**os.environ, **environment, "NODE_PATH": str(modules)},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("scenario", ["alone", "hit", "two", "leave"])
def test_over_a_port_with_every_message_checked(
    server: Server, lobby: int, modules: Path, scenario: str
) -> None:
    for session in server.get("/sessions")["sessions"]:
        if session["kind"] == "program":
            server.http.delete(f"/sessions/{session['session_id']}")  # children go with parents
    with tapped(lobby) as tap:
        drive(modules, scenario, {}, port=tap.port)
        assert tap.counts["editor"] >= 10
        assert tap.counts["adapter"] >= 10


def test_over_pipes_with_a_server_that_comes_and_goes_with_the_editor(
    modules: Path, tmp_path: Path
) -> None:
    """In both scenarios at the same time: each has a server, which goes a while after it."""
    adapter = str(Path(sys.prefix) / "bin" / "holdfast-dap")

    def run(scenario: str) -> None:
        home = tmp_path / scenario
        home.mkdir(mode=0o700)
        environment = {"HOLDFAST_HOME": str(home)}
        drive(modules, scenario, environment, python=sys.executable, adapter=adapter)
        wait_until(lambda: not (home / "server.json").exists(), "the server is gone")

    with ThreadPoolExecutor() as pool:
        list(pool.map(run, ["alone", "two"]))
