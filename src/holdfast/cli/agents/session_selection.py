"""Which session is meant: the one that is named, else `current`, else the newest that runs."""

from __future__ import annotations

from typing import Annotated

import typer

from holdfast.cli.server_access import complain
from holdfast.client import discovery
from holdfast.recording import liveness, session_index
from holdfast.recording.directories import AgentsDirectory, SessionDirectory, agents_dir

SessionOption = Annotated[
    str | None, typer.Option("--session", "-s", help="A session's id; the current one if left out.")
]
LaneOption = Annotated[
    str | None, typer.Option("--lane", help="One of several agents in the process, by its lane.")
]
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
        return _find_named(agents, session)
    home = _find_running(agents) or agents.current_session()
    if home is None or not home.path.is_dir():
        complain("No active agent session.", _START)
    return home


def select_running(session: str | None) -> SessionDirectory:
    """The session that is meant, whose agent runs."""
    agents = agents_directory()
    if session is None:
        home = _find_running(agents)
        if home is None:
            complain("No active agent session.", _START)
        return home
    home = _find_named(agents, session)
    if not liveness.is_alive(home):
        complain(f"The agent of session {session} is gone.", _START)
    return home


def _find_named(agents: AgentsDirectory, session: str) -> SessionDirectory:
    try:
        home = agents.home(session)
    except ValueError as problem:
        complain(str(problem), "`holdfast agent sessions --all` lists the ids there are.")
    if not home.path.is_dir():
        complain(
            f"No agent session {session}.",
            "`holdfast agent sessions --all` lists the ids there are.",
        )
    return home


def _find_running(agents: AgentsDirectory) -> SessionDirectory | None:
    current = agents.current_session()
    if current is not None and liveness.is_alive(current):
        return current
    others = session_index.list_active(agents)
    return agents.home(others[-1]["id"]) if others else None
