"""Compares docs/agents.md with the code: options, commands, fields."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

from holdfast.bridge import Bridge, ModelCall, ToolCall, start
from holdfast.cli.agents.agent_app import agent

PAGE = (Path(__file__).parents[1] / "docs" / "agents.md").read_text(encoding="utf-8")
SHARED = ("--json", "--session", "--lane", "--timeout")
"""Options that the page explains once, for all commands."""
COMMANDS = typer.main.get_command(agent)


def find_section(title: str, above: str = "") -> str:
    """The text below a heading that has the title, up to the next heading of its level."""
    matches = re.finditer(r"^(#+) (.*)$", PAGE, re.MULTILINE)
    for match in matches:
        if title in match[2] and above in match[2]:
            rest = PAGE[match.end() :]
            end = re.search(rf"^#{{1,{len(match[1])}}} ", rest, re.MULTILINE)
            return match[2] + (rest[: end.start()] if end else rest)
    raise AssertionError(f"docs/agents.md has no heading with {title!r}")


def list_rows(section: str) -> set[str]:
    """The names in the first column of its tables."""
    rows = re.findall(r"^\| (`[^|]*`) \|", section, re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row)}


@pytest.mark.parametrize(
    ("function", "title"),
    [
        (start, "`start("),
        (Bridge.run, "`dbg.run("),
        (Bridge.tool, "`@dbg.tool`"),
        (Bridge.model, "`@dbg.model`"),
    ],
)
def test_every_option_is_on_the_page(function: Callable[..., Any], title: str) -> None:
    parameters = set(inspect.signature(function).parameters) - {"self"}
    assert list_rows(find_section(title)) == parameters


@pytest.mark.parametrize("kind", [ModelCall, ToolCall])
def test_every_field_of_a_call_is_on_the_page(kind: type[Any]) -> None:
    section = find_section("A framework of your own")
    table = section[section.index(f"| field of `{kind.__name__}`") :].partition("\n\n")[0]
    assert list_rows(table) == {field.name for field in dataclasses.fields(kind)}


def list_commands() -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name, command in COMMANDS.commands.items():  # type: ignore[attr-defined]
        inner = getattr(command, "commands", {})
        found.append((name, command))
        found += [(f"{name} {part}", nested) for part, nested in inner.items()]
    return found


def test_every_command_and_option_is_on_the_page() -> None:
    section = find_section("Command line")
    shared = section.partition("\n### ")[0]
    missing = []
    for name, command in list_commands():
        first = name.split()[0]
        own = [
            part for part in section.split("\n### ") if re.search(rf"\b{first}\b", heading(part))
        ]
        text = "".join(own)
        if not own or name.split()[-1] not in text:
            missing.append(name)
            continue
        for option in command.params:
            long = [word for word in option.opts if word.startswith("--") and len(word) > 2]
            for word in long:
                place = shared if word in SHARED else text
                if not re.search(rf"{word}\b", place) and word != "--help":
                    missing.append(f"{name} {word}")
    assert missing == []


def heading(section: str) -> str:
    return section.partition("\n")[0]


def test_links_within_the_page_lead_somewhere() -> None:
    titles = re.findall(r"^#+ (.*)$", PAGE, re.MULTILINE)
    anchors = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
    assert set(re.findall(r"\]\(#([^)]+)\)", PAGE)) <= anchors
