"""Any frame of a held thread: its place, the lines around it, its variables; and all frames."""

from __future__ import annotations

from collections import Counter
from itertools import groupby

from msgspec import UNSET

from holdfast import errors
from holdfast.service.programs.program_session import ProgramSession
from holdfast.service.tools.reports.report_places import name_function, show_source
from holdfast.service.tools.reports.report_values import (
    list_shapes,
    name_noise,
    show_all,
    show_noise,
)
from holdfast.service.tools.tool_client import ToolClient
from holdfast.wire.program_answers import Frame
from holdfast.wire.report_answers import Report

_LINES_AROUND = 3
_MAX_LOCALS = 200
_MAX_FRAMES = 500


async def find_frame(session: ProgramSession, number: int) -> Frame:
    """The frame of this number: 0 is where the thread stands, 1 its caller."""
    page = await session.inspection.stack(start=number, count=1)
    if not page.frames:
        raise errors.FrameNotFound(
            f"there is no frame {number}",
            hint=f'There are {page.total}, from 0 on; debug_inspect(show=["stack"]) lists them.',
            frame_id=number,
        )
    return page.frames[0]


async def fill_place(
    report: Report, session: ProgramSession, number: int, client: ToolClient
) -> None:
    """Where the frame is. The place of the top frame came with the stop."""
    stop = session.stops.current
    if number == 0 and stop is not None and stop.location is not None:
        report.at = client.show_place(stop.location.file, stop.location.line)
        function = name_function(stop.frames[0]) if stop.frames else stop.location.function
        report.function = function or UNSET
        return
    frame = await find_frame(session, number)
    report.at = client.show_place(frame["file"], frame["line"])
    report.function = name_function(frame)


def fill_source(report: Report, session: ProgramSession, frame: Frame) -> None:
    """The lines around the one that runs."""
    sources = session.programs.sources
    report.source = show_source(sources, frame["file"], frame["line"], _LINES_AROUND) or UNSET


async def fill_locals(report: Report, session: ProgramSession, number: int, start: int = 0) -> None:
    """All its variables, shown before or not. What a module defines is only counted."""
    page = await session.inspection.locals(number, start=start, count=_MAX_LOCALS)
    is_module = report.function == "<module>"
    noise = [name_noise(variable) if is_module else None for variable in page.variables]
    pairs = zip(page.variables, noise, strict=True)
    variables = [variable for variable, noun in pairs if noun is None]
    report.locals = show_all(variables)
    report.shapes.update(list_shapes(variables))
    counts = Counter(noun for noun in noise if noun is not None)
    if counts:
        more = f'{show_noise(counts)}: debug_inspect(expand="globals()")'
        report.omitted = [*(report.omitted or ()), more]
    end = start + len(page.variables)
    if page.has_more:
        more = f'{page.total - end} variables: debug_inspect(show=["locals"], start={end})'
        report.omitted = [*(report.omitted or ()), more]


async def fill_stack(
    report: Report, session: ProgramSession, client: ToolClient, start: int, max_lines: int
) -> None:
    """Frames with their numbers. Those of one line, as in a recursion, are told in one."""
    page = await session.inspection.stack(start=start, count=_MAX_FRAMES)
    lines: list[str] = []
    number = start
    for (file, line, name), group in groupby(page.frames, key=_place_of):
        if len(lines) == max_lines:
            break
        count = len(list(group))
        numbers = f"{number}" if count == 1 else f"{number}-{number + count - 1}"
        lines.append(f"{numbers} {name} {client.show_place(file, line)}")
        number += count
    report.stack = lines
    if number < page.total:
        more = f'{page.total - number} frames: debug_inspect(show=["stack"], start={number})'
        report.omitted = [*(report.omitted or ()), more]


def _place_of(frame: Frame) -> tuple[str, int, str]:
    return frame["file"], frame["line"], name_function(frame)
