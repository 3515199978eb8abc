"""Finds the state of an agent session from the end of its recording."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

from holdfast import timings
from holdfast.model.agent_events import EventData, RecordedEvent
from holdfast.model.session_state import State
from holdfast.recording import liveness
from holdfast.recording.directories import SessionDirectory, SessionMetadata
from holdfast.recording.recording_state import RecordingState
from holdfast.recording.regular_files import open_regular
from holdfast.service.agents import event_log
from holdfast.wire import agent_lines

MAX_FOLLOWED_BYTES = 1 << 20
"""A live session that has written no more than this is read from its beginning."""
CRASHED = "crashed"
_MAX_BYTES = 256 << 20
_MAX_BYTES_OF_ENDED = 64 * 1024
_KEPT_TYPES = ("paused", "resumed", "session_start")


@dataclass
class RecordingScan:
    """`offset` is where following goes on; `seq` and `place` are those of the last event."""

    about: SessionMetadata
    is_alive: bool
    offset: int = 0
    seq: int = 0
    place: int = 0
    recorded: RecordingState = field(default_factory=lambda: RecordingState(keeps_messages=False))

    @property
    def is_over(self) -> bool:
        """Whether the session has ended. Its process may still run."""
        return not self.is_alive or self.recorded.is_over

    @property
    def reason(self) -> str | None:
        """How it ended; None while it runs."""
        return (self.recorded.end_reason or CRASHED) if self.is_over else None

    @property
    def state(self) -> State:
        if self.is_over:
            return State.TERMINATED
        return State.PAUSED if self.recorded.stops else State.RUNNING


def scan_recording(home: SessionDirectory, *, look_back: bool = False) -> RecordingScan | None:
    """Reads a few files: for a thread. None for a directory in which nothing was recorded yet.

    `look_back`: also into a recording that is short enough to be followed from its beginning.
    """
    if not all(map(_is_file, (home.events, home.about))):
        return None
    # Checked before the events are read. If the agent is dead, all that it wrote is in the file.
    scan = RecordingScan(home.read_metadata(), liveness.is_alive(home))
    try:
        handle = open_regular(home.events)
    except OSError:
        return None
    try:
        size = os.fstat(handle).st_size
        if look_back or size > MAX_FOLLOWED_BYTES or not scan.is_alive:
            for event in reversed(_read_last_events(scan, handle, size)):
                scan.recorded.take(event)
    except OSError:
        return None
    finally:
        os.close(handle)
    return scan


def _is_file(path: Path) -> bool:
    """Whether it is a regular file, or one that need not be there."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except FileNotFoundError:
        return path.name != "events.jsonl"  # the other files are optional
    except OSError:
        return False


def _read_last_events(scan: RecordingScan, handle: int, size: int) -> list[RecordedEvent]:
    """The newest events, newest first, back to one that determines the state.

    While something is held, a snapshot twice a second names it: none for longer than that means
    that nothing is held but what the events so far say.
    """
    events: list[RecordedEvent] = []
    resumed: set[str] = set()
    paused: set[str] = set()
    held: set[str] | None = None  # stops in the latest snapshot; None until one is found
    has_iteration = False
    newest = 0.0
    block = 256 * 1024 if scan.is_alive else 16 * 1024
    for place, line in event_log.read_lines_backwards(handle, size, block):
        if scan.offset == 0:
            scan.offset = place + len(line) + 1
        event = event_log.parse_event(line)
        if event is None:
            continue
        data, moment = event["data"], agent_lines.parse_timestamp(event.get("timestamp"))
        if not events:
            scan.seq, scan.place, newest = event["seq"], place, moment
        has_newest = bool(data.get("iteration")) and isinstance(data["iteration"], int)
        if not events or (has_newest and not has_iteration) or event["type"] in _KEPT_TYPES:
            events.append(event)
        has_iteration = has_iteration or has_newest
        match event["type"]:
            case "resumed":
                resumed.add(str(data.get("stop")))
            case "paused" if str(data.get("stop")) not in resumed:
                paused.add(str(data.get("stop")))
            case "state_snapshot" if held is None:
                held = _stops_in(data) - resumed
            case "session_start":
                break  # no earlier stop is still held
        looked_at = size - place
        if not scan.is_alive and (has_iteration or looked_at > _MAX_BYTES_OF_ENDED):
            break
        is_settled = held is not None or moment < newest - timings.TIMINGS.hold_named
        is_complete = is_settled and not (held or set()) - paused
        if is_complete and (has_iteration or looked_at > MAX_FOLLOWED_BYTES):
            break
        if looked_at > _MAX_BYTES:
            break
    if scan.offset == 0 and size > _MAX_BYTES:
        scan.offset = size  # the end of the file is one line without an end
    return events


def _stops_in(snapshot: EventData) -> set[str]:
    """The ids of the stops that a `state_snapshot` lists as held."""
    stops = snapshot.get("stops")
    if not isinstance(stops, list):
        return set()
    return {str(stop.get("stop")) if isinstance(stop, dict) else str(stop) for stop in stops}
