"""Leased calls on their way: they gather here, and a thread sends them in batches.

Nothing is lost while the server lives: a batch that it did not take goes back to the front. When
too much waits, whoever brings more has to wait, too.
"""

from __future__ import annotations

import logging
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from holdfast.client.call_sites import CallSite
from holdfast.client.exceptions import DebugError, DebugServerError
from holdfast.client.proxy_base import without_interception
from holdfast.client.snapshots import Snapshot
from holdfast.model.call import call_number
from holdfast.wire import batch_format

if TYPE_CHECKING:
    from holdfast.client.definitions import Stored
    from holdfast.client.recorder import Recorder

logger = logging.getLogger("holdfast")

MAX_WAITING = 20_000  # calls
MAX_WAITING_BYTES = 32 << 20
BATCH = 4_000
_BATCH_BYTES = 4 << 20
_PAUSE = 0.01  # seconds in which calls gather

Kept = list[tuple["Stored", bytes]]
"""Values that the server needs beside the calls, with their previews."""

Plain = tuple[CallSite, int, int, Any, Snapshot, tuple[Any, ...], Any]
"""CallSite, number, duration, parent, target, arguments and result, as they are: nothing can change
them, so that they can be written down later, many at once."""

Packed = tuple[CallSite, bytes, Kept | None]
"""A call that is written down already."""


def parent_number(parent: Any) -> int:
    """The number of a call, of which a strict one is known by its id."""
    if parent is None:
        return 0
    return parent if type(parent) is int else call_number(parent) or 0


class Outbox:
    def __init__(
        self,
        recorder: Recorder,
        pack: Callable[[Plain], Packed],
        on_trouble: Callable[[], None],
    ) -> None:
        self._recorder = recorder
        self._pack = pack  # a plain call, written down by itself
        self._on_trouble = on_trouble
        self._sequence = time.time_ns()
        self.plain: deque[Plain] = deque()
        self._packed: deque[Packed] = deque()
        self._weight = 0
        self.most = MAX_WAITING
        self._fresh()

    def _fresh(self) -> None:
        """What a fork may leave locked, or without its thread."""
        self._sending = threading.RLock()
        self._wake = threading.Event()
        self.awake = False
        self._closed = False
        self._sender: threading.Thread | None = None

    def forked(self) -> None:
        """In the child: what waits is the parent's to send."""
        self._fresh()
        self.plain.clear()
        self._packed.clear()
        self._weight = 0

    def __len__(self) -> int:
        return len(self.plain) + len(self._packed)

    # -- what comes -----------------------------------------------------------------------------

    def put(self, packed: Packed) -> None:
        self._packed.append(packed)
        if not self.awake:
            self.awaken()
        if packed[2] is not None:
            self._weight += sum(len(stored.data) for stored, _ in packed[2])
        if len(self._packed) >= self.most or self._weight >= MAX_WAITING_BYTES:
            self.relieve()

    def awaken(self) -> None:
        self.awake = True
        if self._sender is None:
            with self._sending:
                if self._sender is None:
                    self._sender = threading.Thread(
                        target=_send_on, args=(weakref.ref(self), self._wake), daemon=True
                    )
                    self._sender.name = "holdfast-calls"
                    self._sender.start()
        self._wake.set()

    def relieve(self) -> None:
        """Too much waits: whoever brings more waits, too."""
        try:
            with without_interception():
                self.flush()
        except DebugError:
            self._on_trouble()

    # -- what goes ------------------------------------------------------------------------------

    def send_some(self) -> None:
        """What has gathered; from the thread that sends."""
        # First this, then the calls: one that is not seen there will wake us again.
        self.awake = False
        try:
            self.flush()
        except DebugError:
            self._on_trouble()
            logger.debug("calls could not be sent; they are kept", exc_info=True)

    def is_over(self) -> bool:
        """Asked by the thread that sends: nothing more will come, and it hangs up."""
        if self._closed:
            self._recorder.connection.close()
        return self._closed

    def flush(self) -> None:
        """Everything recorded so far is the server's after this, or there is an error.

        What other threads record meanwhile is not waited for: they may never stop.
        """
        with self._sending:
            plain, packed = len(self.plain), len(self._packed)
            while plain > 0 or packed > 0:
                some = [self.plain.popleft() for _ in range(min(plain, BATCH))]
                others = self._heavy(min(packed, BATCH))
                plain, packed = plain - len(some), packed - len(others)
                self._send(some, others)

    def _heavy(self, most: int) -> list[Packed]:
        """So many that are written down, or fewer if much has to go with them."""
        found: list[Packed] = []
        size = 0
        while len(found) < most and size < _BATCH_BYTES:
            each = self._packed.popleft()
            found.append(each)
            if each[2] is not None:
                size += sum(len(stored.data) for stored, _ in each[2])
        self._weight = max(0, self._weight - size)
        return found

    def _send(self, plain: list[Plain], packed: list[Packed]) -> None:
        self._sequence += 1
        try:
            targets, columns = _columns(plain)
        except ValueError:  # it happens to one in millions, so all of them take the longer way
            packed = [*map(self._pack, plain), *packed]
            plain, targets, columns = [], [], []
        sent: list[str] = []

        def batch() -> bytes:
            return self._batch(plain, packed, targets, columns, sent)

        try:
            self._recorder.report(batch)
        except DebugServerError:
            self.plain.extendleft(reversed(plain))
            self._packed.extendleft(reversed(packed))
            raise
        except DebugError:
            logger.exception("the server refused %d calls", len(plain) + len(packed))
            self._recorder.status = "error"
        else:
            self._recorder.sent.add(sent)

    def _batch(
        self,
        plain: list[Plain],
        packed: list[Packed],
        targets: list[bytes],
        columns: list[bytes],
        sent: list[str],
    ) -> bytes:
        sites = {each[0] for each in plain}
        sites.update(each[0] for each in packed)
        kept: dict[str, bytes] = {}
        for each in packed:
            for stored, shown in each[2] or ():
                if stored.cid not in kept and stored.cid not in self._recorder.sent:
                    kept[stored.cid] = batch_format.content(stored.data, shown)
        sent[:] = kept
        session = int((self._recorder.session_id or "_0").rpartition("_")[2], 16)
        counts = (len(sites), len(kept), len(packed), len(targets), len(plain))
        return b"".join(
            (
                batch_format.head(session, self._sequence, *counts),
                *(batch_format.site(site.number, site.text) for site in sites),
                *kept.values(),
                *(each[1] for each in packed),
                *targets,
                *columns,
            )
        )

    def close(self) -> None:
        """Send what is left."""
        try:
            self.flush()
        except DebugError:
            logger.warning("the last %d calls could not be sent to the server", len(self))
        sender, self._closed = self._sender, True
        self._wake.set()
        if sender is not None:
            sender.join(1.0)


def _columns(plain: list[Plain]) -> tuple[list[bytes], list[bytes]]:
    """The targets, and the columns. ValueError: a value has no place in JSON."""
    if not plain:
        return [], []
    sites, numbers, durations, parents, snapshots, args, results = zip(*plain, strict=True)
    places = {snapshot: place for place, snapshot in enumerate(dict.fromkeys(snapshots))}
    targets = [batch_format.target(*each.packed) for each in places if each.packed is not None]
    columns = [
        batch_format.column("q", numbers),
        batch_format.column("q", durations),
        batch_format.column("q", map(parent_number, parents)),
        batch_format.column("I", [site.number for site in sites]),
        batch_format.column("I", map(places.__getitem__, snapshots)),
        batch_format.column("I", map(len, args)),
        batch_format.values(args, results),
    ]
    return targets, columns


def _send_on(outbox: weakref.ref[Outbox], wake: threading.Event) -> None:
    """The thread that sends: it sleeps while nothing is called, and ends with its outbox."""
    with without_interception():
        while True:
            if not wake.wait(5.0):
                if outbox() is None:
                    return
                continue
            wake.clear()
            found = outbox()
            if found is None or found.is_over():
                return
            del found
            time.sleep(_PAUSE)
            found = outbox()
            if found is not None:
                found.send_some()
            del found
