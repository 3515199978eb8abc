"""What outlives the server: calls, contents, events, sessions, rules, profiles and settings.

`open_store` takes a directory and returns a `Store`: five parts whose interfaces (`interface.py`)
say nothing about the engine behind them. There is one engine, `sqlite`; only this room knows it.
"""

from holdfast.model.call_query import CallQuery
from holdfast.store.interface import (
    Bell,
    CallLog,
    Contents,
    Directory,
    Document,
    DroppedCalls,
    Feed,
)
from holdfast.store.pending_write import PendingWrite
from holdfast.store.sqlite.blocking_store import CallTables, Packed
from holdfast.store.sqlite.sqlite_store import SqliteStore as Store
from holdfast.store.sqlite.sqlite_store import open_store
from holdfast.store.store_errors import StoreInUse, StoreProblem

__all__ = [
    "Bell",
    "CallLog",
    "CallQuery",
    "CallTables",
    "Contents",
    "Directory",
    "Document",
    "DroppedCalls",
    "Feed",
    "Packed",
    "PendingWrite",
    "Store",
    "StoreInUse",
    "StoreProblem",
    "open_store",
]
