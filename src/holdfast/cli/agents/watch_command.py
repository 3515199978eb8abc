"""`holdfast agent watch`: prints events as they are written."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Annotated

import typer

from holdfast.cli.agents.event_lines import format_event
from holdfast.cli.agents.session_selection import SessionOption, select_recording, select_running
from holdfast.cli.server_access import AsJson, complain, complaints, console
from holdfast.model.agent_events import EVENTS, RecordedEvent
from holdfast.recording import command_sender, liveness
from holdfast.recording.directories import SessionDirectory
from holdfast.recording.tail import Tail
from holdfast.wire import agent_lines

_POLL_SECONDS = 0.02


def watch(
    session: SessionOption = None,
    types: Annotated[
        str | None, typer.Option("--filter", "-f", help="Only these types, with commas.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="From the beginning.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print what happens, until the session ends or Ctrl+C; with --json one event a line."""
    wanted = _parse_types(types)
    if everything:
        home = select_recording(session)
        tail = Tail(home.events)
    else:
        home = select_running(session, "--all shows its recording.")
        tail = command_sender.tail_from_end(home)
    complaints.print(f"Watching {home.id}. Press Ctrl+C to stop.", style="dim", highlight=False)
    last = ""
    try:
        for event in follow(home, tail):
            kind = event["type"]
            is_repeated = kind == last == "state_snapshot"  # twice a second while it is held
            last = kind
            if wanted is not None and kind not in wanted:
                continue
            if as_json:
                print(json.dumps(event), flush=True)
            elif not is_repeated or wanted is not None:
                console.print(format_event(event), highlight=False, soft_wrap=True)
    except KeyboardInterrupt:
        return
    if last != "session_end":
        complaints.print("The agent is gone: it did not end in order.", style="red")


def follow(
    home: SessionDirectory, tail: Tail, pause: Callable[[float], None] = time.sleep
) -> Iterator[RecordedEvent]:
    """Events as they are written, until the session is over."""
    while True:
        is_alive = liveness.is_alive(home)
        lines = tail.lines()
        is_over = False
        for _, line in lines:
            event = agent_lines.parse_event(line)
            if event is not None:
                is_over = event["type"] == "session_end"
                yield event
        if (is_over and not tail.has_more()) or (not is_alive and not lines):
            return
        if not lines:
            pause(_POLL_SECONDS)


def _parse_types(given: str | None) -> frozenset[str] | None:
    if given is None:
        return None
    names = frozenset(name.strip() for name in given.split(",")) - {""}
    unknown = sorted(names - set(EVENTS))
    if unknown:
        complain(f"No events are of type {', '.join(unknown)}.", f"There are: {', '.join(EVENTS)}.")
    return names
