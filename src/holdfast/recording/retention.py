"""Recordings of sessions that are over stay for a while, so that they can be replayed.

Kept are the newest `KEEP` (`HOLDFAST_AGENT_KEEP`), of the last `DAYS` (`HOLDFAST_AGENT_DAYS`).
A session whose agent runs is never touched, nor is one that was reopened meanwhile.
"""

from __future__ import annotations

import os
import shutil
import time

from holdfast.recording import liveness
from holdfast.recording.directories import AgentsDirectory, SessionDirectory

KEEP = 200
DAYS = 30.0


def prune(agents: AgentsDirectory, keep: int | None = None, days: float | None = None) -> list[str]:
    """Delete what is beyond that, and say which."""
    most = int(_setting("HOLDFAST_AGENT_KEEP", KEEP)) if keep is None else keep
    oldest = time.time() - (_setting("HOLDFAST_AGENT_DAYS", DAYS) if days is None else days) * 86400
    over = [home for home in agents.list_sessions() if not liveness.is_alive(home)]
    over.sort(key=_last_used, reverse=True)
    gone = [home for at, home in enumerate(over) if at >= most or _last_used(home) < oldest]
    for home in gone:
        shutil.rmtree(home.path, ignore_errors=True)
    return [home.id for home in gone]


def _last_used(home: SessionDirectory) -> float:
    for path in (home.events, home.path):
        try:
            return path.stat().st_mtime
        except OSError:
            continue
    return 0.0


def _setting(name: str, default: float) -> float:
    try:
        return float(os.environ.get(name) or default)
    except ValueError:
        return default
