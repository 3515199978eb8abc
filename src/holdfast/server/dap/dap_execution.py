"""Running the program: continue, steps, pause, and jumps to another line.

When two editors let the program run, the first one does it. The other is told the same: it runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast import errors
from holdfast.server.dap.dap_arguments import (
    GotoArguments,
    GotoTargetsArguments,
    ThreadArguments,
    to_path,
)
from holdfast.server.dap.dap_requests import Order, RequestList
from holdfast.service.run_options import RunOptions
from holdfast.service.session import Session
from holdfast.wire.dap import Body

if TYPE_CHECKING:
    from holdfast.server.dap.dap_client import EditorClient

requests = RequestList()


def _build_options(client: EditorClient, thread: int | None) -> RunOptions:
    return RunOptions(by=client.owner, wait=False, thread_id=thread or None)


@requests.on("continue")
async def resume(client: EditorClient, arguments: ThreadArguments) -> Body:
    session = client.joined
    options = _build_options(client, None)
    is_one = arguments.single_thread and arguments.thread_id is not None
    try:
        if is_one and arguments.thread_id is not None:
            await session.program.resume_thread(arguments.thread_id, options)
        else:
            await session.resume(options)
    except errors.WrongState:
        if not _has_run_on(session):
            raise
    return {"allThreadsContinued": not is_one}


def _has_run_on(session: Session) -> bool:
    """Whether somebody else was quicker: it runs, or has ended meanwhile."""
    return session.program.is_running or session.over


async def _step(client: EditorClient, action: str, arguments: ThreadArguments) -> None:
    session = client.joined
    try:
        await session.step(action, _build_options(client, arguments.thread_id))
    except errors.WrongState:
        if not _has_run_on(session):
            raise


@requests.on("next")
async def step_over(client: EditorClient, arguments: ThreadArguments) -> None:
    await _step(client, "step-over", arguments)


@requests.on("stepIn")
async def step_into(client: EditorClient, arguments: ThreadArguments) -> None:
    await _step(client, "step-into", arguments)


@requests.on("stepOut")
async def step_out(client: EditorClient, arguments: ThreadArguments) -> None:
    await _step(client, "step-out", arguments)


@requests.on("pause", Order.AT_ONCE)
async def pause(client: EditorClient, arguments: ThreadArguments) -> None:
    session = client.joined
    if session.program.is_paused and arguments.thread_id is None:
        return
    try:
        await session.pause(_build_options(client, arguments.thread_id))
    except errors.ThreadNotFound:
        await session.pause(_build_options(client, None))  # it ended, or is none of the program's
    except errors.WrongState:
        if not session.program.is_paused:
            raise


@requests.on("gotoTargets")
async def list_goto_targets(client: EditorClient, arguments: GotoTargetsArguments) -> Body:
    path = to_path(arguments.source.path or "")
    line = client.from_line(arguments.line)
    if not client.joined.program.breakpoints.list_lines(path, line, line):
        return {"targets": []}
    number = client.places.add((path, line))
    return {"targets": [{"id": number, "label": f"line {line}", "line": arguments.line}]}


@requests.on("goto")
async def jump(client: EditorClient, arguments: GotoArguments) -> None:
    path, line = client.places.get(arguments.target_id)
    await client.joined.program.jump(arguments.thread_id, path, line)
