"""Events of sessions of every kind of target, at one address."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from agent_process import agent_view
from child_processes import CHILD_STARTER, PATIENCE, wait_for_children
from harness import Server
from http_application import HttpApplication
from session_states import LOOP


def now(server: Server) -> str:
    """A cursor after everything that has happened."""
    return str(server.get("/api/events?limit=1")["cursor"])


def list_events(server: Server, path: str) -> list[tuple[str, str]]:
    return [(each["session_id"], each["type"]) for each in server.get(path)["events"]]


def test_events_of_every_kind_come_in_one_list(server: Server) -> None:
    cursor = now(server)
    app = HttpApplication(server, name="heard")
    app.call("f", 1)
    with server.session() as session, agent_view(server) as looper:
        session.launch(LOOP)
        looper.agent.ask("turn 1")
        looper.wait_for_event("tool_call_end")
        found = list_events(server, f"/api/events?cursor={cursor}")
        assert (app.session_id, "session_started") in found
        assert (session.id, "launching") in found
        assert (looper.agent.id, "tool_result") in found
        assert found == list_events(server, f"/api/v1/events?cursor={cursor}")


def test_a_page_goes_on_where_the_last_one_ended(server: Server) -> None:
    cursor = now(server)
    with agent_view(server) as looper:
        looper.agent.ask("flood 50")
        looper.wait_for_event("value_recorded", since=50)
        numbers: list[int] = []
        has_more = True
        while has_more:
            page = server.get(f"/api/events?cursor={cursor}&limit=7&types=value_recorded")
            numbers += [each["seq"] for each in page["events"]]
            cursor, has_more = page["cursor"], page["has_more"]
            assert len(page["events"]) <= 7
        assert numbers == list(range(numbers[0], numbers[0] + 50))


def test_without_a_cursor_the_newest_come(server: Server) -> None:
    with agent_view(server) as looper:
        looper.agent.ask("flood 20")
        looper.wait_for_event("value_recorded", since=20)
        page = server.get("/api/events?limit=5&types=value_recorded")
        assert [each["data"]["value"] for each in page["events"]] == [15, 16, 17, 18, 19]
        assert not page["has_more"]
        assert server.get(f"/api/events?cursor={page['cursor']}")["events"] == []


def test_what_is_not_there_yet_is_waited_for(server: Server) -> None:
    with agent_view(server) as looper, ThreadPoolExecutor(1) as pool:
        cursor = now(server)

        def ask() -> Any:
            path = f"{server.url}/api/events?cursor={cursor}&types=tool_result&wait=60"
            return server.http.get(path).json()

        waiting = pool.submit(ask)
        looper.agent.ask("turn 1")
        assert [each["data"]["result"] for each in waiting.result()["events"]] == [2]


def test_a_program_has_started_before_it_stops(server: Server) -> None:
    """Even one that stops at its first line, in every way to start it."""
    for options in ({}, {"python": sys.executable, "env": {"A": "b"}}, {"route": "adapter"}):
        with server.session() as session:
            session.launch(LOOP, stop_on_entry=True, **options)
            session.post("/restart", {"wait": 60})
            kinds = [each["event"] for each in session.get("/events")["events"]]
            order = [kind for kind in kinds if kind in ("launching", "started", "stopped")]
            assert order == ["launching", "started", "stopped"] * 2
    with server.session() as parent:
        parent.break_at(CHILD_STARTER, "work")
        parent.launch(CHILD_STARTER, args=["fork_exits"], debug_subprocesses=True, wait=0)
        [child] = wait_for_children(parent)
        child.get(f"/status?wait={PATIENCE}")
        kinds = [each["event"] for each in child.get("/events?types=started,stopped")["events"]]
        assert kinds == ["started", "stopped"]
