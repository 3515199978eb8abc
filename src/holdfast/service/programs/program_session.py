"""A program's life seen from outside: state, stops, output, events, and who waits for what."""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any

from holdfast import errors
from holdfast.core import lifecycle
from holdfast.core.ledger import Ledger
from holdfast.core.lifecycle import Signal
from holdfast.model.breakpoint import ExceptionFilters
from holdfast.model.config import SessionConfig, Watch
from holdfast.model.decision import Decision
from holdfast.model.hold import Hold
from holdfast.model.launch import Attach, Launch
from holdfast.model.records import SessionRecord
from holdfast.model.session import Kind, State
from holdfast.model.stop import Stop
from holdfast.service.event_journal import EventJournal
from holdfast.service.event_stream import EventStream
from holdfast.service.holds import new_hold_id
from holdfast.service.programs.breakpoint_set import BreakpointSet
from holdfast.service.programs.output_buffer import OutputBuffer
from holdfast.service.programs.owned_processes import OwnedProcesses
from holdfast.service.programs.project_breakpoints import ProjectBreakpoints
from holdfast.service.programs.run_listener import RunListener
from holdfast.service.programs.source_files import SourceFiles, Stamp
from holdfast.service.programs.thread_stops import ThreadStops, held_with
from holdfast.service.settings import Settings
from holdfast.service.waitable import Waitable
from holdfast.store import Store
from holdfast.targets.program.attaching import Door
from holdfast.targets.program.target import Target

ACTIONS = ("continue", "step-over", "step-into", "step-out")
SETTLED = frozenset({State.PAUSED, State.WAITING_FOR_INPUT, State.TERMINATED, State.FAILED})
BUSY = frozenset({State.LAUNCHING, State.RUNNING})
_THREAD_FRAMES = 1_000_000


class ProgramSession(Waitable):
    """Listens to its target (through a `RunListener`) and answers for it."""

    kind = Kind.PROGRAM

    def __init__(
        self,
        session_id: str,
        config: SessionConfig,
        *,
        settings: Callable[[], Settings],
        store: Store,
        projects: ProjectBreakpoints,
        ledger: Ledger,
        sources: SourceFiles,
        stream: EventStream,
        parent_id: str | None = None,
        created_at: float | None = None,
    ) -> None:
        super().__init__()
        self.id = session_id
        self.config = config
        self.parent_id = parent_id
        self.created_at = time.time() if created_at is None else created_at
        self.state = State.CREATED
        self.reason: str | None = None
        self.exit_code: int | None = None
        self.error: dict[str, Any] | None = None
        self.launch: Launch | None = None
        self.attached: Attach | None = None
        self.project: str | None = config.cwd
        self.target: Target | None = None
        self.stop: Stop | None = None
        self.hold: Hold | None = None
        self.exceptions = ExceptionFilters()
        self.watches: list[Watch] = []
        self.children: list[str] = []
        self.subprocesses: list[dict[str, Any]] = []
        self.breakpoints = BreakpointSet(sources)
        self.sources = sources
        self.journal = EventJournal(session_id, store, stream)
        self._settings = settings
        self.output_buffer = OutputBuffer(self.output_limit)
        self.output_mark = 0
        self.loaded: dict[str, Stamp] = {}
        self.processes = OwnedProcesses()
        self.door: Door | None = None
        self.following: asyncio.Task[None] | None = None
        self.end_reason: str | None = None
        self.expired = False
        self.closed = False
        self._start: asyncio.Task[None] | None = None
        self.recovered = False
        self.busy = asyncio.Lock()
        self.forgotten = False
        self.shared: tuple[str | None, list[dict[str, Any]]] = (None, [])
        self.unsaved: errors.NotStored | None = None
        self._asides: set[asyncio.Task[None]] = set()
        self._store = store
        self._projects = projects
        self._ledger = ledger
        self._other_threads: dict[int, int] = {}
        self.standing = ThreadStops()
        self._run = 0
        self._watch_numbers = itertools.count(1)
        self.touch()

    # -- settings ---------------------------------------------------------------------------

    @property
    def settings(self) -> Settings:
        return self._settings()

    @property
    def output_limit(self) -> int:
        return self.config.output_limit_bytes or self.settings.output_limit_bytes

    @property
    def evaluate_timeout(self) -> float:
        return self.config.evaluate_timeout or self.settings.evaluate_timeout

    @property
    def timeout_minutes(self) -> float:
        return self.config.timeout_minutes or self.settings.idle_timeout_minutes

    # -- idle time --------------------------------------------------------------------------

    def touch(self) -> None:
        """Somebody asked something of it."""
        self.active_at = time.monotonic()

    @property
    def seconds_left(self) -> float:
        """Until it is idle for too long; a program that runs counts as activity."""
        if self.state in BUSY:
            self.touch()
        return self.active_at + self.timeout_minutes * 60 - time.monotonic()

    @property
    def warning(self) -> str | None:
        if self.expired:
            return None
        left = self.seconds_left / 60
        if left <= min(self.settings.warning_minutes, self.timeout_minutes / 2):
            minutes = max(1, round(left))
            return f"Session will expire in {minutes} minute{'s' if minutes > 1 else ''}"
        return None

    # -- waiting ----------------------------------------------------------------------------

    async def settled(self, seconds: float) -> bool:
        """Wait for a stop, a wish for input, or the end."""
        return await self.wait_until(lambda: self.state in SETTLED, seconds)

    async def written(self, since: int, seconds: float) -> bool:
        return await self.wait_until(
            lambda: self.output_buffer.cursor > since or self.over, seconds
        )

    @property
    def over(self) -> bool:
        return self.state in (State.TERMINATED, State.FAILED)

    # -- moving -----------------------------------------------------------------------------

    def require(self, operation: str) -> None:
        lifecycle.require(self.state, operation)

    @property
    def follows_children(self) -> bool:
        return bool(
            self.parent_id
            or (self.launch and self.launch.debug_subprocesses)
            or (self.attached and self.attached.debug_subprocesses)
        )

    def live_target(self, operation: str) -> Target:
        """The target, which must be in a state that allows this."""
        self.require(operation)
        return self.current_target()

    def current_target(self) -> Target:
        if self.target is None or self.over:
            raise lifecycle.not_now(self.state, "no program runs")
        return self.target

    def move(self, signal: Signal) -> bool:
        """Take the signal; False when it came too late to matter."""
        state = lifecycle.absorb(self.state, signal)
        if state is None:
            return False
        if self.state in BUSY:
            self.touch()  # its idle time begins when it stops running
        self.state = state
        self.wake()
        return True

    def event(self, kind: str, **body: Any) -> None:
        self.journal.add(kind, **body)
        self.wake()

    def begin(self, *, starting: bool = False) -> RunListener:
        """A new run of a program: what the last one left behind goes, its listener too.

        `starting`: an end before `started` is told by the error of whoever starts it.
        """
        self._run += 1
        self.reason = self.exit_code = self.error = None
        self.target = None
        self.subprocesses = []
        self.standing.clear()
        self.output_buffer.new_line()
        self.close_hold("restarted")
        return RunListener(self, self._run, starting=starting)

    def running(self, target: Target) -> None:
        """Its program has begun (and may have stopped, or even ended, by now)."""
        self.target = target
        self.breakpoints.import_path = target.import_path or self.breakpoints.import_path
        self.journal.add("started", pid=target.pid, route=target.route)
        if self.state is State.LAUNCHING:
            self.move(Signal.STARTED)
        else:
            self.wake()

    def is_current(self, run: int) -> bool:
        return run == self._run

    # -- holds ------------------------------------------------------------------------------

    def opened(self, stop: Stop) -> None:
        """The program stopped: everything is known before anybody hears of it."""
        if lifecycle.absorb(self.state, Signal.STOPPED) is None:
            return
        for breakpoint_id, hits in stop.breakpoints:
            self.breakpoints.note(breakpoint_id, hits=hits)
        if self.state is State.PAUSED and self.stop and self.stop.thread_id != stop.thread_id:
            self.standing.beside[stop.thread_id] = stop
            self._tell_stop(stop)
        else:
            self.show(stop)

    def show(self, stop: Stop) -> None:
        """Be paused at this stop."""
        self.close_hold("another stop")
        self.stop = stop
        self.standing.shown(stop)
        self._other_threads = {}
        self.hold = Hold(
            id=new_hold_id(),
            session_id=self.id,
            kind=self.kind,
            reason=stop.reason,
            opened_at=time.time(),
            thread_id=stop.thread_id,
            location=stop.location,
            allows=ACTIONS,
        )
        self._ledger.open(self.hold)
        self._tell_stop(stop, hold_id=self.hold.id)
        self.move(Signal.STOPPED)

    def _tell_stop(self, stop: Stop, **more: Any) -> None:
        self.event(
            "stopped",
            **more,
            reason=stop.reason,
            thread_id=stop.thread_id,
            location=dataclasses.asdict(stop.location) if stop.location else None,
            breakpoint_ids=[each for each, _hits in stop.breakpoints],
        )

    def decide(
        self, action: str, by: str, hold_id: str | None = None, thread: int | None = None
    ) -> Stop:
        """Settle the hold by this decision and return the stop that it ends.

        If another thread stopped meanwhile, and nobody has seen that yet, its stop comes first:
        the session is at that now, and nothing runs.
        """
        if hold_id is None:
            self.require(action)
        held = hold_id or (self.hold.id if self.hold else "")
        self._ledger.decide(held, Decision(action, by))
        stop = self.stop
        assert stop is not None
        unseen = self.standing.unseen() if action == "continue" else None
        if unseen is not None:
            self.standing.beside[stop.thread_id] = stop
        elif action == "continue":
            self.standing.clear()
        else:
            self.standing.step(thread or stop.thread_id, stop)
        self._resumed(action, by)
        if unseen is not None:
            self.show(unseen)
        return stop

    def _resumed(self, action: str, by: str) -> None:
        self.hold = self.stop = None
        self.output_mark = self.output_buffer.cursor
        self.journal.add("continued", action=action, by=by)
        self.move(Signal.RESUMED)

    def close_hold(self, why: str) -> None:
        if self.hold is not None:
            self._ledger.withdraw(self.hold.id, why)
        self.hold = self.stop = None

    @property
    def effective_exceptions(self) -> ExceptionFilters:
        """What the session asks for, and what its launch does."""
        chosen = self.exceptions
        asked = self.launch.stop_on_exception if self.launch else False
        if asked is False:
            return chosen
        extra = ("uncaught",) if asked == "uncaught" else ("raised", "uncaught")
        if not chosen.filters and not chosen.types:
            return ExceptionFilters(extra, (), user_code_only=asked is True)
        return ExceptionFilters(
            tuple(dict.fromkeys((*chosen.filters, *extra))), chosen.types, chosen.user_code_only
        )

    # -- frames -----------------------------------------------------------------------------

    def frame(self, frame_id: int) -> tuple[int, int]:
        """The thread and depth that a frame id stands for."""
        if self.stop is None:
            raise lifecycle.not_now(self.state, "frames can be looked at while paused")
        block, depth = divmod(frame_id, _THREAD_FRAMES)
        if frame_id >= 0 and block == 0:
            return self.stop.thread_id, depth
        for thread, number in self._other_threads.items():
            if number == block:
                return thread, depth
        raise errors.FrameNotFound(f"no frame {frame_id}", frame_id=frame_id)

    def frame_id(self, thread: int, depth: int) -> int:
        """0 is the top frame of the thread that stopped; other threads count from elsewhere."""
        if self.stop is None or thread == self.stop.thread_id:
            return depth
        number = self._other_threads.setdefault(thread, len(self._other_threads) + 1)
        return number * _THREAD_FRAMES + depth

    def thread_resumed(self, thread: int, held: list[dict[str, Any]], by: str) -> None:
        """One thread runs on. While others are held the session stays paused, at one of those."""
        if not held:
            self.decide("continue", by)
            return
        self.event("continued", action="continue", by=by, thread_id=thread)
        shown = self.stop
        self.standing.release(thread)
        if shown is not None and shown.thread_id == thread:
            self.show(self.standing.next() or held_with(shown, held))
            self.standing.release(thread)

    async def stopped_again(self, thread: int, seconds: float) -> None:
        """Wait for the next stop of one thread, and turn to it."""

        def reached() -> bool:
            here = self.stop is not None and self.stop.thread_id == thread
            wanting = self.state is State.WAITING_FOR_INPUT
            return here or thread in self.standing.beside or wanting or self.over

        await self.wait_until(reached, seconds)
        found = self.standing.beside.get(thread)
        if found is not None and self.stop is not None:
            self.standing.beside[self.stop.thread_id] = self.stop
            self.show(found)

    def thread_ended(self, thread: int) -> None:
        """A thread that was stepped and came to its end leaves the floor to those that wait."""
        self.standing.beside.pop(thread, None)
        following = self.standing.next()
        if self.standing.stepping == thread and following and self.state is State.RUNNING:
            self.show(following)

    def counted(self, hits: dict[str, int]) -> None:
        for number, count in hits.items():
            self.breakpoints.note(f"bp_{number}", hits=count)

    # -- its end ----------------------------------------------------------------------------

    async def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Make a program start, in a way that the end of the session can cut short."""
        if self.closed:
            work.close()
            raise errors.SessionNotFound(
                f"session {self.id} is being ended", id=self.id, session_id=self.id
            )
        self._start = asyncio.create_task(work)
        try:
            await self._start
        except asyncio.CancelledError:
            if not self.over:
                raise  # it is the request that was cancelled
            raise errors.WrongState(
                "the session was ended before its program began",
                state=self.state.value,
                possible=lifecycle.possible(self.state),
                reason=self.reason,
            ) from None
        finally:
            self._start = None

    def cut_short(self, reason: str) -> None:
        """Give up a start that is under way."""
        if self._start is not None:
            self.ended(reason, None)
            self._start.cancel()

    def let_children_go(self) -> None:
        """Its program is detached: what that starts from now on is not followed."""
        if self.following is not None:
            self.following.cancel()
            self.following = None
        if self.door is not None:
            self.door.close()
            self.door = None

    async def end(self) -> None:
        """End its program, what that started, and the following of its children."""
        if self.following is not None:
            self.following.cancel()
            self.following = None
        target = self.target
        if target is not None and target.process is None:
            await target.drop()
        await self.processes.end()
        if target is not None and target.process is not None:
            await target.seen_to_end()
        if self.door is not None:
            self.door.close()
            self.door = None

    def ended(self, reason: str, code: int | None, signal: Signal = Signal.EXITED) -> None:
        if lifecycle.absorb(self.state, signal) is None:
            return
        self.close_hold(reason)
        reason, self.end_reason = self.end_reason or reason, None
        self.reason, self.exit_code = reason, code
        self.journal.add("terminated", reason=reason, exit_code=code)
        self.move(signal)
        if self.parent_id is None and not self.forgotten:
            self._aside(self._written([self._store.put_session(self._record())]))

    def refused(self, before: State, error: errors.HoldfastError) -> None:
        """The program could not begin, through a mistake that can be corrected."""
        self.target = None
        if before is State.CREATED:
            self.move(Signal.LAUNCH_REFUSED)
        else:
            self.ended(error.short, None)

    def failed(self, error: errors.HoldfastError) -> None:
        if not self.over:
            self.error = {"code": error.code, "message": error.message, "hint": error.hint}
        self.ended(error.short, error.details.get("exit_code"), Signal.FAILED)

    # -- the store --------------------------------------------------------------------------

    async def saved(self) -> None:
        """Write what is needed to have it again after a restart of the server.

        A full disk is no reason to stop debugging: what it does not take is tried again later.
        """
        if self.forgotten:
            return  # a request that came before its end must not bring it back
        if self.parent_id is not None:
            return  # a child process cannot be had again
        writes = [self._store.put_session(self._record())]
        if self.project is not None:
            writes += filter(None, [self._share(self.project)])
        await self._written(writes)

    async def _written(self, writes: list[Future[None]]) -> None:
        try:
            await asyncio.gather(*map(asyncio.wrap_future, writes))
        except errors.NotStored as problem:
            if self.unsaved is None:
                self.event("not_saved", message=problem.message)
            self.unsaved = problem
        else:
            if self.unsaved is not None:
                self.event("saved")
            self.unsaved = None

    def _aside(self, work: Coroutine[Any, Any, None]) -> None:
        """Do it without waiting for it."""
        task = asyncio.create_task(work)
        self._asides.add(task)
        task.add_done_callback(self._asides.discard)

    def _share(self, project: str) -> Future[None] | None:
        """Give the project what has changed since it was last given something."""
        before = self.shared[1] if self.shared[0] == project else []
        self.shared = (project, self.breakpoints.documents())
        return self._projects.change(project, before, self.shared[1])

    def _record(self) -> SessionRecord:
        document = {
            **self.exported(),
            "state": self.state.value,
            "reason": self.reason,
            "exit_code": self.exit_code,
        }
        return SessionRecord(self.id, self.kind.value, self.created_at, time.time(), document)

    def exported(self) -> dict[str, Any]:
        """Its configuration: enough to make the same session elsewhere."""
        return {
            "name": self.config.name,
            "config": {k: v for k, v in dataclasses.asdict(self.config).items() if v is not None},
            "launch": _plain(self.launch),
            "attach": _plain(self.attached),
            "breakpoints": self.breakpoints.documents(),
            "exception_breakpoints": _plain(self.exceptions),
            "watches": [watch.expression for watch in self.watches],
        }

    def add_watch(self, expression: str) -> Watch:
        watch = Watch(f"watch_{next(self._watch_numbers)}", expression)
        self.watches.append(watch)
        return watch


def _plain(value: Any) -> dict[str, Any] | None:
    if value is None:
        return None
    return {
        key: list(each) if isinstance(each, tuple) else each
        for key, each in dataclasses.asdict(value).items()
    }
