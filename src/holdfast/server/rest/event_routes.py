"""Events of sessions of every kind: of one, or of all as the server hears of them."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from holdfast import errors
from holdfast.server.rest.shared import Answer, ServiceHere, router, seconds_of, shows
from holdfast.server.rest.stream_routes import cursor_of, types_of

routes = router()
_EVENTS = {
    "events": [
        {
            "seq": 12,
            "session_id": "debug_20260123_131000_abc123",
            "event": "paused",
            "type": "paused",
            "timestamp": "2026-01-23T13:10:00.123Z",
            "data": {"stop": "stop-1", "at": "tool", "name": "write_file", "iteration": 3},
        }
    ],
    "cursor": "5d8f3a21-40",
    "has_more": False,
    "missed": False,
}


@routes.get("/events", responses=shows(_EVENTS))
async def list_events(
    service: ServiceHere,
    session: Annotated[str | None, Query(description="Of one session only.")] = None,
    since: Annotated[str | None, Query(description="With session: after this seq.")] = None,
    cursor: Annotated[str | None, Query(description="Of all: after an earlier answer.")] = None,
    types: Annotated[str | None, Query(description="Types of events, with commas.")] = None,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
    wait: str | None = None,
) -> Answer:
    """What happened, in sessions of every kind; with `wait`, waits for something new.

    With `session` this is that session's own list: `since` is a `seq` of it, exclusive, and the
    answer says `last_seq`. Without it, events of all sessions come in the order in which the server
    heard of them: first the newest `limit`, then, with the `cursor` of the last answer, what came
    after those. The server knows which were the latest 20,000 since it started; `missed` says that
    there were more between the cursor and the first event shown, or that the cursor is another
    server's: each session's own list has them all.
    """
    seconds, names = seconds_of(wait, service), types_of(types)
    if session is not None:
        if cursor is not None:
            raise errors.InvalidInput("cursor goes without session", field="cursor")
        since_seq = cursor_of(since)
        return Answer(await service.events.of_session(session, since_seq, limit, names, seconds))
    if since is not None:
        raise errors.InvalidInput(
            "since goes with session", hint="Over all sessions, use `cursor`.", field="since"
        )
    return Answer(await service.events.latest(cursor, limit, names, seconds))
