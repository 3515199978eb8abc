"""A command for an agent: appended, announced, and its answer awaited."""

from __future__ import annotations

import errno
import os
import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any

from holdfast.model import agent_commands
from holdfast.model.agent_events import RecordedEvent
from holdfast.recording import liveness, wakeup_fifo
from holdfast.recording.directories import SessionDirectory
from holdfast.recording.regular_files import open_regular
from holdfast.recording.tail import Tail
from holdfast.wire import agent_lines

_LOOK = 0.01
ANSWERS = ("command_executed", "command_response", "error")
_RESPONDED = ("inspect", "inject_message", "set_variable", "breakpoint")


def send_command(
    home: SessionDirectory, kind: str, data: Mapping[str, Any], command_id: str | None = None
) -> str:
    """Append a command and ring for it; its id."""
    command_id = command_id or f"cmd_{secrets.token_hex(6)}"
    line = agent_lines.encode_command(kind, command_id, data, time.time())
    if len(line) > agent_lines.MAX_LINE_BYTES:
        raise OSError(errno.EFBIG, f"a command of {len(line)} bytes is too long")
    handle = open_regular(home.commands, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        if os.write(handle, line) != len(line):
            raise OSError("no room for the whole command")
    finally:
        os.close(handle)
    wakeup_fifo.ring(home.bell)
    return command_id


def tail_from_end(home: SessionDirectory) -> Tail:
    """The events from now on."""
    try:
        return Tail(home.events, home.events.stat().st_size)
    except OSError:
        return Tail(home.events)


def is_final_answer(kind: str, event: RecordedEvent) -> bool:
    """Whether an event about a command of this type is the last that it is answered with."""
    if event["type"] == "command_executed":
        return kind not in _RESPONDED or event["data"].get("status") == agent_commands.EXPIRED
    return event["type"] in ANSWERS


def collect_answers(
    tail: Tail,
    home: SessionDirectory,
    command_id: str,
    patience: float,
    want: Callable[[RecordedEvent], bool],
) -> list[RecordedEvent]:
    """The events about a command, until one of them is wanted, the agent ends, or time is up.

    `tail` is from before the command was sent.
    """
    deadline = time.monotonic() + patience
    events: list[RecordedEvent] = []
    while True:
        is_alive = liveness.is_alive(home)
        for _, line in tail.lines():
            event = agent_lines.parse_event(line)
            if event is None or event["data"].get("commandId") != command_id:
                continue
            events.append(event)
            if want(event):
                return events
        if not is_alive or time.monotonic() > deadline:
            return events
        time.sleep(_LOOK)
