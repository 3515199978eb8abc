"""Reads the breakpoints of a tool's request: places as text, or objects."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from holdfast.core.breakpoint_places import Place, find_first_line, parse_place
from holdfast.errors import InvalidPlace
from holdfast.service.tools.tool_client import ToolClient
from holdfast.wire.program_requests import BreakpointSpec

if TYPE_CHECKING:
    from holdfast.service.debugger import Debugger


def resolve_breakpoint(
    debugger: Debugger, client: ToolClient, point: str | BreakpointSpec, cwd: str | None = None
) -> dict[str, Any]:
    """The fields of a breakpoint, with an absolute path.

    Paths are relative to `cwd`, else to the client's directory."""
    if isinstance(point, BreakpointSpec):
        fields = point.fields()
        if "file" in fields:
            fields["file"] = resolve_file(client, fields["file"], cwd)
        return fields
    place = parse_place(point)
    if place.file is None:
        return place.fields
    path = resolve_file(client, place.file, cwd)
    if place.function is not None:
        return _find_function(debugger, place, path)
    return {**place.fields, "file": path}


def resolve_file(client: ToolClient, file: str, cwd: str | None = None) -> str:
    """The absolute path of a file. A name such as `<string>` stands for no file."""
    if file.startswith("<") and file.endswith(">"):
        return file
    return client.find_path(os.path.join(cwd, os.path.expanduser(file)) if cwd else file)


def _find_function(debugger: Debugger, place: Place, path: str) -> dict[str, Any]:
    """A function of a file is a line of it; one that has no line of its own goes by its name."""
    assert place.function is not None
    source = debugger.programs.sources.get(path)
    if source is None:
        raise InvalidPlace(f"no such file: {path}", hint="Check the path.", file=path)
    text = source.analysis.text
    line = find_first_line(text, place.function)
    fields = place.fields
    if line is not None:
        del fields["function"]
        return {**fields, "file": path, "line": line}
    del fields["file"]
    stem = os.path.splitext(os.path.basename(path))[0]
    return {**fields, "function": f"{stem}.{place.function}"}
