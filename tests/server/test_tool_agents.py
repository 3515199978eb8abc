"""`agent_control`: one agent looks at another one's loop, holds it, and steers it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from agent_process import AgentView, agent_view
from background import run_in_thread
from harness import Server
from tool_caller import ToolCaller


@pytest.fixture(scope="module")
def own_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Without the agents of other tests."""
    running = Server(tmp_path_factory.mktemp("agents") / "data")
    yield running
    running.stop()


@pytest.fixture
def looper(own_server: Server) -> Iterator[AgentView]:
    with agent_view(own_server) as view:
        yield view


@pytest.fixture
def tools(own_server: Server) -> ToolCaller:
    return ToolCaller(own_server, "watcher")


def test_an_agent_holds_the_tool_of_another_edits_its_input_and_sees_the_result(
    tools: ToolCaller, looper: AgentView
) -> None:
    status = tools.call("agent_control")
    assert (status["name"], status["status"]) == ("looper", "running")

    made = tools.call("agent_control", command="break", breakpoint="tool:dou*")
    assert made["breakpoints"] == ["bp-1 tool dou*"]
    assert "hold_list(wait=30)" in made["next"]

    waiting = run_in_thread(lambda: tools.call("hold_list", wait=50))
    looper.agent.send("turn 1")
    listed = waiting.result(60)
    [hold] = listed["holds"]
    assert (hold["kind"], hold["moment"], hold["what"]) == ("agent", "tool", "double")
    assert (hold["owner"], hold["turn"]) == ("looper", "iteration 1")
    assert hold["arguments"] == {"number": "1"}
    assert hold["reason"] == "breakpoint bp-1 tool dou*"
    assert set(hold["allows"]) == {"continue", "modify", "skip", "raise", "cancel", "step"}
    assert listed["takes"]["modify"] == "args"

    wrong = tools.fail("hold_decide", hold_id=hold["hold_id"], action="modify", args={"numbr": 21})
    assert "args: double has no parameter 'numbr' (did you mean 'number'?)" in wrong["message"]

    done = tools.call("hold_decide", hold_id=hold["hold_id"], action="modify", args={"number": 21})
    assert (done["changed"], done["result"]) == ({"number": "21"}, "42")
    assert looper.agent.read_reply() == "it is 42"

    recent = tools.call("agent_control")["recent"]
    assert recent[-3:] == ["modify by watcher", 'double {"number": 21} (tool-1)', "double → 42"]


@pytest.mark.parametrize(
    ("decision", "outcome", "said"),
    [
        ({"action": "continue"}, {"result": "2"}, "it is 2"),
        ({"action": "skip", "value": "seven"}, {"result": '"seven"'}, "it is seven"),
        ({"action": "skip", "literal": "None"}, {"result": "null"}, "it is None"),
        (
            {"action": "raise", "exception": "KeyError", "message": "k"},
            {"exception": "KeyError: 'k'"},
            "KeyError 'k'",
        ),
        ({"action": "cancel"}, {}, "ToolCancelled"),
    ],
)
def test_every_decision_about_a_tool_says_what_came_of_it(
    tools: ToolCaller, looper: AgentView, decision: Any, outcome: Any, said: str
) -> None:
    tools.call("agent_control", command="break", breakpoint="tool:double")
    looper.agent.send("turn 1")
    hold = tools.wait_for_hold(looper.agent.id)["hold_id"]
    answer = tools.call("hold_decide", hold_id=hold, **decision)
    assert outcome.items() <= answer.items()
    assert looper.agent.read_reply().startswith(said)


def test_a_decision_shows_what_is_held_next(tools: ToolCaller, looper: AgentView) -> None:
    tools.call("agent_control", command="break", breakpoint="tool:double")
    looper.agent.send("turn 2")
    hold = tools.wait_for_hold(looper.agent.id)["hold_id"]
    answer = tools.call("hold_decide", hold_id=hold, action="continue", timeout=50)
    assert answer["result"] == "2"
    following = tools.wait_for_hold(looper.agent.id)
    assert (following["turn"], following["arguments"]) == ("iteration 2", {"number": "2"})
    text = tools.read("hold_decide", hold_id=following["hold_id"], action="skip", value=9)
    assert "skip double" in text
    assert "returned 9" in text
    assert looper.agent.read_reply() == "it is 9"


def test_a_model_call_is_paused_told_something_and_stepped(
    tools: ToolCaller, looper: AgentView
) -> None:
    pending = tools.call("agent_control", command="pause", timeout=0)
    assert "before its next model call" in pending["message"]
    looper.agent.send("turn 2")
    hold = tools.wait_for_hold(looper.agent.id)
    assert (hold["moment"], hold["messages"]) == ("model", ["user: double it"])
    assert "inject" in hold["allows"]
    said = tools.call("agent_control", command="inject", message="Be quick.", role="system")
    assert said["message"] == "inject: applied."
    inspected = tools.call("agent_control", command="inspect")
    assert inspected["messages"][-1] == "1 system: Be quick."
    stepped = tools.call("agent_control", command="step", timeout=50)
    assert (stepped["status"], stepped["held"][0]["turn"]) == ("paused", "iteration 2")
    assert "double → 2" in stepped["recent"]
    answer = tools.call(
        "hold_decide",
        hold_id=stepped["held"][0]["hold_id"],
        action="modify",
        args={"messages": [{"role": "user", "content": "another one"}]},
    )
    assert answer["result"] == "use double"
    assert looper.agent.read_reply() == "it is 4"


def test_its_state_is_inspected_and_changed(tools: ToolCaller, looper: AgentView) -> None:
    looper.agent.ask("turn 2")
    shown = tools.call("agent_control", command="inspect")
    assert shown["variables"] == {"step": "1"}
    assert shown["tools"] == ["double", "big", "fail"]
    assert shown["message_count"] == 3
    assert shown["messages"][-1] == "2 assistant: it is 4"
    part = tools.call("agent_control", command="inspect", what="messages", start=1)
    assert part["messages"] == ["1 assistant: it is 2", "2 assistant: it is 4"]
    assert "variables" not in part
    tools.call("agent_control", command="set", key="step", value=[7])
    looper.agent.ask("turn 1")
    assert looper.agent.ask("state").startswith("{'step': [7]}")


def test_breakpoints_are_listed_and_cleared(tools: ToolCaller, looper: AgentView) -> None:
    for point in ("iteration:5", "pattern:rm -rf", "model", "condition:tokens > 9"):
        tools.call("agent_control", command="break", breakpoint=point)
    calls = tools.call(
        "agent_control", command="break", breakpoint="call:Cart.*", condition="args[0] > 3"
    )
    [call_point] = calls["breakpoints"]
    listed = tools.call("agent_control", command="breakpoints")["breakpoints"]
    assert listed == [
        "bp-1 iteration 5",
        "bp-2 pattern rm -rf",
        "bp-3 model",
        "bp-4 condition tokens > 9",
        call_point,
    ]
    assert call_point.endswith("before call Cart.* if args[0] > 3")
    left = tools.call("agent_control", command="unbreak", breakpoint="bp-2")["breakpoints"]
    assert "bp-2 pattern rm -rf" not in left
    tools.call("agent_control", command="unbreak", breakpoint=call_point.split()[0])
    assert tools.call("agent_control", command="unbreak", breakpoint="all")["breakpoints"] == []
    assert tools.call("agent_control", command="breakpoints")["breakpoints"] == []


def test_what_the_agent_refuses_is_said_in_its_words(tools: ToolCaller, looper: AgentView) -> None:
    error = tools.fail("agent_control", command="break", breakpoint="pattern:(a+)+")
    assert "repeats what is repeated" in error["message"]
    error = tools.fail("agent_control", command="cancel", tool_id="tool-9")
    assert "no tool call 'tool-9' is under way" in error["message"]
    error = tools.fail("agent_control", expect=409, command="resume")
    assert "nothing is held" in error["message"]


def test_several_lanes_are_told_apart(tools: ToolCaller, looper: AgentView) -> None:
    tools.call("agent_control", command="break", breakpoint="model", lane="b")
    looper.agent.send("pair 1")
    hold = tools.wait_for_hold(looper.agent.id)
    assert hold["turn"] == "iteration 1 of b"
    shown = tools.call("agent_control")
    assert "b: held, iteration 0, called by main" in shown["lanes"]
    answer = tools.call("hold_decide", hold_id=hold["hold_id"], action="continue")
    assert answer["result"] == "use double"


def test_large_results_and_many_events_keep_the_budget(
    tools: ToolCaller, looper: AgentView
) -> None:
    tools.call("agent_control", command="break", breakpoint="tool:big")
    looper.agent.send("big")
    hold = tools.wait_for_hold(looper.agent.id)["hold_id"]
    done = tools.call("hold_decide", hold_id=hold, action="continue", timeout=50)
    assert "characters" in done["result"]
    looper.agent.read_reply()
    assert "big → " in tools.call("agent_control")["recent"][-1]
    assert "$cid" not in tools.call("agent_control")["recent"][-1]
    looper.agent.ask("turn 20")
    for budget in (100, 150, 250, 500, 1000):
        assert tools.call("agent_control", budget_tokens=budget)["status"] == "running"
        inspected = tools.call("agent_control", command="inspect", budget_tokens=budget)
        assert inspected["message_count"] == 21
        tools.call("agent_control", command="inspect", what="messages", budget_tokens=budget)


def test_a_message_too_large_for_the_log_is_still_shown(
    tools: ToolCaller, looper: AgentView
) -> None:
    tools.call("agent_control", command="pause", timeout=0)
    tools.call("agent_control", command="inject", message="long " * 30_000)
    looper.agent.send("turn 1")
    hold = tools.wait_for_hold(looper.agent.id)
    assert [message[:10] for message in hold["messages"]] == ["user: doub", "user: long"]
    tools.call("hold_list", hold_id=hold["hold_id"], budget_tokens=20_000)
    tools.call("hold_decide", hold_id=hold["hold_id"], action="continue")
    assert looper.agent.read_reply() == "it is 2"
