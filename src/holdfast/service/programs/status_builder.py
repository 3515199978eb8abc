"""The answer after something ran: the stop with its source, locals and output, or the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from msgspec import UNSET

from holdfast import errors, timings
from holdfast.model.location import Location
from holdfast.model.session_state import State
from holdfast.model.stop import Stop
from holdfast.service.programs.session_document import build_attach, build_launch
from holdfast.service.run_options import NOTHING, Included
from holdfast.service.waitable import client_disconnected
from holdfast.wire import program_answers as answers
from holdfast.wire import rest, session_answers
from holdfast.wire.program_answers import (
    ProgramDetail,
    ProgramStatus,
    ProgramSummary,
    Thread,
    Variable,
)

if TYPE_CHECKING:
    from holdfast.service.programs.program_session import ProgramSession

_CONTEXT_LINES = 3
_MAX_FRAMES = 20
_MAX_LOCALS = 200
# What clients are told of a stop's reason, where it differs from what debug adapters call it.
_REASONS = {"function breakpoint": "breakpoint", "goto": "step"}
_CHILD_HELD = (
    "A child process is held, see `held_children`: look into it and continue it in its own session."
)


async def build_answer_after_run(
    session: ProgramSession, seconds: float, include: Included
) -> ProgramStatus:
    """The answer to a request that made a program run: its next stop, or that it runs."""
    if seconds > 0:
        await session.wait_until_settled(seconds)
        return await build_status(session, include)
    # Without a wait the answer says that it runs, even if it has stopped again by now.
    if session.state in (State.PAUSED, State.WAITING_FOR_INPUT):
        return ProgramStatus(session_id=session.id, status=State.RUNNING.value)
    return build_state(session)


def build_state(session: ProgramSession) -> ProgramStatus:
    """Where the program is, as far as the session knows."""
    status = ProgramStatus(session_id=session.id, status=session.state.value)
    fill_state(status, session)
    if session.over:
        session.end_report.fill(status)
    return status


def fill_state(status: ProgramStatus, session: ProgramSession) -> None:
    """Fill in the fields that belong to the session's state."""
    stop = session.stops.current
    warnings = [] if session.over else session.losses.warnings
    if session.state is State.PAUSED and stop is not None:
        _fill_stop(status, stop)
        status.hold_id = session.stops.hold.id if session.stops.hold else None
        warning = _changed_source(session, stop.location.file if stop.location else None)
        if warning:
            warnings.append(warning)
    elif session.state is State.WAITING_FOR_INPUT:
        status.prompt = session.output.prompt
    elif session.over:
        status.reason, status.exit_code = session.reason, session.exit_code
        if session.error is not None:
            status.error_details = session.error
    if warnings:
        status.warnings = warnings
    held = session.children.list_held()
    if held:
        status.held_children = [_build_held_child(child) for child in held]
        if session.state is State.RUNNING:
            status.message = _CHILD_HELD


def _build_held_child(child: ProgramSession) -> answers.HeldChild:
    stop, hold = child.stops.require(), child.stops.hold
    return answers.HeldChild(
        session_id=child.id,
        pid=child.target.pid if child.target else None,
        parent_id=child.parent_id or "",
        reason=name_reason(stop),
        location=_location(stop.location),
        hold_id=hold.id if hold else "",
    )


def _fill_stop(status: ProgramStatus, stop: Stop) -> None:
    """Why it stopped, and where."""
    status.reason = name_reason(stop)
    status.location = _location(stop.location)
    status.thread_id = stop.thread_id
    if stop.breakpoints:
        status.breakpoint_ids = [breakpoint_id for breakpoint_id, _hits in stop.breakpoints]
        status.breakpoint_id = status.breakpoint_ids[0]
    failure = stop.condition_error
    if failure is not None:
        status.condition_error = answers.FailedCondition(
            failure.breakpoint_id, failure.expression, failure.error
        )
        status.message = explain_failure(failure.expression, failure.error)
    thrown = stop.exception
    if thrown is not None:
        status.exception = answers.ThrownException(
            thrown.type, thrown.module, thrown.message, _location(thrown.location)
        )
    if stop.data is not None:
        data = stop.data
        place = session_answers.Location(
            data.location.file, data.location.line, data.location.function
        )
        status.data = answers.DataChange(data.breakpoint_id, data.name, data.old, data.new, place)
        if data.message:
            status.message = data.message
    if stop.returned:
        status.returned = cast(list[Variable], list(stop.returned))


def name_reason(stop: Stop) -> str:
    """Why it stopped, as REST answers and events say it."""
    return _REASONS.get(stop.reason, stop.reason)


def explain_failure(expression: str, error: str) -> str:
    """What is said of a condition that raised."""
    return (
        f"The condition `{expression}` raised {error}. "
        "It stopped here once; it does not stop for this again."
    )


def _location(location: Location | None) -> session_answers.Location | None:
    if location is None:
        return None
    return session_answers.Location(location.file, location.line, location.function)


def _changed_source(session: ProgramSession, file: str | None) -> str | None:
    if file is None or not session.breakpoints.has_changed(file):
        return None
    return f"{file} has changed since it was loaded; lines refer to the code that runs."


async def build_status(session: ProgramSession, include: Included = NOTHING) -> ProgramStatus:
    """Where the program is, with the threads at a stop, and whatever more is asked for."""
    status = build_state(session)
    try:
        await fill_threads(status, session)
        await fill_extras(status, session, include)
        await _fill_watches(status, session)
    except errors.SessionCrashed:
        # The program ended during the inspection. Its end will be reported soon.
        await session.wait_until(lambda: session.over, timings.TIMINGS.end_told)
    except (errors.WrongState, errors.NotFound):
        pass  # the program was continued meanwhile
    else:
        _fill_output(status, session, include)
        return status
    status = build_state(session)
    _fill_output(status, session, include)
    return status


async def fill_threads(status: ProgramStatus, session: ProgramSession) -> None:
    stop = session.stops.current
    if session.state is not State.PAUSED or stop is None:
        return
    if len(stop.threads) > 1:
        threads = (await session.inspection.threads()).threads
        status.stopped_threads = [
            thread
            for thread in threads
            if thread["status"] == "paused" and not thread.get("blocked")
        ]
        status.all_threads = [
            Thread(thread_id=thread["thread_id"], name=thread["name"], status=thread["status"])
            for thread in threads
        ]
        return
    _fill_threads_at_stop(status, stop)


def _fill_threads_at_stop(status: ProgramStatus, stop: Stop) -> None:
    """Build the threads from what came with the stop."""
    name = next((thread["name"] for thread in stop.threads if thread["id"] == stop.thread_id), "")
    stopped = Thread(thread_id=stop.thread_id, location=_location(stop.location), name=name)
    if stop.breakpoints:
        stopped["breakpoint_id"] = stop.breakpoints[0][0]
    status.stopped_threads = [stopped]
    status.all_threads = [
        Thread(
            thread_id=thread["id"],
            name=thread["name"],
            status="paused"
            if stop.all_threads_stopped or thread["id"] == stop.thread_id
            else "running",
        )
        for thread in stop.threads
    ]


async def fill_extras(status: ProgramStatus, session: ProgramSession, include: Included) -> None:
    if session.state is not State.PAUSED or session.stops.current is None:
        return
    if "source" in include:
        status.source = _build_source(session)
    if "locals" in include:
        page = await session.inspection.locals(count=_MAX_LOCALS)
        status.locals = page.variables
        if page.has_more:
            status.locals_total = page.total
    if "stack" in include:
        stack = await session.inspection.stack(count=_MAX_FRAMES)
        status.stack = stack.frames
        status.stack_total = stack.total


async def _fill_watches(status: ProgramStatus, session: ProgramSession) -> None:
    if session.watches and session.state is State.PAUSED and session.stops.current is not None:
        status.watches = await session.watches.at_stop()


def _fill_output(status: ProgramStatus, session: ProgramSession, include: Included) -> None:
    """What the program wrote. It counts as shown only if somebody is there to see it."""
    if "output" not in include:
        return
    tail = session.output.read_tail(include.output_since, include.output_bytes)
    status.output, status.output_counts = tail.entries, tail.counts
    status.output_cursor = str(tail.cursor)
    if not client_disconnected():
        session.output.note_shown(tail.cursor)


def _build_source(session: ProgramSession) -> answers.SourceContext | None:
    """The line that is about to run, with a few around it."""
    stop = session.stops.current
    place = stop.location if stop else None
    source = session.programs.sources.get(place.file) if place else None
    if place is None or source is None:
        return None
    first = max(1, place.line - _CONTEXT_LINES)
    last = min(len(source.text), place.line + _CONTEXT_LINES)
    return answers.SourceContext(
        place.file,
        place.line,
        source.line(place.line),
        [answers.SourceLine(number, source.text[number - 1]) for number in range(first, last + 1)],
    )


# -- a session on its own, and in a list ----------------------------------------------------------


def build_summary(session: ProgramSession) -> ProgramSummary:
    summary = ProgramSummary(
        session_id=session.id,
        status=session.state.value,
        name=session.config.name,
        created_at=rest.timestamp(session.created_at),
        pid=session.target.pid if session.target else None,
    )
    fill_state(summary, session)
    _fill_summary(summary, session)
    return summary


def _fill_summary(summary: ProgramSummary, session: ProgramSession) -> None:
    if session.launch is not None:
        summary.target = session.launch.target
    if session.over:
        session.end_report.summarize(summary)
    if session.parent_id:
        summary.parent_id = session.parent_id
    if session.is_recovered:
        summary.recoverable = session.launch is not None and session.over
    warning = session.idle.warning
    if warning:
        summary.warning = warning


async def build_detail(session: ProgramSession, include: Included = NOTHING) -> ProgramDetail:
    """All that is known of a session."""
    status = await build_status(session, include)
    target = session.target
    shown = {name: getattr(status, name) for name in status.__struct_fields__}
    shown["watches"] = session.watches.describe() if status.watches is UNSET else status.watches
    shown["output_cursor"] = str(session.output.cursor)
    detail = ProgramDetail(
        **shown,
        name=session.config.name,
        created_at=rest.timestamp(session.created_at),
        cwd=session.config.cwd,
        project=session.project,
        timeout_minutes=session.idle.minutes,
        expires_in_seconds=round(session.idle.seconds_left, 1),
        launch=build_launch(session.launch),
        attach=build_attach(session.attached),
        breakpoints=len(session.breakpoints.points),
        exception_breakpoints=session.breakpoints.exceptions_answer(),
        children=list(session.children.ids),
        subprocesses=list(session.children.subprocesses),
        pid=target.pid if target else None,
        python_version=".".join(map(str, target.version)) if target and target.version else None,
        route=target.route if target else None,
        run=session.output.run,
        last_event=session.last_seq,
    )
    _fill_summary(detail, session)
    return detail
