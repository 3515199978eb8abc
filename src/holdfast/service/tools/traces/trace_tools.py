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
_DISTANCES = {"next": 1, "previous": -1}


async def trace(debugger: Debugger, client: ToolClient, request: DebugTrace) -> TraceReport:
    """Show a call of a recording; make the recording first if a target is given."""
    _check(request)
    if request.trace is None:
        return await _trace_run(debugger, client, request)
    recording = await debugger.traces.open(request.trace)
    key = _choose_call(recording, request)
    if key is not None:
        return _show(client, request, recording, _find_session(debugger, recording), key)
    if not request.again or (request.function or recording.run.function) is None:
        raise _refuse_unrecorded(recording, request)
    return await _trace_again(debugger, client, request, recording)


def _check(request: DebugTrace) -> None:
    """Refuse what cannot be meant, before anything runs."""
    if (request.target is None) is (request.trace is None):
        raise errors.InvalidInput(
            "give either a target to run, or a trace that was recorded",
            hint="`trace` takes the id of a recording or a capture, or `latest`.",
            field="target",
        )
    ways = [name for name in ("call", "where", "raised") if getattr(request, name)]
    if len(ways) > 1:
        raise errors.InvalidInput(
            f"{' and '.join(ways)} each choose one call: give one of them", hint="", field=ways[1]
        )
    if request.trace is None and request.go is not None:
        raise errors.InvalidInput(
            "`go` moves in a recording: give `trace`",
            hint="Trace a function first; then `trace` is `latest`.",
            field="go",
        )
    if request.trace is None and request.function is None and (ways or request.find):
        name = ways[0] if ways else "find"
        raise errors.InvalidInput(
            f"`{name}` needs a function",
            hint="Without a function, the answer is the tree of calls.",
            field="function",
        )


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
        here = _get_start(recording, request)
        if request.go in ("parent", "child"):
            return await _trace_relative(debugger, client, request, target, here)
        request.function = here.function
        request.call, request.raised = here.index + _DISTANCES[request.go], False
    request.function = request.function or recording.run.function
    return await _trace_run(debugger, client, request, target)


async def _trace_relative(
    debugger: Debugger, client: ToolClient, request: DebugTrace, target: str, here: CallEntry
) -> TraceReport:
    """Record a whole run, because which call of its caller it was is known only there."""
    order = TraceOrder(path="", kind="run", roots=())
    traced = await record_run(debugger, client, build_run(request, target), order)
    recording = await debugger.traces.open(traced.trace_id)
    same = [c for c in recording.calls if (c.function, c.index) == (here.function, here.index)]
    key = _follow(recording, same[0], request.go) if same else None
    if key is None:
        problem = f"has no {request.go} in the program's own code" if same else "was not made again"
        hint = "" if same else "Give `stdin` and `env` again: a recording does not keep them."
        raise errors.NotRecorded(f"{here.function} call {here.index} {problem}", hint=hint)
    report = _show(client, request, recording, traced.session, key)
    _add_run(report, traced, request)
    return report


def _add_run(report: TraceReport, traced: TracedRun, request: DebugTrace) -> None:
    """Say what only a run has to say: how it ended, and what it wrote."""
    session = traced.session
    remarks = [*traced.plan.remarks, *(report.remarks or ())]
    if report.steps is UNSET and report.found is UNSET and request.function is not None:
        remarks.insert(0, _explain_missing_call(request, session))
    if session.wants_input:
        remarks.append("It waits for input: debug_continue(input=…) gives it a line.")
    elif not session.over:
        remarks.append("The program still runs: debug_stop ends it.")
    report.remarks = list(dict.fromkeys(remarks)) or UNSET
    if report.steps is UNSET or session.wants_input:
        report.output = clean_output(_read_output(session)).strip() or UNSET


def _read_output(session: ProgramSession) -> str:
    """The end of what the program wrote, in whole lines."""
    for kind in ("stderr", "stdout"):
        if said := session.output.tail(0, kind, _MAX_OUTPUT):
            rest = said.partition("\n")[2]
            return rest if len(said) == _MAX_OUTPUT and rest.strip() else said
    return ""


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
        asked = (request.function, request.call, request.go, request.find, request.raised or None)
        return "" if not any(asked) and request.where is None else None
    if request.find is not None:
        return ""
    if request.where is not None and request.where != recording.header.get("where"):
        return None  # only the program itself can evaluate it
    try:
        here = _get_start(recording, request)
    except errors.NotRecorded:
        return None
    return here.key if request.go is None else _follow(recording, here, request.go)


def _follow(recording: Recording, here: CallEntry, go: str | None) -> str | None:
    """Where a step from a recorded call leads to. None if the recording does not have it."""
    if go == "parent":
        return recording.find_parent(here.key)
    if go == "child":
        children = recording.list_children(here.key)
        return children[0].key if children else None
    if go == "previous" and here.index == 1:
        raise errors.NotRecorded(f"{here.function} call 1 is its first call", hint="")
    return recording.find_neighbour(here.key, _DISTANCES[go or "next"])


def _refuse_unrecorded(recording: Recording, request: DebugTrace) -> errors.NotRecorded:
    wanted = f"the {request.go}" if request.go in ("parent", "child") else "that call"
    if request.where is not None:
        problem = f"trace {recording.id} was recorded without asking for `{request.where}`"
    elif isinstance(recording, CallTreeRecording):
        problem = f"trace {recording.id} counts calls, and does not have {wanted}"
    else:
        listed = ", ".join(_list_recorded(recording)) or "no call"
        problem = f"trace {recording.id} does not have {wanted}: it has {listed}"
    hint = "`again: true` runs the program once more to record it, and repeats its side effects."
    is_useless = request.again or (
        isinstance(recording, CallTreeRecording) and request.function is None
    )
    return errors.NotRecorded(
        problem, hint="Name a function that the program calls." if is_useless else hint
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
        report.next = "debug_trace(function=…) shows one call's whole life."
    elif key:
        frame = recording.build_frame(key)
        roots = recording.run.roots
        TraceReportBuilder(client, values, is_full=request.full, roots=roots).fill(report, frame)
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
    is_folded = isinstance(recording, FrameRecording) and not recording.header.get("full")
    if request.full and is_folded and _has_folded_loop(frame.items):
        remarks.append("It was recorded with loops folded: `again: true` with `full` records all.")
    return list(dict.fromkeys(remarks))


def _has_folded_loop(items: Sequence[Step | LoopRun]) -> bool:
    """Whether a loop has rounds of which not every statement was kept."""
    for item in items:
        if isinstance(item, LoopRun):
            if item.rows is not None or len(item.kept) < item.iterations:
                return True
            if any(_has_folded_loop(one.steps) for one in item.kept):
                return True
    return False


def _list_tree(client: ToolClient, recording: CallTreeRecording) -> list[str]:
    """`3 calls 12.5 ms (own 0.2) shop.total shop.py:12`, indented below its caller."""
    return [
        f"{'  ' * depth}{clean_line(node.function)} {client.show_place(node.file, node.line)}"
        f"  x{node.calls} {node.total_ms:.3g} ms (own {node.own_ms:.3g})"
        + (f" raised {node.raised}" if node.raised else "")
        for node, depth in list_nodes(recording.tree)[:_MAX_TREE]
    ]
