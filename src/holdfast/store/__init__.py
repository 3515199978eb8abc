"""What outlives the server: settings, sessions, breakpoints, profiles, events and calls.

`open_store` takes a directory, holds it against a second server, sets a damaged database aside
(nothing is ever deleted), brings the schema up to date and returns a `Store`. Reads are plain
calls on a small pool of connections. Writes are put on one queue; one thread takes what has
gathered there and commits it together, and each caller may wait on its own future or not. Events
are too many to wait for: they are queued without a future, and a reader sees those still in the
queue merged with those on disk. When the disk fails, writes say so, events are kept in memory for
the next attempt, and whatever had to be dropped is counted. SQL stays in this room.
"""

from holdfast.store.interface import Store
from holdfast.store.sqlite.sqlite_calls import CallQuery, CallTables, Packed
from holdfast.store.sqlite.sqlite_store import open_store
from holdfast.store.store_errors import StoreInUse, StoreProblem

__all__ = ["CallQuery", "CallTables", "Packed", "Store", "StoreInUse", "StoreProblem", "open_store"]
