"""Who gets in, over real HTTP: uvicorn on a free port, httpx and raw sockets as callers."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import os
import re
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
import uvicorn
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from holdfast.server import connection_limits
from holdfast.server.access_control import AccessControl, Policy
from holdfast.server.http_protocol import (
    BoundedHttpProtocol,
    CheckedHttpProtocol,
    choose_http_protocol,
    may_connect,
)
from holdfast.trust import kernel_sockets, socket_tables
from polling import wait_until

MAX_BODY = 1000
LOOPBACK = Policy(loopback=True, token=None, max_body=MAX_BODY)
ELSEWHERE = Policy(loopback=False, token="open sesame", max_body=MAX_BODY)


@dataclass
class Echo:
    """An application that says how long the body was, and remembers that it was asked."""

    asked: list[str] = field(default_factory=list)
    headers: list[str] = field(default_factory=list)
    answer_slowly: threading.Event = field(default_factory=threading.Event)
    """The application waits for it before it answers `/slow`."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.asked.append(scope["path"])
        if scope["path"] == "/slow":
            await asyncio.to_thread(self.answer_slowly.wait, 60)
        length, more = 0, True
        while more:
            message = await receive()
            length += len(message.get("body", b""))
            more = message.get("more_body", False)
        self.headers = [name.decode() for name, _ in scope["headers"]]
        body = json.dumps({"length": length}).encode()
        headers = [
            (b"content-length", str(len(body)).encode()),
            (b"access-control-allow-origin", b"*"),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


@dataclass(frozen=True)
class Served:
    app: Echo
    host: str
    port: int

    @property
    def url(self) -> str:
        return f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    def request(self, method: str = "GET", **options: Any) -> httpx.Response:
        with httpx.Client(timeout=60, trust_env=False, verify=False) as client:  # no TLS to set up
            return client.request(method, self.url + "/health", **options)

    def connect(self) -> socket.socket:
        return socket.create_connection((self.host, self.port), timeout=60)

    def raw(self, sent: bytes) -> bytes:
        """What the server says to these bytes: one answer, or all until it hangs up."""
        with self.connect() as caller:
            caller.sendall(sent)
            said = b""
            while not is_complete(said) and (more := caller.recv(65536)):
                said += more
            return said


def is_complete(said: bytes) -> bool:
    head, end, body = said.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head)
    return bool(end) and length is not None and len(body) == int(length[1])


@contextmanager
def serve(
    policy: Policy = LOOPBACK,
    host: str = "127.0.0.1",
    protocol: type[HttpToolsProtocol] | None = None,
) -> Iterator[Served]:
    app = Echo()
    listener = socket.create_server(
        (host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=256
    )
    config = uvicorn.Config(
        AccessControl(app, policy),
        http=protocol or choose_http_protocol(policy),
        loop="uvloop",
        ws="none",
        lifespan="off",
        log_config=None,
        proxy_headers=False,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield Served(app, host, listener.getsockname()[1])
    finally:
        # uvicorn waits for every connection it knows of: a forgotten one would show here.
        server.should_exit = True
        thread.join(timeout=60)
        assert not thread.is_alive()


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serve() as served:
        yield served


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Served]:
    with serve(ELSEWHERE) as served:
        yield served


def read_all(caller: socket.socket) -> bytes:
    said = b""
    while more := caller.recv(65536):
        said += more
    return said


def is_readable(caller: socket.socket) -> bool:
    return bool(select.select([caller], [], [], 0)[0])


def is_refused(response: httpx.Response, status: int, code: str) -> bool:
    body = response.json()
    assert set(body) == {"error", "error_code"}
    assert set(body["error"]) == {"code", "message", "hint", "details"}
    assert all(body["error"][part] for part in ("code", "message", "hint"))
    assert response.headers["content-type"] == "application/json"
    assert response.headers["x-content-type-options"] == "nosniff"
    return (response.status_code, body["error"]["code"]) == (status, code)


# -- what works with no set-up -------------------------------------------------------------------


def test_the_same_user_needs_no_set_up(served: Served) -> None:
    response = served.request()
    assert (response.status_code, response.json()) == (200, {"length": 0})


def test_every_answer_is_hardened_and_none_opens_itself_to_other_origins(served: Served) -> None:
    headers = served.request().headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert not [name for name in headers if name.startswith("access-control-")]


def test_ipv6_loopback_is_loopback() -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    with serve(host="::1") as served:
        assert served.request().status_code == 200


def test_a_hundred_connections_at_once_are_all_known(served: Served) -> None:
    with ExitStack() as stack:
        callers = [stack.enter_context(served.connect()) for _ in range(100)]
        for caller in callers:
            caller.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        answers = [read_all(caller) for caller in callers]
    assert {answer.split(b"\r\n")[0] for answer in answers} == {b"HTTP/1.1 200 OK"}


@pytest.mark.parametrize("host", ["localhost:9", "LOCALHOST", "127.0.0.1", "127.8.9.1:80", "[::1]"])
def test_a_loopback_host_may_have_any_port(served: Served, host: str) -> None:
    assert served.request(headers={"Host": host}).status_code == 200


# -- other users of the machine ------------------------------------------------------------------

AS_NOBODY = """
import os, socket, sys
os.setgid(65534); os.setuid(65534)
caller = socket.socket()
caller.connect(("127.0.0.1", int(sys.argv[1])))
caller.sendall(b"POST / HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Length: 9\\r\\n\\r\\nsome body")
while said := caller.recv(65536):
    sys.stdout.buffer.write(said)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_is_refused_before_the_request_is_read() -> None:
    with serve() as served:
        command = [sys.executable, "-c", AS_NOBODY, str(served.port)]
        said = subprocess.run(command, capture_output=True, timeout=60, check=True).stdout
        head, _, body = said.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 403 Forbidden\r\n")
        assert json.loads(body)["error_code"] == "forbidden"
        assert served.app.asked == []
        assert served.request().status_code == 200


class ForNobody(CheckedHttpProtocol):
    """Refuses everyone, so that any user who runs these tests can see how it is done."""

    users = frozenset()


def test_a_refused_caller_learns_why_whatever_it_sends() -> None:
    with serve(protocol=ForNobody) as served:
        assert is_refused(served.request(), 403, "REQUEST_REFUSED")
        large = b"x" * 5_000_000
        assert is_refused(served.request("POST", content=large), 403, "REQUEST_REFUSED")
        assert served.app.asked == []


def test_a_refused_client_that_stays_is_disconnected(limits: Callable[..., None]) -> None:
    limits(refusal_read=0.05)
    with serve(protocol=ForNobody) as served, served.connect() as caller:
        assert read_all(caller).startswith(b"HTTP/1.1 403 ")
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            send_for_ever(caller)


def send_for_ever(caller: socket.socket) -> None:
    while True:
        caller.sendall(b"x" * 1000)


def test_a_caller_from_elsewhere_is_not_on_loopback() -> None:
    users = CheckedHttpProtocol.users
    assert not may_connect(("192.0.2.1", 4000), ("192.0.2.2", 5000), users)
    assert not may_connect(None, ("127.0.0.1", 5000), users)


@pytest.mark.parametrize(
    "problem",
    [OSError(errno.EMFILE, "Too many open files"), PermissionError(), ValueError("nonsense")],
    ids=["no descriptor", "unreadable table", "malformed row"],
)
def test_a_client_that_cannot_be_checked_is_refused(
    problem: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(local: object, remote: object) -> None:
        raise problem

    monkeypatch.setattr(kernel_sockets, "find_socket", lambda local, remote: None)
    monkeypatch.setattr(kernel_sockets, "is_reliable", lambda: False)
    monkeypatch.setattr(socket_tables, "find_socket", fail)
    with serve() as served:
        assert is_refused(served.request(), 503, "SERVER_OVERLOADED")
        assert served.app.asked == []


def test_a_client_that_the_kernel_does_not_know_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if it was quick to close: the tables are not searched for it."""
    monkeypatch.setattr(kernel_sockets, "find_socket", lambda local, remote: None)
    monkeypatch.setattr(kernel_sockets, "is_reliable", lambda: True)
    with serve() as served:
        assert is_refused(served.request(), 403, "REQUEST_REFUSED")
        assert served.app.asked == []


# -- how much, how slowly and how often ----------------------------------------------------------

HEAD = b"POST /health HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


class Narrow(CheckedHttpProtocol):
    max_head_bytes = 1000


@pytest.mark.parametrize(
    ("sent", "more"),
    [
        (b"POST /health", b"x"),
        (b"\r\n", b"\r\n"),
        (HEAD + b"Content-Length: 500\r\n\r\n[", b" "),
        (CHUNKED + b"1\r\n[\r\n", b"1\r\n \r\n"),
        (CHUNKED + b"2\r\n[]\r\n0\r\nTrailer: ", b"x"),
    ],
    ids=["head", "empty lines", "body", "chunks", "trailers"],
)
def test_a_request_has_one_deadline_for_all_of_it(
    sent: bytes, more: bytes, limits: Callable[..., None]
) -> None:
    """However little comes, and however often: time is not given anew for each byte."""
    limits(request_head=0.2, whole_request=0.4)
    with serve(protocol=CheckedHttpProtocol) as served, served.connect() as caller:
        caller.sendall(sent)
        caller.settimeout(0.02)
        said = b""
        while not said:
            caller.sendall(more)
            with contextlib.suppress(TimeoutError, socket.timeout):
                said = caller.recv(65536)
        assert said.startswith(b"HTTP/1.1 408 ")
        limits(request_head=60, whole_request=60)
        assert served.request().status_code == 200


def test_a_request_that_waits_for_an_answer_is_not_late(limits: Callable[..., None]) -> None:
    """Neither is the next one, of which a part is there already."""
    deadlines = threading.Semaphore(0)

    class Announcing(CheckedHttpProtocol):
        def _on_late(self) -> None:
            super()._on_late()
            deadlines.release()

    with serve(protocol=Announcing) as served, served.connect() as caller:
        caller.sendall(b"GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n")
        wait_until(lambda: served.app.asked, "the request")
        limits(request_head=0.05)
        caller.sendall(b"GET /next HTTP/1.1\r\nHo")
        for _ in range(2):
            assert deadlines.acquire(timeout=60)
        assert not is_readable(caller)
        limits(request_head=60)
        caller.sendall(b"st: localhost\r\nConnection: close\r\n\r\n")
        served.app.answer_slowly.set()
        assert read_all(caller).count(b"HTTP/1.1 200 ") == 2


@pytest.mark.parametrize(
    "sent",
    [
        CHUNKED + b"2\r\n[]\r\n0\r\nTrailer: ",
        CHUNKED + b"2\r\n[]\r\n0\r\n",
        CHUNKED + b"2;extension=",
    ],
    ids=["one trailer", "many trailers", "extension of a chunk"],
)
def test_what_is_no_body_is_limited_after_the_head_too(sent: bytes) -> None:
    with serve(protocol=Narrow) as served, served.connect() as caller:
        caller.sendall(sent)
        with contextlib.suppress(OSError):
            while not is_readable(caller):  # what comes together with the head is not counted
                caller.sendall(b"X: y\r\n" * 10 if sent.endswith(b"0\r\n") else b"y" * 100)
        assert read_all(caller).startswith(b"HTTP/1.1 431 ")


def test_trailers_do_not_become_headers() -> None:
    with serve() as served:
        said = served.raw(CHUNKED + b"2\r\n[]\r\n0\r\nOrigin: http://evil.example\r\n\r\n")
        assert said.startswith(b"HTTP/1.1 200 ")
        assert "origin" not in served.app.headers


TOKEN = {"Authorization": f"Bearer {ELSEWHERE.token}"}


def test_unknown_clients_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_limits, "MAX_UNKNOWN", 5)
    with serve(ELSEWHERE, protocol=BoundedHttpProtocol) as served, ExitStack() as stack:
        assert served.request(headers=TOKEN).status_code == 200
        callers = [stack.enter_context(served.connect()) for _ in range(20)]
        for caller in callers[:15]:
            with contextlib.suppress(ConnectionResetError):
                assert caller.recv(1) == b""  # closed, to make room for the others
        for caller in callers[15:]:
            caller.sendall(b"GET /sessions HTTP/1.1\r\nHost: elsewhere\r\n\r\n")
            assert caller.recv(65536).startswith(b"HTTP/1.1 401 ")
        assert served.request(headers=TOKEN).status_code == 200


def test_unknown_clients_leave_soon(limits: Callable[..., None]) -> None:
    with serve(ELSEWHERE, protocol=BoundedHttpProtocol) as served, ExitStack() as stack:
        limits(unknown_client=0.05)
        for caller in [stack.enter_context(served.connect()) for _ in range(5)]:
            assert read_all(caller) == b""
        limits(unknown_client=60)
        assert served.request(headers=TOKEN).status_code == 200


def test_refused_clients_that_stay_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_limits, "MAX_REFUSED", 3)
    with serve(protocol=ForNobody) as served, ExitStack() as stack:
        callers = [stack.enter_context(served.connect()) for _ in range(10)]
        for caller in callers:
            with contextlib.suppress(ConnectionResetError):
                read_all(caller)
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            send_for_ever(callers[0])


# -- web pages -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "localhost.evil.example:5000",
        "evil.localhost",
        "127.0.0.1.evil.example",
        "127.0.0.1:5000@evil.example",
        "10.0.0.1:5000",
        "[::2]:5000",
        "localhost:5000, evil.example",
        "",
    ],
)
def test_a_rebound_name_is_refused(served: Served, host: str) -> None:
    assert is_refused(served.request(headers={"Host": host}), 403, "REQUEST_REFUSED")


def test_a_second_host_does_not_hide_behind_the_first(served: Served) -> None:
    said = served.raw(
        b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
    )
    assert said.startswith((b"HTTP/1.1 403 ", b"HTTP/1.1 400 "))


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "http://localhost:1",
        "http://localhost",
        "https://localhost:{port}",
        "http://localhost:{port}.evil.example",
        "http://evil.example:{port}",
        "http://127.0.0.2:{port}",
        "http://127.0.0.1:{port}/",
        "http://user@127.0.0.1:{port}",
        "http:127.0.0.1:{port}",
    ],
)
def test_a_foreign_origin_is_refused(served: Served, origin: str) -> None:
    headers = {"Origin": origin.format(port=served.port)}
    for method in ("GET", "POST", "OPTIONS"):
        assert is_refused(served.request(method, headers=headers), 403, "REQUEST_REFUSED")


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "[::1]"])
def test_our_own_page_may_ask(served: Served, name: str) -> None:
    place = f"{name}:{served.port}"
    headers = {"Host": place, "Origin": f"http://{place}", "Sec-Fetch-Site": "same-origin"}
    assert served.request("POST", headers=headers, json={}).status_code == 200


def test_a_page_of_another_site_is_refused_even_without_an_origin(served: Served) -> None:
    response = served.request(headers={"Sec-Fetch-Site": "cross-site"})
    assert is_refused(response, 403, "REQUEST_REFUSED")


# -- bodies --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "type_", ["text/plain", "application/x-www-form-urlencoded", "text/plain+json", "", None]
)
def test_a_body_that_is_not_json_is_refused(served: Served, type_: str | None) -> None:
    headers = {} if type_ is None else {"Content-Type": type_}
    response = served.request("POST", content=b'{"a": 1}', headers=headers)
    assert is_refused(response, 415, "BODY_NOT_JSON")
    response = served.request("POST", content=iter([b'{"a"', b": 1}"]), headers=headers)
    assert is_refused(response, 415, "BODY_NOT_JSON")


@pytest.mark.parametrize("type_", ["application/json", "Application/JSON; charset=utf-8"])
def test_json_is_let_in_whole(served: Served, type_: str) -> None:
    headers = {"Content-Type": type_}
    for body in (b"[1, 2]", iter([b"[1,", b" 2]"])):
        assert served.request("POST", content=body, headers=headers).json() == {"length": 6}
    flavour = {"Content-Type": "application/vnd.api+json"}
    assert served.request("PATCH", content=b"{}", headers=flavour).json() == {"length": 2}


def test_no_body_needs_no_type(served: Served) -> None:
    assert served.request("POST").json() == {"length": 0}
    assert served.request("POST", content=iter([])).json() == {"length": 0}


def test_a_body_at_the_limit_is_let_in(served: Served) -> None:
    headers = {"Content-Type": "application/json"}
    body = b"1" * MAX_BODY
    assert served.request("POST", content=body, headers=headers).json() == {"length": MAX_BODY}


def test_a_declared_length_is_refused_before_the_body_is_read(served: Served) -> None:
    said = served.raw(  # no byte of the body follows
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: 1000000000\r\n\r\n"
    )
    assert said.startswith(b"HTTP/1.1 413 ")
    assert b'"max_bytes":1000' in said


def test_a_chunked_body_is_refused_while_it_streams(served: Served) -> None:
    asked = len(served.app.asked)
    said = served.raw(  # the last chunk never comes
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n"
        + b"1F4\r\n"
        + b"1" * 500
        + b"\r\n"
        + b"1F5\r\n"
        + b"1" * 501
        + b"\r\n"
    )
    assert said.startswith(b"HTTP/1.1 413 ")
    assert len(served.app.asked) == asked


def test_a_large_upload_still_learns_why(served: Served) -> None:
    response = served.request("POST", json=["x" * 3_000_000])
    assert is_refused(response, 413, "BODY_TOO_LARGE")


# -- beyond loopback -----------------------------------------------------------------------------


def test_beyond_loopback_there_is_no_policy_without_a_token() -> None:
    for token in (None, ""):
        with pytest.raises(ValueError, match="token"):
            Policy(loopback=False, token=token, max_body=MAX_BODY)


@pytest.mark.parametrize(
    "authorization",
    [None, "Bearer", "Bearer wrong", "Bearer open", "Basic open sesame", "open sesame"],
)
def test_without_the_token_every_route_is_closed(
    elsewhere: Served, authorization: str | None
) -> None:
    headers = {} if authorization is None else {"Authorization": authorization}
    response = elsewhere.request(headers=headers)
    assert is_refused(response, 401, "TOKEN_REQUIRED")
    assert response.headers["www-authenticate"] == "Bearer"
    assert elsewhere.app.asked == []


def test_with_the_token_any_host_name_will_do() -> None:
    with serve(ELSEWHERE) as served:
        headers = {"Authorization": "bearer open sesame", "Host": "debug.example:5000"}
        assert served.request(headers=headers).status_code == 200
        own = {**headers, "Origin": "http://debug.example:5000"}
        assert served.request(headers=own).status_code == 200
        for origin in ("https://debug.example:5000", "http://debug.example", "http://evil.example"):
            foreign = {**headers, "Origin": origin}
            assert is_refused(served.request(headers=foreign), 403, "REQUEST_REFUSED")


def test_on_loopback_a_token_is_needed_too() -> None:
    with serve(Policy(loopback=True, token="open sesame", max_body=MAX_BODY)) as served:
        for headers in ({}, {"Authorization": "Bearer wrong"}):
            assert is_refused(served.request(headers=headers), 401, "TOKEN_REQUIRED")
        assert served.request(headers={"Authorization": "Bearer open sesame"}).status_code == 200
