"""The kinds and the states of sessions."""

from __future__ import annotations

from enum import Enum


class Kind(str, Enum):
    """What a session debugs."""

    PROGRAM = "program"
    CALLS = "calls"
    AGENT = "agent"


class State(str, Enum):
    """The state of a session. `core.lifecycle` has the transitions."""

    CREATED = "created"
    LAUNCHING = "launching"
    RUNNING = "running"
    PAUSED = "paused"
    WAITING_FOR_INPUT = "waiting_for_input"
    TERMINATED = "terminated"
    FAILED = "failed"
