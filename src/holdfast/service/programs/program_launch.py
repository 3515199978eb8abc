"""Starts a program: directly where possible, else through the stock adapter."""

from __future__ import annotations

import dataclasses
import os
import signal
from typing import TYPE_CHECKING

from holdfast import errors
from holdfast.core import lifecycle
from holdfast.core.lifecycle import Signal
from holdfast.model.launch import NO_PREPARATION, Launch, Preparation
from holdfast.service.programs.run_listener import RunListener
from holdfast.targets.program import adapter, launcher
from holdfast.targets.program.interpreter_pool import environment_changes
from holdfast.targets.program.launcher import GeventNeeded, Place, Request
from holdfast.targets.program.target import Target

if TYPE_CHECKING:
    from holdfast.service.programs.program_session import ProgramSession

# If the process was killed, that does not mean that our probe cannot start.
_KILLED = {-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP}


async def launch_program(
    session: ProgramSession,
    launch: Launch,
    signal: Signal,
    preparation: Preparation = NO_PREPARATION,
) -> None:
    """Start the program. A mistake in the request leaves the session as it was."""
    place = await launcher.locate(launch, session.config.cwd)
    if preparation.experiment is not None:
        place.spec["experiment"] = dataclasses.asdict(preparation.experiment)
    if preparation.trace is not None:
        place.spec["trace"] = {
            "script": place.spec.get("script"),
            **dataclasses.asdict(preparation.trace),
        }
    before, last = session.state, (session.launch, session.attached)
    session.breakpoints.points.rebase(place.cwd)
    session.breakpoints.set_before_start(preparation)
    await session.end_processes()
    listener = session.begin_run()
    session.state = lifecycle.next_state(before, signal)
    session.launch, session.attached = launch, None
    session.project = session.config.cwd or _project(place)
    session.event("launching", target=launch.target, args=list(launch.args), cwd=place.cwd)
    session.breakpoints.prepare(place)
    try:
        if launch.debug_subprocesses:
            await session.children.open_join_listener()
        await _run(session, launch, place, listener)
        session.programs.launches.note(session, place)
    except errors.InvalidInput as problem:
        session.launch, session.attached = last
        session.breakpoints.undo_set_before_start()
        session.refuse_start(before, problem)
        raise
    except errors.HoldfastError as problem:
        session.fail_start(problem)
        raise
    except BaseException as problem:  # whatever ends the start, the session must say so
        session.fail_start(errors.LaunchFailed(f"the launch was broken off: {problem!r}"))
        raise
    finally:
        await session.storage.save()


def _project(place: Place) -> str:
    script = place.spec.get("script")
    return os.path.dirname(script) if script else place.cwd


async def _run(
    session: ProgramSession, launch: Launch, place: Place, listener: RunListener
) -> None:
    request = _build_request(session, launch, place, listener)
    if launch.route == "adapter":
        target = await adapter.start(request)
    else:
        target = await _start_directly(session, request, listener)
    session.note_started(target)
    listener.note_started()
    await session.breakpoints.send_changes(target, request.setup)
    await session.breakpoints.data.check(target)


async def _start_directly(
    session: ProgramSession, request: Request, listener: RunListener
) -> Target:
    """Start without the adapter. If our probe cannot load in the target, use the adapter."""
    needs_gevent = False
    warm = _take_warm_interpreter(session, request)
    if warm is not None:
        try:
            return await launcher.start(request, warm)
        except errors.LaunchFailed:
            listener.start_over()  # it ended while it waited for a program
        except GeventNeeded:
            listener.start_over()
            needs_gevent = True
    try:
        try:
            return await launcher.start(request, with_gevent=needs_gevent)
        except GeventNeeded:
            listener.start_over()
            return await launcher.start(request, with_gevent=True)
    except errors.LaunchFailed as problem:
        is_direct = request.launch.route != "auto" or request.launch.terminal
        if is_direct or problem.details.get("exit_code") in _KILLED:
            raise
        session.event("route_changed", route="adapter", why=problem.message)
        listener.start_over()
        try:
            target = await adapter.start(request)
        except errors.HoldfastError:
            raise problem from None
        session.programs.fallback_reason = problem.message
        return target


def _take_warm_interpreter(session: ProgramSession, request: Request) -> Target | None:
    """A warm interpreter, if the program runs in it as in a new one."""
    if request.launch.python_args or request.launch.terminal or request.child_ticket:
        return None
    if environment_changes(request.place.env) is None:
        return None
    return session.programs.pool.take(request.place.interpreter.path)


def _build_request(
    session: ProgramSession, launch: Launch, place: Place, listener: RunListener
) -> Request:
    programs, breakpoints = session.programs, session.breakpoints
    return Request(
        launch=launch,
        place=place,
        setup=breakpoints.setup(),
        listener=listener,
        adopt=lambda process: session.processes.adopt(process, programs.warden),
        late_setup=breakpoints.setup_for if breakpoints.points.has_unresolved else None,
        tag=programs.tags.new(),
        child_ticket=session.children.ticket,
        timeout=session.settings.launch_timeout,
        request_timeout=session.settings.request_timeout,
        spawn=programs.spawn,
    )
