"""Attaching to programs that run already, and following the children of those we launched."""

from __future__ import annotations

import asyncio

from holdfast import errors
from holdfast.core import lifecycle
from holdfast.core.lifecycle import Signal
from holdfast.model.launch import Attach, Launch
from holdfast.service.debugger import Debugger
from holdfast.service.programs.program_session import ProgramSession
from holdfast.targets.program import attaching
from holdfast.targets.program.attaching import Bring, Door
from holdfast.targets.program.connection import Gone
from holdfast.targets.program.launching import Setup
from holdfast.targets.program.target import Nobody, Target, Watcher


async def attach(service: Debugger, session: ProgramSession, wanted: Attach) -> None:
    """Attach to a process, or to a debugpy that listens."""
    async with session.busy:
        session.require("attach")
        await session.start(_attach(service, session, wanted))


async def _attach(service: Debugger, session: ProgramSession, wanted: Attach) -> None:
    before, last = session.state, (session.launch, session.attached)
    await session.end()
    await service.delete_children(session)
    watcher = session.begin(starting=True)
    session.move(Signal.ATTACH)
    session.launch, session.attached = None, wanted
    session.event("attaching", pid=wanted.pid, host=wanted.host, port=wanted.port)
    try:
        target = await _reached(service, session, wanted, watcher)
    except (errors.InvalidInput, errors.NotFound, errors.WrongState) as problem:
        session.launch, session.attached = last
        session.refused(before, problem)
        raise
    except errors.HoldfastError as problem:
        session.failed(problem)
        raise
    except Exception as problem:
        failure = errors.AttachFailed(f"the debugger there went away: {problem!r}")
        session.failed(failure)
        raise failure from problem
    finally:
        await session.saved()
    session.running(target)
    watcher.started()


async def _reached(
    service: Debugger, session: ProgramSession, wanted: Attach, watcher: Watcher
) -> Target:
    if wanted.pid is None:
        return await _by_address(service, session, wanted, watcher)
    _check_undebugged(service, session, wanted.pid)
    if wanted.debug_subprocesses:
        await open_door(service, session)
    seconds = service.settings.request_timeout
    door = Door(service.trusted, lambda: Target(watcher, route="pid", request_timeout=seconds))
    await door.open()

    port = session.door.port if session.door else 0
    try:
        target = await attaching.reach(wanted.pid, door, port, service.settings.attach_timeout)
        await _taken(session, wanted, target, Bring.IS_THERE)
    finally:
        door.close()
    return target


def _check_undebugged(service: Debugger, session: ProgramSession, pid: int) -> None:
    for other in service.sessions():
        if other is session or other.over or other.target is None or other.target.pid != pid:
            continue
        raise errors.WrongState(
            f"process {pid} is debugged already, in session {other.id}",
            hint="Use that session, or detach it first.",
            state=other.state.value,
            possible=lifecycle.possible(other.state),
            session_id=other.id,
        )


async def _by_address(
    service: Debugger, session: ProgramSession, wanted: Attach, watcher: Watcher
) -> Target:
    assert wanted.host is not None
    assert wanted.port is not None
    if wanted.debug_subprocesses:
        raise errors.InvalidInput(
            "children of a program that is reached by address cannot be followed",
            hint="Attach by pid, or launch the program.",
            field="debug_subprocesses",
        )
    seconds = service.settings.request_timeout
    target = await attaching.connect(wanted.host, wanted.port, watcher, request_timeout=seconds)
    await _taken(session, wanted, target, Bring.TEXT)
    return target


async def _taken(session: ProgramSession, wanted: Attach, target: Target, bring: Bring) -> None:
    options = attaching.debug_options(wanted)
    try:
        await attaching.take(target, options, lambda: _setup(session, target), bring)
    except BaseException as problem:
        # An adapter would not take another client before this one says goodbye.
        target.connection.post("disconnect", {"terminateDebuggee": False})
        target.connection.close()
        if isinstance(problem, (asyncio.TimeoutError, errors.TimedOut)):
            raise errors.TimedOut("the debugger there did not answer", operation="attach") from None
        raise


def _setup(session: ProgramSession, target: Target) -> Setup:
    session.target = target  # it may stop before anybody says that it runs
    points = session.breakpoints
    points.import_path = target.import_path
    points.refresh()
    return Setup(points.lines_by_file(), points.functions(), session.exceptions)


# -- children -------------------------------------------------------------------------------------


async def open_door(service: Debugger, parent: ProgramSession) -> None:
    """From now on the children of this session's program report to us."""
    seconds = service.settings.request_timeout

    async def adopt(target: Target) -> None:
        await _adopt(service, parent, target)

    parent.door = Door(
        service.trusted, lambda: Target(Nobody(), route="child", request_timeout=seconds)
    )
    await parent.door.open()
    parent.following = asyncio.create_task(attaching.follow(parent.door, adopt))


async def _adopt(service: Debugger, root: ProgramSession, target: Target) -> None:
    """A child process reported: it becomes a session with its parent's breakpoints."""
    asked: Launch | Attach = root.launch or root.attached or Attach()
    wanted = Attach(
        pid=target.pid,
        just_my_code=asked.just_my_code,
        stop_all_threads=asked.stop_all_threads,
        path_mappings=root.attached.path_mappings if root.attached else (),
    )
    child: ProgramSession | None = None

    def born() -> Setup:
        nonlocal child
        parent = _parent_of(service, root, target)
        child = service.born(parent)
        target.watcher = child.begin()
        child.move(Signal.ATTACH)
        child.attached = wanted
        parent.event("child_session", session_id=child.id, pid=target.pid)
        target.ours = root.target is None or root.target.ours
        if target.pid is not None:
            attaching.watch_stranger(target, target.pid)
        return _setup(child, target)

    try:
        await attaching.take(target, attaching.debug_options(wanted), born, Bring.IS_THERE)
    except (errors.HoldfastError, Gone, asyncio.TimeoutError) as problem:
        if child is not None and not child.over:
            child.failed(errors.AttachFailed(f"the child was let go: {problem}"))
        raise
    assert child is not None
    child.running(target)


def _parent_of(service: Debugger, root: ProgramSession, target: Target) -> ProgramSession:
    """Whose child it is: the program's own, or one of its children's."""
    family, found = [root], root
    while family:
        member = family.pop()
        if member.target is not None and member.target.pid == target.parent_pid:
            found = member
        family += [each for each in service.sessions() if each.id in member.children]
    return found
