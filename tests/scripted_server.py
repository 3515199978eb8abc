"""A server that says what a test tells it to: the far end of the world, on its bad days."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from typing import Any

Answer = Callable[["ScriptedServer", str, str, Any], "dict[str, Any] | bytes | None"]


class ScriptedServer:
    """Answers each request with what `answer` returns: JSON, raw bytes, or None to hang up."""

    def __init__(
        self, answer: Answer | None = None, *, host: str = "127.0.0.1", port: int = 0
    ) -> None:
        self.answer: Answer = answer or (lambda server, method, path, body: None)
        self.requests: list[tuple[str, str, Any]] = []
        self.received = 0
        """The bytes that it was sent."""
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listening = socket.create_server((host, port), family=family)
        self._open: list[socket.socket] = []
        self.port = int(self._listening.getsockname()[1])
        self.url = f"http://{host}:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def paths(self) -> list[str]:
        return [path for _, path, _ in self.requests]

    def bodies(self, path: str) -> list[Any]:
        return [body for _, asked, body in self.requests if asked == path]

    def close(self) -> None:
        # Shut down first: closing alone does not wake a thread that is in accept().
        for each in (self._listening, *self._open):
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            each.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            self._open.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection, connection.makefile("rb") as stream:
                while self._answer_one(connection, stream):
                    pass
        except OSError:
            pass

    def _answer_one(self, connection: socket.socket, stream: Any) -> bool:
        first = stream.readline().decode()
        self.received += len(first)
        if not first:
            return False
        method, path, _ = first.split()
        length = 0
        while line := stream.readline().strip():
            name, _, value = line.decode().partition(":")
            if name.lower() == "content-length":
                length = int(value)
        raw = stream.read(length)
        body = json.loads(raw) if raw else None
        self.requests.append((method, path, body))
        answer = self.answer(self, method, path, body)
        if answer is None:
            return False
        connection.sendall(answer if isinstance(answer, bytes) else format_response(answer))
        return True


def format_response(body: Any, status: int = 200) -> bytes:
    data = json.dumps(body).encode()
    return b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n%s" % (status, len(data), data)


CONTINUE = {"call_id": "1700000000.000001-001", "action": "continue"}


def accept_all(**by_path: Any) -> Answer:
    """Says yes to everything, except where a test has another answer for the path's last word.

    Such an answer may be a function of the request's body.
    """

    def answer(server: ScriptedServer, method: str, path: str, body: Any) -> Any:
        word = path.partition("?")[0].split("/")[3 if "/poll/" not in path else 2]
        if word in by_path:
            given = by_path[word]
            return given(body) if callable(given) else given
        if word == "start":
            return CONTINUE
        if word == "session":
            return {"session_id": "calls_00000001"}
        return {"status": "ok"}

    return answer
