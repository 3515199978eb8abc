"""Leased calls: they go ahead while the board shows that no rule concerns them.

The record is as complete as in strict mode; it goes later, with others, in a batch. A call that a
rule could concern, and every call while the lease is not good, is a strict one. The application
pays for each of its calls, so this file prefers few instructions to short functions.
"""

from __future__ import annotations

import asyncio
import os
import time
import types
import weakref
from collections.abc import Callable
from typing import Any

from holdfast.client import object_state
from holdfast.client.call_encoder import CallEncoder, PendingCall
from holdfast.client.call_runner import run
from holdfast.client.call_sites import CallSite, CallSites
from holdfast.client.exceptions import DebugServerError
from holdfast.client.followed_objects import deliver
from holdfast.client.hidden_frames import call_from, hide_module, is_compiled
from holdfast.client.invocation import Invocation, current_call
from holdfast.client.lease import Lease
from holdfast.client.object_state import same_fields
from holdfast.client.outbox import Outbox
from holdfast.client.outcome import Outcome
from holdfast.client.proxy_base import (
    read_alias,
    read_snapshot,
    without_interception,
)
from holdfast.client.recorder import Recorder
from holdfast.client.snapshots import Snapshot
from holdfast.client.strict_call import CallValues, Steps, StrictCall
from holdfast.model.call import call_id
from holdfast.wire.board_layout import EPOCH_AT, HEARTBEAT_AT, LEASE_NS

_now = time.monotonic_ns
_running_loop = asyncio._get_running_loop
_NUMBERS = frozenset((int, float, bool, type(None)))
_MAX_TEXT = 64  # characters of a text that is encoded later, with others


class LeasedCalls:
    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.lease = Lease(recorder)
        self._clock_offset = time.time_ns() - _now()
        self._sites = CallSites(recorder)
        self._recent_sites, self._thread = self._sites.recent, self._sites.thread
        self._encoder = CallEncoder(recorder)
        self._fixed_targets = self._encoder.fixed_targets
        self._fields_of: Callable[[Any, Snapshot | None], dict[str, Any] | None]
        self._choose_comparison()
        self.outbox = Outbox(recorder, self._encoder.encode_plain, self.lease.drop)
        self._plain_calls = self.outbox.plain
        _all_leased_calls.add(self)

    def flush(self) -> None:
        """Send everything recorded so far; an error if the server does not take it."""
        self.outbox.flush()

    def forget_known(self) -> None:
        """Describe sites and fixed targets afresh, because the settings have changed."""
        self._sites.clear()
        self._fixed_targets.clear()
        self._choose_comparison()

    def _choose_comparison(self) -> None:
        """Targets that are not captured are not compared by their fields."""
        is_captured = self._recorder.settings.capture_target
        self._fields_of = object_state.fields_of if is_captured else _compare_nothing

    def close(self) -> None:
        self.outbox.close()

    def reset_after_fork(self) -> None:
        self.lease.reset_after_fork()
        self.outbox.reset_after_fork()

    def run(
        self,
        proxy: Any,
        target: Any,
        name: str,
        qualname: str | None,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        frame: types.FrameType,
    ) -> Any:
        """Make a call through a proxy of `target`.

        The usual call is all in this one function, with few lookups and no `Invocation`: this is
        what a leased call costs. `steps` does the same at length for every other call.
        """
        now = _now()
        lease = self.lease
        words, epoch = lease.words, lease.epoch
        site = None
        if words[EPOCH_AT] == epoch and now - words[HEARTBEAT_AT] <= LEASE_NS:
            code, thread = getattr(function, "__code__", None), self._thread.number
            alias, here, at = read_alias(proxy), id(frame.f_code), frame.f_lasti
            caller = (name, alias, qualname, "proxy", type(target), id(code), thread, here, at)
            site = self._recent_sites.get(caller)
            if site is not None:
                outer: types.FrameType | None = frame
                for outer_code, instruction in site.callers:
                    outer = outer.f_back  # type: ignore[union-attr]
                    if (
                        outer is None
                        or outer.f_lasti != instruction
                        or outer.f_code is not outer_code
                    ):
                        site = None
                        break
                else:
                    if outer.f_back is not None:  # type: ignore[union-attr]
                        site = None
            if site is None:
                site = self._sites.find_at(caller, function, target, frame)
            if site.clear_epoch == epoch and not kwargs:
                # The usual call has small plain values, and a target that has not changed.
                fixed = self._fixed_targets.get(id(target))
                snapshot: Snapshot | None
                fields: dict[str, Any] | None
                if fixed is not None and fixed[0] is target:
                    snapshot, fields = fixed[1], None
                else:
                    snapshot = read_snapshot(proxy)
                    fields = self._fields_of(target, snapshot)
                    if fields is None:
                        snapshot = None
                if snapshot is not None and snapshot.packed is not None and not snapshot.needs:
                    for value in args:
                        if (
                            type(value) is not int
                            and type(value) not in _NUMBERS
                            and (type(value) is not str or len(value) > _MAX_TEXT)
                        ):
                            break
                    else:
                        number = (now + self._clock_offset) // 1000 * 1000 + next(lease.numbers)
                        parent = current_call.get()
                        current_call.set(number)
                        late: Steps | None = None
                        began = _now()
                        try:
                            if code is None and is_compiled(function):
                                value = call_from(frame, function, args, {})
                            else:
                                value = function(*args)
                        except BaseException as error:
                            outcome = Outcome(None, error, _now() - began)
                            current_call.set(parent)
                            late = self._finish_unusual(
                                Invocation(proxy, name, qualname, function, args, {}, frame),
                                *(site, epoch, number, parent, snapshot, outcome),
                            )
                            del outcome  # it holds the exception, whose traceback holds this frame
                            if late is None:
                                raise
                        duration = _now() - began
                        if late is not None:  # outside of the handler, which would be a context
                            return run(late)
                        current_call.set(parent)
                        if (
                            (
                                type(value) in _NUMBERS
                                or (type(value) is str and len(value) <= _MAX_TEXT)
                            )
                            and (fields is None or same_fields(fields, snapshot.state))
                            and lease.words[EPOCH_AT] == epoch
                            and _running_loop() is None
                        ):
                            plain_calls, outbox = self._plain_calls, self.outbox
                            plain_calls.append(
                                (site, number, duration, parent, snapshot, args, value)
                            )
                            if not outbox.is_awake:
                                outbox.wake()
                            if len(plain_calls) >= outbox.max_waiting:
                                outbox.flush_in_caller()
                            return value
                        outcome = Outcome(value, None, duration)
                        late = self._finish_unusual(
                            Invocation(proxy, name, qualname, function, args, {}, frame),
                            *(site, epoch, number, parent, snapshot, outcome),
                        )
                        return deliver(proxy, name, value) if late is None else run(late)
        invocation = Invocation(proxy, name, qualname, function, args, kwargs, frame)
        return run(self.steps(invocation, site))

    def _finish_unusual(
        self,
        invocation: Invocation,
        site: CallSite,
        epoch: int,
        number: int,
        parent: Any,
        snapshot: Snapshot,
        outcome: Outcome,
    ) -> Steps | None:
        """End a usual call whose outcome is not usual."""
        pending = PendingCall(invocation, site, epoch, number, parent)
        pending.snapshot, pending.state = snapshot, snapshot.state
        self._encoder.add_values(pending)
        return self._finish(pending, outcome)

    def steps(self, invocation: Invocation, site: CallSite | None = None) -> Steps:
        """The steps of any call."""
        pending = self._begin(invocation, site)
        if pending is None:
            return (yield from StrictCall(self._recorder, invocation).steps())
        invocation.call_id = pending.number
        outcome: Outcome = yield invocation
        late = self._finish(pending, outcome)
        if late is not None:
            return (yield from late)
        if outcome.error is None:
            outcome.value = invocation.deliver(outcome.value)
        return outcome

    def _begin(self, invocation: Invocation, site: CallSite | None) -> PendingCall | None:
        """The call before it runs; None if the server has to be asked."""
        now = _now()
        lease = self.lease
        words, epoch = lease.words, lease.epoch
        if words[EPOCH_AT] != epoch or now - words[HEARTBEAT_AT] > LEASE_NS:
            if not lease.renew():
                return None
            epoch = lease.epoch
        if site is None:
            site = self._sites.find(invocation)
        recorder = self._recorder
        if not recorder.snapshots.is_lenient(invocation.lenient):
            recorder.forecast.check(invocation.function, invocation.full_name)
        if site.clear_epoch != epoch:
            if lease.rules.may_concern(*site.names):
                return None
            site.clear_epoch = epoch
        number = (now + self._clock_offset) // 1000 * 1000 + next(lease.numbers)
        pending = PendingCall(invocation, site, epoch, number, current_call.get())
        self._encoder.add_target(pending)
        self._encoder.add_values(pending)
        return pending

    def _finish(self, pending: PendingCall, outcome: Outcome) -> Steps | None:
        """Record how the call ended. Steps: a rule that came meanwhile concerns its end."""
        if self.lease.words[EPOCH_AT] != pending.epoch and self._has_late_rule(pending):
            return self._ask_late(pending, outcome)
        packed, refused = self._encoder.encode(pending, outcome)
        self.outbox.put(packed)
        if outcome.error is None:
            self._recorder.forecast.note(pending.invocation.function, refused)
        if refused is not None:
            self._sites.clear()  # so that the next call of this function is checked first
            raise refused from refused.cause
        return None

    # -- a rule that came while the call ran ----------------------------------------------------

    def _has_late_rule(self, pending: PendingCall) -> bool:
        try:
            self.lease.renew()
        except DebugServerError:
            return False  # the call was made; its result is delivered, as in strict mode
        return self.lease.rules.may_concern(*pending.site.names)

    def _ask_late(self, pending: PendingCall, outcome: Outcome) -> Steps:
        """Report the call in strict mode: that it began, and then how it ended."""
        invocation, take = pending.invocation, self._recorder.snapshots.take
        # The values were taken once, so that what cannot be stored has been found already.
        values = (*invocation.args, *invocation.kwargs.values())
        with without_interception():
            snapshots = [
                snapshot or take(value, lenient=True)
                for snapshot, value in zip(pending.snapshots, values, strict=True)
            ]
        count = len(invocation.args)
        named = dict(zip(invocation.kwargs, snapshots[count:], strict=True))
        before = CallValues(pending.snapshot, pending.target_age, snapshots[:count], named)
        call = StrictCall(self._recorder, invocation)
        return call.steps_after(before, call_id(pending.number), outcome)


def _compare_nothing(target: Any, snapshot: Snapshot | None) -> None:
    return None


_all_leased_calls: weakref.WeakSet[LeasedCalls] = weakref.WeakSet()


def _reset_after_fork() -> None:
    for leased_calls in list(_all_leased_calls):
        leased_calls.reset_after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)

hide_module(__name__)
