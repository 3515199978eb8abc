"""Finds the server: given, configured, announced in the data directory, or the default."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path
from typing import Any

from holdfast.trust.private_files import read_private_file

DEFAULT_PORT = 5000
DEFAULT_URL = f"http://localhost:{DEFAULT_PORT}"


def data_dir(given: str | None = None) -> Path:
    """`given`, else `HOLDFAST_HOME`, else `~/.holdfast`."""
    chosen = given or os.environ.get("HOLDFAST_HOME") or "~/.holdfast"
    return Path(os.path.abspath(os.path.expanduser(chosen)))


def server_url(given: str | None = None) -> str:
    """`given`, else the environment, else what the server announced, else the default."""
    url = chosen_url(given) or announced_url()
    return url.rstrip("/") if url else DEFAULT_URL


def chosen_url(given: str | None = None) -> str | None:
    """The address that the user chose. None: that of whatever server runs counts."""
    return (
        given
        or os.environ.get("HOLDFAST_SERVER_URL")
        or os.environ.get("CIDELDILL_SERVER_URL")
        or None
    )


def start_command(port: int, is_chosen: bool) -> str:
    """The command that starts the server that was looked for."""
    if is_chosen:
        return "holdfast serve" if port == DEFAULT_PORT else f"holdfast serve --port {port}"
    folder = data_dir()
    if folder == data_dir("~/.holdfast"):
        return "holdfast serve"
    return f"holdfast serve --data-dir {shlex.quote(str(folder))}"


def announced_url() -> str | None:
    """The address of the server of this data directory, if one runs."""
    try:
        announcement = _read_announcement()
        os.kill(int(announcement["pid"]), 0)
        return str(announcement["url"])
    except (OSError, ValueError, KeyError, TypeError):  # no server, or another user's
        return None


def announced_secret() -> str | None:
    """What the server of this data directory and its user know, and nobody else."""
    try:
        return str(_read_announcement()["secret"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def announced_token() -> tuple[str, str] | None:
    """The address of the server of this data directory and the token that it wants."""
    try:
        announcement = _read_announcement()
        return str(announcement["url"]), str(announcement["token"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _read_announcement() -> Any:
    return json.loads(read_private_file(data_dir() / "server.json"))
