"""Events of sessions of every kind, at one address."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from harness import Server
from holdfast.service.event_reader import EventReader
from holdfast.service.event_stream import EventStream
from holdfast.wire.session_answers import EventList


def now(server: Server) -> str:
    """A cursor after everything that has happened."""
    return str(server.get("/api/events?limit=1")["cursor"])


def list_events(server: Server, path: str) -> list[tuple[str, str]]:
    return [(each["session_id"], each["type"]) for each in server.get(path)["events"]]


def test_of_one_session_a_number_says_where_to_go_on(server: Server) -> None:
    with server.session() as session:
        found = server.get(f"/api/events?session={session.id}")
        assert [each["type"] for each in found["events"]] == ["created"]
        last = found["last_seq"]
        session.patch("", {"name": "renamed"})
        after = f"/api/events?session={session.id}&since={last}"
        assert list_events(server, f"{after}&wait=20") == [(session.id, "configured")]
        assert list_events(server, f"{after}&types=created") == []
        assert list_events(server, f"/sessions/{session.id}/events?types=created") == [
            (session.id, "created")
        ]
    server.get(f"/api/events?session={session.id}", expect=404)


class ReadSlowly:
    """The session of a stream. While its events are read for the first time, another one comes."""

    def __init__(self, stream: EventStream) -> None:
        self._stream = stream
        self._happen()

    def peek(self, _session_id: str) -> ReadSlowly:
        return self

    def _happen(self) -> None:
        self._stream.add("s", self._stream.number + 1, "happened")

    async def read_events(self, since: int, limit: int, _types: Any) -> EventList:
        known = range(since + 1, self._stream.number + 1)[:limit]
        if self._stream.number == 1:
            self._happen()
        return EventList([cast("Any", {"seq": seq}) for seq in known], known[-1], False)


def test_what_happens_while_events_are_read_comes_after_their_cursor() -> None:
    stream = EventStream()
    reader = EventReader(cast("Any", ReadSlowly(stream)), stream)
    first = asyncio.run(reader.read_latest(None, 10))
    assert [event["seq"] for event in first.events] == [1]
    after = asyncio.run(reader.read_latest(first.cursor, 10))
    assert [event["seq"] for event in after.events] == [2]


def test_the_cursor_of_another_server_says_that_something_was_missed(server: Server) -> None:
    page = server.get("/api/events?cursor=00000000-5")
    assert page["missed"]
    assert not server.get(f"/api/events?cursor={page['cursor']}")["missed"]
    assert server.get("/api/events?cursor=nonsense")["missed"]


def test_what_does_not_go_together_is_refused(server: Server) -> None:
    for query in ("since=5", "session=x&cursor=5", "limit=0", "wait=soon"):
        server.get(f"/api/events?{query}", expect=404 if query.startswith("x") else 400)


def test_events_of_a_session_that_was_deleted_are_gone(server: Server) -> None:
    cursor = now(server)
    with server.session() as session:
        gone = session.id
    with server.session() as session:
        found = list_events(server, f"/api/events?cursor={cursor}")
    assert (session.id, "created") in found
    assert gone not in {each for each, _ in found}
