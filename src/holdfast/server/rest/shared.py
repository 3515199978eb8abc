"""What several routes share: how long to wait, cursors, and types of events."""

from __future__ import annotations

from msgspec import Struct

from holdfast import errors
from holdfast.service.debugger import Debugger
from holdfast.service.run_options import RunOptions, parse_wait
from holdfast.wire.program_requests import RunRequest
from holdfast.wire.session_requests import StatusQuery

NO_WAIT = StatusQuery()


def build_options(
    body: Struct, query: StatusQuery = NO_WAIT, thread_id: int | None = None
) -> RunOptions:
    """What a request says about waiting: in its body, else in its query."""
    wait, include = getattr(body, "wait", None), getattr(body, "include", None)
    by, thread = (body.by, body.thread_id) if isinstance(body, RunRequest) else (None, None)
    return RunOptions(
        by=by or "rest",
        wait=query.wait if wait is None else wait,
        include=query.include if include is None else include,
        thread_id=thread if thread_id is None else thread_id,
    )


def parse_seconds(wait: str | None, debugger: Debugger) -> float:
    """How long to wait, in seconds."""
    return parse_wait(wait, debugger.settings.max_wait)


def parse_cursor(text: str | None) -> int:
    """The number after which a list goes on."""
    if text is None or text == "":
        return 0
    if not text.isdecimal():
        raise errors.InvalidInput(
            f"{text!r} is not a cursor", hint="Use the cursor of an earlier answer.", field="since"
        )
    return int(text)


def parse_types(text: str | None) -> frozenset[str] | None:
    """The types of events that a request names; None for all."""
    names = frozenset(name.strip() for name in (text or "").split(",")) - {""}
    return names or None
