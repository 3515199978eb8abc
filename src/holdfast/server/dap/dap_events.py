"""Tells an editor what happens in its session, whoever caused it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast import errors
from holdfast.model.records import EventRecord
from holdfast.model.stop import Stop
from holdfast.server.dap.dap_breakpoints import build_breakpoint
from holdfast.server.dap.dap_errors import describe
from holdfast.server.dap.dap_requests import CAUSE
from holdfast.server.dap.dap_sources import build_source
from holdfast.service.session import Session
from holdfast.service.session_observer import SessionObserver
from holdfast.wire.dap import Body

if TYPE_CHECKING:
    from holdfast.server.dap.dap_client import EditorClient

_CATEGORIES = {"stdout": "stdout", "stderr": "stderr", "log": "console"}
_WAITS_FOR_INPUT = "The program waits for input: type it into this console.\n"


class EventTeller(SessionObserver):
    """Follows one session for one editor, from the moment at which it is configured."""

    def __init__(self, client: EditorClient, session: Session) -> None:
        self._client = client
        self._session = session
        self._threads: set[int] = set()
        self._points: set[str] = set()
        self._is_stopped = False
        self._is_over = False
        self.stop: Callable[[], None] = session.program.observe(self)
        """Ends it."""

    # -- what the session says --------------------------------------------------------------

    def on_event(self, event: EventRecord) -> None:
        tell = _TELLERS.get(event.type)
        if tell is not None and self._client.is_configured:
            tell(self, event.body)

    def on_output(self, kind: str, text: str, place: Mapping[str, Any]) -> None:
        client = self._client
        if not client.is_configured:
            return
        more: Body = {}
        if place.get("file"):
            more["source"] = build_source(client, place["file"])
            more["line"] = client.to_line(place["line"])
        client.send_output(_CATEGORIES.get(kind, "console"), text, **more)

    def on_thread(self, thread_id: int, is_started: bool) -> None:
        if not self._client.is_configured or (thread_id in self._threads) is is_started:
            return
        if is_started:
            self._threads.add(thread_id)
        else:
            self._threads.discard(thread_id)
        reason = "started" if is_started else "exited"
        self._client.send_event("thread", {"reason": reason, "threadId": thread_id})

    # -- the program ------------------------------------------------------------------------

    def tell_process(self) -> None:
        facts = self._session.program.describe_process()
        process: Body = {
            "name": os.path.basename(facts.name) or facts.name,
            "isLocalProcess": facts.is_local,
            "startMethod": "launch" if facts.is_launched else "attach",
        }
        if facts.pid is not None:
            process["systemProcessId"] = facts.pid
        self._client.send_event("process", process)

    async def tell_threads(self) -> None:
        with contextlib.suppress(errors.HoldfastError):  # it may be busy, or end meanwhile
            for thread in (await self._session.program.inspection.threads()).threads:
                self.on_thread(thread["thread_id"], is_started=True)

    def _on_launching(self, _body: Body) -> None:
        """The program starts, perhaps once more. What stood before does not stand any more."""
        if self._is_stopped:
            self._client.send_event("continued", {"threadId": 1, "allThreadsContinued": True})
        self._is_stopped = self._is_over = False
        for thread in list(self._threads):
            self.on_thread(thread, is_started=False)
        self._client.names.clear()

    def _on_started(self, _body: Body) -> None:
        self.tell_process()

    def _on_terminating(self, body: Body) -> None:
        by = body.get("by")
        if by and CAUSE.get() is not self._client:
            self._client.send_output("important", f"Ended by {by}.\n")

    def _on_terminated(self, body: Body) -> None:
        if self._session.program.is_restarting:
            return
        if body.get("reason") == "detached":
            self._client.send_output("console", "The program runs on without the debugger.\n")
        error = self._session.program.error
        if error is not None:
            self.tell_failure(error.message, error.hint)
        self.tell_end(body.get("exit_code"))

    def tell_failure(self, message: str, hint: str | None) -> None:
        """Why the program could not start, and that this is the end."""
        if not self._is_over:
            self._client.send_output("important", f"{describe(message, hint)}\n")
            self.tell_end()

    def tell_end(self, exit_code: int | None = None) -> None:
        """The end, once."""
        if self._is_over:
            return
        self._is_over = True
        if exit_code is not None:
            self._client.send_event("exited", {"exitCode": exit_code})
        self._client.send_event("terminated")

    # -- stops ------------------------------------------------------------------------------

    def tell_stops(self) -> None:
        """What stands now; the stop that the session shows comes last."""
        stops = self._session.program.stops
        if self._session.program.is_paused and stops.current is not None:
            for stop in stops.threads.waiting.values():
                self._tell_stop(stop, is_beside=True)
            self._tell_stop(stops.current)

    def _on_stopped(self, body: Body) -> None:
        stop = self._session.program.stops.find(body["thread_id"])
        if stop is not None:
            self._tell_stop(stop, is_beside="hold_id" not in body)

    def _tell_stop(self, stop: Stop, *, is_beside: bool = False) -> None:
        for thread in stop.threads:
            self.on_thread(thread["id"], is_started=True)
        self._is_stopped = True
        told: Body = {
            "reason": self._find_reason(stop),
            "threadId": stop.thread_id,
            "allThreadsStopped": stop.all_threads_stopped,
            **_describe_stop(stop),
        }
        if stop.breakpoints:
            numbers = self._client.editors.breakpoint_numbers
            told["hitBreakpointIds"] = [numbers.add(point) for point, _hits in stop.breakpoints]
        if is_beside:
            told["preserveFocusHint"] = True
        self._client.send_event("stopped", told)

    def _find_reason(self, stop: Stop) -> str:
        if stop.reason != "breakpoint" or not stop.breakpoints:
            return stop.reason
        points = self._session.program.breakpoints.points
        hit = [points.find(breakpoint_id) for breakpoint_id, _hits in stop.breakpoints]
        if all(point is not None and point.is_function for point in hit):
            return "function breakpoint"
        return stop.reason

    def _on_continued(self, body: Body) -> None:
        self._client.names.clear()
        thread = body.get("thread_id")
        is_one = thread is not None and self._session.program.is_paused
        if not is_one:
            self._is_stopped = False
        if CAUSE.get() is self._client:
            return  # the answer to its own request says so
        told = {"threadId": thread or min(self._threads, default=1)}
        self._client.send_event("continued", {**told, "allThreadsContinued": not is_one})

    def _on_variable_set(self, _body: Body) -> None:
        if CAUSE.get() is not self._client:
            self.tell_invalidated()

    def tell_invalidated(self) -> None:
        """Somebody else may have changed values that the editor shows."""
        about = self._client.about
        if about is not None and about.supports_invalidated_event and self._is_stopped:
            self._client.send_event("invalidated", {"areas": ["variables"]})

    # -- breakpoints ------------------------------------------------------------------------

    def tell_breakpoints(self) -> None:
        """Those that others have set before this editor came."""
        breakpoints = self._session.program.breakpoints
        self._points = {point.id for point in breakpoints.points}
        for point in breakpoints.describe(point.id for point in breakpoints.points):
            if self._client.owner not in point.set_by:
                self._tell_breakpoint("new", msgspec.to_builtins(point))

    def _on_breakpoint_set(self, body: Body) -> None:
        self._points.add(body["id"])
        if body.get("by") != self._client.owner:
            self._tell_breakpoint("new", body)

    def _on_breakpoint_changed(self, body: Body) -> None:
        if body.get("by") != self._client.owner:
            self._tell_breakpoint("changed", body)

    def _on_breakpoint_verified(self, body: Body) -> None:
        (point,) = self._session.program.breakpoints.describe([body["breakpoint_id"]]) or (None,)
        if point is not None:
            self._tell_breakpoint("changed", msgspec.to_builtins(point))

    def _on_breakpoints_cleared(self, _body: Body) -> None:
        for breakpoint_id in sorted(self._points):
            self._tell_removed(breakpoint_id)
        self._points.clear()

    def _on_breakpoint_removed(self, body: Body) -> None:
        self._points.discard(body["breakpoint_id"])
        if body.get("by") != self._client.owner:
            self._tell_removed(body["breakpoint_id"])

    def _on_breakpoint_error(self, body: Body) -> None:
        self._on_breakpoint_verified(body)
        self._client.send_output("console", f"{body['expression']}: {body['error']}\n")

    def _tell_breakpoint(self, reason: str, facts: Mapping[str, Any]) -> None:
        point = build_breakpoint(self._client, facts)
        self._client.send_event("breakpoint", {"reason": reason, "breakpoint": point})

    def _tell_removed(self, breakpoint_id: str) -> None:
        number = self._client.editors.breakpoint_numbers.add(breakpoint_id)
        point = {"id": number, "verified": False}
        self._client.send_event("breakpoint", {"reason": "removed", "breakpoint": point})

    # -- the rest ---------------------------------------------------------------------------

    def _on_input_wanted(self, _body: Body) -> None:
        self._client.send_output("console", _WAITS_FOR_INPUT)

    def _on_message(self, body: Body) -> None:
        if body.get("message"):
            self._client.send_output("console", f"{body['message']}\n")

    def _on_child(self, body: Body) -> None:
        """A child process has a session of its own. The editor may open a window for it."""
        about = self._client.about
        if about is None or not about.supports_start_debugging_request:
            return
        configuration = {
            "name": f"child {body['pid']}",
            "session": body["session_id"],
            "connect": {"host": "127.0.0.1", "port": self._client.editors.lobby_port},
            **self._client.editors.credentials,
        }
        self._client.send_request(
            "startDebugging", {"request": "attach", "configuration": configuration}
        )


def _describe_stop(stop: Stop) -> Body:
    """What the editor shows beside the reason."""
    if stop.exception is not None:
        thrown = stop.exception
        name = thrown.type if thrown.module == "builtins" else f"{thrown.module}.{thrown.type}"
        return {"description": f"{name}: {thrown.message}", "text": name}
    if stop.data is not None:
        change = stop.data
        old = "(no value)" if change.old is None else change.old
        new = "(deleted)" if change.new is None else change.new
        place = f"line {change.location.line}"
        return {
            "description": f"{change.name} was written",
            "text": f"{change.name}: {old} → {new} at {place}",
        }
    return {}


_TELLERS: dict[str, Callable[[EventTeller, Body], None]] = {
    "launching": EventTeller._on_launching,
    "attaching": EventTeller._on_launching,
    "started": EventTeller._on_started,
    "terminating": EventTeller._on_terminating,
    "terminated": EventTeller._on_terminated,
    "stopped": EventTeller._on_stopped,
    "continued": EventTeller._on_continued,
    "variable_set": EventTeller._on_variable_set,
    "breakpoint_set": EventTeller._on_breakpoint_set,
    "breakpoint_changed": EventTeller._on_breakpoint_changed,
    "breakpoint_verified": EventTeller._on_breakpoint_verified,
    "breakpoint_removed": EventTeller._on_breakpoint_removed,
    "breakpoints_cleared": EventTeller._on_breakpoints_cleared,
    "breakpoint_error": EventTeller._on_breakpoint_error,
    "input_wanted": EventTeller._on_input_wanted,
    "debugger_disconnected": EventTeller._on_message,
    "tracing_lost": EventTeller._on_message,
    "child_session": EventTeller._on_child,
}
