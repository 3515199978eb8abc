"""A recording that is named by a session's id, or by the path of its events."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from holdfast.cli.agents.session_selection import select_recording
from holdfast.cli.server_access import complain
from holdfast.model.agent_events import RecordedEvent
from holdfast.recording.directories import SessionDirectory, SessionMetadata
from holdfast.recording.recording_state import read_events
from holdfast.recording.tail import Tail


@dataclass(frozen=True)
class Recording:
    path: Path
    """Its events."""
    home: SessionDirectory | None
    """Its directory, if it has one: a file that was copied elsewhere has none."""

    @property
    def id(self) -> str:
        if self.home is not None:
            return self.home.id
        first = next(self.events(), None)
        return str((first and first.get("sessionId")) or self.path.stem)

    @property
    def about(self) -> SessionMetadata:
        return {} if self.home is None else self.home.read_metadata()

    def events(self) -> Iterator[RecordedEvent]:
        """Every whole line."""
        return read_events(Tail(self.path))


def open_recording(named: str | None) -> Recording:
    """An id, the path of a session or of its events, or whatever is current."""
    if named is None or not (os.sep in named or named.endswith(".jsonl")):
        home = select_recording(named)
        return _check_file(home.events, home)
    path = Path(os.path.realpath(os.path.expanduser(named)))
    if path.is_dir():
        return _check_file(path / "events.jsonl", SessionDirectory(path))
    is_at_home = path.name == "events.jsonl" and (path.parent / "session.json").is_file()
    return _check_file(path, SessionDirectory(path.parent) if is_at_home else None)


def _check_file(path: Path, home: SessionDirectory | None) -> Recording:
    if not path.is_file():
        complain(
            f"There is no recording at {path}.",
            "`holdfast agent sessions --all` lists the ids there are.",
        )
    return Recording(path, home)
