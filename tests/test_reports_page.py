"""docs/reports.md shows what really happens: its example is run here."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from harness import Server
from holdfast.wire.report_answers import Report

PAGE = (Path(__file__).parents[1] / "docs" / "reports.md").read_text("utf-8")
_SESSION = re.compile(r"sess_[0-9a-f]+")


def list_blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def normalize(text: str) -> str:
    """Without what differs from machine to machine: ids, and which Python it is."""
    lines = [line for line in text.strip().splitlines() if not line.startswith("environment:")]
    return _SESSION.sub("sess_", "\n".join(lines))


def test_the_example_of_the_page_is_true(server: Server, tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(list_blocks("python")[0])
    told: list[dict[str, Any]] = []

    def call(tool: str, **fields: Any) -> str:
        path = f"/api/v1/tools/{tool}?client=page&cwd={quote(str(tmp_path))}"
        told.append(server.post(path, fields))
        return normalize(msgspec.convert(told[-1], Report).to_text())

    first, step, back, end, _omitted = map(normalize, list_blocks("text"))
    assert call("debug_run", target="shop.py", breakpoints=["shop.py:5"]) == first
    try:
        assert call("debug_step") == step
        as_json = json.loads(_SESSION.sub("sess_", list_blocks("json")[0]))
        assert {**told[-1], "session_id": "sess_"} == as_json
        remove = f"/api/v1/tools/debug_set_breakpoints?client=page&cwd={quote(str(tmp_path))}"
        server.post(remove, {"remove": ["all"]})
        assert call("debug_step", kind="return") == back
        assert call("debug_continue") == end
    finally:
        server.delete(f"/sessions/{told[0]['session_id']}")
