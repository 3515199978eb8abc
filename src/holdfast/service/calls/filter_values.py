"""What is known of a call's values without loading them: for conditions, and for places."""

from __future__ import annotations

from typing import Any

from holdfast.core.filters import NOTHING, Call, Given, Later, Unknown
from holdfast.model.call import CallRecord
from holdfast.model.location import Location
from holdfast.service.calls.content_cache import Contents
from holdfast.wire import plain_values


def of(record: CallRecord, contents: Contents) -> Call:
    """A call as the filter language sees it; values are looked at when it comes to them."""
    seen: dict[str, Later] = {}

    def later(cid: str, name: str) -> Later:
        if cid not in seen:
            seen[cid] = _later(cid, name, contents)
        return seen[cid]

    thrown = None
    if record.exception_type is not None:
        thrown = {"type": record.exception_type, "message": record.exception_message or ""}
    return {
        "args": Given([later(cid, f"args[{at}]") for at, cid in enumerate(record.args)]),
        "kwargs": Given(
            {name: later(cid, f"kwargs[{name!r}]") for name, cid in record.kwargs.items()}
        ),
        "function": record.function.name,
        "alias": record.function.alias,
        "call_type": record.call_type,
        "status": record.status.value,
        "result": NOTHING if record.result is None else later(record.result, "result"),
        "exception": thrown,
        "duration": NOTHING if record.duration_ns is None else record.duration_ns / 1e9,
        "thread": (record.thread or {}).get("name"),
        "task": record.task,
    }


def _later(cid: str, name: str, contents: Contents) -> Later:
    """A value as its preview has it, else as its bytes tell without being loaded."""

    def length() -> int | None:
        return (contents.preview(cid) or {}).get("length")

    def note(what: str, known_length: int | None) -> Unknown:
        return Unknown(known_length, f"{name} is or holds {what}, which is not plain data")

    def look() -> Any:
        preview = contents.preview(cid) or {}
        if "json" in preview:
            return preview["json"]
        data = contents.data(cid)
        if data is None:
            return Unknown(preview.get("length"), f"{name} is not stored")
        return plain_values.value(data, note)

    return Later(look, length)


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
