"""What the examples share: a server to talk to. With one of yours running, they use that."""

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
def serving() -> Iterator[str]:
    """The address of the server that runs; else one is started, and ended afterwards."""
    url = discovery.server_url()
    try:
        ask(url, "GET", "/health")
    except OSError:
        with _started() as url:
            yield url
    else:
        yield url


@contextmanager
def _started() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "holdfast", "serve", "--port", "0", "--data-dir", folder]
        server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        try:
            assert server.stderr is not None
            server.stderr.readline()  # it says where it is once it answers
            yield str(json.loads((Path(folder) / "server.json").read_text())["url"])
        finally:
            server.terminate()
            server.communicate()


def ask(url: str, method: str, path: str, body: Any = None) -> Any:
    """What `curl` would do."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(url + path, data, headers, method=method)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)
