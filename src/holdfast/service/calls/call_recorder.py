"""Records calls that are reported one by one, as they start and complete."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass, field

from msgspec.structs import asdict

from holdfast import errors
from holdfast.model.call import CallRecord, CallStatus, When
from holdfast.model.decision import CONTINUE
from holdfast.service.calls.call_holds import CallHolds
from holdfast.service.calls.call_interceptor import CallInterceptor
from holdfast.service.calls.call_sessions import CallSessions
from holdfast.service.calls.content_cache import ContentCache
from holdfast.service.calls.function_catalog import FunctionCatalog
from holdfast.service.calls.running_calls import RunningCall, RunningCalls
from holdfast.service.calls.stack_cache import StackCache
from holdfast.store import CallLog, StoreProblem
from holdfast.wire.call_answers import CompleteAnswer, StartAnswer
from holdfast.wire.call_requests import CompleteRequest, Registration, StartRequest


@dataclass(eq=False)
class CallRecorder:
    """Numbers and stores calls, and tells their applications what to do with them."""

    _call_log: CallLog
    _sessions: CallSessions
    _functions: FunctionCatalog
    _contents: ContentCache
    _stacks: StackCache
    _running: RunningCalls
    _interceptor: CallInterceptor
    _holds: CallHolds
    _origin: int
    _last_number: int = field(default=0, init=False)
    _first_number: int = field(default=0, init=False)

    async def load(self) -> None:
        """Mark calls that the last server left running as lost. They may still complete."""
        with contextlib.suppress(StoreProblem):  # a full disk is no reason not to start
            await self._call_log.lose_running()
        self._last_number = await self._call_log.last_number()
        self._first_number = self._next_number()

    async def register(self, request: Registration) -> None:
        """Note a function that an application has registered."""
        session = self._sessions.accept_report(request.session_id)
        function = self._functions.note_use(
            session,
            request.name,
            request.alias,
            request.qualname,
            module=request.module,
            signature=request.signature,
            file=request.file,
            line=request.line,
            target_cid=request.target_cid,
            parameters=request.parameters,
        )
        if session.register(request.name, request.signature):
            session.event("function_registered", name=request.name, signature=function.signature)
        await session.wait_until_saved()

    # -- start ------------------------------------------------------------------------------

    async def start(self, request: StartRequest) -> StartAnswer:
        self._sessions.accept_report(request.session_id)
        await self._contents.take(request.items)
        session = self._sessions.accept_report(request.session_id)  # it may have ended meanwhile
        function = self._functions.note_use(
            session,
            request.method_name,
            request.alias,
            request.qualname,
            signature=request.signature,
            module=request.module,
            parameters=request.parameters,
        )
        record = CallRecord(
            number=self._next_number() if request.began is None else request.began,
            session_id=session.id,
            function=function,
            call_type=request.call_type,
            target=request.target_cid,
            args=tuple([item.cid for item in request.args]),
            kwargs={name: item.cid for name, item in request.kwargs.items()},
            stack=self._stacks.store(request.frames),
            parent=request.parent,
            thread=request.thread,
            task=request.task,
            started_at=request.timestamp,
            target_age_ns=request.target_age_ns,
            origin=self._origin,
        )
        self._call_log.append_call(record)
        session.count_calls(1)
        running = RunningCall(record, session, request.evaluates)
        self._running.add(running)
        instruction = None
        if request.began is None:
            instruction = await self._interceptor.intercept(running, When.BEFORE)
        if running.record is not record and self._running.get(record.number) is running:
            self._call_log.update_call(running.record)  # with what was decided
        if session.is_saving:
            await session.wait_until_saved()
        if instruction is None:
            return StartAnswer(call_id=record.id, action=CONTINUE.name)
        return StartAnswer(call_id=record.id, **asdict(instruction))

    def _next_number(self) -> int:
        """A new call number: the time in microseconds and three more digits, always increasing."""
        now = int(time.time() * 1_000_000) * 1000 + 1
        self._last_number = now if now > self._last_number else self._last_number + 1
        return self._last_number

    # -- completion -------------------------------------------------------------------------

    async def complete(self, request: CompleteRequest) -> CompleteAnswer:
        running = self._running.get(request.number) or await self._find_lost(request)
        await self._contents.take(request.items)
        if self._running.has_completed(request.number):
            raise _already_completed(running.record)  # by another report, meanwhile
        before = running.record
        record = _complete_record(before, request)
        self._running.complete(record)
        self._holds.withdraw_call(record)
        running.record = record
        moment = When.AFTER if record.status is CallStatus.SUCCESS else When.EXCEPTION
        instruction = await self._interceptor.intercept(running, moment)
        if running.record is not record:
            self._call_log.update_call(running.record)
        return CompleteAnswer() if instruction is None else CompleteAnswer(**asdict(instruction))

    async def _find_lost(self, request: CompleteRequest) -> RunningCall:
        """A call that started under the last server; any other has completed already."""
        record = await self._call_log.call(request.number)
        if record is None:
            raise errors.CallNotFound(f"no call {request.call_id}", call_id=request.call_id)
        was_lost = record.status is CallStatus.LOST and record.number < self._first_number
        if self._running.has_completed(request.number) or not was_lost:
            raise _already_completed(record)
        session = self._sessions.accept_report(record.session_id)
        return RunningCall(record, session, evaluates=False)


def _complete_record(before: CallRecord, request: CompleteRequest) -> CallRecord:
    """Written out, because `dataclasses.replace` takes three times as long."""
    return CallRecord(
        number=before.number,
        session_id=before.session_id,
        function=before.function,
        call_type=before.call_type,
        status=CallStatus(request.status),
        target=before.target,
        args=before.args,
        kwargs=before.kwargs,
        result=request.result.cid if request.result else None,
        exception=request.exception.cid if request.exception else None,
        exception_type=request.exception_type,
        exception_message=request.exception_message,
        stack=before.stack,
        parent=before.parent,
        thread=before.thread,
        task=before.task,
        started_at=before.started_at,
        completed_at=request.timestamp,
        duration_ns=_duration_ns(request, before),
        changed=request.changed,
        decision=before.decision or ({"action": request.action} if request.action else None),
        marker=request.marker,
        target_age_ns=before.target_age_ns,
        origin=before.origin,
    )


def _duration_ns(request: CompleteRequest, before: CallRecord) -> int | None:
    if request.duration_ns is not None:
        return request.duration_ns
    if request.timestamp is None or before.started_at is None:
        return None
    return max(0, int((request.timestamp - before.started_at) * 1e9))


def _already_completed(record: CallRecord) -> errors.CallCompleted:
    return errors.CallCompleted(
        f"call {record.id} was completed already",
        call_id=record.id,
        state=record.status.value,
        possible=[],
    )
