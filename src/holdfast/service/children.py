"""Attaching to programs that run already, and following the children of those we launched."""

from __future__ import annotations

import asyncio

from holdfast import errors
from holdfast.core.lifecycle import Signal
from holdfast.model.launch import Attach
from holdfast.service.service import Service
from holdfast.service.session import Session
from holdfast.targets.program import attaching
from holdfast.targets.program.attaching import Door
from holdfast.targets.program.launching import Setup
from holdfast.targets.program.target import Target, Watcher


async def attach(service: Service, session: Session, wanted: Attach) -> None:
    """Attach to a process, or to a debugpy that listens."""
    async with session.busy:
        session.require("attach")
        await session.end()
        watcher = session.begin()
        session.move(Signal.ATTACH)
        session.attached = wanted
        session.event("attaching", pid=wanted.pid, host=wanted.host, port=wanted.port)
        try:
            target = await _reached(service, session, wanted, watcher)
        except errors.HoldfastError as problem:
            session.failed(problem)
            raise
        finally:
            await session.saved()
        session.running(target)


async def _reached(service: Service, session: Session, wanted: Attach, watcher: Watcher) -> Target:
    seconds = service.settings.request_timeout
    options = attaching.debug_options(wanted)
    if wanted.pid is None:
        assert wanted.host is not None
        assert wanted.port is not None
        target = await attaching.connect(wanted.host, wanted.port, watcher, request_timeout=seconds)
        door = None
    else:
        door = Door(service.trusted, lambda: Target(watcher, route="pid", request_timeout=seconds))
        await door.open()
        try:
            target = await attaching.reach(wanted.pid, door, service.settings.attach_timeout)
        except BaseException:
            door.close()
            raise
    try:
        await attaching.take(target, options, lambda: _setup(session, target), remote=door is None)
    except (asyncio.TimeoutError, errors.TimedOut):
        target.connection.close()
        raise errors.TimedOut("the debugger there did not answer", operation="attach") from None
    except BaseException:
        target.connection.close()
        raise
    finally:
        if door is not None:
            door.close()
    return target


def _setup(session: Session, target: Target) -> Setup:
    session.breakpoints.import_path = target.import_path
    session.breakpoints.refresh()
    points = session.breakpoints
    return Setup(points.lines_by_file(), points.functions(), session.exceptions)


# -- children -------------------------------------------------------------------------------------


async def open_door(service: Service, parent: Session) -> None:
    """From now on the children of this session's program report to us."""
    seconds = service.settings.request_timeout
    waiting: dict[Target, Session] = {}

    def made() -> Target:
        child = service.unborn(parent)
        target = Target(child.begin(), route="child", request_timeout=seconds)
        waiting[target] = child
        return target

    async def adopt(target: Target) -> None:
        await _adopt(service, parent, waiting.pop(target), target)

    parent.door = Door(service.trusted, made)
    await parent.door.open()
    parent.following = asyncio.create_task(attaching.follow(parent.door, adopt))


async def _adopt(service: Service, parent: Session, child: Session, target: Target) -> None:
    """A child process reported: it becomes a session with its parent's breakpoints."""
    options = {
        "justMyCode": bool(parent.launch and parent.launch.just_my_code),
        "stopAllThreadsOnSuspend": True,
        "subProcess": True,
        "showReturnValue": True,
        "redirectOutput": False,
    }
    child.breakpoints.restore(parent.breakpoints.documents())
    child.exceptions = parent.exceptions
    child.move(Signal.ATTACH)
    service.born(parent, child)
    await attaching.take(target, options, lambda: _setup(child, target))
    child.attached = Attach(pid=target.pid)
    if target.pid is not None:
        attaching.watch_stranger(target, target.pid)
    child.running(target)
    parent.event("child_session", session_id=child.id, pid=target.pid)
