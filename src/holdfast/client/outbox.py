"""Leased calls on their way to the server: they gather here, and a thread sends them in batches.

Nothing is lost while the server lives: a batch that it did not take goes back to the front. When
too many calls wait, whoever adds one waits until they are sent.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

from holdfast import timings
from holdfast.client.call_sites import CallSite
from holdfast.client.definitions import Stored
from holdfast.client.exceptions import DebugError, DebugServerError
from holdfast.client.proxy_base import without_interception
from holdfast.client.recorder import Recorder, logger
from holdfast.client.snapshots import Snapshot
from holdfast.model.call import call_number
from holdfast.wire import batch_format

MAX_WAITING = 20_000  # calls
MAX_WAITING_BYTES = 32 << 20
MAX_BATCH = 4_000  # calls of each kind
_MAX_BATCH_BYTES = 4 << 20
_GATHER_SECONDS = 0.01

Contents = list[tuple[Stored, bytes]]
"""Values that the server needs beside the calls, with their previews."""

PlainCall = tuple[CallSite, int, int, Any, Snapshot, tuple[Any, ...], Any]
"""Site, number, duration, parent, target, arguments and result of a call whose values cannot
change, so that many such calls can be encoded later, at once."""

PackedCall = tuple[CallSite, bytes, Contents | None]
"""A call that is encoded already."""


def parent_number(parent: Any) -> int:
    """The number of the parent call; 0 if there is none."""
    if parent is None:
        return 0
    return parent if type(parent) is int else call_number(parent) or 0


class Outbox:
    def __init__(
        self,
        recorder: Recorder,
        pack: Callable[[PlainCall], PackedCall],
        on_failure: Callable[[], None],
    ) -> None:
        self._recorder = recorder
        self._pack = pack
        self._on_failure = on_failure
        self._sequence = time.time_ns()
        self.plain: deque[PlainCall] = deque()
        self._packed: deque[PackedCall] = deque()
        self._content_bytes = 0
        self.max_waiting = MAX_WAITING
        self._start_afresh()

    def _start_afresh(self) -> None:
        """Make what a fork may leave locked, or without its thread."""
        self._send_lock = threading.RLock()
        self._wake_event = threading.Event()
        self.is_awake = False
        self._is_closed = False
        self._sender: threading.Thread | None = None

    def reset_after_fork(self) -> None:
        """In the child: the parent sends what waits."""
        self._start_afresh()
        self.plain.clear()
        self._packed.clear()
        self._content_bytes = 0

    def __len__(self) -> int:
        return len(self.plain) + len(self._packed)

    # -- adding -----------------------------------------------------------------------------

    def put(self, packed: PackedCall) -> None:
        self._packed.append(packed)
        if not self.is_awake:
            self.wake()
        if packed[2] is not None:
            self._content_bytes += _content_size(packed)
        if len(self._packed) >= self.max_waiting or self._content_bytes >= MAX_WAITING_BYTES:
            self.flush_in_caller()

    def wake(self) -> None:
        self.is_awake = True
        if self._sender is None:
            with self._send_lock:
                if self._sender is None:
                    self._sender = threading.Thread(
                        target=_send_forever,
                        args=(weakref.ref(self), self._wake_event),
                        daemon=True,
                    )
                    self._sender.name = "holdfast-calls"
                    self._sender.start()
        self._wake_event.set()

    def flush_in_caller(self) -> None:
        """Send in the thread that adds, because too much waits."""
        try:
            with without_interception():
                self.flush()
        except DebugError:
            self._on_failure()

    # -- sending ------------------------------------------------------------------------------

    def send_gathered(self) -> None:
        """Send what has gathered, in the thread that sends."""
        # Before the calls are read: one that comes too late for that wakes this thread again.
        self.is_awake = False
        try:
            self.flush()
        except DebugError:
            self._on_failure()
            logger.debug("calls could not be sent; they are kept", exc_info=True)

    def is_closed(self) -> bool:
        """For the thread that sends: whether it is to end. Its connection is then closed."""
        if self._is_closed:
            self._recorder.connection.close()
        return self._is_closed

    def flush(self) -> None:
        """Send everything recorded so far; an error if the server does not take it.

        What other threads record meanwhile is not waited for: they may never stop.
        """
        with self._send_lock:
            plain, packed = len(self.plain), len(self._packed)
            while plain > 0 or packed > 0:
                plain_calls = [self.plain.popleft() for _ in range(min(plain, MAX_BATCH))]
                packed_calls = self._pop_packed(min(packed, MAX_BATCH))
                plain, packed = plain - len(plain_calls), packed - len(packed_calls)
                self._send(plain_calls, packed_calls)

    def _pop_packed(self, limit: int) -> list[PackedCall]:
        """At most so many encoded calls; fewer if large contents go with them."""
        calls: list[PackedCall] = []
        size = 0
        while len(calls) < limit and size < _MAX_BATCH_BYTES:
            call = self._packed.popleft()
            calls.append(call)
            size += _content_size(call)
        self._content_bytes = max(0, self._content_bytes - size)
        return calls

    def _send(self, plain: list[PlainCall], packed: list[PackedCall]) -> None:
        self._sequence += 1
        try:
            targets, columns = _build_columns(plain)
        except ValueError:  # one value in millions; the whole batch takes the longer way
            packed = [*map(self._pack, plain), *packed]
            plain, targets, columns = [], [], []
        sent: list[str] = []

        def build() -> bytes:
            return self._build_batch(plain, packed, targets, columns, sent)

        try:
            self._recorder.send_batch(build)
        except DebugServerError:
            self.plain.extendleft(reversed(plain))
            self._packed.extendleft(reversed(packed))
            raise
        except DebugError:
            logger.exception("the server refused %d calls", len(plain) + len(packed))
            self._recorder.status = "error"
        else:
            self._recorder.sent.add(sent)

    def _build_batch(
        self,
        plain: list[PlainCall],
        packed: list[PackedCall],
        targets: list[bytes],
        columns: list[bytes],
        sent: list[str],
    ) -> bytes:
        sites = {call[0] for call in plain}
        sites.update(call[0] for call in packed)
        contents: dict[str, bytes] = {}
        for call in packed:
            for stored, preview in call[2] or ():
                if stored.cid not in contents and stored.cid not in self._recorder.sent:
                    contents[stored.cid] = batch_format.encode_content(stored.data, preview)
        sent[:] = contents
        session = int((self._recorder.session_id or "_0").rpartition("_")[2], 16)
        counts = (len(sites), len(contents), len(packed), len(targets), len(plain))
        return b"".join(
            (
                batch_format.encode_head(session, self._sequence, *counts),
                *(batch_format.encode_site(site.number, site.text) for site in sites),
                *contents.values(),
                *(call[1] for call in packed),
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
        sender, self._is_closed = self._sender, True
        self._wake_event.set()
        if sender is not None:
            sender.join(timings.TIMINGS.goodbye)


def _content_size(call: PackedCall) -> int:
    return sum(len(stored.data) for stored, _ in call[2] or ())


def _build_columns(plain: list[PlainCall]) -> tuple[list[bytes], list[bytes]]:
    """The targets, and the columns. ValueError: a value has no place in JSON."""
    if not plain:
        return [], []
    sites, numbers, durations, parents, snapshots, args, results = zip(*plain, strict=True)
    places = {snapshot: place for place, snapshot in enumerate(dict.fromkeys(snapshots))}
    targets = [
        batch_format.encode_target(*place.packed) for place in places if place.packed is not None
    ]
    columns = [
        batch_format.encode_column("q", numbers),
        batch_format.encode_column("q", durations),
        batch_format.encode_column("q", map(parent_number, parents)),
        batch_format.encode_column("I", [site.number for site in sites]),
        batch_format.encode_column("I", map(places.__getitem__, snapshots)),
        batch_format.encode_column("I", map(len, args)),
        batch_format.encode_values(args, results),
    ]
    return targets, columns


def _send_forever(outbox: weakref.ref[Outbox], wake: threading.Event) -> None:
    """The thread that sends. It sleeps while nothing is called, and ends with its outbox."""
    with without_interception():
        while True:
            if not wake.wait(5.0):
                if outbox() is None:
                    return
                continue
            wake.clear()
            box = outbox()
            if box is None or box.is_closed():
                return
            del box  # while this thread sleeps, the outbox may go
            time.sleep(_GATHER_SECONDS)
            box = outbox()
            if box is not None:
                box.send_gathered()
            del box
