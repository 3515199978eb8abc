"""A leased call under way that is not as plain as most, and how it is written down.

The values are taken before the call, as in strict mode, and looked at again after it; what comes of
that is one record of a batch (`wire.batch_format`), and the values that have to go beside it.
"""

from __future__ import annotations

import asyncio
import json
import pickle
import struct
import types
from typing import TYPE_CHECKING, Any

from holdfast.client import definitions, object_state, strict_call, value_preview
from holdfast.client.call_sites import CallSite
from holdfast.client.decision_effects import Outcome
from holdfast.client.exceptions import DebugError
from holdfast.client.object_state import ATOMS, is_same
from holdfast.client.outbox import Kept, Packed, Plain, parent_number
from holdfast.client.proxy_base import ProxyBase, without_interception
from holdfast.client.snapshots import Snapshot
from holdfast.client.value_pickler import PROTOCOL
from holdfast.wire import batch_format

if TYPE_CHECKING:
    from holdfast.client.definitions import Stored
    from holdfast.client.recorder import Recorder

_dumps = pickle.dumps
_seen: Any = ProxyBase.__dict__["_holdfast_seen"]
_running_loop = asyncio._get_running_loop
_INLINE = batch_format.INLINE
_RETURNED = batch_format.HAS_TARGET | batch_format.HAS_OUTCOME
_MAX_FIXED = 20_000


def _head(count: int) -> struct.Struct:
    """What comes before the bytes of so many values."""
    return struct.Struct(f"<IIqqqBHH{count}I")


_HEADS = [_head(count) for count in range(64)]


class PendingCall:
    """A call under way."""

    __slots__ = (
        *("args", "began", "epoch", "frame", "function", "kept", "kwargs", "number", "outer"),
        *("parts", "proxy", "site", "sizes", "snapshot", "stack", "state", "taken", "target"),
        "watched",
    )

    args: tuple[Any, ...]
    began: int
    epoch: int
    frame: types.FrameType | None
    function: Any
    kept: Kept | None
    kwargs: dict[str, Any]
    number: int
    outer: Any
    parts: list[bytes]
    proxy: Any
    site: CallSite
    sizes: list[int]
    snapshot: Snapshot
    stack: str | None
    state: Any
    taken: list[Snapshot | None]
    target: Any
    watched: list[tuple[str, str, Snapshot, Any]] | None


class CallEncoder:
    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._states = object_state.States()
        self.fixed: dict[int, tuple[Any, Snapshot]] = {}  # targets that stay as they are, by id

    # -- before the call ------------------------------------------------------------------------

    def target(self, begun: PendingCall, proxy: Any, target: Any) -> Snapshot:
        """The target as it is now; where it is known to be as it was, nothing is pickled."""
        begun.state = None
        known = self.fixed.get(id(target))
        if known is not None and known[0] is target:
            return known[1]
        before = None if proxy is None else _seen.__get__(proxy)
        if before is not None and before.fixed:
            return self._fix(target, before)
        state = begun.state = self._states.of(target)
        if before is not None and state is not None and is_same(before.state, state):
            return before  # type: ignore[no-any-return]
        with without_interception():
            found = self._recorder.snapshots.current(before, target)
        found.state = state
        if found.fixed or (type(target) is types.FunctionType and object_state.is_stable(target)):
            return self._fix(target, found)
        if proxy is not None:
            _seen.__set__(proxy, found)
        return found

    def _fix(self, target: Any, snapshot: Snapshot) -> Snapshot:
        if len(self.fixed) > _MAX_FIXED:
            self.fixed.clear()
        self.fixed[id(target)] = (target, snapshot)
        return snapshot

    def values(self, begun: PendingCall) -> None:
        """The target and the arguments, as they are before the call."""
        begun.kept = begun.watched = None
        taken: list[Snapshot | None] = []
        begun.taken = taken
        snapshot = begun.snapshot
        small = snapshot.packed
        if small is None:
            small = self._packed(begun, snapshot, begun.target)
        elif snapshot.needs:
            self._keep_needs(begun, snapshot)
        begun.sizes = sizes = [small[0]]
        begun.parts = parts = [small[1]]
        for value in begun.args:
            if type(value) in ATOMS:
                data = _dumps(value, PROTOCOL)
                if len(data) <= _INLINE:
                    sizes.append(len(data))
                    parts.append(data)
                    taken.append(None)
                    continue
            self._general(begun, "args", str(len(taken)), value)
        for key, value in begun.kwargs.items():
            self._general(begun, "kwargs", key, value)

    def _general(self, begun: PendingCall, part: str, name: str, value: Any) -> None:
        if type(value) in ATOMS:
            with without_interception():
                snapshot = self._recorder.snapshots.take(value)
        else:
            with without_interception():
                snapshot = strict_call.argument(self._recorder, value)
            if not snapshot.fixed:
                if begun.watched is None:
                    begun.watched = []
                begun.watched.append((part, name, snapshot, value))
        begun.taken.append(snapshot)
        size, data = snapshot.packed or self._packed(begun, snapshot, value)
        if snapshot.needs:
            self._keep_needs(begun, snapshot)
        begun.sizes.append(size)
        begun.parts.append(data)

    def _packed(self, begun: PendingCall, snapshot: Snapshot, value: Any) -> tuple[int, bytes]:
        """A value in a batch: its bytes if they are few, else its id, and the bytes beside it."""
        data = snapshot.data
        if len(data) <= _INLINE and snapshot.marker is None:
            snapshot.packed = (len(data), data)
            if snapshot.needs:
                self._keep_needs(begun, snapshot)
            return snapshot.packed
        if snapshot.cid not in self._recorder.sent:
            shown = value_preview.of(value)
            if snapshot.marker is not None:
                shown["marker"] = snapshot.marker
                shown.pop("json", None)
            self._keep(begun, snapshot, json.dumps(shown).encode())
        self._keep_needs(begun, snapshot)
        return batch_format.CID_LENGTH, bytes.fromhex(snapshot.cid)

    def _keep(self, begun: PendingCall, stored: Stored, shown: bytes = b"") -> None:
        if begun.kept is None:
            begun.kept = []
        begun.kept.append((stored, shown))

    def _keep_needs(self, begun: PendingCall, snapshot: Snapshot) -> None:
        if snapshot.needs:
            for cid, stored in definitions.all_needed([snapshot]).items():
                if cid not in self._recorder.sent:
                    self._keep(begun, stored)

    # -- after it -------------------------------------------------------------------------------

    def returned(
        self, begun: PendingCall, value: Any, duration: int
    ) -> tuple[Packed, DebugError | None]:
        """The record, and why the result could not be stored."""
        more: dict[str, Any] = {}
        refused = None
        if type(value) in ATOMS and len(data := _dumps(value, PROTOCOL)) <= _INLINE:
            begun.sizes.append(len(data))
            begun.parts.append(data)
        else:
            refused = self._outcome(begun, Outcome(value), value, more)
        return self._record(begun, duration, _RETURNED, more), refused

    def raised(self, begun: PendingCall, error: BaseException, duration: int) -> Packed:
        more = {"et": strict_call.exception_name(error), "em": strict_call.message(error)}
        self._outcome(begun, Outcome(None, error), error, more)
        return self._record(begun, duration, _RETURNED | batch_format.RAISED, more)

    def plain(self, plain: Plain) -> Packed:
        """A usual call after all written down by itself."""
        begun = PendingCall()
        site, number, duration, begun.outer, begun.snapshot, begun.args, result = plain
        begun.site, begun.number, begun.kwargs, begun.target = site, number, {}, None
        self.values(begun)
        self._general(begun, "result", "", result)
        return site, _written(begun, duration, _RETURNED), begun.kept

    def _outcome(
        self, begun: PendingCall, outcome: Outcome, value: Any, more: dict[str, Any]
    ) -> DebugError | None:
        with without_interception():
            snapshot, refused = strict_call.result(self._recorder, outcome)
            if snapshot.marker is not None:
                more["m"] = snapshot.marker
            size, data = snapshot.packed or self._packed(begun, snapshot, value)
        begun.sizes.append(size)
        begun.parts.append(data)
        return refused

    def _record(
        self, begun: PendingCall, duration: int, flags: int, more: dict[str, Any]
    ) -> Packed:
        self._changes(begun, more)
        if begun.kwargs:
            more["k"] = [value_preview.clean(key) for key in begun.kwargs]
        if _running_loop() is not None and (task := strict_call.task_name()) is not None:
            more["ta"] = task
        if more:
            flags |= batch_format.HAS_MORE
            begun.parts.append(json.dumps(more).encode())
        return begun.site, _written(begun, duration, flags), begun.kept

    def _changes(self, begun: PendingCall, more: dict[str, Any]) -> None:
        """What the call did to its arguments and its target."""
        changed: list[tuple[str, str]] = []
        recorder = self._recorder
        for part, name, before, value in begun.watched or ():
            with without_interception():
                after = recorder.snapshots.again(before, value)
            if after is not None:
                self._changed(begun, changed, part, value_preview.clean(name), after, value)
        before, target = begun.snapshot, begun.target
        known = self.fixed.get(id(target))
        if known is None or known[0] is not target:
            state = self._states.of(target)
            if state is None or not is_same(begun.state, state):
                with without_interception():
                    after = recorder.snapshots.again(before, target)
                if after is not None:
                    after.state = state
                    self._changed(begun, changed, "target", "", after, target)
                    if begun.proxy is not None:
                        _seen.__set__(begun.proxy, after)
        if changed:
            more["ch"] = changed

    def _changed(
        self,
        begun: PendingCall,
        changed: list[tuple[str, str]],
        part: str,
        name: str,
        after: Snapshot,
        value: Any,
    ) -> None:
        with without_interception():
            size, data = after.packed or self._packed(begun, after, value)
        begun.sizes.append(size)
        begun.parts.append(data)
        changed.append((part, name))


def _written(begun: PendingCall, duration: int, flags: int) -> bytes:
    sizes = begun.sizes
    count = len(sizes)
    head = _HEADS[count] if count < 64 else _head(count)
    body = b"".join(begun.parts)
    outer = parent_number(begun.outer)
    return (
        head.pack(
            *(head.size + len(body), begun.site.number, begun.number, duration, outer),
            *(flags, count, len(begun.args), *sizes),
        )
        + body
    )
