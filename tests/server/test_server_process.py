"""The server as a process: how it is found, what it announces, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from harness import Server
from holdfast.server.http_server import DEFAULT_PORT
from polling import wait_until
from session_states import IDLE


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Server]:
    """A server of the test's own, to end as it likes."""
    running = Server(tmp_path / "data")
    try:
        yield running
    finally:
        running.stop()


# -- what it says of itself ----------------------------------------------------------------------


def test_it_says_what_it_is_and_what_it_can_do(server: Server) -> None:
    info = server.get("/info")
    assert (info["name"], info["api_version"]) == ("holdfast", "v1")
    assert {"launch", "attach_pid", "line_breakpoints", "evaluate"} <= set(info["capabilities"])
    assert set(info["session_states"]) >= {"created", "launching", "running", "paused"}
    assert info["data_dir"] == str(server.data_dir)
    assert info["pid"] == server.process.pid


# -- how it is found -----------------------------------------------------------------------------


def test_it_announces_itself_in_private_files_and_takes_them_back(tmp_path: Path) -> None:
    server = Server(tmp_path / "data")
    files = [server.data_dir / "server.json", server.ready_file]
    for file in files:
        facts = json.loads(file.read_text())
        assert ("secret" in facts) == (file.name == "server.json")
        facts.pop("secret", None)
        assert facts == {
            "url": server.url,
            "pid": server.process.pid,
            "data_dir": str(server.data_dir),
            "dap_port": server.get("/info")["dap_port"],
            "mcp_port": server.get("/info")["mcp_port"],
        }
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(server.data_dir.stat().st_mode) == 0o700
    for file in server.data_dir.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) & 0o077 == 0, file
    assert server.stop() == 0
    assert [file for file in files if file.exists()] == []
    assert [each for each in server.data_dir.iterdir() if each.name.startswith(".server")] == []


def test_what_a_killed_server_announced_is_replaced_by_the_next(tmp_path: Path) -> None:
    first = Server(tmp_path / "data")
    first.process.kill()
    first.process.wait()
    first.close()
    assert json.loads((tmp_path / "data" / "server.json").read_text())["url"] == first.url
    second = Server(tmp_path / "data")
    assert json.loads((tmp_path / "data" / "server.json").read_text())["url"] == second.url
    second.stop()


def run(*options: str, home: Path) -> subprocess.CompletedProcess[str]:
    """`holdfast serve` where it cannot: it must end by itself."""
    return subprocess.run(
        [sys.executable, "-m", "holdfast", "serve", "--data-dir", str(home), *options],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.slow
def test_a_port_that_was_asked_for_and_is_taken_is_an_error(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = run("--port", str(port), home=tmp_path / "data")
    assert ended.returncode == 1
    assert f"127.0.0.1:{port}" in ended.stderr
    assert "--port" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.slow
def test_a_data_directory_belongs_to_one_server(own: Server) -> None:
    ended = run("--port", "0", home=own.data_dir)
    assert ended.returncode == 1
    assert str(own.process.pid) in ended.stderr
    assert "Traceback" not in ended.stderr
    assert own.get("/health")["status"] == "ok"


@pytest.mark.slow
def test_a_data_directory_that_cannot_be_used_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ended = run("--port", "0", home=tmp_path / "file" / "data")
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr


def test_the_default_port_when_taken_gives_way_to_a_free_one(tmp_path: Path) -> None:
    wait_until(lambda: _gives_way(tmp_path / "data"), "a server that found the port taken")


def _gives_way(data_dir: Path) -> bool:
    """Check that a server takes another port. False if it could have the default one.

    That is so only if somebody else had it, and gave it back before the server asked for it.
    """
    try:
        taken = socket.create_server(("127.0.0.1", DEFAULT_PORT))
    except OSError:
        taken = None
    try:
        with subprocess.Popen(
            [sys.executable, "-m", "holdfast", "serve", "--data-dir", str(data_dir)],
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                assert process.stderr is not None
                first = process.stderr.readline()
                given_back = first.startswith(f"Holdfast is at http://127.0.0.1:{DEFAULT_PORT} ")
                if not given_back:
                    assert f"port {DEFAULT_PORT} is taken" in first
                    second = process.stderr.readline()
                    url = json.loads((data_dir / "server.json").read_text())["url"]
                    assert url in second
                    answer = httpx.get(f"{url}/health", timeout=60, trust_env=False)
                    assert answer.json()["status"] == "ok"
                process.terminate()
                assert process.wait(60) == 0
            finally:
                process.kill()
    finally:
        if taken is not None:
            taken.close()
    assert taken is None or not given_back
    return not given_back


# -- how it ends ---------------------------------------------------------------------------------


def test_shutdown_answers_and_leaves_no_program_behind(own: Server) -> None:
    session = own.post("/sessions")["session_id"]
    own.post(f"/sessions/{session}/launch", {"script": IDLE.path})
    program = psutil.Process(own.get(f"/sessions/{session}")["pid"])
    assert own.post("/shutdown") == {"status": "shutting_down"}
    assert own.process.wait(60) == 0
    assert psutil.wait_procs([program], timeout=60)[1] == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_order(own: Server, number: signal.Signals) -> None:
    os.kill(own.process.pid, number)
    assert own.process.wait(60) == 0
    assert not (own.data_dir / "server.json").exists()


def test_whoever_waits_when_it_ends_is_answered(own: Server) -> None:
    session = own.post("/sessions")["session_id"]
    own.post(f"/sessions/{session}/launch", {"script": IDLE.path})
    own.get(f"/sessions/{session}/output?wait=60")
    with own.http.stream("GET", f"/sessions/{session}/output/stream") as stream:
        lines = stream.iter_lines()
        assert next(lines) == "id: 1"
        httpx.post(f"{own.url}/shutdown", timeout=60, trust_env=False)
        rest = list(lines)
    assert len(rest) < 20
    assert own.process.wait(60) == 0
