"""How an editor comes and goes: initialize, launch, attach, configurationDone, restart, the end.

`launch` and `attach` only prepare. They are answered at once and followed by `initialized`, so that
it does not matter whether an editor waits for the one or the other. The program starts with
`configurationDone`, when all breakpoints are known.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from holdfast import errors
from holdfast.model.config import SessionConfig
from holdfast.model.launch import Attach, Launch, Start
from holdfast.server.dap import dap_joining
from holdfast.server.dap.dap_arguments import (
    NO_CHANGES,
    Arguments,
    AttachArguments,
    DisconnectArguments,
    InitializeArguments,
    JoinArguments,
    LaunchArguments,
    RestartArguments,
    TerminateArguments,
)
from holdfast.server.dap.dap_capabilities import CAPABILITIES
from holdfast.server.dap.dap_requests import Order, RequestList, parse_arguments
from holdfast.service.run_options import RunOptions
from holdfast.service.session import Session
from holdfast.wire.dap import Body

if TYPE_CHECKING:
    from holdfast.server.dap.dap_client import EditorClient

requests = RequestList()
_CHILDREN_NOT_FOLLOWED = "Child processes are not followed: this editor cannot show them.\n"


@requests.on("initialize", needs_session=False)
async def initialize(client: EditorClient, arguments: InitializeArguments) -> Body:
    if client.about is not None:
        raise errors.EditorNotReady("initialize was sent before")
    client.about = arguments
    return CAPABILITIES


# -- which session --------------------------------------------------------------------------------


@requests.on("launch", needs_session=False)
async def launch(client: EditorClient, arguments: LaunchArguments) -> None:
    """Start a program in a new session, or in the one of this door, unless one runs there."""
    _check_entry(client, arguments)
    session = _find_named(client, arguments)
    start: Start | None = None
    if session is None:
        start = arguments.to_launch()
        session = await _open_session(client, arguments, start)
    elif not session.program.is_live:
        start = arguments.to_launch() if arguments.has_program else NO_CHANGES
        await session.program.check_start(start)
    client.runs_only = arguments.no_debug
    _join(client, session, start)


@requests.on("attach", needs_session=False)
async def attach(client: EditorClient, arguments: AttachArguments) -> None:
    """Join a session, or attach to a program that runs without us: in a new session, or in the one
    of this door, if nothing runs there."""
    _check_entry(client, arguments)
    session = _find_named(client, arguments)
    start: Start | None = None
    door = client.editors.find_door(arguments.address)
    if session is None:
        start = arguments.to_attach() if door is None else None
        if start is not None:
            session = await _open_session(client, arguments, start)
        else:
            session = (door and door.session) or client.editors.debugger.programs.choose(None)
    elif door is None and "attach" in session.program.list_operations():
        start = arguments.to_attach()
    if start is None and session.over:
        raise errors.WrongState(
            f"session {session.id} has ended",
            hint="Launch it again, or attach to another.",
            state=session.state.value,
            session_id=session.id,
        )
    _join(client, session, start)


def _check_entry(client: EditorClient, arguments: JoinArguments) -> None:
    client.editors.check_token(arguments.token)
    if client.session is not None:
        raise errors.EditorNotReady("a session has been joined already")


def _find_named(client: EditorClient, arguments: JoinArguments) -> Session | None:
    """The session of the door, or the one that is named."""
    if client.door_session is not None:
        return client.door_session
    if arguments.session is not None:
        return client.editors.debugger.programs.choose(arguments.session)
    return None


async def _open_session(client: EditorClient, arguments: JoinArguments, start: Start) -> Session:
    session = await client.editors.debugger.programs.open(SessionConfig(name=arguments.name))
    try:
        await session.check_start(start)
    except BaseException:  # cancellation included: what cannot start leaves nothing behind
        await session.delete()
        raise
    client.has_created = True
    return session


def _join(client: EditorClient, session: Session, start: Start | None) -> None:
    client.start = _limit_children(client, start)
    dap_joining.join(client, session)
    client.send_event("initialized")


def _limit_children(client: EditorClient, start: Start | None) -> Start | None:
    """Child processes are followed only if the editor can show them. One that is held while nobody
    sees it would hold up its parent."""
    can_show = client.about is not None and client.about.supports_start_debugging_request
    if can_show or not isinstance(start, (Launch, Attach)) or not start.debug_subprocesses:
        return start
    client.send_output("console", _CHILDREN_NOT_FOLLOWED)
    return dataclasses.replace(start, debug_subprocesses=False)


@requests.on("configurationDone")
async def finish_configuration(client: EditorClient, arguments: Arguments) -> None:
    if client.is_configured:
        return
    client.is_configured = True
    if client.start is not None and client.joined.program.is_live:
        client.start = None  # somebody else has started it meanwhile
    if client.start is None:
        await dap_joining.tell_what_is(client)
    else:
        client.editors.run(dap_joining.start_program(client, client.start))


# -- again, and the end ---------------------------------------------------------------------------


@requests.on("restart")
async def restart(client: EditorClient, arguments: RestartArguments) -> None:
    """Run the program over. An editor may send its configuration, which may have changed."""
    changes: dict[str, object] = {}
    if client.has_created and arguments.arguments:
        given = parse_arguments(arguments.arguments, LaunchArguments)
        if given.has_program:
            changes = _list_fields(given.to_launch())
    await client.joined.restart(changes, RunOptions(by=client.owner, wait=False))


def _list_fields(launch: Launch) -> dict[str, object]:
    return {field.name: getattr(launch, field.name) for field in dataclasses.fields(launch)}


@requests.on("terminate", Order.AT_ONCE)
async def terminate(client: EditorClient, arguments: TerminateArguments) -> None:
    if client.joined.program.is_live:
        await client.joined.terminate(by=client.title)
    elif client.teller is not None:
        client.teller.tell_end()  # nothing was started yet, or it has ended by itself


@requests.on("disconnect", Order.AT_ONCE, needs_session=False)
async def disconnect(client: EditorClient, arguments: DisconnectArguments) -> None:
    """Only this editor leaves. What becomes of the program: `dap_joining.leave`."""
    client.is_leaving = True
    await dap_joining.leave(client, False if arguments.restart else arguments.terminate_debuggee)
