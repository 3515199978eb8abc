"""What a person does to the program: running it, breakpoints, watches, input."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from holdfast.cli.screen.debug_state import Breakpoint, DebugState
from holdfast.cli.screen.request_threads import RequestThreads
from holdfast.cli.screen.session_client import SessionClient
from holdfast.client.http_client import ApiError

Say = Callable[[str], None]


@dataclass(frozen=True)
class _CursorRun:
    """A run to the cursor: a breakpoint until the next stop."""

    breakpoint_id: str
    hold_id: str
    """The stop that it began at."""


class SessionActions:
    """Requests that change something. They go by the state that the person saw."""

    def __init__(self, client: SessionClient, requests: RequestThreads, say: Say) -> None:
        self.state = DebugState("")
        self._client, self._call, self._say = client, requests.call, say
        self._cursor_run: _CursorRun | None = None

    # -- running ---------------------------------------------------------------------------------

    async def run(self, action: str, thread_id: int) -> None:
        """Continue or step: the thread that stopped, or another one."""
        state = self.state
        if not state.is_paused:
            self._say("It has ended. R runs it again." if state.is_over else "It runs. p pauses.")
        elif thread_id != state.thread_id:
            await self._call(self._client.run_thread, thread_id, action)
        else:
            await self._call(self._client.decide, state.hold_id, action)

    async def run_to(self, file: str, line: int, thread_id: int) -> None:
        if self.state.is_paused and not self.find_breakpoints(file, line):
            point = await self._call(self._client.set_breakpoint, file, line)
            if not point.is_verified:
                await self._call(self._client.remove_breakpoint, point.id)
                self._say(point.message or "It cannot stop at this line.")
                return
            self._cursor_run = _CursorRun(point.id, self.state.hold_id)
        await self.run("continue", thread_id)

    @property
    def has_reached_cursor(self) -> bool:
        """Whether a run to the cursor is over, there or at another stop."""
        run, state = self._cursor_run, self.state
        return run is not None and (
            state.is_over or (state.is_paused and state.hold_id != run.hold_id)
        )

    async def end_cursor_run(self) -> None:
        run, self._cursor_run = self._cursor_run, None
        if run is None:
            return
        try:
            await self._call(self._client.remove_breakpoint, run.breakpoint_id)
        except ApiError:  # somebody else has removed it
            return

    async def pause(self) -> None:
        if self.state.is_paused or self.state.is_over:
            self._say("It does not run.")
            return
        message = await self._call(self._client.pause)
        if message:
            self._say(message)

    async def restart(self) -> None:
        await self._call(self._client.restart)

    # -- breakpoints -----------------------------------------------------------------------------

    def find_breakpoints(self, file: str, line: int) -> list[Breakpoint]:
        points = self.state.breakpoints
        return [p for p in points if (p.kind, p.file, p.line) == ("line", file, line)]

    async def toggle_breakpoint(self, file: str, line: int) -> None:
        points = self.find_breakpoints(file, line)
        for point in points:
            await self.remove_breakpoint(point)
        if not points:
            await self._set_breakpoint(file, line, None)

    async def set_condition(self, file: str, line: int, condition: str) -> None:
        """A breakpoint with this condition; with an empty one it always stops."""
        points = self.find_breakpoints(file, line)
        if not points:
            await self._set_breakpoint(file, line, condition or None)
        for point in points:
            change = self._client.change_breakpoint
            await self._call(change, point.id, condition=condition or None)

    async def _set_breakpoint(self, file: str, line: int, condition: str | None) -> None:
        point = await self._call(self._client.set_breakpoint, file, line, condition)
        if not point.is_verified and point.message:
            self._say(point.message)

    async def remove_breakpoint(self, point: Breakpoint) -> None:
        await self._call(self._client.remove_breakpoint, point.id)

    async def switch_breakpoint(self, point: Breakpoint) -> None:
        change = self._client.change_breakpoint
        await self._call(change, point.id, enabled=not point.is_enabled)

    # -- watches and input -----------------------------------------------------------------------

    async def add_watch(self, expression: str) -> None:
        if expression.strip():
            await self._call(self._client.add_watch, expression.strip())

    async def remove_watch(self, watch_id: str) -> None:
        await self._call(self._client.remove_watch, watch_id)

    async def give_input(self, text: str, *, closes: bool = False) -> None:
        await self._call(self._client.send_input, text, closes=closes)
