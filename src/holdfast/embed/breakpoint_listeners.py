"""Tells callbacks about breakpoints, in a thread of its own.

A callback may take its time, and may use the adapter and wait for it. One that raises is logged.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Mapping
from typing import Any, cast

import msgspec

from holdfast.embed.results import BreakpointEvent, BreakpointResult
from holdfast.model.records import EventRecord
from holdfast.service.programs.session_breakpoints import SessionBreakpoints
from holdfast.service.session_observer import SessionObserver

log = logging.getLogger(__name__)
Callback = Callable[[BreakpointEvent], object]
_COPIED = (
    *("verified", "message", "line", "source", "function", "breakpoint_id", "hits"),
    *("condition", "hit_condition", "log_message", "expression", "set_by"),
)


def build_result(fields: Mapping[str, Any]) -> BreakpointResult:
    """A breakpoint of an answer or an event, in the shape that editors know."""
    result = {name: fields[name] for name in _COPIED if fields.get(name) is not None}
    if fields["breakpoint_id"]:  # one that was refused has none
        result["id"] = parse_number(fields["breakpoint_id"])
    else:
        del result["breakpoint_id"]
    if fields.get("data_id") is not None:
        result["dataId"] = fields["data_id"]
        result["accessType"] = fields["access_type"]
    return cast(BreakpointResult, result)


def parse_number(breakpoint_id: str) -> int:
    """The number in an id, by which editors know the breakpoint."""
    return int(breakpoint_id.rpartition("_")[2], 16)


class BreakpointListeners:
    """The callbacks of a controller, and the thread that calls them while there are any."""

    def __init__(self) -> None:
        self._callbacks: list[Callback] = []
        self._lock = threading.Lock()
        self._events: queue.SimpleQueue[BreakpointEvent | None] | None = None

    def add(self, callback: Callback) -> Callable[[], None]:
        """Call it with every event from now on; the answer is how to stop that."""
        if not callable(callback):
            raise TypeError(f"{callback!r} cannot be called")
        with self._lock:
            self._callbacks.append(callback)

        def remove() -> None:
            with self._lock:
                if callback in self._callbacks:
                    self._callbacks.remove(callback)

        return remove

    def notify(self, event: BreakpointEvent) -> None:
        """Queue an event. It costs the loop next to nothing."""
        with self._lock:
            if not self._callbacks:
                return
            if self._events is None:
                self._events = queue.SimpleQueue()
                threading.Thread(
                    target=self._deliver,
                    args=(self._events,),
                    name="holdfast-breakpoints",
                    daemon=True,
                ).start()
            self._events.put(event)

    def close(self) -> None:
        """End the thread, once it has delivered what there is."""
        with self._lock:
            if self._events is not None:
                self._events.put(None)
                self._events = None

    def forget_thread(self) -> None:
        """In a fork of the process there is no thread, and the lock may be held for ever."""
        self._lock = threading.Lock()
        self._events = None

    def _deliver(self, events: queue.SimpleQueue[BreakpointEvent | None]) -> None:
        while (event := events.get()) is not None:
            for callback in list(self._callbacks):
                try:
                    callback(event)
                except Exception:  # a mistake of the user's must not keep others from hearing it
                    log.exception("a callback of on_breakpoint raised")


class BreakpointWatcher(SessionObserver):
    """Turns the session's events about breakpoints into those that callbacks get."""

    def __init__(self, registry: SessionBreakpoints, listeners: BreakpointListeners) -> None:
        self._registry = registry
        self._listeners = listeners
        self._known = {point.id: self._describe(point.id) for point in registry.points}

    def on_event(self, event: EventRecord) -> None:
        body = event.body
        if event.type == "breakpoint_set":
            self._tell("new", body["breakpoint_id"])
        elif event.type in ("breakpoint_changed", "breakpoint_verified", "breakpoint_error"):
            self._tell("changed", body["breakpoint_id"], body.get("error"))
        elif event.type == "breakpoint_removed":
            self._tell_removed(body["breakpoint_id"])
        elif event.type == "breakpoints_cleared":
            for breakpoint_id in list(self._known):
                self._tell_removed(breakpoint_id)

    def _tell(self, reason: Any, breakpoint_id: str, error: str | None = None) -> None:
        result = self._describe(breakpoint_id)
        self._known[breakpoint_id] = result
        if error is not None:
            result = {**result, "message": error}
        self._listeners.notify({"reason": reason, "breakpoint": result})

    def _tell_removed(self, breakpoint_id: str) -> None:
        result = self._known.pop(breakpoint_id, None) or _build_gone(breakpoint_id)
        self._listeners.notify({"reason": "removed", "breakpoint": result})

    def _describe(self, breakpoint_id: str) -> BreakpointResult:
        for answer in self._registry.describe([breakpoint_id]):
            return build_result(msgspec.to_builtins(answer))
        return _build_gone(breakpoint_id)


def _build_gone(breakpoint_id: str) -> BreakpointResult:
    number = parse_number(breakpoint_id)
    return {"id": number, "breakpoint_id": breakpoint_id, "verified": False}
