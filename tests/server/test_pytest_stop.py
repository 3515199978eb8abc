"""`pytest --holdfast-stop`: a process that pytest runs in joins the server, and is held."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import Program, Server, Session
from polling import wait_until
from pytest_runs import PROJECT, start_pytest

TESTS = Program("test_failing.py", PROJECT)


@pytest.fixture(scope="module")
def own_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("stops") / "data")
    try:
        yield running
    finally:
        running.stop()


@contextlib.contextmanager
def running_pytest(home: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    process = start_pytest(home, "--holdfast-stop", "-q", *options)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def wait_for_hold(server: Server) -> tuple[Session, Any]:
    """The session of the process that is held, and where it is."""

    def look() -> Session | None:
        held = server.get("/sessions?status=paused")["sessions"]
        return Session(server, held[0]["session_id"]) if held else None

    session = wait_until(look, "a held test")
    return session, session.get("/status?include=source,locals,stack")


def finish(process: subprocess.Popen[str]) -> str:
    text, _ = process.communicate(timeout=60)
    return text


def test_a_failing_test_is_held_where_it_failed(own_server: Server) -> None:
    with running_pytest(own_server.data_dir, "-k", "total or library") as process:
        session, status = wait_for_hold(own_server)
        assert status["reason"] == "exception"
        assert status["location"]["line"] == TESTS.line("check")
        assert status["exception"]["type"] == "AssertionError"
        assert [frame["name"] for frame in status["stack"]][:2] == ["check_total", "test_total"]
        assert session.evaluate("cart.items['apple'] + factor") == "5"
        status = session.resume(include=["locals"])
        assert status["location"]["line"] == TESTS.line("library")
        session.post("/continue", {})
        text = finish(process)
    assert process.returncode == 1
    assert "2 failed" in text
    assert f"test_total failed, and is held in session {session.id}" in text


def test_a_held_test_goes_on_after_the_timeout(own_server: Server) -> None:
    options = ("-k", "total or bad_text", "--holdfast-stop-timeout", "0.1")
    with running_pytest(own_server.data_dir, *options) as process:
        text = finish(process)
    assert "2 failed" in text
    assert "BadText: <str raised RuntimeError: no text>" in text
    assert "goes on by itself after 0.1 s" in text


@pytest.mark.slow
def test_a_worker_of_xdist_is_held_alone(own_server: Server) -> None:
    with running_pytest(own_server.data_dir, "-n", "2", "-k", "total or passing") as process:
        session, status = wait_for_hold(own_server)
        assert status["location"]["line"] == TESTS.line("check")
        session.post("/continue", {})
        assert "1 failed, 1 passed" in finish(process)


def test_an_interrupt_ends_a_run_that_is_held(own_server: Server) -> None:
    with running_pytest(own_server.data_dir, "-k", "total") as process:
        wait_for_hold(own_server)
        process.send_signal(signal.SIGINT)
        finish(process)
    assert process.returncode == 2


@pytest.mark.slow
def test_a_held_test_goes_on_when_the_server_ends(tmp_path: Path) -> None:
    server = Server(tmp_path / "data")
    try:
        with running_pytest(server.data_dir, "-k", "total") as process:
            wait_for_hold(server)
            server.stop()
            text = finish(process)
    finally:
        server.close()
    assert "1 failed" in text


@pytest.mark.slow
def test_a_server_is_started_where_none_runs(tmp_path: Path) -> None:
    home = tmp_path / "home"
    options = ("-k", "total", "--holdfast-stop-timeout", "0.1")
    try:
        with running_pytest(home, *options) as process:
            text = finish(process)
    finally:
        _end_server(home)
    assert "and is held in session" in text
    assert "1 failed" in text


def _end_server(home: Path) -> None:
    announcement = home / "server.json"
    os.kill(json.loads(announcement.read_text())["pid"], signal.SIGTERM)
    wait_until(lambda: not announcement.exists(), "the end of the server")


def test_where_no_server_can_be_had_tests_go_on(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.write_text("a file where the directory should be")
    with running_pytest(home, "-k", "total") as process:
        text = finish(process)
    assert "cannot hold at failures" in text
    assert "1 failed" in text


def test_only_a_process_that_is_there_can_join(own_server: Server) -> None:
    error = own_server.post("/processes/join", {"pid": 2**22 + 1}, expect=404)["error"]
    assert error["code"] == "PROCESS_NOT_FOUND"
    assert own_server.get("/sessions?status=launching")["sessions"] == []
