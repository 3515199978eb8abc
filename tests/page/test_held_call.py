"""A held call on the page: edited and continued, skipped, raised, replaced; all resumed at once."""

from __future__ import annotations

import re
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


def break_on(shop: ShopProcess, function: str, **more: str) -> None:
    fields = {"function": function, "session_id": shop.session_id, **more}
    shop.server.post("/api/breakpoints", fields)


def open_held(page: Page, shop: ShopProcess, line: str) -> None:
    """Let it make a call that is held, and open it from the first page."""
    shop.begin(line)
    page.goto("/")
    page.get_by_role("link", name="Open Shop").click()
    expect(page.get_by_text("It has not run yet.")).to_be_visible()


def test_changed_arguments_reach_the_application_exactly(page: Page, shop: ShopProcess) -> None:
    break_on(shop, "Shop.show")
    open_held(page, shop, "shop.show({'total': 4.0})")
    page.keyboard.press("e")
    box = page.get_by_label("value", exact=True).first
    expect(box).to_be_focused()
    expect(box).to_have_value("{'total': 4.0}")
    box.fill("[4.0, 12345678901234567890, (1, None)]")
    expect(page.get_by_text("changed; was {'total': 4.0}")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(box).to_have_value("{'total': 4.0}")
    box.fill("[4.0, 12345678901234567890, (1, None)]")
    page.keyboard.press("F5")
    assert shop.read() == "[4.0, 12345678901234567890, (1, None)]"
    expect(page.get_by_text("Decided: modify on this page.")).to_be_visible()

    page.reload()
    expect(page.get_by_text("Decided: modify on this page.")).to_be_visible()
    expect(page.get_by_text("value: {'total': 4.0} → [4.0,")).to_be_visible()
    page.get_by_role("link", name="See the call").click()
    expect(page.get_by_role("region", name="Result")).to_contain_text("[4.0, 12345678901234567890")


def test_a_call_is_skipped_raised_or_replaced(page: Page, shop: ShopProcess) -> None:
    break_on(shop, "Shop.price")
    open_held(page, shop, "shop.price('tea', 2)")
    assert not find_barriers(page)
    page.keyboard.press("s")
    page.keyboard.type("7.0")
    page.keyboard.press("Enter")
    assert shop.read() == "7.0"

    open_held(page, shop, "shop.price('tea', 2)")
    page.keyboard.press("x")
    page.get_by_label("exception").fill("LookupError")
    page.get_by_label("message").fill("no tea")
    page.get_by_role("button", name="Raise").click()
    assert shop.read() == "LookupError: no tea"

    open_held(page, shop, "shop.price('tea', 2)")
    page.get_by_label("expression").fill("shop.sold + [line]")
    page.get_by_role("button", name="Evaluate").click()
    expect(page.get_by_role("log")).to_contain_text("[\"shop.price('tea', 2)\\n\"]")
    page.get_by_label("function").select_option("sale_price")
    page.get_by_role("button", name="Replace").click()
    assert shop.read() == "2.5"
    expect(page.get_by_role("link", name="Nothing else waits")).to_be_visible()


def test_a_result_is_changed_after_the_call(page: Page, shop: ShopProcess) -> None:
    break_on(shop, "Shop.price", when="after")
    shop.begin("shop.price('cake', 2)")
    page.goto("/")
    page.get_by_role("link", name="Open Shop").click()
    expect(page.get_by_role("region", name="Result")).to_contain_text("10")
    expect(page.get_by_role("textbox", name="count")).not_to_be_editable()
    expect(page.get_by_role("button", name="Replace")).to_be_hidden()
    expect(page.get_by_label("value")).to_have_value("10")
    page.get_by_label("value").fill("11")
    page.get_by_role("button", name="Skip").click()
    assert shop.read() == "11"


def test_what_is_refused_leaves_the_edits_in_place(refused_page: Page, shop: ShopProcess) -> None:
    page = refused_page
    break_on(shop, "Shop.price")
    open_held(page, shop, "shop.price('tea', 2)")
    hold = page.url.rpartition("/")[2]
    count = page.get_by_role("textbox", name="count")
    count.fill("two")
    page.get_by_role("button", name="Continue", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("two")
    expect(count).to_have_value("two")
    decision = {"action": "skip", "fake_result": {"value": 1}, "by": "curl"}
    shop.server.post(f"/api/holds/{hold}/decision", decision)
    expect(page.get_by_text("Decided: skip by curl.")).to_be_visible()
    expect(count).to_have_value("two")
    expect(page.get_by_role("button", name="Continue", exact=True)).to_be_disabled()
    assert shop.read() == "1"


def test_all_held_calls_resume_at_once(page: Page, shop: ShopProcess) -> None:
    break_on(shop, "Shop.sell", condition="customer != 'eve'")
    shop.begin("sorted(sell_at_once('ann', 'bob', 'eve'))")
    page.goto(f"/calls?session={shop.session_id}")
    page.get_by_role("link", name="held: decide Shop.sell").first.click()
    expect(page).to_have_url(re.compile("/holds/"))
    page.get_by_role("button", name="Resume all (2)").click()
    assert shop.read() == "['ann', 'bob', 'eve']"
    expect(page.get_by_text("Decided: continue on this page.")).to_be_visible()


def test_on_a_phone_the_decision_is_under_the_thumb(page: Page, shop: ShopProcess) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    break_on(shop, "Shop.price")
    open_held(page, shop, "shop.price('tea', 2)")
    button = page.get_by_role("button", name="Continue")
    box = button.bounding_box()
    assert box is not None
    assert (box["y"] > 700, box["height"] >= 40) == (True, True)
    width = page.evaluate("() => document.documentElement.scrollWidth")
    assert width == 390
    button.click()
    assert shop.read() == "6"
