"""Events of an agent's recording: the names of their types."""

from __future__ import annotations

EVENTS = (
    *("session_start", "session_end", "run_start", "run_end", "user_input"),
    *("api_request", "api_response", "tool_call_start", "tool_result", "tool_call_end"),
    *("context_compaction", "paused", "resumed", "step_complete", "breakpoint_hit"),
    *("state_snapshot", "command_executed", "command_applied", "command_response"),
    *("message_injected", "variable_set", "value_recorded", "replay_diverged", "events_lost"),
    "error",
)

MAIN = "main"
"""The lane of an agent that is alone in its process."""
