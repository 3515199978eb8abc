"""Builds reports of a program: where it is, and what is new to the client.

The report of a stop is made of what came with the stop: the program is asked only for what did not
come with it (more about an exception, values of watches, variables after an evaluation).
"""

from __future__ import annotations

import copy
from collections.abc import Iterator

from msgspec import UNSET

from holdfast import errors, timings
from holdfast.model.session_state import State
from holdfast.service.programs import status_builder
from holdfast.service.programs.program_session import ProgramSession
from holdfast.service.tools.reports.report_context import ReportContext
from holdfast.service.tools.reports.report_end import fill_end, list_useless
from holdfast.service.tools.reports.report_output import fill_output
from holdfast.service.tools.reports.report_rows import add_collected
from holdfast.service.tools.reports.report_secrets import hide_report_secrets
from holdfast.service.tools.reports.report_stop import fill_stop
from holdfast.service.tools.reports.running_view import list_threads
from holdfast.service.tools.tool_client import ToolClient
from holdfast.service.waitable import client_disconnected
from holdfast.wire.plain_text import clean_line
from holdfast.wire.program_answers import ProgramStatus
from holdfast.wire.report_answers import Report
from holdfast.wire.tool_requests import DEFAULT_BUDGET

_MAX_THREADS = 5

_NEXT_AT_STOP = "debug_step, debug_continue, debug_evaluate"
_NEXT_AT_EXCEPTION = "debug_evaluate, debug_continue, debug_stop"
_NEXT_RUNNING = 'debug_continue waits for it, debug_step(kind="pause") stops it'
_NEXT_INPUT = 'debug_continue(input="…")'


async def build_report(
    session: ProgramSession,
    client: ToolClient,
    *,
    show_secrets: bool = False,
    is_full: bool = False,
    budget_tokens: int = DEFAULT_BUDGET,
) -> Report:
    """Report where the program is now. What it shows counts as shown to the client.

    `is_full`: all of it, as if nothing had been shown before.
    """
    memory = client.memory.find(session.id, session.output.run)
    if client_disconnected():  # nobody gets this one, so it does not count
        memory = copy.deepcopy(memory)
    context = ReportContext(session, client, memory, is_full, show_secrets, budget_tokens)
    try:
        report = await _build(context)
    except errors.SessionCrashed:
        # The program ended while it was asked. Its end will be reported soon.
        await session.wait_until(lambda: session.over, timings.TIMINGS.end_told)
        report = await _build(context)
    is_sent = not client_disconnected()
    add_collected(report, session, client, is_full=is_full, counts=is_sent)
    if not show_secrets:
        hide_report_secrets(report)
    return report


async def _build(context: ReportContext) -> Report:
    session, memory = context.session, context.memory
    status = status_builder.build_state(session)
    report = Report(status=status.status, session_id=session.id)
    if session.state is State.PAUSED and session.stops.current is not None:
        try:
            await fill_stop(report, status, context)
        except (errors.WrongState, errors.NotFound):
            # It was continued meanwhile.
            status = status_builder.build_state(session)
            report = Report(status=status.status, session_id=session.id)
    elif session.over:
        fill_end(report, status, context)
    elif session.is_running and not session.wants_input:
        report.threads = await _list_threads(context) or UNSET
    if status.message and not status.held_children:  # which are named below
        report.message = "\n".join(filter(None, (status.message, report.message or "")))
    if status.prompt is not UNSET:
        report.prompt = clean_line(status.prompt)
    fill_output(report, context)
    _fill_problems(report, status, context)
    _fill_next(report, status, context)
    memory.is_new = False
    return report


async def _list_threads(context: ReportContext) -> list[str]:
    """Where it is now, which says why it takes so long."""
    limit = None if context.is_full else _MAX_THREADS
    return await list_threads(context.session, context.client, limit)


def _fill_problems(report: Report, status: ProgramStatus, context: ReportContext) -> None:
    problems = list(status.warnings or ())
    problems += list_useless(status, context)
    if context.session.over and status.never_hit:  # which may be the reason
        problems += context.session.losses.warnings
    for failure in status.condition_errors or ():
        problems.append(f"{failure.field} `{failure.expression}` raised {failure.error}")
    new = problems if context.is_full else context.memory.take_new_problems(problems)
    new += _list_held_children(status, context)
    report.problems = [clean_line(problem) for problem in new] or UNSET


def _list_held_children(status: ProgramStatus, context: ReportContext) -> Iterator[str]:
    """A child process that is held holds up its parent, so it is named each time."""
    for child in status.held_children or ():
        place = child.location
        at = f" at {context.show_place(place.file, place.line)}" if place else ""
        yield f"child process {child.session_id} is held{at} ({child.reason})"


def _fill_next(report: Report, status: ProgramStatus, context: ReportContext) -> None:
    """What can be done, where that is not clear from before."""
    state = context.session.state
    if state is State.WAITING_FOR_INPUT:
        report.next = _NEXT_INPUT
    elif status.held_children:
        child = f'session_id="{status.held_children[0].session_id}"'
        report.next = f"debug_inspect({child}), debug_continue({child})"
    elif state is State.RUNNING:
        report.next = _NEXT_RUNNING
    elif report.exception is not UNSET and state is State.PAUSED:
        report.next = _describe_next_at_exception(context)
    elif context.memory.is_new and state is State.PAUSED:
        report.next = _NEXT_AT_STOP


def _describe_next_at_exception(context: ReportContext) -> str:
    """Look at the nearest caller of the user's own, or at where that code called a library."""
    stop = context.session.stops.current
    frames = stop.frames if stop is not None else ()
    own = [depth for depth, frame in enumerate(frames) if depth and not frame.get("library")]
    return f"debug_inspect(frame={own[0]}), {_NEXT_AT_EXCEPTION}" if own else _NEXT_AT_EXCEPTION
