"""Starts a server for whoever needs one: a process of its own, which ends when it is unused."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import IO, Any

from holdfast import timings
from holdfast.client import discovery
from holdfast.client.exceptions import DebugServerError

_CHECK_SECONDS = 0.05
_IN_USE = "is in use by"  # what a server says of a data directory that another one has
_RUN_SERVER = """
import sys
sys.path[:] = filter(None, sys.path)  # the directory of the user may have any modules
from holdfast.cli import main
main()
"""


@dataclass(frozen=True)
class RunningServer:
    """A server that answers."""

    url: str
    info: Mapping[str, Any]
    """What `GET /info` says."""
    process: subprocess.Popen[bytes] | None = None
    """Its process, if it was started here."""


def start_server(unused_seconds: float, find: Callable[[], RunningServer | None]) -> RunningServer:
    """Start one that ends when nobody has used it for so many seconds.

    `find` says when it answers. DebugServerError says why it does not."""
    deadline = time.monotonic() + timings.TIMINGS.server_start
    with tempfile.TemporaryFile() as complaints:
        process = _spawn(complaints, unused_seconds)
        while True:
            found = find()
            if found is not None:  # perhaps that of another client, which was quicker
                is_ours = found.info.get("pid") == process.pid
                return RunningServer(found.url, found.info, process if is_ours else None)
            has_ended = process.poll() is not None
            said = _read_all(complaints) if has_ended else ""
            # It gives way to one that was started at the same time, and does not answer yet.
            if (has_ended and _IN_USE not in said) or time.monotonic() > deadline:
                how = "could not start" if has_ended else "does not answer"
                raise DebugServerError(f"the server {how}: {said or _read_all(complaints)}")
            time.sleep(_CHECK_SECONDS)  # its announcement is a file, which nobody rings for


def _read_all(complaints: IO[bytes]) -> str:
    complaints.seek(0)
    return complaints.read().decode(errors="replace").strip()


def _spawn(complaints: IO[bytes], unused_seconds: float) -> subprocess.Popen[bytes]:
    """It is in no group of the caller: an editor ends all of those when it is done."""
    flags = ["--until-unused", f"{unused_seconds:g}"]
    if discovery.data_dir() != discovery.data_dir("~/.holdfast"):
        flags += ["--port", "0"]  # the default port is where those without a directory look
    return subprocess.Popen(
        [sys.executable, "-c", _RUN_SERVER, "serve", *flags],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=complaints,
        start_new_session=True,
    )
