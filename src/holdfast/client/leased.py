"""Leased mode: calls go ahead while a glance at the server's board says that no rule concerns them.

The record is as full as in strict mode, only it goes later, with others, in a batch. One `Lease`
belongs to one `Recorder`. A call that a rule could concern, and every call while the board's
heartbeat is old, takes the strict way. What a call costs here is paid by the application for each
of its calls, so this file prefers few steps to short ones.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import itertools
import json
import logging
import mmap
import operator
import os
import pickle
import struct
import threading
import time
import types
import weakref
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from holdfast.client import calls, definitions, preview, stacks
from holdfast.client.calls import Call, current
from holdfast.client.decisions import Outcome
from holdfast.client.exceptions import DebugError, DebugServerError
from holdfast.client.pickling import PROTOCOL
from holdfast.client.rules import Rules
from holdfast.client.snapshots import Snapshot
from holdfast.client.wrapped import Wrapped, undisturbed
from holdfast.model.call import call_id, call_number
from holdfast.wire import batches
from holdfast.wire.board import (
    EPOCH_AT,
    HEARTBEAT_AT,
    LEASE_NS,
    MAGIC,
    MAGIC_AT,
    SIZE,
    VERSION,
    VERSION_AT,
)

if TYPE_CHECKING:
    from holdfast.client.definitions import Stored
    from holdfast.client.recorder import Recorder

logger = logging.getLogger("holdfast")

MOST_WAITING = 20_000  # calls that may wait to be sent; who makes more has to wait
MOST_WAITING_BYTES = 32 << 20
BATCH = 4_000
_BATCH_BYTES = 4 << 20
_PAUSE = 0.01  # seconds in which calls gather
_MOST_SITES = 20_000

_dumps = pickle.dumps
_now = time.monotonic_ns
_is = operator.is_
_seen: Any = Wrapped.__dict__["_holdfast_seen"]
_ATOMS = frozenset((int, str, float, bool, bytes, type(None)))
_INLINE = batches.INLINE


def _head(count: int) -> struct.Struct:
    """What comes before the bytes of so many values."""
    return struct.Struct(f"<IIqqqBHH{count}I")


_HEADS = [_head(count) for count in range(64)]
_running_loop = asyncio._get_running_loop
_NOWHERE = memoryview(bytes(SIZE)).cast("Q")
_RETURNED = batches.HAS_TARGET | batches.HAS_OUTCOME

Kept = list[tuple["Stored", bytes]]
"""Values that the server needs beside the calls, with their previews."""


class Site:
    """What the calls of one function, from one stack, in one thread, have in common."""

    __slots__ = ("clear", "keeps", "named", "number", "outside", "text")

    def __init__(
        self,
        number: int,
        text: bytes,
        named: tuple[Any, ...],
        keeps: Any,
        outside: list[tuple[types.CodeType, int]],
    ) -> None:
        self.number = number
        self.text = text
        self.named = named
        self.keeps = keeps  # the code objects, so that their ids stay theirs
        self.outside = outside  # the frames beyond the caller's
        self.clear = -1  # the epoch in which no rule is known to concern it


class _Mine(threading.local):
    """This thread's number, and how it is described."""

    def __init__(self) -> None:
        thread = threading.current_thread()
        self.number = next(_threads)
        self.about = {"id": thread.ident, "name": preview.clean(thread.name)}


_threads = itertools.count(1)


class _Begun:
    """A call under way."""

    __slots__ = (
        *("args", "began", "epoch", "frame", "function", "kept", "kwargs", "number", "outer"),
        *("parts", "proxy", "site", "sizes", "snapshot", "state", "taken", "target", "watched"),
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
    site: Site
    sizes: list[int]
    snapshot: Snapshot
    state: Any
    taken: list[Snapshot | None]
    target: Any
    watched: list[tuple[str, str, Snapshot, Any]] | None


class Lease:
    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._words = _NOWHERE
        self._path: str | None = None
        self._epoch = -1
        self._rules = Rules((), None)
        self._refused_at = 0
        self._offset = time.time_ns() - _now()
        self._numbers = itertools.cycle(range(100, 110))
        self._site_numbers = itertools.count(1)
        self._sequence = time.time_ns()
        self._mine = _Mine()
        self._sites: dict[tuple[Any, ...], Site] = {}
        self._near: dict[tuple[Any, ...], Site] = {}  # by the caller's frame alone: the last
        self._fixed: dict[int, tuple[Any, Snapshot]] = {}
        self._plain: dict[type, bool] = {}
        self._buffer: deque[tuple[Site, bytes, Kept | None]] = deque()
        self._weight = 0
        self._fresh()
        _leases.add(self)

    def _fresh(self) -> None:
        """What a fork may leave locked, or without its thread."""
        self._renewing = threading.Lock()
        self._sending = threading.RLock()
        self._wake = threading.Event()
        self._awake = False
        self._closed = False
        self._sender: threading.Thread | None = None

    def forked(self) -> None:
        """In the child: what waits is the parent's to send, and the session is the parent's."""
        self._fresh()
        self._buffer.clear()
        self._weight = 0
        self._words = _NOWHERE
        self._path = None

    # -- the lease ------------------------------------------------------------------------------

    def granted(self, answer: dict[str, Any]) -> None:
        """What the server said: the rules, and where changes of them will be seen."""
        path, lane = answer.get("board"), answer.get("lane")
        first = lane * 10 if isinstance(lane, int) and 10 <= lane < 100 else 100
        self._numbers = itertools.cycle(range(first, first + 10))
        words = self._words
        if path != self._path or words is _NOWHERE:
            words = _mapped(path) if isinstance(path, str) else _NOWHERE
            self._path = path if words is not _NOWHERE else None
        epoch = answer.get("epoch")
        self._rules = Rules(answer.get("rules"), self._recorder.session_id)
        self._epoch = epoch if isinstance(epoch, int) else -1
        self._words = words

    def _is_good(self) -> bool:
        words = self._words
        return words[EPOCH_AT] == self._epoch and _now() - words[HEARTBEAT_AT] <= LEASE_NS

    def _renewed(self) -> bool:
        """Ask for the rules again. False: go the strict way. No server: an error, and no call."""
        with undisturbed(), self._renewing:
            self._recorder.in_this_process()
            for _ in range(3):
                if self._is_good():
                    return True
                if _now() - self._refused_at < LEASE_NS // 4:
                    return False
                self.granted(self._recorder.rules())
            self._refused_at = _now()
            return self._is_good()

    # -- the ways to call -----------------------------------------------------------------------

    def run(
        self,
        proxy: Any,
        name: str,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        target: Any,
        kind: str,
        alias: str | None,
        qualname: str | None,
        frame: types.FrameType | None,
    ) -> Any:
        now = _now()
        words, epoch = self._words, self._epoch
        site = None
        if words[EPOCH_AT] == epoch and now - words[HEARTBEAT_AT] <= LEASE_NS and frame is not None:
            code = getattr(function, "__code__", None)
            here, at = id(frame.f_code), frame.f_lasti
            thread = self._mine.number
            site = self._near.get(
                (name, alias, qualname, kind, type(target), id(code), thread, here, at)
            )
            if site is not None:
                each = frame.f_back
                for outside, instruction in site.outside:
                    if each is None or each.f_code is not outside or each.f_lasti != instruction:
                        site = None
                        break
                    each = each.f_back
                else:
                    if each is not None:
                        site = None
            if site is None:
                site = self._site(name, alias, qualname, kind, function, target, frame)
            if site.clear == epoch and not kwargs:
                # The usual call: plain small values, and a target that is as it was.
                known = self._fixed.get(id(target))
                snapshot: Snapshot | None
                fields: dict[str, Any] | None
                if known is not None and known[0] is target:
                    snapshot, fields = known[1], None
                else:
                    snapshot = None if proxy is None else _seen.__get__(proxy)
                    fields = _fields(target, snapshot)
                    if fields is None:
                        snapshot = None
                small = None if snapshot is None or snapshot.needs else snapshot.packed
                if small is not None and snapshot is not None:
                    parts = [small[1]]
                    for value in args:
                        if type(value) not in _ATOMS:
                            break
                        data = _dumps(value, PROTOCOL)
                        if len(data) > _INLINE:
                            break
                        parts.append(data)
                    else:
                        number = (now + self._offset) // 1000 * 1000 + next(self._numbers)
                        outer = current.get()
                        current.set(number)
                        began = _now()
                        try:
                            value = function(*args)
                        except BaseException as error:
                            duration = _now() - began
                            current.set(outer)
                            begun = self._as_begun(
                                *(site, epoch, proxy, frame, function, target, args),
                                *(outer, number, snapshot, parts),
                            )
                            late = self._raised(begun, error, duration)
                            if late is None:
                                raise
                            return calls.through(late).deliver()
                        duration = _now() - began
                        current.set(outer)
                        if (
                            type(value) in _ATOMS
                            and len(data := _dumps(value, PROTOCOL)) <= _INLINE
                            and (fields is None or _is_same(fields, snapshot.state))
                            and self._words[EPOCH_AT] == epoch
                            and _running_loop() is None
                        ):
                            parts.append(data)
                            if outer is None:
                                outer = 0
                            elif type(outer) is str:
                                outer = call_number(outer) or 0
                            count = len(parts)
                            head = _HEADS[count] if count < 64 else _head(count)
                            body = b"".join(parts)
                            record = head.pack(
                                head.size + len(body),
                                site.number,
                                number,
                                duration,
                                outer,
                                _RETURNED,
                                count,
                                count - 2,
                                *map(len, parts),
                            )
                            buffer = self._buffer
                            buffer.append((site, record + body, None))
                            if not self._awake:
                                self._awaken()
                            if len(buffer) >= MOST_WAITING:
                                self._relieve()
                            return value
                        begun = self._as_begun(
                            *(site, epoch, proxy, frame, function, target, args),
                            *(outer, number, snapshot, parts),
                        )
                        late = self._returned(begun, value, duration)
                        return value if late is None else calls.through(late).deliver()
        return self._run_unusual(
            *(proxy, name, function, args, kwargs, target, kind, alias, qualname, frame, site)
        )

    def _run_unusual(
        self,
        proxy: Any,
        name: str,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        target: Any,
        kind: str,
        alias: str | None,
        qualname: str | None,
        frame: types.FrameType | None,
        site: Site | None,
    ) -> Any:
        begun = self._begin(
            proxy, name, function, args, kwargs, target, kind, alias, qualname, frame, site
        )
        if begun is None:
            call = _strict(
                proxy, name, function, args, kwargs, target, kind, alias, qualname, frame
            )
            return calls.run(self._recorder, call)
        current.set(begun.number)
        begun.began = _now()
        try:
            value = function(*args, **kwargs)
        except BaseException as error:
            current.set(begun.outer)
            late = self._raised(begun, error, _now() - begun.began)
            if late is None:
                raise
            return calls.through(late).deliver()
        duration = _now() - begun.began
        current.set(begun.outer)
        late = self._returned(begun, value, duration)
        return value if late is None else calls.through(late).deliver()

    async def run_async(
        self,
        proxy: Any,
        name: str,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        target: Any,
        kind: str,
        alias: str | None,
        qualname: str | None,
        frame: types.FrameType | None,
    ) -> Any:
        begun = self._begin(
            proxy, name, function, args, kwargs, target, kind, alias, qualname, frame
        )
        if begun is None:
            call = _strict(
                proxy, name, function, args, kwargs, target, kind, alias, qualname, frame
            )
            return await calls.run_async(self._recorder, call)
        return await self._awaited(begun, lambda: function(*args, **kwargs))

    def run_until_awaited(
        self,
        name: str,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        alias: str | None,
        qualname: str | None,
        frame: types.FrameType | None,
    ) -> Any:
        """The call; if a plain function turns out to give a coroutine, it ends when that does."""
        begun = self._begin(
            None, name, function, args, kwargs, function, "inline", alias, qualname, frame
        )
        if begun is None:
            call = _strict(
                None, name, function, args, kwargs, function, "inline", alias, qualname, frame
            )
            return calls.run_until_awaited(self._recorder, call)
        current.set(begun.number)
        begun.began = _now()
        try:
            value = function(*args, **kwargs)
        except BaseException as error:
            current.set(begun.outer)
            late = self._raised(begun, error, _now() - begun.began)
            if late is None:
                raise
            return calls.through(late).deliver()
        duration = _now() - begun.began
        current.set(begun.outer)
        if inspect.iscoroutine(value):
            return self._awaited(begun, lambda: value)
        late = self._returned(begun, value, duration)
        return value if late is None else calls.through(late).deliver()

    async def _awaited(self, begun: _Begun, start: Callable[[], Any]) -> Any:
        outer = current.get()
        current.set(begun.number)
        begun.began = _now()
        try:
            value = start()
            if inspect.isawaitable(value):
                value = await value
        except BaseException as error:
            current.set(outer)
            late = self._raised(begun, error, _now() - begun.began)
            if late is None:
                raise
            return (await calls.through_async(late)).deliver()
        duration = _now() - begun.began
        current.set(outer)
        late = self._returned(begun, value, duration)
        return value if late is None else (await calls.through_async(late)).deliver()

    def _as_begun(
        self,
        site: Site,
        epoch: int,
        proxy: Any,
        frame: types.FrameType | None,
        function: Any,
        target: Any,
        args: tuple[Any, ...],
        outer: Any,
        number: int,
        snapshot: Snapshot,
        parts: list[bytes],
    ) -> _Begun:
        """A usual call that turned out to end in an unusual way."""
        begun = _Begun()
        begun.site, begun.epoch, begun.proxy, begun.frame = site, epoch, proxy, frame
        begun.function, begun.target, begun.args, begun.kwargs = function, target, args, {}
        begun.outer, begun.number, begun.snapshot = outer, number, snapshot
        begun.sizes, begun.parts = [len(part) for part in parts], parts
        begun.kept = begun.watched = None
        begun.state, begun.taken = snapshot.state, [None] * len(args)
        return begun

    # -- before ---------------------------------------------------------------------------------

    def _begin(
        self,
        proxy: Any,
        name: str,
        function: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        target: Any,
        kind: str,
        alias: str | None,
        qualname: str | None,
        frame: types.FrameType | None,
        site: Site | None = None,
    ) -> _Begun | None:
        """The call as it is before it runs, or None when the server has to be asked."""
        now = _now()
        words, epoch = self._words, self._epoch
        if words[EPOCH_AT] != epoch or now - words[HEARTBEAT_AT] > LEASE_NS:
            if not self._renewed():
                return None
            epoch = self._epoch
        if site is None:
            site = self._site(name, alias, qualname, kind, function, target, frame)
        if site.clear != epoch:
            if self._rules.concern(*site.named):
                return None
            site.clear = epoch
        begun = _Begun()
        begun.site, begun.epoch, begun.proxy, begun.frame = site, epoch, proxy, frame
        begun.function, begun.target, begun.args, begun.kwargs = function, target, args, kwargs
        begun.outer = current.get()
        begun.number = (now + self._offset) // 1000 * 1000 + next(self._numbers)
        begun.kept = begun.watched = None
        taken: list[Snapshot | None] = []
        begun.taken = taken
        snapshot = begun.snapshot = self._target(begun, proxy, target)
        small = snapshot.packed
        if small is None:
            small = self._packed(begun, snapshot, target)
        elif snapshot.needs:
            self._keep_needs(begun, snapshot)
        begun.sizes = sizes = [small[0]]
        begun.parts = parts = [small[1]]
        for value in args:
            if type(value) in _ATOMS:
                data = _dumps(value, PROTOCOL)
                if len(data) <= _INLINE:
                    sizes.append(len(data))
                    parts.append(data)
                    taken.append(None)
                    continue
            self._general(begun, "args", str(len(taken)), value)
        for key, value in kwargs.items():
            self._general(begun, "kwargs", key, value)
        return begun

    def _site(
        self,
        name: str,
        alias: str | None,
        qualname: str | None,
        kind: str,
        function: Any,
        target: Any,
        frame: types.FrameType | None,
    ) -> Site:
        code = getattr(function, "__code__", None)
        if frame is None:
            about = (name, alias, qualname, kind, type(target), id(code), self._mine.number)
            return self._sites.get(about) or self._new_site(about, code, function, target, None)
        here, at = id(frame.f_code), frame.f_lasti
        kept = id(code)
        caller = (name, alias, qualname, kind, type(target), kept, self._mine.number, here, at)
        key = [*caller]
        add, each = key.append, frame.f_back
        while each is not None:
            add(id(each.f_code))
            add(each.f_lasti)
            each = each.f_back
        found = self._sites.get(tuple(key))
        if found is None:
            found = self._new_site(tuple(key), code, function, target, frame)
        if not self._recorder.settings.capture_locals:
            self._near[caller] = found
        return found

    def _new_site(
        self,
        key: tuple[Any, ...],
        code: Any,
        function: Any,
        target: Any,
        frame: types.FrameType | None,
    ) -> Site:
        name, alias, qualname, kind = key[:4]
        recorder = self._recorder
        with undisturbed():
            about = {
                "name": preview.clean(name),
                "alias": None if alias is None else preview.clean(alias),
                "qualname": qualname,
                "call_type": kind,
                "signature": recorder.signature(function, (type(target), name)),
                "thread": self._mine.about,
            }
            whole = recorder.settings.capture_locals
            frames = stacks.with_locals(frame) if whole else recorder.stacks.capture(frame)
            text = f'{json.dumps(about)[:-1]}, "frames": {frames}}}'.encode()
        keeps = (code, stacks.codes(frame))
        outside = [] if frame is None else stacks.instructions(frame.f_back)
        named = (name, alias, qualname, kind)
        site = Site(next(self._site_numbers), text, named, keeps, outside)
        if not whole:
            if len(self._sites) >= _MOST_SITES:
                self._sites.clear()
                self._near.clear()
            self._sites[key] = site
        return site

    # -- values ---------------------------------------------------------------------------------

    def _target(self, begun: _Begun, proxy: Any, target: Any) -> Snapshot:
        """The target as it is now; where it is known to be as it was, nothing is pickled."""
        begun.state = None
        known = self._fixed.get(id(target))
        if known is not None and known[0] is target:
            return known[1]
        before = None if proxy is None else _seen.__get__(proxy)
        if before is not None and before.fixed:
            return self._fix(target, before)
        state = begun.state = self._state(target)
        if before is not None and state is not None and _same(before.state, state):
            return before  # type: ignore[no-any-return]
        with undisturbed():
            found = self._recorder.snapshots.current(before, target)
        found.state = state
        if found.fixed or (type(target) is types.FunctionType and _stands(target)):
            return self._fix(target, found)
        if proxy is not None:
            _seen.__set__(proxy, found)
        return found

    def _fix(self, target: Any, snapshot: Snapshot) -> Snapshot:
        if len(self._fixed) > _MOST_SITES:
            self._fixed.clear()
        self._fixed[id(target)] = (target, snapshot)
        return snapshot

    def _state(self, target: Any) -> tuple[Any, ...] | None:
        """All that an ordinary object is, when that is a few plain values; else None.

        The values are compared by identity, which for immutable ones proves that nothing changed.
        """
        cls = type(target)
        is_plain = self._plain.get(cls)
        if is_plain is None:
            is_plain = self._plain[cls] = _is_ordinary(cls)
        if not is_plain:
            return None
        fields = target.__dict__
        if len(fields) > 16:
            return None
        for value in fields.values():
            if type(value) not in _ATOMS:
                return None
        return (cls, *fields, *fields.values())

    def _general(self, begun: _Begun, part: str, name: str, value: Any) -> None:
        if type(value) in _ATOMS:
            with undisturbed():
                snapshot = self._recorder.snapshots.take(value)
        else:
            with undisturbed():
                snapshot = calls.argument(self._recorder, value)
            if not snapshot.fixed and snapshot.marker is None:
                if begun.watched is None:
                    begun.watched = []
                begun.watched.append((part, name, snapshot, value))
        begun.taken.append(snapshot)
        size, data = snapshot.packed or self._packed(begun, snapshot, value)
        if snapshot.needs:
            self._keep_needs(begun, snapshot)
        begun.sizes.append(size)
        begun.parts.append(data)

    def _packed(self, begun: _Begun, snapshot: Snapshot, value: Any) -> tuple[int, bytes]:
        """A value in a batch: its bytes if they are few, else its id, and the bytes beside it."""
        data = snapshot.data
        if len(data) <= _INLINE and snapshot.marker is None:
            snapshot.packed = (len(data), data)
            if snapshot.needs:
                self._keep_needs(begun, snapshot)
            return snapshot.packed
        if snapshot.cid not in self._recorder.sent:
            shown = preview.of(value)
            if snapshot.marker is not None:
                shown["marker"] = snapshot.marker
                shown.pop("json", None)
            self._keep(begun, snapshot, json.dumps(shown).encode())
        self._keep_needs(begun, snapshot)
        return batches.CID_LENGTH, bytes.fromhex(snapshot.cid)

    def _keep(self, begun: _Begun, stored: Stored, shown: bytes = b"") -> None:
        if begun.kept is None:
            begun.kept = []
        begun.kept.append((stored, shown))

    def _keep_needs(self, begun: _Begun, snapshot: Snapshot) -> None:
        if snapshot.needs:
            for cid, stored in definitions.all_needed([snapshot]).items():
                if cid not in self._recorder.sent:
                    self._keep(begun, stored)

    # -- after ----------------------------------------------------------------------------------

    def _returned(self, begun: _Begun, value: Any, duration: int) -> calls.Life | None:
        """Record it. A life means that a rule came meanwhile that concerns how the call ends."""
        if self._words[EPOCH_AT] != begun.epoch and self._is_late(begun):
            return self._late(begun, Outcome(value, None, duration))
        more: dict[str, Any] = {}
        refused = None
        if type(value) in _ATOMS and len(data := _dumps(value, PROTOCOL)) <= _INLINE:
            begun.sizes.append(len(data))
            begun.parts.append(data)
        else:
            refused = self._outcome(begun, Outcome(value), value, more)
        self._record(begun, duration, _RETURNED, more)
        if refused is not None:
            raise refused
        return None

    def _raised(self, begun: _Begun, error: BaseException, duration: int) -> calls.Life | None:
        if self._words[EPOCH_AT] != begun.epoch and self._is_late(begun):
            return self._late(begun, Outcome(None, error, duration))
        more = {"et": calls.exception_name(error), "em": calls.message(error)}
        self._outcome(begun, Outcome(None, error), error, more)
        self._record(begun, duration, _RETURNED | batches.RAISED, more)
        return None

    def _outcome(
        self, begun: _Begun, outcome: Outcome, value: Any, more: dict[str, Any]
    ) -> DebugError | None:
        with undisturbed():
            snapshot, refused = calls.result(self._recorder, outcome)
            if snapshot.marker is not None:
                more["m"] = snapshot.marker
            size, data = snapshot.packed or self._packed(begun, snapshot, value)
        begun.sizes.append(size)
        begun.parts.append(data)
        return refused

    def _record(self, begun: _Begun, duration: int, flags: int, more: dict[str, Any]) -> None:
        sizes, parts = begun.sizes, begun.parts
        self._changes(begun, more)
        if begun.kwargs:
            more["k"] = [preview.clean(key) for key in begun.kwargs]
        if _running_loop() is not None and (task := calls.task_name()) is not None:
            more["ta"] = task
        if more:
            flags |= batches.HAS_MORE
            parts.append(json.dumps(more).encode())
        outer = begun.outer
        if outer is None:
            outer = 0
        elif type(outer) is str:
            outer = call_number(outer) or 0
        count = len(sizes)
        head = _HEADS[count] if count < 64 else _head(count)
        body = b"".join(parts)
        site = begun.site
        record = head.pack(
            *(head.size + len(body), site.number, begun.number, duration, outer),
            *(flags, count, len(begun.args), *sizes),
        )
        buffer = self._buffer
        buffer.append((site, record + body, begun.kept))
        if not self._awake:
            self._awaken()
        if begun.kept is not None:
            self._weight += sum(len(stored.data) for stored, _ in begun.kept)
        if len(buffer) >= MOST_WAITING or self._weight >= MOST_WAITING_BYTES:
            self._relieve()

    def _changes(self, begun: _Begun, more: dict[str, Any]) -> None:
        """What the call did to its arguments and its target."""
        changed: list[tuple[str, str]] = []
        recorder = self._recorder
        for part, name, before, value in begun.watched or ():
            with undisturbed():
                after = recorder.snapshots.again(before, value)
            if after is not None:
                self._changed(begun, changed, part, preview.clean(name), after, value)
        before, target = begun.snapshot, begun.target
        known = self._fixed.get(id(target))
        if known is None or known[0] is not target:
            state = self._state(target)
            if state is None or not _same(begun.state, state):
                with undisturbed():
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
        begun: _Begun,
        changed: list[tuple[str, str]],
        part: str,
        name: str,
        after: Snapshot,
        value: Any,
    ) -> None:
        with undisturbed():
            size, data = after.packed or self._packed(begun, after, value)
        begun.sizes.append(size)
        begun.parts.append(data)
        changed.append((part, name))

    # -- a rule that came while the call ran ----------------------------------------------------

    def _is_late(self, begun: _Begun) -> bool:
        try:
            self._renewed()
        except DebugServerError:
            return False  # the call was made; its result is delivered, as in strict mode
        return self._rules.concern(*begun.site.named)

    def _late(self, begun: _Begun, outcome: Outcome) -> calls.Life:
        """Tell of the call the strict way: that it began, and now how it ended."""
        name, alias, qualname, kind = begun.site.named
        call = _strict(
            *(begun.proxy, name, begun.function, begun.args, begun.kwargs, begun.target, kind),
            *(alias, qualname, begun.frame),
        )
        take = self._recorder.snapshots.take
        values = (*begun.args, *begun.kwargs.values())
        with undisturbed():
            every = [
                snapshot or take(value) for snapshot, value in zip(begun.taken, values, strict=True)
            ]
        taken = calls.Taken(
            begun.snapshot,
            every[: len(begun.args)],
            dict(zip(begun.kwargs, every[len(begun.args) :], strict=True)),
        )
        return calls.late(self._recorder, call, taken, call_id(begun.number), outcome)

    # -- sending --------------------------------------------------------------------------------

    def _awaken(self) -> None:
        self._awake = True
        if self._sender is None:
            with self._sending:
                if self._sender is None:
                    self._sender = threading.Thread(
                        target=_send_on, args=(weakref.ref(self), self._wake), daemon=True
                    )
                    self._sender.name = "holdfast-calls"
                    self._sender.start()
        self._wake.set()

    def send_some(self) -> None:
        """What has gathered; from the thread that sends."""
        # First this, then the buffer: a call that is not seen there will wake us again.
        self._awake = False
        try:
            self.flush()
        except DebugError:
            self._words = _NOWHERE  # the next call asks, and fails if nobody answers
            logger.debug("calls could not be sent; they are kept", exc_info=True)

    def is_over(self) -> bool:
        """Asked by the thread that sends: nothing more will come, and it hangs up."""
        if self._closed:
            self._recorder.connection.close()
        return self._closed

    def _relieve(self) -> None:
        """Too much waits: whoever brings more waits, too."""
        try:
            with undisturbed():
                self.flush()
        except DebugError:
            self._words = _NOWHERE

    def flush(self) -> None:
        """Everything recorded so far is the server's after this, or there is an error.

        What other threads record meanwhile is not waited for: they may never stop.
        """
        with self._sending:
            left = len(self._buffer)
            while left > 0:
                left -= self._send(min(left, BATCH))

    def _send(self, most: int) -> int:
        records: list[tuple[Site, bytes, Kept | None]] = []
        size = 0
        with contextlib.suppress(IndexError):
            while len(records) < most and size < _BATCH_BYTES:
                record = self._buffer.popleft()
                records.append(record)
                if record[2] is not None:
                    size += sum(len(stored.data) for stored, _ in record[2])
        self._sequence += 1
        self._weight = max(0, self._weight - size)
        sent: list[str] = []
        try:
            self._recorder.report(lambda: self._batch(records, sent))
        except DebugServerError:
            self._buffer.extendleft(reversed(records))
            raise
        except DebugError:
            logger.exception("the server refused %d calls", len(records))
            self._recorder.status = "error"
        else:
            self._recorder.sent.add(sent)
        return len(records)

    def _batch(self, records: list[tuple[Site, bytes, Kept | None]], sent: list[str]) -> bytes:
        sites = {record[0] for record in records}
        kept: dict[str, bytes] = {}
        for record in records:
            for stored, shown in record[2] or ():
                if stored.cid not in kept and stored.cid not in self._recorder.sent:
                    kept[stored.cid] = batches.content(stored.data, shown)
        sent[:] = kept
        session = int((self._recorder.session_id or "_0").rpartition("_")[2], 16)
        head = batches.head(session, self._sequence, len(sites), len(kept), len(records))
        return b"".join(
            (
                head,
                *(batches.site(site.number, site.text) for site in sites),
                *kept.values(),
                *(record[1] for record in records),
            )
        )

    def close(self) -> None:
        """Send what is left."""
        try:
            self.flush()
        except DebugError:
            lost = len(self._buffer)
            logger.warning("the last %d calls could not be sent to the server", lost)
        sender, self._closed = self._sender, True
        self._wake.set()
        if sender is not None:
            sender.join(1.0)


_leases: weakref.WeakSet[Lease] = weakref.WeakSet()


def _forked() -> None:
    for lease in list(_leases):
        lease.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def _send_on(lease: weakref.ref[Lease], wake: threading.Event) -> None:
    """The thread that sends: it sleeps while nothing is called, and ends with its lease."""
    with undisturbed():
        while True:
            if not wake.wait(5.0):
                if lease() is None:
                    return
                continue
            wake.clear()
            found = lease()
            if found is None or found.is_over():
                return
            del found
            time.sleep(_PAUSE)
            found = lease()
            if found is not None:
                found.send_some()
            del found


def _mapped(path: str) -> memoryview:
    """The server's board; nowhere, if it cannot be seen from here."""
    try:
        with open(path, "rb") as file:
            words = memoryview(mmap.mmap(file.fileno(), SIZE, access=mmap.ACCESS_READ)).cast("Q")
    except (OSError, ValueError):
        return _NOWHERE
    is_ours = words[MAGIC_AT] == MAGIC and words[VERSION_AT] == VERSION
    return words if is_ours else _NOWHERE


def _strict(
    proxy: Any,
    name: str,
    function: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    target: Any,
    kind: str,
    alias: str | None,
    qualname: str | None,
    frame: types.FrameType | None,
) -> Call:
    return Call(
        name=name,
        function=function,
        args=args,
        kwargs=kwargs,
        target=target,
        kind=kind,
        frame=frame,
        alias=alias,
        qualname=qualname,
        seen=None if proxy is None else _seen.__get__(proxy),
        remember=None if proxy is None else lambda seen: _seen.__set__(proxy, seen),
    )


def _fields(target: Any, snapshot: Snapshot | None) -> dict[str, Any] | None:
    """The fields of an ordinary object, if it is as it was; else None."""
    if snapshot is None or snapshot.state is None or snapshot.state[0] is not type(target):
        return None
    fields: dict[str, Any] = target.__dict__
    return fields if _is_same(fields, snapshot.state) else None


def _is_same(fields: dict[str, Any], state: tuple[Any, ...] | None) -> bool:
    if state is None or 2 * len(fields) + 1 != len(state):
        return False
    return not fields or all(map(_is, (*fields, *fields.values()), state[1:]))


def _same(before: tuple[Any, ...] | None, after: tuple[Any, ...]) -> bool:
    return before is not None and len(before) == len(after) and all(map(_is, before, after))


def _stands(function: types.FunctionType) -> bool:
    """Whether what is stored of a function stays the same: it has no closure, or goes by name."""
    return not function.__closure__ or definitions.is_importable(function)


def _is_ordinary(cls: type) -> bool:
    """Whether an instance is its `__dict__` and nothing else, to pickle and to us."""
    import copyreg

    for base in cls.__mro__[:-1]:
        if not base.__flags__ & (1 << 9) or "__slots__" in vars(base):
            return False
        own = ("__reduce__", "__reduce_ex__", "__getstate__", "__getnewargs__", "__dict__")
        if any(name in vars(base) and name != "__dict__" for name in own):
            return False
        if any(name in vars(base) for name in ("__getnewargs_ex__", "__getattribute__")):
            return False
    return cls not in copyreg.dispatch_table and cls.__dictoffset__ != 0 and type(cls) is type
