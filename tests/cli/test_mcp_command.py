"""`holdfast mcp`: what an agent's client starts, and what is left when it is gone: nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import typer

from harness import PROGRAMS, Program, Server
from holdfast.cli.mcp_command import connect_to_door
from polling import wait_until
from server_processes import is_gone

LOOP = Program("loop.py")
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


class Agent:
    """`holdfast mcp` in a process of its own, spoken to line by line."""

    def __init__(self, home: Path, *options: str, cwd: Path = PROGRAMS, **env: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "holdfast", "mcp", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env={**os.environ, "HOLDFAST_HOME": str(home), **env},
        )
        self._last_id = 0

    def send(self, method: str, **params: Any) -> int:
        self._last_id += 1
        message = {"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params}
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        return self._last_id

    def read(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.process.communicate()[1]
        return json.loads(line)

    def ask(self, method: str, **params: Any) -> Any:
        number = self.send(method, **params)
        answer = self.read()
        assert answer["id"] == number, answer
        return answer["result"]

    def initialize(self) -> Any:
        return self.ask("initialize", **HELLO)

    def run_idle(self) -> str:
        """Start a program that runs until it is ended; its session."""
        arguments = {"target": "idle.py", "timeout": 0}
        result = self.ask("tools/call", name="debug_run", arguments=arguments)
        return str(result["structuredContent"]["session_id"])

    def hang_up(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def wait(self) -> int:
        return self.process.wait(60)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None and not stream.closed:
                try:
                    stream.close()
                except BrokenPipeError:
                    pass  # what was not sent yet


Start = Callable[..., Agent]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts agents, with a data directory of the test's own unless it names one."""
    started: list[Agent] = []

    def start_one(*options: str, home: Path = tmp_path, **more: Any) -> Agent:
        started.append(Agent(home, *options, **more))
        return started[-1]

    yield start_one
    for agent in started:
        agent.close()


def find_server(home: Path) -> psutil.Process:
    return psutil.Process(json.loads((home / "server.json").read_text())["pid"])


def list_family(server: psutil.Process) -> list[psutil.Process]:
    return [server, *server.children(recursive=True)]


def test_closing_stdin_ends_all_that_it_started(start: Start, tmp_path: Path) -> None:
    agent = start()
    assert agent.initialize()["serverInfo"]["name"] == "holdfast"
    agent.run_idle()
    family = list_family(find_server(tmp_path))
    assert len(family) > 1
    agent.hang_up()
    assert agent.wait() == 0
    assert [one for one in family if not is_gone(one)] == []
    assert not (tmp_path / "server.json").exists()


def test_a_killed_carrier_takes_all_that_it_started_along(start: Start, tmp_path: Path) -> None:
    agent = start()
    agent.initialize()
    agent.run_idle()
    family = list_family(find_server(tmp_path))
    agent.process.kill()
    wait_until(lambda: all(map(is_gone, family)), "nothing is left")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_its_sessions_and_leaves_those_of_others(
    start: Start, server: Server, number: int
) -> None:
    with server.session() as other:
        other.launch(str(PROGRAMS / "idle.py"), wait=False)
        agent = start(home=server.data_dir)
        agent.initialize()
        session_id = agent.run_idle()
        agent.process.send_signal(number)
        assert agent.wait() == 0
        server.get(f"/sessions/{session_id}", expect=404)
        assert other.get("/status")["status"] == "running"


def test_a_signal_while_the_server_starts_leaves_nothing(start: Start, tmp_path: Path) -> None:
    agent = start()
    # It writes the file when it is about to answer; before that, the carrier waits for it.
    wait_until(lambda: any(tmp_path.iterdir()), "the server has begun")
    agent.process.send_signal(signal.SIGTERM)
    assert agent.wait() == 0
    assert not (tmp_path / "server.json").exists()


def test_requests_that_are_piped_in_are_answered_before_it_ends(
    start: Start, server: Server
) -> None:
    agent = start(home=server.data_dir)
    agent.send("initialize", **HELLO)
    agent.send("tools/list")
    agent.hang_up()
    assert agent.read()["result"]["protocolVersion"] == "2025-11-25"
    assert len(agent.read()["result"]["tools"]) >= 12
    assert agent.wait() == 0


def test_a_call_that_waits_does_not_delay_the_end_for_long(
    start: Start, server_with: Callable[..., Server]
) -> None:
    server = server_with(last_answers=0.1)
    agent = start(home=server.data_dir)
    agent.initialize()
    before = server.list_ids()
    agent.send("tools/call", name="debug_run", arguments={"target": "idle.py", "timeout": 50})
    running = wait_until(lambda: server.list_ids(but=before), "it runs")
    agent.hang_up()
    assert agent.wait() == 0
    server.get(f"/sessions/{running[0]}", expect=404)


def test_a_program_that_is_just_starting_ends_with_its_agent(
    start: Start, server_with: Callable[..., Server]
) -> None:
    server = server_with(last_answers=0.5)
    before = server.list_ids()
    agent = start(home=server.data_dir)
    agent.initialize()
    agent.send("tools/call", name="debug_run", arguments={"target": "idle.py", "timeout": 50})
    agent.process.kill()
    agent.wait()
    wait_until(lambda: not has_agents(server), "the server has noticed")
    wait_until(lambda: not server.list_ids(but=before), "the program is gone")


def has_agents(server: Server) -> bool:
    """Whether a connection to the door for agents is open."""
    port = server.get("/info")["mcp_port"]
    connections = psutil.Process(server.process.pid).net_connections("tcp")
    return any(one.laddr.port == port and one.status != "LISTEN" for one in connections)


def test_a_stdout_that_nobody_reads_any_more_ends_it(start: Start, server: Server) -> None:
    agent = start(home=server.data_dir)
    agent.initialize()
    session_id = agent.run_idle()
    assert agent.process.stdout is not None
    agent.process.stdout.close()
    agent.send("tools/list")
    assert agent.wait() == 0
    server.get(f"/sessions/{session_id}", expect=404)


def test_a_server_that_dies_ends_it_with_a_message(start: Start, tmp_path: Path) -> None:
    agent = start()
    agent.initialize()
    find_server(tmp_path).kill()
    assert agent.wait() == 1
    assert agent.process.stderr is not None
    assert b"the server is gone" in agent.process.stderr.read()


def test_the_server_stays_for_the_second_of_two_agents(start: Start, tmp_path: Path) -> None:
    first = start()
    first.initialize()
    second = start()
    second.initialize()
    session_id = second.run_idle()
    server = find_server(tmp_path)
    first.hang_up()
    assert first.wait() == 0
    assert not is_gone(server)
    listed = second.ask("tools/call", name="debug_sessions", arguments={})
    assert session_id in listed["content"][0]["text"]
    second.hang_up()
    assert second.wait() == 0
    wait_until(lambda: is_gone(server), "the server ended")


def test_paths_and_variables_are_those_of_the_agent(
    start: Start, server: Server, tmp_path: Path
) -> None:
    (tmp_path / "env.py").write_text(
        "import os\nvalue = os.environ['COLOUR']\nhere = os.getcwd()\nend = 1\n"
    )
    agent = start(home=server.data_dir, cwd=tmp_path, COLOUR="teal")
    agent.initialize()
    arguments = {"target": "env.py", "breakpoints": ["env.py:4"]}
    report = agent.ask("tools/call", name="debug_run", arguments=arguments)["structuredContent"]
    assert report["at"] == "env.py:4"
    assert report["locals"]["value"] == "'teal'"
    assert report["locals"]["here"] == repr(str(tmp_path))


def test_a_token_is_passed_on(start: Start, tmp_path: Path) -> None:
    secret = tmp_path / "token"
    secret.write_text("a-good-secret")
    secret.chmod(0o600)
    server = Server(tmp_path / "data", "--token-file", str(secret))
    try:
        assert start(home=tmp_path / "data").initialize()["serverInfo"]["name"] == "holdfast"
        stranger = start(home=tmp_path / "data", HOLDFAST_TOKEN="a-bad-guess")
        assert stranger.wait() == 1
        assert stranger.process.stderr is not None
        assert b"token" in stranger.process.stderr.read()
    finally:
        server.stop()


LISTEN_AS_NOBODY = """
import os, socket
os.setgid(65534); os.setuid(65534)
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
print(len(listener.accept()[0].recv(65536)), flush=True)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_door_of_another_user_is_told_nothing() -> None:
    command = [sys.executable, "-c", LISTEN_AS_NOBODY]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as stranger:
        assert stranger.stdout is not None
        with pytest.raises(typer.Exit):
            connect_to_door(int(stranger.stdout.readline()))
        assert stranger.stdout.readline() == "0\n"


def test_a_server_that_is_named_and_not_there_is_an_error(start: Start) -> None:
    agent = start("--url", "http://127.0.0.1:1")
    _out, err = agent.process.communicate(timeout=60)
    assert agent.process.returncode == 1
    assert b"127.0.0.1:1" in err
    agent = start("--url", "http://example.test:80")
    _out, err = agent.process.communicate(timeout=60)
    assert agent.process.returncode == 1
    assert b"must be on this machine" in err


def test_nothing_but_messages_is_on_stdout(start: Start, server: Server) -> None:
    agent = start(home=server.data_dir)
    assert agent.process.stdin is not None
    agent.process.stdin.write(b"this is no message\n\n[1, 2]\n")
    agent.process.stdin.flush()
    assert agent.initialize()["serverInfo"]["name"] == "holdfast"
    agent.send("ping")
    out, _err = agent.process.communicate(timeout=60)
    assert out
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in out.splitlines())
