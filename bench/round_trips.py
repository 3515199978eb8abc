"""`GET …/status` and `GET /health`, beside the cheapest possible HTTP answer (`bare_server`)."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

from bench.http_client import HttpClient
from bench.measurements import Readings, load_program
from bench.server import Server, Session

BARE = "bare round trip"
HEALTH = "GET /health"
STATUS = "GET /sessions/{id}/status"
UNITS = dict.fromkeys((BARE, HEALTH, STATUS), "ms")
_REQUESTS_IN_A_ROW = 20


def measure(server: Server, rounds: int) -> Readings:
    """Send a few requests of each kind in turn, on open connections."""
    readings = Readings()
    session = Session(server, load_program("orders.py", "first"))
    with (
        contextlib.closing(session),
        _start_bare_server() as bare,
        contextlib.closing(HttpClient(server.url)) as http,
    ):
        server.wait_for_interpreters()
        requests: dict[str, Callable[[], Any]] = {
            BARE: lambda: bare.request("GET", "/"),
            HEALTH: lambda: http.request("GET", "/health"),
            STATUS: session.status,
        }
        for _ in range(rounds):
            for name, send in requests.items():
                for _ in range(_REQUESTS_IN_A_ROW):
                    with readings.time(name):
                        send()
    return readings


@contextlib.contextmanager
def _start_bare_server() -> Iterator[HttpClient]:
    argv = [sys.executable, "-m", "bench.bare_server"]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        with contextlib.closing(HttpClient(f"http://127.0.0.1:{port}")) as http:
            yield http
    finally:
        process.terminate()
        process.communicate()
