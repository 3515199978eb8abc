"""REST JSON: how our values look to a client. Shapes only; nothing is decided here."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable
from typing import Any

import orjson

from holdfast.model.breakpoint import Breakpoint, ExceptionFilters
from holdfast.model.location import Location
from holdfast.model.records import EventRecord
from holdfast.model.stop import Stop

Json = dict[str, Any]


def encode(value: Any) -> bytes:
    """JSON as bytes; text that is not valid Unicode is escaped rather than refused."""
    try:
        return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS)
    except (TypeError, ValueError):
        return json.dumps(value, default=str).encode()


def timestamp(at: float) -> str:
    moment = datetime.datetime.fromtimestamp(at, datetime.timezone.utc)
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def location(place: Location | None) -> Json | None:
    if place is None:
        return None
    return {"file": place.file, "line": place.line, "function": place.function}


def breakpoint_(point: Breakpoint) -> Json:
    shown: Json = {
        "breakpoint_id": point.id,
        "id": point.id,
        "verified": point.verified,
        "enabled": point.enabled,
        "hits": point.hits,
    }
    for name in ("file", "line", "function", "condition", "hit_condition", "log_message"):
        value = getattr(point, name)
        if value is not None:
            shown[name] = value
    if point.file is not None:
        shown["source"] = {"path": point.file}
    if point.message is not None:
        shown["message"] = point.message
    if point.suggestion is not None:
        shown["suggestion"] = {"line": point.suggestion}
    return shown


def exception_filters(chosen: ExceptionFilters) -> Json:
    return {"filters": list(chosen.filters), "types": list(chosen.types)}


def exception(stop: Stop) -> Json | None:
    thrown = stop.exception
    if thrown is None:
        return None
    return {
        "type": thrown.type,
        "module": thrown.module,
        "message": thrown.message,
        "location": location(thrown.location),
    }


def stopped(stop: Stop) -> Json:
    """Why and where, for any answer that says `paused`."""
    ids = [each for each, _hits in stop.breakpoints]
    shown: Json = {
        "reason": stop.reason,
        "location": location(stop.location),
        "thread_id": stop.thread_id,
    }
    if ids:
        shown["breakpoint_id"] = ids[0]
        shown["breakpoint_ids"] = ids
    thrown = exception(stop)
    if thrown is not None:
        shown["exception"] = thrown
    if stop.returned:
        shown["returned"] = list(stop.returned)
    return shown


def threads_at_stop(stop: Stop) -> Json:
    """Which threads are held, from what the stop itself told."""
    this: Json = {"thread_id": stop.thread_id, "location": location(stop.location)}
    this["name"] = next((t["name"] for t in stop.threads if t["id"] == stop.thread_id), "")
    if stop.breakpoints:
        this["breakpoint_id"] = stop.breakpoints[0][0]
    every = [
        {
            "thread_id": each["id"],
            "name": each["name"],
            "status": "paused"
            if stop.all_threads_stopped or each["id"] == stop.thread_id
            else "running",
        }
        for each in stop.threads
    ]
    return {"stopped_threads": [this], "all_threads": every}


def thread(listed: Json) -> Json:
    shown = {"thread_id": listed["id"], **listed}
    points = shown.pop("breakpoints", None)
    if points:
        shown["breakpoint_id"] = f"bp_{points[0]}"
    return shown


def threads_now(listed: Iterable[Json]) -> Json:
    """Which threads are held, from what the debugger says at this moment."""
    shown = [thread(each) for each in listed]
    return {
        "stopped_threads": [t for t in shown if t["status"] == "paused" and not t.get("blocked")],
        "all_threads": [{k: t[k] for k in ("thread_id", "name", "status")} for t in shown],
    }


def frame(shown: Json) -> Json:
    return {**shown, "function": shown["name"]}


def event(record: EventRecord) -> Json:
    return {
        "seq": record.seq,
        "session_id": record.session_id,
        "event": record.type,
        "type": record.type,
        "timestamp": timestamp(record.at),
        **record.body,
    }


def output(kind: str, text: str, at: float, seq: int, place: Json) -> Json:
    return {"type": kind, "text": text, "timestamp": timestamp(at), "seq": seq, **place}
