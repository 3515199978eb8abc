"""Appending events: numbered, whole or not at all. Those that come together are one write.

The agent never stops because an event cannot be written. What is lost is counted, and the first
event that can be written again says how many there were.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from holdfast.model.agent_events import EVENTS_LOST
from holdfast.recording import wakeup_fifo
from holdfast.recording.failure_log import FailureLog
from holdfast.recording.regular_files import open_regular
from holdfast.wire import agent_lines

logger = logging.getLogger("holdfast")

_BLOCK = 64 * 1024


class EventWriter:
    """The events of one session, written by this process alone."""

    def __init__(
        self, path: Path, session_id: str, server_bell: Path, failures: FailureLog | None = None
    ) -> None:
        self.session_id = session_id
        self._failures = failures or FailureLog(session_id)
        self.lost = 0
        self._lock = threading.RLock()
        self._is_appending = False
        self._later: list[tuple[str, str]] = []
        self._bell = wakeup_fifo.Ringer(server_bell)
        self._listeners: list[Callable[[int, str, float, str], None]] = []
        self._handle = open_regular(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        self.last_seq = _repair(self._handle, path)

    def listen(self, listener: Callable[[int, str, float, str], None]) -> None:
        """Call `listener(seq, type, time, data as JSON)` for each event."""
        self._listeners.append(listener)

    def append(self, kind: str, data: str) -> int | None:
        """Its number, or None if it could not be written. `data` is JSON already."""
        return self.append_all(((kind, data),))

    def append_all(self, events: Sequence[tuple[str, str]]) -> int | None:
        """Write events that come together, all or none: the number of the last one, or None.

        While an event is written, the garbage collector may end a stream that nobody holds any
        more, in this thread. The event of that comes next, and its number is not known yet.
        """
        with self._lock:
            if self._is_appending:
                self._later += events
                return None
            if self._handle < 0:
                return None
            self._is_appending = True
            try:
                moment, written = time.time(), events
                if self.lost:
                    # Both or none: on a full disk there may be room for the first one only, again
                    # and again.
                    missing = agent_lines.encode_fields({"count": self.lost})
                    written = ((EVENTS_LOST, missing), *events)
                lines, seq = b"", self.last_seq
                for kind, data in written:
                    seq += 1
                    lines += agent_lines.encode_event(seq, kind, moment, self.session_id, data)
                if len(lines) > agent_lines.MAX_LINE_BYTES:
                    raise OSError(f"a line of {len(lines)} bytes is too long")
                count = os.write(self._handle, lines)
                if count != len(lines):
                    self._take_back(count)
                    raise OSError("no room for the whole of it")
                self.lost, self.last_seq = 0, seq
                self._bell.ring()
                if self._listeners:
                    for number, (kind, data) in enumerate(written, seq + 1 - len(written)):
                        self._tell(number, kind, moment, data)
                return seq
            except OSError as problem:
                self._failures.report("events", problem)
                self.lost += len(events)
                return None
            finally:
                self._is_appending = False
                if self._later:
                    later, self._later = self._later, []
                    self.append_all(later)

    def _tell(self, seq: int, kind: str, moment: float, data: str) -> None:
        for listener in self._listeners:
            try:
                listener(seq, kind, moment, data)
            except Exception:  # somebody else's telemetry is no reason for an agent to stop
                logger.exception("a listener to events failed")

    def _take_back(self, count: int) -> None:
        """Half a line is no line."""
        with contextlib.suppress(OSError):
            os.ftruncate(self._handle, os.fstat(self._handle).st_size - count)

    def close(self) -> None:
        with self._lock:
            if self._handle >= 0:
                os.close(self._handle)
            self._handle = -1
            self._bell.close()

    def detach_child(self) -> None:
        """In a forked child: the numbers are the parent's to give, and so is the file."""
        self._lock, self._is_appending = threading.RLock(), False
        self._later.clear()
        self.close()


def _repair(handle: int, path: Path) -> int:
    """Put a half line at the end aside, and say which number came last."""
    size = os.fstat(handle).st_size
    if size == 0:
        return 0
    whole, last = _last_line(handle, size)
    if whole < size:
        torn = os.pread(handle, min(size - whole, agent_lines.MAX_LINE_BYTES), whole)
        aside = open_regular(f"{path}.torn", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            os.write(aside, torn + b"\n")
        finally:
            os.close(aside)
        os.ftruncate(handle, whole)
    return last


def _last_line(handle: int, size: int) -> tuple[int, int]:
    """Where the last whole line ends, and the highest number near the end."""
    tail, begin, block = b"", size, _BLOCK
    whole = None
    while begin > 0:
        step, block = min(block, begin), min(2 * block, 128 * _BLOCK)
        begin -= step
        tail = os.pread(handle, step, begin) + tail
        if whole is None:
            found = tail.rfind(b"\n")
            if found < 0:
                tail = b""  # half a line, however long it is
                continue
            whole = begin + found + 1
        lines = tail[: whole - begin].split(b"\n")
        # The first one may be cut off where we began to read.
        for line in reversed(lines if begin == 0 else lines[1:]):
            with contextlib.suppress(ValueError, TypeError, KeyError):
                return whole, int(json.loads(line)["seq"])
        if len(tail) > agent_lines.MAX_LINE_BYTES:
            tail = b""  # a line that is too long; what is left of it is no event
    return whole or 0, 0
