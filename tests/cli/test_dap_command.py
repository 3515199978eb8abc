"""`holdfast dap`: the adapter that an editor starts itself."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from editor import Editor, connect, converse
from harness import Program, Server, reserved_port
from own_environment import IS_SOAK
from polling import wait_until

LOOP = Program("loop.py")
Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts `holdfast dap`, with a data directory of the test's own."""
    started: list[subprocess.Popen[bytes]] = []

    def start_one(*options: str, home: Path = tmp_path, **env: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-m", "holdfast", "dap", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "HOLDFAST_HOME": str(home), **env},
        )
        started.append(process)
        return process

    yield start_one
    for process in started:
        if process.poll() is None:
            process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None and not stream.closed:
                try:
                    stream.close()
                except BrokenPipeError:
                    pass  # what was not sent yet


def test_without_a_server_it_starts_one_that_others_find_and_that_ends_when_nobody_uses_it(
    start: Start, tmp_path: Path
) -> None:
    first = start()
    editor = converse(first)
    editor.launch(LOOP, [LOOP.line("add")])
    thread = editor.wait_stop("breakpoint")["threadId"]
    listed = subprocess.run(
        [sys.executable, "-m", "holdfast", "sessions", "--json"],
        env={**os.environ, "HOLDFAST_HOME": str(tmp_path)},
        capture_output=True,
        check=True,
    )
    assert json.loads(listed.stdout)["sessions"][0]["status"] == "paused"
    second = start("--session", "latest")
    joined = converse(second)
    joined.attach()
    joined.wait_stop("breakpoint")
    joined.ask("next", threadId=thread)
    editor.wait_event("continued")
    editor.wait_stop("step")
    joined.set_lines(LOOP.path, [LOOP.line("return")])
    editor.close()  # it vanishes; the other one stays
    assert first.wait(60) == 0
    joined.wait_stop("step")
    joined.ask("continue", threadId=thread)
    joined.wait_stop("breakpoint")
    joined.disconnect(terminateDebuggee=True)
    assert second.wait(60) == 0
    wait_until(lambda: not (tmp_path / "server.json").exists(), "the server ended")


def test_it_uses_the_server_that_runs(start: Start, server: Server) -> None:
    process = start(home=server.data_dir)
    editor = converse(process)
    editor.launch(LOOP, [LOOP.line("add")])
    editor.wait_stop("breakpoint")
    session = server.get("/sessions")["sessions"][-1]
    assert session["status"] == "paused"
    editor.close()  # the client vanished: what it launched ends
    assert process.wait(60) == 0
    status = f"/sessions/{session['session_id']}/status"
    wait_until(lambda: server.get(status)["status"] == "terminated", "it ended")


@pytest.mark.parametrize(
    ("has_server", "number"),
    [
        *((True, signal.SIGTERM), (True, signal.SIGINT), (False, signal.SIGINT)),
        *([(False, signal.SIGTERM)] if IS_SOAK else []),
    ],
)
def test_it_ends_cleanly_when_it_is_told_to(
    start: Start, server: Server, tmp_path: Path, number: int, has_server: bool
) -> None:
    process = start(home=server.data_dir if has_server else tmp_path)
    editor = converse(process)
    editor.launch(str(Path(LOOP.path).with_name("idle.py")))
    pid = editor.wait_event("process")["systemProcessId"]
    process.send_signal(number)
    assert process.wait(60) == 0
    wait_until(lambda: not Path(f"/proc/{pid}").exists(), "its program ended")
    wait_until(lambda: not (tmp_path / "server.json").exists(), "the server ended")


def test_a_stdout_that_nobody_reads_any_more_ends_it(start: Start, server: Server) -> None:
    process = start(home=server.data_dir)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdout.close()
    body = b'{"seq":1,"type":"request","command":"initialize","arguments":{"adapterID":"x"}}'
    process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    process.stdin.flush()
    assert process.wait(60) == 0


def test_nonsense_ends_it_and_nothing_but_messages_is_on_stdout(
    start: Start, server: Server
) -> None:
    process = start(home=server.data_dir)
    out, err = process.communicate(b"this is no message\r\n\r\n", timeout=60)
    assert out == b""
    assert b"no message" in err


def test_a_token_is_passed_on(start: Start, tmp_path: Path) -> None:
    secret = tmp_path / "token"
    secret.write_text("a-good-secret")
    secret.chmod(0o600)
    server = Server(tmp_path / "data", "--token-file", str(secret))
    try:
        editor = converse(start(home=tmp_path / "data"))
        editor.launch(LOOP)
        editor.wait_event("terminated")
        editor.close()
    finally:
        server.stop()


@pytest.fixture
def port() -> Iterator[int]:
    with reserved_port() as reserved:
        yield reserved


def test_it_listens_on_a_port_for_editors_that_connect(
    start: Start, server: Server, port: int
) -> None:
    process = start("--port", str(port), home=server.data_dir)
    editors: list[Editor] = []

    def try_to_connect() -> bool:
        try:
            editors.append(connect(port))
        except ConnectionRefusedError:
            return False
        return True

    wait_until(try_to_connect, "it listens")
    editors[0].launch(LOOP)
    editors[0].wait_event("terminated")
    editors[0].disconnect()
    editors[0].close()
    assert process.wait(60) == 0


AS_NOBODY = """
import os, socket, sys
os.setgid(65534); os.setuid(65534)
caller = socket.socket()
while caller.connect_ex(("127.0.0.1", int(sys.argv[1]))):
    caller = socket.socket()
try:
    caller.sendall(sys.stdin.buffer.read())
    said = caller.recv(65536)
except ConnectionError:
    said = b""
print(len(said))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_gets_no_answer_at_its_port_and_the_editor_still_does(
    start: Start, server: Server, port: int
) -> None:
    start("--port", str(port), home=server.data_dir)
    body = b'{"seq":1,"type":"request","command":"initialize","arguments":{"adapterID":"x"}}'
    done = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, str(port)],
        input=b"Content-Length: %d\r\n\r\n%b" % (len(body), body),
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == b"0\n"
    editor = connect(port)
    assert editor.initialize()["supportsDataBreakpoints"] is True
    editor.close()


def test_a_page_in_a_browser_gets_no_answer_at_its_port(start: Start, server: Server) -> None:
    process = start(home=server.data_dir)
    body = b'{"seq":1,"type":"request","command":"initialize","arguments":{"adapterID":"x"}}'
    head = b"POST /a:b HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body)
    out, err = process.communicate(head + body, timeout=60)
    assert out == b""
    assert b"no message" in err


def test_a_server_that_is_named_and_not_there_is_an_error(start: Start, tmp_path: Path) -> None:
    process = start("--url", "http://127.0.0.1:1")
    _out, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert b"127.0.0.1:1" in err
    process = start("--url", "http://example.test:80")
    _out, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert b"must be on this machine" in err


def test_two_that_start_together_share_one_server(start: Start, tmp_path: Path) -> None:
    processes = [start() for _ in range(3)]
    editors = [converse(process) for process in processes]
    answers: list[Any] = [editor.initialize() for editor in editors]
    assert answers[0] == answers[1] == answers[2]
    for editor in editors:
        editor.close()
    for process in processes:
        assert process.wait(60) == 0
    wait_until(lambda: not (tmp_path / "server.json").exists(), "the server ended")
