"""Runs a held program on: to its next stop, by steps, to a line, until something is true."""

from __future__ import annotations

import ast
import asyncio
import contextlib
from typing import TYPE_CHECKING

from holdfast import errors
from holdfast.core import breakpoint_places
from holdfast.model.session_state import State
from holdfast.service.programs import program_input
from holdfast.service.programs.program_session import ProgramSession
from holdfast.service.run_options import RunOptions
from holdfast.service.tools.programs.breakpoint_resolver import resolve_breakpoint
from holdfast.service.tools.programs.program_choice import find_program
from holdfast.service.tools.programs.step_run import StepRun
from holdfast.service.tools.reports.report_builder import build_report
from holdfast.service.tools.reports.report_context import add_omitted
from holdfast.service.tools.time_limit import TimeLimit
from holdfast.service.tools.tool_client import ToolClient
from holdfast.service.waitable import client_disconnected
from holdfast.wire.plain_text import show_count
from holdfast.wire.report_answers import Report
from holdfast.wire.tool_requests import DebugContinue, DebugStep

if TYPE_CHECKING:
    from holdfast.service.debugger import Debugger

_END_OF_INPUT = "\x04"
"""What ends the input of a terminal, and here that of a program."""
_ENDED = "It has ended: nothing was run. debug_run runs it again."
_NOT_STARTED = "Its program was never started. debug_run starts one, in a session of its own."
_STOPPED_MEANWHILE = "It has stopped meanwhile, which you were not told yet: nothing was run."
_RUNS = 'It runs, and can be stepped when it is paused: debug_step(kind="pause") stops it.'
_WAITS_FOR_INPUT = "It waits for input: debug_continue(input=…) gives it a line."
_MORE_STEPS = "a larger budget_tokens keeps more"
_MIN_STEPS = 5
_TOKENS_PER_STEP = 40
_UNTIL_NEEDS_A_STOP = (
    "It runs: an expression can be waited for from a stop only. `until` may be a `file:line`."
)


async def resume(debugger: Debugger, client: ToolClient, request: DebugContinue) -> Report:
    """Let the program run to its next stop; one that runs is waited for."""
    session = find_program(debugger, client, request.session_id)
    limit = TimeLimit(request.timeout)
    if session.over:
        return await _report(session, client, request, _ENDED)
    if session.state is State.CREATED:
        return await _report(session, client, request, _NOT_STARTED)
    message = await _run_on(debugger, session, client, request)
    await _wait(session, limit)
    if not message and request.until is not None:
        message = _describe_until(session, request.until)
    return await _report(session, client, request, message)


async def _run_on(
    debugger: Debugger, session: ProgramSession, client: ToolClient, request: DebugContinue
) -> str:
    """Begin what the request asks for. Returns what is to be said of it, if anything."""
    is_held = session.is_paused
    if is_held and session.id in client.running:
        if request.input is not None:
            _write_input(session, request.input)
        return _STOPPED_MEANWHILE
    keeps_untils = False
    if request.until is not None:
        if _is_place(request.until):
            place = resolve_breakpoint(debugger, client, request.until)
            await session.breakpoints.stop_once(place)
        elif not is_held:
            return _UNTIL_NEEDS_A_STOP
        elif await session.watch_until(request.until, 0):
            return f"{request.until} is true already; nothing was run."
        keeps_untils = True
    message = "" if request.input is None else _write_input(session, request.input)
    if is_held and session.is_paused:  # else somebody else has continued it meanwhile
        client.running.add(session.id)
        await session.run_on("continue", client.name, keeps_untils=keeps_untils)
    return message


def _is_place(until: str) -> bool:
    """Whether it names a place, such as `file:line`, and is no expression."""
    try:
        ast.parse(until.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        with contextlib.suppress(errors.InvalidInput):
            breakpoint_places.parse_place(until)
            return True
    return breakpoint_places.is_line(until)


def _write_input(session: ProgramSession, text: str) -> str:
    """Give the program a line, or the last of its input. Returns why it does not get it, if so."""
    is_last = text.endswith(_END_OF_INPUT)
    text = text.removesuffix(_END_OF_INPUT)
    if not is_last and not text.endswith("\n"):
        text += "\n"
    try:
        program_input.write_input(session, text, close=is_last)
    except errors.WrongState as problem:
        return f"The input was not given: {problem.message}."
    return ""


async def _wait(session: ProgramSession, limit: TimeLimit) -> None:
    """Wait for the next stop. A place that is run to is given up if nobody waits any more."""
    try:
        await session.wait_until_settled(limit.left)
    except asyncio.CancelledError:
        _give_up_untils(session)
        raise
    if client_disconnected():
        _give_up_untils(session)


def _give_up_untils(session: ProgramSession) -> None:
    if session.target is not None and not session.over:
        session.breakpoints.drop_untils(session.target)


def _describe_until(session: ProgramSession, until: str) -> str:
    if session.over:
        return f"It ended before {until} was reached."
    if session.is_paused:
        return ""
    return f"It runs on, and stops at {until}: debug_continue waits for that."


# -- steps -----------------------------------------------------------------------------------------


async def step(debugger: Debugger, client: ToolClient, request: DebugStep) -> Report:
    """Make one step or several, and report the last stop."""
    session = find_program(debugger, client, request.session_id)
    if session.over:
        return await _report(session, client, request, _ENDED)
    if session.state is State.CREATED:
        return await _report(session, client, request, _NOT_STARTED)
    if request.kind == "pause":
        return await _pause(session, client, request)
    if not session.is_paused:
        is_asking = session.state is State.WAITING_FOR_INPUT
        message = _WAITS_FOR_INPUT if is_asking else _RUNS
        return await _report(session, client, request, message)
    if session.id in client.running:
        return await _report(session, client, request, _STOPPED_MEANWHILE)
    steps = StepRun(session, client, request)
    try:
        await steps.run()
    except asyncio.CancelledError:
        _give_up_untils(session)
        raise
    if client_disconnected():
        _give_up_untils(session)
    report = await _report(session, client, request, steps.message)
    if steps.is_several:
        _fill_steps(report, steps.lines, request.budget_tokens)
    return report


def _fill_steps(report: Report, lines: list[str], budget_tokens: int) -> None:
    """The last of many steps, which take only their share of the budget."""
    kept = max(_MIN_STEPS, budget_tokens // _TOKENS_PER_STEP)
    report.steps = lines[-kept:]
    if len(lines) > kept:
        add_omitted(report, show_count(len(lines) - kept, "earlier step"), _MORE_STEPS)


async def _pause(session: ProgramSession, client: ToolClient, request: DebugStep) -> Report:
    if session.is_paused:
        return await _report(session, client, request, "It is paused already.")
    seconds = min(request.timeout, session.settings.step_wait)  # what blocks it may block for long
    answer = await session.pause(RunOptions(client.name, wait=seconds, include=()))
    said = answer.message if isinstance(answer.message, str) else ""
    message = said.partition(" GET /")[0]  # what is said to those who use the other routes
    return await _report(session, client, request, message)


async def _report(
    session: ProgramSession,
    client: ToolClient,
    request: DebugContinue | DebugStep,
    message: str,
) -> Report:
    report = await build_report(
        session, client, show_secrets=request.show_secrets, budget_tokens=request.budget_tokens
    )
    if message:
        said = report.message if isinstance(report.message, str) else ""
        report.message = f"{message} {said}".strip()
    return report
