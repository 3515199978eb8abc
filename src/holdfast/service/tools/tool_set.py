"""Calls tools: one way in for every face."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast import errors
from holdfast.model.session_state import State
from holdfast.service.tools.error_hints import name_tools
from holdfast.service.tools.reports.report_secrets import hide_report_secrets
from holdfast.service.tools.tool_client import ToolClient
from holdfast.service.tools.tool_table import TOOLS
from holdfast.service.waitable import client_disconnected
from holdfast.wire.report_answers import Report
from holdfast.wire.report_cleaning import clean_report
from holdfast.wire.report_reduction import name_inspected
from holdfast.wire.tool_answers import ToolResult, fit
from holdfast.wire.tool_requests import ToolRequest

if TYPE_CHECKING:
    from holdfast.service.debugger import Debugger

_MAX_CLIENTS = 256
_RUNNING = (State.RUNNING.value, State.LAUNCHING.value)


class ToolSet:
    def __init__(self, debugger: Debugger) -> None:
        self._debugger = debugger
        self._clients: dict[tuple[str, str | None], ToolClient] = {}

    def find_client(self, name: str | None, cwd: str | None) -> ToolClient:
        """The client of this name that works in this directory, as it was left."""
        key = name or "rest", cwd
        client = self._clients.pop(key, None) or ToolClient(key[0], cwd)
        self._clients[key] = client
        while len(self._clients) > _MAX_CLIENTS:
            del self._clients[next(iter(self._clients))]
        return client

    async def call(self, name: str, request: ToolRequest, client: ToolClient) -> ToolResult:
        """Do what the request asks for. The answer fits the request's budget."""
        try:
            answer = await TOOLS[name].operation(self._debugger, client, request)
        except errors.HoldfastError as problem:
            name_tools(problem)
            raise
        report = answer if isinstance(answer, Report) else getattr(answer, "report", None)
        if isinstance(report, Report):
            clean_report(report)
            if not getattr(request, "show_secrets", False):
                hide_report_secrets(report)
            name_inspected(report)
            _note_told(client, report)
        return fit(answer, request.limit_tokens)


def _note_told(client: ToolClient, report: Report) -> None:
    """Note whether the client knows that the program stands still."""
    if client_disconnected() or report.status in _RUNNING:
        client.running.add(report.session_id)
    else:
        client.running.discard(report.session_id)
