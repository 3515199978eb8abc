"""The flame timeline: recorded calls by thread and depth, moved and walked by keys and pointer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from application import Application
from background import run_in_thread
from harness import Server
from holdfast import with_debug


class Shop:
    """Its calls nest: a day has orders, an order has prices."""

    def price(self, item: int) -> int:
        if item == 13:
            raise KeyError(item)
        return item * 2


class Till:
    def order(self, shop: Shop, items: range) -> int:
        return sum(shop.price(item) for item in items)


@pytest.fixture
def application(page_server: Server) -> Iterator[Application]:
    application = Application(page_server).start(mode="leased")
    yield application
    application.stop()


def record_orders(orders: int) -> None:
    """Record this many orders of ten prices each; when it returns, the server has them."""
    shop, till = with_debug(Shop()), with_debug(Till())
    for number in range(orders):
        till.order(shop, range(number * 20, number * 20 + 10))
    with_debug("OFF")


def open_timeline(page: Page, session: str, more: str = "") -> Locator:
    page.goto(f"/calls?view=flame&session={session}{more}")
    return page.get_by_role("application")


def read_range(page: Page) -> tuple[float, float]:
    """The span that the address says, in milliseconds."""
    values = parse_qs(urlsplit(page.url).query)
    return float(values["from"][0]), float(values["to"][0])


def wait_for_range(page: Page, other_than: tuple[float, float] = (0, 0)) -> tuple[float, float]:
    known = re.escape(f"from={other_than[0]:.3f}&to={other_than[1]:.3f}")
    expect(page).to_have_url(re.compile(rf"^(?!.*{known}).*from=\d+\.\d+&to="))
    return read_range(page)


def test_calls_are_walked_by_keys_and_a_reload_shows_the_same(
    page: Page, application: Application
) -> None:
    record_orders(30)
    timeline = open_timeline(page, application.session_id)
    selected = page.get_by_role("status", name="Selected call")
    expect(timeline).to_have_accessible_name("Flame timeline, 330 calls")
    timeline.focus()
    page.keyboard.press("ArrowRight")
    expect(selected).to_contain_text("Till.order")
    page.keyboard.press("ArrowDown")
    expect(selected).to_contain_text("Shop.price")
    page.keyboard.press("ArrowUp")
    expect(selected).to_contain_text("Till.order")

    # The first order may have taken almost all of the time. A part of it can be moved in any case.
    page.keyboard.press("z")
    order = wait_for_range(page)
    page.keyboard.press("w")
    part = wait_for_range(page, order)
    assert part[1] - part[0] < order[1] - order[0]
    page.keyboard.press("d")
    later = wait_for_range(page, part)
    assert later[0] > part[0]
    page.keyboard.press("s")
    wide = wait_for_range(page, later)
    assert wide[1] - wide[0] > later[1] - later[0]

    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_contain_text("Arguments")
    expect(page).to_have_url(re.compile("call="))
    opened = page.url
    page.reload()
    expect(selected).to_contain_text("Till.order")
    expect(page.get_by_role("main")).to_contain_text("Arguments")
    assert page.url == opened

    timeline.focus()
    page.keyboard.press("Home")
    expect(page).not_to_have_url(re.compile("from="))


def test_the_pointer_zooms_marks_a_range_and_opens_a_call(
    page: Page, application: Application
) -> None:
    record_orders(30)
    timeline = open_timeline(page, application.session_id)
    expect(timeline).to_have_accessible_name("Flame timeline, 330 calls")
    box = timeline.bounding_box()
    assert box
    x, width, ruler, orders = box["x"], box["width"], box["y"] + 10, box["y"] + 24 + 29

    page.mouse.move(x + width / 2, orders)
    page.mouse.wheel(0, -240)
    halved = wait_for_range(page)
    page.mouse.move(x + width * 0.25, ruler)
    page.mouse.down()
    page.mouse.move(x + width * 0.75, ruler, steps=4)
    page.mouse.up()
    marked = wait_for_range(page, halved)
    assert marked[1] - marked[0] == pytest.approx((halved[1] - halved[0]) / 2, rel=0.01)

    page.get_by_role("button", name="Fit all").click()
    expect(page).not_to_have_url(re.compile("from="))
    timeline.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("z")
    wait_for_range(page, marked)
    page.mouse.click(x + width / 2, orders)
    expect(page).to_have_url(re.compile("call="))
    expect(page.get_by_role("main")).to_contain_text("Till.order")


def test_a_filter_says_how_far_it_looked(page: Page, application: Application) -> None:
    record_orders(3)
    filter_ = "&filter=status%20%3D%3D%20'success'%20and%20function%20%3D%3D%20'price'"
    timeline = open_timeline(page, application.session_id, filter_)
    expect(timeline).to_have_accessible_name("Flame timeline, 30 fit, of the latest 33")


def test_new_calls_appear_by_themselves_and_a_held_one_is_marked(
    page: Page, application: Application
) -> None:
    till, shop = with_debug(Till()), with_debug(Shop())
    till.order(shop, range(3))
    timeline = open_timeline(page, application.session_id)
    expect(timeline).to_have_accessible_name("Flame timeline, 4 calls")
    application.break_on("order")
    running = run_in_thread(lambda: till.order(shop, range(13, 15)))
    hold = application.wait_for_hold()
    expect(timeline).to_have_accessible_name("Flame timeline, 5 calls")
    timeline.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowDown")  # the other thread
    selected = page.get_by_role("status", name="Selected call")
    expect(selected).to_contain_text("held")
    application.decide(hold, "continue")
    with pytest.raises(KeyError):
        running.result(60)
    expect(selected).to_contain_text("exception")
    expect(timeline).to_have_accessible_name("Flame timeline, 6 calls")
