"""How an editor joins a session, what it is told of it at first, and what it leaves behind."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from holdfast import errors, timings
from holdfast.model.launch import NO_PREPARATION, Attach, Start
from holdfast.server.dap.dap_events import EventTeller
from holdfast.server.dap.dap_requests import CAUSE
from holdfast.service.session import Session

if TYPE_CHECKING:
    from holdfast.server.dap.dap_client import EditorClient

_EARLIER_OUTPUT_BYTES = 32 * 1024


def join(client: EditorClient, session: Session) -> None:
    client.session = session
    client.teller = EventTeller(client, session)
    client.editors.add(client, session)
    session.touch()
    if not session.program.can_restart and client.start is None:
        client.send_event("capabilities", {"capabilities": {"supportsRestartRequest": False}})


async def start_program(client: EditorClient, start: Start) -> None:
    """Start the program, or attach to it. If that fails, the editor says why, and ends."""
    session, teller = client.joined, client.teller
    assert teller is not None
    teller.tell_breakpoints()
    try:
        client.has_started = True
        await session.program.begin(start, NO_PREPARATION)
    except errors.HoldfastError as problem:
        client.has_started = False
        if isinstance(problem, errors.WrongState) and session.program.is_live:
            client.start = None  # somebody else was quicker: this one has joined it
        else:
            teller.tell_failure(problem.message, problem.hint)


async def tell_what_is(client: EditorClient) -> None:
    """What an editor has missed: the program, its output, threads, breakpoints, and its stop."""
    session, teller = client.joined, client.teller
    assert teller is not None
    tail = session.program.output.read_tail(0, _EARLIER_OUTPUT_BYTES)
    for entry in tail.entries:
        teller.on_output(entry["type"], entry["text"], entry)
    teller.tell_breakpoints()
    if not session.program.is_live:
        return  # it will be told when the program starts
    teller.tell_process()
    await teller.tell_threads()
    teller.tell_stops()


# -- leaving --------------------------------------------------------------------------------------


async def leave(client: EditorClient, wants_end: bool | None) -> None:
    """Leave the session, and end its program if that is wanted: explicitly, or by default.

    By default it ends with the editor that started it, if nobody else uses it; if other editors
    do, with the last of them. One that was attached to runs on.
    """
    session = client.session
    if session is None or client.teller is None:
        return
    CAUSE.set(client)
    ends = _should_end(client, session) if wants_end is None else wants_end
    if wants_end is None and _has_launched(client):
        client.editors.note_launcher_gone(session)
    is_shared = client.editors.is_shared(client, session)
    try:
        if ends and not session.over:
            await _end(client, session)
        elif not is_shared and _is_attached_here(client) and not session.over:
            await session.detach()
    except (errors.HoldfastError, asyncio.TimeoutError):
        pass  # it ended by itself meanwhile, or will soon
    client.teller.stop()
    client.teller = None
    client.editors.remove(client, session)
    with contextlib.suppress(errors.HoldfastError):  # its program may not answer any more
        await session.program.breakpoints.release_owner(client.owner)


def _should_end(client: EditorClient, session: Session) -> bool:
    is_responsible = _has_launched(client) or client.editors.is_launcher_gone(session)
    return is_responsible and not client.editors.is_shared(client, session)


def _has_launched(client: EditorClient) -> bool:
    return client.start is not None and not isinstance(client.start, Attach)


def _is_attached_here(client: EditorClient) -> bool:
    return client.has_created and client.has_started and isinstance(client.start, Attach)


async def _end(client: EditorClient, session: Session) -> None:
    if session.program.is_live:
        ending = asyncio.ensure_future(session.terminate(by=client.title))
        await asyncio.wait_for(asyncio.shield(ending), timings.TIMINGS.editor_ends)
    elif client.has_created:
        await session.delete()  # nothing ever ran in it
