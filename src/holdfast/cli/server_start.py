"""Finds the server that runs, or starts one: a process of its own, which ends when it is unused."""

from __future__ import annotations

from holdfast.cli.server_access import complain, print_note
from holdfast.client import discovery
from holdfast.client.exceptions import DebugError, DebugServerError
from holdfast.client.http_client import ApiError, HttpClient
from holdfast.client.server_process import RunningServer, start_server

_UNUSED_SECONDS = 600.0
__all__ = ["RunningServer", "ensure_lasting_server", "ensure_server", "find_server"]


def find_server(url: str | None = None) -> RunningServer | None:
    """The server that runs. None if none does; if one was chosen that does not answer, exit."""
    chosen = discovery.chosen_url(url)
    where = discovery.server_url(url)
    if chosen is None and discovery.announced_url() is None:
        return None
    try:
        info = HttpClient(where, follows=chosen is None).request("GET", "/info")
    except DebugServerError as problem:
        if chosen is None and problem.start_command:
            return None
        complain(problem.message)
    except (ApiError, DebugError, ValueError) as problem:
        complain(str(problem))
    if chosen is None and info.get("data_dir") != str(discovery.data_dir()):
        return None  # ours has ended, and another one has taken its port
    return RunningServer(where, info)


def ensure_server(url: str | None = None, *, unused_seconds: float) -> RunningServer:
    """The server that runs, or one that is started now.

    That one ends when nobody has used it for so many seconds."""
    return find_server(url) or _start_server(unused_seconds)


def ensure_lasting_server() -> None:
    """Make sure that a server runs, for this command and those that follow; say if it is new."""
    server = find_server() or _start_server(_UNUSED_SECONDS)
    if server.process is not None:
        minutes = f"{_UNUSED_SECONDS / 60:g} minutes"
        pid = server.process.pid
        print_note(f"started a server (pid {pid}); it ends by itself when unused for {minutes}")


def _start_server(unused_seconds: float) -> RunningServer:
    try:
        return start_server(unused_seconds, find_server)
    except DebugServerError as problem:
        complain(problem.message)
