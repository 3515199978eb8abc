"""The line on top: where the program is, why, and who moved it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from holdfast.cli.screen.debug_state import WAITING, DebugState
from holdfast.cli.screen.plain_text import shorten

_MAX_CHARS = 300
_ACTIONS = {
    "continue": "continued",
    "step-over": "stepped over",
    "step-into": "stepped into",
    "step-out": "stepped out",
}


def describe_state(state: DebugState) -> str:
    """Where the program is and why."""
    if state.is_paused:
        text = f"‖ {_describe_stop(state)}"
    elif state.is_over:
        text = f"■ {_describe_end(state)}"
    elif state.status == WAITING:
        text = f"● waits for input: {state.prompt.strip()}" if state.prompt else "● waits for input"
    else:
        text = f"● {state.status}"
    if state.message:
        text += f"  ·  {state.message}"
    return shorten(text, _MAX_CHARS)


def _describe_stop(state: DebugState) -> str:
    reason = state.reason or "paused"
    if state.exception is not None:
        reason = str(state.exception)
    place = f"{Path(state.file).name}:{state.line}" if state.file else "?"
    text = f"{reason}  ·  {place}"
    if state.function:
        text += f"  {state.function}"
    if state.returned:
        text += f"  ·  {state.returned}"
    return text


def _describe_end(state: DebugState) -> str:
    if state.status == "failed":
        return f"could not be started: {state.reason}"
    how = ""
    if state.signal:
        how = f" by {state.signal}"
    elif state.exit_code is not None:
        how = f" with exit code {state.exit_code}"
    text = f"ended{how}"
    if state.exception is not None:
        text += f"  ·  {state.exception}"
        text += "".join(f", because of {cause}" for cause in state.exception.causes)
    return text + "  ·  R runs it again"


def describe_event(event: Mapping[str, Any]) -> str | None:
    """What another client did, for a person; None if that is not worth a word."""
    by = event.get("by")
    match event.get("event"):
        case "continued":
            return f"{by} {_ACTIONS.get(event['action'], event['action'])}"
        case "breakpoint_set":
            return f"{by} set a breakpoint at {_name_place(event)}"
        case "breakpoint_removed":
            return f"{by} removed a breakpoint"
        case "terminating" if by:
            return f"{by} ends the program"
        case _:
            return None


def _name_place(event: Mapping[str, Any]) -> str:
    if event.get("kind") == "line" and event.get("file"):
        return f"{Path(event['file']).name}:{event['line']}"
    return str(event.get("function") or event.get("expression"))
