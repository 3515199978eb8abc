"""One application that reports its calls, from its ON to its end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import psutil

from holdfast import errors
from holdfast.model.hold import Hold
from holdfast.model.records import SessionRecord
from holdfast.model.session import Kind, State
from holdfast.service.calls.call_renderer import brief_json, held_json
from holdfast.service.event_journal import EventJournal
from holdfast.service.event_stream import EventStream
from holdfast.service.session import DecisionRequest, Session
from holdfast.store import Store
from holdfast.targets.program.process_killer import open_pidfd
from holdfast.wire import rest
from holdfast.wire.session_answers import EventList

if TYPE_CHECKING:
    from holdfast.service.calls.call_service import Calls

Json = dict[str, Any]
_LOOK_SECONDS = 1.0
_MOST_KEPT = 1000


class CallSession(Session):
    """It runs while its process does; it is paused while one of its calls is held."""

    kind = Kind.CALLS
    over: bool = False

    def __init__(
        self,
        session_id: str,
        calls: Calls,
        store: Store,
        stream: EventStream,
        about: Mapping[str, Any],
        created_at: float | None = None,
    ) -> None:
        super().__init__()
        self.id = session_id
        self.about = dict(about)
        self.created_at = time.time() if created_at is None else created_at
        self.reason: str | None = None
        self.watched = True
        self.calls = 0
        self.taken = 0  # the last batch of calls that was taken
        self.holds: set[str] = set()
        self.functions: list[int] = []
        self.registered: dict[str, list[str | None]] = {}  # signatures by name
        self.journal = EventJournal(session_id, store, stream)
        self._calls = calls
        self._store = store
        self._watch: ProcessWatch | None = None

    @property
    def name(self) -> str | None:
        if self.about.get("name"):
            return str(self.about["name"])
        argv = self.about.get("argv")
        return os.path.basename(str(argv[0])) if argv else None

    @property
    def pid(self) -> int | None:
        return self.about.get("pid")

    @property
    def is_leased(self) -> bool:
        return self.about.get("mode") == "leased"

    @property
    def state(self) -> State:
        if self.over:
            return State.TERMINATED
        return State.PAUSED if self.holds else State.RUNNING

    def event(self, kind: str, **body: Any) -> None:
        self.journal.add(kind, **body)
        self.wake()

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

    def summary(self) -> Json:
        answer: Json = {
            "session_id": self.id,
            "status": self.state.value,
            "kind": self.kind.value,
            "name": self.name,
            "created_at": rest.timestamp(self.created_at),
            "pid": self.pid,
            "calls": self.calls,
            "holds": sorted(self.holds),
            "last_event": self.journal.seq,
        }
        for name in ("argv", "cwd", "python", "script", "module", "path"):
            if name in self.about:
                answer[name] = self.about[name]
        if self.over:
            answer["reason"] = self.reason
        return answer

    async def detail(self) -> Json:
        return self.summary()

    @property
    def last_seq(self) -> int:
        return self.journal.seq

    async def read_events(
        self, since: int, limit: int, types: frozenset[str] | None = None
    ) -> EventList:
        return self.journal.page(since, limit, types)

    async def delete(self) -> None:
        await self._calls.delete(self)

    async def decide(self, hold: Hold, request: DecisionRequest) -> Json:
        held = self._calls.decide(hold.id, request.action, request.options.by, request.fields)
        return {
            "hold_id": hold.id,
            "action": request.action,
            "call_id": held.call.id,
            "session_id": self.id,
            "status": self.state.value,
        }

    async def continue_holds(self, by: str) -> list[str]:
        return self._calls.resume_all(self.id, by)

    def describe_hold(self, hold: Hold, *, brief: bool) -> Json:
        held = self._calls.held(hold.id)
        return brief_json(held) if brief else held_json(self._calls, held)

    async def evaluate(
        self,
        expression: str,
        *,
        hold_id: str | None = None,
        frame_id: int = 0,
        context: str | None = None,
        timeout: float | None = None,
    ) -> Json:
        """The value in the frame of whoever makes the held call."""
        hold_id = hold_id or self._calls.the_hold(self.id)
        return await self._calls.evaluate(hold_id, expression, timeout)

    def require_open(self) -> None:
        if self.over:
            raise errors.WrongState(
                f"session {self.id} has ended: {self.reason}",
                hint="POST /api/call/session begins another.",
                session_id=self.id,
                state=self.state.value,
                possible=["delete"],
            )

    def registers(self, name: str, signature: str | None) -> bool:
        """Its application has a function at hand; False when that was known."""
        known = self.registered.setdefault(name, [])
        if signature in known:
            return False
        known.append(signature)
        self.save()
        return True

    @property
    def is_watched(self) -> bool:
        """Is its process seen to live?"""
        return self._watch is not None

    def watch(self, on_end: Callable[[], None]) -> None:
        """Hear of the end of its process, if it is one of this machine that we can see."""
        if self.pid is not None and self.watched:
            self._watch = ProcessWatch.begun(self.pid, self.about.get("process_started"), on_end)
            if self._watch is not None:
                self.about["process_started"] = self._watch.started

    def end(self, reason: str) -> None:
        if self._watch is not None:
            self._watch.close()
            self._watch = None
        if not self.over:
            self.over, self.reason = True, reason
            self.event("terminated", reason=reason)

    def save(self) -> Any:
        """Write what is shown of it after a restart of the server."""
        document = {
            "about": self.about,
            "state": self.state.value,
            "reason": self.reason,
            "calls": self.calls,
            "functions": self.functions[:_MOST_KEPT],
            "registered": dict(list(self.registered.items())[:_MOST_KEPT]),
        }
        record = SessionRecord(self.id, self.kind.value, self.created_at, time.time(), document)
        return self._store.put_session(record)


class ProcessWatch:
    """Calls back once when a process is gone: the one meant, not one that got its pid later."""

    def __init__(self, process: psutil.Process, pidfd: int | None, on_end: Callable[[], None]):
        self.started = process.create_time()
        self._process = process
        self._pidfd = pidfd
        self._on_end = on_end
        self._looking: asyncio.Task[None] | None = None
        if pidfd is not None:
            asyncio.get_running_loop().add_reader(pidfd, self._ended)
        else:
            self._looking = asyncio.create_task(self._look())

    @classmethod
    def begun(
        cls, pid: int, started: float | None, on_end: Callable[[], None]
    ) -> ProcessWatch | None:
        """None: there is no such process (any more), as far as can be seen from here."""
        try:
            process = psutil.Process(pid)
            if started is not None and abs(process.create_time() - started) > 0.01:
                return None
            return cls(process, open_pidfd(pid), on_end)
        except (psutil.Error, ValueError, OverflowError):
            return None

    async def _look(self) -> None:
        """Without pidfds there is nothing to wait for; so look from time to time."""
        while self._is_alive():  # noqa: ASYNC110
            await asyncio.sleep(_LOOK_SECONDS)
        self._ended()

    def _is_alive(self) -> bool:
        try:
            return self._process.is_running() and self._process.status() != psutil.STATUS_ZOMBIE
        except psutil.Error:
            return False

    def _ended(self) -> None:
        self.close()
        self._on_end()

    def close(self) -> None:
        if self._pidfd is not None:
            asyncio.get_running_loop().remove_reader(self._pidfd)
            with contextlib.suppress(OSError):
                os.close(self._pidfd)
            self._pidfd = None
        if self._looking is not None and self._looking is not asyncio.current_task():
            self._looking.cancel()
        self._looking = None
