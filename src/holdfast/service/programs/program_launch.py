"""Running: launch, continue, step, pause, restart, terminate, detach, input."""

from __future__ import annotations

import os
import signal
from typing import Any

from holdfast import errors
from holdfast.core import call_lines, lifecycle
from holdfast.core.lifecycle import Signal
from holdfast.model.launch import Launch
from holdfast.model.session import State
from holdfast.model.stop import Stop
from holdfast.service.debugger import Debugger
from holdfast.service.programs import child_sessions
from holdfast.service.programs.program_session import ProgramSession
from holdfast.service.programs.run_listener import RunListener
from holdfast.service.programs.source_files import stamp_of
from holdfast.targets.program import adapter, launching
from holdfast.targets.program.launching import Place, Request, Setup
from holdfast.targets.program.pool import environment_changes
from holdfast.targets.program.target import Target

_MOST_INPUT = 32 * 1024 * 1024
# Somebody wanted that process gone: it was not our probe that could not start.
_KILLED = {-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP}


async def launch(service: Debugger, session: ProgramSession, wanted: Launch) -> None:
    """Start the program. A mistake in the request leaves the session as it was."""
    async with session.busy:
        session.require("launch")
        await session.start(_start(service, session, wanted, Signal.LAUNCH))


async def restart(
    service: Debugger, session: ProgramSession, changes: Launch | None = None
) -> None:
    """End what runs and start it over, with the same configuration unless told otherwise."""
    async with session.busy:
        session.require("restart")
        wanted = changes or session.launch
        if wanted is None:
            raise errors.WrongState(
                "nothing to restart: the session was not launched",
                hint="An attached program cannot be started over; attach again.",
                state=session.state.value,
                possible=[each for each in lifecycle.possible(session.state) if each != "restart"],
            )
        await session.start(_start(service, session, wanted, Signal.RESTART))


async def _start(
    service: Debugger, session: ProgramSession, wanted: Launch, signal: Signal
) -> None:
    place = await launching.locate(wanted, session.config.cwd)
    before, last = session.state, (session.launch, session.attached)
    await session.end()
    await service.delete_children(session)
    watcher = session.begin(starting=True)
    session.state = lifecycle.next_state(before, signal)
    session.launch, session.attached = wanted, None
    session.project = session.config.cwd or _project(place)
    session.event("launching", target=wanted.target, args=list(wanted.args), cwd=place.cwd)
    _prepare(session, place)
    try:
        if wanted.debug_subprocesses:
            await child_sessions.open_door(service, session)
        await _run(service, session, wanted, place, watcher)
    except errors.InvalidInput as problem:
        session.launch, session.attached = last
        session.refused(before, problem)
        raise
    except errors.HoldfastError as problem:
        session.failed(problem)
        raise
    except BaseException as problem:
        session.failed(errors.LaunchFailed(f"the launch was broken off: {problem!r}"))
        raise
    finally:
        await session.saved()


def _project(place: Place) -> str:
    script = place.spec.get("script")
    return os.path.dirname(script) if script else place.cwd


def _prepare(session: ProgramSession, place: Place) -> None:
    """Point the breakpoints at this program, and note which sources it is about to load."""
    points = session.breakpoints
    points.rebase(place.cwd)
    points.script = place.spec.get("script")
    points.import_path = list(filter(None, place.env.get("PYTHONPATH", "").split(os.pathsep)))
    if "module" in place.spec:
        points.script = points.main_file(place.spec["module"])
    points.refresh(all_of_them=True)
    files = {each.file for each in points if each.file} | set(filter(None, [points.script]))
    stamps = {file: stamp_of(file) for file in files}
    session.loaded = {file: stamp for file, stamp in stamps.items() if stamp is not None}


async def _run(
    service: Debugger, session: ProgramSession, wanted: Launch, place: Place, watcher: RunListener
) -> None:
    request = _request(service, session, wanted, place, watcher)
    if wanted.route == "adapter":
        target = await adapter.start(request)
    else:
        target = await _directly_if_possible(service, session, request, watcher)
    session.running(target)
    watcher.started()
    await _catch_up(session, target, request.setup)


async def _catch_up(session: ProgramSession, target: Target, told: Setup) -> None:
    """What was changed while the program started is told now."""
    now = current_setup(session)
    if now == told:
        return
    files = [*told.lines, *(file for file in now.lines if file not in told.lines)]
    posted = [target.post_lines(file, now.lines.get(file, [])) for file in files]
    posted += [target.post_functions(now.functions), target.post_exceptions(now.exceptions)]
    await target.settled(*posted)


async def _directly_if_possible(
    service: Debugger, session: ProgramSession, request: Request, watcher: RunListener
) -> Target:
    """The direct way needs our probe to load in the target; the stock adapter does not."""
    warm = _warm(service, request)
    if warm is not None:
        try:
            return await launching.start(request, warm)
        except errors.LaunchFailed:
            watcher.start_over()  # it died as it waited, before it could be told of any program
    try:
        return await launching.start(request)
    except errors.LaunchFailed as problem:
        if request.launch.route != "auto" or problem.details.get("exit_code") in _KILLED:
            raise
        session.event("route_changed", route="adapter", why=problem.message)
        watcher.start_over()
        try:
            target = await adapter.start(request)
        except errors.HoldfastError:
            raise problem from None
        service.adapter_used = problem.message
        return target


def _warm(service: Debugger, request: Request) -> Target | None:
    """An interpreter that waits already, where the program cannot tell the difference."""
    if request.child_port or environment_changes(request.place.env) is None:
        return None
    return service.pool.take(request.place.interpreter.path)


def _request(
    service: Debugger, session: ProgramSession, wanted: Launch, place: Place, watcher: RunListener
) -> Request:
    def late_setup(import_path: list[str]) -> Setup:
        session.breakpoints.import_path = import_path
        session.breakpoints.refresh()
        return current_setup(session)

    return Request(
        launch=wanted,
        place=place,
        setup=current_setup(session),
        watcher=watcher,
        adopted=lambda process: session.processes.adopt(process, service.warden),
        late_setup=late_setup if session.breakpoints.unresolved else None,
        tag=service.tags.new(),
        child_port=session.door.port if session.door else 0,
        timeout=service.settings.launch_timeout,
        request_timeout=service.settings.request_timeout,
    )


def current_setup(session: ProgramSession) -> Setup:
    points = session.breakpoints
    return Setup(points.lines_by_file(), points.functions(), session.effective_exceptions)


# -- while it lives -------------------------------------------------------------------------------


async def act(
    session: ProgramSession,
    action: str,
    by: str,
    *,
    thread: int | None = None,
    hold_id: str | None = None,
) -> Stop:
    """Continue or step. The decision is taken at once; the next stop is waited for elsewhere."""
    if hold_id is None:
        session.require(action)
    target = session.current_target()
    if thread is not None and session.stop is not None and thread != session.stop.thread_id:
        await _check_thread(target, thread)
    stop = session.decide(action, by, hold_id, thread)
    if session.stop is None:
        target.run(action, thread or stop.thread_id)
    return stop


def went_native(session: ProgramSession, before: Stop) -> bool:
    """A step into a call that stayed in its frame: the callee has no Python frame to enter."""
    now = session.stop
    if session.state is not State.PAUSED or now is None or now.reason != "step":
        return False
    there = before.location
    if there is None or now.frame != before.frame or now.thread_id != before.thread_id:
        return False
    source = session.sources.get(there.file)
    return source is not None and call_lines.on_line(source.analysis.text, there.line)


async def _check_thread(target: Target, thread: int) -> list[dict[str, Any]]:
    """All threads, of which this must be one."""
    listed: list[dict[str, Any]] = (await target.operate("threads"))["threads"]
    if not any(each["id"] == thread for each in listed):
        raise errors.ThreadNotFound(
            f"no thread {thread}", thread_id=thread, known=[each["id"] for each in listed]
        )
    return listed


async def continue_thread(session: ProgramSession, thread: int, by: str) -> None:
    """Let one thread run on; the others stay held."""
    target = session.live_target("continue")
    listed = await _check_thread(target, thread)
    session.require("continue")  # all may have gone on while we asked
    held = [each for each in listed if each["status"] == "paused" and each["id"] != thread]
    # Before it runs: it may stop again sooner than we hear that it went.
    session.thread_resumed(thread, held, by)
    await target.operate("resume_thread", thread=thread)


async def pause(session: ProgramSession, thread: int | None = None) -> None:
    target = session.live_target("pause")
    if thread is not None:
        await _check_thread(target, thread)
    await target.pause(thread)
    session.event("pause_requested", thread_id=thread)


async def terminate(service: Debugger, session: ProgramSession) -> None:
    """End the program, not the session."""
    target = session.live_target("terminate") if session.target else None
    session.require("terminate")
    session.event("terminating")
    if target is None:
        session.cut_short("terminated")
        async with session.busy:
            await session.end()
        session.ended("terminated", None)
        return
    session.end_reason = "terminated"
    await target.kill(None if session.state is State.PAUSED else service.settings.terminate_grace)
    if target.process is None:
        session.ended("terminated", None)


async def detach(service: Debugger, session: ProgramSession) -> None:
    """Let the program run on by itself: it outlives its session and the server."""
    target = session.live_target("detach")
    if target.process is not None:
        session.processes.release(target.process)
    session.let_children_go()
    for child in service.children_of(session):
        if child.target is not None:
            child.target.ours = False
    await target.detach()
    session.ended("detached", None, Signal.DETACHED)
    await session.saved()


def send_input(session: ProgramSession, text: str | None, *, close: bool) -> int:
    """Write to the program's stdin; what it does not read yet waits in the pipe."""
    session.require("input")
    target = session.current_target()
    if target.input is None or not target.input.open:
        raise errors.WrongState(
            "the program's stdin is closed, or was never ours",
            hint="Only a launched program reads our input, until it is closed.",
            state=session.state.value,
            possible=[each for each in lifecycle.possible(session.state) if each != "input"],
        )
    data = (text or "").encode("utf-8", "surrogateescape")
    if target.input.waiting and target.input.waiting + len(data) > _MOST_INPUT:
        raise errors.WrongState(
            f"{target.input.waiting} bytes of input wait to be read already",
            hint="Give it more when the program has read what it has.",
            state=session.state.value,
            possible=[each for each in lifecycle.possible(session.state) if each != "input"],
            waiting_bytes=target.input.waiting,
        )
    if session.state is State.WAITING_FOR_INPUT and (close or b"\n" in data):
        session.output_buffer.new_line()
    target.input.write(data)
    if close:
        target.input.end()
    session.event("input_given", bytes=len(data), closed=close)
    session.move(Signal.INPUT_GIVEN)
    return len(data)


async def update_breakpoints(session: ProgramSession, files: set[str], *, functions: bool) -> None:
    """Tell a live debugger what changed."""
    target = session.target
    if target is None or session.over or target.connection.closed:
        return
    changed = session.breakpoints.lines_by_file(files)
    posted = [target.post_lines(file, lines) for file, lines in changed.items()]
    if functions:
        posted.append(target.post_functions(session.breakpoints.functions()))
    await target.settled(*posted)
