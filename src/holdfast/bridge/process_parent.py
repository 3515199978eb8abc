"""Which session's process started this one: a variable of the environment carries it to children.

A fork of a recording is another thing: its session names the one that it repeats.
"""

from __future__ import annotations

import os

VARIABLE = "HOLDFAST_AGENT_PARENT"

_inherited: str | None = None
_open: list[str] = []
"""The sessions of this process, in the order in which they began."""


def find() -> str | None:
    """The session whose process started this process."""
    global _inherited
    if not _open:
        _inherited = os.environ.get(VARIABLE) or _inherited
    return _inherited


def enter(session_id: str) -> None:
    """From now on, the processes that this one starts belong to this session."""
    if session_id:
        _open.append(session_id)
        os.environ[VARIABLE] = session_id


def leave(session_id: str) -> None:
    """The session is over: those that began before it, or started it, come next."""
    if session_id not in _open:
        return
    _open.remove(session_id)
    above = _open[-1] if _open else _inherited
    if above is None:
        os.environ.pop(VARIABLE, None)
    else:
        os.environ[VARIABLE] = above


def detach_child() -> None:
    """In a forked child: the sessions are its parent's, and the environment says so already."""
    _open.clear()
