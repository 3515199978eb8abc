"""What is known of a call's values without loading them: for conditions, and for places."""

from __future__ import annotations

from typing import Any

from holdfast.core.filters import NOTHING, Call, Unknown
from holdfast.model.call import CallRecord, Preview
from holdfast.model.location import Location
from holdfast.service.calls.contents import Contents


def of(record: CallRecord, contents: Contents) -> Call:
    """A call as the filter language sees it."""

    def known(cid: str) -> Any:
        return _known(contents.preview(cid))

    thrown = None
    if record.exception_type is not None:
        thrown = {"type": record.exception_type, "message": record.exception_message or ""}
    return {
        "args": [known(cid) for cid in record.args],
        "kwargs": {name: known(cid) for name, cid in record.kwargs.items()},
        "function": record.function.name,
        "alias": record.function.alias,
        "call_type": record.call_type,
        "status": record.status.value,
        "result": NOTHING if record.result is None else known(record.result),
        "exception": thrown,
        "duration": NOTHING if record.duration_ns is None else record.duration_ns / 1e9,
        "thread": (record.thread or {}).get("name"),
        "task": record.task,
    }


def _known(preview: Preview | None) -> Any:
    if preview is None:
        return NOTHING
    return preview["json"] if "json" in preview else Unknown(preview.get("length"))


def place(frames: list[Any]) -> Location | None:
    """Where the call was made: the frame nearest to it."""
    for frame in frames[:1]:
        if isinstance(frame, dict) and isinstance(frame.get("filename"), str):
            line = frame.get("lineno")
            function = frame.get("function")
            return Location(
                frame["filename"],
                line if isinstance(line, int) else 0,
                function if isinstance(function, str) else None,
            )
    return None
