"""`debug_inspect` and `debug_evaluate` over real HTTP: looking changes nothing and fits."""

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


def test_a_stop_is_shown_in_full_again_and_again(shopper: ToolUser) -> None:
    first, second = shopper.inspect(), shopper.inspect()
    assert first["at"] == place(SHOP, "taxed")
    for part in ("at", "source", "locals", "stack"):
        assert first[part] == second[part]
    assert first["locals"] == {"price": "2", "rate": "2"}


def test_an_outer_frame_is_shown_with_its_source_and_variables(shopper: ToolUser) -> None:
    report = shopper.inspect(frame=1)
    assert (report["at"], report["function"]) == (place(SHOP, "add"), "Cart.add_up")
    assert report["locals"]["name"] == "'tea'"
    assert any(line.startswith(f"> {SHOP.line('add')}") for line in report["source"])

    report = shopper.inspect(frame=3)
    assert report["function"] == "<module>"
    assert "main" not in report.get("locals", {})  # what a module defines is only counted
    assert "function" in report["omitted"][0]


def test_a_frame_that_is_not_there_says_how_many_there_are(shopper: ToolUser) -> None:
    problem = shopper.call("debug_inspect", frame=9, expect=404)["error"]
    assert "There are 4" in problem["hint"]


def test_a_value_is_unfolded(shopper: ToolUser) -> None:
    report = shopper.inspect(expand="self", frame=1)
    assert report["values"]["self"] == "Cart object"
    assert report["values"][".total"] == "0"
    assert "source" not in report

    report = shopper.inspect(expand="self.items[1]", frame=1)
    assert report["values"] == {"self.items[1]": "tuple of 2", "[0]": "'cake'", "[1]": "5"}


def test_looking_runs_no_property(shopper: ToolUser) -> None:
    shopper.inspect(frame=1)
    shopper.inspect(expand="self", frame=1)
    shopper.inspect(expand="cart", frame=2)
    assert shopper.inspect(expressions=["self.looked"], frame=1)["values"] == {"self.looked": "0"}


def test_a_long_list_is_read_a_page_at_a_time(shopper: ToolUser) -> None:
    seen: dict[str, str] = {}
    start, pages = 0, 0
    while True:
        report = shopper.inspect(expand="numbers", frame=2, start=start)
        assert report["values"].pop("numbers") == "list of 1000"
        seen |= report["values"]
        start, pages = len(seen), pages + 1
        if "omitted" not in report:
            break
        assert f"start={start}" in report["omitted"][0]
    assert seen == {f"[{number}]": str(number) for number in range(1000)}
    assert pages < 20


def test_a_long_text_is_read_a_part_at_a_time(shopper: ToolUser) -> None:
    report = shopper.inspect(expand="text", frame=2)
    ((name, value),) = report["values"].items()
    assert name.startswith("text[0:")
    assert "start=" in report["omitted"][0]
    end = shopper.inspect(expand="text", frame=2, start=4990)["values"]
    assert end == {"text[4990:5000]": f"'{'x' * 10}'"}
    assert len(value) > 1000


def test_expressions_have_their_values_or_what_they_raised(shopper: ToolUser) -> None:
    asked = ["price * rate", "nothing", "1 / 0", "x ="]
    values = shopper.inspect(expressions=asked)["values"]
    assert list(values) == asked
    assert values["price * rate"] == "4"
    assert values["nothing"].startswith("<NameError: ")
    assert values["1 / 0"] == "<ZeroDivisionError: division by zero>"
    assert values["x ="].startswith("<SyntaxError")
    outer = shopper.inspect(expressions=["name", "rate"], frame=1)["values"]
    assert (outer["name"], outer["rate"].partition(":")[0]) == ("'tea'", "<NameError")


def test_only_the_parts_that_are_asked_for_are_shown(shopper: ToolUser) -> None:
    report = shopper.inspect(show=["stack", "threads", "breakpoints", "output"])
    assert report["stack"] == [
        f"0 tax {place(SHOP, 'taxed')}",
        f"1 Cart.add_up {place(SHOP, 'add')}",
        f"2 main {place(SHOP, 'call')}",
        f"3 <module> shop.py:{SHOP.line('done') - 1}",
    ]
    assert report["threads"] == [f"MainThread paused at {place(SHOP, 'taxed')} in tax"]
    assert place(SHOP, "taxed") in report["breakpoints"][0]
    assert "locals" not in report
    assert "source" not in report


def test_source_and_stack_go_on_from_a_line_and_a_frame(shopper: ToolUser) -> None:
    report = shopper.inspect(show=["source"], start=SHOP.line("ask"))
    assert report["source"][0].strip().startswith(str(SHOP.line("ask")))
    report = shopper.inspect(show=["stack"], start=2)
    assert report["stack"][0].startswith("2 main")


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


def test_an_expression_has_its_value_and_a_place(shopper: ToolUser) -> None:
    report = shopper.evaluate("price + 40")
    assert (report["status"], report["at"]) == ("paused", place(SHOP, "taxed"))
    assert report["values"] == {"price + 40": "42"}
    assert "locals" not in report
    assert shopper.evaluate("cart.items[0]", frame=2)["values"] == {"cart.items[0]": "('tea', 2)"}


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


def test_a_long_value_says_how_to_read_on(shopper: ToolUser) -> None:
    report = shopper.evaluate("text", frame=2)
    assert 'debug_inspect(frame=2, expand="text")' in report["omitted"][0]


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


def test_a_program_that_runs_can_not_be_evaluated(user: ToolUser) -> None:
    user.run(SHOP, args=["ask"])
    report = user.evaluate("1")
    assert report["status"] == "waiting_for_input"
    assert "stands still" in report["error"]


def test_secrets_are_hidden_unless_they_are_asked_for(user: ToolUser) -> None:
    user.run(SHOP, "start")
    user.evaluate("password = 'correct horse'")
    assert "correct" not in str(user.evaluate("password"))
    assert "correct" in str(user.evaluate("password", show_secrets=True))


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


# -- errors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "request_", "named"),
    [
        ("hold_list", {"hold_id": "nope"}, "hold_list"),
        ("calls_search", {"call_id": "nope"}, "calls_search"),
        ("debug_inspect", {"capture": "nope"}, "debug_sessions"),
    ],
)
def test_an_error_names_tools_and_no_routes(
    shopper: ToolUser, tool: str, request_: dict[str, str], named: str
) -> None:
    hint = shopper.call(tool, expect=404, **request_)["error"]["hint"]
    assert named in hint
    assert "GET /" not in hint
