"""HTTP/1.1 to the server over plain sockets: one kept-open connection for each thread.

An intercepted call waits for two requests, so a general client would be most of its cost. Answers
are parsed as their bytes arrive (`_AnswerParser`), which the blocking and the asyncio requests
share.
"""

from __future__ import annotations

import _socket
import functools
import json
import os
import select
import socket
import threading
from typing import Any
from urllib.parse import urlsplit

from holdfast import timings
from holdfast.client import discovery, server_check
from holdfast.client.exceptions import DebugProtocolError, DebugServerError

_RECEIVE_BYTES = 1 << 16
_MAX_HEAD_BYTES = 1 << 16
_MAX_HEADS = 64
_MAX_PROOF_BYTES = 1 << 16
_decode_first = json.JSONDecoder().raw_decode
_LOOPBACK = ("localhost", "127.0.0.1", "::1", "ip6-localhost")


def parse_address(url: str) -> tuple[str, int]:
    """Returns the host and port of a server's URL; ValueError if it is none."""
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        host, port = parts.hostname or "", parts.port or 80
    except ValueError:
        host = ""
    if not host or parts.scheme != "http":
        raise ValueError(f"{url!r} is no address; one looks like http://localhost:5000")
    return host, port


def require_loopback(url: str) -> None:
    """Raises ValueError unless the server is on this machine."""
    host, _ = parse_address(url)
    if not _is_loopback_name(host):
        raise ValueError(f"the server must be on this machine (localhost), and {host!r} is not")


def _is_loopback_name(host: str) -> bool:
    parts = host.split(".")
    is_ipv4_loopback = len(parts) == 4 and parts[0] == "127" and all(map(str.isdecimal, parts))
    return host.lower() in _LOOPBACK or is_ipv4_loopback


class ApiError(Exception):
    """The server answered with an error, in its own words."""

    def __init__(self, status: int, body: dict[str, Any]) -> None:
        error = body.get("error")
        self.status = status
        self.body = body
        self.hint = error.get("hint", "") if isinstance(error, dict) else ""
        super().__init__(error.get("message", "") if isinstance(error, dict) else str(error))


class Reply:
    """An answer's status and body."""

    __slots__ = ("body", "status")

    def __init__(self, status: int, body: bytes) -> None:
        self.status = status
        self.body = body

    def json(self) -> Any:
        try:
            text = self.body.decode()
            value, end = _decode_first(text)
            # `loads` looks for other encodings and for blanks, which takes longer than decoding.
            return value if end == len(text) else json.loads(text)
        except ValueError:
            raise DebugProtocolError(
                f"the server's answer is not JSON: {self.body[:200]!r}"
            ) from None

    def error_message(self) -> str:
        """What the server says is wrong; the raw body if it says nothing."""
        try:
            body = json.loads(self.body)
            error = body.get("error")
            nested = isinstance(error, dict)
            return str(error.get("message") if nested else body.get("message") or error)
        except (ValueError, AttributeError):
            return repr(self.body[:200])


class _ConnectionClosed(Exception):
    """The connection ended before the answer did."""

    def __init__(self, has_begun: bool) -> None:
        super().__init__()
        self.has_begun = has_begun  # whether part of the answer had arrived


class _AnswerParser:
    """Assembles one answer from the bytes that arrive."""

    __slots__ = ("_body", "_head", "_is_chunked", "_length", "_received", "closes", "status")

    def __init__(self) -> None:
        self._head = b""
        self._body: list[bytes] | None = None  # None until the head is complete
        self._received = 0
        self._length: int | None = None
        self._is_chunked = False
        self.status = 0
        self.closes = False

    @property
    def has_begun(self) -> bool:
        return bool(self._head)

    def feed(self, data: bytes) -> bytes | None:
        """Returns the body once it is complete. No data means that the server hung up."""
        if self._body is None:
            self._head += data
            rest = self._parse_head()
            if rest is None:
                if not data:
                    raise _ConnectionClosed(self.has_begun)
                return None
            self._body = []
        else:
            rest = data
        self._body.append(rest)
        self._received += len(rest)
        return self._complete_body(self._body, has_ended=not data)

    def _parse_head(self) -> bytes | None:
        """Reads the status and the headers; returns the bytes after them."""
        end = self._head.find(b"\r\n\r\n")
        if end < 0:
            if len(self._head) > _MAX_HEAD_BYTES or not b"HTTP/".startswith(self._head[:5]):
                raise DebugProtocolError(f"that is no HTTP server: {self._head[:60]!r}")
            return None
        self.status, self._length, self._is_chunked, self.closes = _parse_head(self._head[:end])
        return self._head[end + 4 :]

    def _complete_body(self, parts: list[bytes], has_ended: bool) -> bytes | None:
        body = None
        if self._is_chunked:
            body = _join_chunks(b"".join(parts))
        elif self._length is not None:
            if self._received >= self._length:
                body = b"".join(parts)[: self._length]
        elif has_ended:  # without a length the body lasts until the server hangs up
            body, self.closes = b"".join(parts), True
        if body is None and has_ended:
            raise _ConnectionClosed(has_begun=True)
        return body


@functools.lru_cache(_MAX_HEADS)
def _parse_head(head: bytes) -> tuple[int, int | None, bool, bool]:
    """The status, the length, whether the body is chunked, and whether the server hangs up.

    For a second, until its date changes, a server's head is the same for answers of one length.
    """
    first, *lines = head.split(b"\r\n")
    try:
        status = int(first.split(b" ", 2)[1])
        headers = dict(line.lower().split(b":", 1) for line in lines)
        length = headers.get(b"content-length")
        size = None if length is None else int(length)
    except (ValueError, IndexError):
        raise DebugProtocolError(f"the answer is not HTTP: {first[:60]!r}") from None
    is_chunked = b"chunked" in headers.get(b"transfer-encoding", b"")
    closes = b"close" in headers.get(b"connection", b"") or first.startswith(b"HTTP/1.0")
    return status, size, is_chunked, closes


def _join_chunks(data: bytes) -> bytes | None:
    """The body of a chunked answer; None while chunks are missing."""
    chunks: list[bytes] = []
    at = 0
    while True:
        end = data.find(b"\r\n", at)
        if end < 0:
            return None
        try:
            size = int(data[at:end].split(b";")[0], 16)
        except ValueError:
            raise DebugProtocolError("the server's answer has a chunk without a size") from None
        at = end + 2 + size + 2
        if len(data) < at:
            return None
        if not size:
            return b"".join(chunks)
        chunks.append(data[end + 2 : at - 2])


class _OpenSocket:
    """A connected socket. It closes when nobody refers to it: with its thread, or its client."""

    __slots__ = ("_poll", "fork_count", "sock")

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.fork_count = _fork_count
        self._poll = select.poll()
        self._poll.register(sock, select.POLLIN)

    def is_quiet(self) -> bool:
        """Whether there is nothing to read. Before we asked, that is the server's goodbye."""
        return not self._poll.poll(0)

    def __del__(self) -> None:
        _close(self.sock)  # a single C call: the stack may have no room for more


_close = _socket.socket.close


class _ThreadSocket(threading.local):
    """The socket of the current thread."""

    current: _OpenSocket | None = None

    def __init__(self) -> None:
        self.spoilt: list[_OpenSocket] = []  # to be closed when the stack has room for it


_fork_count = 0


def _count_fork() -> None:
    """A child must not speak on its parent's connections."""
    global _fork_count
    _fork_count += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)


class _Place:
    """Where a server is, and the lines of a request that say so. It never changes."""

    __slots__ = ("host", "host_line", "port", "tail", "url")

    def __init__(self, url: str, token: str | None) -> None:
        self.url = url
        try:
            self.host, self.port = parse_address(url)
        except ValueError as problem:
            raise DebugServerError(str(problem)) from None
        host = f"[{self.host}]" if ":" in self.host else self.host
        token = token or self._find_token()
        authorization = f"Authorization: Bearer {token}\r\n" if token else ""
        self.host_line = f"Host: {host}:{self.port}\r\n"
        self.tail = f" HTTP/1.1\r\n{self.host_line}{authorization}".encode()

    def _find_token(self) -> str | None:
        """`HOLDFAST_TOKEN`, else what the announced server wants, if this is its address."""
        given = os.environ.get("HOLDFAST_TOKEN")
        announced = None if given else discovery.announced_token()
        if announced is None:
            return given
        url, token = announced
        try:
            host, port = parse_address(url)
        except ValueError:  # it was edited
            return None
        is_same_host = host == self.host or (
            _is_loopback_name(host) and _is_loopback_name(self.host)
        )
        return token if is_same_host and port == self.port else None


class HttpClient:
    """Requests to one server, from any thread of this process and of those forked from it.

    With `follows` it is the server of the data directory, wherever that announces it: when nobody
    answers, the announcement is read again.
    """

    def __init__(
        self,
        url: str,
        *,
        timeout: float | None = None,
        token: str | None = None,
        follows: bool = False,
    ) -> None:
        self.timeout = timings.TIMINGS.request if timeout is None else timeout
        self._token = token
        self._follows = follows
        self._place = _Place(url, token)
        self._thread_socket = _ThreadSocket()

    @property
    def url(self) -> str:
        return self._place.url

    # -- JSON -----------------------------------------------------------------------------------

    def request(self, method: str, path: str, body: Any = None) -> Any:
        """Sends and receives JSON; an error answer raises ApiError."""
        reply = self.ask(method, path, b"" if body is None else json.dumps(body).encode())
        return _parse_api_answer(_require_success(reply))

    def get_bytes(self, path: str) -> bytes:
        """The body as it is; an error answer raises ApiError."""
        return _require_success(self.ask("GET", path)).body

    # -- one request ----------------------------------------------------------------------------

    def ask(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        *,
        wait: float = 0.0,
        kind: bytes = b"application/json",
        stays: bool = False,
    ) -> Reply:
        """Makes one request. `wait` is how much longer than usual the server may take.

        A server that comes up at another address is asked instead, unless `stays`.
        """
        place, request = self._place, self._encode_request(method, path, body, kind)
        mine = self._thread_socket
        try:
            if self._is_reusable(mine.current):
                try:
                    return self._exchange(mine, request, wait)
                except _ConnectionClosed as closed:
                    # The server closed a connection that it took for idle, or was restarted.
                    # Not a byte was answered, so the request may be made again, once.
                    if closed.has_begun:
                        raise
            try:
                self._open(mine)
            except (OSError, server_check.ForeignServer):
                if stays or not self._move():
                    raise
                self._open(mine)
            if self._place is not place:
                request = self._encode_request(method, path, body, kind)
            return self._exchange(mine, request, wait)
        except (_ConnectionClosed, OSError) as problem:
            self._drop(mine)
            raise self._describe_failure(problem, wait) from None
        except BaseException:
            # Half an answer may be left in the socket. It is set aside without a call, because
            # the error may be that the stack is full.
            if mine.current is not None:
                mine.spoilt += (mine.current,)
                mine.current = None
            raise

    async def ask_async(self, path: str, *, wait: float) -> Reply:
        """Makes a GET on a socket of its own, without blocking the running asyncio loop."""
        import asyncio  # not every application that is debugged has a loop

        # Not `wait_for`: before Python 3.12 it may take a cancellation for an answer.
        exchange = asyncio.ensure_future(self._exchange_async(path))
        try:
            done, _ = await asyncio.wait({exchange}, timeout=self.timeout + wait)
            if not done:
                raise self._describe_failure(TimeoutError(), wait)
            return exchange.result()
        except (_ConnectionClosed, OSError) as problem:
            raise self._describe_failure(problem, wait) from None
        finally:
            exchange.cancel()

    def close(self) -> None:
        """Closes this thread's socket. Those of other threads go with their threads."""
        self._drop(self._thread_socket)

    def _encode_request(self, method: str, path: str, body: bytes, kind: bytes) -> bytes:
        head = b"%s %s%s" % (method.encode(), path.encode(), self._place.tail)
        if body:
            return head + b"Content-Type: %s\r\nContent-Length: %d\r\n\r\n%s" % (
                *(kind, len(body), body),
            )
        return head + (b"\r\n" if method == "GET" else b"Content-Length: 0\r\n\r\n")

    def _describe_failure(
        self, problem: Exception, wait: float
    ) -> DebugServerError | DebugProtocolError:
        if isinstance(problem, TimeoutError):
            seconds = self.timeout + wait
            return DebugServerError(f"the server at {self.url} did not answer within {seconds:g} s")
        if not isinstance(problem, _ConnectionClosed):
            message = f"no server answers at {self.url}: {problem}"
            return DebugServerError(message, start_command=self._find_start_command())
        if problem.has_begun:
            return DebugProtocolError("the server's answer breaks off in the middle")
        message = f"the server at {self.url} hung up"
        return DebugServerError(message, start_command=self._find_start_command())

    def _find_start_command(self) -> str | None:
        if not _is_loopback_name(self._place.host):
            return None
        return discovery.start_command(self._place.port, is_chosen=not self._follows)

    def _move(self) -> bool:
        """Whether the server is announced at another address, which is used from now on."""
        url = discovery.announced_url() if self._follows else None
        if url is None or url.rstrip("/") == self.url:
            return False
        try:
            require_loopback(url)
            self._place = _Place(url.rstrip("/"), self._token)
        except (ValueError, DebugServerError):  # it was edited
            return False
        return True

    def _is_reusable(self, opened: _OpenSocket | None) -> bool:
        return opened is not None and opened.fork_count == _fork_count and opened.is_quiet()

    def _open(self, mine: _ThreadSocket) -> None:
        self._drop(mine)
        mine.current = _OpenSocket(self._connect())

    def _connect(self) -> socket.socket:
        """A connection to a server that is trusted. Nothing has been sent on it but a proof."""
        refusal: Exception | None = None
        where = self._place
        for family, place in server_check.resolve(where.host, where.port):
            sock = None
            try:
                sock = server_check.connect(family, place, self.timeout)
                self._check_server(sock)
                return sock
            except OSError as problem:
                refusal = refusal or problem.with_traceback(None)  # it would keep the socket alive
            except server_check.ForeignServer as problem:
                refusal = problem.with_traceback(None)
            except BaseException:
                if sock is not None:
                    sock.close()
                raise
            if sock is not None:
                sock.close()
        raise refusal or OSError("the host has no address")

    def _check_server(self, sock: socket.socket) -> None:
        if not server_check.is_on_this_machine(sock):
            if _is_loopback_name(self._place.host):
                raise server_check.build_refusal(self.url, "it is on another machine")
            return
        if server_check.is_served_by_us(sock):
            return
        secret = discovery.announced_secret()
        if secret is None:
            why = "another user runs it, or the system does not say who does"
            raise server_check.build_refusal(self.url, why)
        if not self._proves_secret(sock, secret):
            why = "another user runs it, and it does not know the secret in your server.json"
            raise server_check.build_refusal(self.url, why)

    def _proves_secret(self, sock: socket.socket, secret: str) -> bool:
        """Whether the server knows the secret too. The request carries no token."""
        from holdfast.trust import proofs  # nearly never needed

        server, nonce = sock.getpeername()[:2], proofs.make_nonce()
        proof = proofs.prove_client(secret, server, nonce)
        sock.settimeout(min(self.timeout, timings.TIMINGS.server_proof))
        head = f"GET /proof?nonce={nonce}&proof={proof} HTTP/1.1\r\n{self._place.host_line}\r\n"
        parser, body, received = _AnswerParser(), None, 0
        try:
            sock.sendall(head.encode())
            while body is None and received < _MAX_PROOF_BYTES:
                data = sock.recv(_RECEIVE_BYTES)
                received += len(data)
                body = parser.feed(data)
            answer = json.loads(body or b"")["proof"]
        except (OSError, _ConnectionClosed, DebugProtocolError, ValueError, KeyError, TypeError):
            return False
        return parser.status == 200 and proofs.is_server(str(answer), secret, server, nonce)

    def _drop(self, mine: _ThreadSocket) -> None:
        mine.current = None
        mine.spoilt.clear()

    def _exchange(self, mine: _ThreadSocket, request: bytes, wait: float) -> Reply:
        assert mine.current is not None
        sock = mine.current.sock
        sock.settimeout(self.timeout + wait)
        parser = _AnswerParser()
        body = None
        try:
            sock.sendall(request)
            while body is None:
                body = parser.feed(sock.recv(_RECEIVE_BYTES))
        except (BrokenPipeError, ConnectionResetError):
            raise _ConnectionClosed(parser.has_begun) from None
        if parser.closes:
            self._drop(mine)
        return Reply(parser.status, body)

    async def _exchange_async(self, path: str) -> Reply:
        import asyncio

        loop = asyncio.get_running_loop()
        # This does not block for long: the server is on this machine.
        sock = self._connect()
        try:
            sock.setblocking(False)
            await loop.sock_sendall(sock, self._encode_request("GET", path, b"", b""))
            parser = _AnswerParser()
            body = None
            while body is None:
                body = parser.feed(await loop.sock_recv(sock, _RECEIVE_BYTES))
            return Reply(parser.status, body)
        finally:
            sock.close()


def _require_success(reply: Reply) -> Reply:
    if reply.status < 400:
        return reply
    raise ApiError(reply.status, _parse_api_answer(reply))


def _parse_api_answer(reply: Reply) -> Any:
    try:
        return json.loads(reply.body) if reply.body else {}
    except ValueError:
        text = reply.body.decode("utf-8", "replace")
        return {"error": {"message": text[:500] or f"HTTP {reply.status}"}}
