"""`holdfast agent sessions`: lists the agents that run, and the recordings there are."""

from __future__ import annotations

import datetime
import json
from typing import TYPE_CHECKING, Annotated, Literal, TypedDict

import typer
from rich.measure import Measurement
from rich.table import Column, Table

from holdfast.cli.agents.event_lines import format_cost
from holdfast.cli.agents.session_selection import agents_directory, find_named
from holdfast.cli.server_access import AsJson, console, print_table
from holdfast.model.agent_events import EventData
from holdfast.recording.directories import SessionDirectory
from holdfast.recording.run_totals import read_usage
from holdfast.service.agents.recording_scan import RecordingScan, scan_recording
from holdfast.wire.agent_lines import parse_timestamp

if TYPE_CHECKING:
    from typing_extensions import Required  # in `typing` from Python 3.11 on


_ORIGIN: tuple[Literal["parent", "replayOf", "forkAt", "forkLane", "edited", "startedBy"], ...] = (
    "parent",
    "replayOf",
    "forkAt",
    "forkLane",
    "edited",
    "startedBy",
)

_MAX_WIDTH = 100_000


class SessionRow(TypedDict, total=False):
    """A session, as `--json` prints it."""

    id: Required[str]
    name: Required[str | None]
    pid: Required[int | None]
    cwd: Required[str | None]
    startTime: Required[str | None]
    state: Required[str]
    iteration: Required[int]
    held: Required[list[EventData]]
    current: Required[bool]
    tokens: Required[int]
    cost: Required[float | None]
    """What its model calls cost; null if it was given no prices."""
    reason: str
    """How it ended."""
    parent: str
    """The session that it was forked from, or whose process started its process."""
    replayOf: str
    forkAt: int
    forkLane: str
    edited: bool
    startedBy: str


def sessions(
    named: Annotated[
        str | None,
        typer.Argument(
            metavar="[WHICH]", help="Only those of this name, or whose id begins or ends so."
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Also those that have ended or crashed.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """The agents that run: id, name, pid, since when, where, and what they do."""
    agents = agents_directory()
    current = agents.current_session()
    rows = []
    for home in agents.list_sessions() if named is None else find_named(agents, named):
        scan = scan_recording(home, look_back=True)
        if scan is not None and (everything or named is not None or not scan.is_over):
            rows.append(_build_row(home, scan, current is not None and current.id == home.id))
    if as_json:
        print(json.dumps({"sessions": rows, "total": len(rows)}))
        return
    if not rows:
        console.print("No agent sessions found")
        return
    ids = Column("id", no_wrap=True, min_width=max(len(row["id"]) for row in rows) + 2)
    has_costs = any(row["cost"] is not None for row in rows)
    origins = [_format_origin(row) for row in rows]
    table = Table(ids, "name", "state", box=None, padding=(0, 2, 0, 0))
    for column in (*(["cost"] if has_costs else []), "pid", "started"):
        table.add_column(column)
    table.add_column("cwd", overflow="fold")
    if any(origins):
        table.add_column("from", overflow="fold")
    for row, origin in zip(rows, origins, strict=True):
        name = f"{row['id']} *" if row["current"] else row["id"]
        started = _format_time(row["startTime"])
        cost = "" if row["cost"] is None else format_cost(row["cost"])
        costs = [cost] if has_costs else []
        cells = [row["name"], _format_state(row), *costs, row["pid"], started, row["cwd"]]
        cells += [origin] if any(origins) else []
        table.add_row(name, *(str("" if cell is None else cell) for cell in cells))
    if console.is_terminal and _is_too_wide(table):
        for row, origin in zip(rows, origins, strict=True):
            _print_row(row, origin)
    else:
        print_table(table)


def _is_too_wide(table: Table) -> bool:
    options = console.options.update(max_width=_MAX_WIDTH, markup=False)
    return Measurement.get(console, options, table).maximum > console.width


def _print_row(row: SessionRow, origin: str) -> None:
    """A session in a few lines, for a terminal that is too small for the table."""
    mark = " *" if row["current"] else ""
    cost = "" if row["cost"] is None else f", cost {format_cost(row['cost'])}"
    details = [f"pid {row['pid']}", _format_time(row["startTime"]), row["cwd"], origin]
    lines = [
        f"{row['id']}{mark}  {row['name'] or ''}: {_format_state(row)}{cost}",
        f"    {', '.join(str(part) for part in details if part)}",
    ]
    console.print("\n".join(lines), markup=False, highlight=False)


def _build_row(home: SessionDirectory, scan: RecordingScan, is_current: bool) -> SessionRow:
    began = scan.about.get("startTime")
    fields = ("stop", "reason", "at", "name", "iteration")
    stops = scan.recorded.stops.values()
    usage = read_usage(home.events)
    row: SessionRow = {
        "id": home.id,
        "name": scan.about.get("name"),
        "pid": scan.about.get("pid"),
        "cwd": scan.about.get("cwd"),
        "startTime": began if isinstance(began, str) else None,
        "state": scan.state.value,
        "iteration": scan.recorded.iteration,
        "held": [
            {**{name: stop.data.get(name) for name in fields}, "lane": stop.lane} for stop in stops
        ],
        "current": is_current,
        "tokens": usage.tokens,
        "cost": usage.cost,
    }
    if scan.reason is not None:
        row["reason"] = scan.reason
    for name in _ORIGIN:
        if (value := scan.about.get(name)) is not None:
            row[name] = value
    return row


def _format_origin(row: SessionRow) -> str:
    """`fork of debug_… at 2 of research, edited`"""
    if "forkAt" in row:
        lane = f" of {row['forkLane']}" if "forkLane" in row else ""
        edited = ", edited" if row.get("edited") else ""
        return f"fork of {row.get('replayOf')} at {row['forkAt']}{lane}{edited}"
    if "replayOf" in row:
        return f"replay of {row['replayOf']}"
    return f"started by {row['parent']}" if "parent" in row else ""


def _format_state(row: SessionRow) -> str:
    if row["state"] == "paused":
        places = [
            f"{stop['stop']} before {stop['at']} {stop['name'] or ''}".strip()
            for stop in row["held"]
        ]
        return f"held: {', '.join(places)}"
    reason = row.get("reason")
    if reason == "crashed":
        return "crashed"
    return f"ended ({reason})" if reason else f"running, iteration {row['iteration']}"


def _format_time(began: str | None) -> str:
    """Local time, as `watch` shows it; with the date if that is not today."""
    moment = parse_timestamp(began)
    if not moment:
        return ""
    local = datetime.datetime.fromtimestamp(moment)
    is_today = local.date() == datetime.date.today()
    return local.strftime("%H:%M:%S" if is_today else "%Y-%m-%d %H:%M")
