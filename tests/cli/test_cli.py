"""The commands, as typed: text for people, `--json` for programs, and finding the server."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import holdfast
from fork_server import run_holdfast
from harness import Program, Server, Session
from holdfast.trust.private_files import write_private_file

LOOP = Program("loop.py")
FINDING = ("HOLDFAST_SERVER_URL", "CIDELDILL_SERVER_URL", "HOLDFAST_HOME", "HOLDFAST_TOKEN")


def run_command(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    """`holdfast …` in an environment that says of a server only what is given here."""
    plain = {name: value for name, value in os.environ.items() if name not in FINDING}
    return run_holdfast(*words, env={**plain, **env})


def ids(ran: subprocess.CompletedProcess[str]) -> set[str]:
    assert ran.returncode == 0, ran.stderr
    return {each["session_id"] for each in json.loads(ran.stdout)["sessions"]}


@pytest.fixture
def unused_address() -> Iterator[str]:
    """An address at which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


@pytest.fixture
def paused(session: Session) -> Session:
    session.break_at(LOOP, "call")
    session.launch(LOOP)
    return session


# -- the program itself ---------------------------------------------------------------------------


def test_it_says_its_version() -> None:
    ran = run_command("--version")
    assert (ran.returncode, ran.stdout) == (0, f"holdfast {holdfast.__version__}\n")


def test_without_a_command_it_says_what_there_is() -> None:
    said = run_command().stdout + run_command("--help").stdout
    assert all(command in said for command in ("serve", "demo", "sessions", "holds"))


# -- finding the server ---------------------------------------------------------------------------


def test_the_server_is_where_the_option_says(
    server: Server, session: Session, unused_address: str
) -> None:
    ran = run_command("sessions", "--json", "--url", server.url, HOLDFAST_SERVER_URL=unused_address)
    assert session.id in ids(ran)


def test_else_where_the_environment_says(
    server: Server, session: Session, unused_address: str
) -> None:
    ran = run_command(
        "sessions", "--json", HOLDFAST_SERVER_URL=server.url, CIDELDILL_SERVER_URL=unused_address
    )
    assert session.id in ids(ran)


def test_else_where_the_older_name_in_the_environment_says(
    server: Server, session: Session, tmp_path: Path
) -> None:
    ran = run_command(
        "sessions", "--json", CIDELDILL_SERVER_URL=server.url + "/", HOLDFAST_HOME=str(tmp_path)
    )
    assert session.id in ids(ran)


def test_else_where_it_announced_itself(server: Server, session: Session) -> None:
    assert session.id in ids(run_command("sessions", "--json", HOLDFAST_HOME=str(server.data_dir)))


def test_the_published_address_of_a_dead_server_is_ignored(
    tmp_path: Path, unused_address: str
) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    told = {"url": unused_address, "pid": gone.pid, "data_dir": str(tmp_path)}
    write_private_file(tmp_path / "server.json", json.dumps(told))

    ran = run_command("sessions", "--json", HOLDFAST_HOME=str(tmp_path))

    assert unused_address not in ran.stderr


@pytest.mark.parametrize("command", ["sessions", "holds"])
def test_with_nobody_there_it_says_how_to_start_one(command: str, unused_address: str) -> None:
    ran = run_command(command, "--url", unused_address)

    assert (ran.returncode, ran.stdout) == (1, "")
    assert unused_address in ran.stderr
    assert "holdfast serve" in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("command", ["sessions", "holds"])
def test_with_json_an_error_is_a_json_document(command: str, unused_address: str) -> None:
    ran = run_command(command, "--json", "--url", unused_address)

    assert (ran.returncode, ran.stderr) == (1, "")
    error = json.loads(ran.stdout)["error"]
    assert unused_address in error["message"]
    assert "holdfast serve" in error["hint"]


@pytest.mark.parametrize(
    "address", ["ftp://localhost", "https://localhost", "http://localhost:many"]
)
def test_an_invalid_address_is_reported_as_invalid(address: str) -> None:
    ran = run_command("sessions", "--url", address)

    assert ran.returncode == 1
    assert "is no address" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_host_and_port_are_address_enough(server: Server, session: Session) -> None:
    assert session.id in ids(run_command("sessions", "--json", "--url", server.url.split("//")[1]))


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_a_token_comes_from_the_environment_or_from_the_announcement(
    tmp_path: Path, host: str
) -> None:
    token_file = tmp_path / "token"
    token_file.write_text("sesame\n")
    token_file.chmod(0o600)
    running = Server(tmp_path / "data", "--host", host, "--token-file", str(token_file))
    try:
        assert running.url.startswith("http://127.0.0.1:")
        elsewhere = str(tmp_path / "elsewhere")
        ran = run_command("sessions", "--url", running.url, HOLDFAST_HOME=elsewhere)
        assert ran.returncode == 1
        assert "token is missing or wrong" in ran.stderr
        ran = run_command("sessions", "--json", "--url", running.url, HOLDFAST_TOKEN="sesame")
        assert ids(ran) == set()
        assert ids(run_command("sessions", "--json", HOLDFAST_HOME=str(running.data_dir))) == set()
    finally:
        running.stop()


def test_a_token_on_the_command_line_is_refused(tmp_path: Path) -> None:
    ran = run_command("serve", "--token", "sesame", HOLDFAST_HOME=str(tmp_path / "data"))
    assert ran.returncode == 1
    assert "--token-file" in ran.stderr
    assert "HOLDFAST_TOKEN" in ran.stderr
    assert not (tmp_path / "data").exists()


def test_a_token_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    file, link = tmp_path / "token", tmp_path / "link"
    file.write_text("sesame")
    link.symlink_to(file)
    home = str(tmp_path / "data")
    for path, mode, said in [
        (file, 0o640, "mode 0640, not 0600"),
        (link, 0o600, "is a symbolic link"),
        (tmp_path / "none", 0o600, "No such file"),
    ]:
        file.chmod(mode)
        ran = run_command("serve", "--token-file", str(path), HOLDFAST_HOME=home)
        assert ran.returncode == 1
        assert said in ran.stderr
        assert "Traceback" not in ran.stderr
    file.write_text("\n")
    ran = run_command("serve", "--token-file", str(file), HOLDFAST_HOME=home)
    assert "there is no token" in ran.stderr


# -- looking --------------------------------------------------------------------------------------


def test_sessions_are_listed_for_people(server: Server, paused: Session) -> None:
    ran = run_command("sessions", "--url", server.url, COLUMNS="300")

    assert ran.returncode == 0, ran.stderr
    [row] = [line for line in ran.stdout.splitlines() if paused.id in line]
    assert "paused (breakpoint)" in row
    assert f"{LOOP.path}:{LOOP.line('call')}" in row


def test_holds_are_listed_with_what_they_allow(server: Server, paused: Session) -> None:
    ran = run_command("holds", "--json", "--url", server.url)

    holds: list[dict[str, Any]] = json.loads(ran.stdout)["holds"]
    [held] = [each for each in holds if each["session_id"] == paused.id]
    assert held["location"]["line"] == LOOP.line("call")
    assert {"continue", "step-over"} <= set(held["allows"])
    shown = run_command("holds", "--url", server.url, COLUMNS="300").stdout
    [row] = [line for line in shown.splitlines() if held["hold_id"] in line.split()]
    assert "step-into" in row


# -- serving --------------------------------------------------------------------------------------


def test_serving_announces_itself_and_takes_that_back(tmp_path: Path) -> None:
    running = Server(tmp_path / "data")
    announced = json.loads((tmp_path / "data" / "server.json").read_text())
    try:
        ready = json.loads(running.ready_file.read_text())
        assert announced == {**ready, "secret": announced["secret"]}
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

        ran = run_command(
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
    ran = run_command("serve", option)
    assert ran.returncode == 2
    assert complaint in ran.stderr
