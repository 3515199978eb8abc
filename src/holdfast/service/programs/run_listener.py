"""Passes what happens in one run of a program on to its session, until another run replaces it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from holdfast.core.lifecycle import Signal
from holdfast.model.breakpoint import build_breakpoint_id
from holdfast.model.session_state import State
from holdfast.model.stop import Stop
from holdfast.targets.program.target import (
    CollectedRow,
    Counts,
    FailedExpression,
    FoundFunction,
    Replacement,
    TargetListener,
    TracingChange,
)
from holdfast.wire.program_answers import Subprocess

if TYPE_CHECKING:
    from holdfast.service.programs.program_session import ProgramSession

_NOT_FOLLOWED = (
    "Subprocess spawned but not attached. Enable debug_subprocesses for child debugging."
)
_NOT_PYTHON = (
    "Subprocess spawned but not attached: it is not a Python program that can be followed."
)


class RunListener(TargetListener):
    """While the program starts, everything but its output is held back: `started` comes first."""

    def __init__(self, session: ProgramSession, run: int) -> None:
        self._session = session
        self._run = run
        self._starting = True
        self._early: list[Callable[[], None]] = []

    def _is_current(self) -> bool:
        return self._session.is_current(self._run)

    def _pass_on(self, handle: Callable[[], None]) -> None:
        """Handle what happened: now, or as soon as the program is reported as started."""
        if self._starting:
            self._early.append(handle)
        elif self._is_current():
            handle()

    def start_over(self) -> None:
        """Forget what the first process did, because the start is tried in another way."""
        self._early.clear()

    def note_started(self) -> None:
        """Note that the start succeeded. A quick program may already have stopped, or ended."""
        self._starting = False
        early, self._early = self._early, []
        for handle in early:
            self._pass_on(handle)

    # -- what happens in the program --------------------------------------------------------

    def on_stop(self, stop: Stop) -> None:
        self._pass_on(lambda: self._session.stops.handle_stop(stop))

    def on_thread_start(self, thread: int) -> None:
        self._pass_on(lambda: self._tell_thread(thread, is_started=True))

    def on_thread_end(self, thread: int) -> None:
        self._pass_on(lambda: self._end_thread(thread))

    def _end_thread(self, thread: int) -> None:
        self._session.stops.end_thread(thread)
        self._tell_thread(thread, is_started=False)

    def _tell_thread(self, thread: int, *, is_started: bool) -> None:
        for observer in self._session.observers:
            observer.on_thread(thread, is_started)

    def on_output(self, kind: str, text: str, **place: Any) -> None:
        if self._is_current():
            self._session.output.add(kind, text, **place)
            for observer in self._session.observers:
                observer.on_output(kind, text, place)
            if kind == "log":
                self._session.breakpoints.count_hit(place["breakpoint_id"])
            self._session.wake()
            self._session.note_change()

    def on_input_wanted(self) -> None:
        self._pass_on(self._want_input)

    def _want_input(self) -> None:
        session = self._session
        if session.state is State.WAITING_FOR_INPUT:
            return  # while a program edits a line, it says so again and again
        if session.move(Signal.INPUT_WANTED):
            session.event("input_wanted", prompt=session.output.prompt)

    def on_input_taken(self) -> None:
        self._pass_on(self._take_input)

    def _take_input(self) -> None:
        """The program reads on. Another process that shares its stdin may have written to it."""
        if self._session.state is State.WAITING_FOR_INPUT:
            self._session.move(Signal.INPUT_GIVEN)

    def on_child(self, pid: int, how: str, command: list[str], followed: bool) -> None:
        child = Subprocess(pid=pid, how=how, command=command, debuggable=followed)
        self._pass_on(lambda: self._note_subprocess(child))

    def _note_subprocess(self, child: Subprocess) -> None:
        session = self._session
        if not child["debuggable"]:
            child["message"] = _NOT_PYTHON if session.follows_children else _NOT_FOLLOWED
        session.children.note_subprocess(child)
        session.event("subprocess_spawned", **child)

    def on_breakpoint_error(self, failure: FailedExpression) -> None:
        self._pass_on(lambda: self._note_failure(failure))

    def _note_failure(self, failure: FailedExpression) -> None:
        session, error = self._session, failure["error"]
        breakpoint_id = build_breakpoint_id(failure["id"])
        if failure["field"] == "condition":
            once = "It stopped there once, and does not stop for this again."
            message = f"The condition raised {error}."
            message += f" {once}" if failure["stops"] else " It did not stop there."
        else:
            message = f"{failure['expression']} in the log message raised {error}."
        session.breakpoints.points.note(breakpoint_id, message=message)
        session.end_report.note_failure(failure)
        session.event(
            "breakpoint_error",
            breakpoint_id=breakpoint_id,
            error=error,
            expression=failure["expression"],
            field=failure["field"],
        )

    def on_data_found(self, breakpoint_id: str, message: str | None) -> None:
        self._pass_on(lambda: self._session.breakpoints.note_data(breakpoint_id, message))

    def on_data_ended(self, breakpoint_id: str, message: str) -> None:
        self._pass_on(lambda: self._session.breakpoints.end_data(breakpoint_id, message))

    def on_function_found(self, found: FoundFunction) -> None:
        self._pass_on(lambda: self._session.breakpoints.note_function(found))

    def on_exception(self, exception: dict[str, Any]) -> None:
        self._pass_on(lambda: self._session.end_report.note_exception(exception))

    def on_counts(self, counts: Counts) -> None:
        self._pass_on(lambda: self._note_counts(counts))

    def _note_counts(self, counts: Counts) -> None:
        self._session.breakpoints.note_hits(counts["hits"])
        self._session.end_report.note_counts(counts)

    def on_row(self, row: CollectedRow) -> None:
        self._pass_on(lambda: self._session.collected.add(row))

    def on_remark(self, text: str) -> None:
        self._pass_on(lambda: self._session.collected.remarks.append(text))

    def on_traced(self) -> None:
        self._pass_on(self._session.note_traced)

    def on_tracing(self, change: TracingChange) -> None:
        self._pass_on(lambda: self._session.losses.note_tracing(change))

    def on_debugger_lost(self, replacement: Replacement | None) -> None:
        self._pass_on(lambda: self._lose_debugger(replacement))

    def _lose_debugger(self, replacement: Replacement | None) -> None:
        """The debugger is gone and the process runs on. It can no longer be inspected."""
        self._session.stops.withdraw("the debugger is gone")
        self._session.losses.note_debugger(replacement)
        self._session.move(Signal.RESUMED)

    def on_exit(self, code: int | None) -> None:
        self._pass_on(lambda: self._session.note_end("target_exited", code))
