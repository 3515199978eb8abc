"""Compares docs/tools-holds.md with the code: tools, fields, actions, commands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from holdfast.model.decision import names_at
from holdfast.service.tools.agents.agent_tools import FIELDS_OF as COMMAND_FIELDS
from holdfast.service.tools.tool_table import TOOLS
from holdfast.wire import tool_requests as requests
from holdfast.wire.hold_reports import FIELDS_OF as ACTION_FIELDS

PAGE = (Path(__file__).parents[1] / "docs" / "tools-holds.md").read_text(encoding="utf-8")
SHARED = {"budget_tokens", "show_secrets", "timeout", "session_id", "lane"}
"""Fields that the page explains once."""


def find_section(title: str) -> str:
    return PAGE.split(f"## `{title}`")[1].split("\n## ")[0]


def list_rows(title: str) -> dict[str, set[str]]:
    """The names in the first column of the section's table, and those in the second."""
    rows = {}
    for line in find_section(title).splitlines():
        if line.startswith("| `"):
            first, second = line.split("|")[1:3]
            names = set(re.findall(r"`([^`]+)`", second))
            rows.update(dict.fromkeys(re.findall(r"`([^`]+)`", first), names))
    return rows


def test_every_action_is_there_with_its_fields() -> None:
    rows = list_rows("hold_decide")
    assert rows.keys() == set(names_at()) == set(get_args(requests.HoldAction))
    assert {action: fields for action, fields in rows.items() if fields} == {
        action: set(fields) for action, fields in ACTION_FIELDS.items()
    }


def test_every_command_is_there_with_its_fields() -> None:
    rows = list_rows("agent_control")
    assert rows.keys() == set(get_args(requests.AgentVerb))
    own = {command: fields for command, fields in rows.items() if fields}
    assert own == {command: set(fields) for command, fields in COMMAND_FIELDS.items()}


@pytest.mark.parametrize("tool", ["hold_list", "hold_decide", "calls_search", "agent_control"])
def test_every_field_of_a_tool_is_there(tool: str) -> None:
    section = find_section(tool)
    fields = get_type_hints(TOOLS[tool].request).keys() - SHARED - {"action", "command", "hold_id"}
    assert {name for name in fields if f"`{name}`" not in section} == set()
