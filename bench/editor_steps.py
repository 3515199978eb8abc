"""A step through the door for editors, beside one over HTTP in a session of the same kind."""

from __future__ import annotations

import contextlib
import socket
import statistics
from collections.abc import Iterator
from typing import Any

from bench.http_client import HttpClient
from bench.measurements import PROGRAMS, Ratio, Readings, find_marked_line
from bench.server import Server
from holdfast.wire import dap

_PROGRAM = PROGRAMS / "endless_lines.py"
_HTTP, _EDITOR = "over HTTP", "through the door"
_MAX_RATIO = 1.3
_MAX_WARM_UP = 20


def measure(server: Server, steps: int) -> list[Ratio]:
    """Step in turn, one session each, on connections that stay open."""
    readings = Readings()
    warm_up = min(_MAX_WARM_UP, steps)
    with contextlib.closing(HttpClient(server.url)) as http:
        paths = [_start(http) for _ in range(2)]
        port = http.request("GET", "/info")["dap_port"]
        with _join(port, paths[1].rpartition("/")[2]) as editor:
            for number in range(warm_up + steps):
                with readings.time(_HTTP):
                    http.request("POST", f"{paths[0]}/step-over")
                with readings.time(_EDITOR):
                    editor.step()
                if number < warm_up:
                    readings.all.clear()
        for path in paths:
            http.request("DELETE", path)
    ours, base = (statistics.median(readings.all[name]) for name in (_EDITOR, _HTTP))
    return [Ratio("a step through the door for editors", "ms", ours, _HTTP, base, _MAX_RATIO)]


def _start(http: HttpClient) -> str:
    """The path of a session that stands in the loop."""
    point = {"file": str(_PROGRAM), "line": find_marked_line(_PROGRAM, "line")}
    start = {"launch": {"script": str(_PROGRAM)}, "breakpoints": [point], "wait": True}
    path = f"/sessions/{http.request('POST', '/sessions', start)['session_id']}"
    http.request("DELETE", f"{path}/breakpoints")
    return path


class _Editor:
    def __init__(self, link: socket.socket) -> None:
        self._link = link
        self._framer = dap.Framer()
        self._messages: list[dap.Message] = []
        self._seq = 0

    def send(self, command: str, **arguments: Any) -> None:
        self._seq += 1
        message = {"seq": self._seq, "type": "request", "command": command}
        self._link.sendall(dap.encode({**message, "arguments": arguments}))

    def wait_event(self, name: str) -> dap.Message:
        while True:
            while self._messages:
                message = self._messages.pop(0)
                if message.get("event") == name:
                    return message
                if message.get("success") is False:
                    raise RuntimeError(message["message"])
            self._messages += self._framer.feed(self._link.recv(1 << 16))

    def step(self) -> None:
        self.send("next", threadId=1)
        self.wait_event("stopped")


@contextlib.contextmanager
def _join(port: int, session: str) -> Iterator[_Editor]:
    with socket.create_connection(("127.0.0.1", port), timeout=60) as link:
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        editor = _Editor(link)
        editor.send("initialize", adapterID="bench")
        editor.send("attach", session=session)
        editor.wait_event("initialized")
        editor.send("configurationDone")
        editor.wait_event("stopped")
        yield editor
