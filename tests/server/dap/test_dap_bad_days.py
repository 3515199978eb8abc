"""Editors that send nonsense, vanish, or do not read; and a server that ends."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from editor import Editor, Refusal, connect
from harness import Program, Server, Session

LOOP = Program("loop.py")
Open = Callable[..., Editor]


def frame(body: bytes, length: int | None = None) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body) if length is None else length, body)


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"\x00\xff" * 10_000,
        b"Content-Length: many\r\n\r\n{}",
        b"Content-Length: 99999999999\r\n\r\n",
        frame(b"", 17 * 1024 * 1024),
        frame(b"{not json}"),
        frame(b"[1, 2]"),
        frame(b'"text"'),
        frame(b"\xff\xfe"),
    ],
)
def test_what_is_no_message_ends_that_connection_only(
    lobby: int, session: Session, data: bytes
) -> None:
    good, bad = connect(lobby), connect(lobby)
    try:
        good.attach(session=session.id)
        bad.attach(session=session.id)
        bad.send_raw(data)
        bad.wait_closed()
        assert good.ask("threads") == {"threads": []}
    finally:
        good.close()
        bad.close()


def test_half_a_message_and_then_nothing(lobby: int, session: Session) -> None:
    for part in (b"Content-Le", b"Content-Length: 100\r\n\r\n{", b""):
        with socket.create_connection(("127.0.0.1", lobby)) as link:
            link.sendall(part)
    assert session.get("/status")["status"] == "created"


def test_messages_in_any_number_of_pieces(lobby: int) -> None:
    editor = connect(lobby)
    try:
        whole = frame(json.dumps({"seq": 1, "type": "request", "command": "initialize"}).encode())
        for at in range(len(whole)):
            editor.send_raw(whole[at : at + 1])
        assert editor.answer(1)["supportsConfigurationDoneRequest"] is True
    finally:
        editor.close()


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"seq": 1},
        {"type": "request", "seq": "one", "command": "threads"},
        {"type": "request", "seq": 3, "command": 7},
        {"type": "request", "seq": 3, "command": "threads", "arguments": [1]},
        {"type": "request", "seq": 3, "command": "disassemble", "arguments": {}},
        {"type": "request", "seq": 3, "command": "stackTrace", "arguments": {"threadId": "one"}},
        {"type": "request", "seq": 3, "command": "stackTrace"},
        {"type": "request", "seq": 3, "command": "stackTrace", "arguments": {"threadId": 2**80}},
        {"type": "request", "seq": 3, "command": "scopes", "arguments": {"frameId": -(2**63)}},
        {"type": "request", "seq": 3, "command": "variables", "arguments": {"filter": 3}},
        {"type": "request", "seq": 3, "command": "scopes", "arguments": {"frameId": "\ud800"}},
        {"type": "request", "seq": 3, "command": "evaluate", "arguments": {"expression": None}},
        {"type": "request", "seq": 3, "command": "goto", "arguments": {"threadId": 1}},
        {"type": "request", "seq": 3, "command": "source", "arguments": {"sourceReference": 77}},
        {"type": "request", "seq": 3, "command": "setBreakpoints", "arguments": {"source": {}}},
        {
            "type": "request",
            "seq": 3,
            "command": "setBreakpoints",
            "arguments": {"source": {"path": "a\0b"}, "breakpoints": [{"line": -5}]},
        },
        {
            "type": "request",
            "seq": 3,
            "command": "setDataBreakpoints",
            "arguments": {"breakpoints": [{"dataId": 5}]},
        },
    ],
    ids=lambda message: json.dumps(message)[:60],
)
def test_a_request_that_makes_no_sense_is_refused_in_words(
    editor: Editor, message: dict[str, Any]
) -> None:
    editor.launch(LOOP, [LOOP.line("add")])
    thread = editor.wait_stop("breakpoint")["threadId"]
    seen = len(editor.messages)
    editor.send_raw(frame(json.dumps(message).encode()))
    answer = editor.wait_for(
        lambda m: m["seq"] > editor.messages[seen - 1]["seq"] and m["type"] == "response",
        "an answer",
    )
    if answer["success"]:
        assert not answer["body"]["breakpoints"][0]["verified"]
    else:
        assert answer["body"]["error"]["format"]
        assert "Traceback" not in json.dumps(answer)
        assert "report it" not in json.dumps(answer)
    editor.ask("next", threadId=thread)
    editor.wait_stop("step")


def test_requests_before_their_time_are_refused(editor: Editor, session: Session) -> None:
    for command in ("launch", "attach", "threads", "configurationDone", "nonsense"):
        with pytest.raises(Refusal):
            editor.answer(_post_raw(editor, command, 100 + len(editor.messages)))
    editor.initialize()
    with pytest.raises(Refusal, match="before"):
        editor.initialize()
    for command in ("threads", "configurationDone", "restart", "terminate"):
        with pytest.raises(Refusal, match="no session"):
            editor.ask(command)
    editor.ask("attach", session=session.id)
    with pytest.raises(Refusal, match="already"):
        editor.ask("attach", session=session.id)
    editor.ask("disconnect")


def _post_raw(editor: Editor, command: str, seq: int) -> int:
    message = {"seq": seq, "type": "request", "command": command, "arguments": {}}
    editor.send_raw(frame(json.dumps(message).encode()))
    return seq


@pytest.mark.timeout(600)
def test_an_editor_that_never_reads_is_dropped_and_holds_up_nobody(
    lobby: int, session: Session, tmp_path: Path
) -> None:
    script = tmp_path / "flood.py"
    script.write_text("for n in range(4000):\n    print('x' * 20000)\nprint('done')\n")
    link = socket.create_connection(("127.0.0.1", lobby))
    try:
        for seq, (command, arguments) in enumerate(
            [
                ("initialize", {"adapterID": "x"}),
                ("attach", {"session": session.id}),
                ("configurationDone", {}),
            ],
            1,
        ):
            message = {"seq": seq, "type": "request", "command": command, "arguments": arguments}
            link.sendall(frame(json.dumps(message).encode()))
        ended = session.launch(str(script), wait=0)
        while ended["status"] != "terminated":
            ended = session.get("/status?wait=50")
        assert (ended["status"], ended["exit_code"]) == ("terminated", 0)
    finally:
        link.close()


def test_many_requests_at_once_are_all_answered_in_order(editor: Editor) -> None:
    editor.launch(LOOP, [LOOP.line("add")])
    editor.wait_stop("breakpoint")
    body = {"source": {"path": LOOP.path}, "breakpoints": [{"line": LOOP.line("add")}]}
    numbers = range(1000, 1700)
    data = b"".join(
        frame(
            json.dumps(
                {"seq": n, "type": "request", "command": "setBreakpoints", "arguments": body}
            ).encode()
        )
        for n in numbers
    )
    editor.send_raw(data)
    editor.answer(numbers[-1])
    answered = [m["request_seq"] for m in editor.messages if m["type"] == "response"]
    assert [n for n in answered if n >= 1000] == list(numbers)


def test_editors_that_come_and_go_leave_nothing(server: Server, lobby: int) -> None:
    with server.session() as session:
        session.launch(LOOP, stop_on_entry=True)
        for _ in range(20):
            editor = connect(lobby)
            editor.attach(session=session.id)
            editor.wait_stop("entry")
            editor.close()
        files = os.listdir(f"/proc/{server.process.pid}/fd")
        assert len(files) < 200


# -- who may come in -------------------------------------------------------------------------------

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
INITIALIZE = b'{"seq": 1, "type": "request", "command": "initialize", "arguments": {}}'


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_of_this_machine_gets_no_answer(lobby: int, session: Session) -> None:
    for port in (lobby, session.get("/dap")["port"]):
        argv = [sys.executable, "-c", AS_NOBODY, str(port)]
        done = subprocess.run(
            argv, input=frame(INITIALIZE), capture_output=True, timeout=60, check=True
        )
        assert done.stdout == b"0\n"


def test_a_page_in_a_browser_gets_no_answer(lobby: int) -> None:
    for line in (b"POST / HTTP/1.1", b"POST /a:b HTTP/1.1", b"Host: localhost"):
        editor = connect(lobby)
        editor.send_raw(line + b"\r\n" + frame(INITIALIZE))
        editor.wait_closed()
        assert editor.messages == []
        editor.close()


def test_the_doors_are_open_on_loopback_only(lobby: int, session: Session) -> None:
    own = {lobby, session.get("/dap")["port"]}
    listening = {
        (parts[1].rpartition(":")[0], int(parts[1].rpartition(":")[2], 16))
        for parts in map(str.split, Path("/proc/net/tcp").read_text().splitlines()[1:])
        if parts[3] == "0A"
    }
    assert {host for host, port in listening if port in own} == {"0100007F"}


# -- the server ------------------------------------------------------------------------------------


def test_a_server_that_stops_says_good_bye_to_editors(tmp_path: Path) -> None:
    server = Server(tmp_path / "data")
    editor = connect(json.loads(server.ready_file.read_text())["dap_port"])
    idle = connect(server.get("/info")["dap_port"])
    try:
        editor.launch(LOOP, [LOOP.line("add")])
        editor.wait_stop("breakpoint")
        assert server.stop() == 0
        editor.wait_event("terminated")
        editor.wait_closed()
        idle.wait_closed()
    finally:
        editor.close()
        idle.close()
        server.close()


def test_a_server_with_a_token_wants_it_from_editors(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("a-good-secret")
    token.chmod(0o600)
    server = Server(tmp_path / "data", "--token-file", str(token))
    port = json.loads(server.ready_file.read_text())["dap_port"]
    editor = connect(port)
    try:
        editor.initialize()
        for given in ({}, {"token": "guess"}):
            with pytest.raises(Refusal, match="token"):
                editor.ask("launch", program=LOOP.path, **given)
            with pytest.raises(Refusal, match="token"):
                editor.ask("attach", **given)
            with pytest.raises(Refusal):
                editor.ask("threads")
        editor.ask("launch", program=LOOP.path, token="a-good-secret")
        editor.configure()
        editor.wait_event("terminated")
    finally:
        editor.close()
        server.stop()


def test_the_port_for_editors_can_be_chosen(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    server = Server(tmp_path / "data", "--dap-port", str(port))
    try:
        assert json.loads((tmp_path / "data" / "server.json").read_text())["dap_port"] == port
        assert server.get("/info")["dap_port"] == port
    finally:
        server.stop()
