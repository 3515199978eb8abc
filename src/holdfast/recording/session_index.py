"""`index.json`: the sessions that run now, rewritten whole and under a lock."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]

from holdfast import timings
from holdfast.recording import liveness
from holdfast.recording.directories import (
    AgentsDirectory,
    SessionDirectory,
    SessionMetadata,
    write_atomically,
)
from holdfast.recording.regular_files import open_regular, read_regular

Entry = dict[str, Any]


def build_entry(home: SessionDirectory, about: SessionMetadata) -> Entry:
    return {
        "id": home.id,
        **{name: about.get(name) for name in ("name", "pid", "startTime", "cwd")},
    }


def register(home: SessionDirectory, about: SessionMetadata) -> None:
    """Enter a session. Those whose agents are gone leave."""
    others = [home.id]
    _rewrite(
        home.agents,
        lambda entries: [*_keep_alive(home.agents, entries, others), build_entry(home, about)],
    )


def unregister(home: SessionDirectory) -> None:
    _rewrite(home.agents, lambda entries: _keep_alive(home.agents, entries, [home.id]))


def remove_dead(agents: AgentsDirectory) -> None:
    """Strike out the sessions whose agents are gone."""
    if len(list_active(agents)) != len(_read(agents) or []):
        _rewrite(agents, lambda entries: _keep_alive(agents, entries, []))


def list_active(agents: AgentsDirectory) -> list[Entry]:
    """The sessions that run now, oldest first; the index is not believed, it is looked after."""
    entries = _read(agents)
    if entries is None:
        homes = [home for home in agents.list_sessions() if liveness.is_alive(home)]
        return [build_entry(home, home.read_metadata()) for home in homes]
    return _keep_alive(agents, entries, [])


def _keep_alive(agents: AgentsDirectory, entries: list[Entry], without: list[str]) -> list[Entry]:
    kept = []
    for entry in entries:
        if entry["id"] in without:
            continue
        with contextlib.suppress(ValueError):
            if liveness.is_alive(agents.home(entry["id"])):
                kept.append(entry)
    return kept


def _read(agents: AgentsDirectory) -> list[Entry] | None:
    """What it says; None if it cannot be understood."""
    try:
        entries = json.loads(read_regular(agents.index))["sessions"]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if not isinstance(entries, list):
        return None
    return [
        entry for entry in entries if isinstance(entry, dict) and isinstance(entry.get("id"), str)
    ]


def _rewrite(agents: AgentsDirectory, change: Callable[[list[Entry]], list[Entry]]) -> None:
    with _lock(agents):
        entries = _read(agents)
        if entries is None:
            aside = agents.index.with_name("index.json.corrupt")
            with contextlib.suppress(OSError):
                os.replace(agents.index, aside)
            entries = [build_entry(home, home.read_metadata()) for home in agents.list_sessions()]
        document = {"sessions": change(entries)}
        write_atomically(agents.index, json.dumps(document, indent=2).encode() + b"\n")


@contextlib.contextmanager
def _lock(agents: AgentsDirectory) -> Iterator[None]:
    handle = open_regular(agents.index_lock, os.O_RDWR | os.O_CREAT)
    try:
        deadline = time.monotonic() + timings.TIMINGS.index_free
        while fcntl is not None:
            try:
                # flock, not lockf: two threads of one process must keep each other out as well.
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.002)
        yield
    finally:
        os.close(handle)
