"""The process of a program."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ProcessFacts:
    name: str
    """What was launched, or what the session is called."""
    pid: int | None
    is_launched: bool
    """We started it; otherwise it was attached to."""
    is_local: bool = True
