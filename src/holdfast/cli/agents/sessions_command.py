"""`holdfast agent sessions`: which agents run, and which recordings there are."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Column, Table

from holdfast.cli.agents.session_selection import agents_directory
from holdfast.cli.server_access import AsJson, console
from holdfast.model.agent_events import EventData
from holdfast.recording.directories import SessionDirectory
from holdfast.service.agents.recording_scan import RecordingScan, scan_recording
from holdfast.wire.agent_lines import parse_timestamp
from holdfast.wire.rest import timestamp

Json = dict[str, Any]
_WIDE = 1000


def sessions(
    everything: Annotated[
        bool, typer.Option("--all", help="Also those that have ended or crashed.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """The agents that run: id, name, pid, since when, where, and what they do."""
    agents = agents_directory()
    current = agents.current_session()
    found = []
    for home in agents.list_sessions():
        seen = scan_recording(home, look_back=True)
        if seen is not None and (everything or (seen.is_alive and not seen.is_over)):
            is_current = current is not None and current.id == home.id
            found.append({**_shown(home, seen), "current": is_current})
    if as_json:
        print(json.dumps({"sessions": found, "total": len(found)}))
        return
    if not found:
        console.print("No agent sessions found")
        return
    whole = Column("id", no_wrap=True, min_width=max(len(each["id"]) for each in found) + 2)
    table = Table(whole, "name", "pid", "started", "cwd", "state", box=None)
    for each in found:
        named = f"{each['id']} *" if each["current"] else each["id"]
        cells = [each["name"], each["pid"], _short(each["startTime"]), each["cwd"], _told(each)]
        table.add_row(named, *(str("" if cell is None else cell) for cell in cells))
    # A pipe has no width that a row would have to fit into.
    (console if console.is_terminal else Console(width=_WIDE)).print(table)


def _shown(home: SessionDirectory, seen: RecordingScan) -> Json:
    about = seen.about
    began = about.get("startTime")
    shown: Json = {
        "id": home.id,
        **{name: about.get(name) for name in ("name", "pid", "cwd")},
        "startTime": began if isinstance(began, str) else None,
        "state": seen.state.value,
        "iteration": seen.recorded.iteration,
        "held": [_held(stop.data) for stop in seen.recorded.stops.values()],
    }
    if seen.reason is not None:
        shown["reason"] = seen.reason
    return shown


def _held(stop: EventData) -> Json:
    return {name: stop.get(name) for name in ("stop", "reason", "at", "name", "iteration")}


def _told(session: Json) -> str:
    if session["state"] == "paused":
        places = [
            f"{each['stop']} before {each['at']} {each['name'] or ''}".strip()
            for each in session["held"]
        ]
        return f"held: {', '.join(places)}"
    reason = session.get("reason")
    if reason == "crashed":
        return "crashed"
    return f"ended ({reason})" if reason else f"running, iteration {session['iteration']}"


def _short(began: Any) -> str:
    moment = parse_timestamp(began)
    return timestamp(moment)[:19].replace("T", " ") if moment else ""
