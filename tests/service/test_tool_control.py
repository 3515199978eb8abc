"""`debug_continue` and `debug_step` over real HTTP: where a call leads, and what it says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness import Program, Server
from tool_user import ToolUser, place

SHOP = Program("shop.py")


@pytest.fixture
def user(server: Server) -> Iterator[ToolUser]:
    client = ToolUser(server)
    try:
        yield client
    finally:
        client.stop_all()


def list_breakpoints(user: ToolUser) -> list[str]:
    return [point["place"] for point in user.call("debug_set_breakpoints")["breakpoints"]]


# -- debug_continue --------------------------------------------------------------------------------


def test_a_program_runs_on_to_its_next_breakpoint_and_to_its_end(user: ToolUser) -> None:
    assert user.run(SHOP, "start", "print")["at"] == place(SHOP, "start")

    report = user.resume()
    assert (report["status"], report["at"]) == ("paused", place(SHOP, "print"))
    assert report["locals"]["total"] == "16"

    report = user.resume()
    assert (report["status"], report["exit_code"]) == ("terminated", 0)
    assert report["output"] == "total 16"


def test_one_that_has_ended_says_so_and_how_it_ended(user: ToolUser) -> None:
    user.run(SHOP)
    for report, said in (
        (user.resume(), "message"),
        (user.step(), "message"),
        (user.evaluate("1"), "error"),
    ):
        assert (report["status"], report["exit_code"]) == ("terminated", 0)
        assert "It has ended" in report[said]


def test_input_may_be_given_before_the_program_asks_for_it(user: ToolUser) -> None:
    user.run(SHOP, "ask", "hello", args=["ask"])
    report = user.resume(input="Ann\n")
    assert (report["at"], report["locals"]) == (place(SHOP, "hello"), {"name": "'Ann'"})


def test_until_a_line_stops_there_once(user: ToolUser) -> None:
    user.run(SHOP, "start")
    report = user.resume(until=place(SHOP, "add"))
    assert (report["at"], report["reason"]) == (place(SHOP, "add"), "step")
    assert list_breakpoints(user) == [place(SHOP, "start")]
    assert user.resume()["status"] == "terminated"  # past the same line, twice


def test_until_a_function_of_a_file_or_a_line_with_a_condition(user: ToolUser) -> None:
    user.run(SHOP, "start")
    assert user.resume(until="shop.py:tax")["at"] == place(SHOP, "rate")
    report = user.resume(until=f"{place(SHOP, 'rate')} if price == 1")
    assert report["locals"]["price"] == "1"


def test_until_a_line_another_stop_comes_first(user: ToolUser) -> None:
    user.run(SHOP, "start", "rate")
    report = user.resume(until=place(SHOP, "print"))
    assert (report["at"], report["reason"]) == (place(SHOP, "rate"), "breakpoint")
    user.call("debug_set_breakpoints", remove=["all"])
    assert user.resume()["status"] == "terminated"


def test_until_a_line_that_is_never_reached_says_so_at_the_end(user: ToolUser) -> None:
    user.run(SHOP, "start")
    report = user.resume(until=place(SHOP, "hello"))
    assert report["status"] == "terminated"
    assert report["message"] == f"It ended before {place(SHOP, 'hello')} was reached."
    assert "never_hit" not in report


def test_until_a_line_is_still_meant_when_time_was_up(user: ToolUser) -> None:
    user.run(SHOP, "ask", args=["ask"])
    report = user.resume(until=place(SHOP, "hello"))
    assert report["status"] == "waiting_for_input"
    assert place(SHOP, "hello") in report["message"]
    assert user.resume(input="Ann")["at"] == place(SHOP, "hello")


def test_until_a_line_without_code_runs_nothing(user: ToolUser) -> None:
    at = user.run(SHOP, "start")["at"]
    problem = user.call("debug_continue", until="shop.py:2", expect=400)["error"]
    assert "cannot stop at line 2" in problem["message"]
    assert "nearest" in problem["hint"]
    assert user.inspect()["at"] == at


# -- debug_step ------------------------------------------------------------------------------------


def test_the_report_after_several_steps_tells_what_changed_in_all_of_them(user: ToolUser) -> None:
    user.run(SHOP, "loop")
    user.call("debug_set_breakpoints", remove=["all"])
    user.step(count=2)
    report = user.step(count=2)
    assert report["locals"]["name"] == "'milk'" or report["locals"]["name"] == "'cake'"
    assert "price" in report["was"]
    assert len(report["steps"]) == 2


def test_a_breakpoint_ends_several_steps(user: ToolUser) -> None:
    user.run(SHOP, "call", "rate")
    report = user.step(count=10)
    assert (report["at"], report["reason"]) == (place(SHOP, "rate"), "breakpoint")
    assert len(report["steps"]) == 1
    assert report["message"] == "1 of 10 steps: breakpoint."


def test_a_breakpoint_before_the_line_or_the_condition_says_so(user: ToolUser) -> None:
    user.run(SHOP, "call", "rate")
    line = SHOP.line("print")
    assert (
        user.step("to_line", line=line)["message"] == f"Line {line} is not reached yet: breakpoint."
    )
    assert user.step(until="False")["message"] == "`False` is not true yet: breakpoint."
    assert user.step(until="rate == 2", count=9)["message"] == "`rate == 2` is true after 1 step."


def test_the_end_of_the_program_ends_several_steps(user: ToolUser) -> None:
    user.run(SHOP, "print")
    report = user.step(count=50)
    assert report["status"] == "terminated"
    assert "It ended during step" in report["message"]
    assert report["output"] == "total 16"


def test_steps_until_go_on_while_a_name_has_no_value_yet(user: ToolUser) -> None:
    user.run(SHOP, "start")
    report = user.step(until="total > 3")
    assert (report["at"], report["locals"]["total"]) == (place(SHOP, "print"), "16")


def test_steps_until_what_is_not_true_in_so_many_steps_say_so(user: ToolUser) -> None:
    user.run(SHOP, "start")
    report = user.step(until="False", count=2)
    assert len(report["steps"]) == 2
    assert report["message"] == "`False` is not true after 2 steps."


@pytest.mark.parametrize("until", ["1 / 0", "nonsense", "1 +"])
def test_an_until_that_raises_ends_the_steps(user: ToolUser, until: str) -> None:
    user.run(SHOP, "start")
    report = user.step(until=until)
    assert report["status"] == "paused"
    assert f"`{until}` raised" in report["message"]
    assert len(report["steps"]) <= 1


def test_to_a_line_of_this_file_and_to_it_again(user: ToolUser) -> None:
    user.run(SHOP, "start")
    for price in ("2", "5", "1"):
        report = user.step("to_line", line=SHOP.line("add"))
        assert report["at"] == place(SHOP, "add")
        assert report["locals"]["price"] == price
    assert user.step("to_line", line=SHOP.line("print"))["at"] == place(SHOP, "print")
    assert user.step("to_line", line=SHOP.line("add"))["status"] == "terminated"


def test_to_no_line_is_a_mistake_that_runs_nothing(user: ToolUser) -> None:
    user.run(SHOP, "start")
    for request in ({}, {"line": 2}, {"line": 99999}):
        problem = user.call("debug_step", kind="to_line", expect=400, **request)["error"]
        assert problem["hint"]
    assert user.inspect()["at"] == place(SHOP, "start")
