"""The first page: what waits, all sessions, the latest events, live."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

from browsers import shown_session
from harness import Server
from page_scene import Scene

STORY = "total = 0\nfor number in range(3):\n    total += number\nprint(total)\n"


def test_a_held_program_waits_on_top_and_continues_with_one_click(
    page: Page, page_server: Server, project: Path
) -> None:
    (project / "story.py").write_text(STORY)
    page.goto("/")
    expect(page.get_by_text("Nothing is held")).to_be_visible()
    with shown_session(page, page_server, name="story", cwd=str(project)) as session:
        session.post("/breakpoints", {"file": "story.py", "line": 4})
        session.post("/launch", {"script": "story.py", "wait": 60})
        card = page.get_by_role("listitem").filter(has_text="story.py:4")
        card.get_by_role("button", name="Continue").click()
        expect(page.get_by_text("Nothing is held")).to_be_visible()
        row = page.get_by_role("row").filter(has_text="story")
        expect(row).to_contain_text("terminated")


def test_what_is_held_is_listed_with_its_kind_and_opens_where_one_decides(
    scene_page: Page, scene: Scene
) -> None:
    kinds = {
        "report (orders.py:32)": ("Program orders report", f"/programs/{scene.program}"),
        "tool put(": ("Agent shopper", f"/agents/{scene.agent}"),
        "Shop.sell('customer 9'": ("Call in shop.py", f"/holds/{scene.call_hold}"),
    }
    for title, (origin, address) in kinds.items():
        scene_page.goto(scene.address("/"))
        expect(scene_page).to_have_title("(3) Holdfast")
        card = scene_page.get_by_role("listitem").filter(has_text=title)
        expect(card).to_contain_text(origin)
        card.get_by_role("link", name="Open").click()
        expect(scene_page).to_have_url(scene.address(address))


def test_an_empty_server_teaches_how_to_begin(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/")
    page.get_by_role("button", name="Copy: holdfast run main.py").click()
    expect(page.get_by_role("button", name="Copy: holdfast run main.py")).to_have_text("Copied")
    command = page.evaluate("() => navigator.clipboard.readText()")
    assert command == "holdfast run main.py --break main.py:10"
