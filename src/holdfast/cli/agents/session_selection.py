"""Which session is meant: the one that is named, else `current`, else the newest that runs."""

from __future__ import annotations

from typing import Annotated

import typer

from holdfast.cli.server_access import complain
from holdfast.client import discovery
from holdfast.recording import liveness, session_index, session_names
from holdfast.recording.directories import AgentsDirectory, SessionDirectory, agents_dir

SessionOption = Annotated[
    str | None,
    typer.Option(
        "--session",
        "-s",
        help="A session: its id, the beginning or end of it, or its name; else the current one.",
    ),
]
LaneOption = Annotated[
    str | None, typer.Option("--lane", help="One of several agents in the process, by its lane.")
]
_MAX_CANDIDATES = 20
_START = (
    'An agent has one while it runs with `holdfast.bridge.start("my-agent")`; '
    "`holdfast agent sessions --all` lists the recordings of those that are over."
)


def agents_directory() -> AgentsDirectory:
    return AgentsDirectory(agents_dir(discovery.data_dir()))


def select_recording(session: str | None) -> SessionDirectory:
    """The session that is meant, whether or not its agent still runs."""
    agents = agents_directory()
    if session is not None:
        return _choose_one(session, find_named(agents, session))
    home = _find_running(agents) or agents.current_session()
    if home is None or not home.path.is_dir():
        complain("No active agent session.", _START)
    return home


def select_running(session: str | None, hint: str = _START) -> SessionDirectory:
    """The session that is meant, whose agent runs. Those that are over are not in its way."""
    agents = agents_directory()
    if session is None:
        home = _find_running(agents)
        if home is None:
            complain("No active agent session.", _START)
        return home
    homes = find_named(agents, session)
    running = [home for home in homes if liveness.is_alive(home)]
    if not running:
        which = homes[-1].id if len(homes) == 1 else session
        complain(f"The agent of session {which} is gone.", hint)
    return _choose_one(session, running)


def find_named(agents: AgentsDirectory, session: str) -> list[SessionDirectory]:
    """Every session that the text may mean; at least one, or a message that there is none."""
    homes = session_names.find_sessions(agents, session)
    if not homes:
        complain(
            f"No agent session {session}.",
            "It is named by its id, the beginning or the end of its id, or the agent's name; "
            "`holdfast agent sessions --all` lists them.",
        )
    return homes


def _choose_one(session: str, homes: list[SessionDirectory]) -> SessionDirectory:
    if len(homes) > 1:
        newest = homes[::-1][:_MAX_CANDIDATES]
        lines = [_format_candidate(home) for home in newest]
        if len(homes) > len(newest):
            lines.append(f"  and {len(homes) - len(newest)} older ones")
        complain(
            f"{session} may mean {len(homes)} sessions. Name one of them by more of its id:",
            "\n".join(lines),
            candidates=[home.id for home in reversed(homes)],
        )
    return homes[0]


def _format_candidate(home: SessionDirectory) -> str:
    about = home.read_metadata()
    state = "running" if liveness.is_alive(home) else about.get("reason") or "ended"
    return f"  {home.id}  {about.get('name') or ''} ({state})"


def _find_running(agents: AgentsDirectory) -> SessionDirectory | None:
    current = agents.current_session()
    if current is not None and liveness.is_alive(current):
        return current
    others = session_index.list_active(agents)
    return agents.home(others[-1]["id"]) if others else None
