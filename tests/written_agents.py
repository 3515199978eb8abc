"""Agent sessions whose files a test writes itself, without a process and without any bell."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from holdfast.recording import liveness
from holdfast.recording.directories import AgentsDirectory
from holdfast.wire import agent_lines as wire

A_LOOK = 0.25
"""Seconds in which a server looks once for new sessions and lines."""
A_LOOK_AT_ALL = 1.0
"""Seconds in which it looks once at the sessions that are over, too."""


class WrittenAgent:
    """A session that seems to run until it is closed."""

    def __init__(self, root: Path, name: str) -> None:
        self.home = AgentsDirectory(root).home(name)
        self.home.path.mkdir(parents=True)
        self.home.write_metadata({"id": name, "name": "by hand", "pid": os.getpid()})
        self.path = f"/sessions/{name}"
        assert liveness.acquire(self.home.lock)

    def write(self, *lines: bytes) -> None:
        with self.home.events.open("ab") as file:
            file.write(b"".join(lines))

    def event(self, seq: int, kind: str, **data: Any) -> bytes:
        return wire.encode_event(seq, kind, 1_768_298_400.0 + seq, self.home.id, json.dumps(data))

    def close(self) -> None:
        liveness.release(self.home.lock)
