"""The commands, as typed: text for people, `--json` for programs, and finding the server."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import holdfast
from fork_server import run_holdfast
from harness import Program, Server, Session

LOOP = Program("loop.py")
FINDING = ("HOLDFAST_SERVER_URL", "CIDELDILL_SERVER_URL", "HOLDFAST_HOME", "HOLDFAST_TOKEN")


def typed(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    """`holdfast …` in an environment that says of a server only what is given here."""
    plain = {name: value for name, value in os.environ.items() if name not in FINDING}
    return run_holdfast(*words, env={**plain, **env})


def ids(ran: subprocess.CompletedProcess[str]) -> set[str]:
    assert ran.returncode == 0, ran.stderr
    return {each["session_id"] for each in json.loads(ran.stdout)["sessions"]}


@pytest.fixture
def nobody() -> str:
    """An address at which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}"


@pytest.fixture
def paused(session: Session) -> Session:
    session.break_at(LOOP, "call")
    session.launch(LOOP)
    return session


# -- the program itself ---------------------------------------------------------------------------


def test_it_says_its_version() -> None:
    ran = typed("--version")
    assert (ran.returncode, ran.stdout) == (0, f"holdfast {holdfast.__version__}\n")


def test_without_a_command_it_says_what_there_is() -> None:
    said = typed().stdout + typed("--help").stdout
    assert all(command in said for command in ("serve", "demo", "sessions", "holds"))


# -- finding the server ---------------------------------------------------------------------------


def test_the_server_is_where_the_option_says(server: Server, session: Session, nobody: str) -> None:
    ran = typed("sessions", "--json", "--url", server.url, HOLDFAST_SERVER_URL=nobody)
    assert session.id in ids(ran)


def test_else_where_the_environment_says(server: Server, session: Session, nobody: str) -> None:
    ran = typed("sessions", "--json", HOLDFAST_SERVER_URL=server.url, CIDELDILL_SERVER_URL=nobody)
    assert session.id in ids(ran)


def test_else_where_the_older_name_in_the_environment_says(
    server: Server, session: Session, tmp_path: Path
) -> None:
    ran = typed(
        "sessions", "--json", CIDELDILL_SERVER_URL=server.url + "/", HOLDFAST_HOME=str(tmp_path)
    )
    assert session.id in ids(ran)


def test_else_where_it_announced_itself(server: Server, session: Session) -> None:
    assert session.id in ids(typed("sessions", "--json", HOLDFAST_HOME=str(server.data_dir)))


def test_the_announcement_of_one_that_is_gone_is_not_believed(tmp_path: Path, nobody: str) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    told = {"url": nobody, "pid": gone.pid, "data_dir": str(tmp_path)}
    (tmp_path / "server.json").write_text(json.dumps(told))

    ran = typed("sessions", "--json", HOLDFAST_HOME=str(tmp_path))

    assert nobody not in ran.stderr


@pytest.mark.parametrize("command", ["sessions", "holds"])
def test_with_nobody_there_it_says_how_to_start_one(command: str, nobody: str) -> None:
    ran = typed(command, "--url", nobody)

    assert (ran.returncode, ran.stdout) == (1, "")
    assert nobody in ran.stderr
    assert "holdfast serve" in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("command", ["sessions", "holds"])
def test_with_json_an_error_is_a_json_document(command: str, nobody: str) -> None:
    ran = typed(command, "--json", "--url", nobody)

    assert (ran.returncode, ran.stderr) == (1, "")
    error = json.loads(ran.stdout)["error"]
    assert nobody in error["message"]
    assert "holdfast serve" in error["hint"]


@pytest.mark.parametrize(
    "address", ["ftp://localhost", "https://localhost", "http://localhost:many"]
)
def test_an_address_that_is_none_is_said_to_be_none(address: str) -> None:
    ran = typed("sessions", "--url", address)

    assert ran.returncode == 1
    assert "is no address" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_host_and_port_are_address_enough(server: Server, session: Session) -> None:
    assert session.id in ids(typed("sessions", "--json", "--url", server.url.split("//")[1]))


def test_beyond_loopback_the_token_comes_from_the_environment(tmp_path: Path) -> None:
    running = Server(tmp_path / "data", "--host", "0.0.0.0", "--token", "sesame")
    try:
        assert typed("sessions", "--url", running.url).returncode == 1
        ran = typed("sessions", "--json", "--url", running.url, HOLDFAST_TOKEN="sesame")
        assert ids(ran) == set()
    finally:
        running.stop()


# -- looking --------------------------------------------------------------------------------------


def test_sessions_are_listed_for_people(server: Server, paused: Session) -> None:
    ran = typed("sessions", "--url", server.url, COLUMNS="300")

    assert ran.returncode == 0, ran.stderr
    [row] = [line for line in ran.stdout.splitlines() if paused.id in line]
    assert "paused (breakpoint)" in row
    assert f"{LOOP.path}:{LOOP.line('call')}" in row


def test_holds_are_listed_with_what_they_allow(server: Server, paused: Session) -> None:
    ran = typed("holds", "--json", "--url", server.url)

    holds: list[dict[str, Any]] = json.loads(ran.stdout)["holds"]
    [held] = [each for each in holds if each["session_id"] == paused.id]
    assert held["location"]["line"] == LOOP.line("call")
    assert {"continue", "step-over"} <= set(held["allows"])
    shown = typed("holds", "--url", server.url, COLUMNS="300").stdout
    [row] = [line for line in shown.splitlines() if held["hold_id"] in line.split()]
    assert "step-into" in row


# -- serving --------------------------------------------------------------------------------------


def test_serving_announces_itself_and_takes_that_back(tmp_path: Path) -> None:
    running = Server(tmp_path / "data")
    announced = json.loads((tmp_path / "data" / "server.json").read_text())
    try:
        assert announced == json.loads(running.ready_file.read_text())
        assert announced["pid"] == running.process.pid
        assert announced["data_dir"] == str(tmp_path / "data")
        assert running.get("/health")["status"] == "ok"
    finally:
        assert running.stop() == 0
    assert not running.ready_file.exists()
    assert not (tmp_path / "data" / "server.json").exists()


def test_a_port_that_was_asked_for_and_is_taken_is_an_error(tmp_path: Path) -> None:
    ready = tmp_path / "ready.json"
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])

        ran = typed(
            *("serve", "--port", port, "--ready-file", str(ready)), HOLDFAST_HOME=str(tmp_path)
        )

    assert ran.returncode == 1
    assert f"cannot listen at 127.0.0.1:{port}" in ran.stderr
    assert "--port" in ran.stderr
    assert not ready.exists()


@pytest.mark.parametrize(
    ("option", "complaint"), [("--port=many", "--port"), ("--nothing", "No such option")]
)
def test_an_option_that_makes_no_sense_is_refused(option: str, complaint: str) -> None:
    ran = typed("serve", option)
    assert ran.returncode == 2
    assert complaint in ran.stderr
