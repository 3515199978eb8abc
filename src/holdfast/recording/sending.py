"""A command for an agent: appended, announced, and its answer awaited."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable
from typing import Any

from holdfast.model import agent
from holdfast.recording import bell, liveness
from holdfast.recording.layout import Home
from holdfast.recording.tail import Tail
from holdfast.wire import agents

_LOOK = 0.01
ANSWERS = ("command_executed", "command_response", "error")
_RESPONDED = ("inspect", "inject_message", "set_variable", "breakpoint")


def send(home: Home, kind: str, data: dict[str, Any], command_id: str | None = None) -> str:
    """Append a command and ring for it; its id."""
    command_id = command_id or f"cmd_{secrets.token_hex(6)}"
    line = agents.command(kind, command_id, data, time.time())
    handle = os.open(home.commands, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        if os.write(handle, line) != len(line):
            raise OSError("no room for the whole command")
    finally:
        os.close(handle)
    bell.ring(home.bell)
    return command_id


def end_of(home: Home) -> Tail:
    """The events from now on."""
    try:
        return Tail(home.events, home.events.stat().st_size)
    except OSError:
        return Tail(home.events)


def settles(kind: str, event: dict[str, Any]) -> bool:
    """Whether an event about a command of this type is the last that it is answered with."""
    if event["type"] == "command_executed":
        return kind not in _RESPONDED or event["data"].get("status") == agent.EXPIRED
    return event["type"] in ANSWERS


def answered(
    tail: Tail, home: Home, command_id: str, patience: float, want: Callable[[Any], bool]
) -> list[dict[str, Any]]:
    """The events about a command, until one of them is wanted, the agent ends, or time is up.

    `tail` is from before the command was sent.
    """
    deadline = time.monotonic() + patience
    found: list[dict[str, Any]] = []
    while True:
        is_alive = liveness.is_alive(home)
        for _, line in tail.lines():
            event = agents.parsed(line)
            if event is None or event["data"].get("commandId") != command_id:
                continue
            found.append(event)
            if want(event):
                return found
        if not is_alive or time.monotonic() > deadline:
            return found
        time.sleep(_LOOK)
