"""Encodes leased calls that are not as plain as most.

The values are taken before the call, as in strict mode, and looked at again after it. The result is
one record of a batch (`wire.batch_format`), and the values that have to go beside it.
"""

from __future__ import annotations

import asyncio
import json
import pickle
import struct
import types
from typing import Any

from holdfast.client import object_state, storage_refusals
from holdfast.client.call_sites import CallSite
from holdfast.client.definitions import Stored
from holdfast.client.exceptions import DebugSerializationError
from holdfast.client.invocation import Invocation, current_task_name
from holdfast.client.object_state import ATOMS, is_same
from holdfast.client.outbox import Contents, PackedCall, PlainCall, parent_number
from holdfast.client.outcome import Outcome, exception_message, exception_name
from holdfast.client.proxy_base import interception_off, without_interception
from holdfast.client.recorder import Recorder
from holdfast.client.snapshots import Snapshot
from holdfast.client.strict_call import name_refused
from holdfast.client.value_pickler import PROTOCOL
from holdfast.client.value_preview import build_preview, clean
from holdfast.wire import batch_format

_dumps = pickle.dumps
_running_loop = asyncio._get_running_loop
_INLINE = batch_format.INLINE
_RETURNED = batch_format.HAS_TARGET | batch_format.HAS_OUTCOME
_MAX_FIXED = 20_000


def _build_head(count: int) -> struct.Struct:
    """The layout before the bytes of so many values."""
    return struct.Struct(f"<IIqqqBHH{count}I")


_HEADS = [_build_head(count) for count in range(64)]


class PendingCall:
    """A call that runs, and what is encoded of it so far."""

    __slots__ = (
        *("contents", "epoch", "invocation", "number", "parent", "parts", "site", "sizes"),
        *("snapshot", "snapshots", "state", "target_age", "watched"),
    )

    def __init__(
        self, invocation: Invocation, site: CallSite, epoch: int, number: int, parent: Any
    ) -> None:
        self.invocation = invocation
        self.site = site
        self.epoch = epoch
        self.number = number
        self.parent = parent
        self.snapshot: Snapshot  # of the target
        self.state: tuple[Any, ...] | None = None  # of the target, if it is plain
        self.target_age: int | None = None  # if it was not compared for this call
        self.snapshots: list[Snapshot | None] = []  # of the arguments; None: a small plain value
        self.sizes: list[int] = []
        self.parts: list[bytes] = []
        self.contents: Contents | None = None
        self.watched: list[tuple[str, str, Snapshot, Any]] | None = None  # may change by the call


class CallEncoder:
    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._states = object_state.States()
        self.fixed_targets: dict[int, tuple[Any, Snapshot]] = {}  # those that never change, by id

    # -- before the call ------------------------------------------------------------------------

    def add_target(self, pending: PendingCall) -> None:
        """Take the target. If it is known not to have changed, nothing is pickled."""
        invocation = pending.invocation
        target: Any = invocation.target
        fixed = self.fixed_targets.get(id(target))
        if fixed is not None and fixed[0] is target:
            pending.snapshot = fixed[1]
            return
        before = invocation.last_snapshot()
        recorder = self._recorder
        if (
            before is not None
            and before.fixed
            and before.marker != "not_captured"
            and recorder.snapshots.fits_limit(before)
        ):
            pending.snapshot = self._remember_fixed(target, before)
            return
        is_captured = recorder.targets.is_captured(invocation.capture_target)
        state = pending.state = self._states.read(target) if is_captured else None
        if before is not None and state is not None and is_same(before.state, state):
            pending.snapshot = before
            return
        with without_interception():
            try:
                snapshot, pending.target_age = self._recorder.targets.take(invocation)
            except DebugSerializationError as refused:
                raise name_refused(refused, invocation, None) from refused.cause
        pending.snapshot = snapshot
        if pending.target_age is None:
            snapshot.state = state
        is_function = type(target) is types.FunctionType
        is_fixed = snapshot.fixed and snapshot.marker != "not_captured"  # that is up to the proxy
        if is_fixed or (is_function and object_state.is_stable(target)):
            self._remember_fixed(target, snapshot)
        else:
            invocation.remember(snapshot)

    def _remember_fixed(self, target: Any, snapshot: Snapshot) -> Snapshot:
        if len(self.fixed_targets) > _MAX_FIXED:
            self.fixed_targets.clear()
        self.fixed_targets[id(target)] = (target, snapshot)
        return snapshot

    def add_values(self, pending: PendingCall) -> None:
        """Encode the target and the arguments as they are before the call."""
        invocation, snapshot = pending.invocation, pending.snapshot
        sizes, parts, snapshots = pending.sizes, pending.parts, pending.snapshots
        if snapshot.packed is None or snapshot.needs:
            self._add_snapshot(pending, snapshot, invocation.target)
        else:
            sizes.append(snapshot.packed[0])
            parts.append(snapshot.packed[1])
        for value in invocation.args:
            if type(value) in ATOMS:
                data = _dumps(value, PROTOCOL)
                if len(data) <= _INLINE:
                    sizes.append(len(data))
                    parts.append(data)
                    snapshots.append(None)
                    continue
            self._add_value(pending, "args", str(len(snapshots)), value)
        for key, value in invocation.kwargs.items():
            self._add_value(pending, "kwargs", key, value)

    def _add_value(self, pending: PendingCall, part: str, name: str, value: Any) -> None:
        if type(value) in ATOMS:
            snapshot = self._recorder.snapshots.take(value)
        else:
            token = interception_off.set(True)
            try:
                lenient = pending.invocation.lenient
                snapshot = self._recorder.snapshots.take(value, lenient=lenient)
            except DebugSerializationError as refused:
                place = int(name) if part == "args" else name
                raise name_refused(refused, pending.invocation, place) from refused.cause
            finally:
                interception_off.reset(token)
            if not snapshot.fixed:
                if pending.watched is None:
                    pending.watched = []
                pending.watched.append((part, name, snapshot, value))
        pending.snapshots.append(snapshot)
        self._add_snapshot(pending, snapshot, value)

    def _add_snapshot(self, pending: PendingCall, snapshot: Snapshot, value: Any) -> None:
        """Add the bytes if they are few, else the content id, and the bytes beside the record."""
        packed = snapshot.packed
        if packed is None:
            data = snapshot.data
            if len(data) <= _INLINE and snapshot.marker is None:
                packed = snapshot.packed = (len(data), data)
            else:
                if snapshot.cid not in self._recorder.sent:
                    preview = build_preview(value, snapshot.marker)
                    self._add_content(pending, snapshot, json.dumps(preview).encode())
                packed = batch_format.CID_LENGTH, bytes.fromhex(snapshot.cid)
        if snapshot.needs:
            for stored in snapshot.all_needs():
                if stored.cid not in self._recorder.sent:
                    self._add_content(pending, stored)
        pending.sizes.append(packed[0])
        pending.parts.append(packed[1])

    def _add_content(self, pending: PendingCall, stored: Stored, preview: bytes = b"") -> None:
        if pending.contents is None:
            pending.contents = []
        pending.contents.append((stored, preview))

    # -- after it -------------------------------------------------------------------------------

    def encode(
        self, pending: PendingCall, outcome: Outcome
    ) -> tuple[PackedCall, DebugSerializationError | None]:
        """The record, and the error if the result cannot be stored."""
        value, error = outcome.value, outcome.error
        more: dict[str, Any] = {}
        flags, refused = _RETURNED, None
        if (
            error is None
            and type(value) in ATOMS
            and len(data := _dumps(value, PROTOCOL)) <= _INLINE
        ):
            pending.sizes.append(len(data))
            pending.parts.append(data)
        else:
            if error is not None:
                flags |= batch_format.RAISED
                more["et"], more["em"] = exception_name(error), exception_message(error)
            token = interception_off.set(True)
            try:
                lenient = pending.invocation.lenient
                snapshot, refused = self._recorder.snapshots.take_outcome(value, error, lenient)
            finally:
                interception_off.reset(token)
            if refused is not None:
                refused = storage_refusals.name_result(refused, pending.invocation.full_name)
            if snapshot.marker is not None:
                more["m"] = snapshot.marker
            self._add_snapshot(pending, snapshot, value if error is None else error)
        self._add_changes(pending, more)
        if pending.invocation.kwargs:
            more["k"] = [clean(name) for name in pending.invocation.kwargs]
        if _running_loop() is not None and (task := current_task_name()) is not None:
            more["ta"] = task
        if more:
            flags |= batch_format.HAS_MORE
            pending.parts.append(json.dumps(more).encode())
        return (
            pending.site,
            _pack(pending, outcome.nanoseconds or 0, flags),
            pending.contents,
        ), refused

    def encode_plain(self, call: PlainCall) -> PackedCall:
        """A plain call as a record of its own, because it does not go into columns after all."""
        site, number, duration, parent, snapshot, args, result = call
        invocation = Invocation(None, site.names[0], None, object, args, {}, None)  # it has run
        pending = PendingCall(invocation, site, 0, number, parent)
        pending.snapshot = snapshot
        self.add_values(pending)
        self._add_value(pending, "result", "", result)
        return site, _pack(pending, duration, _RETURNED), pending.contents

    def _add_changes(self, pending: PendingCall, more: dict[str, Any]) -> None:
        """Encode what the call did to its arguments and its target."""
        changed: list[tuple[str, str]] = []
        snapshots, invocation = self._recorder.snapshots, pending.invocation
        for part, name, before, value in pending.watched or ():
            token = interception_off.set(True)
            try:
                after = snapshots.retake(before, value)
            finally:
                interception_off.reset(token)
            if after is not None:
                changed.append((part, clean(name)))
                self._add_snapshot(pending, after, value)
        target = invocation.target
        fixed = self.fixed_targets.get(id(target))
        if pending.target_age is not None:
            more["tg"] = pending.target_age
        elif fixed is None or fixed[0] is not target:
            state = self._states.read(target)
            if state is None or not is_same(pending.state, state):
                with without_interception():
                    after = self._recorder.targets.retake(pending.snapshot, invocation)
                if after is not None:
                    after.state = state
                    changed.append(("target", ""))
                    self._add_snapshot(pending, after, target)
                    invocation.remember(after)
        if changed:
            more["ch"] = changed


def _pack(pending: PendingCall, duration: int, flags: int) -> bytes:
    sizes = pending.sizes
    count = len(sizes)
    head = _HEADS[count] if count < 64 else _build_head(count)
    body = b"".join(pending.parts)
    size, parent = head.size + len(body), parent_number(pending.parent)
    site, number, args = pending.site.number, pending.number, len(pending.invocation.args)
    return head.pack(size, site, number, duration, parent, flags, count, args, *sizes) + body
