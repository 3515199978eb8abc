"""Makes this process a program that the server debugs."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from pathlib import Path
from typing import Any

from holdfast.client import discovery
from holdfast.client.exceptions import DebugError, DebugServerError
from holdfast.client.http_client import ApiError, HttpClient
from holdfast.client.server_process import RunningServer, start_server
from holdfast.probe.bounded_calls import Budget
from holdfast.probe.exception_facts import read_message

_UNUSED_SECONDS = 600.0
_MAX_MESSAGE = 200
_RETRY_SECONDS = 0.1


class JoinFailed(Exception):
    """This process cannot be debugged; the message says why."""


class JoinedSession:
    """The session of this process, at the server."""

    def __init__(self, stops: Any, client: HttpClient, session_id: str) -> None:
        self._stops = stops
        self._client = client
        self._id = session_id

    def is_connected(self) -> bool:
        return is_debugged()

    def stop(self, error: BaseException, frames: list[Any]) -> None:
        """Stop at the last of these entries of a traceback until somebody continues."""
        self._stops.stop_at_exception(error, frames)

    def resume(self, is_released: threading.Event) -> None:
        """Continue it, from another thread, if it is not released otherwise."""
        while not is_released.is_set():
            # The server refuses until it has heard of the stop; and if somebody else was quicker.
            with contextlib.suppress(ApiError, DebugError):
                self._client.request("POST", f"/sessions/{self._id}/continue", {"by": "pytest"})
                return
            is_released.wait(_RETRY_SECONDS)

    def describe(self, node: str, error: BaseException, timeout: float | None) -> str:
        """Where it is held, how to look, and how to let it go."""
        said = read_message(error, Budget()).partition("\n")[0][:_MAX_MESSAGE]
        message = f"{type(error).__name__}: {said}" if said else type(error).__name__
        limit = f" It goes on by itself after {timeout:g} s." if timeout is not None else ""
        return (
            f"holdfast: {node} failed, and is held in session {self._id} of {self._client.url}\n"
            f"  {message}\n"
            f"  look:  holdfast inspect -s {self._id}; holdfast debug -s {self._id};"
            " the MCP tool debug_inspect; or an editor\n"
            f"  go on: holdfast continue -s {self._id},"
            f" or POST /sessions/{self._id}/continue.{limit}"
        )


def join_session(name: str) -> JoinedSession:
    """Have this process debugged, which it is not yet."""
    client = _find_client()
    try:
        body = {"pid": os.getpid(), "name": name}
        invitation = client.request("POST", "/processes/join", body)
    except (ApiError, DebugError) as problem:
        raise JoinFailed(str(problem)) from None
    try:
        injection = _load_probe(invitation["probe"])
    except OSError as problem:  # a server that does not share its files with this process
        raise JoinFailed(f"the server's debugger cannot be loaded: {problem}") from None
    if not injection.join_server(invitation["ticket"], invitation["debugpy"]):
        raise JoinFailed("the server's debugger did not take this process")
    session_id = str(invitation["session_id"])
    return JoinedSession(sys.modules["_holdfast.exception_stops"], client, session_id)


def is_debugged() -> bool:
    """Whether a debugger of ours is in this process."""
    access = sys.modules.get("_holdfast.pydevd_access")
    if access is None or "pydevd" not in sys.modules:
        return False
    debugger = access.current()
    return debugger is not None and not debugger.pydb_disposed and not access.is_detached(debugger)


def _find_client() -> HttpClient:
    """Of the server that runs, or of one that is started now."""
    is_chosen = discovery.chosen_url() is not None
    client = HttpClient(discovery.server_url(), follows=not is_chosen)
    if not is_chosen and _find_announced() is None:
        try:
            server = start_server(_UNUSED_SECONDS, _find_announced)
        except DebugServerError as problem:
            raise JoinFailed(problem.message) from None
        client = HttpClient(server.url, follows=True)
    return client


def _find_announced() -> RunningServer | None:
    url = discovery.announced_url()
    if url is None:
        return None
    try:
        return RunningServer(url, HttpClient(url, follows=True).request("GET", "/info"))
    except (ApiError, DebugError, ValueError):
        return None


def _load_probe(folder: str) -> Any:
    """The probe as it is in programs that are debugged: the server's, as the package `_holdfast`.

    It is not this installation's: the server may be another version."""
    loader = Path(folder, "package_loader.py")
    namespace: dict[str, Any] = {"__name__": "_holdfast_loader"}
    exec(compile(loader.read_text("utf-8"), str(loader), "exec"), namespace)
    namespace["load_module"](folder, "exception_stops")
    return namespace["load_module"](folder, "injection")
