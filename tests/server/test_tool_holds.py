"""`hold_list` and `hold_decide`: what is held, which actions it takes, and what came of one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from application import Application
from background import run_in_thread
from harness import Program, Server
from holdfast import with_debug
from tool_caller import ToolCaller

LOOP = Program("loop.py")
GATE = Program("gate.py")


class Shop:
    def price(self, item: str, count: int = 1) -> int:
        return {"tea": 3, "cake": 6}[item] * count


def gift(item: str, count: int = 1) -> int:
    return 0


@pytest.fixture(scope="module")
def own_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Nothing else is held there."""
    running = Server(tmp_path_factory.mktemp("holds") / "data")
    yield running
    running.stop()


@pytest.fixture
def tools(own_server: Server) -> ToolCaller:
    return ToolCaller(own_server)


@pytest.fixture
def shop(own_server: Server, tools: ToolCaller) -> Iterator[Any]:
    """Its calls of `price` are held."""
    application = Application(own_server).start()
    shop = with_debug(Shop())
    with_debug(gift)
    tools.call("agent_control", command="break", breakpoint="call:price")
    yield shop
    own_server.post("/api/holds/continue", {})
    application.stop()


def test_nothing_held_says_how_to_hold_something(tools: ToolCaller) -> None:
    answer = tools.call("hold_list")
    assert (answer["total"], answer["holds"]) == (0, [])
    assert "agent_control" in answer["message"]
    assert tools.read("hold_list", wait=0.05).startswith("nothing is held\nWaited 0.05 s.")


def test_a_held_call_says_all_that_a_decision_needs(tools: ToolCaller, shop: Any) -> None:
    running = run_in_thread(lambda: shop.price("tea"))
    answer = tools.call("hold_list", wait=50)
    [hold] = answer["holds"]
    assert (hold["kind"], hold["moment"], hold["what"]) == ("calls", "before", "Shop.price")
    assert hold["arguments"] == {"item": "'tea'", "count": "1 (default)"}
    assert hold["allows"] == ["continue", "skip", "raise", "modify", "replace"]
    assert hold["replacements"] == ["gift"]
    assert "test_tool_holds.py:" in hold["at"]
    assert answer["takes"] == {
        "skip": "value or literal",
        "raise": "exception, message",
        "modify": "args or literals",
        "replace": "function",
    }
    text = tools.read("hold_list", hold_id=hold["hold_id"])
    for fact in (hold["hold_id"], hold["session_id"], hold["call_id"], "item = 'tea'", "gift"):
        assert fact in text
    assert "called from <lambda>" in text
    assert "signature (item" in text
    tools.call("hold_decide", hold_id=hold["hold_id"], action="continue")
    assert running.result(60) == 3


@pytest.mark.parametrize(
    ("decision", "outcome", "returned"),
    [
        ({"action": "continue"}, {"result": "3"}, 3),
        ({"action": "skip", "value": None}, {"result": "None"}, None),
        ({"action": "skip", "value": [1, 2]}, {"result": "[1, 2]"}, [1, 2]),
        ({"action": "skip", "literal": "(1, {2})"}, {"result": "(1, {2})"}, (1, {2})),
        (
            {"action": "modify", "args": {"item": "cake"}},
            {"result": "6", "changed": {"item": "'tea' → 'cake'"}},
            6,
        ),
        (
            {"action": "modify", "literals": {"count": "2.0"}},
            {"result": "6.0", "changed": {"count": "1 → 2.0"}},
            6.0,
        ),
        ({"action": "modify", "args": {"args[0]": "cake"}}, {"result": "6"}, 6),
        ({"action": "replace", "function": "gift"}, {"result": "0"}, 0),
    ],
)
def test_a_decision_about_a_call_says_what_came_of_it(
    tools: ToolCaller, shop: Any, decision: Any, outcome: Any, returned: Any
) -> None:
    running = run_in_thread(lambda: shop.price("tea", 1))
    hold = tools.wait_for_hold()
    answer = tools.call("hold_decide", hold_id=hold["hold_id"], **decision)
    assert (answer["action"], answer["status"]) == (decision["action"], "running")
    assert outcome.items() <= answer.items()
    assert answer["call_id"] == hold["call_id"]
    assert running.result(60) == returned


def test_an_exception_is_raised_and_reported(tools: ToolCaller, shop: Any) -> None:
    running = run_in_thread(lambda: shop.price("tea"))
    hold = tools.wait_for_hold()["hold_id"]
    answer = tools.call(
        "hold_decide", hold_id=hold, action="raise", exception="OSError", message="no shop"
    )
    assert answer["exception"] == "OSError: no shop"
    with pytest.raises(OSError, match="no shop"):
        running.result(60)


@pytest.mark.parametrize(
    ("decision", "field", "said"),
    [
        ({"action": "skip"}, "value", "`literal`"),
        ({"action": "skip", "value": 1, "literal": "1"}, "value", "`literal`"),
        ({"action": "skip", "literal": "f()"}, "value", "value or literal"),
        ({"action": "continue", "value": 1}, "value", "Here value is for skip"),
        ({"action": "raise", "message": "x"}, "exception", "raise takes exception"),
        ({"action": "modify"}, "args", "modify takes args"),
        ({"action": "modify", "args": {"itm": "x"}}, "args.itm", "item, count"),
        ({"action": "replace", "function": "nothing"}, "function", "gift"),
        ({"action": "dance"}, "action", "skip, raise"),
    ],
)
def test_a_wrong_decision_is_told_what_is_valid(
    tools: ToolCaller, shop: Any, decision: Any, field: str, said: str
) -> None:
    running = run_in_thread(lambda: shop.price("tea"))
    hold = tools.wait_for_hold()["hold_id"]
    error = tools.fail("hold_decide", hold_id=hold, **decision)
    assert error["details"]["field"] == field
    assert said in f"{error['message']} {error['hint']} {error['details']}"
    tools.call("hold_decide", hold_id=hold, action="continue")
    assert running.result(60) == 3


def test_an_action_of_another_kind_is_told_what_is_possible(tools: ToolCaller, shop: Any) -> None:
    running = run_in_thread(lambda: shop.price("tea"))
    hold = tools.wait_for_hold()["hold_id"]
    error = tools.fail("hold_decide", expect=409, hold_id=hold, action="inject", message="x")
    assert error["details"]["possible"] == ["continue", "skip", "raise", "modify", "replace"]
    tools.call("hold_decide", hold_id=hold, action="continue")
    assert running.result(60) == 3
    error = tools.fail("hold_decide", expect=409, hold_id=hold, action="continue")
    assert "already decided: continue, by tester" in error["message"]
    shown = tools.call("hold_list", hold_id=hold)
    assert (shown["total"], shown["holds"][0]["outcome"]) == (0, "continue by tester")


def test_a_call_that_takes_longer_is_found_later(tools: ToolCaller, shop: Any) -> None:
    """It makes another call, which is held in turn."""
    application = with_debug(Nested(shop))
    tools.call("agent_control", command="break", breakpoint="call:Nested.double")
    running = run_in_thread(lambda: application.double("tea"))
    outer = tools.wait_for_hold()
    answer = tools.call("hold_decide", hold_id=outer["hold_id"], action="continue", timeout=50)
    assert (answer["status"], answer["held"][0]["what"]) == ("paused", "Shop.price")
    assert "has not returned yet" in answer["message"]
    inner = answer["held"][0]["hold_id"]
    tools.call("hold_decide", hold_id=inner, action="skip", value=5)
    assert running.result(60) == 10
    assert tools.call("calls_search", call_id=outer["call_id"])["calls"][0]["result"] == "10"


class Nested:
    def __init__(self, shop: Any) -> None:
        self.shop = shop

    def double(self, item: str) -> int:
        return 2 * int(self.shop.price(item))

    def __reduce__(self) -> tuple[Any, ...]:
        return Nested, (None,)


def test_what_a_call_returned_can_be_changed_after_it(
    own_server: Server, tools: ToolCaller, shop: Any
) -> None:
    own_server.delete("/api/breakpoints")
    own_server.post("/api/breakpoints", {"function": "price", "when": "after"})
    running = run_in_thread(lambda: shop.price("cake"))
    hold = tools.wait_for_hold()
    assert (hold["moment"], hold["result"]) == ("after", "6")
    assert hold["allows"] == ["continue", "skip", "raise"]
    answer = tools.call("hold_decide", hold_id=hold["hold_id"], action="skip", value=7)
    assert answer["result"] == "7"
    assert running.result(60) == 7
    shown = tools.call("calls_search", call_id=hold["call_id"])
    assert (shown["calls"][0]["result"], shown["delivered"]) == ("6", "7")


def test_a_large_argument_keeps_the_budget(tools: ToolCaller, shop: Any) -> None:
    large = "x" * 50_000
    running = run_in_thread(lambda: shop.price(large, 10**60))
    hold = tools.wait_for_hold()["hold_id"]
    for budget in (100, 150, 200, 300, 500, 1000):
        answer = tools.call("hold_list", hold_id=hold, budget_tokens=budget)
        assert answer["holds"][0]["allows"][0] == "continue"
    assert tools.call("hold_list", budget_tokens=100)["holds"][0]["hold_id"] == hold
    tools.call("hold_decide", hold_id=hold, action="skip", value=large, budget_tokens=100)
    assert running.result(60) == large


def test_many_holds_are_counted_where_they_do_not_fit(tools: ToolCaller, shop: Any) -> None:
    running = [run_in_thread(lambda: shop.price("tea", 2)) for _ in range(12)]
    while tools.call("hold_list", wait=5)["total"] < 12:
        pass
    answer = tools.call("hold_list", budget_tokens=400)
    shown = len(answer["holds"])
    assert answer["total"] == 12
    assert 3 <= shown < 12
    assert answer["omitted"] == [f"{12 - shown} holds: raise budget_tokens"]
    for hold in tools.call("hold_list", budget_tokens=3000)["holds"]:
        tools.call("hold_decide", hold_id=hold["hold_id"], action="skip", value=1)
    assert [each.result(60) for each in running] == [1] * 12


def test_a_program_is_stepped_through_its_hold(own_server: Server, tools: ToolCaller) -> None:
    with own_server.session(name="adder") as session:
        session.break_at(LOOP, "add")
        session.launch(LOOP)
        hold = tools.wait_for_hold(session.id)
        assert (hold["kind"], hold["owner"], hold["what"]) == ("program", "adder", "add")
        assert hold["at"] == f"{LOOP.path}:{LOOP.line('add')}"
        assert hold["allows"] == ["continue", "step-over", "step-into", "step-out"]
        [shown] = tools.call("hold_list", hold_id=hold["hold_id"], evaluate=["total + 5"])["holds"]
        assert shown["values"] == {"total + 5": "5"}
        answer = tools.call("hold_decide", hold_id=hold["hold_id"], action="step-over")
        assert answer["status"] == answer["report"]["status"] == "paused"
        assert answer["report"]["at"] == f"{LOOP.path}:{LOOP.line('return')}"
        small = tools.call("hold_list", session_id=session.id)["holds"][0]["hold_id"]
        tools.call("hold_decide", hold_id=small, action="step-over", budget_tokens=100)


def test_a_stop_after_a_decision_is_told_before_it_is_run_past(
    own_server: Server, tools: ToolCaller, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    with own_server.session() as session:
        session.break_at(GATE, "gate")
        session.break_at(GATE, "after")
        session.launch(GATE, args=[str(gate)])
        hold = tools.wait_for_hold(session.id)
        answer = tools.call("hold_decide", hold_id=hold["hold_id"], action="continue", timeout=0)
        assert answer["status"] == "running"
        gate.write_text("open")
        tools.wait_for_hold(session.id)
        report = tools.call("debug_continue", session_id=session.id)
        assert (report["status"], report["at"]) == ("paused", f"{GATE.path}:{GATE.line('after')}")


def test_waiting_ends_when_the_session_does(own_server: Server, tools: ToolCaller) -> None:
    with own_server.session() as session:
        waiting = run_in_thread(lambda: tools.call("hold_list", wait=50, session_id=session.id))
        session.launch(LOOP)
        assert waiting.result(60)["message"] == f"Session {session.id} has ended."


def test_an_unknown_session_or_hold_is_an_error(tools: ToolCaller) -> None:
    assert "no session" in tools.fail("hold_list", expect=404, session_id="sess_x")["message"]
    assert "no hold" in tools.fail("hold_list", expect=404, hold_id="hold_x")["message"]
    error = tools.fail("hold_decide", expect=404, hold_id="hold_x", action="continue")
    assert "no hold" in error["message"]


def test_secrets_are_hidden_unless_asked_for(tools: ToolCaller, own_server: Server) -> None:
    application = Application(own_server).start()
    door = with_debug(Door())
    tools.call("agent_control", command="break", breakpoint="call:unlock")
    running = run_in_thread(lambda: door.unlock("ann", password="hunter2-and-more"))
    hold = tools.wait_for_hold()
    assert hold["arguments"]["user"] == "'ann'"
    assert "hidden" in hold["arguments"]["password"]
    shown = tools.call("hold_list", hold_id=hold["hold_id"], show_secrets=True)
    assert shown["holds"][0]["arguments"]["password"] == "'hunter2-and-more'"
    answer = tools.read("hold_decide", hold_id=hold["hold_id"], action="continue")
    assert running.result(60) == {"api_key": "sk-0123456789abcdefghij"}
    assert "sk-0123" not in answer
    listed = tools.read("calls_search", session_id=application.session_id)
    assert "hunter2" not in listed
    assert "hunter2" in tools.read("calls_search", call_id=hold["call_id"], show_secrets=True)
    application.stop()


class Door:
    def unlock(self, user: str, password: str) -> dict[str, str]:
        return {"api_key": "sk-0123456789abcdefghij"}


def test_expressions_are_evaluated_where_a_call_is_held(tools: ToolCaller, shop: Any) -> None:
    def order(basket: list[str]) -> int:
        return int(shop.price(basket[0]))

    running = run_in_thread(lambda: order(["tea", "cake"]))
    hold = tools.wait_for_hold()["hold_id"]
    asked = ["basket", "len(basket)", "nothing"]
    [shown] = tools.call("hold_list", hold_id=hold, evaluate=asked)["holds"]
    assert shown["values"]["basket"] == "['tea', 'cake']"
    assert shown["values"]["len(basket)"] == "2"
    assert shown["values"]["nothing"].startswith("raised NameError")
    assert "len(basket) = 2" in tools.read("hold_list", hold_id=hold, evaluate=asked)
    assert tools.fail("hold_list", evaluate=asked)["details"]["field"] == "evaluate"
    tools.call("hold_decide", hold_id=hold, action="continue")
    assert running.result(60) == 3
