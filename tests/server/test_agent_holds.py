"""What agents hold, decided over HTTP: every action, once, and the first one wins."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from agent_process import AgentView, agent_view
from fork_server import run_holdfast
from harness import Server
from holdfast.recording import command_sender
from polling import wait_until


@pytest.fixture
def looper(server: Server) -> Iterator[AgentView]:
    with agent_view(server) as found:
        yield found


@pytest.fixture
def held(looper: AgentView) -> Any:
    """Held before `double(1)`."""
    looper.break_on("double")
    looper.agent.send("turn 1")
    return looper.wait_for_hold()


def test_a_hold_says_what_is_held(looper: AgentView, held: Any) -> None:
    [listed] = [h for h in looper.server.get("/api/holds")["holds"] if h["kind"] == "agent"]
    assert listed["hold_id"] == held["hold_id"]
    assert (held["session_id"], held["open"]) == (looper.agent.id, True)
    assert (held["at"], held["name"], held["input"]) == ("tool", "double", {"number": 1})
    assert (held["reason"], held["iteration"]) == ("breakpoint", 1)
    assert held["breakpoint"]["name"] == "double"
    assert set(held["allows"]) == {"continue", "modify", "skip", "raise", "cancel", "step"}
    looper.decide(held, "continue")


@pytest.mark.parametrize(
    ("action", "options", "said"),
    [
        ("continue", {}, "it is 2"),
        ("modify", {"input": {"number": 21}}, "it is 42"),
        ("modify", {"modified_input": {"number": 4}}, "it is 8"),
        ("modify", {"input_text": '{"number": 4.0}'}, "it is 8.0"),
        ("skip", {"fake_result": {"text": "4.0"}}, "it is 4.0"),
        ("skip", {"fake_result": {"text": "null"}}, "it is None"),
        ("skip", {"result": "seven"}, "it is seven"),
        ("skip", {"fake_result": {"value": [1]}}, "it is [1]"),
        ("skip", {"fake_result": {"literal": "None"}}, "it is None"),
        ("raise", {"exception_type": "KeyError", "exception_message": "k"}, "KeyError 'k'"),
        ("step", {}, "it is 2"),
    ],
)
def test_a_decision_does_what_it_says(
    looper: AgentView, held: Any, action: str, options: dict[str, Any], said: str
) -> None:
    answer = looper.decide(held, action, by="ann", **options)
    assert (answer["hold_id"], answer["action"]) == (held["hold_id"], action)
    assert answer["stop"] == held["stop"]
    assert looper.agent.read_reply() == said
    assert looper.server.get(f"/api/holds/{held['hold_id']}")["by"] == "ann"


def test_a_hold_has_a_title_and_its_input_as_text(looper: AgentView, held: Any) -> None:
    assert held["input_text"] == '{"number": 1}'
    assert held["title"] == 'tool double({"number": 1})'
    assert held["session_name"] == looper.get()["name"]
    listed = {hold["hold_id"]: hold for hold in looper.server.get("/api/holds")["holds"]}
    assert listed[held["hold_id"]]["title"] == held["title"]
    assert listed[held["hold_id"]]["session_name"] == held["session_name"]
    looper.command("breakpoint", action="add", on="model")
    looper.decide(held, "modify", input_text='{"number": 2}')
    assert looper.agent.read_reply() == "it is 4"
    looper.agent.send("turn 1")
    at_model = looper.wait_for_hold()
    assert (at_model["at"], at_model["title"]) == ("model", "model call 2")
    looper.decide(at_model, "continue")
    looper.decide(looper.wait_for_hold(), "continue")


def test_a_cancelled_tool_raises_in_the_loop(looper: AgentView, held: Any) -> None:
    looper.decide(held, "cancel")
    assert looper.agent.read_reply().startswith("ToolCancelled")


def test_a_message_is_injected_where_a_model_is_held(looper: AgentView) -> None:
    looper.command("breakpoint", action="add", on="model")
    looper.agent.send("turn 1")
    hold = looper.wait_for_hold()
    assert (hold["at"], "inject" in hold["allows"]) == ("model", True)
    looper.decide(hold, "inject", role="user", content="hurry")
    assert looper.agent.read_reply() == "it is 2"
    assert looper.wait_for_event("message_injected")["data"]["content"] == "hurry"


def test_the_second_decision_is_told_who_made_the_first(looper: AgentView, held: Any) -> None:
    looper.decide(held, "continue", by="ann")
    error = looper.decide(held, "skip", expect=409, result=1, by="bob")
    assert error["error_code"] == "already_decided"
    assert error["error"]["details"]["decided_by"] == "ann"


def test_of_many_at_once_exactly_one_is_first(looper: AgentView, held: Any) -> None:
    def decide(number: int) -> int:
        body = {"action": "skip", "result": number, "by": f"client {number}"}
        path = f"{looper.server.url}/api/holds/{held['hold_id']}/decision"
        return looper.server.http.post(path, json=body).status_code

    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(decide, range(8)))
    assert sorted(statuses) == [200] + [409] * 7
    assert looper.agent.read_reply() == f"it is {statuses.index(200)}"
    resumed = looper.get("/events?types=resumed")["events"]
    assert [each["data"]["result"] for each in resumed] == [statuses.index(200)]


def test_a_decision_by_file_settles_the_hold_too(looper: AgentView, held: Any) -> None:
    command_sender.send_command(looper.agent.home, "resume", {"stop": held["stop"], "by": "echo"})
    looper.wait_for_event("resumed")
    error = looper.decide(held, "continue", expect=409)["error"]
    assert error["details"]["decided_by"] == "echo"
    assert looper.agent.read_reply() == "it is 2"


def test_an_agent_that_does_not_answer_stays_held(looper: AgentView, held: Any) -> None:
    with looper.agent.frozen():
        error = looper.decide(held, "continue", expect=504, timeout=0.3)
        assert error["error_code"] == "agent_timeout"
        assert "stays held" in error["error"]["hint"]
        assert looper.server.get(f"/api/holds/{held['hold_id']}")["open"]
    assert looper.agent.read_reply() == "it is 2"


def test_the_command_line_decides_it_like_any_other(looper: AgentView, held: Any) -> None:
    words = ["holds", "decide", held["hold_id"], "modify", "--input", '{"number": 8}']
    for line in (["holds"], words):
        said = run_holdfast(*line, "--url", looper.server.url)
        assert said.returncode == 0, said.stderr
    assert looper.agent.read_reply() == "it is 16"


def test_everything_that_is_held_is_continued_at_once(server: Server) -> None:
    with agent_view(server) as one, agent_view(server) as other:
        holds = []
        for looper in (one, other):
            looper.break_on("double")
            looper.agent.send("turn 1")
            holds.append(looper.wait_for_hold()["hold_id"])
        body = {"session_id": one.agent.id}
        assert server.post("/api/holds/continue", body)["continued"] == holds[:1]
        assert holds[1] in server.post("/api/holds/continue")["continued"]
        assert one.agent.read_reply() == other.agent.read_reply() == "it is 2"


# -- as programs are steered ----------------------------------------------------------------------


def test_a_pause_takes_effect_before_the_next_model_call(looper: AgentView) -> None:
    shown = looper.post("/pause", {"wait": 0})
    assert (shown["status"], shown["pause_pending"]) == ("running", True)
    looper.agent.send("turn 3")
    assert looper.get("/status?wait=60")["held"][0]["at"] == "model"
    assert looper.post("/pause")["status"] == "paused"
    stepped = looper.post("/step-over", {"wait": 60})
    assert (stepped["status"], stepped["reason"], stepped["iteration"]) == ("paused", "step", 2)
    looper.post("/continue")
    assert looper.agent.read_reply() == "it is 6"


def test_continue_waits_for_the_next_stop_when_asked(looper: AgentView) -> None:
    looper.break_on("double")
    looper.agent.send("turn 2")
    first = looper.wait_for_hold()
    shown = looper.post("/continue", {"wait": 60})
    assert shown["status"] == "paused"
    assert shown["hold_id"] != first["hold_id"]
    looper.post("/continue")
    assert looper.agent.read_reply() == "it is 4"


# -- lanes ----------------------------------------------------------------------------------------


def wait_for_lanes(looper: AgentView, **wanted: int) -> Any:
    """The status, once just these lanes are held, at these iterations."""

    def look() -> Any:
        shown = looper.get("/status")
        held = {stop["lane"]: stop["iteration"] for stop in shown.get("held", [])}
        return shown if held == wanted else None

    return wait_until(look, f"lanes to be held: {wanted}")


def test_lanes_are_shown_paused_and_stepped_one_by_one_or_together(looper: AgentView) -> None:
    looper.post("/pause", {"wait": 0})
    looper.agent.send("pair 4")
    shown = wait_for_lanes(looper, a=1, b=1)
    lanes = {lane["lane"]: lane for lane in shown["lanes"]}
    assert lanes["a"]["status"] == lanes["b"]["status"] == "held"
    assert (lanes["main"]["status"], lanes["main"]["iteration"]) == ("running", 0)

    assert looper.post("/step-over", {"lane": "b", "wait": 60})["status"] == "paused"
    wait_for_lanes(looper, a=1, b=2)
    looper.post("/step-over", {"wait": 0})
    wait_for_lanes(looper, a=2, b=3)
    state = looper.get("/state?what=messages&lane=a")["state"]
    assert (state["lane"], state["iteration"], state["messages"]["count"]) == ("a", 2, 2)

    looper.post("/continue", {"lane": "a"})
    wait_for_lanes(looper, b=3)
    injected = {"type": "inject_message", "data": {"role": "user", "content": "x"}, "lane": "b"}
    assert looper.post("/command", injected)["status"] == "applied"
    assert looper.get("/state?what=messages")["state"]["messages"]["count"] == 4
    for path, body in (("/pause", {"lane": "c"}), ("/command", {"type": "step", "lane": "c"})):
        error = looper.post(path, body, expect=400)["error"]
        assert "there are main, a, b" in error["message"]
    assert (
        "nothing is held in lane a"
        in looper.post("/continue", {"lane": "a"}, expect=409)["error"]["message"]
    )
    looper.post("/continue")
    looper.agent.read_reply()
    looper.agent.ask("close")
    looper.wait_for_event("session_end")
    assert [lane["iteration"] for lane in looper.get()["lanes"]] == [0, 4, 4]


def test_a_decision_changes_the_messages_and_the_system_prompt(looper: AgentView) -> None:
    looper.post("/pause", {"wait": 0})
    looper.agent.send("turn 1")
    hold = looper.wait_for_hold()
    messages = [{"role": "user", "content": "triple it"}]
    looper.decide(hold, "modify", messages=messages, system="be brief")
    looper.agent.read_reply()
    request = looper.wait_for_event("api_request")["data"]
    assert request["messages"] == [{"role": "system", "content": "be brief"}, *messages]
    assert looper.agent.ask("state") == "{'step': 1} 3"


# -- commands -------------------------------------------------------------------------------------


def test_a_command_is_answered_with_what_became_of_it(looper: AgentView) -> None:
    made = looper.command("breakpoint", action="add", on="tool", name="dou*")
    assert (made["status"], made["type"]) == ("applied", "breakpoint")
    point = made["response"]["data"]["id"]
    listed = looper.command("breakpoint", action="list")["response"]["data"]["breakpoints"]
    assert [each["id"] for each in listed] == [point]
    assert looper.command("breakpoint", action="clear", id=point)["response"]["success"]
    assert looper.command("set_variable", key="step", value=7)["status"] == "accepted"
    assert looper.command("inject_message", role="user", content="hello")["status"] == "accepted"
    assert looper.agent.ask("turn 1") == "it is 2"
    assert looper.agent.ask("state") == "{'step': 7} 3"
    assert looper.command("resume")["note"] == "nothing is held"


def test_an_input_that_does_not_fit_leaves_the_hold_open(looper: AgentView, held: Any) -> None:
    error = looper.decide(held, "modify", expect=400, input={"numbr": 3})
    assert "double has no parameter 'numbr' (did you mean 'number'?)" in error["error"]["message"]
    assert looper.server.get(f"/api/holds/{held['hold_id']}")["open"] is True
    looper.decide(held, "modify", input={"number": 3})
    assert looper.agent.read_reply() == "it is 6"


def test_the_rules_of_its_project_are_shown_and_the_one_that_holds(
    server: Server, tmp_path: Path
) -> None:
    rule = {"id": "rule-1", "action": "hold", "tool": "double", "timeout": 600.0}
    rule |= {"onTimeout": "deny", "source": f"{tmp_path / 'holdfast.toml'}:1"}
    (tmp_path / "holdfast.toml").write_text(
        '[[agent.rule]]\ntool = "double"\naction = "hold"\ntimeout = 600\n'
    )
    with agent_view(server, cwd=tmp_path) as looper:
        looper.agent.send("turn 1")
        held = looper.wait_for_hold()
        assert (held["reason"], held["rule"]) == ("rule", {**rule, "hits": 1})
        shown = looper.get()
        assert (shown["rules"], shown["held"][0]["rule"]) == ([{**rule, "hits": 0}], held["rule"])
        listed = looper.command("breakpoint", action="list")["response"]["data"]
        assert listed == {"breakpoints": [], "rules": [held["rule"]]}
        refused = looper.command("breakpoint", expect=400, action="clear", id="rule-1")
        assert "is a rule of" in refused["error"]["message"]
        looper.decide(held, "continue")
        assert looper.agent.read_reply() == "it is 2"


def test_the_state_is_what_the_agent_says_of_itself(looper: AgentView) -> None:
    shown = looper.get("/state?live=true")
    assert (shown["status"], shown["source"]) == ("running", "agent")
    assert shown["state"]["messages"]["roles"] == {"user": 1}
    assert shown["state"]["variables"] == {"step": 1}
    assert "tools" not in looper.get("/state?what=messages&live=true")["state"]
    page = looper.get("/state?what=messages&first=0&count=1&live=true")["state"]["messages"]
    assert page["items"] == [{"role": "user", "content": "double it"}]
    error = looper.get("/state?what=everything&live=true", expect=400)
    assert error["error_code"] == "command_rejected"
    error = looper.get("/state?what=everything", expect=400)
    assert error["error"]["details"]["field"] == "what"


def test_a_command_that_is_none_is_refused(looper: AgentView) -> None:
    error = looper.command("dance", expect=400)["error"]
    assert "pause" in error["hint"]
    error = looper.command("breakpoint", expect=400, action="add", on="pattern", regex="(")
    assert error["error_code"] == "command_rejected"
    assert "regular expression" in error["error"]["message"]
    error = looper.command("resume", expect=409, stop="stop-99")
    assert error["error_code"] == "already_decided"
    looper.post("/command", {"data": {}}, expect=400)
    looper.post("/command", {"type": "pause", "data": []}, expect=400)
