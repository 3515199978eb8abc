"""Recordings of agents that are over: conversations, messages, states, comparisons, refusals."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from agent_loops import AgentLoop, build_writes, open_bridge
from holdfast.model.agent_events import VALUE_RECORDED
from holdfast.recording.directories import AgentsDirectory, SessionDirectory
from local_server import LocalServer
from replayable_agent import read_events
from two_lane_agent import TwoLaneAgent
from written_agents import A_LOOK, A_LOOK_AT_ALL


@contextmanager
def own_server(folder: Path) -> Iterator[LocalServer]:
    running = LocalServer(folder / "data")
    try:
        yield running
    finally:
        running.stop()


def agents_of(server: LocalServer) -> Path:
    return server.data_dir / "agents"


def find_ended(server: LocalServer, session_id: str) -> Any:
    """The session, which the server finds, and knows that it is over."""
    server.turn(A_LOOK)
    found = server.get(f"/sessions/{session_id}")
    assert found["status"] == "terminated"
    return found


def record_loop(server: LocalServer, asks: list[dict[str, Any]], **options: Any) -> str:
    with open_bridge(agents_of(server), **options) as dbg:
        AgentLoop(dbg, asks)()
    find_ended(server, dbg.id)
    return dbg.id


def get_conversation(server: LocalServer, session_id: str, query: str = "") -> Any:
    return server.get(f"/sessions/{session_id}/conversation?{query}")


# -- conversations ------------------------------------------------------------------------------


def test_a_run_is_shown_as_a_conversation(server: LocalServer) -> None:
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


def test_a_run_is_shown_as_it_was_at_any_of_its_events(server: LocalServer) -> None:
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


def test_numbers_stay_as_they_were_recorded(server: LocalServer) -> None:
    with open_bridge(agents_of(server)) as dbg:
        ask = dbg.model(lambda messages: {"content": [{"type": "text", "text": "ok"}]})
        give = dbg.tool(lambda amount: {"amount": amount, "id": 12345678901234567890}, name="give")
        ask([{"role": "user", "content": "x", "weight": 4.0}])
        give(amount=4.0)
    find_ended(server, dbg.id)
    [turn] = get_conversation(server, dbg.id)["turns"]
    assert turn["messages"][0]["json"] == '{"role": "user", "content": "x", "weight": 4.0}'
    [tool] = turn["tools"]
    assert tool["input_text"] == '{"amount": 4.0}'
    assert tool["result_text"] == '{"amount": 4.0, "id": 12345678901234567890}'
    assert tool["result_format"] == "json"
    found = server.get(f"/sessions/{dbg.id}/messages?iteration=1")
    assert '"weight": 4.0' in found["messages"][0]["json"]


def test_what_a_model_thought_stands_apart(server: LocalServer) -> None:
    content = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "four"}]
    with open_bridge(agents_of(server)) as dbg:
        dbg.model(lambda messages: {"content": content})([{"role": "user", "content": "2+2"}])
    find_ended(server, dbg.id)
    [turn] = get_conversation(server, dbg.id)["turns"]
    assert (turn["answer"]["text"], turn["answer"]["thinking"]) == ("four", "hm")


def test_agents_inside_others_are_nested(server: LocalServer) -> None:
    with open_bridge(agents_of(server)) as dbg:
        TwoLaneAgent(dbg, turns=1)()
    find_ended(server, dbg.id)
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


def test_large_bodies_are_named_and_long_texts_are_cut(server: LocalServer) -> None:
    with open_bridge(agents_of(server)) as dbg:
        ask = dbg.model(lambda messages: {"content": "y" * 50_000})
        read = dbg.tool(lambda: "x" * 200_000, name="read")
        ask([{"role": "user", "content": "z" * 100_000}, {"role": "user", "content": "go"}])
        read()
    find_ended(server, dbg.id)
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


def test_a_long_run_is_shown_in_pages(server: LocalServer) -> None:
    with open_bridge(agents_of(server)) as dbg:
        ask = dbg.model(lambda messages: "ok")
        write = dbg.tool(lambda number: number, name="write")
        for number in range(2000):
            ask([{"role": "user", "content": str(number)}])
            write(number=number)
            dbg.emit(VALUE_RECORDED({"name": "n", "value": number}))
    end = find_ended(server, dbg.id)
    assert end["last_event"] > 10_000
    newest = get_conversation(server, dbg.id)
    assert [turn["number"] for turn in newest["turns"]] == list(range(1801, 2001))
    assert (newest["total_turns"], newest["has_earlier"], newest["has_more"]) == (2000, True, False)
    page = get_conversation(server, dbg.id, "after_turn=100&limit=10")
    assert [turn["number"] for turn in page["turns"]] == list(range(101, 111))
    assert (page["has_earlier"], page["has_more"]) == (True, True)
    assert page["turns"][0]["messages"][0]["text"] == "100"


def write_recording(server: LocalServer, events: list[tuple[str, dict[str, Any]]]) -> str:
    """A session whose events somebody else wrote. It is there at once and as a whole."""
    home = AgentsDirectory(agents_of(server)).home(f"by_hand_{time.time_ns()}")
    written = SessionDirectory(agents_of(server) / home.id)
    written.path.mkdir(parents=True)
    written.events.write_text("")
    append_events(written.events, [("session_start", {"version": 1, "name": "by hand"}), *events])
    written.write_metadata({"id": home.id, "name": "by hand", "argv": [sys.executable, "-c", ""]})
    home.path.parent.mkdir(exist_ok=True)
    written.path.rename(home.path)
    server.turn(A_LOOK)
    assert server.get(f"/sessions/{home.id}")["last_event"] == len(events) + 1
    return home.id


def append_events(path: Path, events: list[tuple[str, dict[str, Any]]]) -> None:
    number = path.read_bytes().count(b"\n")
    with path.open("a") as file:
        for seq, (kind, data) in enumerate(events, number + 1):
            file.write(json.dumps({"seq": seq, "type": kind, "data": data}) + "\n")


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


def test_an_odd_event_does_not_hide_the_others(server: LocalServer) -> None:
    session_id = write_recording(server, ODD_EVENTS)
    for query in ("", "", f"at={len(ODD_EVENTS) + 1}"):
        shown = get_conversation(server, session_id, query)
        assert [turn["iteration"] for turn in shown["turns"]] == [1, 2]
        assert shown["turns"][0]["answer"]["text"] == "said"
        assert [tool["subagents"] for tool in shown["turns"][0]["tools"]] == [[]]


def test_ids_that_are_no_texts_do_no_harm(server: LocalServer) -> None:
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


def test_another_recording_in_its_place_is_read_from_its_beginning(server: LocalServer) -> None:
    events = [build_call(1, {"role": "user", "content": "x" * 5000})]
    session_id = write_recording(server, events)
    assert len(get_conversation(server, session_id)["turns"]) == 1
    home = AgentsDirectory(agents_of(server)).home(session_id)
    new = home.path / "new"
    append = [build_call(number, {"role": "user", "content": "y" * 5000}) for number in range(1, 9)]
    new.write_text("")
    append_events(new, [("session_start", {"version": 1}), *append])
    new.replace(home.events)
    server.turn(A_LOOK_AT_ALL)
    assert server.get(f"/sessions/{session_id}")["last_event"] == 9
    shown = get_conversation(server, session_id)
    assert [turn["messages"][0]["text"][0] for turn in shown["turns"]] == ["y"] * 8


def test_what_an_ended_agent_is_found_to_have_written_is_read_at_once(server: LocalServer) -> None:
    """Not a piece with each check: a recording is found while it is still copied here."""
    session_id = write_recording(server, [])
    assert server.get(f"/sessions/{session_id}")["status"] == "terminated"
    events = [build_tool(str(number), input="y" * 100_000) for number in range(200)]
    append_events(AgentsDirectory(agents_of(server)).home(session_id).events, events)
    server.turn(A_LOOK_AT_ALL)
    assert server.get(f"/sessions/{session_id}")["last_event"] == 201


def test_one_large_turn_does_not_make_a_large_answer(server: LocalServer) -> None:
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


def test_variables_do_not_make_a_large_answer(server: LocalServer) -> None:
    events = [
        ("variable_set", {"key": str(number), "value": "v" * 20_000}) for number in range(200)
    ]
    session_id = write_recording(server, events)
    assert len(server.http.get(f"/sessions/{session_id}/conversation").content) < 2_000_000


# -- messages and state ---------------------------------------------------------------------------


def test_all_messages_of_a_step_are_given(server: LocalServer) -> None:
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


def test_many_messages_are_given_in_pages(server: LocalServer) -> None:
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


def test_the_system_prompt_is_given_wherever_it_is(server: LocalServer) -> None:
    with open_bridge(agents_of(server)) as dbg:
        ask = dbg.model(lambda messages, system="": "ok")
        ask([{"role": "system", "content": "be brief"}, {"role": "user", "content": "x"}])
        ask([{"role": "user", "content": "x"}], system="be kind")
    find_ended(server, dbg.id)
    path = f"/sessions/{dbg.id}/messages"
    first, second = (server.get(f"{path}?iteration={number}") for number in (1, 2))
    assert first["system"] == {"text": "be brief", "place": "messages"}
    assert second["system"] == {"text": "be kind", "place": "settings"}


def test_the_state_of_an_agent_that_is_over_is_known(server: LocalServer) -> None:
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


def fork(server: LocalServer, session_id: str, expect: int | None = None, **body: Any) -> Any:
    return server.post(f"/sessions/{session_id}/fork", body, expect=expect)


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
def test_a_fork_that_cannot_be_is_refused(server: LocalServer, body: Any, field: str) -> None:
    parent = record_loop(server, build_writes(2))
    error = fork(server, parent, expect=400, **body)["error"]
    assert field in error["hint"]


# -- comparing ------------------------------------------------------------------------------------


def test_two_runs_are_shown_side_by_side(server: LocalServer) -> None:
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


def test_steps_that_only_one_run_has_do_not_shift_the_others(server: LocalServer) -> None:
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


def test_only_agents_are_compared(server: LocalServer) -> None:
    with server.session() as session:
        query = f"left={session.id}&right={session.id}"
        server.get(f"/api/agents/compare?{query}", expect=409)
    server.get("/api/agents/compare?left=a&right=b", expect=404)


# -- lists ----------------------------------------------------------------------------------------


def test_a_list_says_what_earlier_agents_came_to(tmp_path: Path) -> None:
    with own_server(tmp_path) as server:
        session_id = record_loop(server, build_writes(1), prices={"scripted": [1.0, 10.0]})
    with own_server(tmp_path) as server:
        server.settle()
        [found] = server.get("/sessions?kind=agent")["sessions"]
        assert (found["session_id"], found["name"], found["model"]) == (
            *(session_id, "tested", "scripted"),
        )
        assert (found["iteration"], found["counters"]["input_tokens"]) == (2, 20)
        assert found["counters"]["cost"] == pytest.approx(0.00012)
        assert found["ended_at"] >= found["created_at"]
