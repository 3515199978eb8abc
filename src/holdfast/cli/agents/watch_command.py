"""`holdfast agent watch`: prints events as they are written."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated

import typer

from holdfast.cli.agents.event_lines import EventFormatter, format_totals
from holdfast.cli.agents.session_selection import (
    SessionOption,
    agents_directory,
    select_recording,
    select_running,
)
from holdfast.cli.server_access import AsJson, complain, complaints, console
from holdfast.model.agent_events import EVENTS, RecordedEvent
from holdfast.recording import command_sender, liveness, session_names
from holdfast.recording.content_files import ContentFiles
from holdfast.recording.directories import AgentsDirectory, SessionDirectory
from holdfast.recording.recording_state import RecordingState, read_events
from holdfast.recording.run_totals import add_up
from holdfast.recording.tail import Tail
from holdfast.wire import agent_lines

_POLL_SECONDS = 0.02


FullOption = Annotated[
    bool, typer.Option("--full", help="Inputs, results and answers whole, however long.")
]


def watch(
    session: SessionOption = None,
    types: Annotated[
        str | None, typer.Option("--filter", "-f", help="Only these types, with commas.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="From the beginning.")] = False,
    is_waiting: Annotated[
        bool, typer.Option("--wait", help="Wait for the next agent to start, and watch that.")
    ] = False,
    is_full: FullOption = False,
    as_json: AsJson = False,
) -> None:
    """Print what happens, until the session ends or Ctrl+C; with --json one event a line."""
    wanted = _parse_types(types)
    try:
        home, tail = _choose_session(session, everything, is_waiting)
        complaints.print(f"Watching {home.id}. Press Ctrl+C to stop.", style="dim", highlight=False)
        last = _print_events(home, tail, wanted, is_full, as_json)
    except KeyboardInterrupt:
        return
    if last != "session_end":
        complaints.print("The agent is gone: it did not end in order.", style="red")
    if not as_json and wanted is None:
        print_totals(read_events(Tail(home.events)))


def _choose_session(
    session: str | None, everything: bool, is_waiting: bool
) -> tuple[SessionDirectory, Tail]:
    if is_waiting:
        home = wait_for_next(agents_directory(), session)
        return home, Tail(home.events)
    if everything:
        home = select_recording(session)
        return home, Tail(home.events)
    home = select_running(session, "--all shows its recording, --wait waits for the next one.")
    return home, command_sender.tail_from_end(home)


def wait_for_next(
    agents: AgentsDirectory, named: str | None, pause: Callable[[float], None] = time.sleep
) -> SessionDirectory:
    """The first session that begins from now on; of several at once, the one that sorts first."""
    known = {home.id for home in agents.list_sessions()}
    which = "the next agent" if named is None else f"an agent {named}"
    text = f"Waiting for {which} to start. Press Ctrl+C to stop."
    complaints.print(text, style="dim", markup=False, highlight=False)
    while True:
        for home in agents.list_sessions():
            if home.id in known or not home.events.is_file():
                continue
            if named is None or home in session_names.find_sessions(agents, named):
                return home
        pause(_POLL_SECONDS)


def _print_events(
    home: SessionDirectory,
    tail: Tail,
    wanted: frozenset[str] | None,
    is_full: bool,
    as_json: bool,
) -> str:
    """The type of the last event."""
    last = ""
    formatter = make_formatter(home, is_full)
    for event in follow(home, tail):
        kind = event["type"]
        is_repeated = kind == last == "state_snapshot"  # twice a second while it is held
        last = kind
        is_wanted = wanted is None or kind in wanted
        if as_json:
            if is_wanted:
                print(json.dumps(event), flush=True)
            continue
        line = formatter.format(event, line_width())
        if is_wanted and (not is_repeated or wanted is not None):
            console.print(line, highlight=False, soft_wrap=True)
    return last


def print_totals(events: Iterable[RecordedEvent]) -> None:
    """What a run came to, in a line on stderr: it is no event."""
    totals = format_totals(add_up(events).describe())
    text = ", ".join(f"{name} {value}" for name, value in totals.items())
    complaints.print(text, style="dim", markup=False, highlight=False, soft_wrap=True)


def make_formatter(home: SessionDirectory | None, is_full: bool) -> EventFormatter:
    contents = None if home is None else ContentFiles(home.contents)
    return EventFormatter(RecordingState(contents).read_body, is_full=is_full)


def line_width() -> int | None:
    """The width of the terminal; None in a pipe, where an event is a line."""
    return console.width if console.is_terminal else None


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
