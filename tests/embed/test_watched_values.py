"""Data breakpoints through the controller: who wrote what, and what cannot be watched."""

from __future__ import annotations

import queue
from pathlib import Path

import pytest

from embed_adapters import SECONDS, ask, line_of
from harness import Program
from holdfast import errors
from holdfast.embed import (
    AdapterThread,
    BreakpointEvent,
    BreakpointResult,
    DataBreakpointSpec,
    FunctionBreakpointSpec,
    LineBreakpointSpec,
)

LOOP, IDLE = Program("loop.py"), Program("idle.py")
CART = """\
class Cart:
    def __init__(self):
        self.total = 0
        self.items = {"tea": 1}

def add(cart, price):
    cart.total += price  # @write
    note = price  # @after

def empty(cart):
    cart.items["tea"] = 0  # @item

def main():
    cart = Cart()
    total = "another one of this name"  # @made
    total = total.upper()
    for price in (5, 0, 7):
        add(cart, price)
    empty(cart)
    print(cart.total)

main()
"""


@pytest.fixture
def cart(tmp_path: Path) -> Program:
    (tmp_path / "cart.py").write_text(CART)
    return Program("cart.py", tmp_path)


def stop_with_cart(adapter: AdapterThread, cart: Program) -> None:
    point = LineBreakpointSpec(cart.line("made"))
    adapter.breakpoints.set_source(cart.path, [point]).result(SECONDS)
    adapter.launch(cart.path, wait=True).result(SECONDS)


def watch(
    adapter: AdapterThread, name: str, access: str = "write", **options: str
) -> BreakpointResult:
    info = adapter.breakpoints.data_info(name, 0).result(SECONDS)
    assert info["dataId"] is not None, info
    assert access in info["accessTypes"]
    assert isinstance(info["canPersist"], bool)
    spec = DataBreakpointSpec(info["dataId"], access, **options)
    (result,) = adapter.breakpoints.set_data([spec]).result(SECONDS)
    assert result["dataId"] == info["dataId"]
    return result


def test_a_stop_names_the_value_before_and_after_and_the_line_that_wrote(
    adapter: AdapterThread, cart: Program
) -> None:
    stop_with_cart(adapter, cart)
    result = watch(adapter, "cart.total")
    assert result["verified"] is True

    stop = adapter.continue_(wait=True).result(SECONDS)

    assert (stop["status"], stop["reason"]) == ("paused", "data breakpoint")
    change = stop["data"]
    assert (change["old"], change["new"]) == ("0", "5")
    assert change["location"] == {"file": cart.path, "line": cart.line("write"), "function": "add"}
    assert "total" in change["name"]
    assert change["breakpoint_id"] == result["breakpoint_id"]
    assert stop["location"] is not None
    assert stop["location"]["function"] == "add"  # the frame that wrote
    writes = [change["new"]]
    while (stop := adapter.continue_(wait=True).result(SECONDS))["status"] == "paused":
        writes.append(stop["data"]["new"])
    assert writes == ["5", "5", "12"]  # a write of the same value is a write


def test_a_change_is_more_than_a_write(adapter: AdapterThread, cart: Program) -> None:
    stop_with_cart(adapter, cart)
    watch(adapter, "cart.total", "change")
    changes = []
    while (stop := adapter.continue_(wait=True).result(SECONDS))["status"] == "paused":
        changes.append((stop["data"]["old"], stop["data"]["new"]))
    assert changes == [("0", "5"), ("5", "12")]


def test_a_condition_and_a_hit_count_decide(adapter: AdapterThread, cart: Program) -> None:
    stop_with_cart(adapter, cart)
    watch(adapter, "cart.total", condition="price != 5", hit_condition="2")
    stop = adapter.continue_(wait=True).result(SECONDS)
    assert stop["data"]["new"] == "12"


def test_an_item_of_a_dict_is_watched(adapter: AdapterThread, cart: Program) -> None:
    stop_with_cart(adapter, cart)
    watch(adapter, "cart.items['tea']")
    stop = adapter.continue_(wait=True).result(SECONDS)
    assert stop["reason"] == "data breakpoint"
    assert (stop["data"]["old"], stop["data"]["new"]) == ("1", "0")
    assert stop["data"]["location"] is not None
    assert stop["data"]["location"]["line"] == cart.line("item")


def test_a_set_replaces_and_an_empty_one_clears(adapter: AdapterThread, cart: Program) -> None:
    stop_with_cart(adapter, cart)
    watch(adapter, "cart.total")
    watch(adapter, "cart.items['tea']")
    kinds = [point for point in adapter.breakpoints.list_all().result(SECONDS) if "dataId" in point]
    assert len(kinds) == 1
    assert adapter.breakpoints.set_data([]).result(SECONDS) == []
    assert adapter.continue_(wait=True).result(SECONDS)["status"] == "terminated"


def test_what_cannot_be_watched_has_no_id_but_a_reason(
    adapter: AdapterThread, cart: Program
) -> None:
    stop_with_cart(adapter, cart)
    info = adapter.breakpoints.data_info("nothing.of_this_name").result(SECONDS)
    assert info["dataId"] is None
    assert info["description"]


def test_a_value_is_asked_for_only_at_a_stop(adapter: AdapterThread) -> None:
    with pytest.raises(errors.WrongState):
        adapter.breakpoints.data_info("x").result(SECONDS)
    adapter.launch(IDLE.path).result(SECONDS)
    with pytest.raises(errors.WrongState):
        adapter.breakpoints.data_info("end").result(SECONDS)
    adapter.pause().result(SECONDS)
    with pytest.raises(errors.FrameNotFound):
        adapter.breakpoints.data_info("end", 77).result(SECONDS)


@pytest.mark.parametrize("data_id", ["garbage", "\0", "x" * 10_000, "attr:1:2", "🙂"])
def test_a_garbage_data_id_is_not_verified_and_harms_nothing(
    adapter: AdapterThread, cart: Program, data_id: str
) -> None:
    before = adapter.breakpoints.set_data([DataBreakpointSpec(data_id)]).result(SECONDS)
    assert before[0]["verified"] is False
    stop_with_cart(adapter, cart)
    (result,) = adapter.breakpoints.set_data([DataBreakpointSpec(data_id)]).result(SECONDS)
    assert result["verified"] is False
    assert result["message"]
    adapter.breakpoints.set_source(cart.path, []).result(SECONDS)
    assert adapter.continue_(wait=True).result(SECONDS)["exit_code"] == 0


def test_a_watch_whose_frame_returns_is_told_to_be_over(
    adapter: AdapterThread, cart: Program
) -> None:
    adapter.breakpoints.set_function([FunctionBreakpointSpec("add")]).result(SECONDS)
    adapter.launch(cart.path, wait=True).result(SECONDS)
    heard: queue.Queue[BreakpointEvent] = queue.Queue()
    adapter.breakpoints.on_breakpoint(heard.put)
    result = watch(adapter, "price")
    assert heard.get(timeout=SECONDS)["reason"] == "new"
    adapter.continue_(wait=True).result(SECONDS)
    while (event := heard.get(timeout=SECONDS))["reason"] != "changed":
        pass
    assert event["breakpoint"]["id"] == result["id"]
    assert event["breakpoint"]["verified"] is False
    assert event["breakpoint"]["message"]


def test_a_program_that_ends_before_the_value_is_written_ends_the_wait(
    adapter: AdapterThread, cart: Program
) -> None:
    stop_with_cart(adapter, cart)
    watch(adapter, "cart.total", condition="False")
    waiting = adapter.continue_(wait=True)
    assert waiting.result(SECONDS)["status"] == "terminated"
    again = adapter.restart_program(wait=True).result(SECONDS)  # its object was another one
    assert line_of(again) == cart.line("made")


def test_it_runs_until_an_expression_is_true(adapter: AdapterThread, cart: Program) -> None:
    stop_with_cart(adapter, cart)
    stop = adapter.run_until("cart.total > 10").result(SECONDS)
    assert stop["status"] == "paused"
    assert adapter.evaluate("cart.total").result(SECONDS)["result"] == "12"
    there = adapter.run_until("cart.total > 10").result(SECONDS)
    assert "already" in there["message"]


def test_rest_sees_what_the_controller_watches(http_adapter: AdapterThread, cart: Program) -> None:
    stop_with_cart(http_adapter, cart)
    result = watch(http_adapter, "cart.total")
    listed = ask(http_adapter, "GET", "/breakpoints")["breakpoints"]
    (point,) = [point for point in listed if point["kind"] == "data"]
    assert point["breakpoint_id"] == result["breakpoint_id"]
    assert point["verified"] is True
    stopped = ask(http_adapter, "POST", "/continue", {"wait": True})
    assert (stopped["reason"], stopped["data"]["new"]) == ("data breakpoint", "5")
    assert http_adapter.wait_for_stop().result(SECONDS)["data"]["new"] == "5"
