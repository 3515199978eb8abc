"""The store as the rest of the house knows it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, Protocol

from holdfast.model.records import EventRecord, SessionRecord
from holdfast.store.sqlite.sqlite_calls import CallTables


class Store(Protocol):
    """Reads answer at once and see every write made before them in this process.

    Writes return a future that is done when the write is committed, or carries a `StoreProblem`.
    It cannot be cancelled: a write once accepted is carried out. What cannot be written as JSON
    is refused at the call.
    """

    @property
    def warnings(self) -> list[dict[str, Any]]:
        """Problems the store worked around: each has a code, a message and details."""
        ...

    @property
    def calls(self) -> CallTables:
        """Intercepted calls and their values: too many to wait for one by one."""
        ...

    @property
    def dropped_events(self) -> int:
        """How many events could not be kept."""
        ...

    def settings(self) -> dict[str, Any]: ...

    def put_setting(self, key: str, value: Any) -> Future[None]: ...

    def put_settings(self, values: Mapping[str, Any]) -> Future[None]:
        """Write all of them or none."""
        ...

    def sessions(self) -> list[SessionRecord]:
        """Oldest first."""
        ...

    def session(self, session_id: str) -> SessionRecord | None: ...

    def put_session(self, record: SessionRecord) -> Future[None]: ...

    def delete_session(self, session_id: str) -> Future[None]:
        """Delete a session and its events."""
        ...

    def projects(self) -> list[str]:
        """The directories that have breakpoints."""
        ...

    def breakpoints(self, project: str) -> list[dict[str, Any]]: ...

    def put_breakpoints(self, project: str, documents: Sequence[dict[str, Any]]) -> Future[None]:
        """Replace the project's breakpoints by these, in this order. Each has an `id`."""
        ...

    def profiles(self) -> dict[str, dict[str, Any]]: ...

    def put_profile(self, name: str, document: dict[str, Any]) -> Future[None]: ...

    def delete_profile(self, name: str) -> Future[None]: ...

    def append_event(
        self,
        session_id: str,
        seq: int,
        at: float,
        type: str,  # noqa: A002
        body: dict[str, Any],
    ) -> None:
        """Queue an event and return; blocks only while far too many are queued already.

        It never raises: an event that cannot be stored leaves a warning and is counted.
        """
        ...

    def events(
        self,
        session_id: str,
        after: int = 0,
        limit: int = 1000,
        types: Collection[str] | None = None,
    ) -> list[EventRecord]:
        """The first `limit` events with a seq above `after`, in order."""
        ...

    def last_seq(self, session_id: str) -> int:
        """The highest seq of the session, 0 when it has no events."""
        ...

    def flush(self) -> None:
        """Wait until everything queued is committed; raise `StoreProblem` if it cannot be."""
        ...

    def close(self) -> None:
        """Commit what is queued and let go of the directory. Closing twice is fine."""
        ...
