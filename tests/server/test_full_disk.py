"""A disk that is full: what must be kept is refused clearly, debugging goes on, nothing is lost.

The server may write files of a few bytes only, which is as good as a full disk to it: writing to
the database fails, and works again as soon as it may. Only for memory that is mapped from a file
this will not do, so a small disk is mounted there.
"""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import Program, Server, Session
from http_application import HttpApplication
from polling import wait_until
from session_states import check_error

LOOP = Program("loop.py")
NO_BYTECODE = {"PYTHONDONTWRITEBYTECODE": "1"}  # half a file of it would stay


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path / "data", env=NO_BYTECODE)
    try:
        yield server
    finally:
        server.stop()


def limit_file_size(server: Server, largest: int) -> None:
    _soft, hard = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (largest, hard))


def fill(server: Server) -> None:
    limit_file_size(server, 4096)


def clear(server: Server) -> None:
    limit_file_size(server, resource.RLIM_INFINITY)


def create_session(server: Server, **config: Any) -> Session:
    return Session(server, server.post("/sessions", config)["session_id"])


def get_unwritten(server: Server) -> dict[str, Any]:
    """What the server says that it has not written yet."""
    [told] = [e for e in server.get("/health")["warnings"] if e["code"] == "STORE_BEHIND"]
    return dict(told["details"])


def wait_until_written(server: Server, session: Session) -> None:
    """Wait until it says that it has written everything."""
    session.wait_for_events("saved")
    wait_until(lambda: server.get("/health")["status"] == "ok", "the server to be healthy")


def test_what_must_be_kept_is_refused_and_leaves_nothing(own: Server) -> None:
    kept = create_session(own, name="kept")
    exported = kept.get("/export")
    fill(own)

    for path, body in [
        ("/sessions", {"name": "new"}),
        ("/sessions/import", exported),
        (kept.path("/clone"), {}),
        ("/breakpoint-profiles", {"name": "p", "breakpoints": [{"file": LOOP.path, "line": 1}]}),
    ]:
        error = check_error(own.http.post(path, json=body), 507)
        assert error["short"] == "store_failed"
        assert "room" in error["hint"]
        assert error["details"]["reference"]
    usual = own.get("/config")["step_wait"]
    check_error(own.http.patch("/config", json={"step_wait": 3}), 507)

    assert [each["name"] for each in own.get("/sessions")["sessions"]] == ["kept"]
    assert own.get("/config")["step_wait"] == usual
    assert own.get("/breakpoint-profiles")["total"] == 0
    clear(own)
    assert own.patch("/config", {"step_wait": 3})["step_wait"] == 3
    create_session(own, name="new")


@pytest.mark.slow
def test_debugging_goes_on_and_is_written_when_there_is_room(own: Server) -> None:
    session, gone = create_session(own, name="works"), create_session(own, name="gone")
    fill(own)

    session.break_at(LOOP, "add")
    assert session.launch(LOOP)["status"] == "paused"
    assert session.post("/step-over")["location"]["line"] == LOOP.line("return")
    assert session.evaluate("result") == "0"
    gone.delete()
    assert own.get("/health")["status"] == "degraded"
    assert get_unwritten(own)["sessions"] == [session.id]
    assert get_unwritten(own)["deleted_sessions"] == [gone.id]
    assert get_unwritten(own)["projects"] == [str(Path(LOOP.path).parent)]
    assert "tried again" in own.wait_for_log("Not everything could be written")

    clear(own)
    wait_until_written(own, session)
    own.wait_for_log("Everything is written again")
    own.process.kill()
    own.process.wait()
    again = Server(own.data_dir)
    try:
        [found] = again.get("/sessions")["sessions"]
        assert (found["session_id"], found["recoverable"]) == (session.id, True)
        session.server = again
        kinds = [each["event"] for each in session.get("/events")["events"]]
        assert {"created", "not_saved", "started", "stopped", "continued", "saved"} <= set(kinds)
        assert again.get("/health")["dropped_events"] == 0
        stop = session.post("/relaunch", {"wait": 60})
        assert (stop["status"], stop["location"]["line"]) == ("paused", LOOP.line("add"))
    finally:
        again.stop()


def test_a_server_that_stops_on_a_full_disk_leaves_what_was_written(own: Server) -> None:
    session = create_session(own, name="kept")
    session.break_at(LOOP, "add")
    fill(own)
    session.break_at(LOOP, "return")
    session.launch(LOOP)

    assert own.stop() == 0

    again = Server(own.data_dir)
    try:
        [found] = again.get("/sessions")["sessions"]
        assert (found["name"], found["status"]) == ("kept", "created")
        assert again.get(f"/sessions/{session.id}/breakpoints")["total"] == 1
        assert again.get("/health")["warnings"] == []
    finally:
        again.stop()


@pytest.mark.slow
def test_a_server_that_starts_on_a_full_disk_says_so_in_one_line(tmp_path: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))

    argv = [sys.executable, "-m", "holdfast", "serve", "--port", "0"]
    done = subprocess.run(
        [*argv, "--data-dir", str(tmp_path / "data")],
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        env={**os.environ, **NO_BYTECODE},
        preexec_fn=limit,
    )

    assert done.returncode == 1
    what, hint = done.stderr.splitlines()
    assert str(tmp_path / "data") in what
    assert "room" in hint
    again = Server(tmp_path / "data")
    assert again.get("/health")["warnings"] == []
    assert again.stop() == 0


# -- a disk that is really full -------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of four megabytes, which only root may mount."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=4m", "none", str(disk)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except OSError as problem:
        pytest.skip(f"nothing can be mounted here: {problem}")
    if done.returncode:
        pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], timeout=60, check=True)


def fill_disk(disk: Path) -> Path:
    """Take the last byte of it. Returns the file to delete."""
    file = disk / "full"
    with open(file, "wb", buffering=0) as handle, contextlib.suppress(OSError):
        while handle.write(bytes(4096)):
            pass
    return file


def test_without_room_for_the_board_every_call_asks(small_disk: Path) -> None:
    """Touching a mapped page that has no room would end the server with SIGBUS."""
    server = Server(small_disk / "data", env=NO_BYTECODE)
    try:
        full = fill_disk(small_disk)
        application = server.post("/api/call/session", {"name": "app", "mode": "leased"})
        assert application["board"] is None
        [warning] = [
            each for each in server.get("/health")["warnings"] if each["code"] == "CALLS_NOT_LEASED"
        ]
        assert "Make room" in warning["message"]
        assert "Make room" in server.wait_for_log("board")
        assert list(server.data_dir.glob("*.board")) == []

        full.unlink()
        rules = server.get(f"/api/call/rules?session_id={application['session_id']}")
        assert Path(rules["board"]).stat().st_blocks * 512 >= 4096
        codes = [each["code"] for each in server.get("/health")["warnings"]]
        assert "CALLS_NOT_LEASED" not in codes
        assert "again" in server.wait_for_log("room for the board again")
    finally:
        assert server.stop() == 0


def test_a_call_that_cannot_be_kept_is_refused(own: Server) -> None:
    application = HttpApplication(own, name="shop")
    fill(own)
    refused = application.start("price", 1, expect=507)
    assert refused["error_code"] == "store_failed"
    assert own.get("/api/calls")["calls"] == []
    clear(own)
    call = application.start("price", 1)
    application.complete(call, 2)
    assert [each["status"] for each in own.get("/api/calls")["calls"]] == ["success"]
