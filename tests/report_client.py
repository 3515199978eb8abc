"""A client of the tools that reads their stop reports, each of which must fit its budget."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from harness import PROGRAMS, Program, Server
from holdfast.wire.report_answers import Report

_numbers = itertools.count()


class Agent:
    """A client of the tools, with a memory of its own."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.name = f"agent{next(_numbers)}"
        self.bytes = 0
        """Of all answers: JSON with the text and the structure, as over MCP."""
        self.session_id = ""

    def path(self, tool: str) -> str:
        return f"/api/v1/tools/{tool}?client={self.name}&cwd={quote(str(PROGRAMS))}"

    def post(self, tool: str, **fields: Any) -> Any:
        return self._server.post(self.path(tool), fields)

    def call(self, tool: str, **fields: Any) -> Report:
        return self.read(self.post(tool, **fields), fields.get("budget_tokens", 800))

    def read(self, answer: Any, budget_tokens: int = 800) -> Report:
        """The report that an answer is, which is checked against its budget."""
        report = msgspec.convert(answer, Report)
        text = report.to_text()
        result = {"content": [{"type": "text", "text": text}], "structuredContent": answer}
        message = {"jsonrpc": "2.0", "id": 1, "result": result}
        self.bytes += len(json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode())
        limit = 4 * budget_tokens
        assert len(json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode()) <= limit
        assert len(text.encode()) <= limit
        assert text.startswith(report.status)
        assert report.session_id in text
        self.session_id = report.session_id
        return report

    def run(self, program: Program, *markers: str, **fields: Any) -> Report:
        name = Path(program.path).name
        places = [f"{name}:{program.line(marker)}" for marker in markers]
        return self.call("debug_run", target=name, breakpoints=places, **fields)

    def step(self, kind: str = "over", **fields: Any) -> Report:
        return self.call("debug_step", kind=kind, **fields)

    def resume(self, **fields: Any) -> Report:
        return self.call("debug_continue", **fields)

    def stop(self) -> None:
        self.post("debug_stop", session_id="all")


def at(program: Program, marker: str) -> str:
    return f"{Path(program.path).name}:{program.line(marker)}"
