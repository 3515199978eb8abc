"""A session that debugs a program: its state, and every operation on it."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import os
from collections.abc import Coroutine, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from holdfast import errors
from holdfast.core import call_lines, lifecycle
from holdfast.core.lifecycle import Signal
from holdfast.model.config import SessionConfig
from holdfast.model.hold import Hold
from holdfast.model.launch import (
    NO_PREPARATION,
    Attach,
    Launch,
    LaunchChanges,
    Preparation,
    Start,
)
from holdfast.model.process import ProcessFacts
from holdfast.model.session_state import Kind, State
from holdfast.model.stop import Stop
from holdfast.service import hold_titles
from holdfast.service.holds import hold_fields
from holdfast.service.programs import hang_report, program_input, status_builder
from holdfast.service.programs.child_sessions import ChildSessions
from holdfast.service.programs.collected_rows import CollectedRows
from holdfast.service.programs.debugger_losses import DebuggerLosses
from holdfast.service.programs.end_report import EndReport
from holdfast.service.programs.idle_timer import IdleTimer
from holdfast.service.programs.inspection import Inspection
from holdfast.service.programs.output_buffer import OutputBuffer
from holdfast.service.programs.owned_processes import OwnedProcesses
from holdfast.service.programs.program_attach import Invite, attach_program
from holdfast.service.programs.program_launch import launch_program
from holdfast.service.programs.project_directory import resolve_settings
from holdfast.service.programs.run_listener import RunListener
from holdfast.service.programs.session_breakpoints import SessionBreakpoints
from holdfast.service.programs.session_document import export_session
from holdfast.service.programs.session_storage import SessionStorage
from holdfast.service.programs.stop_tracker import StopTracker
from holdfast.service.programs.watch_list import WatchList
from holdfast.service.run_options import (
    NOTHING,
    Included,
    RunOptions,
    Wait,
    parse_include,
    parse_wait,
)
from holdfast.service.session import DecisionRequest
from holdfast.service.settings import Settings
from holdfast.service.stored_session import StoredSession
from holdfast.targets.program import launcher
from holdfast.targets.program.target import Target
from holdfast.wire.live_messages import SessionProgress
from holdfast.wire.program_answers import (
    ErrorDetails,
    ExportedSession,
    InputAccepted,
    OutputCleared,
    OutputPage,
    PingAnswer,
    ProgramDetail,
    ProgramStatus,
    ProgramSummary,
    Variable,
)
from holdfast.wire.session_answers import ProgramHold
from holdfast.wire.session_requests import EvaluateHold

if TYPE_CHECKING:
    from holdfast.service.programs.program_service import Programs

NATIVE = "The call on that line went into native code; the step went over it."
_PAUSE_PENDING = (
    "It stops at its next line of Python; it is busy outside of it now. "
    "GET /threads says where each thread is."
)


class ProgramSession(StoredSession):
    """Listens to its target (through a `RunListener`) and answers for it."""

    kind = Kind.PROGRAM
    state: State = State.CREATED
    holds_many = False

    def __init__(
        self,
        programs: Programs,
        session_id: str,
        config: SessionConfig,
        parent_id: str | None = None,
        created_at: float | None = None,
        last_seq: int = 0,
    ) -> None:
        super().__init__(session_id, programs.store, programs.stream, created_at, last_seq)
        self.programs = programs
        self.config = config
        self.parent_id = parent_id
        self.is_recovered = False
        self.project: str | None = config.cwd
        self.launch: Launch | None = None
        self.attached: Attach | None = None
        # How the program ended.
        self.reason: str | None = None
        self.exit_code: int | None = None
        self.error: ErrorDetails | None = None
        self.end_reason: str | None = None
        # What runs now.
        self.target: Target | None = None
        self.processes = OwnedProcesses()
        self.is_closed = False
        self.is_restarting = False
        """Its program is being ended, and starts again then."""
        self.busy = asyncio.Lock()
        self._run = 0
        self._start: asyncio.Task[None] | None = None
        self.start_problem: Exception | None = None
        """Why the last start came to nothing, if it did."""
        # The parts of the session.
        self.output = OutputBuffer(self.output_limit)
        self.breakpoints = SessionBreakpoints(self, programs.sources)
        self.stops = StopTracker(self)
        self.end_report = EndReport(self)
        self.collected = CollectedRows()
        self.is_traced = False
        """Whether the call that a trace is to show has ended."""
        self.inspection = Inspection(self)
        self.watches = WatchList(self)
        self.children = ChildSessions(self)
        self.losses = DebuggerLosses(self)
        self.storage = SessionStorage(self)
        self.idle = IdleTimer(self)

    @property
    def program(self) -> ProgramSession:
        return self

    def not_a_program(self) -> errors.WrongState:
        raise AssertionError("a program session is one of a program")

    # -- settings ---------------------------------------------------------------------------

    @property
    def settings(self) -> Settings:
        return self.programs.settings

    @property
    def output_limit(self) -> int:
        return self.config.output_limit_bytes or self.settings.output_limit_bytes

    @property
    def evaluate_timeout(self) -> float:
        return self.config.evaluate_timeout or self.settings.evaluate_timeout

    async def configure(self, changes: Mapping[str, Any]) -> ProgramDetail:
        """Change fields of its configuration. A new `cwd` must be a directory."""
        changes = resolve_settings(changes)
        self.config = dataclasses.replace(self.config, **changes)
        self.output.limit_bytes = self.output_limit
        if "cwd" in changes:
            self.project = self.config.cwd
            self.breakpoints.points.base = self.config.cwd or self.breakpoints.points.base
        self.event("configured", **changes)
        await self.storage.save()
        return await self.detail()

    def export(self) -> ExportedSession:
        """Its configuration, to be imported here or elsewhere."""
        return export_session(self)

    # -- report -----------------------------------------------------------------------------

    @property
    def over(self) -> bool:
        return self.state in (State.TERMINATED, State.FAILED)

    @property
    def expired(self) -> bool:
        return self.idle.expired

    def touch(self) -> None:
        self.idle.restart()

    def summary(self) -> ProgramSummary:
        return status_builder.build_summary(self)

    def progress(self) -> SessionProgress:
        progress = super().progress()
        progress.output = str(self.output.cursor)
        return progress

    async def detail(self, include: Included = NOTHING) -> ProgramDetail:
        answer = await status_builder.build_detail(self, include)
        self.programs.drop_expired(self)
        return answer

    async def status(self, options: RunOptions) -> ProgramStatus:
        """Where the program is. With `wait`, the next stop or the end, or `running`."""
        seconds = self._seconds(options, 0.0)
        wants_stop = options.include is not None or seconds
        include = parse_include(options) if wants_stop else NOTHING
        if seconds:
            await self.wait_until_settled(seconds)
        answer = await status_builder.build_status(self, include)
        warning = self.idle.warning
        if warning:
            answer.warning = warning
        self.programs.drop_expired(self)
        return answer

    def ping(self) -> PingAnswer:
        """Keep the session alive."""
        return PingAnswer(
            session_id=self.id,
            status=self.state.value,
            expires_in_seconds=round(self.idle.seconds_left, 1),
        )

    # -- output and input -------------------------------------------------------------------

    async def read_output(
        self, since: int, limit: int, kinds: frozenset[str] | None = None, wait: Wait = None
    ) -> OutputPage:
        """What the program wrote after a cursor; with `wait`, waits for something new."""
        seconds = parse_wait(wait, self.settings.max_wait)
        if seconds:
            await self.wait_for_output(since, seconds)
        page = self.output.page(since, limit, kinds)
        entries = [entry.to_json() for entry in page.entries]
        return OutputPage(entries, str(page.cursor), page.has_more, page.dropped)

    def clear_output(self) -> OutputCleared:
        """Forget what was written so far; cursors stay valid."""
        self.output.clear()
        self.note_change()
        return OutputCleared(str(self.output.cursor))

    async def send_input(
        self, text: str | None, *, close: bool, options: RunOptions
    ) -> InputAccepted:
        """Write to the program's stdin. With `wait`, say what came of it."""
        seconds, include = self._seconds(options, 0.0), parse_include(options)
        size = program_input.write_input(self, text, close=close)
        if seconds:
            await self.wait_until_settled(seconds)
            status = await status_builder.build_status(self, include)
        else:
            status = ProgramStatus(session_id=self.id, status=self.state.value)
        fields = {name: getattr(status, name) for name in status.__struct_fields__}
        return InputAccepted(**fields, bytes=size)

    # -- waiting ----------------------------------------------------------------------------

    async def wait_until_settled(self, seconds: float) -> bool:
        """Wait until the program stops, waits for input, or ends, or a child of it is held.

        The loss of the debugger ends one wait, too: what is waited for may never come.
        """
        losses = self.losses
        is_reported = losses.is_reported

        def is_settled() -> bool:
            is_lost = losses.is_disconnected and not is_reported
            return is_lost or lifecycle.is_settled(self.state)

        reached = await self.children.wait_for_held(is_settled, seconds)
        losses.is_reported = losses.is_disconnected
        return reached

    def note_traced(self) -> None:
        self.is_traced = True
        self.wake()

    async def wait_for_output(self, since: int, seconds: float) -> bool:
        return await self.wait_until(lambda: self.output.cursor > since or self.over, seconds)

    def _seconds(self, options: RunOptions, default: float) -> float:
        return parse_wait(options.wait, self.settings.max_wait, default)

    # -- start and end ----------------------------------------------------------------------

    async def start(
        self, request: Start, options: RunOptions, preparation: Preparation = NO_PREPARATION
    ) -> ProgramStatus:
        seconds, include = self._seconds(options, 0.0), parse_include(options)
        await self.begin(request, preparation)
        if not isinstance(request, Attach):
            answer = await status_builder.build_answer_after_run(self, seconds, include)
        else:
            if seconds:
                await self.wait_until_settled(seconds)
            asked = options.wait is not None or options.include is not None
            answer = await status_builder.build_status(self, include if asked else NOTHING)
        self.show_prepared(answer)
        return answer

    async def begin(self, request: Start, preparation: Preparation) -> None:
        """Start its program, or attach to it, and do not wait for what comes of it."""
        if isinstance(request, Attach):
            await self._start_run("attach", attach_program(self, request, preparation))
        else:
            launch = self._find_launch(request)
            work = launch_program(self, launch, Signal.LAUNCH, preparation)
            is_repeated = isinstance(request, LaunchChanges)
            with _saying_that_it_is_gone() if is_repeated else contextlib.nullcontext():
                await self._start_run("launch", work)

    async def admit(self, attach: Attach, invite: Invite) -> None:
        """Take in a process that connects by itself, once `invite` has told it how."""
        await self._start_run("attach", attach_program(self, attach, NO_PREPARATION, invite))

    async def check_start(self, request: Start) -> None:
        """Find what can be found wrong with a start before it begins: paths, the interpreter.

        Breakpoints that are set from now on are found in the files of that program.
        """
        if not isinstance(request, Attach):
            place = await launcher.locate(self._find_launch(request), self.config.cwd)
            self.breakpoints.prepare(place)

    def _find_launch(self, request: Launch | LaunchChanges) -> Launch:
        if isinstance(request, Launch):
            return request
        if self.launch is None:
            raise errors.InvalidInput(
                "give exactly one of script, module and code",
                hint="Only a session that was launched, a copy of one, or an import of one can be "
                "launched without them.",
                field="body",
            )
        return dataclasses.replace(self.launch, **request.fields)

    def show_prepared(self, answer: ProgramStatus) -> None:
        """Show the breakpoints that came with the start in its answer."""
        if self.breakpoints.prepared:
            answer.breakpoints_set = self.breakpoints.describe(self.breakpoints.prepared)

    async def restart(self, changes: Mapping[str, Any], options: RunOptions) -> ProgramStatus:
        seconds, include = self._seconds(options, 0.0), parse_include(options)
        await self._start_run("restart", self._restart(changes))
        return await status_builder.build_answer_after_run(self, seconds, include)

    async def _restart(self, changes: Mapping[str, Any]) -> None:
        if self.launch is None:
            raise errors.WrongState(
                "nothing to restart: the session was not launched",
                hint="An attached program cannot be started over; attach again.",
                state=self.state.value,
                possible=[name for name in self.list_operations() if name != "restart"],
            )
        launch = dataclasses.replace(self.launch, **changes)
        self.is_restarting = True
        try:
            with _saying_that_it_is_gone():
                await launch_program(self, launch, Signal.RESTART)
        finally:
            self.is_restarting = False

    async def _start_run(self, operation: str, work: Coroutine[Any, Any, None]) -> None:
        """Start a program in a task that the end of the session can cancel."""
        async with self.busy:
            try:
                self.require(operation)
                if self.is_closed:
                    raise errors.SessionNotFound(
                        f"session {self.id} is being ended", id=self.id, session_id=self.id
                    )
            except errors.HoldfastError:
                work.close()
                raise
            self._start = asyncio.create_task(work)
            try:
                await self._start
            except errors.HoldfastError as problem:
                self.start_problem = problem
                raise
            except asyncio.CancelledError:
                if not self.over:
                    raise  # the request itself was cancelled
                raise errors.WrongState(
                    "the session was ended before its program began",
                    state=self.state.value,
                    possible=self.list_operations(),
                    reason=self.reason,
                ) from None
            finally:
                self._start = None

    async def terminate(self, by: str | None = None) -> ProgramStatus:
        target = self.live_target("terminate") if self.target else None
        self.require("terminate")
        self.event("terminating", by=by)
        if target is None:
            self.cut_start_short("terminated")
            async with self.busy:
                await self.end_target()
            self.note_end("terminated", None)
            return status_builder.build_state(self)
        self.end_reason = "terminated"
        is_held = self.state is State.PAUSED
        await target.kill(None if is_held else self.settings.terminate_grace)
        if target.process is None:
            self.note_end("terminated", None)
        return status_builder.build_state(self)

    async def detach(self) -> ProgramStatus:
        """Let the program run on by itself: it outlives its session and the server."""
        target = self.live_target("detach")
        if target.process is not None:
            self.processes.release(target.process)
        self.children.release()
        await target.detach()
        self.note_end("detached", None, Signal.DETACHED)
        await self.storage.save()
        answer = status_builder.build_state(self)
        answer.detached = True
        return answer

    async def delete(self) -> None:
        await self.programs.delete(self)

    # -- decide -----------------------------------------------------------------------------

    async def resume(self, options: RunOptions) -> ProgramStatus:
        seconds, include = self._seconds(options, 0.0), parse_include(options)
        await self.run_on("continue", options.by)
        return await status_builder.build_answer_after_run(self, seconds, include)

    async def resume_until(
        self, expression: str, frame_id: int, options: RunOptions
    ) -> ProgramStatus:
        """Run until an expression of a frame becomes true, or until another stop comes first."""
        self.require("continue")
        if await self.watch_until(expression, frame_id):
            answer = await status_builder.build_status(self, parse_include(options))
            answer.message = f"{expression} is true already; nothing was run."
            return answer
        seconds, include = self._seconds(options, 0.0), parse_include(options)
        await self.run_on("continue", options.by, keeps_untils=True)
        return await status_builder.build_answer_after_run(self, seconds, include)

    async def watch_until(self, expression: str, frame_id: int) -> bool:
        """Stop as soon as an expression of a frame is true. True if it is true already."""
        self.breakpoints.drop_untils(self.current_target())
        return await self.breakpoints.data.watch_until(expression, frame_id)

    async def step(self, action: str, options: RunOptions) -> ProgramStatus:
        seconds = self._seconds(options, self.settings.step_wait)
        include = parse_include(options)
        before = await self.run_on(action, options.by, thread=options.thread_id)
        answer = await status_builder.build_answer_after_run(self, seconds, include)
        if action == "step-into" and self.has_stepped_over_native(before):
            answer.native_frame = True
            answer.message = NATIVE
        return answer

    async def decide(self, hold: Hold, request: DecisionRequest) -> ProgramStatus:
        options = request.options
        seconds, include = self._seconds(options, 0.0), parse_include(options)
        await self.run_on(request.action, options.by, hold_id=hold.id)
        answer = await status_builder.build_answer_after_run(self, seconds, include)
        answer.action = request.action
        answer.hold_id = answer.hold_id or hold.id
        return answer

    @property
    def label(self) -> str | None:
        target = None if self.launch is None else os.path.basename(self.launch.target)
        return self.config.name or target

    def title_hold(self, hold: Hold) -> str:
        return hold_titles.title_stop(hold)

    def summarize_hold(self, hold: Hold) -> ProgramHold:
        return ProgramHold(**hold_fields(hold))

    async def describe_hold(self, hold: Hold) -> ProgramHold:
        return self.summarize_hold(hold)

    async def run_on(
        self,
        action: str,
        by: str,
        *,
        thread: int | None = None,
        hold_id: str | None = None,
        keeps_untils: bool = False,
    ) -> Stop:
        """Continue or step. The decision is taken at once; the next stop is waited for later."""
        if hold_id is None:
            self.require(action)
        target = self.current_target()
        stop = self.stops.current
        if thread is not None and stop is not None and thread != stop.thread_id:
            await self.inspection.require_thread(thread)
        stop = self.stops.decide(action, by, hold_id, thread)
        if self.stops.current is None:
            if not keeps_untils:
                self.breakpoints.drop_untils(target)
            target.run(action, thread or stop.thread_id)
        return stop

    def has_stepped_over_native(self, before: Stop) -> bool:
        """Whether a step into a call stayed in its frame, because the callee is native code."""
        now = self.stops.current
        if self.state is not State.PAUSED or now is None or now.reason != "step":
            return False
        there = before.location
        if there is None or now.frame != before.frame or now.thread_id != before.thread_id:
            return False
        source = self.programs.sources.get(there.file)
        return source is not None and call_lines.has_call(source.analysis.text, there.line)

    async def pause(self, options: RunOptions) -> ProgramStatus:
        """Stop at the next line; still `running` when it is busy outside Python."""
        if options.thread_id is not None and self.state is State.PAUSED:
            return await self._pause_thread(options.thread_id, options)
        seconds = self._seconds(options, self.settings.step_wait)
        include = parse_include(options)
        target = self.live_target("pause")
        if options.thread_id is not None:
            await self.inspection.require_thread(options.thread_id)
        self.event("pause_requested", thread_id=options.thread_id)  # the stop comes after it
        await target.pause(options.thread_id)
        if seconds:
            await self.wait_until(lambda: self.state is State.PAUSED or self.over, seconds)
            self.stops.show_held()
            answer = await status_builder.build_status(self, include)
        else:
            answer = await status_builder.build_answer_after_run(self, 0.0, include)
        is_pending = answer.status in (State.RUNNING.value, State.WAITING_FOR_INPUT.value)
        if is_pending:
            answer.pause_pending = True
            answer.message = _PAUSE_PENDING
        if seconds and not self.over:
            await hang_report.add_to_pause(answer, self, options.thread_id, is_pending=is_pending)
        return answer

    async def _pause_thread(self, thread: int, options: RunOptions) -> ProgramStatus:
        """Stop one thread that runs while others are held."""
        seconds = self._seconds(options, self.settings.step_wait)
        include = parse_include(options)
        await self.inspection.require_running_thread(thread)
        target = self.current_target()
        self.event("pause_requested", thread_id=thread)
        await target.operate("pause_thread", thread=thread)
        if seconds:
            await self.stops.wait_for_thread(thread, seconds)
        answer = await status_builder.build_status(self, include)
        is_pending = bool(seconds) and answer.thread_id != thread and not self.over
        if is_pending:
            answer.pause_pending = True
            answer.message = _PAUSE_PENDING
            await hang_report.add_to_pause(answer, self, thread, is_pending=True)
        return answer

    async def jump(self, thread: int, file: str, line: int) -> None:
        """Let a held thread go on at another line of its function, which it has not reached."""
        target = self.live_target("evaluate")
        self.stops.find_thread(thread)
        self.inspection.forget_values()
        await target.jump(thread, file, line)
        self.event("jumped", thread_id=thread, file=file, line=line)

    async def resume_thread(self, thread: int, options: RunOptions) -> ProgramStatus:
        """Let one thread run on; the others stay held."""
        seconds, include = self._seconds(options, 0.0), parse_include(options)
        self.stops.show_held(thread)
        target = self.live_target("continue")
        threads = await self.inspection.require_thread(thread)
        self.require("continue")  # it may have been continued meanwhile
        held = [t for t in threads if t["status"] == "paused" and t["id"] != thread]
        # Before it runs, because it may stop again before the debugger confirms.
        self.stops.release_thread(thread, held, options.by)
        await target.operate("resume_thread", thread=thread)
        if seconds:
            await self.stops.wait_for_thread(thread, seconds)
            return await status_builder.build_status(self, include)
        answer = status_builder.build_state(self)
        answer.resumed_thread_id = thread
        return answer

    # -- evaluate ---------------------------------------------------------------------------

    async def evaluate(self, request: EvaluateHold, hold_id: str | None = None) -> Variable:
        """The value of an expression in a frame; in a REPL, a statement may be run."""
        self.stops.require_hold(hold_id)
        return await self.inspection.evaluate(
            request.expression,
            request.frame_id,
            request.context,
            request.timeout,
            max_chars=request.max_chars,
            start=request.start,
            count=request.count,
        )

    # -- what is possible -------------------------------------------------------------------

    @property
    def origin(self) -> lifecycle.Origin:
        """How it got its program."""
        if self.reason == "detached" and self.launch is not None:
            return lifecycle.Origin.DETACHED
        if self.parent_id is not None:
            return lifecycle.Origin.CHILD
        return lifecycle.Origin.LAUNCH if self.attached is None else lifecycle.Origin.ATTACH

    def require(self, operation: str) -> None:
        """Raise WrongState unless its state allows this."""
        lifecycle.require(self.state, operation, self.origin)

    def wrong_state(self, message: str) -> errors.WrongState:
        return lifecycle.wrong_state(self.state, message, self.origin)

    def list_operations(self) -> list[str]:
        """What its state allows."""
        return lifecycle.list_operations(self.state, self.origin)

    @property
    def is_live(self) -> bool:
        """Whether its program starts, runs, or stands still."""
        return not self.over and self.state is not State.CREATED

    @property
    def is_paused(self) -> bool:
        return self.state is State.PAUSED

    @property
    def is_running(self) -> bool:
        return self.is_live and not self.is_paused

    @property
    def wants_input(self) -> bool:
        return self.state is State.WAITING_FOR_INPUT

    @property
    def can_restart(self) -> bool:
        """Whether its program can be run over: it was not attached to."""
        return self.origin in (lifecycle.Origin.LAUNCH, lifecycle.Origin.DETACHED)

    # -- its target -------------------------------------------------------------------------

    def describe_process(self) -> ProcessFacts:
        """The process of its program."""
        target, launch = self.target, self.launch
        pid = target.pid if target else None
        name = launch.target if launch else self.config.name or f"process {pid or 'elsewhere'}"
        return ProcessFacts(name, pid, is_launched=launch is not None)

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
            raise self.wrong_state("no program runs")
        return self.target

    def move(self, signal: Signal) -> bool:
        """Apply a signal to the state. False if it came too late."""
        state = lifecycle.try_next_state(self.state, signal)
        if state is None:
            return False
        if lifecycle.is_busy(self.state):
            self.touch()  # its idle time begins when it stops running
        self.state = state
        self.wake()
        self.note_change()
        self.children.wake_ancestors()
        return True

    def begin_run(self) -> RunListener:
        """Begin a new run of a program: forget what belongs to the last run, and its listener."""
        self._run += 1
        self.is_restarting = False
        self.output.begin_run()
        self.reason = self.exit_code = self.error = self.start_problem = None
        self.target = None
        self.children.subprocesses = []
        self.stops.threads.clear()
        self.stops.frame_ids.clear()
        self.output.new_line()
        self.breakpoints.forget_hits()
        self.end_report.clear()
        self.collected.clear()
        self.losses.clear()
        self.stops.withdraw("restarted")
        return RunListener(self, self._run)

    def is_current(self, run: int) -> bool:
        return run == self._run

    def note_started(self, target: Target) -> None:
        """Note that its program has begun. It may have stopped, or ended, by now."""
        self.target = target
        points = self.breakpoints.points
        points.import_path = target.import_path or points.import_path
        self.event("started", pid=target.pid, route=target.route)
        if self.state is State.LAUNCHING:
            self.move(Signal.STARTED)

    def note_resumed(self, action: str, by: str) -> None:
        """Note that the program runs on, and who decided that."""
        self.event("continued", action=action, by=by)
        self.move(Signal.RESUMED)

    def refuse_start(self, before: State, error: errors.HoldfastError) -> None:
        """Note that the program could not begin, by a mistake that can be corrected."""
        self.target = None
        self.output.cancel_run()
        if before is State.CREATED:
            self.move(Signal.LAUNCH_REFUSED)
        else:
            self.end_report.note_refusal(error)
            self.note_end(error.short, None)

    def fail_start(self, error: errors.HoldfastError) -> None:
        if not self.over:
            self.error = ErrorDetails(error.code, error.message, error.hint)
        self.note_end(error.short, error.details.get("exit_code"), Signal.FAILED)

    def note_end(self, reason: str, code: int | None, signal: Signal = Signal.EXITED) -> None:
        """Note that its program has ended."""
        if lifecycle.try_next_state(self.state, signal) is None:
            return
        self.stops.withdraw(reason)
        reason, self.end_reason = self.end_reason or reason, None
        self.reason, self.exit_code = reason, code
        self.event("terminated", reason=reason, exit_code=code, **self.end_report.describe_end())
        self.move(signal)
        self.storage.save_soon()

    def cut_start_short(self, reason: str) -> None:
        """Give up a start that is under way."""
        if self._start is not None:
            self.note_end(reason, None)
            self._start.cancel()

    async def end_processes(self) -> None:
        """End what runs, and the sessions of its children, before another program starts."""
        await self.end_target()
        await self.programs.delete_children(self)

    async def end_target(self) -> None:
        """End its program and what that started, and stop following its children."""
        self.children.stop_following()
        target = self.target
        if target is not None and target.process is None:
            await target.drop()
        await self.processes.end()
        if target is not None and target.process is not None:
            await target.wait_until_ended()
        self.children.close_join_listener()


@contextlib.contextmanager
def _saying_that_it_is_gone() -> Iterator[None]:
    """If the script of an earlier start is gone: the request does not name it."""
    try:
        yield
    except errors.FileMissing as problem:
        problem.hint = "It was there when it was launched. POST /launch with another script."
        raise
