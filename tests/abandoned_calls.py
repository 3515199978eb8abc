"""Calls whose client hangs up before it has got an answer."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable
from typing import Any

import psutil

from harness import Server
from polling import wait_until


def abandon_call(server: Server, path: str, body: Any, has_arrived: Callable[[], bool]) -> None:
    """Send a request, hang up once it has arrived, and wait until the server knows that."""
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=60)
    try:
        header = {"content-type": "application/json"}
        connection.request("POST", path, json.dumps(body), header)
        port = connection.sock.getsockname()[1]
        wait_until(has_arrived, "the request arrives")
    finally:
        connection.close()
    wait_until(lambda: not _is_connected(server, port), "the server notices", pause=0.02)


def _is_connected(server: Server, port: int) -> bool:
    """Whether the server still has its end of the connection from a port.

    It closes that after it has told of the disconnection.
    """
    connections = psutil.Process(server.process.pid).net_connections("tcp")
    return any(one.raddr and one.raddr.port == port for one in connections)
