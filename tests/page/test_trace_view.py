"""Traces on the page: source with values, loops that are scrubbed, where values came from."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect
from recorded_orders import RecordedOrders, write_orders

from harness import Server


@pytest.fixture
def orders(page_server: Server, project: Path) -> RecordedOrders:
    return write_orders(page_server, project)


def line(page: Page, number: int) -> Locator:
    """A line of the source, with what stands beside it."""
    number_button = page.get_by_role("button", name=f"Line {number}", exact=True)
    return page.get_by_role("listitem").filter(has=number_button)


def slider(page: Page, orders: RecordedOrders) -> Locator:
    return page.get_by_role("slider", name=f"Round of the loop at line {orders.line('loop')}")


def test_the_form_records_a_call_and_keys_scrub_its_loop(
    page: Page, orders: RecordedOrders
) -> None:
    page.goto("/traces")
    page.get_by_role("textbox", name="Run").fill(orders.program.path)
    page.get_by_role("textbox", name="Function").fill("total")
    page.get_by_role("button", name="Run and record").click()
    expect(page.get_by_role("heading", name="total", exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile(r"/traces/trc_\w+/calls/\w+$"))
    added = line(page, orders.line("add"))
    expect(added).to_contain_text("amount = 4")
    expect(line(page, orders.line("test"))).to_contain_text("not taken")
    expect(line(page, orders.line("dear"))).to_contain_text("did not run")
    slider(page, orders).focus()
    page.keyboard.press("ArrowRight")
    expect(added).to_contain_text("amount = 8")
    expect(page.get_by_text("round 2 of 3")).to_be_visible()
    page.keyboard.press("End")
    expect(added).to_contain_text("amount = 908")
    expect(line(page, orders.line("dear"))).to_contain_text("discount = 0")
    expect(page).to_have_url(re.compile(rf"rounds={orders.line('loop')}\.3"))
    page.reload()
    expect(added).to_contain_text("amount = 908")
    page.keyboard.press("[")
    expect(added).to_contain_text("amount = 8")
    page.get_by_role("button", name="Previous round").click()
    expect(added).to_contain_text("amount = 4")
    expect(page.get_by_text("returned 908")).to_be_visible()


def test_arguments_stand_at_the_head_and_lines_are_walked_by_keys(
    page: Page, orders: RecordedOrders
) -> None:
    page.goto(orders.address(orders.trace(function="total", call=2), "total", 2))
    head = line(page, orders.line("loop") - 2)
    expect(head).to_contain_text("order = [('pie', 5)]")
    expect(head).to_contain_text("discount = 1")
    page.keyboard.press("j")
    page.keyboard.press("j")
    chosen = page.locator("li[aria-current=true]")
    expect(chosen).to_contain_text("for name, price in order")
    expect(page).to_have_url(re.compile(f"line={orders.line('loop')}"))
    page.keyboard.press("k")
    expect(chosen).to_contain_text("amount = 0")
    page.get_by_role("button", name=f"Line {orders.line('test')}").click()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("button", name=f"Line {orders.line('dear')}")).to_be_focused()
    expect(chosen).to_contain_text("discount = 0")


def test_one_goes_from_call_to_call(page: Page, orders: RecordedOrders) -> None:
    trace = orders.trace_run()
    page.goto(f"/traces/{trace}")
    page.get_by_role("link", name="total call 1").click()
    added = line(page, orders.line("add"))
    expect(added).to_contain_text("amount = 4")
    page.keyboard.press("n")
    expect(added).to_contain_text("amount = 15")
    page.get_by_role("button", name="Previous call").click()
    expect(added).to_contain_text("amount = 4")
    within = page.get_by_role("region", name="Calls made within it")
    within.get_by_role("link", name="rate").nth(1).click()
    expect(page.get_by_role("heading", name="rate", exact=True)).to_be_visible()
    expect(page.get_by_text("returned 2")).to_be_visible()
    page.keyboard.press("u")
    expect(page.get_by_role("heading", name="total", exact=True)).to_be_visible()
    page.get_by_role("link", name="All calls").click()
    expect(page).to_have_url(re.compile(f"/traces/{trace}$"))


def test_a_value_is_asked_for_its_origin_and_the_chain_leads_to_lines(
    page: Page, orders: RecordedOrders
) -> None:
    loop = orders.line("loop")
    call = orders.address(orders.trace_run(), "total")
    page.goto(f"{call}?line={orders.line('add')}&rounds={loop}.2")
    line(page, orders.line("add")).get_by_role("button", name="Why?").click()
    chain = page.get_by_role("list", name="What led to it")
    first = chain.get_by_role("listitem").first
    expect(first).to_contain_text("amount += price * rate(name)")
    expect(first).to_contain_text("amount = 8")
    expect(page).to_have_url(re.compile("why=amount"))
    page.reload()
    expect(first).to_contain_text("amount = 8")
    chain.get_by_role("button", name=f"orders.py:{loop}").first.click()
    expect(page.locator("li[aria-current=true]")).to_contain_text("for name, price in order")
    chain.get_by_role("button", name=f"orders.py:{orders.line('rate')}").first.click()
    expect(page.get_by_role("heading", name="rate", exact=True)).to_be_visible()
    expect(page.locator("li[aria-current=true]")).to_contain_text("return RATES.get")
    expect(chain).to_be_visible()


def test_a_link_of_why_opens_the_very_call_and_round_it_speaks_of(
    page: Page, orders: RecordedOrders
) -> None:
    loop, trace = orders.line("loop"), orders.trace_run()
    asked = f"why=amount&at={orders.program.path}:{orders.line('result')}&hit=1"
    page.goto(f"{orders.address(trace, 'total', 2)}?{asked}")  # of call 1, while call 2 is shown
    chain = page.get_by_role("list", name="What led to it")
    chain.get_by_role("button", name=f"orders.py:{orders.line('add')}").click()
    expect(page).to_have_url(re.compile(orders.address(trace, "total", 1)))
    added = line(page, orders.line("add"))
    expect(added).to_contain_text("amount = 908")
    expect(page.get_by_text("round 3 of 3")).to_be_visible()
    page.keyboard.press("[")
    expect(added).to_contain_text("amount = 8")
    expect(page).to_have_url(re.compile(rf"rounds={loop}\.2"))
    chain.get_by_role("button", name=f"orders.py:{loop}").click()  # the call is shown already
    expect(page.get_by_text("round 3 of 3")).to_be_visible()
    chain.get_by_role("button", name=f"orders.py:{orders.line('rate')}").click()
    expect(page).to_have_url(re.compile(orders.address(trace, "rate", 3)))
    expect(page.get_by_text("returned 3")).to_be_visible()
    chain.get_by_role("button", name=f"orders.py:{orders.line('call')}").click()
    expect(page.get_by_text("round 1 of 2")).to_be_visible()
    page.go_back()
    expect(page).to_have_url(re.compile(orders.address(trace, "rate", 3)))


def test_why_beside_a_change_asks_for_that_call_and_round(
    page: Page, orders: RecordedOrders
) -> None:
    add, trace = orders.line("add"), orders.trace_run()
    asking = line(page, add).get_by_role("button", name="Why?")
    value = page.locator(".why-value")
    chain = page.get_by_role("list", name="What led to it")
    page.goto(f"{orders.address(trace, 'total', 2)}?line={add}")
    asking.click()
    expect(value).to_contain_text("amount = 15 time 4 of 4")
    expect(chain).to_contain_text("'pie'")
    expect(page).to_have_url(re.compile("hit=4&after=true"))
    page.goto(f"{orders.address(trace, 'total', 1)}?line={add}&rounds={orders.line('loop')}.2")
    asking.click()
    expect(value).to_contain_text("amount = 8 time 2 of 4")
    assert page.get_by_role("textbox", name="Time").input_value() == "2"
    fresh = page.context.new_page()
    fresh.goto(page.url)
    expect(fresh.locator(".why-value")).to_contain_text("amount = 8 time 2 of 4")


def test_why_in_a_trace_of_one_function_asks_a_new_run_for_the_same_call_and_round(
    page: Page, orders: RecordedOrders
) -> None:
    trace = orders.trace(function="total", call=2)
    page.goto(f"{orders.address(trace, 'total', 2)}?line={orders.line('add')}")
    line(page, orders.line("add")).get_by_role("button", name="Why?").click()
    page.get_by_role("button", name="Run again and ask").click()
    expect(page.locator(".why-value")).to_contain_text("amount = 15 time 4 of 4")
    expect(page.get_by_text("call 2", exact=True)).to_be_visible()
    expect(line(page, orders.line("add"))).to_contain_text("amount = 15")


def test_a_value_is_found_and_leads_to_its_line(page: Page, orders: RecordedOrders) -> None:
    page.goto(f"/traces/{orders.trace_run()}")
    page.get_by_role("textbox", name="Text of the value").fill("'cake'")
    page.keyboard.press("Enter")
    page.get_by_role("list", name="Where it is").get_by_role(
        "link", name="name = 'cake'"
    ).first.click()
    expect(page.get_by_role("heading", name="total", exact=True)).to_be_visible()
    expect(page.locator("li[aria-current=true]")).to_contain_text("for name, price in order")


def test_a_value_that_was_cut_can_be_seen_whole(
    page: Page, page_server: Server, project: Path
) -> None:
    (project / "long.py").write_text("def count():\n    found = 'ab' * 900 + 'end'\n\n\ncount()\n")
    body = {"target": str(project / "long.py"), "function": "count"}
    trace = page_server.post("/tools/debug_trace", body)["trace_id"]
    page.goto(f"/traces/{trace}/calls/0?line=2")
    expect(line(page, 2)).not_to_contain_text("babend")
    page.get_by_role("button", name="Whole value of found").click()
    expect(page.get_by_role("region", name="The whole value of found")).to_contain_text("babend")
    expect(page).to_have_url(re.compile("look="))


def test_a_trace_of_one_function_offers_a_run_that_can_tell(
    page: Page, orders: RecordedOrders
) -> None:
    page.goto(orders.address(orders.trace(function="total"), "total"))
    page.get_by_role("button", name=f"Line {orders.line('add')}").click()
    line(page, orders.line("add")).get_by_role("button", name="Why?").click()
    page.get_by_role("button", name="Run again and ask").click()
    chain = page.get_by_role("list", name="What led to it")
    expect(chain).to_contain_text("amount += price * rate(name)")
    chain.get_by_role("button", name=f"orders.py:{orders.line('add')}").first.click()
    expect(page.locator("li[aria-current=true]")).to_contain_text("amount += price")


def test_the_call_tree_has_counts_and_leads_to_a_trace(page: Page, orders: RecordedOrders) -> None:
    page.goto(f"/traces/{orders.trace()}")
    tree = page.get_by_role("region", name="Call tree")
    row = tree.get_by_role("row", name=re.compile("^rate "))
    expect(row.get_by_role("cell", name="4", exact=True)).to_be_visible()
    tree.get_by_role("button", name=re.compile("What .*total called")).click()
    expect(row).to_be_hidden()
    tree.get_by_role("button", name=re.compile(r"Trace .*\btotal\b")).click()
    expect(page.get_by_role("heading", name="total", exact=True)).to_be_visible()


def test_another_call_is_recorded_and_a_recording_is_deleted(
    page: Page, orders: RecordedOrders
) -> None:
    page.goto(f"/traces/{orders.trace(function='total')}")
    page.get_by_role("spinbutton", name="Call number").fill("2")
    page.get_by_role("button", name="Run again").click()
    expect(page.get_by_text("call 2")).to_be_visible()
    page.get_by_role("link", name="All calls").click()
    trace = page.url.rsplit("/", 1)[1]
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Delete it for good").click()
    expect(page).to_have_url(re.compile("/traces$"))
    assert trace not in [each["trace_id"] for each in orders.server.get("/api/traces")["traces"]]


def test_a_function_that_was_not_called_is_said_to_be_so(
    page: Page, orders: RecordedOrders
) -> None:
    page.goto("/traces")
    page.get_by_role("textbox", name="Run").fill(orders.program.path)
    page.get_by_role("textbox", name="Function").fill("total")
    page.get_by_role("radio", name="By its arguments").check()
    page.get_by_role("textbox", name="Condition").fill("discount > 5")
    page.get_by_role("button", name="Run and record").click()
    form = page.get_by_role("region", name="Make a trace")
    expect(form).to_contain_text("was true for no call")


def test_a_phone_can_scrub(page: Page, orders: RecordedOrders) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(orders.address(orders.trace(function="total"), "total"))
    added = line(page, orders.line("add"))
    expect(added).to_contain_text("amount = 4")
    page.get_by_role("button", name="Next round").click()
    expect(added).to_contain_text("amount = 8")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
