"""A call's values as the filter language sees them, without loading any of them."""

from __future__ import annotations

from typing import Any

from holdfast.core.filters import NOTHING, Arguments, Call, LazyValue, Unknown
from holdfast.model.call import CallRecord
from holdfast.service.calls.content_cache import ContentCache
from holdfast.wire import plain_values


def build_filter_values(record: CallRecord, contents: ContentCache) -> Call:
    """Each value is looked at when the expression comes to it."""
    known: dict[str, LazyValue] = {}

    def later(cid: str, name: str) -> LazyValue:
        if cid not in known:
            known[cid] = _build_later(cid, name, contents)
        return known[cid]

    exception = None
    if record.exception_type is not None:
        exception = {"type": record.exception_type, "message": record.exception_message or ""}
    return {
        "args": Arguments([later(cid, f"args[{at}]") for at, cid in enumerate(record.args)]),
        "kwargs": Arguments(
            {name: later(cid, f"kwargs[{name!r}]") for name, cid in record.kwargs.items()}
        ),
        "function": record.function.name,
        "alias": record.function.alias,
        "call_type": record.call_type,
        "status": record.status.value,
        "result": NOTHING if record.result is None else later(record.result, "result"),
        "exception": exception,
        "duration": NOTHING if record.duration_ns is None else record.duration_ns / 1e9,
        "thread": (record.thread or {}).get("name"),
        "task": record.task,
    }


def _build_later(cid: str, name: str, contents: ContentCache) -> LazyValue:
    """The value in its preview, or else the plain value in its bytes."""

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
        return plain_values.read_plain(data, note)

    return LazyValue(look, length)
