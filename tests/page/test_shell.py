"""What every view has: keys and their help, the palette, the theme, the live connection."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Browser, Page, Request, expect

from browsers import shown_session
from harness import Server

LOOP = "for number in range(3):\n    print(number)\n"


def test_a_question_mark_shows_all_keys_and_escape_hides_them(page: Page) -> None:
    page.goto("/")
    expect(page.get_by_role("status")).to_have_text("live")
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    expect(keys).to_contain_text("Open the command palette")
    expect(keys).to_contain_text("ctrl+k")
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()


def test_letters_go_places_but_are_text_in_a_box(page: Page) -> None:
    page.goto("/")
    expect(page.get_by_role("status")).to_have_text("live")
    # No time passes between two keys, however slow the browser is. Timers go on.
    page.evaluate("() => { const now = performance.now(); performance.now = () => now; }")
    page.keyboard.press("g")
    page.keyboard.press("e")
    expect(page).to_have_url(re.compile("/events$"))
    box = page.get_by_label("Show events with")
    box.fill("")
    box.press_sequentially("g?h")
    expect(box).to_have_value("g?h")
    expect(page).to_have_url(re.compile(r"/events\?words=g%3Fh$"))
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_the_palette_finds_commands_and_sessions_by_their_names(
    page: Page, page_server: Server
) -> None:
    with shown_session(page, page_server, name="needle in the palette"):
        page.goto("/")
        expect(page.get_by_role("link", name="needle in the palette")).to_be_visible()
        page.keyboard.press("Control+k")
        palette = page.get_by_role("dialog", name="Command palette")
        palette.get_by_role("searchbox").or_(palette.get_by_role("textbox")).fill("breakp")
        expect(palette.get_by_role("menuitem")).to_have_count(1)
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile("/breakpoints$"))
        page.keyboard.press("Control+k")
        page.keyboard.type("needle")
        palette.get_by_role("menuitem", name="needle in the palette").click()
        expect(page).to_have_url(re.compile("/programs/sess_"))


def test_the_theme_is_remembered(page: Page) -> None:
    page.goto("/")
    back = "() => getComputedStyle(document.documentElement).backgroundColor"
    dark = page.evaluate(back)
    button = page.get_by_role("button", name="Theme:")
    button.click()
    expect(button).to_have_accessible_name(re.compile("Theme: dark"))
    button.click()
    expect(button).to_have_accessible_name(re.compile("Theme: light"))
    assert page.evaluate(back) != dark
    page.reload()
    expect(button).to_have_accessible_name(re.compile("Theme: light"))


def test_an_unknown_address_says_so_and_leads_back(page: Page) -> None:
    page.goto("/programs/none/such")
    page.get_by_role("link", name="Go to the first page").click()
    expect(page.get_by_role("heading", name="Waiting for you")).to_be_visible()


def test_the_newest_events_appear_and_the_list_can_be_stopped(
    page: Page, page_server: Server
) -> None:
    page.goto("/events?words=stoppable")
    expect(page.get_by_text("No event fits yet.")).to_be_visible()
    with shown_session(page, page_server, name="stoppable 1"):
        events = page.get_by_role("group", name="Events")
        expect(events.get_by_role("listitem")).to_have_count(1)
        page.get_by_role("button", name="Stop the list").click()
        with shown_session(page, page_server, name="stoppable 2"):
            expect(page.get_by_role("button", name=re.compile("[1-9]+ new"))).to_be_visible()
            expect(events.get_by_role("listitem")).to_have_count(1)
            page.get_by_role("button", name="Go on").click()
            expect(events.get_by_role("listitem")).to_have_count(2)


def test_two_tabs_share_one_stream_and_both_are_live(page: Page, page_server: Server) -> None:
    first, second = page.context.new_page(), page
    first.goto("/")
    expect(first.get_by_role("status")).to_have_text("live")
    asked: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.url)

    second.on("request", note)
    second.goto("/")
    expect(second.get_by_role("status")).to_have_text("live")
    with shown_session(page, page_server, name="seen in both"):
        for tab in (first, second):
            expect(tab.get_by_role("link", name="seen in both")).to_be_visible()
        assert not [url for url in asked if "/api/stream" in url]
        first.close()  # the second one takes the stream over
        with shown_session(page, page_server, name="seen after one was closed"):
            link = second.get_by_role("link", name="seen after one was closed")
            expect(link).to_be_visible()
    assert [url for url in asked if "/api/stream" in url]
    second.remove_listener("request", note)


def test_the_page_comes_back_with_its_server(browser: Browser, tmp_path: Path) -> None:
    server = Server(tmp_path / "data")
    context = browser.new_context(base_url=server.url)
    try:
        page = context.new_page()
        page.goto("/")
        expect(page.get_by_role("status")).to_have_text("live")
        server.stop()
        expect(page.get_by_role("status")).to_have_text("reconnecting…")
        server = server.start_again()
        server.post("/sessions", {"name": "of the second server"})
        expect(page.get_by_role("status")).to_have_text("live")
        expect(page.get_by_role("link", name="of the second server")).to_be_visible()
    finally:
        context.close()
        server.stop()
