"""Events of sessions of every kind: of one, or of all as the server hears of them."""

from __future__ import annotations

from holdfast import errors
from holdfast.server.rest.shared import parse_seconds, parse_since, parse_types
from holdfast.server.route_table import RouteList
from holdfast.service.debugger import Debugger
from holdfast.wire.session_answers import EventList, LatestEvents
from holdfast.wire.session_requests import EventsQuery

routes = RouteList("/api")


@routes.get("/events")
async def list_events(debugger: Debugger, query: EventsQuery) -> EventList | LatestEvents:
    """What happened, in sessions of every kind; with `wait`, waits for something new.

    With `session` this is that session's own list: `since` is a `seq` of it, exclusive, and the
    answer says `last_seq`. Without it, events of all sessions come in the order in which the server
    heard of them: first the newest `limit`, then, with the `cursor` of the last answer, what came
    after those. The server knows which were the latest 50,000 since it started; `missed` says that
    there were more between the cursor and the first event shown, or that the cursor is another
    server's: each session's own list has them all.
    """
    seconds, types = parse_seconds(query.wait, debugger), parse_types(query.types)
    if query.session is not None:
        if query.cursor is not None:
            raise errors.InvalidInput("cursor goes without session", field="cursor")
        since = parse_since(query.since)
        return await debugger.events.read_session(query.session, since, query.limit, types, seconds)
    if query.since is not None:
        raise errors.InvalidInput(
            "since goes with session", hint="Over all sessions, use `cursor`.", field="since"
        )
    return await debugger.events.read_latest(query.cursor, query.limit, types, seconds)
