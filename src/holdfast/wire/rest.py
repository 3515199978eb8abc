"""REST JSON: how our values look to a client. Shapes only; nothing is decided here."""

from __future__ import annotations

import datetime
import json
from typing import Any, cast

import msgspec

from holdfast.model.records import EventRecord
from holdfast.wire.session_answers import Event

_encode = msgspec.json.Encoder().encode


def encode(value: Any) -> bytes:
    """JSON as bytes; text that is not valid Unicode is escaped rather than refused."""
    try:
        return _encode(value)
    except (TypeError, ValueError):
        return json.dumps(msgspec.to_builtins(value, enc_hook=str)).encode()


def timestamp(at: float) -> str:
    moment = datetime.datetime.fromtimestamp(at, datetime.timezone.utc)
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def event(record: EventRecord) -> Event:
    fields = {
        "seq": record.seq,
        "session_id": record.session_id,
        "event": record.type,
        "type": record.type,
        "timestamp": timestamp(record.at),
        **record.body,
    }
    return cast(Event, fields)
