"""Leased mode: calls go ahead while a glance at the server's board says that no rule concerns them.

The record is as full as in strict mode, only it goes later, with others, in a batch. One `Lease`
belongs to one `Recorder`. A call that a rule could concern, and every call while the board's
heartbeat is old, takes the strict way. What a call costs here is paid by the application for each
of its calls, so this file prefers few steps to short ones.
"""

from __future__ import annotations

import asyncio
import inspect
import itertools
import mmap
import os
import threading
import time
import types
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from holdfast.client import object_state, strict_call
from holdfast.client.call_encoder import CallEncoder, PendingCall
from holdfast.client.call_sites import CallSite, CallSites
from holdfast.client.decision_effects import Outcome
from holdfast.client.exceptions import DebugServerError
from holdfast.client.lease_rules import LeaseRules
from holdfast.client.object_state import same_fields
from holdfast.client.outbox import Outbox
from holdfast.client.proxy_base import ProxyBase, without_interception
from holdfast.client.snapshots import Snapshot
from holdfast.client.strict_call import Call, current
from holdfast.model.call import call_id
from holdfast.wire.board_layout import (
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
    from holdfast.client.recorder import Recorder

_now = time.monotonic_ns
_seen: Any = ProxyBase.__dict__["_holdfast_seen"]
_NUMBERS = frozenset((int, float, bool, type(None)))
_SHORT = 64  # characters of a text that need not be written down at once
_running_loop = asyncio._get_running_loop
_NOWHERE = memoryview(bytes(SIZE)).cast("Q")


class Lease:
    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._words = _NOWHERE
        self._path: str | None = None
        self._epoch = -1
        self._rules = LeaseRules((), None)
        self._refused_at = 0
        self._offset = time.time_ns() - _now()
        self._numbers = itertools.cycle(range(100, 110))
        self._sites = CallSites(recorder)
        self._near, self._mine = self._sites.near, self._sites.mine
        self._writing = CallEncoder(recorder)
        self._fixed = self._writing.fixed
        self.outbox = Outbox(recorder, self._writing.plain, self._lost)
        self._waiting = self.outbox.plain
        self._renewing = threading.Lock()
        _leases.add(self)

    def forked(self) -> None:
        """In the child: the session is the parent's."""
        self._renewing = threading.Lock()
        self.outbox.forked()
        self._words = _NOWHERE
        self._path = None

    def flush(self) -> None:
        """Everything recorded so far is the server's after this, or there is an error."""
        self.outbox.flush()

    def close(self) -> None:
        self.outbox.close()

    def _lost(self) -> None:
        """The next call asks, and fails if nobody answers."""
        self._words = _NOWHERE

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
        self._rules = LeaseRules(answer.get("rules"), self._recorder.session_id)
        self._epoch = epoch if isinstance(epoch, int) else -1
        self._words = words

    def _is_good(self) -> bool:
        words = self._words
        return words[EPOCH_AT] == self._epoch and _now() - words[HEARTBEAT_AT] <= LEASE_NS

    def _renewed(self) -> bool:
        """Ask for the rules again. False: go the strict way. No server: an error, and no call."""
        with without_interception(), self._renewing:
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
        # One function for all of the usual call, and few names looked up twice: this is what a
        # leased call costs its application. `_begin` and `_returned` tell the same at length.
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
                each: types.FrameType | None = frame
                for outside, instruction in site.outside:
                    each = each.f_back  # type: ignore[union-attr]
                    if each is None or each.f_lasti != instruction or each.f_code is not outside:
                        site = None
                        break
                else:
                    if each.f_back is not None:  # type: ignore[union-attr]
                        site = None
            if site is None:
                site = self._sites.of(name, alias, qualname, kind, function, target, frame, None)
            if site.clear == epoch and not kwargs:
                # The usual call: plain small values, and a target that is as it was.
                known = self._fixed.get(id(target))
                snapshot: Snapshot | None
                fields: dict[str, Any] | None
                if known is not None and known[0] is target:
                    snapshot, fields = known[1], None
                else:
                    snapshot = None if proxy is None else _seen.__get__(proxy)
                    fields = object_state.fields_of(target, snapshot)
                    if fields is None:
                        snapshot = None
                if snapshot is not None and snapshot.packed is not None and not snapshot.needs:
                    for value in args:
                        if (
                            type(value) is not int
                            and type(value) not in _NUMBERS
                            and (type(value) is not str or len(value) > _SHORT)
                        ):
                            break
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
                                *(outer, number, snapshot),
                            )
                            late = self._raised(begun, error, duration)
                            if late is None:
                                raise
                            return strict_call.through(late).deliver()
                        duration = _now() - began
                        current.set(outer)
                        if (
                            (
                                type(value) in _NUMBERS
                                or (type(value) is str and len(value) <= _SHORT)
                            )
                            and (fields is None or same_fields(fields, snapshot.state))
                            and self._words[EPOCH_AT] == epoch
                            and _running_loop() is None
                        ):
                            waiting, outbox = self._waiting, self.outbox
                            waiting.append((site, number, duration, outer, snapshot, args, value))
                            if not outbox.awake:
                                outbox.awaken()
                            if len(waiting) >= outbox.most:
                                outbox.relieve()
                            return value
                        begun = self._as_begun(
                            *(site, epoch, proxy, frame, function, target, args),
                            *(outer, number, snapshot),
                        )
                        late = self._returned(begun, value, duration)
                        return value if late is None else strict_call.through(late).deliver()
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
        site: CallSite | None,
    ) -> Any:
        begun = self._begin(
            proxy, name, function, args, kwargs, target, kind, alias, qualname, frame, site
        )
        if begun is None:
            call = _strict(
                proxy, name, function, args, kwargs, target, kind, alias, qualname, frame
            )
            return strict_call.run(self._recorder, call)
        current.set(begun.number)
        begun.began = _now()
        try:
            value = function(*args, **kwargs)
        except BaseException as error:
            current.set(begun.outer)
            late = self._raised(begun, error, _now() - begun.began)
            if late is None:
                raise
            return strict_call.through(late).deliver()
        duration = _now() - begun.began
        current.set(begun.outer)
        late = self._returned(begun, value, duration)
        return value if late is None else strict_call.through(late).deliver()

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
        stack: str | None = None,
    ) -> Any:
        """`stack` is of where the coroutine was made: it may be awaited elsewhere."""
        begun = self._begin(
            proxy, name, function, args, kwargs, target, kind, alias, qualname, frame, None, stack
        )
        if begun is None:
            call = _strict(
                proxy, name, function, args, kwargs, target, kind, alias, qualname, frame, stack
            )
            return await strict_call.run_async(self._recorder, call)
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
            return strict_call.run_until_awaited(self._recorder, call)
        current.set(begun.number)
        begun.began = _now()
        try:
            value = function(*args, **kwargs)
        except BaseException as error:
            current.set(begun.outer)
            late = self._raised(begun, error, _now() - begun.began)
            if late is None:
                raise
            return strict_call.through(late).deliver()
        duration = _now() - begun.began
        current.set(begun.outer)
        if inspect.iscoroutine(value):
            return self._awaited(begun, lambda: value)
        late = self._returned(begun, value, duration)
        return value if late is None else strict_call.through(late).deliver()

    async def _awaited(self, begun: PendingCall, start: Callable[[], Any]) -> Any:
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
            return (await strict_call.through_async(late)).deliver()
        duration = _now() - begun.began
        current.set(outer)
        late = self._returned(begun, value, duration)
        return value if late is None else (await strict_call.through_async(late)).deliver()

    def _as_begun(
        self,
        site: CallSite,
        epoch: int,
        proxy: Any,
        frame: types.FrameType | None,
        function: Any,
        target: Any,
        args: tuple[Any, ...],
        outer: Any,
        number: int,
        snapshot: Snapshot,
    ) -> PendingCall:
        """A usual call that turned out to end in an unusual way."""
        begun = PendingCall()
        begun.site, begun.epoch, begun.proxy, begun.frame = site, epoch, proxy, frame
        begun.function, begun.target, begun.args, begun.kwargs = function, target, args, {}
        begun.outer, begun.number, begun.snapshot = outer, number, snapshot
        begun.stack, begun.state = None, snapshot.state
        self._writing.values(begun)
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
        site: CallSite | None = None,
        stack: str | None = None,
    ) -> PendingCall | None:
        """The call as it is before it runs, or None when the server has to be asked."""
        now = _now()
        words, epoch = self._words, self._epoch
        if words[EPOCH_AT] != epoch or now - words[HEARTBEAT_AT] > LEASE_NS:
            if not self._renewed():
                return None
            epoch = self._epoch
        if site is None:
            site = self._sites.of(name, alias, qualname, kind, function, target, frame, stack)
        if site.clear != epoch:
            if self._rules.concern(*site.named):
                return None
            site.clear = epoch
        begun = PendingCall()
        begun.site, begun.epoch, begun.proxy, begun.frame = site, epoch, proxy, frame
        begun.function, begun.target, begun.args, begun.kwargs = function, target, args, kwargs
        begun.outer, begun.stack = current.get(), stack
        begun.number = (now + self._offset) // 1000 * 1000 + next(self._numbers)
        begun.snapshot = self._writing.target(begun, proxy, target)
        self._writing.values(begun)
        return begun

    # -- after ----------------------------------------------------------------------------------

    def _returned(self, begun: PendingCall, value: Any, duration: int) -> strict_call.Life | None:
        """Record it. A life means that a rule came meanwhile that concerns how the call ends."""
        if self._words[EPOCH_AT] != begun.epoch and self._is_late(begun):
            return self._late(begun, Outcome(value, None, duration))
        packed, refused = self._writing.returned(begun, value, duration)
        self.outbox.put(packed)
        if refused is not None:
            raise refused
        return None

    def _raised(
        self, begun: PendingCall, error: BaseException, duration: int
    ) -> strict_call.Life | None:
        if self._words[EPOCH_AT] != begun.epoch and self._is_late(begun):
            return self._late(begun, Outcome(None, error, duration))
        self.outbox.put(self._writing.raised(begun, error, duration))
        return None

    # -- a rule that came while the call ran ----------------------------------------------------

    def _is_late(self, begun: PendingCall) -> bool:
        try:
            self._renewed()
        except DebugServerError:
            return False  # the call was made; its result is delivered, as in strict mode
        return self._rules.concern(*begun.site.named)

    def _late(self, begun: PendingCall, outcome: Outcome) -> strict_call.Life:
        """Tell of the call the strict way: that it began, and now how it ended."""
        name, alias, qualname, kind = begun.site.named
        call = _strict(
            *(begun.proxy, name, begun.function, begun.args, begun.kwargs, begun.target, kind),
            *(alias, qualname, begun.frame, begun.stack),
        )
        take = self._recorder.snapshots.take
        values = (*begun.args, *begun.kwargs.values())
        with without_interception():
            every = [
                snapshot or take(value) for snapshot, value in zip(begun.taken, values, strict=True)
            ]
        taken = strict_call.Taken(
            begun.snapshot,
            every[: len(begun.args)],
            dict(zip(begun.kwargs, every[len(begun.args) :], strict=True)),
        )
        return strict_call.late(self._recorder, call, taken, call_id(begun.number), outcome)


_leases: weakref.WeakSet[Lease] = weakref.WeakSet()


def _forked() -> None:
    for lease in list(_leases):
        lease.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


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
    stack: str | None = None,
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
        stack=stack,
    )
