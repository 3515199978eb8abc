"""`calls_search`: recorded calls by name and by filter, one in full, and the tree below it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from application import Application
from harness import Server
from holdfast import with_debug
from tool_caller import ToolCaller


class Till:
    def __init__(self) -> None:
        self.prices = {"tea": 3, "cake": 6}

    def price(self, item: str, count: int = 1) -> int:
        return self.prices[item] * count

    def change(self, items: list[str]) -> list[str]:
        items.append("gift")
        return items


class Checkout:
    def __init__(self, till: Any) -> None:
        self.till = till

    def total(self, *items: str) -> int:
        return sum(self.till.price(item) for item in items)

    def __reduce__(self) -> tuple[Any, ...]:
        return Checkout, (None,)


@pytest.fixture(scope="module")
def application(server: Server) -> Iterator[Application]:
    """It has made a few calls."""
    running = Application(server).start()
    till = with_debug(Till())
    till.price("tea")
    till.price("cake", count=2)
    with pytest.raises(KeyError):
        till.price("soup")
    till.change(["tea"])
    with_debug(Checkout(till)).total("tea", "cake")
    yield running
    running.stop()


@pytest.fixture
def tools(server: Server) -> ToolCaller:
    return ToolCaller(server)


def search(tools: ToolCaller, application: Application, **request: Any) -> Any:
    return tools.call("calls_search", session_id=application.session_id, **request)


def test_calls_are_listed_with_their_arguments_by_name(
    tools: ToolCaller, application: Application
) -> None:
    answer = search(tools, application, function="Till.price", limit=5)
    shown = [(call["arguments"], call.get("result")) for call in answer["calls"]]
    assert shown[-3:] == [
        ({"item": "'soup'"}, None),
        ({"item": "'cake'", "count": "2"}, "12"),
        ({"item": "'tea'"}, "3"),
    ]
    assert answer["calls"][2]["exception"] == "KeyError: 'soup'"
    text = tools.read("calls_search", session_id=application.session_id, function="*.price")
    assert "Till.price(item='cake', count=2) → 12" in text
    assert "Till.price(item='soup') raised KeyError: 'soup'" in text


@pytest.mark.parametrize(
    ("where", "count"),
    [
        ("item == 'cake'", 2),
        ("count > 1", 1),
        ("status == 'exception'", 1),
        ("result == 3 and function == 'price'", 2),
        ("'soup' in args", 1),
    ],
)
def test_a_filter_finds_calls(
    tools: ToolCaller, application: Application, where: str, count: int
) -> None:
    answer = search(tools, application, where=where)
    assert answer["total"] == len(answer["calls"]) == count
    assert answer["looked_at"] == 7


def test_a_filter_that_cannot_work_says_so(tools: ToolCaller, application: Application) -> None:
    answer = search(tools, application, where="itm == 'tea'")
    assert answer["calls"] == []
    assert "no function that was called has a parameter 'itm'" in answer["problems"][0]
    error = tools.fail("calls_search", where="import os")
    assert "one expression" in error["hint"]


def test_older_calls_are_on_the_next_page(tools: ToolCaller, application: Application) -> None:
    first = search(tools, application, limit=4)
    second = search(tools, application, limit=4, before=first["older"])
    ids = [call["call_id"] for page in (first, second) for call in page["calls"]]
    assert len(set(ids)) == 7
    assert "older" not in second


def test_one_call_is_shown_in_full(tools: ToolCaller, application: Application) -> None:
    [found] = search(tools, application, function="Till.change")["calls"]
    answer = tools.call("calls_search", call_id=found["call_id"])
    [call] = answer["calls"]
    assert call["arguments"] == {"items": "['tea']"}
    assert answer["changed"] == {"args[0]": "['tea', 'gift']"}
    assert answer["session_id"] == application.session_id
    assert "test_tool_calls.py:" in answer["at"]
    assert answer["stack"][0].startswith("application ")
    text = tools.read("calls_search", call_id=found["call_id"])
    for fact in (found["call_id"], answer["at"], "args[0] = ['tea', 'gift']", "application "):
        assert fact in text


def test_the_calls_within_a_call_are_its_tree(tools: ToolCaller, application: Application) -> None:
    [found] = search(tools, application, function="Checkout.total")["calls"]
    answer = tools.call("calls_search", call_id=found["call_id"], tree=True)
    shown = [(call["depth"], call["function"], call["result"]) for call in answer["calls"]]
    assert shown == [
        (0, "Checkout.total", "9"),
        (1, "Till.price", "3"),
        (1, "Till.price", "6"),
    ]
    inner = tools.call("calls_search", call_id=answer["calls"][1]["call_id"])
    assert inner["within"] == found["call_id"]
    assert tools.fail("calls_search", tree=True)["details"]["field"] == "tree"


def test_a_budget_is_kept_down_to_counts(tools: ToolCaller, application: Application) -> None:
    sizes = []
    for budget in (100, 150, 200, 300, 400, 800):
        answer = search(tools, application, budget_tokens=budget)
        assert answer["total"] == 7
        sizes.append(len(answer["calls"]))
    assert sizes == sorted(sizes)
    assert sizes[-1] == 7
    small = search(tools, application, budget_tokens=100)
    assert "Till.price" in small["omitted"][0]


def test_what_is_not_there_is_said(tools: ToolCaller, application: Application) -> None:
    said = search(tools, application, function="prize")["next"]
    assert said.startswith("No such call. Known functions: Till.price, ")
    assert "Checkout.total" in said
    assert "no call" in tools.fail("calls_search", expect=404, call_id="x")["message"]
    assert "no session" in tools.fail("calls_search", expect=404, session_id="calls_x")["message"]
