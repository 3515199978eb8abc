"""What the tools show of real programs: statements, values that end or never return, threads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import Program, Server
from tool_user import ToolUser, place

SHOP = Program("shop.py")
BAD_DAYS = Program("bad_days.py")


@pytest.fixture
def user(server: Server) -> Iterator[ToolUser]:
    client = ToolUser(server)
    try:
        yield client
    finally:
        client.stop_all()


@pytest.fixture(scope="module")
def shopper(server: Server) -> Iterator[ToolUser]:
    """One that stands in `tax`, two calls below `main`. Tests of it only look."""
    client = ToolUser(server)
    client.run(SHOP, "taxed")
    try:
        yield client
    finally:
        client.stop_all()


# -- debug_inspect ---------------------------------------------------------------------------------


def test_looking_runs_no_property(shopper: ToolUser) -> None:
    shopper.inspect(frame=1)
    shopper.inspect(expand="self", frame=1)
    shopper.inspect(expand="cart", frame=2)
    assert shopper.inspect(expressions=["self.looked"], frame=1)["values"] == {"self.looked": "0"}


def test_a_recursion_is_one_line_of_the_stack(user: ToolUser) -> None:
    user.run(BAD_DAYS, "deep", args=["deep"])
    assert user.inspect(show=["stack"])["stack"][:2] == [
        f"0 deep {place(BAD_DAYS, 'deep')}",
        f"1-60 deep bad_days.py:{BAD_DAYS.line('deep') + 1}",
    ]
    assert user.inspect(frame=60)["locals"] == {"depth": "0"}


def test_a_program_that_runs_says_where_its_threads_are_and_runs_on(
    user: ToolUser, python: str
) -> None:
    user.run(BAD_DAYS, "spin", args=["spin"], python=python)
    user.call("debug_set_breakpoints", remove=["all"])
    user.resume(timeout=0)
    report = user.inspect()
    assert report["status"] == "running"
    assert report["threads"][0].startswith("MainThread running at bad_days.py:")
    assert "pause" in report["message"]


# -- debug_evaluate --------------------------------------------------------------------------------


def test_what_raises_is_an_answer(shopper: ToolUser) -> None:
    assert shopper.evaluate("1 / 0")["error"] == "ZeroDivisionError: division by zero"
    assert shopper.evaluate("if")["error"].startswith("SyntaxError")
    assert shopper.evaluate("sys.exit(3)")["error"].startswith("SystemExit: 3")
    assert shopper.inspect()["status"] == "paused"


def test_a_type_is_said_where_the_value_does_not_tell_it(shopper: ToolUser) -> None:
    assert shopper.evaluate("price")["values"] == {"price": "2"}
    value = shopper.evaluate("sys.stdin.buffer.raw.mode")["values"]
    assert value == {"sys.stdin.buffer.raw.mode": "'rb'"}
    value = shopper.evaluate("iter([])")["values"]["iter([])"]
    assert "list_iterator" in value


def test_a_statement_says_what_it_changed(user: ToolUser, python: str) -> None:
    user.run(SHOP, "add", python=python)
    report = user.evaluate("price = 40; fresh = [1]")
    assert report["locals"] == {"price": "40", "fresh": "[1]"}
    assert report["was"] == {"price": "2"}
    report = user.evaluate("fresh.append(2)")
    assert report["locals"] == {"fresh": "[1, 2]"}
    assert user.evaluate("price")["values"] == {"price": "40"}

    report = user.step()  # what the statements said is no news
    assert "fresh" not in report.get("locals", {})


def test_a_statement_in_an_outer_frame_says_what_it_changed_there(user: ToolUser) -> None:
    user.run(SHOP, "rate")
    report = user.evaluate("name = 'soup'", frame=1)
    assert (report["locals"], report["was"]) == ({"name": "'soup'"}, {"name": "'tea'"})
    assert user.inspect(expressions=["name"], frame=1)["values"] == {"name": "'soup'"}


def test_what_does_not_return_is_interrupted(user: ToolUser, python: str) -> None:
    user.run(SHOP, "start", python=python)
    report = user.evaluate("[0 for _ in iter(int, 1)]", timeout=0.3)
    assert report["status"] == "paused"
    assert "interrupted" in report["error"]
    assert user.evaluate("1 + 1")["values"] == {"1 + 1": "2"}


def test_what_ends_the_program_is_answered_with_its_end(user: ToolUser) -> None:
    user.run(SHOP, "start")
    report = user.evaluate("__import__('os')._exit(3)")
    assert (report["status"], report["exit_code"]) == ("terminated", 3)
    assert "ended while" in report["error"]


@pytest.mark.parametrize("code", ["breakpoint()", "[tell() for tell in [breakpoint]]"])
def test_a_breakpoint_call_in_an_expression_lets_nothing_run(
    user: ToolUser, python: str, code: str
) -> None:
    at, end = place(SHOP, "taxed"), f"{place(SHOP, 'print')} if [breakpoint()]"
    user.run(SHOP, "taxed", breakpoints=[end], python=python)
    report = user.evaluate(code)
    assert (report["at"], "locals" in report) == (at, False)
    assert "breakpoint() does nothing" in report["problems"][0]
    user.inspect(expressions=[code])
    again = user.inspect()
    assert (again["at"], again["locals"]) == (at, {"price": "2", "rate": "2"})
    user.call("debug_set_breakpoints", remove=[at])
    assert user.resume()["at"] == place(SHOP, "print")


def test_a_breakpoint_call_of_the_program_stops_it(
    user: ToolUser, python: str, tmp_path: Path
) -> None:
    path = tmp_path / "calls_breakpoint.py"
    path.write_text("value = 1\nbreakpoint()\nvalue = 2\n")
    report = user.call("debug_run", target=str(path), python=python)
    assert (report["at"], report["locals"]["value"]) == (f"{path}:3", "1")
    user.evaluate("breakpoint()")
    assert user.resume()["status"] == "terminated"
