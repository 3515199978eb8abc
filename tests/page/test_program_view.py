"""The page of a program: its source, its values, its stack, its console, its output, its end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, expect

from browsers import shown_session
from harness import Program, Server, Session

ORDERS = """\
class Order:
    def __init__(self, number, items):
        self.number = number
        self.items = items


def total(order, discount):
    amount = 0
    for name, price in order.items.items():
        amount += price  # @add
    return amount - discount


orders = [Order(1, {"tea": 4, "cake": 3}), Order(2, {"pie": 5})]
numbers = list(range(250))
for order in orders:
    print("total", total(order, 1))  # @call
"""
ANSWERS = """\
import sys

name = input("your name? ")
print("hello", name)
print("careful", file=sys.stderr)
raise ValueError("no room for " + name)
"""


@contextmanager
def opened(
    page: Page, server: Server, folder: Path, text: str, *markers: str, **launch: Any
) -> Iterator[tuple[Session, Program]]:
    """A program that is launched with breakpoints at its marked lines, and its page."""
    (folder / "story.py").write_text(text)
    program = Program("story.py", folder)
    with shown_session(page, server, name="story", cwd=str(folder)) as session:
        session.break_at(program, *markers)
        session.launch(program, **launch)
        page.goto(f"/programs/{session.id}")
        expect(page.get_by_role("heading", name="story", exact=True)).to_be_visible()
        yield session, program


def current_line(page: Page) -> Locator:
    return page.get_by_label("Source of").locator("[aria-current=true]")


def value(page: Page, name: str) -> Locator:
    """The variable of the tree with this name."""
    tree = page.get_by_role("tree", name="Variables", exact=True)
    return tree.get_by_role("treeitem", name=re.compile(rf"^{re.escape(name)}\b"))


def test_keys_step_and_what_changed_is_marked_and_what_is_unfolded_stays(
    page: Page, page_server: Server, project: Path
) -> None:
    with opened(page, page_server, project, ORDERS, "add"):
        expect(current_line(page)).to_contain_text("amount += price")
        expect(value(page, "amount")).to_have_accessible_name("amount 0 int")
        value(page, "order").get_by_role("button", name="Unfold order").click()
        expect(value(page, "number")).to_contain_text("1")
        page.keyboard.press("F10")
        expect(current_line(page)).to_contain_text("for name, price")
        expect(value(page, "amount")).to_have_accessible_name("amount 4 int changed")
        expect(value(page, "discount")).to_have_accessible_name("discount 1 int")
        expect(value(page, "number")).to_be_visible()
        page.keyboard.press("F10")
        page.keyboard.press("F10")  # a key that is pressed during a step waits for its turn
        expect(current_line(page)).to_contain_text("for name, price")
        expect(value(page, "amount")).to_have_accessible_name("amount 7 int changed")
        page.keyboard.press("Shift+F11")
        expect(current_line(page)).to_contain_text("print(")
        expect(page.get_by_label("About this stop")).to_contain_text("total returned 6")
        page.keyboard.press("F11")
        page.get_by_role("button", name="Step over", exact=True).click()
        page.get_by_role("button", name="Continue", exact=True).click()
        expect(value(page, "amount")).to_have_accessible_name(re.compile("amount 0"))


def test_values_are_paged_walked_by_arrows_and_set(
    page: Page, page_server: Server, project: Path
) -> None:
    with opened(page, page_server, project, ORDERS, "call") as (session, _):
        numbers = value(page, "numbers")
        numbers.focus()
        page.keyboard.press("ArrowRight")
        expect(value(page, "99")).to_be_visible()
        expect(value(page, "100")).to_be_hidden()
        page.get_by_role("treeitem", name="Show more (100 of 250 items)").click()
        expect(value(page, "199")).to_be_visible()
        numbers.focus()
        page.keyboard.press("ArrowRight")
        expect(value(page, "0")).to_be_focused()
        page.keyboard.press("ArrowLeft")
        expect(numbers).to_be_focused()
        page.keyboard.press("ArrowLeft")
        expect(value(page, "99")).to_be_hidden()
        value(page, "numbers").get_by_role("button", name="Actions for numbers").click()
        page.get_by_role("menuitem", name="Edit value").click()
        page.get_by_role("textbox", name="New value of numbers").fill("[7, 8]")
        page.keyboard.press("Enter")
        expect(value(page, "numbers")).to_contain_text("[7, 8]")
        assert session.evaluate("numbers") == "[7, 8]"


def test_the_selected_frame_is_in_the_address_and_there_after_a_reload(
    page: Page, page_server: Server, project: Path
) -> None:
    with opened(page, page_server, project, ORDERS, "add"):
        page.get_by_label("Frames").get_by_role("button", name="<module>").click()
        expect(page).to_have_url(re.compile(r"frame=1"))
        expect(current_line(page)).to_contain_text("print(")
        expect(value(page, "numbers")).to_be_visible()
        page.reload()
        expect(current_line(page)).to_contain_text("print(")
        expect(value(page, "numbers")).to_be_visible()
        page.keyboard.press("F10")
        expect(page).not_to_have_url(re.compile("frame="))


def test_watches_and_the_console_know_the_frame_and_completions_are_offered(
    page: Page, page_server: Server, project: Path
) -> None:
    with opened(page, page_server, project, ORDERS, "add"):
        page.get_by_role("textbox", name="Watch an expression").fill("amount * 10")
        page.keyboard.press("Enter")
        watch = page.get_by_role("tree", name="Watch amount * 10")
        expect(watch).to_contain_text("0")
        page.keyboard.press("F10")
        expect(watch).to_contain_text("40")
        page.get_by_role("tab", name="Console").click()
        expect(page).to_have_url(re.compile("tab=console"))
        box = page.get_by_role("combobox", name="Evaluate in total")
        box.press_sequentially("order.num")
        expect(page.get_by_role("option", name="number")).to_be_visible()
        box.press("Tab")
        expect(box).to_have_value("order.number")
        box.press("Enter")
        expect(page.get_by_role("tree", name="Result of order.number")).to_contain_text("1")
        box.fill("amount = 50")
        box.press("Enter")
        expect(value(page, "amount")).to_have_accessible_name(re.compile("amount 50"))
        box.press("ArrowUp")
        box.press("ArrowUp")
        expect(box).to_have_value("order.number")
        box.fill("order")
        box.press("Escape")
        box.press("Enter")
        result = page.get_by_role("tree", name="Result of order", exact=True)
        result.get_by_role("button", name="Unfold").click()
        expect(result).to_contain_text("items")


def test_an_expression_that_raises_says_what_it_raised(
    refused_page: Page, page_server: Server, project: Path
) -> None:
    page = refused_page
    with opened(page, page_server, project, ORDERS, "add"):
        page.goto(f"{page.url}?tab=console")
        page.get_by_role("combobox", name="Evaluate in total").fill("nothing_here")
        page.keyboard.press("Enter")
        log = page.get_by_role("log", name="Results")
        expect(log).to_contain_text("name 'nothing_here' is not defined")
        value(page, "amount").dblclick()
        page.get_by_role("textbox", name="New value of amount").fill("1 +")
        page.keyboard.press("Enter")
        expect(page.get_by_role("region", name="Variables").get_by_role("alert")).to_be_visible()
        expect(value(page, "amount")).to_have_accessible_name("amount 0 int")


def test_input_is_asked_for_and_the_end_says_what_happened(
    page: Page, page_server: Server, project: Path
) -> None:
    with opened(page, page_server, project, ANSWERS):
        page.get_by_role("textbox", name="your name?").fill("ann")
        page.keyboard.press("Enter")
        output = page.get_by_role("log", name="Output")
        expect(output).to_contain_text("hello ann")
        expect(output.locator(".stderr").first).to_contain_text("careful")
        end = page.get_by_role("region", name="How it ended")
        expect(end).to_contain_text("exit code 1")
        expect(end).to_contain_text("ValueError: no room for ann")
        end.get_by_role("button", name="story.py:6").click()
        expect(page).to_have_url(re.compile("line=6"))
        end.get_by_role("button", name="Restart").click()
        expect(page.get_by_role("textbox", name="your name?")).to_be_visible()
        page.get_by_role("button", name="Stop", exact=True).click()
        expect(end).to_contain_text("SIGTERM")


def test_threads_are_switched_and_tasks_are_shown(page: Page, page_server: Server) -> None:
    program = Program("two_threads.py")
    with shown_session(page, page_server, name="threads") as session:
        session.break_at(program, "worker")
        session.launch(program, args=["thread"])
        page.goto(f"/programs/{session.id}")
        expect(current_line(page)).to_contain_text("return half")
        threads = page.get_by_role("list", name="Threads", exact=True)
        expect(threads.get_by_role("button", name="worker").first).to_have_attribute(
            "aria-current", "true"
        )
        threads.get_by_role("button", name="MainThread").first.click()
        expect(page).to_have_url(re.compile("thread=1"))
        page.get_by_label("Frames").get_by_role("button", name="main").click()
        expect(current_line(page)).to_contain_text("worker.join()")
        expect(value(page, "local")).to_contain_text("1")
        page.reload()
        expect(current_line(page)).to_contain_text("worker.join()")
    program = Program("asyncio_tasks.py")
    with shown_session(page, page_server, name="tasks") as session:
        session.break_at(program, "add")
        session.launch(program)
        page.goto(f"/programs/{session.id}")
        tasks = page.get_by_role("list", name="Tasks")
        expect(tasks.get_by_role("button", name="waits for a lock")).to_be_visible()
        tasks.get_by_role("button", name="sleeping").click()
        expect(page).to_have_url(re.compile(f"line={program.line('sleep')}"))


def test_a_phone_can_step(page: Page, page_server: Server, project: Path) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    with opened(page, page_server, project, ORDERS, "add"):
        expect(current_line(page)).to_contain_text("amount += price")
        button = page.get_by_role("button", name="Step over", exact=True)
        box = button.bounding_box()
        assert box is not None
        assert box["y"] > 600  # by the thumb
        button.click()
        expect(current_line(page)).to_contain_text("for name, price")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
