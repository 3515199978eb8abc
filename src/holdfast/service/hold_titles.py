"""What waits at a hold, in one line: as a list of holds shows it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.model.call import CallRecord, Preview, When
from holdfast.model.decision import Moment
from holdfast.model.hold import Hold
from holdfast.wire import agent_lines

_MAX_TITLE = 200
_MAX_PART = 60


def shorten(text: str, limit: int = _MAX_TITLE) -> str:
    """One line of at most so many characters."""
    line = " ".join(text[: 2 * limit].split())
    is_cut = len(line) > limit or len(text) > 2 * limit
    return line[: limit - 1] + "…" if is_cut else line


def title_stop(hold: Hold) -> str:
    """`report (orders.py:33)`; why it stopped, if it is not known where."""
    place = hold.location
    if place is None:
        return hold.reason
    at = f"{os.path.basename(place.file)}:{place.line}"
    return shorten(f"{place.function} ({at})" if place.function else at)


def title_call(record: CallRecord, when: When, previews: Mapping[str, Preview]) -> str:
    """`Shop.sell('ann', gift=True)`, and what came of it, if it has run."""

    def show(cid: str) -> str:
        preview = previews.get(cid)
        return "…" if preview is None else shorten(str(preview.get("text", "…")), _MAX_PART)

    parts = [show(cid) for cid in record.args]
    parts += [f"{name}={show(cid)}" for name, cid in record.kwargs.items()]
    name = record.function.qualname or record.function.name
    outcome = ""
    if when is When.AFTER and record.result is not None:
        outcome = f"returned {show(record.result)}"
    elif when is When.EXCEPTION:
        message = record.exception_message
        outcome = f"raised {record.exception_type}" + (f": {message}" if message else "")
    outcome = shorten(outcome, _MAX_TITLE // 2)
    call = shorten(f"{name}({', '.join(parts)})", _MAX_TITLE - len(outcome) - 1)
    return f"{call} {outcome}".rstrip()


def list_title_cids(record: CallRecord) -> Sequence[str]:
    """The values that the title of a call shows."""
    cids = (*record.args, *record.kwargs.values())
    return cids if record.result is None else (*cids, record.result)


def title_agent(hold: Hold, data: Mapping[str, Any]) -> str:
    """`tool put({"item": "tea"})` or `model call 3`, and how it failed, if it did."""
    name, lane, error = data.get("name"), data.get("lane"), data.get("error")
    is_tool = hold.moment is Moment.TOOL or data.get("toolId") is not None
    what = f"tool {name}" if is_tool else f"model call {data.get('iteration', '?')}"
    if hold.moment is Moment.TOOL:
        what += f"({_show_json(data.get('input'))})"
    if hold.moment is Moment.ERROR and isinstance(error, Mapping):
        what += f" failed: {error.get('type')}: {error.get('message')}"
    of_lane = f" of {shorten(lane, _MAX_PART)}" if isinstance(lane, str) else ""
    return shorten(what, _MAX_TITLE - len(of_lane)) + of_lane


def _show_json(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, Mapping) and agent_lines.CID in value:
        return str(value.get("preview") or "…")  # a body of its own, which is large
    return json.dumps(value, ensure_ascii=False, default=str)
