"""Runs a program and records it: an ordinary session, with a recorder instead of breakpoints."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast import errors, timings
from holdfast.core import lifecycle
from holdfast.model.config import SessionConfig
from holdfast.model.launch import Preparation, TraceOrder
from holdfast.recording.trace_files import RecordedRun
from holdfast.service.clock import read_clock
from holdfast.service.programs import program_input
from holdfast.service.programs.program_session import ProgramSession
from holdfast.service.tools.programs.own_files import OwnFiles, find_own_files
from holdfast.service.tools.programs.program_run import explain_missing, refuse_missing_module
from holdfast.service.tools.programs.run_plan import RunPlan, plan_run
from holdfast.service.tools.tool_client import ToolClient
from holdfast.service.traces.recordings import Recording
from holdfast.wire.tool_requests import DebugRun, DebugTrace, DebugWhy, ToolRequest

if TYPE_CHECKING:
    from holdfast.service.debugger import Debugger

_NO_ORDER = TraceOrder(path="", kind="frame", roots=())


@dataclass(frozen=True)
class TracedRun:
    """A program that was run for a recording."""

    session: ProgramSession
    trace_id: str
    plan: RunPlan
    own: OwnFiles


def build_run(request: ToolRequest, target: str, args: Sequence[str] | None = None) -> DebugRun:
    """The run that a request asks for, with no stop in it."""
    given: Any = request
    return DebugRun(
        target=target,
        args=list(given.args if args is None else args),
        env=given.env,
        cwd=given.cwd,
        python=given.python,
        stdin=given.stdin,
        timeout=given.timeout,
        exceptions="none",
    )


def repeat_run(recording: Recording, request: DebugTrace | DebugWhy) -> str:
    """Let a request ask for the run of a recording once more; returns its target."""
    before = recording.run.request or {}
    if not before.get("target"):
        raise errors.NotRecorded(f"how trace {recording.id} was run is not known", hint="")
    request.args = request.args or list(before.get("args") or ())
    request.cwd = request.cwd or before.get("cwd") or recording.run.cwd
    request.python = request.python or before.get("python")
    return str(before["target"])


async def record_run(
    debugger: Debugger,
    client: ToolClient,
    run: DebugRun,
    order: TraceOrder = _NO_ORDER,
    *,
    plan: RunPlan | None = None,
) -> TracedRun:
    """Run it to its end, to the end of the call that is asked for, or until the time is over."""
    deadline = read_clock() + run.timeout
    plan = plan or await plan_run(client, run)
    own = find_own_files(plan)
    trace_id, path = await debugger.traces.create()
    order = replace(order, path=path, roots=tuple(_list_roots(own, plan)))
    try:
        session = await _start(debugger, client, run, plan, order)
    except BaseException:  # cancellation included: a run that has not begun leaves nothing
        debugger.traces.directory.delete(trace_id)
        raise
    await debugger.traces.note_run(trace_id, _describe(session, run, order))
    await _wait(session, deadline)
    await refuse_missing_module(debugger, session, plan, client)
    return TracedRun(session, trace_id, plan, own)


def _list_roots(own: OwnFiles, plan: RunPlan) -> list[str]:
    """Where the program's own code is: the project, and the directories of the files it names."""
    folders = [own.root, plan.cwd, *(os.path.dirname(file) for file in own.named)]
    return list(dict.fromkeys(os.path.realpath(folder) for folder in folders))


async def _start(
    debugger: Debugger, client: ToolClient, run: DebugRun, plan: RunPlan, order: TraceOrder
) -> ProgramSession:
    preparation = Preparation(exception_filters=[], trace=order)
    try:
        session = await debugger.programs.open_started(
            SessionConfig(name=run.target), plan.launch, preparation, is_private=True
        )
    except errors.ModuleMissing as problem:
        raise explain_missing(problem.details["module"], plan, client) from None
    if client.is_gone:
        await debugger.programs.delete(session)
        raise errors.SessionNotFound("the client left while its program was started")
    client.started.append(session.id)
    if run.stdin is not None:
        with contextlib.suppress(errors.WrongState):  # it has ended already
            program_input.write_input(session, run.stdin, close=True)
    return session


def _describe(session: ProgramSession, run: DebugRun, order: TraceOrder) -> RecordedRun:
    return RecordedRun(
        target=" ".join([run.target, *run.args]),
        session_id=session.id,
        kind=order.kind,
        function=order.function,
        cwd=session.launch.cwd if session.launch else None,
        roots=order.roots,
        request=_describe_request(run),
    )


def _describe_request(run: DebugRun) -> dict[str, Any]:
    """What is needed to run it again; not the variables, which may be secrets."""
    fields: dict[str, Any] = msgspec.to_builtins(run)
    return {name: fields[name] for name in ("target", "args", "cwd", "python", "timeout")}


async def _wait(session: ProgramSession, deadline: float) -> None:
    await session.wait_until(
        lambda: session.is_traced or lifecycle.is_settled(session.state),
        _seconds_left(deadline),
    )
    if session.is_traced and not session.over:
        seconds = min(timings.TIMINGS.end_after_trace, _seconds_left(deadline))
        await session.wait_until(lambda: session.over, seconds)


def _seconds_left(deadline: float) -> float:
    return max(0.0, deadline - read_clock())
