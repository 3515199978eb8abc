"""Processes that want to be debugged: they are told how to connect, and do it by themselves."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from holdfast import errors
from holdfast.model.config import SessionConfig
from holdfast.model.launch import Attach
from holdfast.targets.program.attachment import Invitation
from holdfast.wire.program_answers import JoinInvitation

if TYPE_CHECKING:
    from holdfast.service.programs.program_service import Programs

log = logging.getLogger(__name__)


async def invite_process(programs: Programs, pid: int, name: str | None) -> JoinInvitation:
    """Open a session for a process, and tell how it joins that. It has a limited time to do so."""
    session = await programs.open(SessionConfig(name=name))
    invited: asyncio.Future[Invitation] = asyncio.get_running_loop().create_future()
    admission = asyncio.create_task(session.admit(Attach(pid=pid), invited.set_result))
    programs.admissions.add(admission)
    admission.add_done_callback(programs.admissions.discard)
    either: list[asyncio.Future[object]] = [invited, admission]  # type: ignore[list-item]
    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
    if not invited.done():
        await programs.delete(session)
        await admission  # which has failed
        raise errors.AttachFailed(f"process {pid} was not invited")
    admission.add_done_callback(_note_failure)
    invitation = invited.result()
    return JoinInvitation(
        session_id=session.id,
        ticket=invitation.ticket,
        probe=invitation.probe,
        debugpy=invitation.debugpy,
    )


def _note_failure(admission: asyncio.Task[None]) -> None:
    """The session says what went wrong; this keeps asyncio from saying it too."""
    if not admission.cancelled() and admission.exception() is not None:
        log.info("a process did not join: %s", admission.exception())
