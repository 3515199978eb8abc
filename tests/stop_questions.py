"""Every question that a client can ask about a stop, by its route."""

from __future__ import annotations

from typing import Any

from harness import Session

READS = {
    "stack": ("GET", "/stacktrace", None),
    "stack of a thread": ("GET", "/threads/{thread}/stacktrace", None),
    "threads": ("GET", "/threads", None),
    "tasks": ("GET", "/tasks", None),
    "scopes": ("GET", "/frames/0/scopes", None),
    "locals": ("GET", "/frames/0/variables", None),
    "variables of a scope": ("GET", "/scopes/{scope}/variables", None),
    "items": ("GET", "/variables/{numbers}", None),
    "items by name": ("GET", "/frames/0/variables/numbers/children", None),
    "watches": ("GET", "/watch", None),
    "source of a frame": ("GET", "/source?frame_id=0", None),
    "data": ("GET", "/data-breakpoint-info?name=i", None),
    "evaluate": ("POST", "/evaluate", {"expression": "i"}),
    "watch": ("POST", "/watch", {"expression": "i"}),
    "completions": ("POST", "/completions", {"text": "num"}),
    "hover": ("POST", "/hover", {"expression": "i"}),
    "set": ("POST", "/variables/{scope}/set", {"name": "limit", "value": "10"}),
}


def find_references(session: Session, stop: dict[str, Any]) -> dict[str, int]:
    """The numbers that the questions need, at a stop in `counter.py`."""
    (scope, _globals) = session.get("/frames/0/scopes")["scopes"]
    numbers = session.locals()["numbers"]["variable_reference"]
    return {"thread": stop["thread_id"], "scope": scope["reference"], "numbers": numbers}


def ask_about(session: Session, name: str, ids: dict[str, int], hold_id: str, expect: int) -> Any:
    """Ask one of the questions, about the stop with this hold."""
    method, path, body = READS[name]
    path = path.format(**ids)
    if body is None:
        path += f"{'&' if '?' in path else '?'}hold_id={hold_id}"
    else:
        body = {**body, "hold_id": hold_id}
    return session.server.ask(method, session.path(path), body, expect=expect)
