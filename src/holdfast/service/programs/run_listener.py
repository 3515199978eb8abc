"""Passes what happens in one run of a program on to its session, until another run replaces it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.core.lifecycle import Signal
from holdfast.model.session_state import State
from holdfast.model.stop import Stop
from holdfast.targets.program.target import Counts, FailedExpression, TargetListener
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
    def __init__(self, session: ProgramSession, run: int, *, starting: bool) -> None:
        self._session = session
        self._run = run
        self._starting = starting
        self._early_end: tuple[int | None] | None = None

    def _is_current(self) -> bool:
        return self._session.is_current(self._run)

    def on_stop(self, stop: Stop) -> None:
        if self._is_current():
            self._session.stops.handle_stop(stop)

    def on_thread_end(self, thread: int) -> None:
        if self._is_current():
            self._session.stops.end_thread(thread)

    def on_output(self, kind: str, text: str, **place: Any) -> None:
        if self._is_current():
            self._session.output.add(kind, text, **place)
            if kind == "log":
                self._session.breakpoints.count_hit(place["breakpoint_id"])
            self._session.wake()

    def on_input_wanted(self) -> None:
        session = self._session
        if self._is_current() and session.move(Signal.INPUT_WANTED):
            session.event("input_wanted", prompt=session.output.prompt)

    def on_input_taken(self) -> None:
        """The program reads on. Another process that shares its stdin may have written to it."""
        if self._is_current() and self._session.state is State.WAITING_FOR_INPUT:
            self._session.move(Signal.INPUT_GIVEN)

    def on_child(self, pid: int, how: str, command: list[str], followed: bool) -> None:
        if not self._is_current():
            return
        session = self._session
        subprocess = Subprocess(pid=pid, how=how, command=command, debuggable=followed)
        if not followed:
            subprocess["message"] = _NOT_PYTHON if session.follows_children else _NOT_FOLLOWED
        session.children.note_subprocess(subprocess)
        session.event("subprocess_spawned", **subprocess)

    def on_breakpoint_error(self, failure: FailedExpression) -> None:
        if not self._is_current():
            return
        session, breakpoint_id, error = self._session, f"bp_{failure['id']}", failure["error"]
        if failure["field"] == "condition":
            message = f"The condition raised {error}; it did not stop there."
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

    def on_exception(self, exception: dict[str, Any]) -> None:
        if self._is_current():
            self._session.end_report.note_exception(exception)

    def on_counts(self, counts: Counts) -> None:
        if self._is_current():
            self._session.breakpoints.note_hits(counts["hits"])
            self._session.end_report.note_counts(counts)

    def on_debugger_lost(self) -> None:
        """The debugger is gone and the process runs on. It can no longer be inspected."""
        if self._is_current():
            self._session.stops.withdraw("the debugger is gone")
            self._session.event("debugger_disconnected")
            self._session.move(Signal.RESUMED)

    def start_over(self) -> None:
        """Forget the end of the first process, because the start is tried in another way."""
        self._early_end = None

    def note_started(self) -> None:
        """Note that the start succeeded. A quick program may already have ended."""
        self._starting = False
        if self._early_end is not None:
            self.on_exit(*self._early_end)

    def on_exit(self, code: int | None) -> None:
        if self._starting:
            self._early_end = (code,)
        elif self._is_current():
            self._session.note_end("target_exited", code)
