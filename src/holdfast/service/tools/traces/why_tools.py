"""`debug_why`: which write produced a value, and what fed it."""

from __future__ import annotations

import ast
import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import UNSET

from holdfast import errors
from holdfast.core import why_slice
from holdfast.core.breakpoint_places import is_line, parse_place
from holdfast.model.launch import TraceOrder
from holdfast.model.run_recording import WhyChain, WhyLink
from holdfast.service.programs.program_session import ProgramSession
from holdfast.service.tools.programs.breakpoint_resolver import resolve_file
from holdfast.service.tools.tool_client import ToolClient
from holdfast.service.tools.traces.recorded_run import build_run, record_run, repeat_run
from holdfast.service.traces.recordings import WholeRunRecording
from holdfast.service.traces.shown_values import ShownValues
from holdfast.wire.plain_text import clean_line
from holdfast.wire.tool_requests import DebugWhy
from holdfast.wire.why_reports import WhyAssigned, WhyLinkShown, WhyReport

if TYPE_CHECKING:
    from holdfast.service.debugger import Debugger

MAX_LINES = 30
_QUIET_RELATIONS = ("value", "argument", "returned", "raised", "test", "which object")
_EMPTY = frozenset(("{}", "[]", "set()", "defaultdict({})", "deque([])"))
_ENTRY = "if __name__ =="


async def explain(debugger: Debugger, client: ToolClient, request: DebugWhy) -> WhyReport:
    """Follow a value, or the exception that ended the run, back to where it came from."""
    place = _find_place(client, request)
    session: ProgramSession | None = None
    recording = None if request.trace is None else await debugger.traces.open(request.trace)
    target = request.target or (place[0] if place else None)
    if recording is not None and request.again and not isinstance(recording, WholeRunRecording):
        target = repeat_run(recording, request)
        recording = None
    if recording is None:
        if target is None:
            raise errors.InvalidInput("give `at`, a target or a trace", field="at")
        order = TraceOrder(path="", kind="run", roots=())
        traced = await record_run(debugger, client, build_run(request, target), order)
        session = traced.session
        recording = await debugger.traces.open(traced.trace_id)
    if not isinstance(recording, WholeRunRecording):
        raise errors.NotRecorded(
            f"trace {recording.id} follows one function only, and not what fed it",
            hint="`again: true` runs the program once more to record all, and repeats its side "
            "effects.",
        )
    chain = await asyncio.to_thread(_explain, recording, request, place)
    return _build_report(client, request, recording, session, chain)


def _find_place(client: ToolClient, request: DebugWhy) -> tuple[str, int] | None:
    if request.at is None:
        if request.variable is not None:
            raise errors.InvalidInput("say where: `at` is a `file:line`", field="at")
        return None
    if not is_line(request.at):
        raise errors.InvalidInput(f"{request.at} is no `file:line`", field="at")
    place = parse_place(request.at)
    assert place.file is not None
    assert place.line is not None
    cwd = client.find_path(request.cwd) if request.cwd else None
    return resolve_file(client, place.file, cwd), place.line


def _explain(
    recording: WholeRunRecording, request: DebugWhy, place: tuple[str, int] | None
) -> WhyChain:
    try:
        if request.variable is None or place is None:
            return why_slice.explain_exception(recording.events, max_lines=MAX_LINES)
        file, line = place
        return why_slice.explain_value(
            recording.events, file, line, request.variable, request.hit, max_lines=MAX_LINES
        )
    except why_slice.NotExplained as problem:
        raise errors.NotRecorded(str(problem), hint=problem.hint) from None


# -- the answer ------------------------------------------------------------------------------------


def _build_report(
    client: ToolClient,
    request: DebugWhy,
    recording: WholeRunRecording,
    session: ProgramSession | None,
    chain: WhyChain,
) -> WhyReport:
    values = ShownValues(request.show_secrets)
    report = WhyReport(
        status="terminated" if session is None else session.state.value,
        trace_id=recording.id,
        links=_build_links(client, values, chain),
    )
    if session is not None:
        report.session_id = session.id
    if chain.name is not None:
        report.variable = clean_line(chain.name)
    if chain.assigned is not None:
        report.assigned = _build_assigned(client, values, chain)
        if any(link.line == chain.assigned.line and not link.file for link in report.links[:1]):
            report.assigned.source = ""  # the first link has it
    elif chain.value is not None:
        report.value = values.show(chain.name or "", chain.value)
    if chain.hits > 1:
        report.hit, report.hits = chain.hit, chain.hits
    inputs = [origin for origin in chain.origins if not origin.startswith("a constant")]
    report.origins = [values.show_words(origin) for origin in inputs] or UNSET
    report.unknown = [values.show_words(reason) for reason in chain.unknown] or UNSET
    report.remarks = list(recording.remarks) or UNSET
    return report


def _build_assigned(client: ToolClient, values: ShownValues, chain: WhyChain) -> WhyAssigned:
    link = chain.assigned
    assert link is not None
    return WhyAssigned(
        file=clean_line(client.show_path(link.file)),
        line=link.line,
        value=values.show(chain.name or "", link.value or ""),
        source=values.show_words(link.source),
    )


def _build_links(client: ToolClient, values: ShownValues, chain: WhyChain) -> list[WhyLinkShown]:
    first = chain.assigned or next(iter(chain.links), None)
    return [
        _build_link(client, values, link, "" if first is None else first.file)
        for link in chain.links
        if not _says_nothing(link)
    ]


def _says_nothing(link: WhyLink) -> bool:
    """Who called is told by the arguments; that a container was empty at first says little."""
    if link.relation == "which object":
        return _EMPTY.issuperset(link.wrote.values())
    return link.relation == "called by" or link.source.startswith(_ENTRY)


def _build_link(
    client: ToolClient, values: ShownValues, link: WhyLink, usual_file: str
) -> WhyLinkShown:
    file = UNSET if link.file == usual_file else clean_line(client.show_path(link.file))
    given = {name: text for name, text in link.wrote.items() if "(" not in name}
    wrote = given or dict(link.wrote)  # arguments are told by what the statement read
    return WhyLinkShown(
        line=link.line,
        source=values.show_words(link.source),
        file=file,
        wrote=values.show_all(_leave_out_obvious(wrote, link.source)) or UNSET,
        read=values.show_all(link.read) or UNSET,
        relation=UNSET if link.relation in _QUIET_RELATIONS else link.relation,
        times=link.times if link.times > 1 else UNSET,
    )


def _leave_out_obvious(wrote: Mapping[str, str], source: str) -> dict[str, str]:
    """What the statement itself does not say already, as `x = 3` does."""
    name = _find_constant(source)
    return {each: text for each, text in wrote.items() if each != name}


def _find_constant(source: str) -> str | None:
    """The variable that a statement gives a literal value."""
    try:
        (statement,) = ast.parse(source).body
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target, value = statement.targets[0], statement.value
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            target, value = statement.target, statement.value
        else:
            return None
        ast.literal_eval(value)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    return ast.unparse(target)
