"""Every view by axe: wide and dark, on a phone and light. `make soak` tries all four."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
from axe import find_barriers
from playwright.sync_api import Page, ViewportSize, expect
from recorded_orders import write_orders

from browsers import PHONE, WIDE
from own_environment import IS_SOAK
from page_scene import Scene

Scheme = Literal["dark", "light"]
LOOKS: list[tuple[ViewportSize, Scheme]] = [(WIDE, "dark"), (PHONE, "light")]
if IS_SOAK:
    LOOKS = [(WIDE, "light"), (PHONE, "dark"), *LOOKS]
VIEWS = {
    "/": "Waiting for you",
    "/programs": "Launch",
    "/programs/{program}": "orders report",
    "/programs/{program}?tab=console": "orders report",
    "/calls?session={calls}": "customer 8",
    "/calls?session={calls}&view=tree": "sell",
    "/calls?session={calls}&view=flame": "Flame",
    "/holds/{call_hold}": "customer 9",
    "/breakpoints": "Shop.sell",
    "/agents": "shopper",
    "/agents/{agent}": "Buy tea and cake.",
    "/agents/compare?left={finished_agent}&right={forked_agent}": "in German, please",
    "/events": "Events",
}


@pytest.mark.parametrize("address", VIEWS)
def test_a_view_has_no_barriers_and_fits_a_phone(
    scene_page: Page, scene: Scene, address: str
) -> None:
    scene_page.goto(scene.address(address))
    expect(scene_page.locator("main").get_by_text(VIEWS[address]).first).to_be_visible()
    check_view(scene_page)


@pytest.mark.parametrize("view", ["list", "run", "tree", "call"])
def test_a_view_of_traces_has_no_barriers_and_fits_a_phone(
    scene_page: Page, scene: Scene, tmp_path: Path, view: str
) -> None:
    orders = write_orders(scene.server, tmp_path)
    trace = orders.trace() if view == "tree" else orders.trace_run()
    address, text = f"/traces/{trace}", "Call tree" if view == "tree" else "Calls"
    if view == "list":
        address, text = "/traces", "Recordings"
    if view == "call":
        place = f"{orders.program.path}:{orders.line('result')}"
        chosen = f"line={orders.line('add')}&why=amount&at={place}"
        address, text = f"{orders.address(trace, 'total')}?{chosen}", "written here"
    scene_page.goto(scene.server.url + address)
    expect(scene_page.locator("main").get_by_text(text).first).to_be_visible()
    check_view(scene_page)


def check_view(page: Page) -> None:
    barriers = []
    for viewport, scheme in LOOKS:
        page.set_viewport_size(viewport)
        page.emulate_media(color_scheme=scheme)
        barriers += find_barriers(page)
    assert not barriers, "\n".join(barriers)
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= PHONE["width"], "the page scrolls sideways on a phone"
