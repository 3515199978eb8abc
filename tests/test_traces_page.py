"""Compares docs/traces.md with the code: every field of the tools is explained."""

from __future__ import annotations

from pathlib import Path
from typing import get_type_hints

import pytest

from holdfast.service.tools.tool_table import TOOLS

PAGE = (Path(__file__).parents[1] / "docs" / "traces.md").read_text(encoding="utf-8")
SHARED = {
    *("target", "args", "env", "cwd", "python", "stdin", "timeout"),
    *("show_secrets", "budget_tokens"),
}
"""Fields that the page explains once."""


@pytest.mark.parametrize("tool", ["debug_trace", "debug_why", "debug_diff"])
def test_every_field_of_a_tool_is_there(tool: str) -> None:
    section = PAGE.split(f"### `{tool}`")[1].split("\n### ")[0]
    fields = get_type_hints(TOOLS[tool].request).keys() - SHARED
    assert {name for name in fields if f"| `{name}` |" not in section} == set()


def test_what_all_take_is_explained() -> None:
    assert all(f"`{name}`" in PAGE for name in SHARED)
