"""`debug_why`: which write produced a value, and what fed it."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

from msgspec import UNSET

from holdfast import errors
from holdfast.core.breakpoint_places import is_line, parse_place
from holdfast.model.launch import TraceOrder
from holdfast.model.run_recording import WhyChain, WhyLink
from holdfast.service.programs.program_session import ProgramSession
from holdfast.service.tools.programs.breakpoint_resolver import resolve_file
from holdfast.service.tools.tool_client import ToolClient
from holdfast.service.tools.traces.recorded_run import build_run, record_run, repeat_run
from holdfast.service.traces import why_facts
from holdfast.service.traces.recordings import WholeRunRecording
from holdfast.service.traces.shown_values import ShownValues
from holdfast.wire.described import none_to_unset
from holdfast.wire.plain_text import clean_line
from holdfast.wire.tool_requests import DebugWhy
from holdfast.wire.why_reports import WhyAssigned, WhyLinkShown, WhyReport

if TYPE_CHECKING:
    from holdfast.service.debugger import Debugger


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
    whole = why_facts.check_whole(recording)
    try:
        asked = (request.variable, place, request.hit)
        chain = await asyncio.to_thread(why_facts.explain, whole, *asked)
    except errors.NotRecorded as problem:
        if session is None or place is None or target is None or problem.details["has_run"]:
            raise
        raise _add_program_hint(problem, client, target, place[0]) from None
    return _build_report(client, request, whole, session, chain)


def _add_program_hint(
    problem: errors.NotRecorded, client: ToolClient, target: str, file: str
) -> errors.NotRecorded:
    """A module of a package does little when it is run as a script."""
    if not os.path.isabs(target):
        target = client.find_path(target)
    if target == file:
        hint = f"{problem.hint} {os.path.basename(file)} was run as a script: if another program "
        problem.hint = hint.lstrip() + "uses it, give that one as the target."
    return problem


def _find_place(client: ToolClient, request: DebugWhy) -> tuple[str, int] | None:
    if request.at is None:
        if request.variable is not None:
            raise errors.InvalidInput("say where: `at` is a `file:line`", field="at")
        return None
    if not is_line(request.at):
        raise errors.InvalidInput(
            f"{request.at} is no `file:line`", hint="As in shop.py:12.", field="at"
        )
    place = parse_place(request.at)
    assert place.file is not None
    assert place.line is not None
    cwd = client.find_path(request.cwd) if request.cwd else None
    return resolve_file(client, place.file, cwd), place.line


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
    origins = why_facts.list_origins(chain)
    report.origins = [values.show_words(origin) for origin in origins] or UNSET
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
        for link in why_facts.list_links(chain)
    ]


def _build_link(
    client: ToolClient, values: ShownValues, link: WhyLink, usual_file: str
) -> WhyLinkShown:
    file = UNSET if link.file == usual_file else clean_line(client.show_path(link.file))
    return WhyLinkShown(
        line=link.line,
        source=values.show_words(link.source),
        file=file,
        wrote=values.show_all(why_facts.list_written(link)) or UNSET,
        read=values.show_all(link.read) or UNSET,
        relation=none_to_unset(why_facts.find_relation(link)),
        times=link.times if link.times > 1 else UNSET,
    )
