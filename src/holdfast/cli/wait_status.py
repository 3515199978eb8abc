"""Says on a terminal that a command waits: how long already, and the program's last line."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from types import TracebackType
from typing import Any

from holdfast import timings
from holdfast.cli.server_access import describe_client, open_client
from holdfast.client.exceptions import DebugError
from holdfast.client.http_client import ApiError
from holdfast.wire.plain_text import clean_output

_FIRST_SECONDS = 0.5  # most waits are shorter, and need no words
_EACH_SECONDS = 0.1
_ASK_SECONDS = 1.0
_OUTPUT_BYTES = 400
_CLEAR = "\r\x1b[2K"
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_EVERY_SESSION = {"limit": 200, "budget_tokens": 20_000}
_LIVE = ("launching", "running", "waiting_for_input", "paused")


class WaitStatus:
    """One line on stderr while a program runs. Nothing in a pipe."""

    def __init__(self, url: str | None, session_id: str | None, *, starts_one: bool) -> None:
        self._url = url
        self._session = session_id
        self._starts_one = starts_one
        self._begun = time.monotonic()
        self._begun_at = datetime.now(timezone.utc) - timedelta(seconds=1)
        self._is_over = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> WaitStatus:
        if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
            self._thread = threading.Thread(target=self._show, daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._end()

    def _end(self) -> None:
        self._is_over.set()
        if self._thread is not None:
            self._thread.join(timings.TIMINGS.side_request)
            self._thread = None

    def find_session(self) -> str | None:
        """The session that is waited for, once the wait is over."""
        self._end()
        return self._session or self._look_for_session()

    # -- in a thread of its own -----------------------------------------------------------------

    def _show(self) -> None:
        if self._is_over.wait(_FIRST_SECONDS):
            return
        line, asked_at, turn = "", 0.0, 0
        while not self._is_over.wait(_EACH_SECONDS):
            now = time.monotonic()
            if now - asked_at >= _ASK_SECONDS:
                line, asked_at = self._read_last_line(), now
            self._write(turn, line)
            turn += 1
        sys.stderr.write(_CLEAR)
        sys.stderr.flush()

    def _write(self, turn: int, line: str) -> None:
        is_unicode = (sys.stderr.encoding or "").lower().startswith("utf")
        sign = _SPINNER[turn % len(_SPINNER)] if is_unicode else "|/-\\"[turn % 4]
        text = f"{sign} {time.monotonic() - self._begun:.0f} s"
        text += f"  {line}" if line else ""
        width = shutil.get_terminal_size().columns - 1
        sys.stderr.write(_CLEAR + text[: max(width, 10)])
        sys.stderr.flush()

    def _read_last_line(self) -> str:
        session = self._session = self._session or self._look_for_session()
        if session is None:
            return ""
        query = f"include=output&output_since=0&output_bytes={_OUTPUT_BYTES}"
        answer = self._ask(f"/sessions/{session}/status?{query}")
        written = "".join(entry.get("text", "") for entry in answer.get("output") or ())
        lines = [line for line in clean_output(written).splitlines() if line.strip()]
        return lines[-1].strip() if lines else ""

    def _look_for_session(self) -> str | None:
        """The newest program of ours that lives; if the command starts one, it must be new."""
        tool = f"/api/v1/tools/debug_sessions?{describe_client()}"
        own = {
            session["session_id"]
            for session in self._ask(tool, _EVERY_SESSION).get("sessions", [])
            if session.get("is_yours") and session["status"] in _LIVE
        }
        for session in reversed(self._ask("/sessions").get("sessions", [])):
            if session["session_id"] in own and self._is_new(session):
                return str(session["session_id"])
        return None

    def _is_new(self, session: Mapping[str, Any]) -> bool:
        if not self._starts_one:
            return True
        created = datetime.fromisoformat(session["created_at"].replace("Z", "+00:00"))
        return created >= self._begun_at

    def _ask(self, path: str, body: Any = None) -> Any:
        try:
            client = open_client(self._url)
            client.timeout = timings.TIMINGS.side_request
            return client.request("GET" if body is None else "POST", path, body)
        except (ApiError, DebugError, ValueError):  # the command itself says what is wrong
            return {}
