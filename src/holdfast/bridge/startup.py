"""`start`: begins a session, goes on with one, or replays a recording."""

from __future__ import annotations

import atexit
import json
import logging
import os
import sys
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from holdfast.bridge import initial_holds, process_parent, project_file
from holdfast.bridge.agent_bridge import Bridge
from holdfast.bridge.initial_holds import Hold
from holdfast.bridge.replay_tape import FULL, MODEL, ForkEdits, ReplayTape
from holdfast.client.discovery import data_dir
from holdfast.model.agent_events import MAIN
from holdfast.recording import liveness
from holdfast.recording.directories import (
    AgentsDirectory,
    SessionDirectory,
    agents_dir,
    make_private_dir,
)

logger = logging.getLogger("holdfast")

_bridges: weakref.WeakSet[Bridge] = weakref.WeakSet()
_latest: weakref.ref[Bridge] | None = None


def start(
    name: str = "agent",
    *,
    directory: str | os.PathLike[str] | None = None,
    session: str | None = None,
    provider: str | None = None,
    model: str | None = None,
    redact: bool | Sequence[str] = True,
    hold: Hold = False,
    prices: Mapping[str, Sequence[float]] | None = None,
) -> Bridge:
    """Begin a session; with `session`, go on with one whose agent has ended.

    With `hold`, its first call is held, or what a breakpoint such as `"tool:write_*"` says. The
    rules of the project's `holdfast.toml` count from the first call on. A mistake in one of these
    raises here.

    `prices` says what a million tokens cost, input and output, by the name of a model or a glob:
    `{"gpt-5*": [1.25, 10.0]}`. They come before those of `holdfast.toml`.

    What cannot be written does not stop an agent: without a directory the bridge is there, and
    records nothing.
    """
    global _latest
    project, arming = project_file.read_nearest(), initial_holds.read_arming(hold)
    rules, known = project.rules, _join_prices(prices, project)
    tape = _tape(directory)
    home: SessionDirectory | None = None
    try:
        home = _choose_directory(directory, session)
    except OSError as problem:
        logger.warning("this agent is not recorded: %s", problem)
    if home is not None and not _acquire(home):
        if session is not None:
            raise ValueError(f"the agent of session {session} still runs")
        home = None
    try:
        bridge = Bridge(
            name,
            home,
            redact=redact,
            provider=provider,
            model=model,
            tape=tape,
            started_by=process_parent.find(),
            rules=rules,
            arming=arming,
            prices=known,
        )
    except OSError as problem:
        logger.warning("this agent is not recorded: %s", problem)
        bridge = Bridge(
            name, None, redact=redact, provider=provider, model=model, tape=tape, rules=rules
        )
    if bridge.home is None and arming:
        logger.warning("it does not begin held: without its files, nobody could let it go on")
    elif arming or os.environ.get(initial_holds.ANNOUNCE_VARIABLE):
        initial_holds.announce(bridge.id, arming)
    process_parent.enter(bridge.id)
    _bridges.add(bridge)
    _latest = weakref.ref(bridge)
    return bridge


def _join_prices(
    given: Mapping[str, Sequence[float]] | None, project: project_file.ProjectFile
) -> dict[str, project_file.Price]:
    """Those of the program first: the first name or glob that fits counts."""
    own = {} if given is None else project_file.parse_prices(given)
    return {**own, **{name: price for name, price in project.prices.items() if name not in own}}


def active() -> Bridge:
    """The session that was started last; one is started if there is none."""
    found = None if _latest is None else _latest()
    return start() if found is None or found.is_over else found


def _root(directory: str | os.PathLike[str] | None) -> AgentsDirectory:
    return AgentsDirectory(
        agents_dir(data_dir()) if directory is None else Path(directory).absolute()
    )


def _choose_directory(
    directory: str | os.PathLike[str] | None, session: str | None
) -> SessionDirectory:
    replayed_to = os.environ.pop("HOLDFAST_REPLAY_DIRECTORY", None)
    root = _root(replayed_to or directory)
    if root.root.parent == data_dir():
        make_private_dir(root.root.parent)
    if session is None:
        return root.create_session()
    home = root.home(session)
    if not home.path.is_dir():
        raise ValueError(f"there is no session {session} in {root.sessions}")
    return home


def _acquire(home: SessionDirectory) -> bool:
    try:
        return liveness.acquire(home.lock)
    except OSError:
        return True  # there are no locks here: it is recorded all the same


def _tape(directory: str | os.PathLike[str] | None) -> ReplayTape | None:
    """What `HOLDFAST_REPLAY` asks for: of one session, not of those that its tools may start."""
    wanted = os.environ.pop("HOLDFAST_REPLAY", None)
    if not wanted:
        return None
    home = SessionDirectory(Path(wanted)) if os.sep in wanted else _root(directory).home(wanted)
    if not home.events.is_file():
        raise ValueError(f"HOLDFAST_REPLAY: there is no recording {wanted}")
    mode = os.environ.get("HOLDFAST_REPLAY_MODE") or FULL
    if mode not in (MODEL, FULL):
        raise ValueError(f"HOLDFAST_REPLAY_MODE is {MODEL} or {FULL}, not {mode!r}")
    fork_at = os.environ.get("HOLDFAST_FORK_AT")
    lane = os.environ.get("HOLDFAST_FORK_LANE") or MAIN
    tape = ReplayTape(home, mode, int(fork_at) if fork_at else None, lane)
    edits = _read_edits()
    tape.edits = edits.get("results") or {}
    tape.fork_edits = ForkEdits(
        messages=edits.get("messages"),
        system=edits.get("system"),
        message=edits.get("message"),
        is_held=bool(edits.get("hold")),
    )
    return tape


def _read_edits() -> dict[str, Any]:
    """What a fork changes: in a variable, or in the file that another names if it is long."""
    text = os.environ.get("HOLDFAST_FORK_EDITS")
    if not text and (path := os.environ.get("HOLDFAST_FORK_EDITS_FILE")):
        text = _read_edits_file(path)
    edits = json.loads(text or "{}")
    if not isinstance(edits, dict):
        raise ValueError(f"HOLDFAST_FORK_EDITS is an object, not {text!r:.100}")
    return edits


def _read_edits_file(path: str) -> str:
    """Without it, the agent would run as if nothing was to be changed: so it does not."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as problem:
        raise ValueError(
            f"HOLDFAST_FORK_EDITS_FILE: what this fork changes cannot be read: {problem}. Whoever "
            "started the fork has ended or has given it up: fork again"
        ) from None


def _close_all() -> None:
    # Python leaves there what ended the program, and nothing if it was a plain exit.
    reason = "exit" if getattr(sys, "last_value", None) is None else "error"
    for bridge in list(_bridges):
        bridge.close(reason)


def _detach_child() -> None:
    process_parent.detach_child()
    for bridge in list(_bridges):
        bridge.detach_child()


atexit.register(_close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_detach_child)
