"""What several routes share: how long to wait, cursors, and types of events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from holdfast import errors
from holdfast.service.debugger import Debugger
from holdfast.service.run_options import RunOptions, parse_cursor, parse_wait
from holdfast.wire.event_types import EVENT_GROUPS
from holdfast.wire.program_requests import LaunchRequest, RunRequest
from holdfast.wire.session_requests import StatusQuery
from holdfast.wire.unknown_names import describe_known

NO_WAIT = StatusQuery()
_EVENT_TYPES = tuple(sorted({name for group in EVENT_GROUPS for name in group.types}))
_ANSWER_OPTIONS = ("wait", "include", "output_since", "output_bytes")


def build_options(
    body: Struct,
    query: StatusQuery = NO_WAIT,
    thread_id: int | None = None,
    launch: LaunchRequest | None = None,
) -> RunOptions:
    """What a request says about waiting and its answer: in its body, else in its query."""
    by, thread, lane = None, None, None
    if isinstance(body, RunRequest):
        by, thread, lane = body.by, body.thread_id, body.lane
    return RunOptions(
        by=by or "rest",
        lane=lane,
        thread_id=thread if thread_id is None else thread_id,
        **{name: _find_given(name, launch, body, query) for name in _ANSWER_OPTIONS},
    )


def _find_given(name: str, *sources: Struct | None) -> Any:
    """The value of an option in the first place that has it."""
    for source in sources:
        value = getattr(source, name, None)
        if value is not None:
            return value
    return None


def parse_seconds(wait: str | None, debugger: Debugger) -> float:
    """How long to wait, in seconds."""
    return parse_wait(wait, debugger.settings.max_wait)


def parse_since(text: str | None) -> int:
    """The number after which a list goes on."""
    return parse_cursor(text, "since")


def parse_types(text: str | None) -> frozenset[str] | None:
    """The types of events that a request names; None for all."""
    return parse_names(text, _EVENT_TYPES, "types")


def parse_names(text: str | None, known: Sequence[str], field: str) -> frozenset[str] | None:
    """The values of a filter, with commas between them; None for all."""
    names = list(filter(None, (name.strip() for name in (text or "").split(","))))
    unknown = [name for name in names if name not in known]
    if unknown:
        raise errors.InvalidInput(
            f"{field}: it cannot be {unknown[0]!r:.100}; {describe_known(unknown[0], known)}",
            hint="Use one of the valid values, or several with commas.",
            field=field,
            unknown=unknown,
            valid=list(known),
        )
    return frozenset(names) or None
