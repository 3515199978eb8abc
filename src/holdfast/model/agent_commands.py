"""Commands to an agent: their names, their options, and what can become of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

COMMANDS = (
    *("pause", "resume", "step", "inspect", "inject_message", "set_variable", "cancel_tool"),
    "breakpoint",
)
INSPECTABLE = ("messages", "context", "tools", "all")
ROLES = ("user", "assistant", "system")

ACTIONS = ("continue", "modify", "skip", "raise", "cancel", "inject", "step")
"""Every decision that some hold of an agent takes."""
AT_MODEL = ("continue", "modify", "skip", "raise", "inject", "step")
AT_TOOL = ("continue", "modify", "skip", "raise", "cancel", "step")
AT_ERROR = ("continue", "skip", "raise", "step")

ACCEPTED = "accepted"
"""It was understood, and takes effect later."""
APPLIED = "applied"
REJECTED = "rejected"
EXPIRED = "expired"
"""What it meant is over."""


@dataclass(frozen=True)
class Command:
    type: str
    id: str
    data: dict[str, Any] = field(default_factory=dict)
