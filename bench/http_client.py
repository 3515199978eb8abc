"""A hand-written HTTP/1.1 client on one open connection.

It does as little as possible (one write, one or two reads), so that the benchmarks measure the
server and not a client library. httpx alone would about double the time of a request.
"""

from __future__ import annotations

import socket
from typing import Any
from urllib.parse import urlsplit

import orjson


class HttpClient:
    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        assert parts.hostname is not None
        assert parts.port is not None
        self._host = f"{parts.hostname}:{parts.port}"
        self._socket = socket.create_connection((parts.hostname, parts.port), timeout=60)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def request(self, method: str, path: str, body: Any = None) -> Any:
        """Send one request, and return the JSON of its answer."""
        data = b"" if body is None else orjson.dumps(body)
        head = f"{method} {path} HTTP/1.1\r\nHost: {self._host}\r\nContent-Length: {len(data)}\r\n"
        if data:
            head += "Content-Type: application/json\r\n"
        self._socket.sendall(head.encode() + b"\r\n" + data)
        return self._read_answer(f"{method} {path}")

    def _read_answer(self, what: str) -> Any:
        received = self._socket.recv(65536)
        while (end := received.find(b"\r\n\r\n")) < 0:
            received += self._receive(what)
        head = received[:end].lower()
        length = int(head.split(b"content-length:", 1)[1].split(b"\r\n", 1)[0])
        while len(received) < end + 4 + length:
            received += self._receive(what)
        answer = orjson.loads(received[end + 4 :])
        if int(head.split(b" ", 2)[1]) >= 400:
            raise RuntimeError(f"{what}: {answer}")
        return answer

    def _receive(self, what: str) -> bytes:
        data = self._socket.recv(65536)
        if not data:
            raise EOFError(f"the server closed the connection during {what}")
        return data

    def close(self) -> None:
        self._socket.close()
