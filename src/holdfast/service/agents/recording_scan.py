"""How a session stands, found out from the end of its recording: for one that was not followed."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from holdfast.model.session import State
from holdfast.recording import liveness
from holdfast.recording.directories import SessionDirectory
from holdfast.service.agents import event_log
from holdfast.wire import agent_lines as wire

Json = dict[str, Any]
READ_WHOLE = 1 << 20
"""A live session that has written no more than this is read from its beginning."""
CRASHED = "crashed"
_SNAPSHOT_SECONDS = 2.0
_ENOUGH = 256 << 20
_OF_THE_ENDED = 64 * 1024


@dataclass
class RecordingScan:
    """`offset` is where following goes on; `stops` are the `paused` events that still hold."""

    about: Json
    is_alive: bool
    offset: int = 0
    seq: int = 0
    place: int = 0
    iteration: int = 0
    last: Json | None = None
    stops: dict[str, Json] = field(default_factory=dict)

    @property
    def is_over(self) -> bool:
        """An agent may end its session and live on."""
        return not self.is_alive or (self.last is not None and self.last["type"] == "session_end")

    @property
    def reason(self) -> str | None:
        """How it ended; None while it runs."""
        if not self.is_over:
            return None
        if self.last is not None and self.last["type"] == "session_end":
            return str(self.last["data"].get("reason") or "exit")
        return CRASHED

    @property
    def state(self) -> State:
        if self.is_over:
            return State.TERMINATED
        return State.PAUSED if self.stops else State.RUNNING


def scan_recording(home: SessionDirectory, *, look_back: bool = False) -> RecordingScan | None:
    """Reads a few files: for a thread. None for a directory in which nothing was recorded yet.

    `look_back`: also into a recording that is short enough to be followed from its beginning.
    """
    if not all(_is_file(each) for each in (home.events, home.about)):
        return None
    # Before the events: what an agent wrote before it died is there when it is known to be dead.
    found = RecordingScan(home.read_metadata(), liveness.is_alive(home))
    try:
        handle = os.open(home.events, os.O_RDONLY)
    except OSError:
        return None
    try:
        size = os.fstat(handle).st_size
        if look_back or size > READ_WHOLE or not found.is_alive:
            _look_back(found, handle, size)
    except OSError:
        return None
    finally:
        os.close(handle)
    return found


def _is_file(path: Path) -> bool:
    """A pipe of that name would keep its reader for ever."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except FileNotFoundError:
        return path.name != "events.jsonl"  # without the rest one can do
    except OSError:
        return False


def _look_back(found: RecordingScan, handle: int, size: int) -> None:
    """From the end to where everything is known that is to be known.

    While something is held, a snapshot twice a second names it: none for longer than that means
    that nothing is held but what was seen to be.
    """
    over: set[str] = set()  # stops that were seen to end
    missing: set[str] | None = None  # stops that hold; None while no snapshot was seen
    newest = 0.0
    block = 256 * 1024 if found.is_alive else 16 * 1024
    for place, line in event_log.read_lines_backwards(handle, size, block):
        if found.offset == 0:
            found.offset = place + len(line) + 1
        event = event_log.parse_event(line)
        if event is None:
            continue
        data, moment = event["data"], _moment(event)
        if found.last is None:
            found.last, found.seq, found.place, newest = event, event["seq"], place, moment
        if not found.iteration and isinstance(data.get("iteration"), int):
            found.iteration = data["iteration"]
        match event["type"]:
            case "resumed":
                over.add(str(data.get("stop")))
            case "paused" if str(data.get("stop")) not in over:
                found.stops[str(data.get("stop"))] = event
            case "state_snapshot" if missing is None:
                missing = stops_named(data) - over
            case "session_start":
                break  # it was opened then: nothing from before holds
        looked_at = size - place
        if not found.is_alive and (found.iteration or looked_at > _OF_THE_ENDED):
            break
        wanted = set() if missing is None else missing - set(found.stops)
        is_settled = missing is not None or moment < newest - _SNAPSHOT_SECONDS
        if is_settled and not wanted and (found.iteration or looked_at > READ_WHOLE):
            break
        if looked_at > _ENOUGH:
            break
    found.stops = dict(reversed(found.stops.items()))


def stops_named(snapshot: Json) -> set[str]:
    """What a `state_snapshot` says is held."""
    named = snapshot.get("stops")
    if not isinstance(named, list):
        return set()
    return {str(each.get("stop")) if isinstance(each, dict) else str(each) for each in named}


def _moment(event: Json) -> float:
    return parse_moment(event.get("timestamp"))


def parse_moment(shown: Any) -> float:
    """Seconds since 1970; 0 for what is no time."""
    try:
        return wire.parse_timestamp(shown)
    except (ValueError, TypeError, AttributeError, OverflowError):
        return 0.0
