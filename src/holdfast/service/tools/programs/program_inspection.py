"""Looks into a program that is held: a frame, a value, expressions."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from holdfast import errors, timings
from holdfast.core import conditions
from holdfast.service.programs.program_session import ProgramSession
from holdfast.service.tools.programs import frame_view
from holdfast.service.tools.programs.breakpoint_text import describe_breakpoint
from holdfast.service.tools.programs.capture_reports import is_of_capture, report_capture
from holdfast.service.tools.programs.program_choice import find_program
from holdfast.service.tools.programs.value_view import expand_value, measure_room, quote, show_typed
from holdfast.service.tools.reports.report_builder import build_report
from holdfast.service.tools.reports.report_changes import note_variables
from holdfast.service.tools.reports.report_context import ReportContext, add_omitted
from holdfast.service.tools.reports.report_memory import SessionMemory
from holdfast.service.tools.reports.report_output import fill_output
from holdfast.service.tools.reports.report_places import show_lines
from holdfast.service.tools.reports.report_rows import add_collected
from holdfast.service.tools.reports.report_values import Variable, list_shapes
from holdfast.service.tools.reports.running_view import list_threads
from holdfast.service.tools.tool_client import ToolClient
from holdfast.wire.plain_text import show_count
from holdfast.wire.report_answers import Report
from holdfast.wire.tool_requests import DebugEvaluate, DebugInspect

if TYPE_CHECKING:
    from holdfast.service.debugger import Debugger

_BYTES_PER_LINE = 50
_MAX_LOCALS = 200
_RUNS = 'It runs; this is where its threads are now. debug_step(kind="pause") stops it.'
_NOT_PAUSED = 'Only where it stands still can it be evaluated: debug_step(kind="pause") stops it.'
_ENDED_MEANWHILE = "The program ended while it evaluated that. debug_run runs it again."
_ENDED = "It has ended: nothing can be evaluated any more. debug_run runs it again."


async def inspect(debugger: Debugger, client: ToolClient, request: DebugInspect) -> Report:
    """Show what is asked for, whether it was shown before or not."""
    if is_of_capture(request):
        return await report_capture(debugger, client, request)
    session = find_program(debugger, client, request.session_id)
    if not session.is_paused:
        return await _inspect_unpaused(session, client, request)
    try:
        return await _inspect_stop(session, client, request)
    except (errors.WrongState, errors.SessionCrashed):
        if session.is_paused:
            raise
        return await _inspect_unpaused(session, client, request)  # it was run on meanwhile


async def _inspect_unpaused(
    session: ProgramSession, client: ToolClient, request: DebugInspect
) -> Report:
    report = await build_report(session, client, show_secrets=request.show_secrets, is_full=True)
    if report.threads:
        _add_message(report, _RUNS)
    return report


async def _inspect_stop(
    session: ProgramSession, client: ToolClient, request: DebugInspect
) -> Report:
    asks_values = request.expand is not None or bool(request.expressions)
    if not (asks_values or request.show or request.frame):
        return await _report_everything(session, client, request)
    parts = request.show or ([] if asks_values else ["source", "locals"])
    report = await _begin_report(session, client, request.frame)
    for part in parts:
        await _FILLS[part](report, session, client, request)
    if asks_values:
        await _fill_values(report, session, request)
    return report


async def _report_everything(
    session: ProgramSession, client: ToolClient, request: DebugInspect
) -> Report:
    """The stop as if nothing of it had been shown, and the threads if there are several."""
    report = await build_report(session, client, show_secrets=request.show_secrets, is_full=True)
    stop = session.stops.current
    if stop is not None and len(stop.threads) > 1:
        report.threads = await list_threads(session, client) or UNSET
    return report


async def _begin_report(session: ProgramSession, client: ToolClient, number: int) -> Report:
    report = Report(status=session.state.value, session_id=session.id)
    report.inspected = f"frame={number}" if number else ""
    await frame_view.fill_place(report, session, number, client)
    return report


# -- the parts of a report that can be asked for ---------------------------------------------------


async def _fill_source(
    report: Report, session: ProgramSession, client: ToolClient, request: DebugInspect
) -> None:
    frame = await frame_view.find_frame(session, request.frame)
    if not request.start:
        frame_view.fill_source(report, session, frame)
        return
    last = request.start + measure_room(request.budget_tokens) // _BYTES_PER_LINE
    sources = session.programs.sources
    report.source = show_lines(sources, frame["file"], request.start, last, frame["line"]) or UNSET


async def _fill_locals(
    report: Report, session: ProgramSession, client: ToolClient, request: DebugInspect
) -> None:
    await frame_view.fill_locals(report, session, request.frame, request.start)


async def _fill_stack(
    report: Report, session: ProgramSession, client: ToolClient, request: DebugInspect
) -> None:
    lines = max(5, measure_room(request.budget_tokens) // _BYTES_PER_LINE)
    await frame_view.fill_stack(report, session, client, request.start, lines)


async def _fill_output(
    report: Report, session: ProgramSession, client: ToolClient, request: DebugInspect
) -> None:
    tail = session.output.read_tail(0, measure_room(request.budget_tokens))
    report.output = "".join(entry["text"] for entry in tail.entries)
    omitted = tail.counts.omitted_bytes
    if omitted:
        note = f"{show_count(omitted, 'byte')} of output before that"
        add_omitted(report, note, "a larger budget_tokens shows more of it")


async def _fill_threads(
    report: Report, session: ProgramSession, client: ToolClient, request: DebugInspect
) -> None:
    report.threads = await list_threads(session, client)


async def _fill_breakpoints(
    report: Report, session: ProgramSession, client: ToolClient, request: DebugInspect
) -> None:
    listed = (await session.breakpoints.all()).breakpoints
    report.breakpoints = [describe_breakpoint(point, client) for point in listed]


_Fill = Callable[[Report, ProgramSession, ToolClient, DebugInspect], Awaitable[None]]
_FILLS: dict[str, _Fill] = {
    "source": _fill_source,
    "locals": _fill_locals,
    "stack": _fill_stack,
    "output": _fill_output,
    "threads": _fill_threads,
    "breakpoints": _fill_breakpoints,
}


# -- values ----------------------------------------------------------------------------------------


async def _fill_values(report: Report, session: ProgramSession, request: DebugInspect) -> None:
    report.values = {}
    if request.expressions:
        report.values.update(await _evaluate_all(session, request.expressions, request.frame))
    if request.expand is None:
        return
    try:
        expanded = await expand_value(
            session, request.expand, request.frame, request.start, request.budget_tokens
        )
    except (errors.EvaluationFailed, errors.TimedOut) as problem:
        report.values[request.expand] = _show_failure(problem.message)
        return
    report.values.update(expanded.values)
    report.shapes.update(expanded.shapes)
    if expanded.omitted:
        report.omitted = [*(report.omitted or ()), *expanded.omitted]


async def _evaluate_all(
    session: ProgramSession, expressions: Sequence[str], frame: int
) -> dict[str, str]:
    """The value of each, or what it raised. In the top frame one request asks for all of them."""
    if frame == 0:
        try:
            values = await session.inspection.evaluate_watches(
                expressions, timings.TIMINGS.tool_expression
            )
        except errors.TimedOut as problem:
            values = [{"error": problem.message} for _ in expressions]
        return {
            expression: _render_watch(value)
            for expression, value in zip(expressions, values, strict=True)
        }
    return {one: await _evaluate_one(session, one, frame) for one in expressions}


async def _evaluate_one(session: ProgramSession, expression: str, frame: int) -> str:
    try:
        value = await session.inspection.evaluate(
            expression, frame, "watch", timings.TIMINGS.tool_expression
        )
    except (errors.EvaluationFailed, errors.TimedOut) as problem:
        return _show_failure(problem.message)
    return show_typed(value)


def _render_watch(value: Mapping[str, Any]) -> str:
    if value.get("timed_out"):
        return _show_failure(f"no value after {timings.TIMINGS.tool_expression:g} s")
    if value.get("skipped"):
        return _show_failure("not evaluated: the one before took too long")
    error = value.get("error")
    return _show_failure(str(error)) if error else show_typed(value)


def _show_failure(why: str) -> str:
    """In place of a value. It looks like none, as in logged messages and collected rows."""
    return f"<{why}>"


# -- debug_evaluate --------------------------------------------------------------------------------


async def evaluate(debugger: Debugger, client: ToolClient, request: DebugEvaluate) -> Report:
    """Evaluate an expression, or run a statement, in a frame."""
    session = find_program(debugger, client, request.session_id)
    if not session.is_paused:
        report = await build_report(session, client, show_secrets=request.show_secrets)
        report.error = _ENDED if session.over else _NOT_PAUSED
        return report
    report = await _begin_report(session, client, request.frame)
    may_change = _may_change_values(request.expression)
    before = await _read_variables(session, request.frame) if may_change else ()
    room = measure_room(request.budget_tokens)
    try:
        value = await session.inspection.evaluate(
            request.expression, request.frame, "repl", request.timeout, max_chars=room
        )
    except (errors.EvaluationFailed, errors.TimedOut) as problem:
        has_raised = isinstance(problem, errors.EvaluationFailed)
        report.error = problem.message if has_raised else f"{problem.message}. {problem.hint}"
    except errors.SessionCrashed:
        return await _report_end(session, client, request)
    else:
        _fill_result(report, request.expression, value)
    if session.is_paused and may_change:
        await _fill_changes(report, session, client, request.frame, before)
    memory = client.memory.find(session.id, session.output.run)
    fill_output(report, ReportContext(session, client, memory))  # what the code printed
    add_collected(report, session, client, is_full=False, counts=True)  # and what was remarked
    report.status = session.state.value
    return report


async def _report_end(
    session: ProgramSession, client: ToolClient, request: DebugEvaluate
) -> Report:
    await session.wait_until(lambda: session.over, timings.TIMINGS.end_told)
    report = await build_report(session, client, show_secrets=request.show_secrets)
    report.error = _ENDED_MEANWHILE
    return report


def _fill_result(report: Report, expression: str, value: Mapping[str, Any]) -> None:
    if conditions.is_expression(expression) or value["result"] != "None":
        report.values = {expression: show_typed(value)}
    if value.get("truncated") and value.get("variable_reference"):
        add_omitted(report, "the rest", f"debug_inspect(expand={quote(expression)})")


async def _read_variables(session: ProgramSession, frame: int) -> Sequence[Variable]:
    return (await session.inspection.locals(frame, count=_MAX_LOCALS)).variables


async def _fill_changes(
    report: Report,
    session: ProgramSession,
    client: ToolClient,
    frame: int,
    before: Sequence[Variable],
) -> None:
    """Say what the code has changed in the frame. That counts as shown."""
    stop = dataclasses.replace(session.stops.require(), reason="step")
    after = await _read_variables(session, frame)
    memory = SessionMemory()
    note_variables(memory, stop, before)
    changes = note_variables(memory, stop, after)
    report.locals = changes.new or UNSET
    report.was = changes.was or UNSET
    report.gone = changes.gone or UNSET
    report.shapes.update(list_shapes(after))
    shown = client.memory.find(session.id, session.output.run)
    if frame == 0 and shown.find_frame((stop.thread_id, stop.frame)) is not None:
        note_variables(shown, stop, after)


def _may_change_values(text: str) -> bool:
    """Whether it may do more than read: it is a statement, or calls something."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    return any(isinstance(node, (ast.Call, ast.NamedExpr, ast.Await)) for node in ast.walk(tree))


# -- notes -----------------------------------------------------------------------------------------


def _add_message(report: Report, message: str) -> None:
    report.message = message if report.message is UNSET else f"{report.message} {message}"
