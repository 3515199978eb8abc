"""The server that the examples use: the one that runs already, or a new one."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from holdfast.client import discovery


@contextmanager
def running_server() -> Iterator[str]:
    """Yield the address of the running server, or start one and end it afterwards."""
    url = discovery.server_url()
    try:
        request(url, "GET", "/health")
    except OSError:
        with _start_server() as url:
            yield url
    else:
        yield url


@contextmanager
def _start_server() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "holdfast", "serve", "--port", "0", "--data-dir", folder]
        server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        try:
            assert server.stderr is not None
            server.stderr.readline()  # the server prints its address once it answers
            yield str(json.loads((Path(folder) / "server.json").read_text())["url"])
        finally:
            server.terminate()
            server.communicate()


def request(url: str, method: str, path: str, body: Any = None) -> Any:
    """Send a request, as `curl` would, and return the JSON of the answer."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    message = urllib.request.Request(url + path, data, headers, method=method)
    with urllib.request.urlopen(message) as answer:
        return json.load(answer)
