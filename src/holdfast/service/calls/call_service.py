"""A call from its start to its completion: recorded, held where a breakpoint says so, decided."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import hashlib
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from holdfast import errors
from holdfast.core.call_matcher import Armed
from holdfast.core.filters import Call
from holdfast.core.ledger import Ledger
from holdfast.model.call import CallBreakpoint, CallRecord, CallStatus, Function, When, call_number
from holdfast.model.decision import Decision, Moment
from holdfast.model.hold import Hold
from holdfast.model.location import Location
from holdfast.model.records import SessionRecord
from holdfast.model.session import Kind
from holdfast.service.calls import filter_values
from holdfast.service.calls.batch_recorder import Leased
from holdfast.service.calls.call_actions import Decider, Prepared
from holdfast.service.calls.call_breakpoints import CallBreakpoints
from holdfast.service.calls.call_session import CallSession
from holdfast.service.calls.content_cache import Contents
from holdfast.service.calls.function_catalog import Functions
from holdfast.service.calls.held_call import ALLOWED, Held
from holdfast.service.calls.lease_board import Board
from holdfast.service.event_stream import EventStream
from holdfast.service.holds import new_hold_id
from holdfast.service.settings import Settings
from holdfast.store import Store
from holdfast.wire import call_requests as wire
from holdfast.wire import rest
from holdfast.wire.call_requests import IMPLICIT, Complete, Start

Json = dict[str, Any]
_REMEMBERED = 20_000
_SEED_TIMEOUT_MS = 60_000
_GRACE_SECONDS = 5.0
_PRUNE_SECONDS = 60.0
_PRUNE_STEP = 500
_PRUNE_PAUSE = 0.01
_PRUNE_PAUSE_WHEN_BUSY = 0.2


@dataclasses.dataclass(slots=True)
class _Running:
    """A call that has begun, and what its application can do."""

    record: CallRecord
    evaluates: bool


class Calls:
    """Every call session, every call under way, and every call that is held."""

    def __init__(
        self,
        store: Store,
        ledger: Ledger,
        stream: EventStream,
        settings: Callable[[], Settings],
        folder: Path,
    ) -> None:
        self._store = store
        self._stream = stream
        self.tables = store.calls
        self._ledger = ledger
        self._settings = settings
        self.board = Board(folder)
        self.leased = Leased(self)
        self.contents = Contents(self.tables)
        self.functions = Functions(self.tables, self._new_function)
        self.breakpoints = CallBreakpoints(self.tables, self.board.changed)
        self.decider = Decider(self.contents, lambda: settings().call_max_value_bytes)
        self.sessions: dict[str, CallSession] = {}
        self._running: dict[int, _Running] = {}
        self._completed: OrderedDict[int, None] = OrderedDict()
        self._held: dict[str, Held] = {}
        self._held_calls: OrderedDict[int, Held] = OrderedDict()
        self._stacks: OrderedDict[int, None] = OrderedDict()
        self._last = 0
        self._first = 0
        self._pruning: asyncio.Task[None] | None = None
        self._prune_now = asyncio.Event()

    # -- its own life -----------------------------------------------------------------------

    def start_up(self) -> list[errors.HoldfastError]:
        self.tables.lose_running()
        self._last = self.tables.last_number()
        self._first = self._number()
        self.functions.load()
        self._pruning = asyncio.create_task(self._prune())
        return self.breakpoints.load()

    def recover(self, record: SessionRecord) -> None:
        """A session of a server that is gone. It goes on if its process is seen to live; if not,
        it is over, until a report proves that its application lives all the same."""
        document = record.document
        session = CallSession(
            record.id,
            self,
            self._store,
            self._stream,
            document.get("about") or {},
            record.created_at,
        )
        session.calls = int(document.get("calls") or 0)
        session.registered = dict(document.get("registered") or {})
        session.functions = list(document.get("functions") or [])
        self.functions.recall(session.id, session.functions)
        was_over = document.get("state") == "terminated"
        if not was_over:  # the server before us had no time to write how far it came
            session.calls = max(session.calls, self.tables.count_of_session(session.id))
        session.reason = document.get("reason") if was_over else "server_stopped"
        self.sessions[session.id] = session
        if session.reason == "server_stopped" and session.about.get("process_started"):
            session.watch(lambda: self._end(session, "process_ended"))
        session.over = not session.is_watched
        if session.is_watched:
            session.reason = None
            session.event("session_resumed", name=session.name, pid=session.pid)
            session.save()

    def _new_function(self, session_id: str, function_id: int) -> None:
        session = self.sessions[session_id]
        session.functions.append(function_id)
        session.save()

    async def _prune(self) -> None:
        """Delete what is too much from time to time, a little at once."""
        while True:
            with contextlib.suppress(errors.NotStored):  # a full disk is said elsewhere
                await self._prune_to(self._settings().calls_kept)
            self._prune_now.clear()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._prune_now.wait(), _PRUNE_SECONDS)

    async def _prune_to(self, kept: int) -> None:
        excess = await asyncio.to_thread(self.tables.excess, kept)
        while excess > 0:
            most = min(excess, _PRUNE_STEP)
            dropped = await asyncio.to_thread(self.tables.drop_oldest, most)
            if dropped is not None:
                count, used = dropped
                while await self.contents.drop(used) is None:  # noqa: ASYNC110
                    await asyncio.sleep(_PRUNE_PAUSE_WHEN_BUSY)
                excess = excess - count if count == most else 0
            quiet = dropped is not None and self.tables.is_idle
            await asyncio.sleep(_PRUNE_PAUSE if quiet else _PRUNE_PAUSE_WHEN_BUSY)
        await self._prune_stacks()

    async def _prune_stacks(self) -> None:
        """First nobody counts on them any more; then they go, unless a call came meanwhile."""
        unused = await asyncio.to_thread(self.tables.unused_stacks)
        if unused:
            for each in unused:
                self._stacks.pop(each, None)
            self.leased.forget_stacks(unused)
            await asyncio.to_thread(self.tables.drop_stacks, unused)

    def settings_changed(self) -> None:
        self._prune_now.set()

    def close(self) -> None:
        if self._pruning is not None:
            self._pruning.cancel()
        for session in self.sessions.values():
            if not session.over:
                self._end(session, "server_stopped")
        self.board.close()

    def stop_waiting(self) -> None:
        for waiting in (*self.sessions.values(), *self._held.values()):
            waiting.stop_waiting()

    # -- sessions ---------------------------------------------------------------------------

    def session(self, session_id: str) -> CallSession:
        found = self.sessions.get(session_id)
        if found is None:
            raise errors.SessionNotFound(
                f"no session {session_id}",
                hint="POST /api/call/session begins one.",
                id=session_id,
                session_id=session_id,
            )
        return found

    def begin(self, about: Mapping[str, Any]) -> CallSession:
        session_id = f"calls_{secrets.token_hex(4)}"
        while session_id in self.sessions or session_id == IMPLICIT:
            session_id = f"calls_{secrets.token_hex(4)}"
        return self._begin(session_id, about)

    def _begin(self, session_id: str, about: Mapping[str, Any]) -> CallSession:
        session = CallSession(session_id, self, self._store, self._stream, about)
        self._forget_oldest()
        self.sessions[session_id] = session
        self._live(session, "session_started")
        return session

    def _forget_oldest(self) -> None:
        """Of sessions that are over so many are shown, and no more; their calls stay."""
        over = [each for each in self.sessions.values() if each.over]
        for session in over[: len(over) - self._settings().max_sessions]:
            del self.sessions[session.id]
            self._store.delete_session(session.id)

    def _live(self, session: CallSession, event: str) -> None:
        session.watch(lambda: self._end(session, "process_ended"))
        if session.is_leased:
            self.board.grant(session.id)
        session.event(event, name=session.name, pid=session.pid)
        session.save()

    def reporting(self, session_id: str) -> CallSession:
        """The session that a report belongs to; a report proves that its application lives.

        So one that our restart ended goes on, and one whose process looked gone from here (it has
        another pid where it runs) goes on unwatched."""
        session = self.sessions.get(session_id)
        if session is None:
            if session_id == IMPLICIT:
                return self._begin(IMPLICIT, {"name": "calls without a session"})
            raise errors.SessionNotFound(
                f"no session {session_id}",
                hint="POST /api/call/session begins one.",
                session_id=session_id,
            )
        if session.over:
            if session.reason not in ("server_stopped", "process_ended"):
                session.require_open()
            session.watched = session.reason != "process_ended"
            session.over, session.reason = False, None
            self._live(session, "session_resumed")
        return session

    def end(self, session_id: str) -> CallSession:
        session = self.session(session_id)
        self._end(session, "ended")
        return session

    def _end(self, session: CallSession, reason: str) -> None:
        if session.over:
            return
        for hold_id in list(session.holds):
            self._withdraw(self._held[hold_id], _WHY.get(reason, reason))
        session.end(reason)
        self.board.release(session.id)
        if reason != "server_stopped":
            self._lose(session)
        session.save()

    def _lose(self, session: CallSession) -> None:
        """What was under way when its process ended will never complete."""
        lost = [each for each in self._running.values() if each.record.session_id == session.id]
        for each in lost:
            self._finish(dataclasses.replace(each.record, status=CallStatus.LOST))

    async def delete(self, session: CallSession) -> None:
        self._end(session, "deleted")
        del self.sessions[session.id]
        self.functions.forget_session(session.id)
        await asyncio.wrap_future(self.tables.delete_session(session.id))
        await asyncio.wrap_future(self._store.delete_session(session.id))

    def lease(self, session_id: str | None) -> Json:
        """The rules, and the board on which their changes are seen; a session's lease is renewed.

        The epoch is read before the rules: a rule that comes in between is pulled twice.
        """
        if session_id is not None:
            session = self.reporting(session_id)
            if session.is_leased:
                self.board.grant(session.id)
        epoch = self.board.epoch
        rules = [wire.rule_json(each.point) for each in self.breakpoints.all()]
        lane = 10 + int(session_id.rpartition("_")[2], 16) % 90 if session_id else 10
        return {"epoch": epoch, "board": self.board.path, "lane": lane, "rules": rules}

    # -- functions --------------------------------------------------------------------------

    def register(self, session_id: str, name: str, facts: Mapping[str, Any]) -> Function:
        session = self.reporting(session_id)
        function, _ = self.functions.seen(session.id, name, **facts)
        if session.registers(name, facts.get("signature")):
            session.event("function_registered", name=name, signature=function.signature)
        return function

    async def listed_functions(self, session_id: str | None) -> list[tuple[Function, int]]:
        return await asyncio.to_thread(self.functions.listed, session_id)

    # -- start ------------------------------------------------------------------------------

    async def room(self) -> None:
        """Wait while more is queued than the disk takes."""
        if not self.tables.has_room:
            await asyncio.to_thread(self.tables.wait_for_room)

    def start(self, given: Start) -> Json:
        session = self.reporting(given.session_id)
        self.contents.take(given.items)
        function, _ = self.functions.seen(
            session.id,
            given.method_name,
            given.alias,
            given.qualname,
            signature=given.signature,
            module=given.module,
        )
        record = CallRecord(
            number=self._number() if given.began is None else given.began,
            session_id=session.id,
            function=function,
            call_type=given.call_type,
            target=given.target_cid,
            args=tuple([item.cid for item in given.args]),
            kwargs={name: item.cid for name, item in given.kwargs.items()},
            stack=self.stack_of(given.frames),
            parent=given.parent,
            thread=given.thread,
            task=given.task,
            started_at=given.timestamp,
        )
        session.calls += 1
        running = _Running(record, given.evaluates)
        self._running[record.number] = running
        answer = None
        if given.began is None:
            answer = self._meet(running, When.BEFORE, given.session_id != IMPLICIT)
        self.tables.put_call(running.record)
        return {"call_id": record.id, **(answer or {"action": "continue"})}

    def _number(self) -> int:
        """The time in microseconds, and a number within: later calls have higher ones, always."""
        now = int(time.time() * 1_000_000) * 1000 + 1
        self._last = now if now > self._last else self._last + 1
        return self._last

    def stack_of(self, frames: list[Any]) -> int | None:
        """Calls from the same place share one stack."""
        if not frames:
            return None
        text = rest.encode(frames)
        key = int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big", signed=True)
        if key not in self._stacks:
            self.tables.put_stack(key, text.decode())
            self._stacks[key] = None
            if len(self._stacks) > _REMEMBERED:
                self._stacks.popitem(last=False)
        return key

    # -- completion -------------------------------------------------------------------------

    def complete(self, given: Complete) -> Json:
        running = self._running.get(given.number) or self._from_store(given)
        self.contents.take(given.items)
        before = running.record
        record = dataclasses.replace(
            before,
            status=CallStatus(given.status),
            result=given.result.cid if given.result else None,
            exception=given.exception.cid if given.exception else None,
            exception_type=given.exception_type,
            exception_message=given.exception_message,
            completed_at=given.timestamp,
            duration_ns=_duration(given, before),
            changed=given.changed,
            marker=given.marker,
            decision=before.decision or ({"action": given.action} if given.action else None),
        )
        self._finish(record)
        self._nothing_to_hold(record)
        moment = When.AFTER if record.status is CallStatus.SUCCESS else When.EXCEPTION
        running.record = record
        answer = self._meet(running, moment, record.session_id != IMPLICIT)
        if running.record is not record:
            self.tables.update_call(running.record)
        return {"status": "ok", **(answer or {})}

    def _from_store(self, given: Complete) -> _Running:
        """A call that began under the server before us (and so was given up), or has ended."""
        record = self.tables.call(given.number, self.functions.by_id)
        if record is None:
            raise errors.CallNotFound(f"no call {given.call_id}", call_id=given.call_id)
        given_up = record.status is CallStatus.LOST and record.number < self._first
        if given.number in self._completed or not given_up:
            raise errors.CallCompleted(
                f"call {given.call_id} was completed already",
                call_id=given.call_id,
                state=record.status.value,
                possible=[],
            )
        self.reporting(record.session_id)
        return _Running(record, evaluates=False)

    def _finish(self, record: CallRecord) -> None:
        self._running.pop(record.number, None)
        self._completed[record.number] = None
        if len(self._completed) > _REMEMBERED:
            self._completed.popitem(last=False)
        self.tables.update_call(record)

    # -- breakpoints ------------------------------------------------------------------------

    def _meet(self, running: _Running, when: When, waits: bool) -> Json | None:
        """What the breakpoints want of this call: None, an action at once, or to be polled."""
        record = running.record
        armed = self.breakpoints.first_hit(record, when, lambda: self.values(record))
        if armed is None:
            return None
        if armed.point.action is not None:
            try:
                return self._act_at_once(running, when, armed)
            except errors.InvalidDecision as problem:
                # What was decided beforehand does not fit this call, so somebody has to decide now.
                armed.cannot(problem.message)
        return self._hold(running, when, armed.point, waits)

    def values(self, record: CallRecord) -> Call:
        return filter_values.of(record, self.contents)

    def _act_at_once(self, running: _Running, when: When, armed: Armed) -> Json | None:
        preset = dict(armed.point.action or {})
        action = str(preset.pop("action", ""))
        if action not in ALLOWED[when] or action == "continue":
            return None
        prepared = self.decider.prepared(
            action, preset, lambda name: self.check_replacement(running.record, name)
        )
        by = f"breakpoint {armed.point.id}"
        self._note(running, when, prepared, by)
        return prepared.told

    def _note(self, running: _Running, when: When, prepared: Prepared, by: str) -> None:
        decision = {**prepared.kept, "by": by, "when": when.value}
        running.record = dataclasses.replace(running.record, decision=decision)

    async def add_breakpoint(self, fields: Mapping[str, Any]) -> Armed:
        self._check_preset(fields)
        armed = await self.breakpoints.add(fields)
        self._tell("breakpoint_added", armed.point)
        return armed

    async def change_breakpoint(self, point_id: str, fields: Mapping[str, Any]) -> Armed:
        point = self.breakpoints.get(point_id).point
        before = {
            name: getattr(point, name) for name in ("when", "action", "function", "session_id")
        }
        self._check_preset({**before, **fields})
        armed = await self.breakpoints.change(point_id, fields)
        self._tell("breakpoint_changed", armed.point)
        return armed

    async def remove_breakpoint(self, point_id: str) -> None:
        self._tell("breakpoint_removed", await self.breakpoints.remove(point_id))

    async def clear_breakpoints(self) -> list[CallBreakpoint]:
        gone = await self.breakpoints.clear()
        for point in gone:
            self._tell("breakpoint_removed", point)
        return gone

    def _tell(self, event: str, point: CallBreakpoint) -> None:
        for session in self.sessions.values():
            if not session.over and point.session_id in (None, session.id):
                session.event(event, breakpoint_id=point.id, function=point.function)

    def _check_preset(self, fields: Mapping[str, Any]) -> None:
        """A decision made beforehand is as good as one made at a hold, or refused now."""
        preset = fields.get("action")
        if preset is None:
            return
        when = When(fields.get("when") or When.BEFORE)
        options = dict(preset)
        action = options.pop("action", None)
        if action not in ALLOWED[when]:
            raise errors.InvalidDecision(
                f"action: {action!r} is not possible {when.value} a call",
                hint=f"Possible are: {', '.join(ALLOWED[when])}.",
                field="action",
            )
        self.decider.prepared(action, options, lambda name: self._check_stand_in(fields, name))

    def _check_stand_in(self, fields: Mapping[str, Any], name: str) -> None:
        """Whether a function can replace those that a breakpoint names, as far as both are known;
        who sets a breakpoint early is answered when it is hit."""
        wanted, only = fields.get("function"), fields.get("session_id")
        if not isinstance(wanted, str):
            return
        signatures = {
            signature
            for session in self.sessions.values()
            if not session.over and only in (None, session.id)
            for signature in session.registered.get(name, ())
        }
        called = [self.functions.by_id[each] for each in self.functions.named(wanted)]
        known = {each.signature for each in called if each.name != name}
        if known and signatures and not known & signatures:
            raise errors.InvalidDecision(
                f"{name} cannot replace {wanted}: no function of that name and signature was "
                "registered",
                field="function_name",
                functions=[],
                signature=" or ".join(sorted(map(str, known))),
            )

    # -- holds ------------------------------------------------------------------------------

    def _hold(self, running: _Running, when: When, point: CallBreakpoint, waits: bool) -> Json:
        record, settings = running.record, self._settings()
        timeout_ms = settings.call_hold_timeout_ms
        if not waits:
            timeout_ms = min(timeout_ms, _SEED_TIMEOUT_MS)
        session = self.sessions[record.session_id]
        held = Held(new_hold_id(), record, when, evaluates=running.evaluates, timeout_ms=timeout_ms)
        held.breakpoint_id = point.id
        self._ledger.open(self._hold_of(held))
        self._held[held.id] = held
        self._remember(held)
        session.holds.add(held.id)
        held.timer = asyncio.get_running_loop().call_later(
            timeout_ms / 1000 + _GRACE_SECONDS, self._withdraw, held, "nobody decided in time"
        )
        session.event(
            "hold_opened",
            hold_id=held.id,
            call_id=record.id,
            method_name=record.function.name,
            when=when.value,
            breakpoint_id=point.id,
        )
        return {
            "action": "poll",
            "poll_interval_ms": settings.call_poll_interval_ms,
            "poll_url": f"/api/poll/{record.id}",
            "timeout_ms": timeout_ms,
            "hold_id": held.id,
        }

    def _hold_of(self, held: Held) -> Hold:
        record = held.call
        thread = (record.thread or {}).get("id")
        return Hold(
            id=held.id,
            session_id=record.session_id,
            kind=Kind.CALLS,
            reason="breakpoint",
            opened_at=held.opened_at,
            thread_id=thread if isinstance(thread, int) else None,
            location=self.location(record),
            moment=Moment(held.when.value),
            allows=ALLOWED[held.when],
        )

    def location(self, record: CallRecord) -> Location | None:
        frames = self.tables.stack(record.stack) if record.stack is not None else []
        return filter_values.place(frames)

    def _remember(self, held: Held) -> None:
        self._held_calls[held.call.number] = held
        if len(self._held_calls) > _REMEMBERED:
            self._held_calls.popitem(last=False)

    def _settled(self, held: Held) -> CallSession:
        self._held.pop(held.id, None)
        session = self.sessions[held.call.session_id]
        session.holds.discard(held.id)
        return session

    def _withdraw(self, held: Held, why: str) -> None:
        if self._ledger.withdraw(held.id, why) is None:
            return
        session = self._settled(held)
        held.withdrawn(why)
        session.event("hold_withdrawn", hold_id=held.id, call_id=held.call.id, why=why)

    def _nothing_to_hold(self, record: CallRecord) -> None:
        """A call that ended while it was held (its caller gave up) waits for nobody any more."""
        held = self._held_calls.get(record.number)
        if held is not None and held.id in self._held:
            self._withdraw(held, "its call has ended")

    def held(self, hold_id: str) -> Held:
        """A call's hold that is open; what became of it otherwise."""
        self._ledger.still_open(hold_id)
        return self._held[hold_id]

    def decide(self, hold_id: str, action: str, by: str, options: Mapping[str, Any]) -> Held:
        held = self.held(hold_id)
        if action in ALLOWED[held.when]:
            prepared = self.decider.prepared(
                action, options, lambda name: self.check_replacement(held.call, name)
            )
        else:
            prepared = Prepared({}, {})  # the ledger says what is allowed
        self._ledger.decide(hold_id, Decision(action, by, prepared.kept))
        session = self._settled(held)
        if action != "continue":
            self._decided(held, prepared, by)
        held.decided(prepared.told)
        session.event("hold_decided", hold_id=hold_id, call_id=held.call.id, action=action, by=by)
        return held

    def _decided(self, held: Held, prepared: Prepared, by: str) -> None:
        running = self._running.get(held.call.number) or _Running(held.call, held.evaluates)
        self._note(running, held.when, prepared, by)
        self.tables.update_call(running.record)

    def resume_all(self, session_id: str | None, by: str) -> list[str]:
        """Continue every held call, of one session or of all."""
        waiting = [
            held.id
            for held in self._held.values()
            if session_id is None or held.call.session_id == session_id
        ]
        for hold_id in waiting:
            self.decide(hold_id, "continue", by, {})
        return waiting

    def replacements(self, record: CallRecord) -> list[str]:
        """What may stand in for the function of a call: its application registered it by that
        name (so that it has it at hand), and it takes the same arguments."""
        called, session = record.function, self.sessions[record.session_id]
        return [
            name
            for name, signatures in session.registered.items()
            if name != called.name and called.signature in signatures
        ]

    def check_replacement(self, record: CallRecord, name: str) -> None:
        candidates = self.replacements(record)
        if name not in candidates:
            raise errors.InvalidDecision(
                f"{name} cannot replace {record.function.name}: no function of that name and "
                "signature was registered",
                hint="`functions` in the details are those that can.",
                field="function_name",
                functions=candidates,
                signature=record.function.signature,
            )

    def the_hold(self, session_id: str) -> str:
        """The hold that a session is at: the newest of those that are open."""
        holds = self._ledger.open_holds(session_id)
        if not holds:
            session = self.session(session_id)
            raise errors.WrongState(
                f"no call of session {session_id} is held",
                hint="Set a breakpoint with POST /api/breakpoints and let the call come.",
                session_id=session_id,
                state=session.state.value,
                possible=["delete"],
            )
        return holds[-1].id

    async def evaluate(self, hold_id: str, expression: str, timeout: float | None) -> Json:
        """A value as a program's evaluate shows it; it is made in the application."""
        seconds = timeout or self._settings().evaluate_timeout
        answer = await self.held(hold_id).evaluate(expression, seconds)
        if "error" in answer:
            kind, message = (str(answer["error"].get(name, "")) for name in ("type", "message"))
            raise errors.EvaluationFailed(
                f"{kind}: {message}", exception_type=kind, expression=expression
            )
        preview = dict(answer["result"])
        shown = {"result": preview.pop("text"), "variable_reference": 0, "reference": 0, **preview}
        return {**shown, "hold_id": hold_id}

    # -- the application waits ----------------------------------------------------------------

    async def poll(self, call_id: str, seconds: float) -> Json:
        return await self._polled(call_id).polled(seconds)

    def _polled(self, call_id: str) -> Held:
        number = call_number(call_id)
        held = None if number is None else self._held_calls.get(number)
        if held is None:
            raise errors.CallNotFound(f"no call {call_id} is held", call_id=call_id)
        return held

    def give_up(self, call_id: str) -> None:
        """Its application waits no longer; if it was decided meanwhile, that stays so."""
        self._withdraw(self._polled(call_id), "its caller waits no longer")

    def answer(self, call_id: str, request_id: str, answer: Json) -> bool:
        return self._polled(call_id).answered(request_id, answer)


_WHY = {
    "process_ended": "its process has ended",
    "ended": "its session was ended",
    "deleted": "its session was deleted",
    "server_stopped": "the server stops",
}


def _duration(given: Complete, before: CallRecord) -> int | None:
    if given.duration_ns is not None:
        return given.duration_ns
    if given.timestamp is None or before.started_at is None:
        return None
    return max(0, int((given.timestamp - before.started_at) * 1e9))
