"""What is said of an agent's loop, and to it: the names of events, commands and holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

EVENTS = (
    *("session_start", "session_end", "run_start", "run_end", "user_input"),
    *("api_request", "api_response", "tool_call_start", "tool_result", "tool_call_end"),
    *("context_compaction", "paused", "resumed", "step_complete", "breakpoint_hit"),
    *("state_snapshot", "command_executed", "command_applied", "command_response"),
    *("message_injected", "variable_set", "value_recorded", "replay_diverged", "events_lost"),
    "error",
)
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

MAIN = "main"
"""The lane of an agent that is alone in its process."""


@dataclass(frozen=True)
class Command:
    type: str
    id: str
    data: dict[str, Any] = field(default_factory=dict)
