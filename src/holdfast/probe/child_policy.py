"""How the processes that the program starts are treated."""

from __future__ import annotations

from typing import Any, Optional

from .join_ticket import Ticket


class ChildPolicy:
    """Set by each debugger that comes, and read by the hooks around fork, spawn and exec."""

    is_hooked = False
    is_watching = False
    ticket: Optional[Ticket] = None  # None when the server does not follow children
    connection: Any = None


def stop_watching() -> None:
    """The server has gone: children are as they would be without it."""
    ChildPolicy.ticket, ChildPolicy.is_watching = None, False
