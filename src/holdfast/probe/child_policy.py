"""How the processes that the program starts are treated."""

from __future__ import annotations

from typing import Any


class ChildPolicy:
    """Set by each debugger that comes, and read by the hooks around fork, spawn and exec."""

    is_hooked = False
    is_watching = False
    port = 0  # where children connect; 0 when the server does not follow them
    connection: Any = None


def stop_watching() -> None:
    """The server has gone: children are as they would be without it."""
    ChildPolicy.port, ChildPolicy.is_watching = 0, False
