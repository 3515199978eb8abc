"""One small HTTP client: JSON in, JSON out, one connection kept open."""

from __future__ import annotations

import http.client
import json
import socket
from typing import Any
from urllib.parse import urlsplit


class ServerProblem(Exception):
    """An answer that is an error: what the server said, in its own words."""

    def __init__(self, status: int, body: dict[str, Any]) -> None:
        error = body.get("error")
        self.status = status
        self.body = body
        self.hint = error.get("hint", "") if isinstance(error, dict) else ""
        super().__init__(error.get("message", "") if isinstance(error, dict) else str(error))


class Unreachable(Exception):
    """Nobody answers there."""


class Client:
    def __init__(self, url: str, *, timeout: float = 330.0, token: str | None = None) -> None:
        self.url = url
        host, port = _place(url)
        self._connection = http.client.HTTPConnection(host, port, timeout=timeout)
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def request(self, method: str, path: str, body: Any = None) -> Any:
        return _parsed(self._answered(method, path, body))

    def raw(self, path: str) -> bytes:
        """What is there, as it is."""
        return self._answered("GET", path).read()

    def _answered(self, method: str, path: str, body: Any = None) -> http.client.HTTPResponse:
        data = None if body is None else json.dumps(body).encode()
        headers = dict(self._headers)
        if data is not None:
            headers["Content-Type"] = "application/json"
        try:
            answer = self._ask(method, path, data, headers)
        except OSError as problem:
            raise Unreachable(f"no Holdfast server answers at {self.url}: {problem}") from None
        if answer.status >= 400:
            raise ServerProblem(answer.status, _parsed(answer))
        return answer

    def _ask(
        self, method: str, path: str, data: bytes | None, headers: dict[str, str]
    ) -> http.client.HTTPResponse:
        if self._connection.sock is None:
            self._connection.connect()
            assert self._connection.sock is not None
            self._connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self._connection.request(method, path, data, headers)
            return self._connection.getresponse()
        except (http.client.RemoteDisconnected, BrokenPipeError):
            # An idle connection that the server closed; asked again on a new one.
            self._connection.close()
            self._connection.request(method, path, data, headers)
            return self._connection.getresponse()

    def get(self, path: str) -> Any:
        return self.request("GET", path)

    def post(self, path: str, body: Any = None) -> Any:
        return self.request("POST", path, body)

    def delete(self, path: str) -> Any:
        return self.request("DELETE", path)

    def close(self) -> None:
        self._connection.close()


def _place(url: str) -> tuple[str, int]:
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        port = parts.port or 80
    except ValueError:
        parts, port = urlsplit(""), 0
    if parts.scheme != "http" or not parts.hostname:
        raise Unreachable(
            f"{url!r} is no address of a server; one looks like http://localhost:5000"
        )
    return parts.hostname, port


def _parsed(answer: http.client.HTTPResponse) -> Any:
    data = answer.read()
    try:
        return json.loads(data) if data else {}
    except ValueError:
        return {"error": {"message": data.decode("utf-8", "replace")[:500]}}
