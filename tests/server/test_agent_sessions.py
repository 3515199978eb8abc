"""Agent sessions, beside those of programs and calls: followed by their files alone."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_process import AgentProcess, AgentView, agent_view, running_agent
from harness import Server
from holdfast.bridge import start
from holdfast.recording import liveness
from holdfast.recording.directories import AgentsDirectory, SessionDirectory
from holdfast.wire import agent_lines as wire
from polling import wait_until


@pytest.fixture
def looper(server: Server) -> Iterator[AgentView]:
    with agent_view(server) as found:
        yield found


def wait_for_status(server: Server, path: str, status: str) -> Any:
    """The session, once it is so: there is no event to wait for when an agent was killed."""

    def look() -> Any:
        answer = server.get(path)
        return answer if answer["status"] == status else None

    return wait_until(look, f"{path} to be {status}")


@contextlib.contextmanager
def start_own_server(folder: Path) -> Iterator[Server]:
    running = Server(folder / "data")
    try:
        yield running
    finally:
        running.stop()


def test_a_session_is_listed_with_its_kind(looper: AgentView) -> None:
    looper.agent.ask("turn 2")
    looper.wait_for_event("api_response", since=8)
    shown = looper.get()
    for prefix in ("", "/api/v1"):
        every = looper.server.get(f"{prefix}/sessions")["sessions"]
        assert [each for each in every if each["session_id"] == looper.agent.id] == [shown]
    assert (shown["kind"], shown["status"], shown["name"]) == ("agent", "running", "looper")
    assert (shown["iteration"], shown["holds"], shown["model"]) == (2, [], "none-1")
    assert shown["pid"] == looper.agent.process.pid
    counters = shown["counters"]
    assert (counters["model_calls"], counters["tool_calls"]) == (2, 2)
    assert (counters["input_tokens"], counters["output_tokens"]) == (20, 4)
    assert counters["cost"] is None


def test_a_session_with_prices_is_shown_with_its_cost(server: Server) -> None:
    prices = {"small": [1.0, 10.0]}
    with start("priced", directory=server.data_dir / "agents", prices=prices) as dbg:
        for model in ("small", "other"):
            usage = {"input_tokens": 1000, "output_tokens": 100}
            ask = dbg.model(lambda messages, usage=usage: {"usage": usage}, model=model)
            ask([])
    path = f"/sessions/{dbg.id}"
    wait_until(lambda: server.http.get(path).status_code == 200, "the server to see it")
    counters = wait_for_status(server, path, "terminated")["counters"]
    assert counters["cost"] == pytest.approx(0.002)
    assert counters["unpriced_models"] == ["other"]


def test_a_session_that_ended_in_order_says_how(looper: AgentView) -> None:
    looper.agent.ask("close")
    looper.wait_for_event("session_end")
    shown = looper.get()
    assert (shown["status"], shown["reason"]) == ("terminated", "closed")
    error = looper.post("/step-out", expect=409)["error"]
    assert "/command" not in error["hint"], "there is nobody to take one"
    assert error["details"]["possible"] == ["events", "delete"]


def test_an_agent_that_was_killed_has_crashed_and_holds_nothing(looper: AgentView) -> None:
    looper.break_on("double")
    looper.agent.send("turn 1")
    hold = looper.wait_for_hold()
    looper.agent.process.kill()
    shown = wait_for_status(looper.server, looper.path, "terminated")
    assert (shown["reason"], shown["holds"]) == ("crashed", [])
    settled = looper.server.get(f"/api/holds/{hold['hold_id']}")
    assert (settled["open"], settled["outcome"]) == (False, "withdrawn")
    error = looper.decide(hold, "continue", expect=409)
    assert "crashed" in error["error"]["message"]


def test_only_the_recording_of_an_agent_that_is_over_can_be_deleted(looper: AgentView) -> None:
    error = looper.server.delete(looper.path, expect=409)
    assert error["error"]["details"]["state"] == "running"
    looper.agent.ask("close")
    looper.wait_for_event("session_end")
    looper.server.delete(looper.path)
    looper.get(expect=404)
    assert not looper.agent.home.path.exists()


def test_a_recording_that_somebody_deleted_is_forgotten(server: Server) -> None:
    with agent_view(server) as looper:
        looper.agent.ask("close")
    for each in (*looper.agent.home.path.rglob("*"),):
        if each.is_file():
            each.unlink()
    for folder in sorted(looper.agent.home.path.rglob("*"), reverse=True):
        folder.rmdir()
    looper.agent.home.path.rmdir()
    wait_until(lambda: server.http.get(looper.path).status_code == 404)


def test_what_only_programs_can_do_names_the_kind(looper: AgentView) -> None:
    for method, path in [
        *(("GET", "/stacktrace"), ("GET", "/output"), ("GET", "/breakpoints"), ("GET", "/export")),
        *(("POST", "/terminate"), ("POST", "/step-into"), ("POST", "/step-out")),
        ("POST", "/evaluate"),
    ]:
        body = {"expression": "1"} if path == "/evaluate" else {}
        error = looper.server.ask(method, looper.path + path, body, expect=409)["error"]
        assert error["details"]["kind"] == "agent"
        assert "command" in error["details"]["possible"]


# -- events ---------------------------------------------------------------------------------------


def test_events_come_out_of_the_file_by_their_numbers(looper: AgentView) -> None:
    looper.agent.ask("flood 5000")
    looper.agent.ask("turn 1")
    looper.wait_for_event("tool_call_end")
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


def test_an_answer_is_no_larger_than_is_good_for_it(looper: AgentView) -> None:
    looper.agent.ask("flood 30000")
    found = looper.get("/events?limit=10000")
    assert len(found["events"]) == 10000
    seqs = [each["seq"] for each in found["events"]]
    while found["has_more"]:
        found = looper.get(f"/events?limit=10000&since={found['last_seq']}")
        seqs += [each["seq"] for each in found["events"]]
    assert seqs == list(range(1, len(seqs) + 1))
    assert len(seqs) >= 30_000


def test_events_are_waited_for(looper: AgentView) -> None:
    last = looper.get()["last_event"]
    looper.agent.send("turn 1")
    found = looper.get(f"/events?since={last}&types=tool_result&wait=60")
    assert [each["data"]["result"] for each in found["events"]] == [2]


def test_a_body_that_is_too_large_for_a_line_is_had_by_its_id(looper: AgentView) -> None:
    looper.agent.ask("big")
    result = looper.wait_for_event("tool_result")["data"]["result"]
    answer = looper.server.http.get(f"{looper.path}/contents/{result['$cid']}")
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == "x" * 200_000
    for wrong in ("0" * 64, "nonsense", "..%2Fsession.json"):
        assert looper.server.http.get(f"{looper.path}/contents/{wrong}").status_code == 404


def test_what_is_no_json_is_given_as_bytes_and_never_loaded(looper: AgentView) -> None:
    body = b"\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c\x04exit\x85R."
    cid = wire.content_id(body)
    looper.agent.home.contents.mkdir(exist_ok=True)
    (looper.agent.home.contents / cid).write_bytes(body)
    answer = looper.server.http.get(f"{looper.path}/contents/{cid}")
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.content == body


# -- files of every kind --------------------------------------------------------------------------


class ByHand:
    """A session whose files a test writes itself, without ringing any bell."""

    def __init__(self, root: Path, name: str) -> None:
        self.home = AgentsDirectory(root).home(name)
        self.home.path.mkdir(parents=True)
        self.home.write_metadata({"id": name, "name": "by hand", "pid": os.getpid()})
        assert liveness.acquire(self.home.lock)

    def write(self, *lines: bytes) -> None:
        with self.home.events.open("ab") as file:
            file.write(b"".join(lines))

    def event(self, seq: int, kind: str, **data: Any) -> bytes:
        return wire.encode_event(seq, kind, 1_768_298_400.0 + seq, self.home.id, json.dumps(data))


@pytest.fixture
def by_hand(server: Server) -> Iterator[ByHand]:
    made = ByHand(server.data_dir / "agents", f"by_hand_{time.time_ns()}")
    yield made
    liveness.release(made.home.lock)


def test_who_does_not_ring_is_found_all_the_same(server: Server, by_hand: ByHand) -> None:
    by_hand.write(by_hand.event(1, "session_start", name="by hand"))
    path = f"/sessions/{by_hand.home.id}"
    wait_until(lambda: server.http.get(path).status_code != 404)
    by_hand.write(by_hand.event(2, "paused", stop="s1", reason="pause", at="model"))
    shown = server.get(f"{path}/status?wait=60")
    assert (shown["status"], shown["held"][0]["stop"]) == ("paused", "s1")
    by_hand.write(by_hand.event(3, "resumed", stop="s1", action="continue", by="nobody"))
    server.get(f"{path}/events?since=2&wait=60")
    settled = server.get(f"/api/holds/{shown['hold_id']}")
    assert (settled["outcome"], settled["by"]) == ("continue", "nobody")


def test_lines_that_are_no_events_are_passed_over(server: Server, by_hand: ByHand) -> None:
    by_hand.write(
        b"garbage\n\n\x00\xff\n[1]\n{}\n",
        b'{"seq": "x", "type": "paused", "data": {}}\n{"seq":5,"type":"paused","data":3}\n',
        by_hand.event(1, "session_start", name="by hand"),
        b'{"seq":2,"type":"error","data":{"message":NaN}}\n',
        b'{"seq":3,"type":"paus',
    )
    path = f"/sessions/{by_hand.home.id}"
    wait_until(lambda: server.http.get(path).status_code != 404)
    by_hand.write(b'ed","timestamp":"?","data":{"stop":"s","allows":"all"}}\n')
    found = server.get(f"{path}/events?types=paused&wait=60")["events"]
    assert [each["seq"] for each in found] == [3]
    shown = server.get(path)
    assert shown["status"] == "paused"
    assert shown["counters"]["unreadable_lines"] == 7
    assert server.get(f"/api/holds/{shown['hold_id']}")["allows"] == ["continue"]


def test_half_a_line_does_not_hide_that_its_agent_died(server: Server, by_hand: ByHand) -> None:
    by_hand.write(
        by_hand.event(1, "session_start", name="by hand"),
        by_hand.event(2, "paused", stop="s1", reason="pause", at="model"),
        b'{"seq":3,"type":"res',
    )
    path = f"/sessions/{by_hand.home.id}"
    wait_until(lambda: server.http.get(path).status_code != 404)
    hold = server.get(path)["hold_id"]
    liveness.release(by_hand.home.lock)
    assert wait_for_status(server, path, "terminated")["reason"] == "crashed"
    assert server.get(f"/api/holds/{hold}")["outcome"] == "withdrawn"


def test_a_file_that_becomes_a_fifo_stops_nobody(server: Server, by_hand: ByHand) -> None:
    by_hand.write(by_hand.event(1, "session_start", name="by hand"))
    path = f"/sessions/{by_hand.home.id}"
    wait_until(lambda: server.http.get(path).status_code != 404)
    home = by_hand.home
    for file in (home.events, home.commands, home.about):
        file.unlink(missing_ok=True)
        os.mkfifo(file)
    assert by_hand.home.id not in server.http.get("/api/events?limit=1000").text
    refused = server.post(f"{path}/command", {"type": "pause"}, expect=507)
    assert "commands.jsonl" in refused["error"]["message"]
    with agent_view(server) as looper:
        assert looper.agent.ask("turn 1") == "it is 2"
        assert looper.wait_for_event("tool_result")["data"]["result"] == 2


def test_a_line_without_an_end_is_skipped_with_a_warning(server: Server, by_hand: ByHand) -> None:
    by_hand.write(by_hand.event(1, "session_start", name="by hand"))
    path = f"/sessions/{by_hand.home.id}"
    wait_until(lambda: server.http.get(path).status_code != 404)
    place = by_hand.home.events.stat().st_size
    with by_hand.home.events.open("r+b") as file:
        file.truncate(place + (40 << 20))  # a hole reads as zeros
    wait_until(lambda: server.get(path)["counters"]["unreadable_lines"] == 1)
    by_hand.write(b"\n", by_hand.event(2, "paused", stop="s1", reason="pause", at="model"))
    assert server.get(f"{path}/status?wait=60")["held"][0]["stop"] == "s1"
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


def test_a_session_that_was_taken_up_again_goes_on(server: Server, by_hand: ByHand) -> None:
    by_hand.write(
        by_hand.event(1, "session_start", name="by hand"),
        by_hand.event(2, "session_end", reason="exit"),
    )
    path = f"/sessions/{by_hand.home.id}"
    wait_until(lambda: server.http.get(path).status_code != 404)
    assert server.get(path)["status"] == "terminated"
    by_hand.write(by_hand.event(3, "session_start", name="by hand", reopened=True))
    assert wait_for_status(server, path, "running")["last_event"] == 3


def test_nonsense_in_the_directory_disturbs_nobody(server: Server) -> None:
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
        with agent_view(server) as looper:
            assert looper.agent.ask("turn 1") == "it is 2"
            assert looper.wait_for_event("tool_result")["data"]["result"] == 2
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


def test_a_deleted_wakeup_fifo_is_created_again(server: Server) -> None:
    path = server.data_dir / "agents" / "server.bell"
    path.unlink()
    with agent_view(server) as looper:
        looper.wait_for_event("run_start")
    wait_until(path.exists, "the bell")


# -- servers that come and go ---------------------------------------------------------------------


def test_the_next_server_reads_on(tmp_path: Path) -> None:
    with start_own_server(tmp_path) as first, running_agent(first.data_dir) as running:
        looper = AgentView(first, running)
        looper.break_on("double")
        running.send("turn 1")
        looper.wait_for_hold()
        first.stop()
        with start_own_server(tmp_path) as second:
            again = AgentView(second, running)
            hold = again.wait_for_hold()
            assert (hold["name"], hold["input"]) == ("double", {"number": 1})
            again.decide(hold, "skip", result=70)
            assert running.read_reply() == "it is 70"


def test_a_hold_is_found_at_the_end_of_a_long_recording(tmp_path: Path) -> None:
    with start_own_server(tmp_path) as first, running_agent(first.data_dir) as running:
        looper = AgentView(first, running)
        looper.break_on("double")
        looper.agent.ask("flood 20000")
        running.send("turn 1")
        held = looper.wait_for_hold()
        seq = looper.get()["last_event"]
        first.stop()
        assert running.home.events.stat().st_size > 2 << 20
        with start_own_server(tmp_path) as second:
            again = second.get(f"/sessions/{running.id}")
            assert (again["status"], again["iteration"]) == ("paused", 1)
            assert again["last_event"] >= seq
            assert again["counters"]["events"] == again["last_event"]
            hold = second.get(f"/api/holds/{again['hold_id']}")
            assert hold["stop"] == held["stop"]
            first_ones = second.get(f"/sessions/{running.id}/events?limit=2")["events"]
            assert [each["type"] for each in first_ones] == ["session_start", "run_start"]
            second.post(f"/api/holds/{hold['hold_id']}/decision", {"action": "continue"})
            assert running.read_reply() == "it is 2"


def test_recordings_are_there_after_their_agents_and_their_server(tmp_path: Path) -> None:
    with start_own_server(tmp_path) as first:
        with agent_view(first) as looper:
            looper.agent.ask("turn 3")
        with agent_view(first) as other:
            other.agent.send("crash")
            other.agent.process.wait()
    with start_own_server(tmp_path) as second:
        listed = {each["session_id"]: each for each in second.get("/sessions")["sessions"]}
        ended, crashed = listed[looper.agent.id], listed[other.agent.id]
        assert (ended["status"], ended["reason"], ended["iteration"]) == ("terminated", "exit", 3)
        assert (crashed["status"], crashed["reason"]) == ("terminated", "crashed")
        assert second.get(looper.path)["counters"]["tool_calls"] == 3
        events = second.get(f"{looper.path}/events")["events"]
        assert events[0]["type"] == "session_start"
        assert events[-1]["type"] == "session_end"


def test_an_agent_that_stands_still_is_not_dead(looper: AgentView) -> None:
    with looper.agent.frozen():
        looper.server.get("/api/events?types=replay_diverged&wait=0.6")  # two looks
        assert looper.get()["status"] == "running"


# -- agents whose directory is elsewhere ----------------------------------------------------------


def test_an_agent_elsewhere_makes_itself_known(server: Server, tmp_path: Path) -> None:
    with running_agent(server.data_dir, str(tmp_path)) as running:
        shown = server.post("/api/agents", {"directory": str(running.home.path)})
        assert (shown["session_id"], shown["kind"]) == (running.id, "agent")
        looper = AgentView(server, running)
        looper.break_on("double")
        running.send("turn 1")
        looper.decide(looper.wait_for_hold(), "continue")
        assert running.read_reply() == "it is 2"
        server.post("/api/agents", {"directory": str(running.home.path)}, expect=201)


def test_what_is_no_session_of_ones_own_is_not_followed(server: Server, tmp_path: Path) -> None:
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


def test_two_sessions_of_one_name_are_not_mixed_up(server: Server, tmp_path: Path) -> None:
    with agent_view(server) as looper:
        made = tmp_path / "sessions" / looper.agent.id
        made.mkdir(parents=True)
        SessionDirectory(made).write_metadata({"id": looper.agent.id})
        error = server.post("/api/agents", {"directory": str(made)}, expect=400)["error"]
        assert "another session" in error["message"]


def test_two_agents_of_one_name_are_two_sessions(server: Server) -> None:
    with agent_view(server) as one, agent_view(server) as other:
        assert one.agent.id != other.agent.id
        assert one.agent.ask("turn 1") == other.agent.ask("turn 1")
        assert one.get()["name"] == other.get()["name"] == "looper"


def test_agents_are_found_where_the_environment_says(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    running = Server(tmp_path / "data", env={"HOLDFAST_AGENT_DIR": str(elsewhere)})
    try:
        with running_agent(running.data_dir, str(elsewhere)) as loop:
            assert isinstance(loop, AgentProcess)
            AgentView(running, loop).wait_for_event("run_start")
    finally:
        running.stop()
