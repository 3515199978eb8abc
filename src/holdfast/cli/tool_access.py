"""Calls the tools of the server for a command, and waits for a program as long as it may.

The server answers within 50 seconds. A command that may wait longer asks again.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any, NoReturn

import typer

from holdfast.cli import exit_codes
from holdfast.cli.server_access import (
    ask,
    complain,
    describe_client,
    prepare_server,
    print_note,
)

MAX_WAIT = 50.0
"""How long the server lets one request wait; see `wire.tool_requests`."""
_PIPE_BUDGET = 800
_TERMINAL_BUDGET = 3000

_STARTING = ("debug_run", "debug_trace", "debug_why", "debug_diff")
"""Tools that make sense when no server runs: the others need a session."""

Answer = dict[str, Any]
"""A tool's answer as JSON has it."""


class Tools:
    """The tools, for one run of a command."""

    def __init__(
        self, url: str | None, budget: int | None = None, *, is_bounded: bool = True
    ) -> None:
        self._url = url
        self._query = describe_client()
        usual = _TERMINAL_BUDGET if sys.stdout.isatty() else _PIPE_BUDGET
        self._budget = (budget or usual) if is_bounded else None

    def call(self, tool: str, **fields: Any) -> Answer:
        """The answer of a tool. Fields that are None or an empty list are left out."""
        body = {name: value for name, value in fields.items() if value not in (None, [])}
        if self._budget is not None:
            body["budget_tokens"] = self._budget
        path = f"/api/v1/tools/{tool}?{self._query}"
        if tool in _STARTING:
            answer: Answer | None = ask(self._url, "POST", path, body)
        else:
            answer = ask(self._url, "POST", path, body, without_server=None)
        if answer is None:
            _complain_of_nothing(fields)
        return answer

    def run(self, tool: str, timeout: float, **fields: Any) -> Answer:
        """The report of a tool that makes a program run, within so many seconds.

        Ctrl-C leaves the program as it is, says how to go on, and exits."""
        from holdfast.cli.wait_status import WaitStatus

        starts_one = tool in _STARTING
        if starts_one:
            prepare_server(self._url)  # before the line of the wait, because it may say something
        with WaitStatus(self._url, fields.get("session_id"), starts_one=starts_one) as status:
            try:
                return self._wait(tool, timeout, fields)
            except KeyboardInterrupt:
                _leave(status.find_session())

    def record(self, tool: str, timeout: float, **fields: Any) -> Answer:
        """The answer of a tool that records a run, once the run is over or the time is."""
        ends_at = time.monotonic() + timeout
        answer = self.run(tool, min(timeout, MAX_WAIT), **fields)
        if not _is_unfinished(answer) or timeout <= MAX_WAIT:
            return answer
        session, trace = answer["session_id"], answer["trace_id"]
        while (left := ends_at - time.monotonic()) > 0:
            wait = min(left, MAX_WAIT)
            later = self.call("debug_continue", session_id=session, timeout=wait)
            if later.get("status") != "running":
                break
        for name in ("target", "args", "env", "cwd", "python", "stdin", "again", "go"):
            fields.pop(name, None)
        return self.call(tool, **{**fields, "trace": trace})

    def _wait(self, tool: str, timeout: float, fields: Mapping[str, Any]) -> Answer:
        ends_at = time.monotonic() + timeout
        report = self.call(tool, **fields, timeout=min(timeout, MAX_WAIT))
        while report.get("status") == "running" and timeout > MAX_WAIT:
            left = ends_at - time.monotonic()
            if left <= 0:
                break
            session = report["session_id"]
            same = {"session_id": session, "show_secrets": fields.get("show_secrets")}
            later = self.call("debug_continue", **same, timeout=min(left, MAX_WAIT))
            report = join_reports(report, later)
        return report


def _is_unfinished(answer: Answer) -> bool:
    """Whether the program of a recording still runs, and what was asked for has not come."""
    return answer.get("status") == "running" and "trace_id" in answer and "steps" not in answer


def join_reports(earlier: Answer, later: Answer) -> Answer:
    """The later report, with what only the earlier one says."""
    joined = {**later}
    for name in ("environment", "columns", "hits"):
        if name in earlier:
            joined.setdefault(name, earlier[name])
    if "problems" in earlier:
        joined["problems"] = list(dict.fromkeys([*earlier["problems"], *later.get("problems", ())]))
    for name in ("rows", "steps"):
        if name in earlier:
            joined[name] = [*earlier[name], *later.get(name, ())]
    if "output" in earlier:
        joined["output"] = "\n".join([earlier["output"], *filter(None, [later.get("output")])])
    return joined


def _complain_of_nothing(fields: Mapping[str, Any]) -> NoReturn:
    if fields.get("capture"):
        hint = f"`holdfast captures {fields['capture']}` shows it without one."
        complain("this needs a server, and none runs", hint)
    hint = "`holdfast run PROGRAM` starts a program, and a server for it."
    complain("nothing is being debugged: no server runs", hint)


def _leave(session: str | None) -> NoReturn:
    option, argument = (f" -s {session}", f" {session}") if session else ("", "")
    name = f"session {session}" if session else "the program"
    print_note(
        f"\n{name} goes on; `holdfast continue{option}` waits for it, "
        f"`holdfast step pause{option}` pauses it, `holdfast stop{argument}` ends it"
    )
    raise typer.Exit(exit_codes.INTERRUPTED)
