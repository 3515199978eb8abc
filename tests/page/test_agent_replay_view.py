"""The past of a run, forks of it, and two runs side by side."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, expect
from shopping_runs import shopping
from test_agent_view import find_row

from harness import Server


def test_the_slider_shows_an_earlier_state_and_a_reload_keeps_it(
    page: Page, page_server: Server, project: Path
) -> None:
    with shopping(page_server, project) as run:
        run.read_end()
        page.goto(run.address)
        replay = page.get_by_role("region", name="Replay")
        expect(replay.get_by_role("status")).to_contain_text("now: event")
        slider = replay.get_by_role("slider", name="Time")
        slider.focus()
        page.keyboard.press("Home")
        expect(replay.get_by_role("status")).to_contain_text("the run begins")
        expect(find_row(page, "You shop for others.")).to_have_count(0)
        page.keyboard.press("]")
        expect(find_row(page, "You shop for others.")).to_be_visible()
        answer = find_row(page, "script-1")
        expect(answer).to_contain_text("running")
        address = page.url
        assert "at=" in address
        page.reload()
        expect(answer).to_contain_text("running")
        expect(page).to_have_url(address)
        expect(replay.get_by_role("status")).to_contain_text("asks the model")
        page.keyboard.press("]")
        expect(answer).to_contain_text("asks for price, research")
        # It plays to the end, and nothing is called by that.
        replay.get_by_label("Speed").select_option("16×")
        replay.get_by_role("button", name="Play").click()
        expect(replay.get_by_role("status")).to_contain_text("now: event")
        expect(replay.get_by_role("button", name="Play")).to_be_visible()
        page.keyboard.press("[")
        replay.get_by_role("button", name="Now").click()
        expect(page).to_have_url(f"{page_server.url}{run.address}")


def test_a_fork_with_an_edited_message_is_a_new_run_beside_its_parent(
    refused_page: Page, page_server: Server, project: Path
) -> None:
    page = refused_page
    with shopping(page_server, project) as run:
        run.read_end()
        page.goto(run.address)
        turns = page.get_by_role("group", name="Turns")
        turns.get_by_role("button", name="Fork here at iteration 2").last.click()
        dialog = page.get_by_role("dialog")
        task = dialog.get_by_label("Text of message 2")
        expect(task).to_have_value("Buy tea & cake. <b>Quickly</b> <img src=x onerror=alert(1)>")
        task.fill("Buy tea, and answer in German.")
        dialog.get_by_text("The same on the command line").click()
        command = f"holdfast agent fork {run.id} --at 1 --messages messages.json"
        expect(dialog.get_by_text(command, exact=True)).to_be_visible()
        # A command that cannot start says why.
        dialog.get_by_label("command", exact=True).fill("python nowhere.py")
        dialog.get_by_role("button", name="Fork", exact=True).click()
        expect(dialog).to_contain_text("nowhere.py")
        expect(dialog.get_by_role("alert")).to_be_visible()
        dialog.get_by_label("command", exact=True).fill("")
        dialog.get_by_role("button", name="Fork", exact=True).click()
        expect(dialog).to_have_count(0)
        head = page.get_by_role("heading", name="shopper").locator("..")
        expect(head).to_contain_text(f"fork at 1 of {run.id}")
        expect(head).to_contain_text("terminated")
        # Both runs side by side: the first difference is open.
        head.get_by_role("link", name="compare", exact=True).click()
        steps = page.get_by_role("region", name="Steps")
        expect(steps).to_contain_text("is a fork of")
        current = steps.locator("[aria-current=step]")
        expect(current).to_contain_text("Differs here")
        expect(current).to_contain_text("answer in German")
        page.keyboard.press("n")
        expect(page).to_have_url(re.compile("at="))
        page.keyboard.press("p")
        expect(current).to_contain_text("answer in German")
        steps.get_by_role("button", name="the same").first.click()
        expect(steps.get_by_role("article", name="Step 1", exact=True)).to_be_visible()


def test_two_runs_are_chosen_from_the_list(page: Page, page_server: Server, project: Path) -> None:
    with shopping(page_server, project) as one, shopping(page_server, project) as other:
        one.read_end()
        other.read_end()
        page.goto("/agents")
        page.get_by_label(f"Compare {one.id}").check()
        page.get_by_label(f"Compare {other.id}").check()
        page.get_by_role("button", name="Compare").click()
        expect(page.get_by_role("status").filter(has_text="are the same.")).to_be_visible()
        totals = page.get_by_role("region", name="Totals").get_by_role("row")
        expect(totals.filter(has_text=one.id)).to_contain_text("640")
