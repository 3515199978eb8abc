"""Breakpoints set by the tools in real programs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
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


@pytest.mark.parametrize(
    "wrong",
    [
        {"add": ["no place at all"]},
        {"add": [f"{SHOP.path}:{SHOP.line('add')} if ("]},
        {"add": ["shop.py:99999"]},
        {"watch": ["nothing"]},
        {"remove": ["nothing"]},
    ],
)
def test_a_mistake_changes_nothing(user: ToolUser, wrong: dict[str, list[str]]) -> None:
    request: dict[str, Any] = {"add": [place(SHOP, "print")], "remove": [place(SHOP, "start")]}
    for name, value in wrong.items():
        request[name] = [*request.get(name, ()), *value]
    answer = user.server.http.post(
        "/api/v1/tools/debug_set_breakpoints", params=user.query, json=request
    )
    assert answer.status_code in (400, 404), answer.text
    assert answer.json()["error"]["hint"]
    assert list_places(change(user)) == [place(SHOP, "start")]


def test_a_value_that_is_watched_stops_where_it_is_written(user: ToolUser, python: str) -> None:
    user.run(SHOP, "call", python=python)
    table = change(user, watch=["cart.total"])
    assert list_places(table)[-1] == "watch cart.total"
    report = user.resume()
    assert report["reason"] == "data breakpoint"
    assert "cart.total" in report["message"]
    assert list_places(change(user, remove=["watch cart.total"])) == [place(SHOP, "call")]


PRINTING = """\
for number in range(8):
    doubled = 2 * number
    print("number", end=" ")
    doubled += 1
    print(number)
"""


def test_what_breakpoints_log_comes_in_order_with_what_the_program_prints(
    user: ToolUser, python: str, tmp_path: Path
) -> None:
    path = tmp_path / "printing.py"
    path.write_text(PRINTING)
    expected = [
        line
        for number in range(8)
        for line in (f"[log] before {number}", f"number {number}", f"[log] within {number}")
    ]

    def run() -> Any:
        points = [f"{path}:2 log before {{number}}", f"{path}:4 log within {{number}}"]
        run: dict[str, Any] = {"target": str(path), "breakpoints": points, "python": python}
        return user.call("debug_run", **run, budget_tokens=4000)["output"].splitlines()

    # On a busy machine the program may run on before the server has seen a message.
    for _ in range(5):
        output = run()
        assert sorted(output) == sorted(expected)  # no line is cut, in any order
        if output == expected:
            return
    pytest.fail(f"never in order: {output}")
