"""Recordings of agents over HTTP: conversations, messages, forks, replays and comparisons."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from agent_loops import PROGRAM, AgentLoop, AgentLoopProcess, build_writes, open_bridge
from agent_process import AgentView, agent_view
from harness import Server
from holdfast.model.agent_events import VALUE_RECORDED
from holdfast.recording.directories import AgentsDirectory, SessionDirectory
from polling import wait_until
from replayable_agent import read_data, read_events
from two_lane_agent import TwoLaneAgent


def agents_of(server: Server) -> Path:
    return server.data_dir / "agents"


def wait_for_end(server: Server, session_id: str) -> Any:
    """The session, once the server knows that it is over."""

    def look() -> Any:
        answer = server.http.get(f"/sessions/{session_id}")
        found = answer.json() if answer.status_code == 200 else {}
        return found if found.get("status") == "terminated" else None

    return wait_until(look, f"{session_id} to end")


def record_loop(server: Server, asks: list[dict[str, Any]], **options: Any) -> str:
    with open_bridge(agents_of(server), **options) as dbg:
        AgentLoop(dbg, asks)()
    wait_for_end(server, dbg.id)
    return dbg.id


def record_program(server: Server, turns: int = 2) -> str:
    """A recording that knows how its agent was started."""
    with AgentLoopProcess(agents_of(server), str(turns), "writer") as agent:
        agent.result()
    wait_for_end(server, agent.home.id)
    return agent.home.id


def get_conversation(server: Server, session_id: str, query: str = "") -> Any:
    return server.get(f"/sessions/{session_id}/conversation?{query}")


# -- conversations ------------------------------------------------------------------------------


def test_a_run_is_shown_as_a_conversation(server: Server) -> None:
    asks = [*build_writes(1), {"tool": "fail", "why": "no luck"}]
    session_id = record_loop(server, asks)
    shown = get_conversation(server, session_id)
    assert (shown["session_id"], shown["is_over"], shown["end_reason"]) == (
        session_id,
        True,
        "closed",
    )
    assert shown["at"] == shown["last_seq"]
    assert [lane["lane"] for lane in shown["lanes"]] == ["main"]
    first, second, last = shown["turns"]
    assert [turn["iteration"] for turn in shown["turns"]] == [1, 2, 3]
    assert first["messages"] == [{"role": "user", "text": "begin"}]
    assert first["answer"]["text"] == "go on"
    assert first["answer"]["usage"] == {"input_tokens": 10, "output_tokens": 5}
    [tool] = first["tools"]
    assert (tool["name"], tool["status"], tool["result_text"]) == ("write", "done", "wrote 0.txt")
    assert (json.loads(tool["input_text"]), tool["result_format"]) == ({"path": "0.txt"}, "text")
    [failed] = second["tools"]
    assert (failed["status"], failed["error"]) == (
        "error",
        {"type": "ValueError", "message": "no luck"},
    )
    assert [message["role"] for message in second["messages"]] == ["assistant", "tool"]
    assert (last["answer"]["text"], last["tools"]) == ("done", [])
    totals = shown["totals"]
    assert (totals["model_calls"], totals["tool_calls"], totals["failures"]) == (3, 2, 1)
    assert (totals["input_tokens"], totals["output_tokens"]) == (30, 15)
    assert totals["cost"] is None


def test_a_run_is_shown_as_it_was_at_any_of_its_events(server: Server) -> None:
    session_id = record_loop(server, build_writes(2))
    events = read_events(AgentsDirectory(agents_of(server)).home(session_id))
    for event in events:
        shown = get_conversation(server, session_id, f"at={event['seq']}")
        assert shown["at"] == event["seq"]
        before = [each for each in events if each["seq"] <= event["seq"]]
        begun = [each for each in before if each["type"] == "api_request"]
        answered = [each for each in before if each["type"] == "api_response"]
        assert len(shown["turns"]) == len(begun) == shown["totals"]["model_calls"]
        assert sum(turn["answer"] is not None for turn in shown["turns"]) == len(answered)
        tools = [tool for turn in shown["turns"] for tool in turn["tools"]]
        ended = [each for each in before if each["type"] == "tool_call_end"]
        assert [tool["status"] for tool in tools].count("done") == len(ended)
        assert shown["last_seq"] == events[-1]["seq"]
    assert get_conversation(server, session_id, "at=0")["turns"] == []


def test_numbers_stay_as_they_were_recorded(server: Server) -> None:
    with open_bridge(agents_of(server)) as dbg:
        ask = dbg.model(lambda messages: {"content": [{"type": "text", "text": "ok"}]})
        give = dbg.tool(lambda amount: {"amount": amount, "id": 12345678901234567890}, name="give")
        ask([{"role": "user", "content": "x", "weight": 4.0}])
        give(amount=4.0)
    wait_for_end(server, dbg.id)
    [turn] = get_conversation(server, dbg.id)["turns"]
    assert turn["messages"][0]["json"] == '{"role": "user", "content": "x", "weight": 4.0}'
    [tool] = turn["tools"]
    assert tool["input_text"] == '{"amount": 4.0}'
    assert tool["result_text"] == '{"amount": 4.0, "id": 12345678901234567890}'
    assert tool["result_format"] == "json"
    found = server.get(f"/sessions/{dbg.id}/messages?iteration=1")
    assert '"weight": 4.0' in found["messages"][0]["json"]


def test_what_a_model_thought_stands_apart(server: Server) -> None:
    content = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "four"}]
    with open_bridge(agents_of(server)) as dbg:
        dbg.model(lambda messages: {"content": content})([{"role": "user", "content": "2+2"}])
    wait_for_end(server, dbg.id)
    [turn] = get_conversation(server, dbg.id)["turns"]
    assert (turn["answer"]["text"], turn["answer"]["thinking"]) == ("four", "hm")


def test_agents_inside_others_are_nested(server: Server) -> None:
    with open_bridge(agents_of(server)) as dbg:
        TwoLaneAgent(dbg, turns=1)()
    wait_for_end(server, dbg.id)
    shown = get_conversation(server, dbg.id)
    lanes = {lane["lane"]: lane for lane in shown["lanes"]}
    assert lanes["main"]["depth"] == 0
    assert lanes["main"]["label"] == "tested"
    assert (lanes["helper"]["parent"], lanes["helper"]["depth"]) == ("main", 1)
    assert (lanes["expert"]["parent"], lanes["expert"]["depth"]) == ("main", 1)
    [main] = [turn for turn in shown["turns"] if turn["lane"] == "main"]
    expert = next(tool for tool in main["tools"] if tool["name"] == "expert")
    assert expert["subagents"] == ["expert"]
    [inner] = get_conversation(server, dbg.id, "lane=expert")["turns"]
    assert (inner["depth"], inner["within"]) == (1, expert["tool_id"])
    assert [tool["name"] for tool in inner["tools"]] == ["write"]


def test_large_bodies_are_named_and_long_texts_are_cut(server: Server) -> None:
    with open_bridge(agents_of(server)) as dbg:
        ask = dbg.model(lambda messages: {"content": "y" * 50_000})
        read = dbg.tool(lambda: "x" * 200_000, name="read")
        ask([{"role": "user", "content": "z" * 100_000}, {"role": "user", "content": "go"}])
        read()
    wait_for_end(server, dbg.id)
    [turn] = get_conversation(server, dbg.id)["turns"]
    assert [len(message["text"]) for message in turn["messages"]] == [20_000, 2]
    assert turn["messages"][0]["size"] == 100_000
    assert (len(turn["answer"]["text"]), turn["answer"]["size"]) == (20_000, 50_000)
    [tool] = turn["tools"]
    assert len(tool["result_text"]) < 1000
    body = server.http.get(f"/sessions/{dbg.id}/contents/{tool['result_cid']}").content
    assert (len(body), tool["result_size"]) == (200_002, 200_002)
    [turn] = get_conversation(server, dbg.id, "max_chars=200000")["turns"]
    assert [len(message["text"]) for message in turn["messages"]] == [100_000, 2]


def test_a_long_run_is_shown_in_pages(server: Server) -> None:
    with open_bridge(agents_of(server)) as dbg:
        ask = dbg.model(lambda messages: "ok")
        write = dbg.tool(lambda number: number, name="write")
        for number in range(2000):
            ask([{"role": "user", "content": str(number)}])
            write(number=number)
            dbg.emit(VALUE_RECORDED({"name": "n", "value": number}))
    end = wait_for_end(server, dbg.id)
    assert end["last_event"] > 10_000
    newest = get_conversation(server, dbg.id)
    assert [turn["number"] for turn in newest["turns"]] == list(range(1801, 2001))
    assert (newest["total_turns"], newest["has_earlier"], newest["has_more"]) == (2000, True, False)
    page = get_conversation(server, dbg.id, "after_turn=100&limit=10")
    assert [turn["number"] for turn in page["turns"]] == list(range(101, 111))
    assert (page["has_earlier"], page["has_more"]) == (True, True)
    assert page["turns"][0]["messages"][0]["text"] == "100"


def test_a_running_agent_is_followed(server: Server) -> None:
    with agent_view(server) as looper:
        for count in (1, 2, 3):
            looper.agent.ask("turn 1")
            last = looper.agent.home.events.read_bytes().count(b"\n")
            looper.server.get(f"{looper.path}/events?since={last - 1}&wait=60")
            shown = looper.get("/conversation")
            assert len(shown["turns"]) == count
            assert (shown["is_over"], shown["held"]) == (False, [])
        assert shown["lanes"][0]["status"] == "running"


def test_what_is_held_is_in_the_conversation(server: Server) -> None:
    with agent_view(server) as looper:
        looper.break_on("double")
        looper.agent.send("turn 1")
        hold = looper.wait_for_hold()
        shown = looper.get("/conversation")
        [tool] = shown["turns"][0]["tools"]
        assert (tool["status"], tool["input_text"]) == ("held", '{"number": 1}')
        [held] = shown["held"]
        assert (held["hold_id"], held["tool_id"]) == (hold["hold_id"], tool["tool_id"])
        looper.decide(hold, "skip", result=21, by="me")
        looper.agent.read_reply()
        looper.wait_for_event("tool_call_end")
        [tool] = looper.get("/conversation")["turns"][0]["tools"]
        assert (tool["status"], tool["result_text"]) == ("faked", "21")
        assert tool["decision"] == {"action": "skip", "by": "me", "json": '{"result": 21}'}


def test_a_held_model_call_is_a_turn_already(server: Server) -> None:
    with agent_view(server) as looper:
        looper.post("/pause", {"wait": 0})
        looper.agent.send("turn 1")
        hold = looper.wait_for_hold()
        shown = looper.get("/conversation")
        [turn] = shown["turns"]
        assert (turn["status"], turn["answer"]) == ("held", None)
        assert turn["messages"] == [{"role": "user", "text": "double it"}]
        found = looper.get("/messages?iteration=1")
        assert (found["is_held"], found["messages"][0]["text"]) == (True, "double it")
        looper.decide(hold, "continue")
        looper.agent.read_reply()
        looper.wait_for_event("tool_call_end")
        shown = looper.get("/conversation")
        assert [(turn["number"], turn["status"]) for turn in shown["turns"]] == [(1, "done")]


def test_what_a_killed_agent_left_is_unfinished(server: Server) -> None:
    with agent_view(server) as looper:
        looper.break_on("double")
        looper.agent.send("turn 1")
        looper.wait_for_hold()
        looper.agent.process.kill()
        wait_for_end(server, looper.agent.id)
        shown = looper.get("/conversation")
        assert (shown["is_over"], shown["end_reason"], shown["held"]) == (True, "crashed", [])
        assert shown["turns"][0]["tools"][0]["status"] == "unfinished"


def write_recording(server: Server, events: list[tuple[str, dict[str, Any]]]) -> str:
    """A session whose events somebody else wrote. It is there at once and as a whole."""
    home = AgentsDirectory(agents_of(server)).home(f"by_hand_{time.time_ns()}")
    written = SessionDirectory(agents_of(server) / home.id)
    written.path.mkdir(parents=True)
    written.events.write_text("")
    append_events(written.events, [("session_start", {"version": 1, "name": "by hand"}), *events])
    written.write_metadata({"id": home.id, "name": "by hand", "argv": [sys.executable, "-c", ""]})
    home.path.parent.mkdir(exist_ok=True)
    written.path.rename(home.path)
    wait_for_event(server, home.id, len(events) + 1)
    return home.id


def append_events(path: Path, events: list[tuple[str, dict[str, Any]]]) -> None:
    number = path.read_bytes().count(b"\n")
    with path.open("a") as file:
        for seq, (kind, data) in enumerate(events, number + 1):
            file.write(json.dumps({"seq": seq, "type": kind, "data": data}) + "\n")


def wait_for_event(server: Server, session_id: str, number: int) -> None:
    def look() -> bool:
        answer = server.http.get(f"/sessions/{session_id}")
        return answer.status_code == 200 and answer.json()["last_event"] >= number

    wait_until(look, f"event {number} of {session_id}")


def build_call(iteration: int, *messages: Any) -> tuple[str, dict[str, Any]]:
    return "api_request", {"iteration": iteration, "model": "m", "messages": list(messages)}


def build_tool(tool_id: Any, iteration: int = 1, **fields: Any) -> tuple[str, dict[str, Any]]:
    data = {"toolId": tool_id, "name": "t", "iteration": iteration, "input": {}, **fields}
    return "tool_call_start", data


ODD_EVENTS = [
    *(build_call(1, {"role": "user", "content": "x"}), build_tool(None)),
    ("lane_start", {"lane": "inner"}),  # it has no `within`, and that tool no id
    ("api_response", {"iteration": [1], "content": "lost"}),
    ("api_response", {"iteration": 1, "content": "said"}),
    build_call(2, {"role": "user", "content": "y"}),
]


def test_an_odd_event_does_not_hide_the_others(server: Server) -> None:
    session_id = write_recording(server, ODD_EVENTS)
    for query in ("", "", f"at={len(ODD_EVENTS) + 1}"):
        shown = get_conversation(server, session_id, query)
        assert [turn["iteration"] for turn in shown["turns"]] == [1, 2]
        assert shown["turns"][0]["answer"]["text"] == "said"
        assert [tool["subagents"] for tool in shown["turns"][0]["tools"]] == [[]]


def test_ids_that_are_no_texts_do_no_harm(server: Server) -> None:
    events = [
        *(build_call(1, {"role": "user", "content": "x"}), build_tool([1]), build_tool({"a": 1})),
        build_tool("inner", within=[1]),
        ("tool_call_end", {"toolId": [1]}),
    ]
    one, other = (write_recording(server, events) for _ in range(2))
    error = fork(server, one, expect=400, at=9)["error"]
    assert "at is from 0" in error["hint"]
    compared = server.get(f"/api/agents/compare?left={one}&right={other}")
    assert (compared["equal"], compared["total_steps"]) == (True, 4)
    [turn] = get_conversation(server, one)["turns"]
    assert [tool["tool_id"] for tool in turn["tools"]] == ["[1]", "{'a': 1}", "inner"]


def test_another_recording_in_its_place_is_read_from_its_beginning(server: Server) -> None:
    events = [build_call(1, {"role": "user", "content": "x" * 5000})]
    session_id = write_recording(server, events)
    assert len(get_conversation(server, session_id)["turns"]) == 1
    home = AgentsDirectory(agents_of(server)).home(session_id)
    new = home.path / "new"
    append = [build_call(number, {"role": "user", "content": "y" * 5000}) for number in range(1, 9)]
    new.write_text("")
    append_events(new, [("session_start", {"version": 1}), *append])
    new.replace(home.events)
    wait_for_event(server, session_id, 9)
    shown = get_conversation(server, session_id)
    assert [turn["messages"][0]["text"][0] for turn in shown["turns"]] == ["y"] * 8


def test_what_an_ended_agent_is_found_to_have_written_is_read_at_once(server: Server) -> None:
    """Not a piece with each check: a recording is found while it is still copied here."""
    session_id = write_recording(server, [])
    assert server.get(f"/sessions/{session_id}")["status"] == "terminated"
    events = [build_tool(str(number), input="y" * 100_000) for number in range(200)]
    append_events(AgentsDirectory(agents_of(server)).home(session_id).events, events)
    wait_for_event(server, session_id, 201)


def test_one_large_turn_does_not_make_a_large_answer(server: Server) -> None:
    messages = [{"role": "user", "content": f"{number} " + "x" * 30_000} for number in range(500)]
    tools = [build_tool(str(number), input="y" * 30_000) for number in range(300)]
    session_id = write_recording(server, [build_call(1, *messages)])
    body = server.http.get(f"/sessions/{session_id}/conversation")
    assert len(body.content) < 5_000_000
    [turn] = body.json()["turns"]
    assert turn["left_out"] == 500 - len(turn["messages"]) > 0
    assert turn["messages"][-1]["text"].startswith("499 ")
    session_id = write_recording(server, [build_call(1), *tools])
    body = server.http.get(f"/sessions/{session_id}/conversation?max_chars=4000000")
    assert len(body.content) < 5_000_000
    [turn] = body.json()["turns"]
    assert (turn["left_out"], turn["tools"][-1]["tool_id"]) == (300 - len(turn["tools"]), "299")


def test_variables_do_not_make_a_large_answer(server: Server) -> None:
    events = [
        ("variable_set", {"key": str(number), "value": "v" * 20_000}) for number in range(200)
    ]
    session_id = write_recording(server, events)
    assert len(server.http.get(f"/sessions/{session_id}/conversation").content) < 2_000_000


# -- messages and state ---------------------------------------------------------------------------


def test_all_messages_of_a_step_are_given(server: Server) -> None:
    session_id = record_loop(server, build_writes(2))
    found = server.get(f"/sessions/{session_id}/messages?iteration=3")
    assert [message["role"] for message in found["messages"]] == [
        *("user", "assistant", "tool", "assistant", "tool")
    ]
    assert json.loads(found["messages"][2]["json"]) == {"role": "tool", "content": "wrote 0.txt"}
    assert (found["fork_at"], found["lane"], found["system"]) == (2, "main", None)
    error = server.get(f"/sessions/{session_id}/messages?iteration=4", expect=400)["error"]
    assert "has 3 of them" in error["hint"]
    error = server.get(f"/sessions/{session_id}/messages?iteration=1&lane=b", expect=400)["error"]
    assert "main" in error["hint"]


def test_many_messages_are_given_in_pages(server: Server) -> None:
    messages = [{"role": "user", "content": f"{number} " + "x" * 60_000} for number in range(150)]
    session_id = write_recording(server, [build_call(1, *messages)])
    path = f"/sessions/{session_id}/messages?iteration=1"
    body = server.http.get(path)
    assert len(body.content) < 10_000_000
    page = body.json()
    assert (page["first"], page["total"], page["has_more"]) == (0, 150, True)
    found = list(page["messages"])
    while page["has_more"]:
        page = server.get(f"{path}&first={len(found)}")
        found += page["messages"]
    assert [json.loads(message["json"]) for message in found] == messages
    page = server.get(f"{path}&first=10&count=2")
    assert [message["text"].split()[0] for message in page["messages"]] == ["10", "11"]
    page = server.get(f"{path}&first=9000000000000000000")
    assert (page["messages"], page["has_more"]) == ([], False)


def test_the_system_prompt_is_given_wherever_it_is(server: Server) -> None:
    with open_bridge(agents_of(server)) as dbg:
        ask = dbg.model(lambda messages, system="": "ok")
        ask([{"role": "system", "content": "be brief"}, {"role": "user", "content": "x"}])
        ask([{"role": "user", "content": "x"}], system="be kind")
    wait_for_end(server, dbg.id)
    path = f"/sessions/{dbg.id}/messages"
    first, second = (server.get(f"{path}?iteration={number}") for number in (1, 2))
    assert first["system"] == {"text": "be brief", "place": "messages"}
    assert second["system"] == {"text": "be kind", "place": "settings"}


def test_reading_leaves_the_recording_as_it_is(server: Server) -> None:
    with agent_view(server) as looper:
        looper.agent.ask("turn 2")
        home = looper.agent.home
        before = home.events.read_bytes(), home.commands.read_bytes()
        for rest in ("", "/state", "/state?what=messages", "/conversation", "/status"):
            looper.get(rest)
        looper.get("/messages?iteration=2")
        server.get(f"/api/agents/compare?left={looper.agent.id}&right={looper.agent.id}")
        assert (home.events.read_bytes(), home.commands.read_bytes()) == before
        looper.get("/state?live=true")
        assert looper.wait_for_event("command_response")["data"]["type"] == "inspect"


def test_the_state_of_an_agent_that_is_over_is_known(server: Server) -> None:
    session_id = record_loop(server, build_writes(1))
    shown = server.get(f"/sessions/{session_id}/state")
    assert (shown["source"], shown["status"]) == ("recording", "terminated")
    state = shown["state"]
    assert state["messages"]["roles"] == {"user": 1, "assistant": 2, "tool": 1}
    assert state["tools"] == {"enabled": ["write"], "count": 1}
    assert state["tokens"] == 30
    error = server.get(f"/sessions/{session_id}/state?lane=b", expect=400)["error"]
    assert "there are main" in error["message"]
    server.get(f"/sessions/{session_id}/state?live=true", expect=409)


# -- forks ----------------------------------------------------------------------------------------


def fork(server: Server, session_id: str, expect: int | None = None, **body: Any) -> Any:
    return server.post(f"/sessions/{session_id}/fork", body, expect=expect)


def test_a_fork_goes_on_live_with_the_messages_that_were_edited(server: Server) -> None:
    parent = record_program(server)
    home = AgentsDirectory(agents_of(server)).home(parent)
    before = home.events.read_bytes()
    given = server.get(f"/sessions/{parent}/messages?iteration=2")
    messages = [json.loads(message["json"]) for message in given["messages"]]
    messages[0]["content"] = "begin otherwise"
    answer = fork(server, parent, at=given["fork_at"], messages=messages)
    assert (answer["status"], answer["parent"]) == ("started", parent)
    new = wait_for_end(server, answer["session_id"])
    assert (new["parent"], new["forkAt"], new["edited"]) == (parent, 1, True)
    assert (new["name"], new["run"]) == ("writer", answer["run"])
    shown = get_conversation(server, new["session_id"])
    assert [turn["replayed"] for turn in shown["turns"]] == [True, False, False]
    asked = server.get(f"/sessions/{new['session_id']}/messages?iteration=2")
    assert asked["messages"][0]["text"] == "begin otherwise"
    assert home.events.read_bytes() == before
    assert any("side effects" in warning for warning in answer["warnings"])


def test_messages_may_be_texts(server: Server) -> None:
    parent = record_program(server)
    message = '{"role": "user", "content": "begin", "weight": 4.0}'
    for messages in ([message], f"[{message}]"):
        answer = fork(server, parent, at=0, messages=messages, wait=60)
        wait_for_end(server, answer["session_id"])
        found = server.get(f"/sessions/{answer['session_id']}/messages?iteration=1")
        assert [each["json"] for each in found["messages"]] == [message]


def test_a_fork_is_held_where_it_begins(server: Server) -> None:
    parent = record_program(server)
    answer = fork(server, parent, at=1, hold=True)
    path = f"/sessions/{answer['session_id']}"
    shown = server.get(f"{path}/status?wait=60")
    assert (shown["status"], shown["reason"]) == ("paused", "fork")
    detail = server.get(path)
    assert detail["process"]["running"] is True
    assert detail["process"]["pid"] == answer["pid"]
    server.post(f"/api/holds/{shown['hold_id']}/decision", {"action": "continue"})
    wait_for_end(server, answer["session_id"])
    process = wait_until(lambda: _ended_process(server, path), "its process to end")
    assert process["exit_code"] == 0
    assert answer["session_id"] in process["stdout"]


def _ended_process(server: Server, path: str) -> Any:
    process = server.get(path)["process"]
    return None if process["running"] else process


def test_a_deleted_fork_ends_with_its_processes(server: Server) -> None:
    parent = record_program(server)
    answer = fork(server, parent, at=1, hold=True)
    path = f"/sessions/{answer['session_id']}"
    server.get(f"{path}/status?wait=60")
    server.delete(path)
    assert not psutil.pid_exists(answer["pid"])
    server.get(path, expect=404)
    assert server.get(f"/sessions/{parent}")["status"] == "terminated"


@contextmanager
def own_server(folder: Path) -> Iterator[Server]:
    running = Server(folder / "data")
    try:
        yield running
    finally:
        running.stop()


def test_a_fork_ends_with_the_server(tmp_path: Path) -> None:
    with own_server(tmp_path) as server:
        parent = record_program(server)
        answer = fork(server, parent, at=1, hold=True)
        server.get(f"/sessions/{answer['session_id']}/status?wait=60")
        assert psutil.pid_exists(answer["pid"])
    assert not psutil.pid_exists(answer["pid"])


def test_a_fork_ends_with_a_server_that_is_killed(tmp_path: Path) -> None:
    with own_server(tmp_path) as server:
        parent = record_program(server)
        answer = fork(server, parent, at=1, hold=True)
        process = psutil.Process(answer["pid"])
        server.process.kill()
        wait_until(lambda: _is_gone(process), "the fork to end")


def _is_gone(process: psutil.Process) -> bool:
    """Whoever adopts it may not reap it."""
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_a_command_that_starts_no_session_is_shown_with_what_it_printed(server: Server) -> None:
    parent = record_program(server)
    words = [sys.executable, "-c", "import sys; print('at work'); sys.exit('no such model')"]
    error = fork(server, parent, expect=400, at=1, command=words)["error"]
    assert error["code"] == "LAUNCH_NO_SESSION"
    assert "started no session" in error["message"]
    assert error["details"]["stderr"] == "no such model\n"
    assert error["details"]["stdout"] == "at work\n"
    assert error["details"]["exit_code"] == 1
    error = fork(server, parent, expect=400, at=1, command=["/no/such/agent"])["error"]
    assert "cannot be started" in error["message"]
    assert (error["code"], error["details"]["field"]) == ("FILE_NOT_FOUND", "command")


def test_an_agent_that_takes_its_time_is_starting(server: Server, tmp_path: Path) -> None:
    parent = record_program(server)
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    code = f"open({str(gate)!r}).read(); import runpy; runpy.run_path({str(PROGRAM)!r})"
    answer = fork(server, parent, at=1, command=[sys.executable, "-c", code], wait=0)
    assert (answer["status"], answer["session_id"]) == ("starting", None)
    assert psutil.pid_exists(answer["pid"])
    gate.write_text("")

    def find_run() -> Any:
        every = server.get("/sessions?kind=agent")["sessions"]
        return next((each for each in every if each.get("run") == answer["run"]), None)

    found = wait_until(find_run, "its session to begin")
    assert found["parent"] == parent
    wait_for_end(server, found["session_id"])


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"at": 9}, "at is from 0"),
        ({"at": 1, "lane": "b"}, "It has main"),
        ({"at": 1, "messages": []}, ""),
        ({"at": 1, "messages": "{"}, ""),
        ({"at": 1, "message": {"role": "user"}}, "content"),
        ({"at": 1, "results": {"none": 1}}, "It has"),
        ({"at": 1, "cwd": "/no/such/directory"}, "path"),
        ({"at": 1, "command": []}, ""),
    ],
)
def test_a_fork_that_cannot_be_is_refused(server: Server, body: Any, field: str) -> None:
    parent = record_program(server)
    error = fork(server, parent, expect=400, **body)["error"]
    assert field in error["hint"]


def test_a_recording_that_does_not_say_how_it_was_started_needs_a_command(server: Server) -> None:
    parent = record_program(server)
    home = AgentsDirectory(agents_of(server)).home(parent)
    about = home.read_metadata()
    about.pop("argv")
    home.write_metadata(about)
    error = fork(server, parent, expect=400, at=1)["error"]
    assert "does not say how it was started" in error["message"]
    assert "command" in error["hint"]
    answer = fork(server, parent, at=1, command=[sys.executable, str(PROGRAM)])
    assert wait_for_end(server, answer["session_id"])["parent"] == parent


def test_a_replay_calls_no_tool_and_no_model(server: Server, tmp_path: Path) -> None:
    done = tmp_path / "done"
    with AgentLoopProcess(agents_of(server), "2", DONE=str(done)) as agent:
        agent.result()
    wait_for_end(server, agent.home.id)
    written = done.read_text()
    answer = server.post(f"/sessions/{agent.home.id}/replay", {"env": {"DONE": str(done)}})
    new = wait_for_end(server, answer["session_id"])
    assert (new["replayOf"], new["mode"]) == (agent.home.id, "full")
    assert done.read_text() == written
    home = AgentsDirectory(agents_of(server)).home(new["session_id"])
    assert read_data(home, "replay_diverged") == []
    query = f"left={agent.home.id}&right={new['session_id']}"
    compared = server.get(f"/api/agents/compare?{query}")
    assert (compared["equal"], compared["lineage"]["relation"]) == (True, "replay")


# -- comparing ------------------------------------------------------------------------------------


def test_two_runs_are_shown_side_by_side(server: Server) -> None:
    left = record_loop(server, build_writes(2))
    asks = [*build_writes(1), {"tool": "write", "path": "other.txt"}, *build_writes(1)]
    right = record_loop(server, asks)
    shown = server.get(f"/api/agents/compare?left={left}&right={right}")
    assert (shown["left"]["session_id"], shown["right"]["session_id"]) == (left, right)
    assert (shown["left"]["model_calls"], shown["right"]["model_calls"]) == (3, 4)
    assert shown["equal"] is False
    same = [pair["same"] for pair in shown["steps"]]
    first = shown["steps"][shown["first_difference"]]
    assert same[: first["index"]] == [True] * first["index"]
    assert (first["left"]["kind"], first["differences"][0]["what"]) == ("tool", "request")
    names = [(pair["left"] is not None, pair["right"] is not None) for pair in shown["steps"]]
    assert names == [(True, True)] * 5 + [(False, True)] * 2
    write = shown["steps"][3]
    assert [json.loads(write[side]["input_text"])["path"] for side in ("left", "right")] == [
        *("1.txt", "other.txt")
    ]
    assert "path was" in write["differences"][0]["text"]
    page = server.get(f"/api/agents/compare?left={left}&right={right}&after=2&limit=2")
    assert [pair["index"] for pair in page["steps"]] == [3, 4]
    assert (page["has_more"], page["total_steps"]) == (True, 7)


def test_steps_that_only_one_run_has_do_not_shift_the_others(server: Server) -> None:
    asks = [*build_writes(1), {"tool": "fail", "why": "x"}, *build_writes(1)]
    left = record_loop(server, asks)
    right = record_loop(server, [*build_writes(1), *build_writes(1)])
    shown = server.get(f"/api/agents/compare?left={left}&right={right}")
    pairs = [
        tuple(None if pair[side] is None else pair[side]["name"] for side in ("left", "right"))
        for pair in shown["steps"]
        if "model" not in {(pair[side] or {}).get("kind") for side in ("left", "right")}
    ]
    assert pairs == [("write", "write"), ("fail", None), ("write", "write")]


def test_only_agents_are_compared(server: Server) -> None:
    with server.session() as session:
        query = f"left={session.id}&right={session.id}"
        server.get(f"/api/agents/compare?{query}", expect=409)
    server.get("/api/agents/compare?left=a&right=b", expect=404)


# -- lists ----------------------------------------------------------------------------------------


def test_a_list_says_what_earlier_agents_came_to(tmp_path: Path) -> None:
    with own_server(tmp_path) as server:
        session_id = record_loop(server, build_writes(1), prices={"scripted": [1.0, 10.0]})
    with own_server(tmp_path) as server:

        def look() -> Any:
            [found] = server.get("/sessions?kind=agent")["sessions"]
            return found if "counters" in found else None

        found = wait_until(look, "its events to be counted")
        assert (found["session_id"], found["name"], found["model"]) == (
            *(session_id, "tested", "scripted"),
        )
        assert (found["iteration"], found["counters"]["input_tokens"]) == (2, 20)
        assert found["counters"]["cost"] == pytest.approx(0.00012)
        assert found["ended_at"] >= found["created_at"]


def test_many_ask_for_a_conversation_while_it_grows(server: Server) -> None:
    problems: list[BaseException] = []

    def ask(looper: AgentView) -> None:
        try:
            for _ in range(20):
                shown = looper.get("/conversation")
                numbers = [turn["number"] for turn in shown["turns"]]
                assert numbers == list(range(1, len(numbers) + 1))
        except BaseException as problem:
            problems.append(problem)

    with agent_view(server) as looper:
        looper.agent.send("turn 100")
        threads = [threading.Thread(target=ask, args=(looper,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        looper.agent.read_reply()
    assert problems == []
