"""Recorded calls on the page: the list with its filter and live tail, the tree, one call."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe import find_barriers
from playwright.sync_api import Locator, Page, expect
from shop_process import ShopProcess

from harness import Server

IMAGE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def shop(page_server: Server, project: Path) -> Iterator[ShopProcess]:
    shop = ShopProcess(page_server, project)
    yield shop
    shop.stop()


def find_rows(page: Page) -> Locator:
    return page.get_by_role("group", name="Recorded calls").get_by_role("listitem")


def choose(page: Page, value: str, item: str) -> None:
    """Choose from the menu of a value."""
    page.get_by_role("button", name=f"More about {value}", exact=True).click()
    page.get_by_role("menuitem", name=item).click()


def test_calls_are_filtered_and_opened_and_a_reload_shows_the_same(
    page: Page, shop: ShopProcess
) -> None:
    for number in range(3):
        shop.run(f"shop.sell('customer {number}', {{'tea': {number}, 'cake': 1}})")
    shop.run("shop.price('soup')")
    page.goto(f"/calls?session={shop.session_id}")
    expect(find_rows(page)).to_have_count(10)
    expect(find_rows(page).first).to_contain_text("Shop.price('soup')")
    expect(find_rows(page).first).to_contain_text("KeyError: 'soup'")
    expect(page.get_by_label("Session")).to_contain_text("shop_console.py")

    page.keyboard.press("/")
    page.get_by_label("Filter").fill("customer == 'customer 2'")
    page.keyboard.press("Enter")
    expect(find_rows(page)).to_have_count(1)
    expect(page.get_by_text("looked at 10 calls, found 1")).to_be_visible()

    page.keyboard.press("Escape")
    page.get_by_role("link", name="Shop.sell('customer 2'").click()
    detail = page.get_by_role("region", name="Call", exact=True)
    expect(detail).to_contain_text("Shop.sell(customer, items)")
    expect(detail.get_by_role("region", name="Called from")).to_contain_text("shop_console.py:")
    expect(detail.get_by_role("region", name="Result")).to_contain_text("11")
    expect(detail.get_by_role("treeitem")).to_have_count(2)
    choose(page, "items", "the previous call of this function")
    differences = page.get_by_role("table", name="Differences")
    expect(differences.get_by_role("row", name="['tea'] 1 2")).to_be_visible()

    page.reload()
    expect(find_rows(page)).to_have_count(1)
    expect(differences.get_by_role("row", name="['tea'] 1 2")).to_be_visible()
    choose(page, "object.after", "what it was before the call")
    expect(differences).to_contain_text("'customer 2'")
    assert not find_barriers(page)
    page.get_by_role("link", name="Open alone").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Shop.sell")
    page.go_back()
    page.get_by_role("heading", name="Recorded calls").click()
    page.keyboard.press("Escape")
    expect(detail).to_be_hidden()


def test_keys_move_through_the_calls_and_values_stay_text(page: Page, shop: ShopProcess) -> None:
    shop.run(f"shop.show({IMAGE!r})")
    shop.run("shop.show(list(range(2000)))")
    shop.run(f"shop.show({IMAGE!r})")
    page.goto(f"/calls?session={shop.session_id}")
    expect(find_rows(page)).to_have_count(3)
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.get_by_role("link", name="Shop.show([0, 1")).to_be_focused()
    page.keyboard.press("Enter")
    choose(page, "value", "Show the whole value")
    expect(page.get_by_text("1998, 1999]")).to_be_visible()

    page.keyboard.press("k")
    expect(find_rows(page).first.get_by_role("link")).to_have_attribute("aria-current", "true")
    detail = page.get_by_role("region", name="Call", exact=True)
    expect(detail.get_by_role("region", name="Arguments")).to_contain_text(IMAGE)
    choose(page, "value", "Other calls with this value")
    expect(detail.get_by_role("link", name=f"Shop.show('{IMAGE}')")).to_have_count(1)
    expect(page.locator("main img")).to_have_count(0)


def test_a_filter_says_where_it_is_wrong_and_what_it_could_not_judge(
    refused_page: Page, shop: ShopProcess
) -> None:
    page = refused_page
    shop.run("shop.price('tea')")
    page.goto(f"/calls?session={shop.session_id}")
    page.get_by_label("Filter").fill("args[0] ===")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("invalid syntax at position 11")
    expect(page.get_by_label("Filter")).to_have_value("args[0] ===")
    page.get_by_label("Filter").fill("itm == 'tea'")
    page.keyboard.press("Enter")
    expect(page.get_by_text("could not judge 1: no function that was called")).to_be_visible()
    page.get_by_role("button", name="Show all calls").click()
    expect(page).to_have_url(re.compile(r"/calls$"))


def test_the_list_follows_stops_when_one_reads_and_counts_what_is_new(
    page: Page, shop: ShopProcess
) -> None:
    page.goto(f"/calls?session={shop.session_id}")
    expect(page.get_by_text("No call fits yet")).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="live")).to_be_visible()
    shop.run("shop.price('tea')")
    expect(find_rows(page)).to_have_count(1)
    find_rows(page).get_by_role("link").click()
    shop.run("[shop.price('cake', count) for count in range(3)]")
    expect(page.get_by_role("button", name="Go on (3 new)")).to_be_visible()
    expect(find_rows(page)).to_have_count(1)
    page.get_by_role("button", name="Go on (3 new)").click()
    expect(find_rows(page)).to_have_count(4)
    expect(find_rows(page).first).to_contain_text("Shop.price('cake', 2)")


def test_the_tree_unfolds_by_keys_and_stays_unfolded(page: Page, shop: ShopProcess) -> None:
    shop.run("shop.sell('ann', {'tea': 1, 'cake': 2})")
    shop.run("shop.price('cake')")
    page.goto(f"/calls?session={shop.session_id}")
    page.get_by_role("tab", name="Tree").click()
    items = page.get_by_role("treeitem")
    expect(items).to_have_count(2)
    page.get_by_role("tree").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    expect(items).to_have_count(4)
    page.reload()
    expect(items).to_have_count(4)
    expect(items.nth(2)).to_contain_text("Shop.price('tea', 1)")
    page.get_by_role("tree").focus()
    for key in ("End", "Enter"):
        page.keyboard.press(key)
    detail = page.get_by_role("region", name="Call", exact=True)
    expect(detail.get_by_role("region", name="Result")).to_contain_text("10")
    assert not find_barriers(page)
    detail.get_by_role("link", name="its caller").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Shop.sell")


def test_an_inline_call_is_marked_and_explained(page: Page, shop: ShopProcess) -> None:
    assert shop.run("debug_call(taxed, 6)") == "7.5"
    page.goto(f"/calls?session={shop.session_id}")
    row = find_rows(page).filter(has_text="taxed(6)")
    expect(row.get_by_text("inline", exact=True)).to_be_visible()
    page.get_by_role("button", name="What are inline calls?").click()
    help_ = page.get_by_role("dialog", name="Inline calls")
    expect(help_).to_contain_text("debug_call(f, x) marks one call")
    page.keyboard.press("Escape")
    row.get_by_role("link").click()
    page.get_by_role("button", name="Break on this function").click()
    expect(page.get_by_role("link", name="Breakpoint on taxed")).to_be_visible()
    shop.begin("debug_call(taxed, 8)")
    page.get_by_role("button", name="Go on (1 new, 1 held)").click()
    page.get_by_role("link", name="held: decide taxed").first.click()
    expect(page.get_by_role("textbox", name="price")).to_have_value("8")
    page.keyboard.press("F5")
    assert shop.read() == "10.0"
