"""Reads the breakpoints of a tool's request: places as text, or objects."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from holdfast.core import function_finder
from holdfast.core.breakpoint_places import Place, find_first_line, parse_place
from holdfast.errors import InvalidPlace
from holdfast.service.programs.source_files import SourceFile
from holdfast.service.tools.function_advice import list_near, list_near_in_source
from holdfast.service.tools.project_files import find_by_suffix
from holdfast.service.tools.tool_client import ToolClient
from holdfast.wire.program_requests import BreakpointSpec

if TYPE_CHECKING:
    from holdfast.service.debugger import Debugger

_MAX_SHOWN = 5
_FOLDERS = ("", "src")
"""Where the modules of a project are, below the directory that its client works in."""


def resolve_breakpoint(
    debugger: Debugger, client: ToolClient, point: str | BreakpointSpec, cwd: str | None = None
) -> dict[str, Any]:
    """The fields of a breakpoint, with an absolute path.

    Paths are relative to `cwd`, else to the client's directory. Raises InvalidPlace if a file is
    known not to have the function."""
    if isinstance(point, BreakpointSpec):
        fields = point.fields()
        if "file" in fields:
            fields["file"] = resolve_file(client, fields["file"], cwd)
        return fields
    place = parse_place(point)
    if place.file is None:
        _check_module(debugger, client, place.function or "", cwd or client.cwd)
        return place.fields
    path = resolve_file(client, place.file, cwd)
    if place.function is not None:
        return _find_function(debugger, client, place, path)
    return {**place.fields, "file": path}


# -- files -----------------------------------------------------------------------------------------


def resolve_file(client: ToolClient, file: str, cwd: str | None = None) -> str:
    """The absolute path of a file. A name such as `<string>` stands for no file.

    One that is not there may be the end of a path: `shop/core.py` in a project that keeps its
    packages in `src`. Raises InvalidPlace if several files have that end."""
    if file.startswith("<") and file.endswith(">"):
        return file
    path = client.find_path(os.path.join(cwd, os.path.expanduser(file)) if cwd else file)
    folder = cwd or client.cwd
    if folder is None or os.path.exists(path) or not _may_be_an_end(file):
        return path
    found = find_by_suffix(folder, file)
    if len(found) > 1:
        shown = [client.show_path(each) for each in found]
        raise InvalidPlace(
            f"several files end with {file}: {', '.join(shown[:_MAX_SHOWN])}",
            hint=f"Write more of the path, as in {shown[0]}.",
            file=file,
        )
    return found[0] if found else path


def is_file_meant(client: ToolClient, file: str, path: str) -> bool:
    """Whether a file, as a client writes it, may be the one with this absolute path."""
    exact = client.find_path(file)
    if path in (exact, file) or os.path.exists(exact) or not _may_be_an_end(file):
        return path in (exact, file)
    return path.endswith(os.sep + os.path.normpath(file))


def _may_be_an_end(file: str) -> bool:
    return not file.startswith(("~", "<", os.sep)) and os.pardir not in file.split(os.sep)


# -- functions -------------------------------------------------------------------------------------


def _find_function(
    debugger: Debugger, client: ToolClient, place: Place, path: str
) -> dict[str, Any]:
    """A function of a file is a line of it; one that has no line of its own goes by its name."""
    assert place.function is not None
    source = debugger.programs.sources.get(path)
    if source is None:
        raise InvalidPlace(f"no such file: {path}", hint="Check the path.", file=path)
    if not _may_have(source, place.function):
        raise _build_refusal(client, place.function, source)
    line = find_first_line(source.analysis.text, place.function)
    fields = place.fields
    if line is not None:
        del fields["function"]
        return {**fields, "file": path, "line": line}
    del fields["file"]
    stem = os.path.splitext(os.path.basename(path))[0]
    return {**fields, "function": f"{stem}.{place.function}"}


def _check_module(debugger: Debugger, client: ToolClient, name: str, folder: str | None) -> None:
    """Refuse a function of a module of the project that does not define it.

    The debugger finds functions where they are defined, not where they are imported."""
    if folder is None or function_finder.is_pattern(name):
        return
    for module, qualname in function_finder.candidates(name):
        path = _find_module(folder, module)
        source = debugger.programs.sources.get(path) if path else None
        if source is not None:
            if not _may_have(source, qualname):
                near = list_near(debugger.programs.sources, folder, name)
                raise _build_refusal(client, qualname, source, near)
            return


def _find_module(folder: str, module: str) -> str | None:
    inner = module.replace(".", os.sep)
    for base in _FOLDERS if module else ():
        for end in (f"{inner}.py", os.path.join(inner, "__init__.py")):
            path = os.path.join(folder, base, end)
            if os.path.isfile(path):
                return path
    return None


def _may_have(source: SourceFile, qualname: str) -> bool:
    """Whether a file defines a function. Of one that does not compile nobody knows."""
    analysis = source.analysis
    return analysis.syntax_error is not None or bool(function_finder.find(analysis.text, qualname))


def _build_refusal(
    client: ToolClient, function: str, source: SourceFile, elsewhere: Sequence[str] = ()
) -> InvalidPlace:
    """Say which functions come near, in the file and elsewhere; else which the file has."""
    text = source.analysis.text
    hint = "It has no functions."
    if near := list_near_in_source(text, function) or elsewhere:
        hint = f"Near: {', '.join(near)}."
    elif names := list(dict.fromkeys(each.path for each in function_finder.list_functions(text))):
        more = ", …" if len(names) > _MAX_SHOWN else ""
        hint = f"It has {', '.join(names[:_MAX_SHOWN])}{more}."
    shown = function_finder.shorten(function)
    message = f"no function {shown} in {client.show_path(source.path)}"
    return InvalidPlace(message, hint=hint, file=source.path)
