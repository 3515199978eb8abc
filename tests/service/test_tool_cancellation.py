"""A call of a tool that is cancelled: its program goes on, and nothing of the call is left."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from harness import Program
from holdfast.model.session_state import State
from holdfast.service.debugger import Debugger
from holdfast.service.programs.program_session import ProgramSession
from holdfast.service.tools.tool_client import ToolClient
from holdfast.wire.tool_requests import DebugContinue, DebugRun, DebugStep, ToolRequest

GATE = Program("gate.py")


@asynccontextmanager
async def standing_at_the_gate(
    folder: Path, client: ToolClient
) -> AsyncIterator[tuple[Debugger, ProgramSession]]:
    os.mkfifo(folder / "gate")
    debugger = await Debugger.open(folder / "data", trusted=lambda *_: True, pool_size=0)
    await debugger.start()
    try:
        request = DebugRun(
            target=GATE.path,
            args=[str(folder / "gate")],
            breakpoints=[f"{GATE.path}:{GATE.line('gate')}"],
        )
        await debugger.tools.call("debug_run", request, client)
        yield debugger, debugger.programs.choose(None)
    finally:
        await debugger.close()


async def cancel_while_it_runs(session: ProgramSession, call: Awaitable[object]) -> None:
    task = asyncio.ensure_future(call)
    assert await session.wait_until(lambda: session.state is State.RUNNING, 60)
    await asyncio.sleep(0)  # so that the call waits
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    assert task.cancelled()


@pytest.mark.parametrize(
    ("tool", "request_"),
    [
        ("debug_continue", DebugContinue(until=f"{GATE.path}:{GATE.line('after')}")),
        ("debug_continue", DebugContinue(until="after")),
        ("debug_step", DebugStep(kind="to_line", line=GATE.line("after"))),
    ],
)
def test_what_was_run_to_is_given_up(tmp_path: Path, tool: str, request_: ToolRequest) -> None:
    async def check() -> None:
        client = ToolClient()
        async with standing_at_the_gate(tmp_path, client) as (debugger, session):
            await cancel_while_it_runs(session, debugger.tools.call(tool, request_, client))
            assert not any(point.is_until for point in session.breakpoints.points)
            await session.inspection.threads()  # its answer comes after the program has heard of it
            await open_gate(tmp_path)
            await session.wait_until(lambda: session.state is not State.RUNNING, 60)
            assert session.state is State.TERMINATED

    asyncio.run(check())


def test_a_wait_that_is_cancelled_can_be_made_again(tmp_path: Path) -> None:
    async def check() -> None:
        client = ToolClient()
        async with standing_at_the_gate(tmp_path, client) as (debugger, session):
            wait = debugger.tools.call("debug_continue", DebugContinue(), client)
            await cancel_while_it_runs(session, wait)
            await open_gate(tmp_path)
            result = await debugger.tools.call("debug_continue", DebugContinue(), client)
            assert result.text.startswith("terminated")
            assert session.id in result.text

    asyncio.run(check())


async def open_gate(folder: Path) -> None:
    await asyncio.to_thread((folder / "gate").write_text, "open")
