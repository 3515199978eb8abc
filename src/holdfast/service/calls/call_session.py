"""A session of calls: one application that reports them."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from holdfast import errors
from holdfast.core.signatures import bind, parse_signature
from holdfast.model.call import IMPLICIT_SESSION, Application, CallRecord, Function
from holdfast.model.hold import Hold
from holdfast.model.records import SessionRecord
from holdfast.model.session_state import Kind, State
from holdfast.service.calls.process_watch import ProcessWatch
from holdfast.service.event_stream import EventStream
from holdfast.service.session import DecisionRequest
from holdfast.service.stored_session import StoredSession
from holdfast.store import PendingWrite, Store, StoreProblem
from holdfast.wire import rest
from holdfast.wire.call_answers import (
    CallDecisionAnswer,
    CallEvaluation,
    CallHold,
    CallHoldDetail,
    CallSessionAnswer,
)
from holdfast.wire.described import none_to_unset
from holdfast.wire.live_messages import SessionProgress
from holdfast.wire.session_requests import EvaluateHold

if TYPE_CHECKING:
    from holdfast.service.calls.call_sessions import CallSessions

_MAX_SAVED = 1000
_APPLICATION_FIELDS = frozenset(field.name for field in dataclasses.fields(Application))


class CallSession(StoredSession):
    """It runs while its process runs, and is paused while one of its calls is held."""

    kind = Kind.CALLS
    over: bool = False

    def __init__(
        self,
        sessions: CallSessions,
        session_id: str,
        store: Store,
        stream: EventStream,
        application: Application,
        created_at: float | None = None,
        last_seq: int = 0,
    ) -> None:
        super().__init__(session_id, store, stream, created_at, last_seq)
        self.application = application
        self.reason: str | None = None
        self.watched = True
        self.calls = 0
        self.last_batch = 0  # the sequence number of the last batch that was recorded
        self.holds: set[str] = set()
        self.functions: list[int] = []
        self.registered: dict[str, list[str | None]] = {}  # signatures by name
        self._sessions = sessions
        self._directory = store.directory
        self._watch: ProcessWatch | None = None
        self._saving: PendingWrite | None = None
        self.may_repeat = False
        """Whether its next batch may have calls that the last server took and did not confirm."""

    @classmethod
    async def restore(
        cls, sessions: CallSessions, record: SessionRecord, store: Store, stream: EventStream
    ) -> CallSession:
        """A session of the last server. `reason` is None unless that server had ended it."""
        document = record.document
        application = _parse_application(document.get("about") or {})
        last_seq = await store.feed.last_seq(record.id)
        session = cls(sessions, record.id, store, stream, application, record.created_at, last_seq)
        session.calls = int(document.get("calls") or 0)
        session.registered = dict(document.get("registered") or {})
        session.functions = list(document.get("functions") or [])
        if document.get("state") == State.TERMINATED.value:
            session.reason = document.get("reason")
        return session

    @property
    def name(self) -> str | None:
        argv = self.application.argv
        return self.application.name or (os.path.basename(argv[0]) if argv else None)

    @property
    def pid(self) -> int | None:
        return self.application.pid

    @property
    def is_implicit(self) -> bool:
        """Whether it is the session of applications that name none."""
        return self.id == IMPLICIT_SESSION

    @property
    def is_leased(self) -> bool:
        return self.application.mode == "leased"

    @property
    def state(self) -> State:
        if self.over:
            return State.TERMINATED
        return State.PAUSED if self.holds else State.RUNNING

    # -- operations -------------------------------------------------------------------------

    def not_a_program(self) -> errors.WrongState:
        return errors.WrongState(
            f"session {self.id} is of kind {self.kind.value}: it has no program to steer",
            hint="Its calls are at GET /api/calls?session=…, what it holds at GET /api/holds.",
            session_id=self.id,
            kind=self.kind.value,
            state=self.state.value,
            possible=["evaluate", "events", "delete"],
        )

    async def detail(self) -> CallSessionAnswer:
        return self.summary()

    async def delete(self) -> None:
        await self._sessions.delete(self)

    async def decide(self, hold: Hold, request: DecisionRequest) -> CallDecisionAnswer:
        holds, by = self._sessions.holds, request.options.by
        settled = await holds.decide(hold.id, request.action, by, request.fields)
        verdict = settled.verdict
        return CallDecisionAnswer(
            session_id=self.id,
            status=self.state.value,
            hold_id=hold.id,
            action=request.action,
            call_id=settled.held.record.id,
            checked=verdict is not None,
            note=UNSET if verdict is None else none_to_unset(verdict.note),
        )

    async def continue_holds(self, by: str) -> list[str]:
        return await self._sessions.holds.continue_all(self, by)

    @property
    def label(self) -> str | None:
        return self.name

    def title_hold(self, hold: Hold) -> str:
        return self._sessions.renderer.title_hold(self._sessions.holds.require_open(hold.id))

    def summarize_hold(self, hold: Hold) -> CallHold:
        return self._sessions.holds.require_open(hold.id).summarize(hold)

    async def describe_hold(self, hold: Hold) -> CallHoldDetail:
        held = self._sessions.holds.require_open(hold.id)
        return await self._sessions.renderer.build_hold_detail(hold, held)

    async def evaluate(self, request: EvaluateHold, hold_id: str | None = None) -> CallEvaluation:
        """The value of an expression in the frame of the caller."""
        holds = self._sessions.holds
        held = holds.require_open(hold_id) if hold_id else holds.newest_of(self)
        return await holds.evaluate(held, request.expression, request.timeout, request.max_chars)

    def summary(self) -> CallSessionAnswer:
        application = self.application
        return CallSessionAnswer(
            session_id=self.id,
            status=self.state.value,
            name=self.name,
            created_at=rest.timestamp(self.created_at),
            pid=self.pid,
            calls=self.calls,
            holds=sorted(self.holds),
            last_event=self.last_seq,
            argv=UNSET if application.argv is None else list(application.argv),
            cwd=none_to_unset(application.cwd),
            python=none_to_unset(application.python),
            script=none_to_unset(application.script),
            module=none_to_unset(application.module),
            path=UNSET if application.path is None else list(application.path),
            reason=self.reason if self.over else UNSET,
        )

    def require_open(self) -> None:
        if self.over:
            raise errors.WrongState(
                f"session {self.id} has ended: {self.reason}",
                hint="POST /api/call/session begins another.",
                session_id=self.id,
                state=self.state.value,
                possible=["delete"],
            )

    def progress(self) -> SessionProgress:
        progress = super().progress()
        progress.calls = self.calls
        return progress

    def count_calls(self, count: int) -> None:
        """Count calls that were recorded."""
        self.calls += count
        self.note_change()

    # -- functions --------------------------------------------------------------------------

    def add_function(self, function: Function) -> None:
        """Note that the application uses a function."""
        self.functions.append(function.id)
        self.save()

    def register(self, name: str, signature: str | None) -> bool:
        """Note that the application has registered a function; False when that was known."""
        signatures = self.registered.setdefault(name, [])
        if signature in signatures:
            return False
        signatures.append(signature)
        self.save()
        return True

    def list_replacements(self, record: CallRecord) -> list[str]:
        """The registered functions that take the arguments of a call, so that they may replace."""
        return [
            name
            for name, signatures in self.registered.items()
            if name != record.function.name
            and any(_find_misfit(signature, record) is None for signature in signatures)
        ]

    def check_replacement(self, record: CallRecord, name: str) -> None:
        candidates = self.list_replacements(record)
        if name not in candidates:
            signatures = self.registered.get(name)
            why = "no function of that name was registered"
            if signatures:
                why = f"it does not take these arguments: {_find_misfit(signatures[-1], record)}"
            raise errors.InvalidDecision(
                f"{name} cannot replace {record.function.name}: {why}",
                hint="`functions` in the details are those that can.",
                field="function_name",
                functions=candidates,
                signature=record.function.signature,
            )

    # -- its process ------------------------------------------------------------------------

    @property
    def is_watched(self) -> bool:
        """Whether its process is known to be alive."""
        return self._watch is not None

    def watch(self, on_end: Callable[[], None]) -> None:
        """Call `on_end` when its process ends, if it can be seen from here."""
        if self.pid is not None and self.watched:
            started = self.application.process_started
            self._watch = ProcessWatch.open(self.pid, started, on_end)
            if self._watch is not None:
                self.application = dataclasses.replace(
                    self.application, process_started=self._watch.started
                )

    def end(self, reason: str) -> None:
        if self._watch is not None:
            self._watch.close()
            self._watch = None
        if not self.over:
            self.over, self.reason = True, reason
            self.event("terminated", reason=reason)

    def save(self) -> None:
        """Store what a restarted server needs to know of it."""
        document = {
            "about": _to_document(self.application),
            "state": self.state.value,
            "reason": self.reason,
            "calls": self.calls,
            "functions": self.functions[:_MAX_SAVED],
            "registered": dict(list(self.registered.items())[:_MAX_SAVED]),
        }
        record = SessionRecord(self.id, self.kind.value, self.created_at, time.time(), document)
        self._saving = self._directory.put_session(record)

    @property
    def is_saving(self) -> bool:
        return self._saving is not None and not self._saving.done()

    async def wait_until_saved(self) -> None:
        """Wait until the last `save` is committed. A disk that fails is no reason to wait."""
        if self._saving is not None:
            with contextlib.suppress(StoreProblem):
                await self._saving


def _find_misfit(signature: str | None, record: CallRecord) -> str | None:
    """Why a function of this signature does not take the arguments of a call, if it is known."""
    parameters = parse_signature(signature)
    if parameters is None or signature == record.function.signature:
        return None
    return bind(parameters, record.args, record.kwargs).problem


def _to_document(application: Application) -> dict[str, Any]:
    fields = dataclasses.asdict(application)
    return {name: value for name, value in fields.items() if value is not None}


def _parse_application(document: dict[str, Any]) -> Application:
    fields = {name: value for name, value in document.items() if name in _APPLICATION_FIELDS}
    for name in ("argv", "path"):
        if fields.get(name) is not None:
            fields[name] = tuple(map(str, fields[name]))
    return Application(**fields)
