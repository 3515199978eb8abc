"""Launching a program from the page, and attaching to one."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from browsers import leave
from harness import Program, Server

GREETING = """\
import sys

words = sys.argv[1:]
print("hello", *words)
"""
A_TEST = "def test_sum():\n    total = 1 + 1\n    assert total == 2\n"


def delete_sessions(page: Page, server: Server) -> None:
    leave(page)  # it would ask for sessions that are gone
    for session in server.list_ids("program"):
        server.delete(f"/sessions/{session}")


def test_a_program_is_launched_from_the_form_and_again_from_the_recent_ones(
    page: Page, page_server: Server, project: Path
) -> None:
    (project / "greet.py").write_text(GREETING)
    page.goto("/programs")
    page.get_by_label("Script", exact=True).last.fill("greet.py")
    page.get_by_label("Arguments").fill("ann 'two words'")
    page.get_by_label("Working directory").fill(str(project))
    page.get_by_label("Break at").fill("greet.py:4")
    page.get_by_role("button", name="Launch", exact=True).click()
    expect(page).to_have_url(re.compile("/programs/sess_"))
    line = page.get_by_label("Source of greet.py").locator("[aria-current=true]")
    expect(line).to_contain_text("print(")
    words = page.get_by_role("treeitem", name=re.compile("^words"))
    expect(words).to_contain_text("['ann', 'two words']")
    page.keyboard.press("F5")
    expect(page.get_by_role("region", name="How it ended")).to_contain_text("exit code 0")
    page.get_by_role("link", name="Programs").click()
    recent = page.get_by_role("list", name="Recent launches").get_by_role("listitem")
    row = recent.filter(has_text="greet.py ann 'two words'")
    row.get_by_role("button", name="Change").click()
    expect(page.get_by_label("Arguments")).to_have_value("ann 'two words'")
    page.get_by_label("Stop at the first line").check()
    page.get_by_role("button", name="Launch", exact=True).click()
    expect(page.get_by_label("Source of").locator("[aria-current=true]")).to_contain_text("import")
    page.go_back()
    row.first.get_by_role("button", name="again").click()
    expect(page.get_by_label("Source of").locator("[aria-current=true]")).to_contain_text("import")
    page.keyboard.press("F5")
    expect(page.get_by_role("log", name="Output")).to_contain_text("hello ann two words")
    delete_sessions(page, page_server)


def test_a_test_is_launched_and_held(page: Page, page_server: Server, project: Path) -> None:
    (project / "test_sum.py").write_text(A_TEST)
    page.goto("/programs")
    page.get_by_label("Tests (pytest)").check()
    page.get_by_label("Tests", exact=True).fill("test_sum.py::test_sum")
    page.get_by_label("Arguments").fill("-p no:cacheprovider")
    page.get_by_label("Working directory").fill(str(project))
    page.get_by_label("Break at").fill("test_sum.py:3")
    page.get_by_role("button", name="Launch", exact=True).click()
    line = page.get_by_label("Source of test_sum.py").locator("[aria-current=true]")
    expect(line).to_contain_text("assert total")
    delete_sessions(page, page_server)


def test_what_cannot_be_launched_says_why_and_what_to_do(
    refused_page: Page, page_server: Server
) -> None:
    page = refused_page
    page.goto("/programs")
    page.get_by_label("Script", exact=True).last.fill("/nowhere/missing.py")
    page.get_by_role("button", name="Launch", exact=True).click()
    problem = page.get_by_role("alert")
    expect(problem).to_contain_text("no such script: /nowhere/missing.py")
    expect(problem).to_contain_text("Check the path")
    page.get_by_label("Break at").fill("missing.py")
    page.get_by_role("button", name="Launch", exact=True).click()
    expect(problem).to_contain_text("Write a file and a line")
    page.get_by_label("Process id, or host and port").fill("somewhere")
    page.get_by_role("button", name="Attach", exact=True).first.click()
    expect(page.get_by_text("Give a process id")).to_be_visible()


@pytest.fixture
def running(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A program that nobody debugs."""
    argv = [sys.executable, Program("attach_target.py").path, str(tmp_path / "answer")]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
        process.kill()


def test_a_running_process_is_attached_to_paused_and_let_go(
    page: Page, page_server: Server, running: subprocess.Popen[str]
) -> None:
    page.goto("/programs")
    page.get_by_role("button", name=f"Attach to {running.pid}", exact=True).click()
    expect(page).to_have_url(re.compile("/programs/sess_"))
    page.get_by_role("button", name="Pause", exact=True).click()
    expect(page.get_by_label("Source of").locator("[aria-current=true]")).to_be_visible()
    frames = page.get_by_role("list", name="Frames")
    expect(frames.get_by_role("button", name="<module>")).to_be_visible()
    page.get_by_role("button", name="More ways to control it").click()
    page.get_by_role("menuitem", name="Detach").click()
    expect(page.get_by_role("region", name="How it ended")).to_contain_text("runs on by itself")
    running.terminate()
    assert running.wait(60) == -signal.SIGTERM, "it ran on until now"
    delete_sessions(page, page_server)
