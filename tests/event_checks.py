"""Whether events are as `wire/event_types.py` describes them. Tests of the server check it."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

from holdfast.server import openapi
from holdfast.server.app import ROUTE_MODULES, build_table
from schemas import mistakes

Json = dict[str, Any]


def check_events(events: Iterable[Json]) -> None:
    """Check them, except those of recordings that a test wrote by hand."""
    written = [event for event in events if not event["session_id"].startswith("by_hand")]
    problems = [problem for event in written for problem in find_mistakes(event)]
    assert problems == [], "wire/event_types.py describes these otherwise, or not at all"
    assert find_early_stops(written) == [], "a program stopped before it had started"


def find_mistakes(event: Json) -> list[str]:
    """What the description of its type does not say: the type, a field, or the type of a field."""
    return mistakes(event, {"$ref": name_choice(event)}, load_components(), event["event"])


def find_early_stops(events: Iterable[Json]) -> list[Json]:
    """Events of programs that begin to run, and stop or read before `started` says that they do."""
    starting: set[str] = set()
    early = []
    for event in events:
        session, kind = event["session_id"], event["event"]
        if kind in ("launching", "attaching"):
            starting.add(session)
        elif kind in ("started", "terminated"):
            starting.discard(session)
        elif kind in ("stopped", "input_wanted", "subprocess_spawned") and session in starting:
            early.append(event)
    return early


def name_choice(event: Json) -> str:
    """Which kind of session it is of, as the names of the schemas say it."""
    if "data" in event:
        return "AgentEvent"
    return "CallEvent" if event["session_id"].startswith("calls_") else "ProgramEvent"


@functools.cache
def load_components() -> Json:
    document = openapi.build_document(build_table()[1], ROUTE_MODULES)
    components: Json = document["components"]["schemas"]
    return components
