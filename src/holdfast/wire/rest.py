"""The JSON of answers that have no struct: times, events, and the encoder for any value."""

from __future__ import annotations

import datetime
import json
from typing import Any

import orjson

from holdfast.model.records import EventRecord

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


def event(record: EventRecord) -> Json:
    return {
        "seq": record.seq,
        "session_id": record.session_id,
        "event": record.type,
        "type": record.type,
        "timestamp": timestamp(record.at),
        **record.body,
    }
