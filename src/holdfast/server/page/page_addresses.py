"""The addresses of the page. Every view has one, so that it can be shared and reloaded."""

from __future__ import annotations

import re

VIEWS = ("programs", "calls", "holds", "agents", "events", "breakpoints", "traces")
ASSETS = "assets"
_PATH = re.compile(rf"/(?:$|{ASSETS}/|(?:{'|'.join(VIEWS)})(?:/|$))", re.ASCII)


def is_page_path(path: str) -> bool:
    """Whether a path is of the page's files. They are the same for everybody, and no secret."""
    return _PATH.match(path) is not None
