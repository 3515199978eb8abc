"""A run of an agent as a conversation, and what one decides about it while it is held."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Locator, Page, expect
from shopping_runs import shopping

from harness import Server


def find_row(page: Page, text: str) -> Locator:
    """A row of the conversation."""
    turns = page.get_by_role("group", name="Turns")
    return turns.get_by_role("listitem").filter(has_text=text)


def find_held(page: Page, name: str) -> Locator:
    """The panel of what is held."""
    return page.get_by_role("region", name=f"Held: {name}")


def test_a_run_is_a_conversation_with_tools_tokens_time_and_nested_agents(
    page: Page, page_server: Server, project: Path
) -> None:
    with shopping(page_server, project) as run:
        run.read_end()
        page.goto("/agents")
        row = page.get_by_role("row").filter(has_text=run.id)
        expect(row).to_contain_text("script-1")
        row.get_by_role("link", name="shopper").click()
        expect(page).to_have_url(f"{page_server.url}{run.address}")
        expect(find_row(page, "You shop for others.")).to_be_visible()
        # Markup stays text.
        expect(find_row(page, "<b>Quickly</b> <img src=x onerror=alert(1)>")).to_be_visible()
        expect(page.locator("main img")).to_have_count(0)
        head = page.get_by_role("heading", name="shopper").locator("..")
        expect(head).to_contain_text("640 tokens")
        expect(head).to_contain_text("cost 0.07")
        answer = find_row(page, "asks for price, research")
        expect(answer).to_contain_text("40 in, 10 out")
        # The sub-agent stands below the tool that runs it, and can be folded.
        expect(find_row(page, "note 3").last).to_be_visible()
        fold = page.get_by_role("button", name="sub-agent researcher")
        expect(fold).to_contain_text("2 turns · 100 tokens")
        fold.click()
        expect(find_row(page, "What is known of cake?")).to_have_count(0)
        # A tool opens beside the conversation, and the address has it.
        page.get_by_role("button", name="research", exact=True).click()
        detail = page.get_by_role("region", name="Tool research")
        expect(detail).to_contain_text('"cake"')
        page.reload()
        expect(detail).to_contain_text("note 3")
        page.get_by_role("combobox", name="Show").select_option("researcher")
        expect(find_row(page, "You shop for others.")).to_have_count(0)
        expect(find_row(page, "Shorter, please.")).to_be_visible()


def test_a_held_tool_runs_with_the_input_that_was_typed(
    refused_page: Page, page_server: Server, project: Path
) -> None:
    page = refused_page
    with shopping(page_server, project, hold="tool:put") as run:
        page.goto("/")
        card = page.get_by_role("listitem").filter(has_text="shopper")
        card.get_by_role("link", name="Open").click()
        held = find_held(page, "put")
        expect(held.get_by_label("amount")).to_have_value("4.0")
        expect(
            find_row(page, '{"item": "tea", "amount": 4.0}').locator("[aria-current]")
        ).to_be_visible()
        # The variables of the loop are shown, and set.
        variables = page.get_by_role("region", name="Variables")
        expect(variables).to_contain_text("0.25")
        variables.get_by_label("variable", exact=True).fill("tax")
        variables.get_by_label("set to (JSON)").fill("2.0")
        variables.get_by_role("button", name="Set").click()
        expect(variables.get_by_role("status")).to_have_text("It was set.")
        held.get_by_label("item").fill("'green tea'")
        held.get_by_label("amount").fill("5.0")
        page.keyboard.press("F5")
        # It is a float still, and the second one waits.
        expect(find_row(page, "green tea for 5.0")).to_be_visible()
        expect(held.get_by_label("item")).to_have_value('"cake"')
        held.get_by_label("amount").fill("[")
        held.get_by_role("button", name="Continue", exact=True).click()
        expect(held.get_by_role("alert")).to_contain_text("neither a Python literal nor JSON")
        held.get_by_label("value").fill("{'faked': 1.0}")
        held.get_by_role("button", name="Skip").click()
        expect(find_row(page, '{"faked": 1.0}')).to_contain_text("faked")
        assert run.read_end() == "Done: paid 15.0"


def test_one_pauses_steps_says_something_and_raises(
    page: Page, page_server: Server, project: Path
) -> None:
    with shopping(page_server, project, hold="iteration:2") as run:
        page.goto(run.address)
        held = find_held(page, "script-1")
        expect(held).to_contain_text("iteration 2 of researcher")
        page.keyboard.press("F10")
        expect(held).not_to_contain_text("researcher")
        page.get_by_label("What to say to the agent").fill("In German, please.")
        page.get_by_role("button", name="Send").click()
        expect(page.get_by_text("It was given to the agent.")).to_be_visible()
        page.keyboard.press("F10")
        expect(held).to_contain_text("iteration 3")
        expect(find_row(page, "In German, please.")).to_be_visible()
        # A breakpoint that is made here holds the next tool.
        points = page.get_by_role("region", name="Breakpoints")
        expect(points).to_contain_text("iteration 2")
        points.get_by_label("name of the tool, or a glob").fill("pa*")
        points.get_by_role("button", name="Add").click()
        expect(points).to_contain_text("tool pa*")
        held.get_by_role("button", name="Continue").click()
        held = find_held(page, "pay")
        expect(held.get_by_label("total")).to_have_value("15.0")
        points.get_by_role("button", name="Remove tool pa*").click()
        expect(points).not_to_contain_text("tool pa*")
        held.get_by_label("exception").fill("ValueError")
        held.get_by_label("message").fill("no <money>")
        held.get_by_role("button", name="Raise").click()
        expect(find_row(page, "ValueError: no <money>").first).to_be_visible()
        assert run.read_end() == "Fertig: ValueError: no <money>"
        expect(page.get_by_role("heading", name="shopper").locator("..")).to_contain_text(
            "terminated"
        )


def test_a_rule_that_lasts_is_shown_and_written(
    page: Page, page_server: Server, project: Path
) -> None:
    rule = '[[agent.rule]]\ntool = "pay"\naction = "hold"\n'
    (project / "holdfast.toml").write_text(rule)
    with shopping(page_server, project) as run:
        page.goto(run.address)
        expect(find_held(page, "pay")).to_contain_text("A rule holds it")
        rules = page.get_by_role("region", name="Lasting rules")
        expect(rules).to_contain_text("tool pay")
        rules.get_by_text("Write a rule").click()
        rules.get_by_label("what to do").select_option("never run")
        expect(rules).to_contain_text('tool = "pay" action = "deny"')
        page.get_by_role("button", name="Resume").click()
        assert run.read_end() == "Done: paid 15.0"
