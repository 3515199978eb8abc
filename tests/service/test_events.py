"""Events of sessions of every kind, at one address."""

from __future__ import annotations

from harness import Server


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
