"""Registers a session with a server that would not find it by itself.

A server follows the sessions in its own directory. A server that `HOLDFAST_SERVER_URL` names, or
whose directory is another, needs to be told where this one is.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path

from holdfast import timings
from holdfast.client import discovery
from holdfast.client.exceptions import DebugError
from holdfast.client.http_client import ApiError, HttpClient
from holdfast.recording.directories import SessionDirectory

_REGISTER_SECONDS = 2.0  # repeated, because a restarted server does not know the session


class Registration:
    def __init__(self, home: SessionDirectory) -> None:
        self._home = home
        usual = discovery.data_dir() / "agents"
        self._is_usual = _is_same_path(home.agents.root, usual)

    @property
    def _url(self) -> str | None:
        url = os.environ.get("HOLDFAST_SERVER_URL")
        if url or self._is_usual:
            return url
        return discovery.announced_url()

    def keep_registered(self, is_over: Callable[[], bool]) -> None:
        """Register with the current server again and again, until the session is over."""
        while not is_over() and (not self._is_usual or os.environ.get("HOLDFAST_SERVER_URL")):
            url = self._url
            if url is not None:
                self._register(url)
            time.sleep(_REGISTER_SECONDS)

    def _register(self, url: str) -> None:
        client = HttpClient(url, timeout=timings.TIMINGS.registration)
        with contextlib.suppress(ApiError, DebugError, OSError, ValueError):
            client.request("POST", "/api/agents", {"directory": str(self._home.path)})
        client.close()


def _is_same_path(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)
