"""The breakpoints of an editor: on lines, functions, values and exceptions.

Each request replaces those of this editor only. What others have set stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast import errors
from holdfast.server.dap.dap_arguments import (
    BreakpointLocationsArguments,
    DataBreakpointInfoArguments,
    SetBreakpointsArguments,
    SetDataBreakpointsArguments,
    SetExceptionBreakpointsArguments,
    SetFunctionBreakpointsArguments,
    Source,
    SourceBreakpoint,
    to_path,
)
from holdfast.server.dap.dap_requests import Order, RequestList
from holdfast.server.dap.dap_sources import build_source
from holdfast.wire.dap import Body
from holdfast.wire.program_answers import BreakpointAnswer

if TYPE_CHECKING:
    from holdfast.server.dap.dap_client import EditorClient

requests = RequestList()
_FILTERS = ("raised", "uncaught", "userUnhandled")
_MODES = {"always": "raised", "unhandled": "uncaught", "userUnhandled": "userUnhandled"}
_NOT_DEBUGGING = "The program runs without debugging."


# -- lines ----------------------------------------------------------------------------------------


@requests.on("setBreakpoints")
async def set_lines(client: EditorClient, arguments: SetBreakpointsArguments) -> Body:
    path = find_path(client, arguments.source)
    wanted = arguments.breakpoints
    if wanted is None:
        wanted = [SourceBreakpoint(line) for line in arguments.lines or []]
    if client.runs_only:
        return _refuse_all(len(wanted))
    breakpoints = client.joined.program.breakpoints
    specs = [
        {
            "line": breakpoints.find_nearest_line(path, client.from_line(point.line)),
            "condition": point.condition or None,
            "hit_condition": point.hit_condition or None,
            "log_message": point.log_message or None,
        }
        for point in wanted
    ]
    answers = await breakpoints.replace_lines(client.owner, path, specs)
    return _build_answers(client, answers)


def find_path(client: EditorClient, source: Source) -> str:
    """The file of a source, or the name of one that exists in the program only."""
    if source.source_reference:
        return client.sources.get(source.source_reference)
    if not source.path:
        raise errors.InvalidInput("the source has no path", field="source.path")
    return to_path(source.path)


@requests.on("breakpointLocations")
async def list_locations(client: EditorClient, arguments: BreakpointLocationsArguments) -> Body:
    path = find_path(client, arguments.source)
    first = client.from_line(arguments.line)
    last = first if arguments.end_line is None else client.from_line(arguments.end_line)
    lines = client.joined.program.breakpoints.list_lines(path, first, last)
    return {"breakpoints": [{"line": client.to_line(line)} for line in lines]}


# -- functions and values -------------------------------------------------------------------------


@requests.on("setFunctionBreakpoints")
async def set_functions(client: EditorClient, arguments: SetFunctionBreakpointsArguments) -> Body:
    if client.runs_only:
        return _refuse_all(len(arguments.breakpoints))
    specs = [
        {
            "function": point.name.strip(),
            "condition": point.condition or None,
            "hit_condition": point.hit_condition or None,
        }
        for point in arguments.breakpoints
    ]
    breakpoints = client.joined.program.breakpoints
    return _build_answers(client, await breakpoints.replace_functions(client.owner, specs))


@requests.on("dataBreakpointInfo", Order.BESIDE)
async def find_data(client: EditorClient, arguments: DataBreakpointInfoArguments) -> Body:
    try:
        info = await client.joined.program.breakpoints.find_data(
            arguments.name,
            None if arguments.frame_id is None else arguments.frame_id - 1,
            arguments.variables_reference or None,
        )
    except (errors.InvalidInput, errors.NotFound, errors.WrongState) as problem:
        return {"dataId": None, "description": problem.message}
    if info.data_id is None:
        message = info.message if isinstance(info.message, str) else ""
        return {"dataId": None, "description": message or info.description}
    return {
        "dataId": info.data_id,
        "description": info.description,
        # Of these, the protocol knows `write` only. `change` is one more, for who asks for it.
        "accessTypes": [name for name in info.access_types if name == "write"],
        "canPersist": info.can_persist,
    }


@requests.on("setDataBreakpoints")
async def set_data(client: EditorClient, arguments: SetDataBreakpointsArguments) -> Body:
    if client.runs_only:
        return _refuse_all(len(arguments.breakpoints))
    specs = [
        {
            "data_id": point.data_id,
            "access": point.access_type or "write",
            "condition": point.condition or None,
            "hit_condition": point.hit_condition or None,
        }
        for point in arguments.breakpoints
    ]
    breakpoints = client.joined.program.breakpoints
    return _build_answers(client, await breakpoints.replace_data(client.owner, specs))


# -- exceptions -----------------------------------------------------------------------------------


@requests.on("setExceptionBreakpoints")
async def set_exceptions(client: EditorClient, arguments: SetExceptionBreakpointsArguments) -> Body:
    """Filters, each perhaps with the names of classes as its condition."""
    options = arguments.filter_options or []
    chosen = [*arguments.filters, *(option.filter_id for option in options)]
    types = [name for option in options for name in _list_types(option.condition)]
    for option in arguments.exception_options or []:
        if option.break_mode in _MODES:
            chosen.append(_MODES[option.break_mode])
            last = option.path[-1] if option.path else None
            types += last.names if last is not None and not last.negate else []
    known = [name for name in dict.fromkeys(chosen) if name in _FILTERS]
    if client.runs_only:
        return _refuse_all(len(chosen))
    breakpoints = client.joined.program.breakpoints
    await breakpoints.replace_exceptions(client.owner, known, list(dict.fromkeys(types)))
    return {
        "breakpoints": [
            {"verified": True}
            if name in _FILTERS
            else {"verified": False, "message": f"There is no filter {name!r:.100}."}
            for name in chosen
        ]
    }


def _list_types(condition: str | None) -> list[str]:
    """The names of classes in the condition of an exception filter."""
    return [name.strip() for name in (condition or "").split(",") if name.strip()]


# -- answers --------------------------------------------------------------------------------------


def _refuse_all(count: int) -> Body:
    return {"breakpoints": [{"verified": False, "message": _NOT_DEBUGGING}] * count}


def _build_answers(client: EditorClient, answers: Sequence[BreakpointAnswer]) -> Body:
    return {
        "breakpoints": [
            build_breakpoint(client, msgspec.to_builtins(answer, enc_hook=str))
            for answer in answers
        ]
    }


def build_breakpoint(client: EditorClient, facts: Mapping[str, Any]) -> Body:
    """A breakpoint as the protocol shows it, from an answer or an event of ours."""
    point: Body = {"verified": bool(facts["verified"])}
    if facts.get("id"):
        point["id"] = client.editors.breakpoint_numbers.add(facts["id"])
    if facts.get("message"):
        point["message"] = facts["message"]
    if facts.get("file"):
        point["source"] = build_source(client, facts["file"])
    if facts.get("line"):
        point["line"] = client.to_line(facts["line"])
    return point
