"""The door for agents: who comes in, and what nonsense does there: nothing."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from harness import PROGRAMS, Server

HELLO = json.dumps({"holdfast": {"cwd": str(PROGRAMS)}}).encode() + b"\n"
PING = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'
AS_NOBODY = """
import os, socket, sys
os.setgid(65534); os.setuid(65534)
caller = socket.socket()
caller.connect(("127.0.0.1", int(sys.argv[1])))
try:
    caller.sendall(sys.stdin.buffer.read())
    said = caller.recv(65536)
except ConnectionError:
    said = b""
print(len(said))
"""


@pytest.fixture(scope="module")
def door(server: Server) -> int:
    port: int = server.get("/info")["mcp_port"]
    return port


@pytest.fixture
def caller(door: int) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", door), timeout=60) as connected:
        yield connected


def read_all(caller: socket.socket) -> list[Any]:
    """Every line that comes until the other end is closed."""
    with caller.makefile("rb") as lines:
        return [json.loads(line) for line in lines]


def test_a_carrier_says_who_it_is_and_then_messages_pass(caller: socket.socket) -> None:
    caller.sendall(HELLO + PING)
    with caller.makefile("rb") as lines:
        assert json.loads(lines.readline()) == {"holdfast": {"welcome": True}}
        assert json.loads(lines.readline()) == {"jsonrpc": "2.0", "id": 1, "result": {}}
        caller.shutdown(socket.SHUT_WR)
        assert json.loads(lines.readline()) == {"holdfast": {"is_server_ending": False}}
        assert lines.readline() == b""


@pytest.mark.parametrize(
    "nonsense",
    [b"\n", b"[]\n", b'{"holdfast": 1}\n', b'{"holdfast": {}}\n', b"\xff\xfe\n", PING],
)
def test_whoever_is_no_carrier_gets_no_further(caller: socket.socket, nonsense: bytes) -> None:
    caller.sendall(nonsense + PING)
    (said,) = read_all(caller)
    assert "no agent's carrier" in said["holdfast"]["error"]


def test_a_page_in_a_browser_gets_no_further(caller: socket.socket) -> None:
    head = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n"
    caller.sendall(head + HELLO + PING)
    (said,) = read_all(caller)
    assert "error" in said["holdfast"]


def test_messages_that_are_none_do_not_end_the_connection(caller: socket.socket) -> None:
    caller.sendall(HELLO + b'no message\n[1]\n{"jsonrpc": "1.0"}\n\xff\n' + PING)
    caller.shutdown(socket.SHUT_WR)
    assert {"jsonrpc": "2.0", "id": 1, "result": {}} in read_all(caller)


def test_without_the_token_nobody_gets_in(tmp_path: Path) -> None:
    secret = tmp_path / "token"
    secret.write_text("a-good-secret")
    secret.chmod(0o600)
    server = Server(tmp_path / "data", "--token-file", str(secret))
    try:
        port = json.loads(server.ready_file.read_text())["mcp_port"]
        for given in ({}, {"token": "a-bad-guess"}, {"token": None}):
            hello = {"holdfast": {"cwd": "/", **given}}
            with socket.create_connection(("127.0.0.1", port), timeout=60) as caller:
                caller.sendall(json.dumps(hello).encode() + b"\n" + PING)
                (said,) = read_all(caller)
                assert "token" in said["holdfast"]["error"]
    finally:
        server.stop()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_of_this_machine_gets_no_answer(door: int) -> None:
    argv = [sys.executable, "-c", AS_NOBODY, str(door)]
    done = subprocess.run(argv, input=HELLO + PING, capture_output=True, timeout=60, check=True)
    assert done.stdout == b"0\n"


def test_the_door_is_open_on_loopback_only(server: Server, door: int) -> None:
    listening = psutil.Process(server.process.pid).net_connections("tcp")
    assert {one.laddr.ip for one in listening if one.laddr.port == door} == {"127.0.0.1"}
