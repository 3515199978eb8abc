"""HTTP/1.1 to the server, by hand: one kept-open socket a thread.

A call waits for two requests, so what a general client does around them would be most of its cost.
Answers are parsed as their bytes come (`_Answer`), so that the asynchronous wait can use the same
parser on a socket of its loop's.
"""

from __future__ import annotations

import _socket
import json
import os
import select
import socket
import threading
from typing import Any
from urllib.parse import urlsplit

from holdfast.client.exceptions import DebugProtocolError, DebugServerError

_CHUNK = 1 << 16
_LONGEST_HEAD = 1 << 16
_LOOPBACK = ("localhost", "127.0.0.1", "::1", "ip6-localhost")


def place(url: str) -> tuple[str, int]:
    """Host and port of a server on this machine; ValueError for anything else."""
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        host, port = parts.hostname or "", parts.port or 80
    except ValueError:
        raise ValueError(f"{url!r} is no address; one looks like http://localhost:5000") from None
    if parts.scheme != "http" or not host:
        raise ValueError(f"{url!r} is no address; one looks like http://localhost:5000")
    if host.lower() not in _LOOPBACK and not _is_loopback(host):
        raise ValueError(f"the server must be on this machine (localhost), and {host!r} is not")
    return host, port


def _is_loopback(host: str) -> bool:
    parts = host.split(".")
    return len(parts) == 4 and parts[0] == "127" and all(part.isdecimal() for part in parts)


class Reply:
    """An answer: its status and what is in it."""

    __slots__ = ("body", "status")

    def __init__(self, status: int, body: bytes) -> None:
        self.status = status
        self.body = body

    def json(self) -> Any:
        try:
            return json.loads(self.body)
        except ValueError:
            raise DebugProtocolError(
                f"the server's answer is not JSON: {self.body[:200]!r}"
            ) from None


class _Answer:
    """An answer as its bytes arrive."""

    def __init__(self) -> None:
        self._bytes = b""
        self._body_at = -1
        self._length: int | None = None
        self._chunked = False
        self.status = 0
        self.closes = False
        self.body: bytes | None = None

    @property
    def begun(self) -> bool:
        return bool(self._bytes)

    def feed(self, data: bytes) -> bool:
        """Whether it is whole now. No data means that the server has hung up."""
        self._bytes += data
        if self._body_at < 0 and not self._read_head():
            if not data:
                raise _HungUp(self.begun)
            return False
        return self._read_body(ended=not data)

    def _read_head(self) -> bool:
        end = self._bytes.find(b"\r\n\r\n")
        if end < 0:
            if len(self._bytes) > _LONGEST_HEAD or not b"HTTP/".startswith(self._bytes[:5]):
                raise DebugProtocolError(f"that is no HTTP server: {self._bytes[:60]!r}")
            return False
        first, *lines = self._bytes[:end].split(b"\r\n")
        try:
            self.status = int(first.split(b" ", 2)[1])
            headers = dict(line.lower().split(b":", 1) for line in lines)
            length = headers.get(b"content-length")
            self._length = None if length is None else int(length)
        except (ValueError, IndexError):
            raise DebugProtocolError(f"the answer is not HTTP: {first[:60]!r}") from None
        self._chunked = b"chunked" in headers.get(b"transfer-encoding", b"")
        self.closes = b"close" in headers.get(b"connection", b"") or first.startswith(b"HTTP/1.0")
        self._body_at = end + 4
        return True

    def _read_body(self, ended: bool) -> bool:
        rest = self._bytes[self._body_at :]
        if self._chunked:
            self.body = _unchunked(rest)
        elif self._length is not None:
            if len(rest) >= self._length:
                self.body = rest[: self._length]
        elif ended:  # no length: it lasts until the server hangs up
            self.body, self.closes = rest, True
        if self.body is None and ended:
            raise DebugProtocolError("the server's answer breaks off in the middle")
        return self.body is not None


def _unchunked(data: bytes) -> bytes | None:
    found, at = b"", 0
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
            return found
        found += data[end + 2 : at - 2]


class _HungUp(Exception):
    """The connection ended before an answer did."""

    def __init__(self, begun: bool) -> None:
        super().__init__()
        self.begun = begun


class _Line:
    """An open socket, closed when nobody holds it: with its thread, or with its connection."""

    __slots__ = ("generation", "sock")

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.generation = _generation

    def __del__(self) -> None:
        _close(self.sock)  # in one step: the stack may have no room for more


_close = _socket.socket.close


class _Lines(threading.local):
    """This thread's."""

    line: _Line | None = None

    def __init__(self) -> None:
        self.spoilt: list[_Line] = []  # closed when there is room on the stack to do so


_generation = 0


def _forked() -> None:
    """A child must not speak on its parent's connections."""
    global _generation
    _generation += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


class Connection:
    """Requests to one server, from any thread of this process and of those forked from it."""

    def __init__(self, url: str, timeout: float) -> None:
        self.url = url
        self.host, self.port = place(url)
        self.timeout = timeout
        self._mine = _Lines()
        host = f"[{self.host}]" if ":" in self.host else self.host
        self._tail = f" HTTP/1.1\r\nHost: {host}:{self.port}\r\n".encode()

    def ask(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        *,
        wait: float = 0.0,
        kind: bytes = b"application/json",
    ) -> Reply:
        """One request. `wait` is how much longer than usual the server may take."""
        request = self.request(method, path, body, kind)
        mine = self._mine
        reused = self._is_open(mine)
        try:
            if reused:
                try:
                    return self._exchange(mine, request, wait)
                except _HungUp as hung_up:
                    # The server closed a connection that it took for idle, or was restarted:
                    # without a byte of an answer, the question may be put again, once.
                    if hung_up.begun:
                        raise
            self._open(mine)
            return self._exchange(mine, request, wait)
        except _HungUp as hung_up:
            self._drop(mine)
            raise self._broken_off(hung_up) from None
        except TimeoutError:
            self._drop(mine)
            raise DebugServerError(
                f"the server at {self.url} did not answer within {self.timeout + wait:g} s"
            ) from None
        except OSError as problem:
            self._drop(mine)
            raise self.unreachable(problem) from None
        except BaseException:
            # Half an answer may be left in it. No call is made: it may be the stack that is full.
            if mine.line is not None:
                mine.spoilt += (mine.line,)
                mine.line = None
            raise

    def unreachable(self, problem: OSError) -> DebugServerError:
        return DebugServerError(f"no server answers at {self.url}: {problem}")

    def request(
        self, method: str, path: str, body: bytes = b"", kind: bytes = b"application/json"
    ) -> bytes:
        head = b"%s %s%s" % (method.encode(), path.encode(), self._tail)
        if not body and method == "GET":
            return head + b"\r\n"
        return head + b"Content-Type: %s\r\nContent-Length: %d\r\n\r\n%s" % (
            kind,
            len(body),
            body,
        )

    def close(self) -> None:
        """This thread's socket; those of other threads go with their threads."""
        self._drop(self._mine)

    def _is_open(self, mine: _Lines) -> bool:
        if mine.line is None or mine.line.generation != _generation:
            return False
        # Anything to read before we asked is the server's goodbye.
        poll = select.poll()
        poll.register(mine.line.sock, select.POLLIN)
        return not poll.poll(0)

    def _open(self, mine: _Lines) -> None:
        self._drop(mine)
        sock = socket.create_connection((self.host, self.port), self.timeout)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        mine.line = _Line(sock)

    def _drop(self, mine: _Lines) -> None:
        mine.line = None
        mine.spoilt.clear()

    def _exchange(self, mine: _Lines, request: bytes, wait: float) -> Reply:
        assert mine.line is not None
        sock = mine.line.sock
        sock.settimeout(self.timeout + wait)
        answer = _Answer()
        try:
            sock.sendall(request)
            while not answer.feed(sock.recv(_CHUNK)):
                pass
        except (BrokenPipeError, ConnectionResetError):
            raise _HungUp(answer.begun) from None
        if answer.closes:
            self._drop(mine)
        assert answer.body is not None
        return Reply(answer.status, answer.body)

    async def ask_async(self, path: str, *, wait: float) -> Reply:
        """A GET that blocks nothing else in the running asyncio loop, on a socket of its own."""
        import asyncio

        try:
            return await asyncio.wait_for(self._ask_async(path), self.timeout + wait)
        except asyncio.TimeoutError:
            raise DebugServerError(
                f"the server at {self.url} did not answer within {self.timeout + wait:g} s"
            ) from None
        except _HungUp as hung_up:
            raise self._broken_off(hung_up) from None
        except OSError as problem:
            raise self.unreachable(problem) from None

    def _broken_off(self, hung_up: _HungUp) -> DebugServerError | DebugProtocolError:
        if hung_up.begun:
            return DebugProtocolError("the server's answer breaks off in the middle")
        return DebugServerError(f"the server at {self.url} hung up")

    async def _ask_async(self, path: str) -> Reply:
        import asyncio

        loop = asyncio.get_running_loop()
        # Resolved and connected at once, as it is on this machine.
        sock = socket.create_connection((self.host, self.port), self.timeout)
        try:
            sock.setblocking(False)
            await loop.sock_sendall(sock, self.request("GET", path))
            answer = _Answer()
            while not answer.feed(await loop.sock_recv(sock, _CHUNK)):
                pass
            assert answer.body is not None
            return Reply(answer.status, answer.body)
        finally:
            sock.close()
