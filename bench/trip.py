"""A look at the status, beside the least that an HTTP answer can cost here (`bare`)."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

from bench.http import Http
from bench.measuring import Readings, program
from bench.server import Server, Session

BARE = "bare round trip"
HEALTH = "GET /health"
STATUS = "GET /sessions/{id}/status"
UNITS = dict.fromkeys((BARE, HEALTH, STATUS), "ms")
_AT_ONCE = 20


def measure(server: Server, rounds: int) -> Readings:
    """A few of each in turn, on open connections."""
    readings = Readings()
    session = Session(server, program("orders.py", "first"))
    with contextlib.closing(session), _bare() as bare, contextlib.closing(Http(server.url)) as http:
        server.refilled()
        ways: dict[str, Callable[[], Any]] = {
            BARE: lambda: bare.ask("GET", "/"),
            HEALTH: lambda: http.ask("GET", "/health"),
            STATUS: session.status,
        }
        for _ in range(rounds):
            for name, way in ways.items():
                for _ in range(_AT_ONCE):
                    with readings.timed(name):
                        way()
    return readings


@contextlib.contextmanager
def _bare() -> Iterator[Http]:
    argv = [sys.executable, "-m", "bench.bare"]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        with contextlib.closing(Http(f"http://127.0.0.1:{port}")) as http:
            yield http
    finally:
        process.terminate()
        process.communicate()
