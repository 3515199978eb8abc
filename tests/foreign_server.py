"""A server of another user, at a port that applications believe to be their own server's.

It lets applications in, and answers their first call with a pickle that creates a file when it is
loaded. Started as a script: `foreign_server.py HOST PORT TRAP`, by root, because it becomes
another user. It prints its port; after a line of input it prints how many bytes it was sent.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scripted_server import ScriptedServer, accept_all

NOBODY = 65534


class _Trap:
    def __init__(self, path: str) -> None:
        self._path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return open, (self._path, "w")


class ForeignServer:
    """The process, from this side."""

    def __init__(self, process: subprocess.Popen[str], host: str) -> None:
        self._process = process
        assert process.stdout is not None
        self.port = int(process.stdout.readline())
        self.url = f"http://{host}:{self.port}"

    def count_received(self) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(file=self._process.stdin, flush=True)
        return int(self._process.stdout.readline())


@contextlib.contextmanager
def serve_as_nobody(trap: Path, host: str = "127.0.0.1", port: int = 0) -> Iterator[ForeignServer]:
    argv = [sys.executable, __file__, host, str(port), str(trap)]
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield ForeignServer(process, f"[{host}]" if ":" in host else host)
        finally:
            process.kill()


def main(host: str, port: str, trap: str) -> None:
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    data = pickle.dumps(_Trap(trap))
    skip = {
        "call_id": "1700000000.000001-001",
        "action": "skip",
        "fake_result_cid": hashlib.sha256(data).hexdigest(),
        "fake_result_data": base64.b64encode(data).decode(),
    }
    server = ScriptedServer(accept_all(start=skip), host=host, port=int(port))
    print(server.port, flush=True)
    for _ in sys.stdin:
        print(server.received, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
