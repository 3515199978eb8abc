"""What outlives the server: calls, contents, events, sessions, rules, profiles and settings.

`open_store` takes a directory and returns a `Store`: five parts whose interfaces (`interface.py`)
say nothing about the engine behind them. There is one engine, `sqlite`; only this room knows it.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from holdfast.store.interface import (
    CALLS_TOPIC,
    Bell,
    CallLog,
    Contents,
    Directory,
    Document,
    DroppedCalls,
    Feed,
    Store,
)
from holdfast.store.pending_write import PendingWrite
from holdfast.store.sqlite.sqlite_store import open_sqlite_store
from holdfast.store.store_errors import StoreInUse, StoreProblem

__all__ = [
    "CALLS_TOPIC",
    "Bell",
    "CallLog",
    "Contents",
    "Directory",
    "Document",
    "DroppedCalls",
    "Feed",
    "PendingWrite",
    "Store",
    "StoreInUse",
    "StoreProblem",
    "open_store",
]


async def open_store(directory: Path) -> Store:
    """Open the store of a data directory, creating both if needed."""
    return await asyncio.to_thread(open_sqlite_store, Path(directory))
