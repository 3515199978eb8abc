"""One stream of everything: without gaps, in batches, and gone when nobody reads it."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest

from agent_process import agent_view
from event_checks import check_events
from harness import Program, Server, Session
from holdfast.recording import liveness
from holdfast.recording.directories import AgentsDirectory
from holdfast.recording.event_writer import EventWriter
from http_application import HttpApplication
from polling import wait_until

Json = dict[str, Any]
LOOP = Program("loop.py")
MEGABYTE = 1024 * 1024


class LiveClient:
    """A client of the stream: its messages in their order, and where it could go on."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self.retry = ""
        self.cursor = ""
        self.hello: Json = {}
        name, self.hello = self.read()
        assert name == "hello"

    def read(self) -> tuple[str, Json]:
        """The next message and its data."""
        fields: dict[str, str] = {}
        for line in self._lines:
            if line and not line.startswith(":"):
                name, _, value = line.partition(": ")
                fields[name] = value
            elif not line:
                self.retry = fields.pop("retry", self.retry)
                self.cursor = fields.get("id", self.cursor)
                if "data" in fields:
                    return fields["event"], json.loads(fields["data"])
                fields = {}
        raise EOFError

    def read_until(self, is_last: Callable[[str, Json], bool]) -> Iterator[tuple[str, Json]]:
        while True:
            name, data = self.read()
            yield name, data
            if is_last(name, data):
                return

    def collect_events(self, is_last: Callable[[Json], bool]) -> list[Json]:
        """The events up to the message with the last one."""
        found: list[Json] = []
        for name, data in self.read_until(
            lambda name, data: name == "events" and any(map(is_last, data["events"]))
        ):
            if name == "events":
                assert data["missed"] is False
                assert data["cursor"] == self.cursor
                check_events(data["events"])
                found += data["events"]
        return found

    def wait_for_change(self, is_wanted: Callable[[Json], bool]) -> Json:
        """The first `changes` that are as wanted."""
        for name, data in self.read_until(lambda name, data: name == "changes" and is_wanted(data)):
            found = data if name == "changes" else {}
        return found


@contextmanager
def follow(server: Server, query: str = "", last: str | None = None) -> Iterator[LiveClient]:
    headers = {"Last-Event-ID": last} if last else {}
    with server.http.stream("GET", f"/api/stream{query}", headers=headers) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield LiveClient(answer.iter_lines())


def is_end_of(session_id: str) -> Callable[[Json], bool]:
    return lambda event: event["session_id"] == session_id and event["type"] == "terminated"


def run_program(server: Server) -> str:
    session_id = str(server.post("/sessions", {"name": "seen"})["session_id"])
    assert Session(server, session_id).launch(LOOP)["exit_code"] == 0
    return session_id


def test_everything_that_happens_is_told_in_its_order(server: Server) -> None:
    with follow(server) as client:
        assert client.hello == {"cursor": client.cursor, "resumed": False}
        assert client.retry == "1000"
        session_id = run_program(server)
        events = [
            event
            for event in client.collect_events(is_end_of(session_id))
            if event["session_id"] == session_id
        ]
    assert events == server.get(f"/sessions/{session_id}/events")["events"][: len(events)]
    assert events[0]["type"] == "created"


def test_a_stream_goes_on_where_its_client_was(server: Server) -> None:
    with follow(server) as client:
        first = run_program(server)
        seen = client.collect_events(is_end_of(first))
        cursor = client.cursor
    second = run_program(server)
    with follow(server, f"?cursor={cursor}") as client:
        assert client.hello == {"cursor": cursor, "resumed": True}
        by_query = client.collect_events(is_end_of(second))
    with follow(server, "?cursor=another-1", last=cursor) as client:
        assert client.hello["resumed"] is True
        assert client.collect_events(is_end_of(second)) == by_query
    ids = [(event["session_id"], event["seq"]) for event in (*seen, *by_query)]
    assert len(set(ids)) == len(ids)
    for session_id in (first, second):
        own = [seq for of, seq in ids if of == session_id]
        assert own == list(range(1, len(own) + 1))


def test_a_cursor_of_the_stream_is_one_of_the_list_of_events_too(server: Server) -> None:
    with follow(server) as client:
        cursor = client.cursor
    session_id = run_program(server)
    listed = server.get(f"/api/events?cursor={cursor}")
    assert session_id in {event["session_id"] for event in listed["events"]}
    assert listed["missed"] is False
    with follow(server, f"?cursor={listed['cursor']}") as client:
        assert client.hello["resumed"] is True
        # What such a cursor does not say is told again: how far every session is.
        changes = client.wait_for_change(lambda data: session_id in data["sessions"])
    assert changes["sessions"][session_id]["status"] == "terminated"


@pytest.mark.parametrize("cursor", ["00000000-5-5", "nonsense", "00000000-"])
def test_a_cursor_of_another_server_has_missed_something(server: Server, cursor: str) -> None:
    with follow(server, f"?cursor={cursor}") as client:
        assert client.hello["resumed"] is False
        name, data = client.read()
        assert (name, data["missed"]) == ("events", True)


def test_what_has_no_event_is_told_as_a_change(server: Server) -> None:
    with follow(server) as client:
        session = Session(server, server.post("/sessions")["session_id"])
        code = "print('one')\ninput()\nprint('two')\n"
        session.post("/launch", {"code": code, "wait": 60})

        def waits(data: Json) -> bool:
            shown = data["sessions"].get(session.id, {})
            return shown.get("status") == "waiting_for_input" and int(shown["output"]) > 0

        before = client.wait_for_change(waits)["sessions"][session.id]
        assert before["kind"] == "program"
        session.post("/input", {"input": "\n", "wait": 60})
        ended = client.wait_for_change(
            lambda data: data["sessions"].get(session.id, {}).get("status") == "terminated"
        )["sessions"][session.id]
        assert int(ended["output"]) > int(before["output"])
        assert ended["last_seq"] > before["last_seq"]
        session.delete()
        client.wait_for_change(lambda data: session.id in data["gone"])


def test_recorded_calls_are_told_as_a_change(server: Server) -> None:
    with follow(server, "?kind=calls") as client:
        app = HttpApplication(server, name="counted")
        app.call("add", 1, 2, result=3)
        app.call("add", 3, 4, result=7)
        session_id = str(app.session_id)
        shown = client.wait_for_change(
            lambda data: data["sessions"].get(session_id, {}).get("calls") == 2
        )["sessions"][session_id]
        assert (shown["kind"], shown["status"]) == ("calls", "running")
        server.delete(f"/sessions/{session_id}")
        client.wait_for_change(lambda data: session_id in data["gone"])


def test_a_change_that_nobody_heard_of_is_told_when_the_client_is_back(server: Server) -> None:
    session_id = run_program(server)
    with follow(server) as client:
        cursor = client.cursor
    server.delete(f"/sessions/{session_id}")
    with follow(server, last=cursor) as client:
        assert client.hello["resumed"] is True
        client.wait_for_change(lambda data: session_id in data["gone"])


def test_an_agent_is_followed_like_any_other(server: Server) -> None:
    with follow(server, "?kind=agent") as client, agent_view(server) as looper:
        looper.break_on("double")
        looper.agent.send("turn 1")
        events = client.collect_events(lambda event: event["type"] == "paused")
        assert {event["session_id"] for event in events} == {looper.agent.id}
        shown = client.wait_for_change(
            lambda data: data["sessions"].get(looper.agent.id, {}).get("status") == "paused"
        )
        assert set(shown["sessions"]) == {looper.agent.id}
        looper.post("/continue")


def test_a_client_chooses_what_it_hears_of(server: Server, session: Session) -> None:
    with follow(server, f"?session={session.id}&types=started,terminated") as client:
        run_program(server)
        session.launch(LOOP)
        events = client.collect_events(is_end_of(session.id))
        assert [event["type"] for event in events] == ["started", "terminated"]
        assert {event["session_id"] for event in events} == {session.id}
        changes = client.wait_for_change(
            lambda data: data["sessions"].get(session.id, {}).get("status") == "terminated"
        )
        assert (set(changes["sessions"]), changes["gone"]) == ({session.id}, [])


@pytest.mark.parametrize(
    ("query", "status"), [("types=nothing", 400), ("kind=robot", 400), ("session=sess_0", 404)]
)
def test_what_cannot_be_followed_is_an_error(server: Server, query: str, status: int) -> None:
    assert "error" in server.get(f"/api/stream?{query}", expect=status)
    assert "error" in server.get(f"/api/v1/stream?{query}", expect=status)


# -- clients that do not read, or go away ---------------------------------------------------------


def connect(server: Server) -> socket.socket:
    """A client that has asked for the stream, and got the beginning of an answer."""
    port = int(urlsplit(server.url).port or 0)
    client = socket.create_connection(("127.0.0.1", port), timeout=60)
    client.sendall(b"GET /api/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert client.recv(1) == b"H"
    return client


@contextmanager
def loud_agent(server: Server) -> Iterator[EventWriter]:
    """A recording of an agent that writes far more than anybody reads."""
    home = AgentsDirectory(server.data_dir / "agents").home("by_hand_and_loud")
    home.path.mkdir(mode=0o700)
    home.write_metadata({"id": home.id, "pid": os.getpid()})
    assert liveness.acquire(home.lock)
    try:
        writer = EventWriter(home.events, home.id, home.agents.server_bell)
        writer.append("session_start", "{}")
        yield writer
    finally:
        liveness.release(home.lock)


def wait_for_seq(server: Server, session_id: str, seq: int) -> None:
    """Until the server has heard of this event."""

    def is_heard_of() -> bool:
        sessions = server.get("/sessions")["sessions"]
        return any(s["session_id"] == session_id and s["last_event"] >= seq for s in sessions)

    wait_until(is_heard_of, f"event {seq}")


def test_clients_that_do_not_read_leave_the_server_small(tmp_path: Path) -> None:
    """Each is behind by forty megabytes; one of them then reads, and gets them all."""
    own = Server(tmp_path / "data")
    clients: list[socket.socket] = []
    text = json.dumps({"role": "user", "content": "x" * 10_000})
    try:
        with loud_agent(own) as writer:
            wait_for_seq(own, writer.session_id, 1)
            before = psutil.Process(own.process.pid).memory_info().rss
            clients = [connect(own) for _ in range(5)]
            with follow(own) as client:
                for _ in range(40):
                    writer.append_all([("message_injected", text)] * 100)
                wait_for_seq(own, writer.session_id, 4001)
                assert own.get("/health")["status"] == "ok"
                assert psutil.Process(own.process.pid).memory_info().rss - before < 120 * MEGABYTE
                events = client.collect_events(lambda event: bool(event["seq"] == 4001))
            assert [event["seq"] for event in events] == list(range(2, 4002))
    finally:
        for each in clients:
            each.close()
        assert own.stop() == 0


def test_a_stream_ends_with_the_server_and_with_its_client(tmp_path: Path) -> None:
    own = Server(tmp_path / "data")
    try:
        for _ in range(20):
            connect(own).close()
        with follow(own) as client:
            own.process.terminate()
            with pytest.raises(EOFError):
                list(client.read_until(lambda *_: False))
        assert own.read_rest_of_log() == ""
    finally:
        assert own.stop() == 0
