"""Commands to an agent: their names, their options, and what can become of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast.model.decision import AGENT_MOMENTS, Moment, names_at

COMMANDS = (
    *("pause", "resume", "step", "inspect", "inject_message", "set_variable", "cancel_tool"),
    "breakpoint",
)
INSPECTABLE = ("messages", "context", "tools", "all")

ACTIONS = names_at(*AGENT_MOMENTS)
"""Every action that some hold of an agent allows."""
AT_MODEL = names_at(Moment.MODEL)
AT_TOOL = names_at(Moment.TOOL)
AT_ERROR = names_at(Moment.ERROR)

ACCEPTED = "accepted"
"""It was understood, and takes effect later."""
APPLIED = "applied"
REJECTED = "rejected"
EXPIRED = "expired"
"""What it meant is over."""


CommandData = Mapping[str, Any]
"""The options of a command. Only the agent checks them."""


@dataclass(frozen=True)
class Command:
    type: str
    id: str
    data: CommandData = field(default_factory=dict)
