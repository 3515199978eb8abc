"""Breakpoints of calls on the page: made, explained, changed, switched off and removed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from axe import find_barriers
from playwright.sync_api import Page, expect
from shop_process import ShopProcess

from harness import Server


@pytest.fixture
def shop(page_server: Server, project: Path) -> Iterator[ShopProcess]:
    shop = ShopProcess(page_server, project)
    yield shop
    shop.stop()


def test_a_breakpoint_made_here_holds_a_call_and_can_be_changed(
    page: Page, shop: ShopProcess
) -> None:
    shop.run("shop.price('cake')")
    page.goto("/breakpoints")
    expect(page.get_by_text("holdfast calls break 'Shop.*'", exact=True)).to_be_visible()
    page.get_by_label("function").fill("Shop.*")
    page.get_by_label("condition", exact=True).fill("item == 'tea'")
    page.get_by_role("button", name="Add breakpoint").click()
    point = page.get_by_role("listitem").filter(has_text="calls of Shop.*")
    expect(point).to_contain_text("held before they run if item == 'tea'")
    expect(point).to_contain_text("0 hits")
    assert shop.run("shop.price('cake')") == "5"

    shop.begin("shop.price('tea')")
    expect(point).to_contain_text("1 hit")
    page.get_by_role("link", name="Home").click()
    page.get_by_role("button", name="Continue Shop.price('tea')").click()
    assert shop.read() == "3"

    page.get_by_role("link", name="Breakpoints").click()
    point.get_by_role("button", name="Edit").click()
    expect(page.get_by_label("condition", exact=True)).to_have_value("item == 'tea'")
    page.reload()
    page.get_by_label("condition", exact=True).fill("")
    page.get_by_label("when").select_option("exception")
    page.get_by_role("button", name="Save").click()
    expect(point).to_contain_text("held when they raise")
    expect(point).not_to_contain_text("item ==")
    assert not find_barriers(page)
    shop.begin("shop.price('soup')")
    expect(point).to_contain_text("2 hits")
    point.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("1 call that it held still waits")).to_be_visible()
    page.get_by_role("link", name="decide", exact=True).click()
    page.get_by_role("button", name="Continue").first.click()
    assert shop.read() == "KeyError: 'soup'"


def test_a_breakpoint_is_switched_off_and_one_that_misses_says_so(
    page: Page, shop: ShopProcess
) -> None:
    shop.run("shop.price('cake')")
    page.goto("/breakpoints")
    page.get_by_label("function").fill("Shop.prize")
    page.get_by_role("button", name="Add breakpoint").click()
    point = page.get_by_role("listitem").filter(has_text="calls of Shop.prize")
    expect(point).to_contain_text("Shop.price")
    point.get_by_role("button", name="Edit").click()
    page.get_by_label("function").fill("Shop.price")
    page.get_by_role("button", name="Save").click()
    switch = page.get_by_role("switch", name="Enabled: calls of Shop.price")
    expect(switch).to_be_checked()
    switch.focus()
    page.keyboard.press("Space")
    expect(switch).not_to_be_checked()
    assert shop.run("shop.price('tea')") == "3"
    page.get_by_role("button", name="Clear all").click()
    expect(page.get_by_text("No call is held yet")).to_be_visible()


def test_a_breakpoint_on_inline_calls_lets_wrapped_ones_pass(page: Page, shop: ShopProcess) -> None:
    page.goto("/breakpoints")
    page.get_by_role("button", name="What are inline calls?").click()
    expect(page.get_by_role("dialog")).to_contain_text("debug_call(f, x) marks one call")
    page.keyboard.press("Escape")
    page.get_by_label("call type").select_option("inline")
    page.get_by_role("button", name="Add breakpoint").click()
    expect(page.get_by_role("listitem").filter(has_text="all inline calls")).to_be_visible()
    assert shop.run("shop.price('tea')") == "3"
    shop.begin("debug_call(taxed, 4)")
    page.goto("/")
    page.get_by_role("link", name="Open taxed").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("inline")
    page.get_by_role("textbox", name="price").fill("8")
    page.get_by_role("button", name="Continue", exact=True).click()
    assert shop.read() == "10.0"


def test_a_refused_breakpoint_stays_in_its_boxes(refused_page: Page, shop: ShopProcess) -> None:
    page = refused_page
    page.goto("/breakpoints")
    page.get_by_label("function").fill("Shop.price")
    page.get_by_label("condition", exact=True).fill("item ==")
    page.get_by_role("button", name="Add breakpoint").click()
    expect(page.get_by_role("alert")).to_contain_text("position")
    expect(page.get_by_label("condition", exact=True)).to_have_value("item ==")
