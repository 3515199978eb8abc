"""Who gets in, and with what, asked of the real server; and what it leaves on the disk."""

from __future__ import annotations

import gzip
import json
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import psutil
import pytest

from harness import Program, Server
from holdfast.server.http_server import build_url
from polling import wait_until

LOOP = Program("loop.py")
MEGABYTE = 1024 * 1024


def address(server: Server) -> tuple[str, int]:
    parts = urlsplit(server.url)
    return "127.0.0.1", int(parts.port or 0)


def connect(server: Server) -> socket.socket:
    return socket.create_connection(address(server), timeout=60)


def raw(server: Server, sent: bytes) -> bytes:
    """All that the server says to these bytes, until it hangs up."""
    with connect(server) as caller:
        caller.sendall(sent)
        return read_all(caller)


def read_all(caller: socket.socket) -> bytes:
    said = b""
    while more := caller.recv(65536):
        said += more
    return said


def status(said: bytes) -> int:
    return int(said.split(b" ", 2)[1])


def code(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error_code"]


# -- the same user, on loopback ------------------------------------------------------------------

AS_NOBODY = """
import os, socket, sys
os.setgid(65534); os.setuid(65534)
caller = socket.socket()
caller.connect(("127.0.0.1", int(sys.argv[1])))
caller.sendall(b"GET /sessions HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
while said := caller.recv(65536):
    sys.stdout.buffer.write(said)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_of_this_machine_is_refused(server: Server) -> None:
    argv = [sys.executable, "-c", AS_NOBODY, str(address(server)[1])]
    said = subprocess.run(argv, capture_output=True, timeout=60, check=True).stdout
    assert status(said) == 403
    assert json.loads(said.partition(b"\r\n\r\n")[2])["error_code"] == "forbidden"


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "localhost.evil.example:5000"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:1"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
    ids=str,
)
@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/sessions"), ("POST", "/sessions"), ("GET", "/nowhere")]
)
def test_a_page_somebody_visits_gets_nowhere(
    server: Server, headers: dict[str, str], method: str, path: str
) -> None:
    before = server.list_ids()
    answer = server.http.request(method, path, headers=headers)
    assert code(answer) == (403, "forbidden")
    assert server.list_ids(but=before) == []


@pytest.mark.parametrize("type_", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_what_a_page_can_send_without_asking_is_no_request(server: Server, type_: str) -> None:
    headers = {"Content-Type": type_} if type_ else {}
    answer = server.http.post("/sessions", content=b'{"name": "x"}', headers=headers)
    assert code(answer) == (415, "unsupported_media_type")


def test_no_answer_opens_itself_to_other_origins(server: Server) -> None:
    for answer in (
        server.http.get("/health"),
        server.http.get("/nowhere"),
        server.http.options("/sessions", headers={"Access-Control-Request-Method": "POST"}),
    ):
        assert not [name for name in answer.headers if name.startswith("access-control")]
        assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "PUT", "TRACE", "BREW"])
def test_a_method_that_does_nothing_says_so(server: Server, method: str) -> None:
    answer = server.http.request(method, "/sessions")
    assert answer.status_code in (200, 204, 400, 405)
    assert method != "HEAD" or answer.content == b""
    assert server.get("/health")["status"] == "ok"


# -- bodies and heads ----------------------------------------------------------------------------


def memory(server: Server) -> int:
    return int(psutil.Process(server.process.pid).memory_info().rss)


def test_a_hundred_megabytes_are_refused_unread(server: Server) -> None:
    before = memory(server)

    def body() -> Iterator[bytes]:
        for _ in range(100):
            yield b" " * MEGABYTE

    headers = {"Content-Type": "application/json"}
    declared = {**headers, "Content-Length": str(100 * MEGABYTE)}
    for sent in (declared, headers):  # with its length, and in chunks
        answer = server.http.post("/sessions", content=body(), headers=sent)
        assert code(answer) == (413, "body_too_large")

    # What is read before a chunked body proves too long is at most the limit, and a copy.
    assert memory(server) - before < 100 * MEGABYTE


def test_half_a_request_holds_nobody_up(server: Server) -> None:
    half = [
        b"",
        b"POST /sessions HTT",
        b"POST /sessions HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
        b"POST /sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: 100\r\n\r\n{",
    ]
    callers = [connect(server) for _ in range(25) for _ in half]
    try:
        for number, caller in enumerate(callers):
            caller.sendall(half[number % len(half)])
        assert server.get("/health")["status"] == "ok"
        with server.session() as session:
            assert session.launch(LOOP)["exit_code"] == 0
    finally:
        for caller in callers:
            caller.close()
    assert server.get("/health")["status"] == "ok"


def test_requests_may_be_sent_before_their_turn(server: Server) -> None:
    one = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    last = b"GET /nowhere HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    said = raw(server, one * 20 + last)
    assert said.count(b"HTTP/1.1 200 OK") == 20
    assert said.count(b"HTTP/1.1 404 ") == 1
    assert said.index(b"HTTP/1.1 404") > said.rindex(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ({"Content-Encoding": "gzip"}, gzip.compress(b"{}")),
        ({"Content-Type": "application/json; charset=utf-7"}, b'{"name": "\xff\xfe"}'),
        ({"Content-Type": "application/json"}, b"\xff\xfe{\x00}\x00x"),
        ({"Content-Type": "application/json"}, b"[" * 100_000),
        ({"Content-Type": "application/json"}, b'{"name": "' + b"\\ud800" + b'"}'),
    ],
    ids=["gzip", "utf-7", "utf-16", "deep", "surrogate"],
)
def test_a_body_that_cannot_be_read_is_a_bad_request(
    server: Server, headers: dict[str, str], body: bytes
) -> None:
    sent = {"Content-Type": "application/json", **headers}
    answer = server.http.post("/sessions", content=body, headers=sent)
    assert answer.status_code in (201, 400, 415), answer.text
    if answer.status_code == 201:
        server.delete(f"/sessions/{answer.json()['session_id']}")
    else:
        assert answer.json()["error"]["hint"]


@pytest.mark.parametrize(
    "sent",
    [
        b"nonsense\r\n\r\n",
        b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
        b"POST /sessions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: rot13\r\n\r\n",
        b"POST /sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST /sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ],
    ids=["nonsense", "version", "encoding", "negative", "smuggled", "tls"],
)
def test_what_is_not_http_gets_an_answer_in_our_shape(server: Server, sent: bytes) -> None:
    said = raw(server, sent)
    assert status(said) == 400
    assert json.loads(said.partition(b"\r\n\r\n")[2])["error_code"] == "invalid_request"


@pytest.mark.parametrize(
    "more", [b"X-Header: " + b"x" * 1000 + b"\r\n", b"x" * 1000], ids=["many headers", "one header"]
)
def test_a_head_without_end_is_cut_off(server: Server, more: bytes) -> None:
    before = memory(server)
    with connect(server) as caller:
        caller.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-First: ")
        for _ in range(20_000):  # far more than it may be, and all of it is dropped
            caller.sendall(more)
        said = read_all(caller)
    assert status(said) == 431
    assert json.loads(said.partition(b"\r\n\r\n")[2])["error_code"] == "head_too_large"
    assert memory(server) - before < 10 * MEGABYTE


def test_a_request_with_many_headers_or_a_long_address_is_read(server: Server) -> None:
    headers = {f"X-{number}": "x" * 100 for number in range(200)}
    assert server.http.get("/health", headers=headers).status_code == 200
    assert server.http.get("/nowhere?" + "x" * 20_000).status_code == 404


# -- beyond loopback -----------------------------------------------------------------------------


def test_beyond_loopback_there_is_a_token_and_a_warning(tmp_path: Path) -> None:
    server = Server(tmp_path / "data", "--host", "0.0.0.0")
    try:
        token_file = tmp_path / "data" / "token"
        said = server.wait_for_log("WARNING")
        assert "other machines" in said
        assert "0.0.0.0" not in "".join(server.log)
        assert server.url == f"http://127.0.0.1:{address(server)[1]}"
        assert str(token_file) in said
        token = token_file.read_text().strip()
        assert len(token) >= 32
        assert stat.S_IMODE(token_file.stat().st_mode) == 0o600
        assert token not in "".join(server.log)
        here = f"http://127.0.0.1:{address(server)[1]}"
        with httpx.Client(base_url=here, timeout=60, trust_env=False) as client:
            for headers in (
                {},
                {"Authorization": "Bearer"},
                bearer("wrong"),
                {"Authorization": token},
            ):
                for path in ("/health", "/sessions", "/openapi.json", "/nowhere"):
                    answer = client.get(path, headers=headers)
                    assert code(answer) == (401, "unauthorized")
                    assert answer.headers["www-authenticate"] == "Bearer"
            answer = client.get("/health", headers=bearer(token))
            assert answer.json()["status"] == "ok"
            foreign = {**bearer(token), "Origin": "http://evil.example"}
            assert code(client.get("/sessions", headers=foreign)) == (403, "forbidden")
    finally:
        server.stop()

    again = Server(tmp_path / "data", "--host", "0.0.0.0")
    try:
        again.http.headers.update(bearer(token))
        assert again.http.get(f"http://127.0.0.1:{address(again)[1]}/health").status_code == 200
    finally:
        again.stop()


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:5000"),
        ("::1", "http://[::1]:5000"),
        ("0.0.0.0", "http://127.0.0.1:5000"),
        ("::", "http://[::1]:5000"),
        ("192.0.2.7", "http://192.0.2.7:5000"),
    ],
)
def test_what_is_announced_is_an_address_to_visit(host: str, url: str) -> None:
    assert build_url(host, 5000) == url


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_a_token_may_be_chosen(tmp_path: Path) -> None:
    server = Server(tmp_path / "data", "--host", "0.0.0.0", env={"HOLDFAST_TOKEN": "open sesame"})
    try:
        where = f"http://127.0.0.1:{address(server)[1]}/health"
        assert server.http.get(where).status_code == 401
        assert server.http.get(where, headers=bearer("open sesame")).status_code == 200
        assert not (tmp_path / "data" / "token").exists()
    finally:
        server.stop()


def test_no_process_of_the_server_has_the_token(tmp_path: Path) -> None:
    """Not its warden, no interpreter that waits for a program, no program and none of its own."""
    token = "open-sesame-a3f1"
    options = ("--pool-size", "1")
    server = Server(tmp_path / "data", *options, env={"HOLDFAST_TOKEN": token})
    try:
        assert server.http.get("/health").status_code == 401  # on loopback, too
        server.http.headers.update(bearer(token))
        wait_until(lambda: sum(server.get("/info")["warm_interpreters"].values()), "a warm one")
        with server.session() as session:
            code = "import os, subprocess, sys\nprint(os.environ.get('HOLDFAST_TOKEN'))\n"
            code += "child = subprocess.Popen([sys.executable, '-c', 'input()'], stdin=-1)\n"
            code += "print(1)\nchild.wait()\n"
            session.post("/launch", {"code": code, "wait": False})
            wait_until(lambda: session.output().endswith("1\n"), "the child to run")
            assert session.output() == "None\n1\n"
            processes = psutil.Process(server.process.pid).children(recursive=True)
            assert len(processes) >= 4
            for process in processes:
                found = Path(f"/proc/{process.pid}/environ").read_bytes()
                assert token.encode() not in found, process.cmdline()
            assert token not in str([process.cmdline() for process in processes])
    finally:
        server.stop()


def test_by_default_nobody_else_can_connect(server: Server) -> None:
    listening = [
        each.laddr.ip
        for each in psutil.Process(server.process.pid).net_connections("inet")
        if each.status == psutil.CONN_LISTEN
    ]
    assert set(listening) == {"127.0.0.1"}


# -- on the disk ---------------------------------------------------------------------------------


def modes(folder: Path) -> dict[str, int]:
    return {
        str(path.relative_to(folder.parent)): stat.S_IMODE(path.stat().st_mode)
        for path in [folder, *folder.rglob("*")]
    }


def test_what_is_kept_is_for_its_owner_alone(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        server = Server(tmp_path / "deep" / "data")
    finally:
        os.umask(old)
    try:
        with server.session(name="mine") as session:
            session.break_at(LOOP, "add")
            session.launch(LOOP)
            found = modes(tmp_path / "deep" / "data")
    finally:
        server.stop()
    found.update(modes(tmp_path / "deep" / "data"))
    assert {name for name in found if "server.json" in name}
    for folder in ("data", "data/agents", "data/agents/sessions"):
        assert found.pop(folder) == 0o700
    assert {name: oct(mode) for name, mode in found.items() if mode != 0o600} == {}


def test_an_open_data_directory_is_tightened_and_told_of(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    data.chmod(0o755)
    (tmp_path / "victim").write_text("precious")
    (data / "server.json").symlink_to(tmp_path / "victim")
    server = Server(data)
    try:
        assert modes(data)["data"] == 0o700
        [warning] = server.get("/health")["warnings"]
        assert warning["code"] == "DATA_DIRECTORY_OPEN"
        assert "mode 0755" in warning["message"]
        assert any("mode 0755" in line for line in server.log)
        assert not (data / "server.json").is_symlink()
    finally:
        server.stop()
    assert (tmp_path / "victim").read_text() == "precious"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's directory")
def test_the_data_directory_of_another_user_is_refused(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    os.chown(data, 65534, 65534)
    argv = [sys.executable, "-m", "holdfast", "serve", "--port", "0", "--data-dir", str(data)]
    ran = subprocess.run(argv, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 1
    assert "belongs to user nobody, not to you" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_ready_file_is_private_too(server: Server) -> None:
    assert stat.S_IMODE(server.ready_file.stat().st_mode) == 0o600


# -- no code outside the target ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/breakpoints", {"line": 1, "condition": "__import__('os').mknod({trap!r})"}),
        ("/breakpoints", {"line": 1, "log_message": "{__import__('os').mknod({trap!r})}"}),
        ("/evaluate", {"expression": "__import__('os').mknod({trap!r})"}),
        ("/watch", {"expression": "__import__('os').mknod({trap!r})"}),
    ],
)
def test_an_expression_runs_in_the_target_or_nowhere(
    server: Server, tmp_path: Path, path: str, body: dict[str, object]
) -> None:
    trap = tmp_path / "trap"
    filled = {
        key: value.replace("{trap!r}", repr(str(trap))) if isinstance(value, str) else value
        for key, value in body.items()
    }
    with server.session() as session:
        server.http.post(session.path(path), json={"file": LOOP.path, **filled})
        server.http.get(session.path("/watch"))
        server.http.get(session.path("/breakpoints"))
    assert not trap.exists()


def test_a_file_is_compiled_never_run_to_verify_a_breakpoint(
    server: Server, tmp_path: Path
) -> None:
    trap, script = tmp_path / "trap", tmp_path / "script.py"
    script.write_text(f"open({str(trap)!r}, 'w')\n")
    with server.session() as session:
        made = session.post("/breakpoints", {"file": str(script), "line": 1})
        session.post("/breakpoints", {"function": "script.main"})
        assert made["verified"] is True
    assert not trap.exists()
