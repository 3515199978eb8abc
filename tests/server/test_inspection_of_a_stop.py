"""Every question about a stop of a real program is answered."""

from __future__ import annotations

from typing import Any

import pytest

from harness import Program, Session

COUNTER = Program("counter.py")
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
    (scope, _globals) = session.get("/frames/0/scopes")["scopes"]
    numbers = session.locals()["numbers"]["variable_reference"]
    return {"thread": stop["thread_id"], "scope": scope["reference"], "numbers": numbers}


def ask(session: Session, name: str, ids: dict[str, int], hold_id: str, expect: int) -> Any:
    method, path, body = READS[name]
    path = path.format(**ids)
    if body is None:
        path += f"{'&' if '?' in path else '?'}hold_id={hold_id}"
    else:
        body = {**body, "hold_id": hold_id}
    return session.server.ask(method, session.path(path), body, expect=expect)


@pytest.fixture
def paused(session: Session) -> Session:
    session.break_at(COUNTER, "loop")
    session.launch(COUNTER)
    session.resume()
    return session


def test_a_question_about_the_stop_that_is_shown_is_answered(paused: Session) -> None:
    stop = paused.get("/status")
    ids = find_references(paused, stop)
    for name in READS:
        expect = 201 if name == "watch" else 200
        assert ask(paused, name, ids, stop["hold_id"], expect) is not None, name
