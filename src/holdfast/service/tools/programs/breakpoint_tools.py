"""Sets and removes breakpoints of a session."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from holdfast import errors
from holdfast.core import breakpoint_places
from holdfast.core.breakpoint_places import Place
from holdfast.service.programs.breakpoint_owners import TOOLS
from holdfast.service.programs.program_session import ProgramSession
from holdfast.service.tools.programs.breakpoint_resolver import is_file_meant, resolve_breakpoint
from holdfast.service.tools.programs.breakpoint_text import explain, name_place
from holdfast.service.tools.programs.program_choice import find_program
from holdfast.service.tools.tool_client import ToolClient
from holdfast.wire.breakpoint_table import BreakpointTable, ListedBreakpoint
from holdfast.wire.program_answers import BreakpointAnswer
from holdfast.wire.tool_requests import DebugSetBreakpoints

if TYPE_CHECKING:
    from holdfast.service.debugger import Debugger

_ALL = "all"
_ENDED = "The program has ended: these stop nothing, unless it is restarted."


async def set_breakpoints(
    debugger: Debugger, client: ToolClient, request: DebugSetBreakpoints
) -> BreakpointTable:
    """Remove, then set, and list what there is. If something is wrong, nothing is changed."""
    session = find_program(debugger, client, request.session_id)
    points = session.breakpoints
    if request.watch and not session.is_paused:
        raise errors.WrongState(
            f"a value can be watched where the program stands: it is {session.state.value}",
            hint='Watch it at a stop: debug_step(kind="pause") makes one.',
            state=session.state.value,
            possible=session.list_operations(),
        )
    specs = [resolve_breakpoint(debugger, client, each) for each in request.add]
    specs += [await points.data.resolve({"name": name}) for name in request.watch]
    unwanted = _find_unwanted(session, client, request.remove)
    for spec in specs:
        points.points.check_spec(spec)
    removed = await points.remove_all(unwanted, client.name)
    known = {point.id for point in points.points}
    if specs:
        await points.add_owned(TOOLS, specs)
    if request.exceptions is not None:
        filters = [] if request.exceptions == "none" else [request.exceptions]
        await points.set_exceptions(filters, [])
    table = await _build_table(session, client, known)
    table.removed = removed if request.remove else UNSET
    return table


def _find_unwanted(session: ProgramSession, client: ToolClient, wanted: Sequence[str]) -> list[str]:
    """The ids of those to remove: named by id or place, or all of them."""
    listed = [point for point in session.breakpoints.points if not point.is_until]
    ids: dict[str, None] = {}
    for text in wanted:
        if text == _ALL:
            matching = [point.id for point in listed]
        elif any(point.id == text for point in listed):
            matching = [text]
        else:
            shown = session.breakpoints.describe(point.id for point in listed)
            matching = [point.id for point in shown if _is_named(point, text, client)]
            if not matching:
                raise _not_found(text, shown, client)
        ids.update(dict.fromkeys(matching))
    return list(ids)


def _is_named(point: BreakpointAnswer, text: str, client: ToolClient) -> bool:
    """Whether a place means this one. A place without a condition means any at that place."""
    if text.strip() in (name_place(point, client), point.expression, point.function):
        return True
    try:
        place = breakpoint_places.parse_place(text)
    except errors.InvalidInput:
        return False
    return _is_at(point, place, client)


def _is_at(point: BreakpointAnswer, place: Place, client: ToolClient) -> bool:
    if place.condition and place.condition != point.condition:
        return False
    if place.line is None:
        return place.function is not None and place.function == point.function
    is_file = is_file_meant(client, place.file or "", point.file or "")
    return is_file and place.line == point.line


def _not_found(
    text: str, listed: Iterable[BreakpointAnswer], client: ToolClient
) -> errors.BreakpointNotFound:
    known = [f"{point.id} ({name_place(point, client)})" for point in listed]
    return errors.BreakpointNotFound(
        f"no breakpoint {text!r:.100}",
        hint=f"There is {', '.join(known[:5])}." if known else "There is none.",
        breakpoint_id=text,
    )


async def _build_table(
    session: ProgramSession, client: ToolClient, known: set[str]
) -> BreakpointTable:
    listed = (await session.breakpoints.all()).breakpoints
    filters = session.breakpoints.effective_exceptions.filters
    table = BreakpointTable(
        status=session.state.value,
        session_id=session.id,
        breakpoints=[_build_row(point, client, known) for point in listed],
        exceptions=", ".join(filters) or "none",
    )
    if session.over:
        table.message = _ENDED
    return table


def _build_row(point: BreakpointAnswer, client: ToolClient, known: set[str]) -> ListedBreakpoint:
    row: dict[str, Any] = {"message": explain(point)} if explain(point) else {}
    if point.id not in known:
        row["is_new"] = True
    return ListedBreakpoint(
        id=point.id,
        place=name_place(point, client),
        verified=point.verified,
        hits=point.hits,
        **row,
    )
