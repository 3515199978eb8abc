"""Breakpoints of a program, made and changed on its page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from browsers import shown_session
from harness import Program, Server, Session
from polling import wait_until

COUNTING = """\
class Basket:
    def __init__(self):
        self.amount = 0

    def add(self, price):

        self.amount += price  # @add
        return self.amount  # @return


basket = Basket()  # @first
for price in range(1, 9):
    basket.add(price)  # @call
    done = price  # @done
print("amount", basket.amount)
"""


@contextmanager
def opened(page: Page, server: Server, folder: Path) -> Iterator[tuple[Session, Program]]:
    """The program at its first line, and its page."""
    (folder / "count.py").write_text(COUNTING)
    program = Program("count.py", folder)
    with shown_session(page, server, name="count", cwd=str(folder)) as session:
        session.launch(program, stop_on_entry=True)
        page.goto(f"/programs/{session.id}?tab=breakpoints")
        expect(current_line(page)).to_be_visible()
        yield session, program


def current_line(page: Page) -> Locator:
    return page.get_by_label("Source of").locator("[aria-current=true]")


def gutter(page: Page, line: int) -> Locator:
    numbers = page.locator(".cm-lineNumbers .cm-gutterElement")
    return numbers.filter(has_text=re.compile(rf"^{line}$"))


def value(page: Page, name: str) -> Locator:
    tree = page.get_by_role("tree", name="Variables", exact=True)
    return tree.get_by_role("treeitem", name=re.compile(rf"^{re.escape(name)}\b"))


def listed(page: Page, place: str) -> Locator:
    """The row of a breakpoint in the list."""
    rows = page.get_by_role("list", name="Breakpoints").get_by_role("listitem")
    return rows.filter(has_text=place)


def test_a_click_in_the_gutter_sets_a_breakpoint_that_holds_and_another_removes_it(
    page: Page, page_server: Server, project: Path
) -> None:
    with opened(page, page_server, project) as (session, program):
        gutter(page, program.line("add") - 1).click()  # empty: the next line that can stop
        place = f"count.py:{program.line('add')}"
        expect(listed(page, place)).to_contain_text("0 hits")
        page.keyboard.press("F5")
        expect(current_line(page)).to_contain_text("self.amount += price")
        expect(listed(page, place)).to_contain_text("1 hit")
        page.keyboard.press("F9")  # the caret is at the held line
        expect(listed(page, place)).to_have_count(0)
        page.keyboard.press("F9")
        listed(page, place).get_by_role("checkbox").click()
        expect(page.locator(".cm-dot.off")).to_be_visible()
        page.get_by_label("Break in a function").fill("Basket.add")
        page.keyboard.press("Enter")
        expect(listed(page, "Basket.add()")).to_be_visible()
        listed(page, "Basket.add()").get_by_role("button", name="Remove").click()
        page.get_by_role("checkbox", name="Uncaught").click()
        expect(page.get_by_role("checkbox", name="Uncaught")).to_be_checked()
        page.keyboard.press("F5")
        expect(page.get_by_role("region", name="How it ended")).to_contain_text("exit code 0")
        wait_until(
            lambda: session.get("/exception-breakpoints")["filters"] == ["uncaught"], "the filter"
        )


def test_conditions_hit_counts_and_log_messages_are_made_in_the_dialog(
    page: Page, page_server: Server, project: Path
) -> None:
    with opened(page, page_server, project) as (_, program):
        gutter(page, program.line("add")).click(button="right")
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_role("heading")).to_contain_text(f"count.py:{program.line('add')}")
        dialog.get_by_label("Condition").fill("price == 3")
        dialog.get_by_role("button", name="Save").click()
        expect(page.locator(".cm-dot.conditional")).to_be_visible()
        page.keyboard.press("F5")
        expect(value(page, "price")).to_have_accessible_name(re.compile("price 3"))
        page.keyboard.press("Shift+F9")
        expect(dialog.get_by_label("Condition")).to_have_value("price == 3")
        dialog.get_by_role("button", name="Remove").click()
        expect(page.locator(".cm-dot")).to_have_count(0)
        gutter(page, program.line("return")).click(button="right")
        dialog.get_by_label("Hit count").fill("3")
        dialog.get_by_role("button", name="Save").click()
        expect(dialog).to_be_hidden()
        gutter(page, program.line("done")).click(button="right")
        dialog.get_by_label("Log message").fill("at {price}")
        dialog.get_by_role("button", name="Save").click()
        expect(page.locator(".cm-dot.log")).to_be_visible()
        page.keyboard.press("F5")
        expect(value(page, "price")).to_have_accessible_name(re.compile("price 5"))
        page.get_by_role("tab", name="Output").click()
        expect(page.get_by_role("log", name="Output").locator(".log").last).to_contain_text("at 4")


def test_a_data_breakpoint_from_a_variable_stops_where_it_changes(
    page: Page, page_server: Server, project: Path
) -> None:
    with opened(page, page_server, project) as (_, program):
        gutter(page, program.line("call")).click()
        page.keyboard.press("F5")
        expect(current_line(page)).to_contain_text("basket.add(price)")
        value(page, "basket").get_by_role("button", name="Unfold basket").click()
        value(page, "amount").click(button="right")
        page.get_by_role("menuitem", name="Break when it changes").click()
        expect(listed(page, "amount (change)")).to_be_visible()
        page.keyboard.press("F5")
        expect(page.get_by_label("About this stop")).to_contain_text("was 0, and is now 1")
        expect(listed(page, "amount (change)")).to_contain_text("1 hit")
