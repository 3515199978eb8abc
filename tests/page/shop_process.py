"""An application in a process of its own, whose calls a real server records and holds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from harness import PROGRAMS, Server


class ShopProcess:
    """It evaluates what it is told, one line at a time: `shop.price('tea', 2)`."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.server = server
        self.process = subprocess.Popen(
            [sys.executable, str(PROGRAMS / "shop_console.py")],
            cwd=folder,
            env={**os.environ, "HOLDFAST_SERVER_URL": server.url, "HOLDFAST_QUIET": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.session_id = self.read()

    def begin(self, line: str) -> None:
        """Tell it to do something, which may be held."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def read(self) -> str:
        """What came of the oldest line that was not read yet."""
        assert self.process.stdout is not None
        answer = self.process.stdout.readline()
        assert answer, "the application has ended"
        return answer.strip()

    def run(self, line: str) -> str:
        self.begin(line)
        return self.read()

    def stop(self) -> None:
        self.server.delete("/api/breakpoints?release=true")
        self.process.kill()
        self.process.communicate()
