"""Watches an expression from the start of a run, when no breakpoint says where to look.

It is watched in the program's own files only. Variables of functions are looked at before each
line of the functions that have them, and so are those of modules that others import. Those of the
file that runs first are watched as values, from its first line on.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.core.breakpoint_places import is_line
from holdfast.core.name_lines import find_lines, has_globals, list_names
from holdfast.model.stop import Stop
from holdfast.service.programs.program_session import ProgramSession
from holdfast.service.programs.source_files import SourceFile, SourceFiles
from holdfast.service.run_options import RunOptions
from holdfast.service.tools.programs.own_files import OwnFiles, find_own_files
from holdfast.service.tools.programs.run_plan import RunPlan
from holdfast.service.tools.project_files import list_sources
from holdfast.service.tools.tool_client import ToolClient
from holdfast.wire.plain_text import show_count
from holdfast.wire.tool_requests import DebugRun

_MAX_LINES = 2000
_MAX_NAMED = 3


@dataclass(frozen=True)
class RunWatch:
    """Where the expression of a run is watched."""

    lines: tuple[tuple[str, int], ...] = ()
    """It is looked at before each of these."""
    begin: tuple[str, int] | None = None
    """Or it is watched as a value from this line on,"""
    from_entry: bool = False
    """or from the first line of the script."""
    files: tuple[str, ...] = ()
    """Where that is."""
    root: str = ""
    """The directory in which all was looked for."""

    @property
    def is_value(self) -> bool:
        return self.from_entry or self.begin is not None

    @property
    def points(self) -> list[dict[str, Any]]:
        """Breakpoints at the lines. They are gone after the next stop, whatever that is."""
        places = self.lines or ([self.begin] if self.begin else [])
        return [{"file": file, "line": line, "is_until": True} for file, line in places]

    def describe(self, client: ToolClient, expression: str) -> str:
        """Where it was never true."""
        if self.files:
            shown = [client.show_path(file) for file in self.files]
            where = ", ".join(shown[:_MAX_NAMED])
            if len(shown) > _MAX_NAMED:
                where += f" and {show_count(len(shown) - _MAX_NAMED, 'other file')}"
            text = f"`{expression}` was never true in {where}, where it was watched."
        elif self.is_value:
            text = f"`{expression}` was never true."
        else:
            names = ", ".join(sorted(list_names(expression)))
            text = f"`{expression}` was watched nowhere: no file below {self.root} has {names}."
        if len(self.lines) == _MAX_LINES:
            text += f" Only {_MAX_LINES} lines were watched: a breakpoint says where to look."
        return text


def is_watched(request: DebugRun) -> bool:
    """Whether `until` is an expression, and no breakpoint says where to look."""
    return request.until is not None and not request.breakpoints and not is_line(request.until)


async def plan_watch(sources: SourceFiles, expression: str, plan: RunPlan) -> RunWatch:
    """Where to watch an expression: in the files that the command names, else in the project."""
    if plan.launch.code is not None:
        return RunWatch(from_entry=True)
    own = find_own_files(plan)
    main = sources.get(own.main) if own.main else None
    is_global = main is not None and has_globals(main.analysis.text, expression)
    lines = await _list_lines(sources, own.named, own, expression)
    if not lines and not is_global:
        lines = await _list_lines(sources, list_sources(own.root), own, expression)
    if not lines:
        return _watch_value(main, own, is_script=plan.launch.script is not None)
    if main is not None and is_global:
        lines += [(main.path, line) for line in sorted(main.analysis.executable)]
    kept = tuple(dict.fromkeys(lines))[:_MAX_LINES]
    return RunWatch(lines=kept, files=tuple(dict.fromkeys(file for file, _line in kept)))


def _watch_value(main: SourceFile | None, own: OwnFiles, *, is_script: bool) -> RunWatch:
    """Watch it in the file that runs first, if that is one of the program's own."""
    if is_script and own.main is not None:
        return RunWatch(from_entry=True, files=(own.main,))
    if main is not None and main.analysis.executable:
        return RunWatch(begin=(main.path, min(main.analysis.executable)), files=(main.path,))
    return RunWatch(root=own.root)


async def _list_lines(
    sources: SourceFiles, files: Iterable[str], own: OwnFiles, expression: str
) -> list[tuple[str, int]]:
    lines: list[tuple[str, int]] = []
    names = list_names(expression)
    words = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b")
    for file in files if names else ():
        await asyncio.sleep(0)  # reading and parsing take time, and the server has other clients
        # Most files do not have the names: those are not even parsed.
        source = sources.get(file) if words.search(sources.read_text(file) or "") else None
        if source is not None:
            found = _find_lines(source, expression, is_main=file == own.main)
            lines += [(file, line) for line in found]
            if len(lines) >= _MAX_LINES:
                break
    return lines


def _find_lines(source: SourceFile, expression: str, *, is_main: bool) -> Sequence[int]:
    text, executable = source.analysis.text, source.analysis.executable
    if not is_main and has_globals(text, expression):
        return sorted(executable)
    return [line for line in find_lines(text, expression) if line in executable]


async def resume_watching(
    client: ToolClient, session: ProgramSession, watch: RunWatch, expression: str, seconds: float
) -> None:
    """Let the program run from its first line until the expression is true.

    Raises errors.InvalidInput if it cannot be watched."""
    stop = session.stops.current
    if session.is_paused and stop is not None and _is_begin(stop, watch):
        await session.resume_until(expression, 0, RunOptions(by=client.name, wait=seconds))


def _is_begin(stop: Stop, watch: RunWatch) -> bool:
    """Whether it is at the line from which on it is watched: it may have failed before."""
    if watch.begin is None or stop.location is None:
        return stop.reason == "entry"
    file, line = watch.begin
    is_file = os.path.realpath(stop.location.file) == os.path.realpath(file)
    return is_file and stop.location.line == line and stop.exception is None
