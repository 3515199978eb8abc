"""What the tests about child processes share: a program that starts them in every way."""

from __future__ import annotations

import re
import subprocess
from typing import Any

from harness import Program, Session

PATIENCE = 60.0
CHILD_STARTER = Program("child_starter.py")
WAYS = [
    *("popen", "run", "module", "shell", "posix_spawn", "spawnv"),
    *("fork_returns", "fork_exits", "fork_execs", "fork_beside_threads"),
    *("fork_pool", "spawn_pool", "forkserver_pool", "executor"),
]


def run_undebugged(python: str, *args: str) -> tuple[str, str, int]:
    """What the program does without us."""
    argv = [python, CHILD_STARTER.path, *args]
    ran = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    return ran.stdout, ran.stderr, ran.returncode


def mask_pids(text: str) -> str:
    return re.sub(r"pid=\d+", "pid=N", text)


def list_spawn_events(session: Session) -> list[dict[str, Any]]:
    events = session.get("/events?limit=1000")["events"]
    return [each for each in events if each["event"] == "subprocess_spawned"]


def wait_for_children(parent: Session, count: int = 1) -> list[Session]:
    """Wait until that many child sessions have come, in the order in which they came."""
    events = parent.wait_for_events("child_session", count)
    return [Session(parent.server, event["session_id"]) for event in events]


def is_gone(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True
