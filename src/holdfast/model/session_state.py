"""A session is one target's life: what kind of target, and where in its life it is."""

from __future__ import annotations

from enum import Enum


class Kind(str, Enum):
    """What a session debugs."""

    PROGRAM = "program"
    CALLS = "calls"
    AGENT = "agent"


class State(str, Enum):
    """Where a session is in its life. `core.lifecycle` says how it moves between these."""

    CREATED = "created"
    LAUNCHING = "launching"
    RUNNING = "running"
    PAUSED = "paused"
    WAITING_FOR_INPUT = "waiting_for_input"
    TERMINATED = "terminated"
    FAILED = "failed"
