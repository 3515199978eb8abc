"""Sessions and events as the store keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """A session with its configuration and last known state, in `document`.

    Times are seconds since the epoch.
    """

    id: str
    kind: str
    created_at: float
    updated_at: float
    document: dict[str, Any]


@dataclass(frozen=True, slots=True)
class EventRecord:
    """An event of a session. `seq` orders the events and is their cursor."""

    session_id: str
    seq: int
    at: float
    type: str
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class StoreWarning:
    """A problem that the store has worked around."""

    code: str
    message: str
    details: Mapping[str, Any] = field(default_factory=dict)
