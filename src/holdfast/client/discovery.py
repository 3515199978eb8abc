"""Where the server is: told, configured, announced, or where it usually is."""

from __future__ import annotations

import json
import os
from pathlib import Path

DEFAULT_URL = "http://localhost:5000"


def data_dir(given: str | None = None) -> Path:
    """`given`, else `HOLDFAST_HOME`, else `~/.holdfast`."""
    chosen = given or os.environ.get("HOLDFAST_HOME") or "~/.holdfast"
    return Path(os.path.abspath(os.path.expanduser(chosen)))


def server_url(given: str | None = None) -> str:
    """`given`, else the environment, else what the server announced, else the default."""
    for url in (
        given,
        os.environ.get("HOLDFAST_SERVER_URL"),
        os.environ.get("CIDELDILL_SERVER_URL"),
        announced(),
    ):
        if url:
            return url.rstrip("/")
    return DEFAULT_URL


def announced() -> str | None:
    """The address of the server of this data directory, if there is one."""
    try:
        found = json.loads((data_dir() / "server.json").read_text())
        os.kill(int(found["pid"]), 0)
        return str(found["url"])
    except PermissionError:
        return None
    except (OSError, ValueError, KeyError, TypeError):
        return None
