"""An agent that calls the tools over HTTP, as one client of a server."""

from __future__ import annotations

import itertools
import json
from typing import Any

from harness import PROGRAMS, Program, Server
from holdfast.service.tools.tool_table import TOOLS
from holdfast.wire.tool_requests import MAX_TIMEOUT

_numbers = itertools.count(1)
MAX_BYTES = 4 * 800
"""What an answer may need with the usual budget."""


class ToolUser:
    """One client. Every answer of it is checked: it fits its budget."""

    def __init__(self, server: Server, name: str | None = None, cwd: str = str(PROGRAMS)) -> None:
        self.server = server
        self.query = {"client": name or f"user{next(_numbers)}", "cwd": cwd}

    def call(self, tool: str, *, expect: int = 200, **request: Any) -> Any:
        request = {**longest_wait(tool), **request}
        answer = self.server.http.post(f"/api/v1/tools/{tool}", params=self.query, json=request)
        assert answer.status_code == expect, (tool, request, answer.text)
        shown = answer.json()
        limit = 4 * request.get("budget_tokens", 800)
        size = len(json.dumps(shown, ensure_ascii=False, separators=(",", ":")).encode())
        assert expect != 200 or size <= limit, (size, limit, shown)
        return shown

    def run(self, program: Program, *markers: str, **request: Any) -> Any:
        """Start a program with breakpoints at marked lines."""
        points = [f"{program.path}:{program.line(marker)}" for marker in markers]
        given = request.pop("breakpoints", [])
        return self.call("debug_run", target=program.path, breakpoints=points + given, **request)

    def step(self, kind: str = "over", **request: Any) -> Any:
        return self.call("debug_step", kind=kind, **request)

    def resume(self, **request: Any) -> Any:
        return self.call("debug_continue", **request)

    def inspect(self, **request: Any) -> Any:
        return self.call("debug_inspect", **request)

    def evaluate(self, expression: str, **request: Any) -> Any:
        return self.call("debug_evaluate", expression=expression, **request)

    def stop_all(self) -> None:
        if self.server.is_running:
            self.call("debug_stop", session_id="all")


def longest_wait(tool: str) -> dict[str, float]:
    """For a tool that may answer too early on a busy machine: the longest time it can wait."""
    can_wait = tool in TOOLS and "timeout" in TOOLS[tool].request.__struct_fields__
    return {"timeout": MAX_TIMEOUT} if can_wait else {}


def place(program: Program, marker: str) -> str:
    """A marked line as reports show it to a client that works beside the program."""
    return f"{program.path.rpartition('/')[2]}:{program.line(marker)}"
