"""`debug_run`: one whole experiment in one call."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from holdfast import errors
from holdfast.core import conditions
from holdfast.core.breakpoint_places import is_line, parse_place
from holdfast.model.config import SessionConfig
from holdfast.model.launch import Experiment, Preparation
from holdfast.service.clock import read_clock
from holdfast.service.programs import program_input
from holdfast.service.programs.program_session import ProgramSession
from holdfast.service.tools.programs.breakpoint_resolver import resolve_breakpoint, resolve_file
from holdfast.service.tools.programs.run_plan import RunPlan, describe_environment, plan_run
from holdfast.service.tools.programs.run_report import add_run
from holdfast.service.tools.programs.run_watch import (
    RunWatch,
    is_watched,
    plan_watch,
    resume_watching,
)
from holdfast.service.tools.reports.report_builder import build_report
from holdfast.service.tools.reports.report_rows import add_problems
from holdfast.service.tools.tool_client import ToolClient
from holdfast.wire.report_answers import Report
from holdfast.wire.tool_requests import DebugRun

if TYPE_CHECKING:
    from holdfast.service.debugger import Debugger

MAX_ROWS = 1000
"""How many rows are collected unless another number is asked for."""
_FILTERS = {"uncaught": ["uncaught"], "raised": ["raised", "uncaught"], "none": []}


async def run(debugger: Debugger, client: ToolClient, request: DebugRun) -> Report:
    """Start the program, wait for what comes of it, and report that."""
    deadline = read_clock() + request.timeout
    plan = await plan_run(client, request)
    watch = await _plan_watch(debugger, request, plan)
    preparation = _prepare(debugger, client, request, plan, watch)
    session = await _start(debugger, client, request, plan, preparation, watch)
    if client.is_gone:
        await debugger.programs.delete(session)
        raise errors.SessionNotFound("the client left while its program was started")
    client.started.append(session.id)
    session.collected.expressions = tuple(request.collect)
    if request.stdin is not None:
        with contextlib.suppress(errors.WrongState):  # it has ended already
            program_input.write_input(session, request.stdin, close=True)
    await session.wait_until_settled(_seconds_left(deadline))
    if watch is not None and watch.is_value:
        await _watch(debugger, client, session, request, watch, _seconds_left(deadline))
    await refuse_missing_module(debugger, session, plan, client)
    report = await build_report(
        session, client, show_secrets=request.show_secrets, budget_tokens=request.budget_tokens
    )
    add_run(report, session, client, plan)
    add_problems(report, _list_shortfalls(session, client, request, watch))
    if _is_until_true(session, request):
        said = report.message if isinstance(report.message, str) else ""
        report.message = f"`{request.until}` is true. {said}".strip()
    return report


def _is_until_true(session: ProgramSession, request: DebugRun) -> bool:
    """Whether it stopped because the expression is true, and the stop itself does not say so."""
    stop = session.stops.current if session.is_paused else None
    if request.until is None or is_line(request.until) or stop is None or stop.data is not None:
        return False
    hits_allowed = request.max_hits or (MAX_ROWS if request.collect else None)
    return stop.exception is None and (
        hits_allowed is None or session.collected.hits < hits_allowed
    )


def _list_shortfalls(
    session: ProgramSession, client: ToolClient, request: DebugRun, watch: RunWatch | None
) -> list[str]:
    """What the experiment has not come to, or has not gone on to."""
    shortfalls = []
    if watch is not None and request.until is not None and session.over:
        shortfalls.append(watch.describe(client, request.until))
    elif request.until is not None and session.over:
        what = "reached" if is_line(request.until) else "true"
        shortfalls.append(f"`{request.until}` was never {what}.")
    if request.collect and request.max_hits is None and session.collected.hits >= MAX_ROWS:
        shortfalls.append(f"It stopped after {MAX_ROWS} rows; max_hits allows more.")
    return shortfalls


def _seconds_left(deadline: float) -> float:
    return max(0.0, deadline - read_clock())


# -- the start -------------------------------------------------------------------------------------


async def _plan_watch(debugger: Debugger, request: DebugRun, plan: RunPlan) -> RunWatch | None:
    if request.until is None or not is_watched(request):
        return None
    conditions.check(request.until)
    return await plan_watch(debugger.programs.sources, request.until, plan)


def _prepare(
    debugger: Debugger,
    client: ToolClient,
    request: DebugRun,
    plan: RunPlan,
    watch: RunWatch | None,
) -> Preparation:
    points = [
        resolve_breakpoint(debugger, client, point, plan.cwd) for point in request.breakpoints
    ]
    if request.collect and not points:
        raise errors.InvalidInput(
            "collect needs breakpoints: each of their hits is a row",
            hint='For instance breakpoints=["cart.py:12"], collect=["total"].',
            field="collect",
        )
    for expression in request.collect:
        conditions.check(expression)
    place = _find_until_place(client, request, plan.cwd)
    if place is not None and not any(_is_same_line(point, place) for point in points):
        points.append(place)
    until_place = (place["file"], place["line"]) if place else None
    if watch is not None:
        points += watch.points
        until_place = watch.begin
    experiment = Experiment(
        collect=tuple(request.collect),
        until=None if until_place or not points else request.until,
        until_place=until_place,
        max_hits=request.max_hits or (MAX_ROWS if request.collect else None),
    )
    filters = _FILTERS[request.exceptions]
    return Preparation(points, [False] * len(points), filters, experiment)


def _find_until_place(client: ToolClient, request: DebugRun, cwd: str) -> dict[str, Any] | None:
    """`until` as a line to run to. An expression is checked, and is none."""
    if request.until is None:
        return None
    if not is_line(request.until):
        conditions.check(request.until)
        return None
    place = parse_place(request.until)
    assert place.file is not None
    return {"file": resolve_file(client, place.file, cwd), "line": place.line, "is_until": True}


def _is_same_line(point: Mapping[str, Any], place: Mapping[str, Any]) -> bool:
    return (point.get("file"), point.get("line")) == (place["file"], place["line"])


async def _start(
    debugger: Debugger,
    client: ToolClient,
    request: DebugRun,
    plan: RunPlan,
    preparation: Preparation,
    watch: RunWatch | None,
) -> ProgramSession:
    launch = plan.launch
    if watch is not None and watch.from_entry:
        launch = replace(launch, stop_on_entry=True)
    try:
        return await debugger.programs.open_started(
            SessionConfig(name=request.target), launch, preparation, is_private=True
        )
    except errors.ModuleMissing as problem:
        raise explain_missing(problem.details["module"], plan, client) from None


async def _watch(
    debugger: Debugger,
    client: ToolClient,
    session: ProgramSession,
    request: DebugRun,
    watch: RunWatch,
    seconds: float,
) -> None:
    assert request.until is not None
    try:
        await resume_watching(client, session, watch, request.until, seconds)
    except errors.InvalidInput:
        client.started.remove(session.id)
        await debugger.programs.delete(session)
        raise


# -- a module that is not there --------------------------------------------------------------------


async def refuse_missing_module(
    debugger: Debugger, session: ProgramSession, plan: RunPlan, client: ToolClient
) -> None:
    """Python itself found that there is no such module, when it had begun."""
    module = plan.launch.module
    if module is None or not session.over or session.exit_code != 1:
        return
    said = session.output.tail(0, "stderr", 1000).rstrip()
    if said.count("\n") == 0 and said.endswith(f"No module named {module}"):
        client.started.remove(session.id)
        await debugger.programs.delete(session)
        raise explain_missing(module, plan, client)


def explain_missing(module: str, plan: RunPlan, client: ToolClient) -> errors.ModuleMissing:
    environment = describe_environment(plan.environment, client)
    if module == "pytest":
        message = f"pytest is not installed in {environment}"
        hint = "Install it there, or give `python`: an interpreter or an environment that has it."
    else:
        message = f"no module named {module!r}, seen from {plan.cwd}, in {environment}"
        hint = "Check the name and `cwd`, or give `python`: the environment that has it."
    return errors.ModuleMissing(message, hint=hint, module=module, field="target")
