"""What agents can read beside the tools: sources and output of programs, captures of failing tests.

Only files that a program has as its source are read, whatever an address says, and never more than
a client can take at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

import mcp_types

from holdfast import errors, timings
from holdfast.service.tools.reports.report_output import read_output
from holdfast.service.tools.tool_client import ToolClient
from holdfast.wire.tool_answers import BYTES_PER_TOKEN
from holdfast.wire.tool_requests import DebugInspect

if TYPE_CHECKING:
    from holdfast.service.debugger import Debugger
    from holdfast.service.session import Session

MAX_BYTES = 64 * 1024
"""Of the text of one resource."""
PAGE_SIZE = 100
_SCHEME = "holdfast://"
_CAPTURE_URI = re.compile(r"holdfast://captures/([^/]+)")
_SESSION_URI = re.compile(r"holdfast://sessions/([^/]+)/(?:(output)|source/(.+))")
_PYTHON, _TEXT = "text/x-python", "text/plain"


def list_templates() -> list[mcp_types.ResourceTemplate]:
    return [
        mcp_types.ResourceTemplate(
            uri_template=f"{_SCHEME}sessions/{{id}}/source/{{+path}}",
            name="source",
            description="A source file of the program of a session.",
            mime_type=_PYTHON,
        ),
        mcp_types.ResourceTemplate(
            uri_template=f"{_SCHEME}sessions/{{id}}/output",
            name="output",
            description="What the program of a session has written: the end of it.",
            mime_type=_TEXT,
        ),
        mcp_types.ResourceTemplate(
            uri_template=f"{_SCHEME}captures/{{id}}",
            name="capture",
            description="A failing test that `pytest --holdfast` has captured, or `latest`.",
            mime_type=_TEXT,
        ),
    ]


async def list_resources(
    debugger: Debugger, cursor: str | None
) -> tuple[list[mcp_types.Resource], str | None]:
    """One page of them, those of the newest session first, and where the next page begins."""
    if cursor is not None and not cursor.isdecimal():
        raise errors.InvalidInput(f"no page begins at {cursor!r}", field="cursor")
    listed = [one for session in _list_programs(debugger) for one in await _list_of(session)]
    listed += await _list_captures(debugger)
    start = int(cursor or 0)
    end = start + PAGE_SIZE
    return listed[start:end], str(end) if end < len(listed) else None


def _list_programs(debugger: Debugger) -> list[Session]:
    return sorted(debugger.programs.all(), key=lambda one: one.created_at, reverse=True)


async def _list_of(session: Session) -> list[mcp_types.Resource]:
    name = session.program.config.name or session.id
    output = mcp_types.Resource(
        uri=f"{_SCHEME}sessions/{session.id}/output", name=f"{name}: output", mime_type=_TEXT
    )
    sources = [
        mcp_types.Resource(uri=_build_source_uri(session.id, path), name=path, mime_type=_PYTHON)
        for path, is_library in (await _find_sources(session)).items()
        if not is_library
    ]
    return [output, *sources]


async def _list_captures(debugger: Debugger) -> list[mcp_types.Resource]:
    captures = (await debugger.captures.list()).captures
    return [
        mcp_types.Resource(uri=f"{_SCHEME}captures/{one.id}", name=one.node, mime_type=_TEXT)
        for one in captures
    ]


def _build_source_uri(session_id: str, path: str) -> str:
    return f"{_SCHEME}sessions/{session_id}/source/{quote(path.lstrip('/'))}"


async def read_resource(debugger: Debugger, uri: str) -> mcp_types.TextResourceContents:
    """The text at an address. What is too long is cut, and says so."""
    capture = _CAPTURE_URI.fullmatch(uri)
    if capture is not None:
        text = await _read_capture(debugger, unquote(capture[1]))
        return mcp_types.TextResourceContents(uri=uri, mime_type=_TEXT, text=text)
    match = _SESSION_URI.fullmatch(uri)
    if match is None:
        raise errors.NotFound(f"there is no resource {uri}", uri=uri)
    session = debugger.sessions.get(match[1])
    if match[2]:
        return mcp_types.TextResourceContents(
            uri=uri, mime_type=_TEXT, text=_keep_end(read_output(session.program))
        )
    path = unquote(match[3])
    text = await _read_source(session, path if path.startswith("<") else f"/{path}")
    return mcp_types.TextResourceContents(uri=uri, mime_type=_PYTHON, text=_keep_beginning(text))


async def _read_capture(debugger: Debugger, capture_id: str) -> str:
    request = DebugInspect(capture=capture_id, budget_tokens=MAX_BYTES // BYTES_PER_TOKEN)
    return (await debugger.tools.call("debug_inspect", request, ToolClient("mcp"))).text


async def _read_source(session: Session, path: str) -> str:
    if path not in await _find_sources(session):
        raise errors.SourceNotFound(
            f"{path} is no source of the program of session {session.id}", path=path
        )
    return (await session.program.inspection.source(path)).content


async def _find_sources(session: Session) -> dict[str, bool]:
    """The files that the program was made of, and which of them belong to a library."""
    program = session.program
    files: dict[str, bool] = {}
    if program.launch is not None and program.launch.script is not None:
        files[program.launch.script] = False
    files.update((point.file, False) for point in program.breakpoints.points if point.file)
    stop = program.stops.current
    if stop is not None:
        files.update((frame["file"], False) for frame in stop.frames)
    if program.is_live:
        # One that cannot answer now is listed with what is known of it.
        with contextlib.suppress(errors.HoldfastError, asyncio.TimeoutError):
            modules = await asyncio.wait_for(
                program.inspection.modules(), timings.TIMINGS.listed_files
            )
            files.update((one["file"], one["library"]) for one in modules if one["source"])
    return files


def _keep_beginning(text: str) -> str:
    data = text.encode("utf-8", "replace")
    if len(data) <= MAX_BYTES:
        return text
    kept = data[:MAX_BYTES].decode("utf-8", "ignore")
    return f"{kept}\n# … {len(data) - MAX_BYTES} more bytes are left out\n"


def _keep_end(text: str) -> str:
    data = text.encode("utf-8", "replace")
    if len(data) <= MAX_BYTES:
        return text
    kept = data[-MAX_BYTES:].decode("utf-8", "ignore")
    return f"… {len(data) - MAX_BYTES} bytes before this are left out\n{kept}"
