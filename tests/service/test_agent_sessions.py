"""Agent sessions, beside those of programs and calls: followed by their files alone."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.bridge import Bridge, start
from holdfast.model.agent_events import VALUE_RECORDED
from holdfast.recording.directories import SessionDirectory
from holdfast.wire import agent_lines as wire
from local_server import LocalServer
from written_agents import A_LOOK, A_LOOK_AT_ALL, WrittenAgent


class Looper:
    """An agent in the test's own process, and how a server shows it."""

    def __init__(self, server: LocalServer, dbg: Bridge) -> None:
        assert dbg.home is not None
        self.server, self.id, self.home = server, dbg.id, dbg.home
        self.path = f"/sessions/{dbg.id}"
        self._dbg = dbg
        self._double = dbg.tool(lambda number: number * 2, name="double")
        self.big = dbg.tool(lambda: "x" * 200_000, name="big")
        self._ask = dbg.model(self._answer, model="none-1")
        server.turn(A_LOOK)

    def _answer(self, _messages: list[Any]) -> dict[str, Any]:
        return {"content": "use double", "usage": {"input_tokens": 10, "output_tokens": 2}}

    def turn(self, count: int) -> None:
        """So many iterations: a model call, and `double` of its number."""
        for number in range(1, count + 1):
            self._ask([{"role": "user", "content": "double it"}])
            self._double(number=number)

    def flood(self, count: int) -> None:
        for number in range(count):
            self._dbg.emit(VALUE_RECORDED({"name": "n", "value": number}))

    def close(self) -> None:
        self._dbg.close()
        self.server.settle()  # it has rung

    def get(self, rest: str = "", **options: Any) -> Any:
        self.server.settle()
        return self.server.get(self.path + rest, **options)

    def find_event(self, kind: str) -> Any:
        return self.get(f"/events?types={kind}")["events"][0]


@contextlib.contextmanager
def looping(server: LocalServer) -> Iterator[Looper]:
    with (
        start("looper", directory=server.data_dir / "agents", model="none-1") as dbg,
        dbg.run(messages=[{"role": "user", "content": "double it"}], vars={"step": 1}),
    ):
        yield Looper(server, dbg)


@pytest.fixture
def looper(server: LocalServer) -> Iterator[Looper]:
    with looping(server) as found:
        yield found


@pytest.fixture
def by_hand(server: LocalServer) -> Iterator[WrittenAgent]:
    made = WrittenAgent(server.data_dir / "agents", f"by_hand_{time.time_ns()}")
    yield made
    made.close()


def test_a_session_is_listed_with_its_kind(looper: Looper) -> None:
    looper.turn(2)
    shown = looper.get()
    for prefix in ("", "/api/v1"):
        every = looper.server.get(f"{prefix}/sessions")["sessions"]
        assert [each for each in every if each["session_id"] == looper.id] == [shown]
    assert (shown["kind"], shown["status"], shown["name"]) == ("agent", "running", "looper")
    assert (shown["iteration"], shown["holds"], shown["model"]) == (2, [], "none-1")
    assert shown["pid"] == os.getpid()
    counters = shown["counters"]
    assert (counters["model_calls"], counters["tool_calls"]) == (2, 2)
    assert (counters["input_tokens"], counters["output_tokens"]) == (20, 4)
    assert counters["cost"] is None


def test_a_session_with_prices_is_shown_with_its_cost(server: LocalServer) -> None:
    prices = {"small": [1.0, 10.0]}
    with start("priced", directory=server.data_dir / "agents", prices=prices) as dbg:
        for model in ("small", "other"):
            usage = {"input_tokens": 1000, "output_tokens": 100}
            ask = dbg.model(lambda messages, usage=usage: {"usage": usage}, model=model)
            ask([])
    server.turn(A_LOOK)
    shown = server.get(f"/sessions/{dbg.id}")
    assert shown["status"] == "terminated"
    counters = shown["counters"]
    assert counters["cost"] == pytest.approx(0.002)
    assert counters["unpriced_models"] == ["other"]


def test_a_session_that_ended_in_order_says_how(looper: Looper) -> None:
    looper.close()
    shown = looper.get()
    assert (shown["status"], shown["reason"]) == ("terminated", "closed")
    error = looper.server.post(looper.path + "/step-out", expect=409)["error"]
    assert "/command" not in error["hint"], "there is nobody to take one"
    assert error["details"]["possible"] == ["events", "delete"]


def test_only_the_recording_of_an_agent_that_is_over_can_be_deleted(looper: Looper) -> None:
    error = looper.server.delete(looper.path, expect=409)
    assert error["error"]["details"]["state"] == "running"
    looper.close()
    looper.server.delete(looper.path)
    looper.get(expect=404)
    assert not looper.home.path.exists()


def test_a_recording_that_somebody_deleted_is_forgotten(server: LocalServer) -> None:
    with looping(server) as looper:
        pass
    for each in (*looper.home.path.rglob("*"),):
        if each.is_file():
            each.unlink()
    for folder in sorted(looper.home.path.rglob("*"), reverse=True):
        folder.rmdir()
    looper.home.path.rmdir()
    server.turn(A_LOOK)
    server.get(looper.path, expect=404)


def test_what_only_programs_can_do_names_the_kind(looper: Looper) -> None:
    for method, path in [
        *(("GET", "/stacktrace"), ("GET", "/output"), ("GET", "/breakpoints"), ("GET", "/export")),
        *(("POST", "/terminate"), ("POST", "/step-into"), ("POST", "/step-out")),
        ("POST", "/evaluate"),
    ]:
        body = {"expression": "1"} if path == "/evaluate" else {}
        error = looper.server.ask(method, looper.path + path, body, expect=409)["error"]
        assert error["details"]["kind"] == "agent"
        assert "command" in error["details"]["possible"]


def test_events_come_out_of_the_file_by_their_numbers(looper: Looper) -> None:
    looper.flood(5000)
    looper.turn(1)
    last = looper.get()["last_event"]
    for since in (0, 1, 2, 100, 2500, last - 3, last - 1):
        found = looper.get(f"/events?since={since}&limit=3")
        numbers = [each["seq"] for each in found["events"]]
        assert numbers == list(range(since + 1, min(since + 3, last) + 1))
        assert (found["last_seq"], found["has_more"]) == (numbers[-1], numbers[-1] < last)
    assert looper.get(f"/events?since={last}")["events"] == []
    calls = looper.get("/events?types=tool_call_start,tool_call_end")["events"]
    assert [each["type"] for each in calls] == ["tool_call_start", "tool_call_end"]
    assert calls[0]["data"]["input"] == {"number": 1}


def test_an_answer_is_no_larger_than_is_good_for_it(looper: Looper) -> None:
    looper.flood(30000)
    found = looper.get("/events?limit=10000")
    assert len(found["events"]) == 10000
    seqs = [each["seq"] for each in found["events"]]
    while found["has_more"]:
        found = looper.get(f"/events?limit=10000&since={found['last_seq']}")
        seqs += [each["seq"] for each in found["events"]]
    assert seqs == list(range(1, len(seqs) + 1))
    assert len(seqs) >= 30_000


def test_events_are_waited_for(looper: Looper) -> None:
    last = looper.get()["last_event"]
    asked = looper.server.begin(
        "GET", f"{looper.path}/events?since={last}&types=tool_result&wait=20"
    )
    assert not asked.is_there
    looper.turn(1)
    assert [each["data"]["result"] for each in asked.read()["events"]] == [2]


def test_a_body_that_is_too_large_for_a_line_is_had_by_its_id(looper: Looper) -> None:
    looper.big()
    result = looper.find_event("tool_result")["data"]["result"]
    answer = looper.server.http.get(f"{looper.path}/contents/{result['$cid']}")
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == "x" * 200_000
    for wrong in ("0" * 64, "nonsense", "..%2Fsession.json"):
        assert looper.server.http.get(f"{looper.path}/contents/{wrong}").status_code == 404


def test_what_is_no_json_is_given_as_bytes_and_never_loaded(looper: Looper) -> None:
    body = b"\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c\x04exit\x85R."
    cid = wire.content_id(body)
    looper.home.contents.mkdir(exist_ok=True)
    (looper.home.contents / cid).write_bytes(body)
    answer = looper.server.http.get(f"{looper.path}/contents/{cid}")
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.content == body


def test_who_does_not_ring_is_found_all_the_same(
    server: LocalServer, by_hand: WrittenAgent
) -> None:
    by_hand.write(by_hand.event(1, "session_start", name="by hand"))
    path = by_hand.path
    server.turn(A_LOOK)
    by_hand.write(by_hand.event(2, "paused", stop="s1", reason="pause", at="model"))
    server.turn(A_LOOK)
    shown = server.get(f"{path}/status")
    assert (shown["status"], shown["held"][0]["stop"]) == ("paused", "s1")
    by_hand.write(by_hand.event(3, "resumed", stop="s1", action="continue", by="nobody"))
    server.turn(A_LOOK)
    settled = server.get(f"/api/holds/{shown['hold_id']}")
    assert (settled["outcome"], settled["by"]) == ("continue", "nobody")


def test_lines_that_are_no_events_are_passed_over(
    server: LocalServer, by_hand: WrittenAgent
) -> None:
    by_hand.write(
        b"garbage\n\n\x00\xff\n[1]\n{}\n",
        b'{"seq": "x", "type": "paused", "data": {}}\n{"seq":5,"type":"paused","data":3}\n',
        by_hand.event(1, "session_start", name="by hand"),
        b'{"seq":2,"type":"error","data":{"message":NaN}}\n',
        b'{"seq":3,"type":"paus',
    )
    path = by_hand.path
    server.turn(A_LOOK)
    by_hand.write(b'ed","timestamp":"?","data":{"stop":"s","allows":"all"}}\n')
    server.turn(A_LOOK)
    found = server.get(f"{path}/events?types=paused")["events"]
    assert [each["seq"] for each in found] == [3]
    shown = server.get(path)
    assert shown["status"] == "paused"
    assert shown["counters"]["unreadable_lines"] == 7
    assert server.get(f"/api/holds/{shown['hold_id']}")["allows"] == ["continue"]


def test_half_a_line_does_not_hide_that_its_agent_died(
    server: LocalServer, by_hand: WrittenAgent
) -> None:
    by_hand.write(
        by_hand.event(1, "session_start", name="by hand"),
        by_hand.event(2, "paused", stop="s1", reason="pause", at="model"),
        b'{"seq":3,"type":"res',
    )
    path = by_hand.path
    server.turn(A_LOOK)
    hold = server.get(path)["hold_id"]
    by_hand.close()
    server.turn(A_LOOK)
    shown = server.get(path)
    assert (shown["status"], shown["reason"]) == ("terminated", "crashed")
    assert server.get(f"/api/holds/{hold}")["outcome"] == "withdrawn"


def test_a_file_that_becomes_a_fifo_stops_nobody(
    server: LocalServer, by_hand: WrittenAgent
) -> None:
    by_hand.write(by_hand.event(1, "session_start", name="by hand"))
    path = by_hand.path
    server.turn(A_LOOK)
    home = by_hand.home
    for file in (home.events, home.commands, home.about):
        file.unlink(missing_ok=True)
        os.mkfifo(file)
    assert by_hand.home.id not in server.http.get("/api/events?limit=1000").text
    refused = server.post(f"{path}/command", {"type": "pause"}, expect=507)
    assert "commands.jsonl" in refused["error"]["message"]
    with looping(server) as looper:
        looper.turn(1)
        assert looper.find_event("tool_result")["data"]["result"] == 2


def test_a_line_without_an_end_is_skipped_with_a_warning(
    server: LocalServer, by_hand: WrittenAgent
) -> None:
    by_hand.write(by_hand.event(1, "session_start", name="by hand"))
    path = by_hand.path
    server.turn(A_LOOK)
    place = by_hand.home.events.stat().st_size
    with by_hand.home.events.open("r+b") as file:
        file.truncate(place + (40 << 20))  # a hole reads as zeros
    server.turn(A_LOOK)
    assert server.get(path)["counters"]["unreadable_lines"] == 1
    by_hand.write(b"\n", by_hand.event(2, "paused", stop="s1", reason="pause", at="model"))
    server.turn(A_LOOK)
    assert server.get(f"{path}/status")["held"][0]["stop"] == "s1"
    [told] = [
        each["details"]
        for each in server.get("/health")["warnings"]
        if each["code"] == "AGENT_LINE_TOO_LONG"
    ]
    assert told == {
        "session_id": by_hand.home.id,
        "file": str(by_hand.home.events),
        "place": place,
    }
    assert server.get(f"{path}/events?since=1")["events"][0]["seq"] == 2


def test_a_session_that_was_taken_up_again_goes_on(
    server: LocalServer, by_hand: WrittenAgent
) -> None:
    by_hand.write(
        by_hand.event(1, "session_start", name="by hand"),
        by_hand.event(2, "session_end", reason="exit"),
    )
    path = by_hand.path
    server.turn(A_LOOK)
    assert server.get(path)["status"] == "terminated"
    by_hand.write(by_hand.event(3, "session_start", name="by hand", reopened=True))
    server.turn(A_LOOK_AT_ALL)
    shown = server.get(path)
    assert (shown["status"], shown["last_event"]) == ("running", 3)


def test_nonsense_in_the_directory_disturbs_nobody(server: LocalServer) -> None:
    sessions = server.data_dir / "agents" / "sessions"
    sessions.mkdir(parents=True, exist_ok=True)
    (sessions / "a_file").write_text("x")
    (sessions / "empty").mkdir(exist_ok=True)
    (sessions / "strange" / "events.jsonl").mkdir(parents=True, exist_ok=True)
    bad = sessions / "bad"
    bad.mkdir(exist_ok=True)
    (bad / "events.jsonl").write_bytes(b"\x00" * 100_000)
    (bad / "session.json").write_text("[]")
    os.mkfifo(sessions / "empty" / "lock")
    piped = sessions / "piped"
    piped.mkdir(exist_ok=True)
    os.mkfifo(piped / "events.jsonl")
    try:
        with looping(server) as looper:
            looper.turn(1)
            assert looper.find_event("tool_result")["data"]["result"] == 2
        warned = [
            each["details"]["file"]
            for each in server.get("/health")["warnings"]
            if each["code"] == "AGENT_FILE_STRANGE"
        ]
        assert {str(piped / "events.jsonl"), str(sessions / "strange" / "events.jsonl")} <= {
            *warned
        }
    finally:
        (sessions / "empty" / "lock").unlink()
        (piped / "events.jsonl").unlink()


def test_a_deleted_wakeup_fifo_is_created_again(server: LocalServer) -> None:
    path = server.data_dir / "agents" / "server.bell"
    path.unlink()
    with looping(server) as looper:
        looper.find_event("run_start")
    assert path.exists()


def test_what_is_no_session_of_ones_own_is_not_followed(
    server: LocalServer, tmp_path: Path
) -> None:
    def follow_refused(directory: object) -> str:
        error = server.post("/api/agents", {"directory": directory}, expect=400)["error"]
        assert error["details"]["field"] == "directory"
        return str(error["message"])

    assert "No such file" in follow_refused(str(tmp_path / "nothing"))
    assert "absolute" in follow_refused("relative/path")
    made = tmp_path / "sessions" / "mine"
    made.mkdir(parents=True)
    assert "No such file" in follow_refused(str(made))
    (made / "session.json").write_text("{")
    assert "no JSON" in follow_refused(str(made))
    (made / "session.json").write_text('{"id": "another"}')
    assert "names another session" in follow_refused(str(made))
    (tmp_path / "file").write_text("x")
    assert "no directory" in follow_refused(str(tmp_path / "file"))
    if os.getuid() != 0 or Path("/proc/1").stat().st_uid != 0:
        assert "another user" in follow_refused("/")
    follow_refused("\0")
    follow_refused("")


def test_two_sessions_of_one_name_are_not_mixed_up(server: LocalServer, tmp_path: Path) -> None:
    with looping(server) as looper:
        made = tmp_path / "sessions" / looper.id
        made.mkdir(parents=True)
        SessionDirectory(made).write_metadata({"id": looper.id})
        error = server.post("/api/agents", {"directory": str(made)}, expect=400)["error"]
        assert "another session" in error["message"]
