"""What came of running an agent again from a recording, as the events of the new session say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from holdfast.model.agent_events import EventData, RecordedEvent

SAME, FORKED, INCOMPLETE, DIVERGED = "same", "forked", "incomplete", "diverged"


@dataclass(frozen=True)
class RerunOutcome:
    """How the new run compares with the recording that it was played from."""

    outcome: str
    """`same`, `forked`, `incomplete` (as far as a recording without an end goes) or `diverged`."""
    iterations: int
    message: str | None = None
    divergence: EventData | None = None
    """The fields of the `replay_diverged` event, if there is one."""


def judge_rerun(
    events: Iterable[RecordedEvent], exit_code: int, *, is_fork: bool, failed_before: bool
) -> RerunOutcome:
    """`failed_before`: the recorded agent ended with an error, so this one may, too."""
    diverged: EventData | None = None
    iterations, last = 0, ""
    for event in events:
        last = event["type"]
        if last == "replay_diverged":
            diverged = diverged or event["data"]
        iterations += last == "api_request"
    if diverged is not None:
        is_over = diverged.get("recordingEnded") and not is_fork
        outcome = INCOMPLETE if is_over else DIVERGED
        message = None if diverged.get("message") is None else str(diverged["message"])
        return RerunOutcome(outcome, iterations, message, diverged)
    if is_fork:
        return RerunOutcome(FORKED, iterations)
    if last != "session_end":
        message = f"the agent did not end in order (exit code {exit_code})"
        return RerunOutcome(DIVERGED, iterations, message)
    if exit_code and not failed_before:
        message = f"it asked for the same, and then failed (exit code {exit_code})"
        return RerunOutcome(DIVERGED, iterations, message)
    return RerunOutcome(SAME, iterations)
