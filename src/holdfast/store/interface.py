"""What the store offers, whatever engine is behind it.

    CallLog     intercepted calls, their functions and stacks
    Contents    values by their content ids
    Feed        the numbered events of sessions
    Bell        "something changed", for whoever waits
    Directory   sessions, rules (breakpoints), profiles, launches and settings

Rules for every engine:

* Methods that read are coroutines and never block the event loop. A read sees every write that was
  made before it through the same `Store`, committed or not.
* Methods that return a `PendingWrite` have accepted the write, in order, when they return. Awaiting
  it returns when the write is committed, or raises `StoreProblem`. What cannot be stored at all is
  refused at the call.
* The methods that write and return None are called for every call and event, so they wait for no
  commit. What they queue is read back at once and committed soon, in order. Those of `CallLog` and
  `Contents` return when what they were given survives the end of this process, and raise
  `StoreProblem` if it cannot; then they have done nothing. Events that were queued in the last
  moments may be lost when the process is killed. When an engine cannot keep up, `has_room` says so.
  When it cannot commit, it keeps what was queued, tries again, and adds a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from holdfast.model.call import CallBreakpoint, CallRecord, Function, Preview
from holdfast.model.call_batch import CallBatch
from holdfast.model.call_query import CallQuery
from holdfast.model.call_span import CallRange
from holdfast.model.records import EventRecord, SessionRecord, StoreWarning
from holdfast.store.pending_write import PendingWrite

CALLS_TOPIC = "calls"
"""The topic of the bell for calls that were added or changed."""

Document = dict[str, Any]
"""A JSON object whose meaning the store does not know."""


@dataclass(frozen=True, slots=True)
class DroppedCalls:
    """How many calls were deleted, and the content ids that they used."""

    count: int
    cids: list[str]


class CallLog(Protocol):
    """Calls, in order of their numbers."""

    # -- writing, queued ----------------------------------------------------------------------

    def append_call(self, record: CallRecord) -> None:
        """Add a call, and count it for its function."""
        ...

    def update_call(self, record: CallRecord) -> None:
        """Replace a call by a later version of it."""
        ...

    def append_batch(self, batch: CallBatch) -> None:
        """Add completed calls, all in one transaction. A call that is there already is not added
        again; one whose number another session has taken gets the next free number, and so do
        the references of its children."""
        ...

    def put_function(self, function: Function) -> None:
        """Add a function, or what is newly known of it."""
        ...

    def put_stack(self, stack: int, frames: Sequence[Any]) -> None:
        """Add a stack. Put it before the calls that have it."""
        ...

    @property
    def has_room(self) -> bool:
        """Whether more calls and contents may be queued."""
        ...

    async def wait_for_room(self) -> None:
        """Wait until there is room; raise `StoreProblem` if there is none for too long."""
        ...

    @property
    def is_idle(self) -> bool:
        """Whether nothing is queued."""
        ...

    # -- reading ------------------------------------------------------------------------------

    async def call(self, number: int) -> CallRecord | None:
        """One call, in its latest version."""
        ...

    async def calls(self, numbers: Sequence[int]) -> dict[int, CallRecord]:
        """Those of these calls that there are, by number, each in its latest version."""
        ...

    async def newest(self, query: CallQuery, limit: int) -> list[CallRecord]:
        """The newest calls that fit the most selective part of the query, newest first.

        The caller checks the rest. The time it takes depends on `limit`, not on how many calls
        there are.
        """
        ...

    async def children(self, parents: Sequence[int], limit: int) -> list[CallRecord]:
        """The first `limit` calls made within these calls: parent by parent, the oldest first."""
        ...

    async def count_children(self, parents: Sequence[int], limit: int) -> dict[int, int]:
        """How many calls were made within each of these calls; from `limit` on, `limit`."""
        ...

    async def spans(self, query: CallQuery, limit: int) -> CallRange:
        """When and where the newest calls ran that meet `functions`, `session_id`, and the bounds
        of the query. The other conditions do not count."""
        ...

    @property
    def arrivals(self) -> int:
        """How often a call was added or changed since the store was opened. Each time rings the
        bell of the topic CALLS_TOPIC."""
        ...

    def arrived_after(self, arrival: int, limit: int) -> list[int] | None:
        """The numbers of the calls of the first `limit` arrivals after that one, in order; a call
        that changed is there again. None: it is too long ago to be remembered."""
        ...

    async def functions(self) -> list[tuple[Function, int]]:
        """Every function, and how often it was called."""
        ...

    async def stack(self, stack: int) -> list[Any]:
        """The frames of a stack, the innermost first; empty if there is none."""
        ...

    async def last_number(self) -> int:
        """The highest number of a call, 0 when there is none."""
        ...

    async def count_calls(self, session_id: str | None = None) -> int:
        """How many calls there are, of one session or of all."""
        ...

    # -- deleting -----------------------------------------------------------------------------

    def lose_running(self) -> PendingWrite:
        """Mark every running call as lost: the server that knew of them is gone."""
        ...

    def delete_session(self, session_id: str) -> PendingWrite:
        """Delete a session's calls. Their contents stay: others may use them."""
        ...

    async def drop_oldest(self, limit: int) -> DroppedCalls | None:
        """Delete up to `limit` of the oldest calls that are over and committed.

        None: it cannot be done now.
        """
        ...

    async def unused_stacks(self) -> set[int]:
        """The stacks that no call has."""
        ...

    async def drop_stacks(self, stacks: Collection[int]) -> None:
        """Delete those of these stacks that no call has, nor one that was queued before this."""
        ...


class Contents(Protocol):
    """Values by content: a content id is the SHA-256 of the value's bytes, in hex."""

    def put(self, cid: str, data: bytes, preview: Preview) -> None:
        """Queue a value. It is committed no later than the calls that are queued after it, and
        replaces bytes under its id that are damaged."""
        ...

    async def data(self, cid: str) -> bytes | None:
        """The bytes of a value; None if it is not stored. `ContentDamaged`: it was, otherwise."""
        ...

    async def previews(self, cids: Iterable[str], *, exact: bool = False) -> dict[str, Preview]:
        """The previews of those of these values that are stored.

        A value that was read lately may have been deleted since; `exact` leaves that out, and also
        what is damaged.
        """
        ...

    async def drop_unused(self, cids: Sequence[str], may_drop: Callable[[str], bool]) -> int | None:
        """Delete those of these values that no call and no rule uses; return how many.

        Calls that were queued before this count as users. `may_drop` is asked right before a
        value is deleted, on any thread. None: it cannot be done now.
        """
        ...


class Feed(Protocol):
    """Events of sessions, each with a number that is unique within its session."""

    def append(self, event: EventRecord) -> None:
        """Queue an event, and ring the bell of its session.

        It blocks only while far too many events are queued. It never raises: an event that cannot
        be stored is counted in `dropped_events` and leaves a warning.
        """
        ...

    async def read(
        self,
        session_id: str,
        after: int = 0,
        limit: int = 1000,
        types: Collection[str] | None = None,
    ) -> list[EventRecord]:
        """The first `limit` events with a number above `after`, in order."""
        ...

    async def last_seq(self, session_id: str) -> int:
        """The highest number of the session's events, 0 when it has none."""
        ...

    @property
    def dropped_events(self) -> int:
        """How many events could not be kept."""
        ...


class Bell(Protocol):
    """Tells listeners that something changed; what it was they read for themselves.

    A topic is a session's id, or CALLS_TOPIC. A listener hears every ring after its subscription at
    least once, on the event loop that it subscribed on; several rings may come as one.
    """

    def ring(self, topic: str) -> None:
        """Call every listener of a topic, in every server that shares the store."""
        ...

    def subscribe(self, topic: str, callback: Callable[[], None]) -> Callable[[], None]:
        """Call back whenever the topic rings, until the returned function is called."""
        ...


class Directory(Protocol):
    """Few and small records, each replaced as a whole."""

    async def settings(self) -> dict[str, Any]: ...

    def put_settings(self, values: Mapping[str, Any]) -> PendingWrite:
        """Write all of them or none."""
        ...

    async def sessions(self) -> list[SessionRecord]:
        """Every session, the oldest first."""
        ...

    def put_session(self, record: SessionRecord) -> PendingWrite: ...

    def delete_session(self, session_id: str) -> PendingWrite:
        """Delete a session and its events."""
        ...

    async def breakpoints(self) -> dict[str, list[Document]]:
        """The breakpoints of programs, by project directory, in their order."""
        ...

    def put_breakpoints(self, project: str, breakpoints: Sequence[Document]) -> PendingWrite:
        """Replace a project's breakpoints. Each has an `id`."""
        ...

    async def call_breakpoints(self) -> list[CallBreakpoint]:
        """In their order."""
        ...

    def put_call_breakpoints(self, breakpoints: Sequence[CallBreakpoint]) -> PendingWrite:
        """Replace all call breakpoints."""
        ...

    async def profiles(self) -> dict[str, Document]: ...

    def put_profile(self, name: str, profile: Document) -> PendingWrite: ...

    def delete_profile(self, name: str) -> PendingWrite: ...

    async def launches(self) -> list[Document]:
        """Programs that were launched lately, in their order."""
        ...

    def put_launches(self, launches: Sequence[Document]) -> PendingWrite:
        """Replace all of them."""
        ...


class Store(Protocol):
    """The five parts of one store, and its end."""

    @property
    def call_log(self) -> CallLog: ...

    @property
    def contents(self) -> Contents: ...

    @property
    def feed(self) -> Feed: ...

    @property
    def bell(self) -> Bell: ...

    @property
    def directory(self) -> Directory: ...

    @property
    def number(self) -> int:
        """A number that this store got when it was made: at random, below a thousand millions."""
        ...

    @property
    def file(self) -> Path | None:
        """The file that everything is in; None for an engine that has none."""
        ...

    @property
    def warnings(self) -> list[StoreWarning]:
        """Problems that the store met and worked around."""
        ...

    async def flush(self) -> None:
        """Wait until everything queued is committed; raise `StoreProblem` if it cannot be."""
        ...

    async def aclose(self) -> None:
        """Commit what is queued and release the store. Closing twice is fine."""
        ...
