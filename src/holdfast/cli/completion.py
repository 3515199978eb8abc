"""What a shell offers after Tab: ids of the running server, and files.

A completion is quick, starts nothing, and says nothing if something is wrong.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from holdfast import timings
from holdfast.cli.server_access import describe_client
from holdfast.client import discovery
from holdfast.client.http_client import HttpClient

_MAX_FILES = 200

Offer = tuple[str, str]
"""A word and what it means."""


def complete_session(incomplete: str) -> list[Offer]:
    """Ids of sessions, the newest first."""
    sessions = reversed(_read("/sessions").get("sessions", []))
    return _list_offers(sessions, incomplete, "session_id", "kind", "status", "name")


def complete_hold(incomplete: str) -> list[Offer]:
    holds = _read("/api/holds").get("holds", [])
    return _list_offers(holds, incomplete, "hold_id", "reason", "at", "method_name")


def complete_call(incomplete: str) -> list[Offer]:
    calls = _read("/api/calls?limit=50").get("calls", [])
    return _list_offers(calls, incomplete, "call_id", "method_name", "status")


def complete_call_breakpoint(incomplete: str) -> list[Offer]:
    points = _read("/api/breakpoints").get("breakpoints", [])
    return _list_offers(points, incomplete, "id", "function", "when")


def complete_capture(incomplete: str) -> list[str]:
    """Ids of captures, which are files: no server is asked."""
    from holdfast.recording.capture_files import CaptureDirectory, captures_dir

    try:
        ids = CaptureDirectory(captures_dir(discovery.data_dir())).list_ids()
    except OSError:
        return []
    return [one for one in ("latest", *ids) if one.startswith(incomplete)]


def complete_breakpoint(incomplete: str) -> list[Offer]:
    """Breakpoints of the latest session."""
    answer = _read(f"/api/v1/tools/debug_set_breakpoints?{describe_client()}", {})
    offers = _list_offers(answer.get("breakpoints", []), incomplete, "id", "place")
    return [("all", "every breakpoint"), *offers] if "all".startswith(incomplete) else offers


def _list_offers(items: Any, incomplete: str, id_field: str, *fields: str) -> list[Offer]:
    """The items whose ids begin so, each with what its fields say of it."""
    return [
        (str(item[id_field]), " ".join(str(item[name]) for name in fields if item.get(name)))
        for item in items
        if str(item[id_field]).startswith(incomplete)
    ]


def _read(path: str, body: Any = None) -> Any:
    """What the server that runs answers; nothing if none does."""
    try:
        if discovery.chosen_url() is None and discovery.announced_url() is None:
            return {}
        client = HttpClient(discovery.server_url(), timeout=timings.TIMINGS.completion)
        return client.request("GET" if body is None else "POST", path, body)
    except Exception:  # whatever is wrong must not appear in the line that somebody types
        return {}


# -- files -----------------------------------------------------------------------------------------


def complete_program(incomplete: str) -> list[str]:
    """Scripts, and directories to look for them in."""
    return [path for path in _list_paths(incomplete) if path.endswith((".py", "/"))]


def complete_place(incomplete: str) -> list[str]:
    """Files in which a line can be named."""
    scripts = complete_program(incomplete)
    return [path if path.endswith("/") else f"{path}:" for path in scripts]


def complete_file(incomplete: str) -> list[str]:
    return list(_list_paths(incomplete))


def complete_directory(incomplete: str) -> list[str]:
    return [path for path in _list_paths(incomplete) if path.endswith("/")]


def _list_paths(incomplete: str) -> Iterator[str]:
    """Files and directories that begin so; hidden ones only if that is typed."""
    folder, name = os.path.split(incomplete)
    try:
        entries = sorted(os.scandir(Path(folder or ".").expanduser()), key=lambda one: one.name)
    except OSError:
        return
    count = 0
    for entry in entries:
        if not entry.name.startswith(name) or entry.name.startswith(".") > name.startswith("."):
            continue
        yield os.path.join(folder, entry.name) + ("/" if entry.is_dir() else "")
        count += 1
        if count == _MAX_FILES:
            return
