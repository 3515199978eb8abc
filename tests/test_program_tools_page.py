"""Compares docs/tools-programs.md with the code, and runs its example."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import get_type_hints

import pytest

from harness import PROGRAMS, Program
from holdfast.service.debugger import Debugger
from holdfast.service.tools.tool_client import ToolClient
from holdfast.service.tools.tool_table import TOOLS
from holdfast.wire.tool_requests import DebugInspect, DebugRun, DebugStep

PAGE = (Path(__file__).parents[1] / "docs" / "tools-programs.md").read_text(encoding="utf-8")
SHARED = {"budget_tokens", "show_secrets", "timeout", "session_id"}
"""Fields that the page explains once."""
OTHER_PAGES = {"debug_run", "debug_trace", "debug_why", "debug_diff"}
PROGRAM_TOOLS = [name for name in TOOLS if name.startswith("debug_") and name not in OTHER_PAGES]


@pytest.mark.parametrize("tool", PROGRAM_TOOLS)
def test_every_field_of_a_tool_is_there(tool: str) -> None:
    assert f"| `{tool}` |" in PAGE
    section = PAGE.split(f"## `{tool}`")[1].split("\n## ")[0]
    fields = get_type_hints(TOOLS[tool].request).keys() - SHARED
    assert {name for name in fields if f"| `{name}` |" not in section} == set()


def test_the_example_says_what_the_tools_say(tmp_path: Path) -> None:
    for text in asyncio.run(run_example(tmp_path)):
        for line in text.splitlines():
            assert line in PAGE


async def run_example(folder: Path) -> list[str]:
    debugger = await Debugger.open(folder, trusted=lambda *_: True, pool_size=0)
    await debugger.start()
    try:
        client = ToolClient(cwd=str(PROGRAMS))
        line = Program("shop.py").line("add")
        run = DebugRun(target="shop.py", breakpoints=[f"shop.py:{line}"])
        await debugger.tools.call("debug_run", run, client)
        step = await debugger.tools.call("debug_step", DebugStep(kind="into", count=4), client)
        look = await debugger.tools.call("debug_inspect", DebugInspect(expand="self"), client)
        return [re.sub(r"sess_\w+", "sess_1", result.text) for result in (step, look)]
    finally:
        await debugger.close()
