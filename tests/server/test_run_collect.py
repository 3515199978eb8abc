"""Rows of values without stopping, and stops where something is true."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import Program, Server
from tool_user import ToolUser, place

SHOP = Program("shopping.py")
# One thread waits in `size` for a lock, which another holds while it comes to its breakpoint.
LOCKED = """\
import threading

lock = threading.RLock()
is_asked = threading.Event()


def size():
    is_asked.set()
    with lock:
        return 1


def ask():
    return size()


def hold():
    is_asked.wait()
    size()


holder = threading.Thread(target=ask)
with lock:
    holder.start()
    hold()
holder.join()
"""


@pytest.fixture
def user(server: Server) -> Iterator[ToolUser]:
    made = ToolUser(server)
    yield made
    made.stop_all()


def test_each_hit_is_a_row(user: ToolUser, python: str) -> None:
    report = user.run(SHOP, "return", collect=["item", "cost * 2"], python=python)
    assert (report["status"], report["hits"]) == ("terminated", 3)
    at = place(SHOP, "return")
    assert report["rows"] == [[at, "'tea'", "12"], [at, "'cake'", "12"], [at, "'tea'", "18"]]
    assert report["output"] == "total 21"
    assert report["columns"] == ["item", "cost * 2"]


def test_rows_that_did_not_fit_are_shown_by_the_call_that_is_named(user: ToolUser) -> None:
    report = user.run(SHOP, "return", collect=["item", "cost", "'x' * 300"], budget_tokens=100)
    (note,) = report["omitted"]
    assert note.endswith("debug_inspect(budget_tokens=20000)")
    assert len(user.inspect(budget_tokens=20000)["rows"]) == 3


def test_rows_come_from_several_breakpoints_in_order(user: ToolUser) -> None:
    report = user.run(SHOP, "return", breakpoints=["checkout"], collect=["len(cart)", "cost"])
    assert report["rows"][0][1:] == ["3", "<NameError: name 'cost' is not defined>"]
    assert [row[2] for row in report["rows"][1:]] == ["6", "6", "9"]
    assert "NameError" in report["rows"][1][1]


def test_the_last_row_is_a_stop_and_breakpoints_stop_after_it(user: ToolUser) -> None:
    report = user.run(SHOP, "return", collect=["item"], max_hits=2)
    assert (report["status"], report["hits"], len(report["rows"])) == ("paused", 2, 2)
    assert report["locals"]["item"] == "'cake'"
    report = user.resume()
    assert (report["reason"], report["at"]) == ("breakpoint", place(SHOP, "return"))
    assert "rows" not in report


def test_an_expression_may_wait_for_another_thread_that_is_at_a_breakpoint(
    user: ToolUser, python: str, tmp_path: Path
) -> None:
    program = tmp_path / "locked.py"
    program.write_text(LOCKED)
    report = user.call(
        "debug_run",
        target=str(program),
        breakpoints=[f"{program}:14", f"{program}:19"],
        collect=["size()"],
        python=python,
    )
    assert (report["status"], report["hits"]) == ("terminated", 2)


def test_a_crash_ends_it_with_what_was_collected(user: ToolUser) -> None:
    report = user.run(SHOP, "cost", collect=["item"], args=["fail"])
    assert (report["status"], report["reason"]) == ("paused", "exception")
    assert [row[1] for row in report["rows"]] == ["'tea'", "'cake'", "'tea'", "'beer'"]


def test_a_thousand_hits_are_collected_in_the_program(user: ToolUser) -> None:
    code = "for i in range(5000):\n    x = i * 2\n"
    report = user.call(
        "debug_run",
        target="python",
        args=["-c", code],
        breakpoints=["<string>:2"],
        collect=["i"],
    )
    assert (report["status"], report["hits"]) == ("paused", 1000)
    assert "max_hits allows more" in str(report["problems"])
    assert report["locals"]["i"] == "999"


def test_values_that_misbehave_are_cells(user: ToolUser) -> None:
    code = (
        "class Bad:\n    def __repr__(self):\n        raise ValueError('no')\n"
        "bad, big = Bad(), 'x' * 10_000_000\n"
        "print(1)\n"
    )
    request: dict[str, Any] = {"target": "python", "args": ["-c", code]}
    report = user.call(
        "debug_run", **request, breakpoints=["<string>:5"], collect=["bad", "big", "exit()"]
    )
    (row,) = report["rows"]
    assert "ValueError" in row[1]
    assert len(row[2]) < 1000
    assert "SystemExit" in row[3]
    assert report["exit_code"] == 0


def test_collecting_needs_breakpoints_and_expressions(user: ToolUser) -> None:
    error = user.call("debug_run", expect=400, target="shopping.py", collect=["x"])["error"]
    assert "collect needs breakpoints" in error["message"]
    request = {"target": "shopping.py", "breakpoints": ["price"]}
    error = user.call("debug_run", expect=400, **request, collect=["x ="])["error"]
    assert error["code"] == "BREAKPOINT_INVALID_CONDITION"


# -- until -----------------------------------------------------------------------------------------


def test_the_hit_where_it_is_true_is_the_stop(user: ToolUser) -> None:
    report = user.run(SHOP, "return", "rate", until="cost == 9")
    assert (report["at"], report["locals"]["cost"]) == (place(SHOP, "return"), "9")


def test_rows_are_collected_until_it_is_true(user: ToolUser) -> None:
    report = user.run(SHOP, "return", until="item == 'cake'", collect=["item"])
    assert [row[1] for row in report["rows"]] == ["'tea'", "'cake'"]
    assert report["status"] == "paused"


def test_it_runs_to_a_line_and_collects_on_the_way(user: ToolUser) -> None:
    line = f"shopping.py:{SHOP.line('total')}"
    report = user.call("debug_run", target="shopping.py", until=line)
    assert (report["at"], report["locals"]["total"]) == (place(SHOP, "total"), "21")
    report = user.run(SHOP, "return", until=line, collect=["cost"])
    assert report["at"] == place(SHOP, "total")
    assert [row[1] for row in report["rows"]] == ["6", "6", "9"]


def test_the_nth_hit_is_the_stop(user: ToolUser) -> None:
    report = user.run(SHOP, "return", max_hits=3)
    assert report["locals"]["cost"] == "9"


@pytest.mark.parametrize("until", ["total > 10", "len(cart) == 3", "RATE == 20"])
def test_an_expression_is_watched_without_breakpoints(user: ToolUser, until: str) -> None:
    report = user.call("debug_run", target="shopping.py", until=until)
    assert report["status"] == "paused"
    assert until in report["message"]
    assert user.evaluate(until)["values"][until] == "True"
    listed = user.call("debug_set_breakpoints")
    assert not listed.get("breakpoints")


def test_what_never_becomes_true_is_said(user: ToolUser) -> None:
    for until in ("total > 1000", "no_such_name > 3"):
        report = user.call("debug_run", target="shopping.py", until=until)
        assert (report["status"], report.get("never_hit")) == ("terminated", None)
        said = f"`{until}` was never true in shopping.py, where it was watched."
        assert said in report["problems"]
