"""Watches an expression from the start of a run, when no breakpoint says where to look.

Variables of functions are looked at before each line of the functions of the program's own file
that have them. Everything else is watched as a value, from the first line on.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from holdfast.core.breakpoint_places import is_line
from holdfast.core.name_lines import find_lines
from holdfast.service.programs.program_session import ProgramSession
from holdfast.service.run_options import RunOptions
from holdfast.service.tools.programs.run_plan import RunPlan
from holdfast.service.tools.tool_client import ToolClient
from holdfast.wire.tool_requests import DebugRun

if TYPE_CHECKING:
    from holdfast.service.debugger import Debugger


def is_watched(request: DebugRun) -> bool:
    """Whether `until` is an expression, and no breakpoint says where to look."""
    return request.until is not None and not request.breakpoints and not is_line(request.until)


def list_watched_lines(
    debugger: Debugger, request: DebugRun, plan: RunPlan
) -> list[dict[str, Any]]:
    """A breakpoint for each line at which the expression is looked at; none if it is a value.

    They are gone after the next stop, whatever that is."""
    assert request.until is not None
    points = []
    for file in _list_own_files(plan):
        source = debugger.programs.sources.get(file)
        if source is not None:
            lines = find_lines(source.analysis.text, request.until)
            points += [
                {"file": file, "line": line, "is_until": True}
                for line in lines
                if line in source.analysis.executable
            ]
    return points


def _list_own_files(plan: RunPlan) -> Iterator[str]:
    launch = plan.launch
    if launch.script is not None:
        yield os.path.abspath(os.path.join(plan.cwd, os.path.expanduser(launch.script)))
    elif launch.module == "pytest":
        for argument in launch.args:
            if not argument.startswith("-"):
                yield os.path.join(plan.cwd, argument.partition("::")[0])
    elif launch.module is not None:
        path = os.path.join(plan.cwd, *launch.module.split("."))
        yield from (f"{path}.py", os.path.join(path, "__main__.py"))


async def resume_watching(
    client: ToolClient, session: ProgramSession, expression: str, seconds: float
) -> None:
    """Let the program run from its first line until the expression is true.

    Raises errors.InvalidInput if it cannot be watched."""
    stop = session.stops.current
    if session.is_paused and stop is not None and stop.reason == "entry":
        await session.resume_until(expression, 0, RunOptions(by=client.name, wait=seconds))
