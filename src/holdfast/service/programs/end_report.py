"""Why a run of a program ended: its exception, what it wrote last, what its breakpoints did."""

from __future__ import annotations

import signal
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

from msgspec import UNSET

from holdfast import errors
from holdfast.model.breakpoint import Breakpoint, build_breakpoint_id
from holdfast.model.session_state import State
from holdfast.targets.program.target import Counts, FailedExpression
from holdfast.wire.described import none_to_unset
from holdfast.wire.program_answers import (
    ConditionError,
    ProgramStatus,
    ProgramSummary,
    ThrownException,
    TracebackFrame,
    UnhitBreakpoint,
)
from holdfast.wire.session_answers import Location

if TYPE_CHECKING:
    from holdfast.service.programs.program_session import ProgramSession

_TAIL_LINES = 30
_TAIL_CHARACTERS = 4000
_MAX_LISTED = 100
_MAX_EVENT_CHARACTERS = 500
_NOT_REACHED = "Its line was never reached."
_NOT_KNOWN = "It was not hit, as far as is known: the program ended without a last report."
_NOT_CALLED = "Its function was never called."
_NOT_WRITTEN = "Its value was never written."


class EndReport:
    """Gathers, while a program runs, what the answers say once it has ended."""

    def __init__(self, session: ProgramSession) -> None:
        self._session = session
        self.clear()
        self._has_run = False

    def clear(self) -> None:
        """Begin with another run."""
        self._exception: ThrownException | None = None
        self._failures: dict[tuple[str, str], ConditionError] = {}
        self._passes: dict[str, int] | None = None
        self._first_output = self._session.output.cursor
        self._has_run = True

    # -- what the program reports -----------------------------------------------------------

    def note_exception(self, described: dict[str, Any]) -> None:
        """An exception that nothing caught is about to end the program."""
        frames = self._complete(described.get("frames") or [])
        for cause in described.get("causes") or []:
            self._complete(cause.get("frames") or [])
        self._exception = ThrownException(
            described["type"],
            described["module"],
            described["message"],
            _locate(frames),
            described.get("notes", UNSET),
            described.get("causes") or [],
            frames,
            described.get("frames_total", UNSET),
        )

    def note_refusal(self, error: errors.HoldfastError) -> None:
        """The program could not begin. Only for a mistake in its own text that is its end."""
        if not isinstance(error, errors.ProgramSyntaxError):
            return
        facts = error.details
        file, line = str(facts.get("file")), int(facts.get("line") or 1)
        text = str(facts.get("text") or "")
        frame = TracebackFrame(name="<module>", file=file, line=line, depth=0, text=text)
        place = Location(file, line, "<module>")
        self._exception = ThrownException(
            "SyntaxError", "builtins", error.message, place, UNSET, [], self._complete([frame]), 1
        )

    def note_failure(self, failure: FailedExpression) -> None:
        """An expression of a breakpoint raised for the first time."""
        point_id, expression = build_breakpoint_id(failure["id"]), failure["expression"]
        point = self._session.breakpoints.points.find(point_id)
        place = {} if point is None else _place_of(point)
        self._failures[point_id, expression] = ConditionError(
            breakpoint_id=point_id,
            **place,
            field=failure["field"],
            expression=expression,
            error=failure["error"],
        )

    def note_counts(self, counts: Counts) -> None:
        """The program is at its end, and says what it has counted."""
        self._passes = {
            build_breakpoint_id(int(number)): count for number, count in counts["passes"].items()
        }
        for error in counts["errors"]:
            failure = self._failures.get((build_breakpoint_id(error["id"]), error["expression"]))
            if failure is not None:
                failure.count = error["count"]

    def _complete(self, frames: Iterable[dict[str, Any] | TracebackFrame]) -> list[TracebackFrame]:
        """The frames, with the text of their lines."""
        completed = []
        for frame in cast(Iterable[TracebackFrame], frames):
            frame["function"] = frame["name"]
            text = frame.get("text") or self._read_line(frame["file"], frame["line"])
            if text is not None:
                frame["text"] = text.strip()
            completed.append(frame)
        return completed

    def _read_line(self, file: str, line: int) -> str | None:
        launch = self._session.launch
        if file.startswith("<"):  # no file, but perhaps the code of the launch itself
            lines = launch.code.splitlines() if launch and launch.code else []
            return lines[line - 1] if file == "<string>" and 0 < line <= len(lines) else None
        return self._session.programs.sources.line(file, line)

    # -- what the answers say ---------------------------------------------------------------

    @property
    def _is_bad(self) -> bool:
        """It ended by itself, and not as it should have."""
        session = self._session
        if session.state is State.FAILED:
            return True
        if self._exception is not None:
            return True
        return session.reason == "target_exited" and bool(session.exit_code)

    def fill(self, status: ProgramStatus) -> None:
        """Say why it ended, and which breakpoints were of no use."""
        session = self._session
        if session.reason == "detached" or not self._has_run:
            return  # it runs on, or an earlier server knew why
        status.signal = _name_signal(session.exit_code)
        is_bad = self._is_bad
        if is_bad:
            status.exception = UNSET if self._exception is None else self._exception
            tail = self._read_stderr_tail()
            if tail or self._captures_output:
                status.stderr_tail = tail
        unhit, failures = self._list_unhit(), list(self._failures.values())[:_MAX_LISTED]
        if unhit or is_bad:
            status.never_hit = unhit
        if failures or is_bad:
            status.condition_errors = failures

    def summarize(self, summary: ProgramSummary) -> None:
        """Say why it ended in a line, for a list."""
        session = self._session
        if session.reason == "detached" or not self._has_run:
            return
        summary.signal = _name_signal(session.exit_code)
        if self._exception is not None:
            summary.exception_line = " ".join(self.describe_end()["exception"].split())

    def describe_end(self) -> dict[str, str]:
        """The same in a few words, for the event."""
        described = {}
        name = _name_signal(self._session.exit_code)
        if isinstance(name, str):
            described["signal"] = name
        if self._exception is not None:
            text = f"{self._exception.type}: {self._exception.message}"
            described["exception"] = text[:_MAX_EVENT_CHARACTERS]
        return described

    @property
    def _captures_output(self) -> bool:
        """Whether its stderr came to us: not that of a process that was there before."""
        target = self._session.target
        return target is not None and (bool(target.outputs) or target.route == "adapter")

    def _read_stderr_tail(self) -> str:
        page = self._session.output.tail(self._first_output, "stderr", _TAIL_CHARACTERS)
        return "".join(page.splitlines(keepends=True)[-_TAIL_LINES:])

    def _list_unhit(self) -> list[UnhitBreakpoint]:
        points = [point for point in self._session.breakpoints.points if self._is_unhit(point)]
        return [self._build_unhit(point) for point in points[:_MAX_LISTED]]

    def _is_unhit(self, point: Breakpoint) -> bool:
        if not point.enabled or point.hits or point.is_until:
            return False
        # Hits that do not stop are only known from a program that could report at its end.
        return self._passes is not None or point.hit_condition is None

    def _build_unhit(self, point: Breakpoint) -> UnhitBreakpoint:
        passes = (self._passes or {}).get(point.id, 0)
        is_failing = any(breakpoint_id == point.id for breakpoint_id, _text in self._failures)
        return UnhitBreakpoint(
            breakpoint_id=point.id,
            **_place_of(point),
            verified=point.verified,
            condition=none_to_unset(point.condition),
            passes=passes or UNSET,
            message=_explain(point, passes, is_failing, self._passes is not None),
        )


def _explain(point: Breakpoint, passes: int, is_failing: bool, is_counted: bool) -> str:
    if not point.verified or is_failing:
        return point.message or "It could not be set."
    if passes:
        times = "once" if passes == 1 else f"{passes} times"
        what = "Its value was written" if point.is_data else "Its line ran"
        return f"{what} {times}, and its condition was false."
    if not is_counted and (point.condition is not None or point.log_message is not None):
        return _NOT_KNOWN
    if point.is_data:
        return _NOT_WRITTEN
    return _NOT_CALLED if point.is_function else _NOT_REACHED


def _place_of(point: Breakpoint) -> dict[str, Any]:
    return {
        "file": none_to_unset(point.file),
        "line": none_to_unset(point.line),
        "function": none_to_unset(point.function),
    }


def _locate(frames: list[TracebackFrame]) -> Location | None:
    if not frames:
        return None
    return Location(frames[0]["file"], frames[0]["line"], frames[0]["name"])


def _name_signal(code: int | None) -> Any:
    """The name of the signal that ended a process, as its exit code says."""
    if code is None or code >= 0:
        return UNSET
    try:
        return signal.Signals(-code).name
    except ValueError:  # a real-time signal has no name of its own
        return f"signal {-code}"
