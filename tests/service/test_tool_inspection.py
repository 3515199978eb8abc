"""`debug_inspect` and `debug_evaluate` over real HTTP: looking changes nothing and fits."""

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


# -- debug_evaluate --------------------------------------------------------------------------------


def test_an_expression_has_its_value_and_a_place(shopper: ToolUser) -> None:
    report = shopper.evaluate("price + 40")
    assert (report["status"], report["at"]) == ("paused", place(SHOP, "taxed"))
    assert report["values"] == {"price + 40": "42"}
    assert "locals" not in report
    assert shopper.evaluate("cart.items[0]", frame=2)["values"] == {"cart.items[0]": "('tea', 2)"}


def test_a_long_value_says_how_to_read_on(shopper: ToolUser) -> None:
    report = shopper.evaluate("text", frame=2)
    assert 'debug_inspect(frame=2, expand="text")' in report["omitted"][0]


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
