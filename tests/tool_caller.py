"""Calls the tools over HTTP as an agent would, and checks what every answer of theirs keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from harness import Server
from holdfast.service.tools.tool_table import TOOLS
from holdfast.wire.tool_answers import BYTES_PER_TOKEN, ToolAnswer
from holdfast.wire.tool_requests import DEFAULT_BUDGET
from tool_user import longest_wait


@dataclass(frozen=True)
class ToolCaller:
    """An agent that uses the tools of a server."""

    server: Server
    name: str = "tester"

    def call(self, tool: str, **request: Any) -> Any:
        """The structured answer. Both forms of it fit the budget."""
        path = f"/api/v1/tools/{tool}?client={self.name}"
        response = self.server.http.post(path, json={**longest_wait(tool), **request})
        assert response.status_code == 200, response.text
        most = request.get("budget_tokens", DEFAULT_BUDGET) * BYTES_PER_TOKEN
        assert len(response.content) <= most, len(response.content)
        assert len(render(tool, response.content).encode()) <= most
        return response.json()

    def read(self, tool: str, **request: Any) -> str:
        """The answer as text."""
        return render(tool, msgspec.json.encode(self.call(tool, **request)))

    def fail(self, tool: str, expect: int = 400, **request: Any) -> Any:
        """The error, for what cannot be done."""
        path = f"/api/v1/tools/{tool}?client={self.name}"
        return self.server.post(path, request, expect=expect)["error"]

    def wait_for_hold(self, session_id: str | None = None) -> Any:
        """The next hold."""
        [hold] = self.call("hold_list", wait=50, session_id=session_id)["holds"]
        return hold


def render(tool: str, answer: bytes) -> str:
    decoded: ToolAnswer = msgspec.json.decode(answer, type=TOOLS[tool].answer)
    return decoded.to_text()
