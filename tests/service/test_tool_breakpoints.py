"""`debug_set_breakpoints` over real HTTP: places, watches, removal, and whose they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from harness import Program, Server
from tool_user import ToolUser, place

SHOP = Program("shop.py")


@pytest.fixture
def user(server: Server) -> Iterator[ToolUser]:
    client = ToolUser(server)
    client.run(SHOP, "start")
    try:
        yield client
    finally:
        client.stop_all()


def change(user: ToolUser, **request: Any) -> dict[str, Any]:
    table: dict[str, Any] = user.call("debug_set_breakpoints", **request)
    return table


def list_places(table: dict[str, Any]) -> list[str]:
    return [point["place"] for point in table["breakpoints"]]


def test_places_of_every_kind_are_set_at_once(user: ToolUser) -> None:
    table = change(
        user,
        add=[
            f"{place(SHOP, 'add')} if price > 3",
            "shop.tax",
            "shop.py:Cart.add_up",
            {"file": "shop.py", "line": SHOP.line("print")},
        ],
    )
    assert list_places(table) == [
        place(SHOP, "start"),
        f"{place(SHOP, 'add')} if price > 3",
        "shop.tax",
        place(SHOP, "loop"),
        place(SHOP, "print"),
    ]
    assert all(point["verified"] for point in table["breakpoints"])
    assert [point.get("is_new", False) for point in table["breakpoints"]] == [False, *[True] * 4]
    assert table["breakpoints"][0]["hits"] == 1
    assert table["exceptions"] == "uncaught"

    assert user.resume()["at"] == place(SHOP, "loop")
    assert user.resume()["function"] == "tax"


def test_a_condition_stops_where_it_is_true(user: ToolUser) -> None:
    change(user, add=[f"{place(SHOP, 'add')} if price > 3"])
    assert user.resume()["locals"]["price"] == "5"


def test_one_that_is_there_is_not_set_twice(user: ToolUser) -> None:
    table = change(user, add=[place(SHOP, "start"), place(SHOP, "start")])
    assert list_places(table) == [place(SHOP, "start")]
    assert "is_new" not in table["breakpoints"][0]


def test_one_that_can_not_stop_says_why(user: ToolUser) -> None:
    table = change(user, add=["shop.py:2", "missing.py:3", "nothing"])
    points = {point["place"]: point for point in table["breakpoints"][1:]}
    assert not any(point["verified"] for point in points.values())
    assert "can stop" in points["shop.py:2"]["message"]
    assert "not found" in points["missing.py:3"]["message"]
    assert "not found" in points["nothing"]["message"]


def test_they_are_removed_by_id_by_place_and_all_at_once(user: ToolUser) -> None:
    table = change(user, add=[place(SHOP, "add"), "shop.tax", place(SHOP, "print")])
    table = change(user, remove=[table["breakpoints"][1]["id"], "shop.tax"])
    assert list_places(table) == [place(SHOP, "start"), place(SHOP, "print")]
    assert table["removed"] == 2
    assert list_places(change(user, remove=[f"{SHOP.path}:{SHOP.line('print')}"])) == [
        place(SHOP, "start")
    ]
    assert list_places(change(user, remove=["all"])) == []
    assert user.resume()["status"] == "terminated"


def test_one_request_may_remove_and_set(user: ToolUser) -> None:
    table = change(user, remove=["all"], add=[place(SHOP, "print")])
    assert list_places(table) == [place(SHOP, "print")]


def test_a_program_that_runs_has_no_value_to_watch(user: ToolUser) -> None:
    user.run(SHOP, args=["ask"])
    problem = user.call("debug_set_breakpoints", watch=["name"], expect=409)["error"]
    assert "pause" in problem["hint"]


def test_exceptions_are_chosen(user: ToolUser) -> None:
    assert change(user, exceptions="raised")["exceptions"] == "raised"
    assert change(user, exceptions="none")["exceptions"] == "none"
    assert change(user)["exceptions"] == "none"


def test_they_are_not_stored_with_the_project(user: ToolUser) -> None:
    change(user, add=[place(SHOP, "print")])
    with user.server.session(cwd=user.query["cwd"]) as other:
        stored = other.get("/breakpoints")["breakpoints"]
        assert (SHOP.path, SHOP.line("print")) not in [
            (point.get("file"), point.get("line")) for point in stored
        ]


def test_others_see_whose_they_are(user: ToolUser) -> None:
    change(user, add=[place(SHOP, "print")])
    session = user.inspect()["session_id"]
    listed = user.server.get(f"/sessions/{session}/breakpoints")["breakpoints"]
    assert listed[-1]["set_by"] == ["tools"]


def test_after_the_end_they_say_that_they_stop_nothing(user: ToolUser) -> None:
    change(user, remove=["all"])
    user.resume()
    table = change(user, add=[place(SHOP, "print")])
    assert table["status"] == "terminated"
    assert "has ended" in table["message"]


def test_many_of_them_fit_a_small_budget(user: ToolUser) -> None:
    lines = range(SHOP.line("loop"), SHOP.line("return") + 1)
    table = change(user, add=[f"shop.py:{line} if price > 3" for line in lines], budget_tokens=100)
    assert len(table["breakpoints"]) < len(lines)
    assert "breakpoints" in table["omitted"]
