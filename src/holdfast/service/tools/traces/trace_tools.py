"""`debug_trace`: one call's whole life, from a run or from a recording."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import UNSET

from holdfast import errors
from holdfast.core import conditions
from holdfast.model.launch import TraceOrder
from holdfast.model.trace import FrameTrace, LoopRun, Step
from holdfast.service.programs.program_session import ProgramSession
from holdfast.service.tools.programs.own_files import find_own_files
from holdfast.service.tools.programs.run_plan import plan_run
from holdfast.service.tools.tool_client import ToolClient
from holdfast.service.tools.traces.recorded_run import (
    TracedRun,
    build_run,
    record_run,
    repeat_run,
)
from holdfast.service.tools.traces.trace_report_builder import TraceReportBuilder
from holdfast.service.tools.traces.traced_function import find_function
from holdfast.service.traces.call_view import list_nodes
from holdfast.service.traces.recordings import (
    CallEntry,
    CallTreeRecording,
    FrameRecording,
    Recording,
)
from holdfast.service.traces.shown_values import ShownValues
from holdfast.wire.plain_text import clean_line, clean_output, show_count
from holdfast.wire.tool_requests import DebugTrace
from holdfast.wire.trace_reports import TraceReport

if TYPE_CHECKING:
    from holdfast.service.debugger import Debugger

_MAX_LISTED = 12
_MAX_TREE = 60
_MAX_OUTPUT = 300
_ENDED = "terminated"


async def trace(debugger: Debugger, client: ToolClient, request: DebugTrace) -> TraceReport:
    """Show a call of a recording; make the recording first if a target is given."""
    if request.trace is None:
        if request.target is None:
            raise errors.InvalidInput(
                "give a target to run, or a trace that was recorded", field="target"
            )
        return await _trace_run(debugger, client, request)
    recording = await debugger.traces.open(request.trace)
    key = _choose_call(recording, request)
    if key is not None:
        return _show(client, request, recording, _find_session(debugger, recording), key)
    if not request.again:
        raise _refuse_unrecorded(recording, request)
    return await _trace_again(debugger, client, request, recording)


# -- a run -----------------------------------------------------------------------------------------


async def _trace_run(
    debugger: Debugger, client: ToolClient, request: DebugTrace, target: str | None = None
) -> TraceReport:
    for expression in filter(None, [request.where]):
        conditions.check(expression)
    run = build_run(request, target or request.target or "")
    plan = await plan_run(client, run)
    order = TraceOrder(path="", kind="calls", roots=())
    if request.function is not None:
        function = await find_function(debugger, find_own_files(plan), request.function)
        order = TraceOrder(
            path="",
            kind="frame",
            roots=(),
            function=function.name,
            is_own=function.is_own,
            is_static=function.is_static,
            call=_choose_index(request),
            where=request.where,
            raised=request.raised,
            full=request.full,
        )
    traced = await record_run(debugger, client, run, order, plan=plan)
    recording = await debugger.traces.open(traced.trace_id)
    key = recording.picked if isinstance(recording, FrameRecording) else None
    report = _show(client, request, recording, traced.session, key)
    _add_run(report, traced, request)
    return report


def _choose_index(request: DebugTrace) -> int | None:
    if request.call is not None or request.where is not None or request.raised:
        return request.call
    return 1


async def _trace_again(
    debugger: Debugger, client: ToolClient, request: DebugTrace, recording: Recording
) -> TraceReport:
    """Run what was recorded once more, and follow what is asked for now."""
    target = repeat_run(recording, request)
    if request.go is not None:
        request.function, request.call = _find_wanted(recording, request)
    request.function = request.function or recording.run.function
    return await _trace_run(debugger, client, request, target)


def _find_wanted(recording: Recording, request: DebugTrace) -> tuple[str | None, int | None]:
    """The function and the call that a step from a recorded call leads to."""
    here = _get_start(recording, request)
    if request.go == "parent":
        callers = recording.build_frame(here.key).callers
        return (callers[0].function, 1) if callers else (None, None)
    if request.go == "child":
        called = _list_callees(recording.build_frame(here.key))
        return (called[0], 1) if called else (None, None)
    return here.function, here.index + (1 if request.go == "next" else -1)


def _add_run(report: TraceReport, traced: TracedRun, request: DebugTrace) -> None:
    """Say what only a run has to say: how it ended, and what it wrote."""
    session = traced.session
    remarks = [*traced.plan.remarks, *(report.remarks or ())]
    if report.steps is UNSET and request.function is not None:
        remarks.insert(0, _explain_missing_call(request, session))
    if session.wants_input:
        remarks.append("It waits for input: debug_continue(input=…) gives it a line.")
    elif not session.over:
        remarks.append("The program still runs: debug_stop ends it.")
    report.remarks = list(dict.fromkeys(remarks)) or UNSET
    if report.steps is UNSET or not session.over:
        said = session.output.tail(0, "stderr", _MAX_OUTPUT) or session.output.tail(
            0, "stdout", _MAX_OUTPUT
        )
        report.output = clean_output(said).strip() or UNSET


def _explain_missing_call(request: DebugTrace, session: ProgramSession) -> str:
    so_far = "" if session.over else " so far"
    if request.raised:
        return f"No call of {request.function} ended by an exception{so_far}."
    if request.where is not None:
        return f"`{request.where}` was true for no call of {request.function}{so_far}."
    if request.call is not None and request.call > 1:
        return f"{request.function} was not called {request.call} times{so_far}."
    return f"{request.function} was never called{so_far}."


# -- a recording -----------------------------------------------------------------------------------


def _find_session(debugger: Debugger, recording: Recording) -> ProgramSession | None:
    session_id = recording.run.session_id
    return debugger.programs.find(session_id) if session_id else None


def _get_start(recording: Recording, request: DebugTrace) -> CallEntry:
    """The call that is meant before any step from it."""
    named = _list_named(recording, request.function)
    if request.call is not None:
        named = [call for call in named if call.index == request.call]
    if request.raised:
        named = [call for call in named if call.outcome == "raised"]
    if not named:
        raise _refuse_unrecorded(recording, request)
    picked = recording.picked if isinstance(recording, FrameRecording) else None
    for call in named:
        if call.key == picked:
            return call
    return named[0]


def _list_named(recording: Recording, function: str | None) -> Sequence[CallEntry]:
    if function is None:
        return recording.calls
    end = f".{function}"
    return [c for c in recording.calls if c.function == function or c.function.endswith(end)]


def _choose_call(recording: Recording, request: DebugTrace) -> str | None:
    """The call that is asked for. None if the recording does not have it."""
    if isinstance(recording, CallTreeRecording):
        return "" if request.function is None else None
    if request.find is not None:
        return ""
    try:
        here = _get_start(recording, request)
    except errors.NotRecorded:
        return None
    if request.go is None:
        return here.key
    if request.go == "parent":
        return recording.find_parent(here.key)
    if request.go == "child":
        children = recording.list_children(here.key)
        return children[0].key if children else None
    return recording.find_neighbour(here.key, 1 if request.go == "next" else -1)


def _refuse_unrecorded(recording: Recording, request: DebugTrace) -> errors.NotRecorded:
    listed = ", ".join(_list_recorded(recording)) or "no call"
    wanted = f"the {request.go}" if request.go in ("parent", "child") else "that call"
    return errors.NotRecorded(
        f"trace {recording.id} does not have {wanted}: it has {listed}",
        hint="`again: true` runs the program once more to record it, and repeats its side effects.",
    )


def _list_recorded(recording: Recording) -> list[str]:
    """`shop.total call 1, 2, 3`: each function once, with its calls."""
    indexes: dict[str, list[int]] = {}
    for call in recording.calls:
        indexes.setdefault(clean_line(call.function), []).append(call.index)
    listed = [
        f"{name} call {', '.join(map(str, numbers[:6]))}{', …' if len(numbers) > 6 else ''}"
        for name, numbers in list(indexes.items())[:_MAX_LISTED]
    ]
    more = len(indexes) - len(listed)
    return listed + ([f"{show_count(more, 'function')} more"] if more > 0 else [])


# -- the answer ------------------------------------------------------------------------------------


def _show(
    client: ToolClient,
    request: DebugTrace,
    recording: Recording,
    session: ProgramSession | None,
    key: str | None,
) -> TraceReport:
    report = _begin(recording, session)
    values = ShownValues(request.show_secrets)
    if request.find is not None and not isinstance(recording, CallTreeRecording):
        found = [values.show_words(line) for line in recording.find_value(request.find)]
        report.found = found or [f"`{request.find}` is nowhere in this recording"]
    elif isinstance(recording, CallTreeRecording):
        report.tree = _list_tree(client, recording)
        report.next = "debug_trace with `function` shows one call's whole life."
    elif key:
        frame = recording.build_frame(key)
        TraceReportBuilder(client, values, is_full=request.full).fill(report, frame)
        report.remarks = _list_remarks(recording, frame, request) or UNSET
        if len(recording.calls) > 1:
            report.recorded = _list_recorded(recording)
    else:
        report.remarks = list(recording.remarks) or UNSET
    return report


def _begin(recording: Recording, session: ProgramSession | None) -> TraceReport:
    report = TraceReport(status=_ENDED, trace_id=recording.id)
    if session is not None:
        report.status, report.session_id = session.state.value, session.id
        if session.over:
            report.exit_code = session.exit_code
    return report


def _list_remarks(recording: Recording, frame: FrameTrace, request: DebugTrace) -> list[str]:
    remarks = [*frame.remarks, *recording.remarks]
    if frame.outcome == "running":
        remarks.append("The end of this call was not recorded: it had not ended by then.")
    if request.full and not recording.header.get("full"):
        remarks.append("It was recorded with loops folded: `again: true` with `full` records all.")
    return list(dict.fromkeys(remarks))


def _list_callees(frame: FrameTrace) -> list[str]:
    names: list[str] = []
    waiting: list[Step | LoopRun] = list(frame.items)
    while waiting:
        item = waiting.pop(0)
        if isinstance(item, LoopRun):
            waiting = [step for one in item.kept for step in one.steps] + waiting
        else:
            names += [call.function for call in item.calls]
    return names


def _list_tree(client: ToolClient, recording: CallTreeRecording) -> list[str]:
    """`3 calls 12.5 ms (own 0.2) shop.total shop.py:12`, indented below its caller."""
    return [
        f"{'  ' * depth}{clean_line(node.function)} {client.show_place(node.file, node.line)}"
        f"  x{node.calls} {node.total_ms:.3g} ms (own {node.own_ms:.3g})"
        + (f" raised {node.raised}" if node.raised else "")
        for node, depth in list_nodes(recording.tree)[:_MAX_TREE]
    ]
