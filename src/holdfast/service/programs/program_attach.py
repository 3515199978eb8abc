"""Attaches to a program that runs already: by its pid, or to a debugpy that listens."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from holdfast import errors
from holdfast.core.lifecycle import Signal
from holdfast.core.path_map import PathMap
from holdfast.model.launch import NO_PREPARATION, Attach, Preparation
from holdfast.targets.program import attachment
from holdfast.targets.program.attach_folder import AttachFolder
from holdfast.targets.program.attachment import Invitation, ProbeSource
from holdfast.targets.program.join_listener import JoinListener
from holdfast.targets.program.launcher import Setup
from holdfast.targets.program.process_view import ProcessView
from holdfast.targets.program.target import Target, TargetListener

if TYPE_CHECKING:
    from holdfast.service.programs.program_session import ProgramSession

Invite = Callable[[Invitation], None]


async def attach_program(
    session: ProgramSession,
    attach: Attach,
    preparation: Preparation = NO_PREPARATION,
    invite: Invite | None = None,
) -> None:
    """Attach. A mistake in the request leaves the session as it was.

    With `invite`, nothing is injected: that tells the process how to connect by itself."""
    before, last = session.state, (session.launch, session.attached)
    session.breakpoints.set_before_start(preparation)
    await session.end_processes()
    listener = session.begin_run()
    session.move(Signal.ATTACH)
    session.launch, session.attached = None, attach
    session.event("attaching", pid=attach.pid, host=attach.host, port=attach.port)
    try:
        target = await _connect(session, attach, listener, invite)
    except (errors.InvalidInput, errors.NotFound, errors.WrongState) as problem:
        session.launch, session.attached = last
        session.breakpoints.undo_set_before_start()
        session.refuse_start(before, problem)
        raise
    except errors.HoldfastError as problem:
        session.fail_start(problem)
        raise
    except Exception as problem:  # whatever a foreign debugger answers, the session must say so
        failure = errors.AttachFailed(f"the debugger there went away: {problem!r}")
        session.fail_start(failure)
        raise failure from problem
    finally:
        await session.storage.save()
    session.note_started(target)
    listener.note_started()


async def _connect(
    session: ProgramSession, attach: Attach, listener: TargetListener, invite: Invite | None
) -> Target:
    if attach.pid is None:
        return await _connect_by_address(session, attach, listener)
    _check_undebugged(session, attach.pid)
    if invite is None:
        await attachment.check_process(attach.pid)
    view = await attachment.view_process(attach.pid)
    if attach.debug_subprocesses:
        _check_children_reachable(view)
        await session.children.open_join_listener()
    settings = session.settings

    def new_target() -> Target:
        return Target(listener, route="pid", request_timeout=settings.request_timeout)

    join_listener = JoinListener(session.programs.trusted, session.programs.tickets, new_target)
    with contextlib.ExitStack() as on_failure:
        folder: AttachFolder | None = None
        if view.is_apart:
            folder = await asyncio.to_thread(AttachFolder.create, view)
            on_failure.callback(folder.remove)
        try:
            await join_listener.open(folder)
            if invite is None:
                target = await attachment.connect_to_process(
                    view, join_listener, session.children.ticket, settings.attach_timeout, folder
                )
            else:
                invite(attachment.write_invitation(join_listener, folder))
                target = await attachment.wait_for_process(
                    view, join_listener, settings.attach_timeout
                )
            await _configure(session, attach, target, ProbeSource.LOADED)
        finally:
            join_listener.close()
        on_failure.pop_all()
    if folder is not None:
        target.call_at_end(folder.remove)
    return target


def _check_children_reachable(view: ProcessView) -> None:
    if view.is_apart:
        raise errors.InvalidInput(
            f"children of process {view.pid} cannot be followed:"
            f" it has {', '.join(view.differences)}",
            hint="Attach without debug_subprocesses, or run this server where the process runs.",
            field="debug_subprocesses",
        )


def _check_undebugged(session: ProgramSession, pid: int) -> None:
    for other in session.programs.all():
        if other is session or other.over or other.target is None or other.target.pid != pid:
            continue
        raise errors.WrongState(
            f"process {pid} is debugged already, in session {other.id}",
            hint="Use that session, or detach it first.",
            state=other.state.value,
            possible=other.list_operations(),
            session_id=other.id,
        )


async def _connect_by_address(
    session: ProgramSession, attach: Attach, listener: TargetListener
) -> Target:
    assert attach.host is not None
    assert attach.port is not None
    if attach.debug_subprocesses:
        raise errors.InvalidInput(
            "children of a program that is reached by address cannot be followed",
            hint="Attach by pid, or launch the program.",
            field="debug_subprocesses",
        )
    seconds = session.settings.request_timeout
    target = await attachment.connect(attach.host, attach.port, listener, request_timeout=seconds)
    await _configure(session, attach, target, ProbeSource.TEXT)
    return target


async def _configure(
    session: ProgramSession, attach: Attach, target: Target, probe: ProbeSource
) -> None:
    target.paths = PathMap(attach.path_mappings)

    def setup() -> Setup:
        session.target = target  # set now, because it may stop before it is reported as running
        return session.breakpoints.setup_for(target.import_path)

    try:
        await attachment.configure(target, attachment.debug_options(attach), setup, probe)
    except BaseException as problem:  # cancellation included
        # An adapter takes no other client before this one disconnects.
        target.connection.post("disconnect", {"terminateDebuggee": False})
        target.connection.close()
        if isinstance(problem, (asyncio.TimeoutError, errors.TimedOut)):
            raise errors.TimedOut("the debugger there did not answer", operation="attach") from None
        raise
