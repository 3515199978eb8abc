"""What the MCP layer adds to a step: the same step over REST, as a tool there, and over /mcp."""

from __future__ import annotations

import contextlib
import functools
import http.client
import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

from bench.measurements import PROGRAMS, Figure, Readings, find_marked_line, summarize
from bench.server import Server

_PROGRAM = PROGRAMS / "endless_lines.py"
_HEADERS = {
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
}
_HANDSHAKE, _STATELESS = "2025-11-25", "2026-07-28"
_PROGRESS = {"_meta": {"progressToken": 1}}
_META = "io.modelcontextprotocol/"
REST, TOOL = "a step over REST", "debug_step over REST"
_MAX_WARM_UP = 20


def measure(server: Server, steps: int) -> dict[str, Figure]:
    """Step one session in each way in turn."""
    readings = Readings()
    warm_up = min(_MAX_WARM_UP, steps)
    with contextlib.closing(_Link(server.url)) as link:
        ways = dict(_list_ways(link))
        for number in range(warm_up + steps):
            for name, step in ways.items():
                with readings.time(name):
                    step()
            if number < warm_up:
                readings.all.clear()
        link.post("/tools/debug_stop", {"session_id": "all"})
    return {name: summarize(readings.all[name]) for name in ways}


def _list_ways(link: _Link) -> Iterator[tuple[str, Callable[[], object]]]:
    place = f"{_PROGRAM}:{find_marked_line(_PROGRAM, 'line')}"
    started = link.post("/run", {"target": str(_PROGRAM), "breakpoints": [place]})
    link.post("/tools/debug_set_breakpoints", {"remove": ["all"]})
    session = started["session_id"]
    yield REST, lambda: link.post(f"/sessions/{session}/step-over", {})
    yield TOOL, lambda: link.post("/tools/debug_step", {"session_id": session})
    session_headers = link.shake_hands()
    for name, headers, meta in (
        ("debug_step over /mcp, with a handshake", session_headers, {}),
        ("debug_step over /mcp, with a handshake and progress", session_headers, _PROGRESS),
        ("debug_step over /mcp, stateless", *_describe_stateless()),
    ):
        arguments = {"session_id": session}
        params = {"name": "debug_step", "arguments": arguments, **meta}
        request = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}
        yield name, functools.partial(link.call, request, headers)


def _describe_stateless() -> tuple[dict[str, str], dict[str, Any]]:
    """What each request says of its sender, where there is no handshake."""
    meta = {
        f"{_META}protocolVersion": _STATELESS,
        f"{_META}clientInfo": {"name": "bench", "version": "1"},
        f"{_META}clientCapabilities": {},
    }
    headers = {
        "mcp-protocol-version": _STATELESS,
        "mcp-method": "tools/call",
        "mcp-name": "debug_step",
    }
    return headers, {"_meta": meta}


class _Link:
    """One open connection."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port)

    def close(self) -> None:
        self._connection.close()

    def post(self, path: str, body: Any) -> Any:
        return json.loads(self._send("/api/v1" + path, body, {})[1])

    def call(self, request: Any, headers: dict[str, str]) -> Any:
        """A request of the protocol; its result, which may come as an event."""
        _, data = self._send("/mcp", request, headers)
        answer = json.loads(data[data.index(b"{") :])
        if "error" in answer or answer["result"].get("isError"):
            raise RuntimeError(f"{request['method']}: {answer}")
        return answer["result"]

    def shake_hands(self) -> dict[str, str]:
        """Begin a session of the protocol; the headers of its requests."""
        info = {"clientInfo": {"name": "bench", "version": "1"}, "capabilities": {}}
        params = {"protocolVersion": _HANDSHAKE, **info}
        hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
        response, _ = self._send("/mcp", hello, {})
        headers = {
            "mcp-session-id": response.getheader("mcp-session-id") or "",
            "mcp-protocol-version": _HANDSHAKE,
        }
        self._send("/mcp", {"jsonrpc": "2.0", "method": "notifications/initialized"}, headers)
        return headers

    def _send(
        self, path: str, body: Any, headers: dict[str, str]
    ) -> tuple[http.client.HTTPResponse, bytes]:
        self._connection.request("POST", path, json.dumps(body), {**_HEADERS, **headers})
        response = self._connection.getresponse()
        data = response.read()
        if response.status >= 400:
            raise RuntimeError(f"{path}: {data!r}")
        return response, data
