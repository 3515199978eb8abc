"""A live program: commands in, stops and endings out."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from holdfast import errors
from holdfast.core import hit_conditions, logpoints
from holdfast.model.breakpoint import Breakpoint, ExceptionFilters
from holdfast.model.location import Location
from holdfast.model.stop import Stop, ThrownException
from holdfast.targets.program.dap_connection import Connection, Gone, body_of
from holdfast.targets.program.pipes import Input, Output
from holdfast.targets.program.process_killer import kill_kin
from holdfast.targets.program.process_spawner import Spawned

STEPS = {"continue": "continue", "step-over": "next", "step-into": "stepIn", "step-out": "stepOut"}
_REASONS = {"function breakpoint": "breakpoint", "goto": "step"}
_DRAIN_SECONDS = 0.5
_INTERRUPT_SECONDS = 1.0
_END_SECONDS = 15.0
_END_SECONDS = 2.0
_TAKING_SECONDS = 0.1


class Watcher:
    """Who is told what happens in a target, and by default does nothing about it.

    Called in the event loop; must not wait.
    """

    def stopped(self, stop: Stop) -> None: ...
    def thread_ended(self, thread: int) -> None: ...
    def output(self, kind: str, text: str, **place: Any) -> None: ...
    def input_wanted(self) -> None: ...
    def input_taken(self) -> None: ...
    def child(self, pid: int, how: str, command: list[str], followed: bool) -> None: ...
    def breakpoint_failed(self, number: int, error: str) -> None: ...
    def counted(self, hits: dict[str, int]) -> None: ...
    def debugger_lost(self) -> None: ...
    def exited(self, code: int | None) -> None: ...


class Nobody(Watcher):
    """The watcher of an interpreter that has no program yet: there is nothing to tell."""


class Target:
    """One program with a debugger inside, from its first breath to its last."""

    def __init__(self, watcher: Watcher, *, route: str, request_timeout: float = 10.0) -> None:
        self.route = route
        self.pid: int | None = None
        self.parent_pid: int | None = None
        self.ours = False
        """We started it, or it is the child of one that we started."""
        self.version: tuple[int, ...] = ()
        self.import_path: list[str] = []
        self.patches: dict[str, bool] = {}
        self.hello: asyncio.Future[dict[str, Any]] | None = None
        self.process: Spawned | None = None
        self.input: Input | None = None
        self.outputs: list[Output] = []
        self.connection = Connection(self._event, self._closed)
        self.request_timeout = request_timeout
        self.initialized = asyncio.Event()
        self.ended = asyncio.Event()
        self._exit_code: int | None = None
        self.watcher = watcher
        self._detached = False
        self._ending: asyncio.Task[None] | None = None
        self._losing: asyncio.Task[None] | None = None
        self._gone = asyncio.Event()
        self._wish: object | None = None
        self._last_wishes: list[Callable[[], None]] = []

    # -- what the target tells --------------------------------------------------------------

    def _event(self, name: str, body: dict[str, Any]) -> None:
        if name == "stopped":
            self._drain_outputs()
            self.watcher.stopped(_stop(body))
        elif name == "holdfast":
            self._told(body)
        elif name == "thread" and body.get("reason") == "exited":
            self.watcher.thread_ended(int(body["threadId"]))
        elif name == "initialized":
            self.initialized.set()
        elif self.route == "adapter":
            self._adapter_event(name, body)

    def _adapter_event(self, name: str, body: dict[str, Any]) -> None:
        """What only an adapter tells; on the direct way we have pipes and a process of our own."""
        if name == "output" and body.get("category") in ("stdout", "stderr"):
            self.watcher.output(body["category"], str(body.get("output", "")))
        elif name == "exited":
            self._exit_code = body.get("exitCode")
        elif name == "terminated":
            self.connection.close()

    def _told(self, body: dict[str, Any]) -> None:
        kind = body.get("kind")
        if kind == "log":
            self._drain_outputs()
            self.watcher.output("log", body["text"] + "\n", file=body["file"], line=body["line"])
        elif kind == "input_wanted":
            self._drain_outputs()
            self._input_wanted(int(body["taken"]))
        elif kind == "input_taken":
            self._wish = None
            self.watcher.input_taken()
        elif kind == "child":
            self.watcher.child(body["pid"], body["how"], body["command"], body["followed"])
        elif kind == "breakpoint_error":
            self.watcher.breakpoint_failed(body["id"], body["error"])
        elif kind == "hits":
            self.watcher.counted(body["hits"])

    def _input_wanted(self, taken: int) -> None:
        """It found its stdin empty. Unless we filled it meanwhile it waits."""
        wish = self._wish = object()
        given = self.input
        if given is not None and (given.unread or not given.open):
            return  # there is something for it to read, or the end of file
        if given is None or given.given == taken:
            self.watcher.input_wanted()
            return
        # It has just taken what we gave, and will say so; or another reader took it.
        asyncio.get_running_loop().call_later(_TAKING_SECONDS, self._still_wanted, wish)

    def _still_wanted(self, wish: object) -> None:
        given = self.input
        if self._wish is wish and not (given and (given.unread or not given.open)):
            self.watcher.input_wanted()

    def _drain_outputs(self) -> None:
        # What was written before this was told (a prompt, say) is in the pipe already.
        for output in self.outputs:
            output.drain()

    def _closed(self) -> None:
        self._gone.set()
        if self.process is None:
            self.finish(None)
        elif not self._detached and not self.ended.is_set():
            self._losing = asyncio.create_task(self._lost())

    async def _lost(self) -> None:
        """Nearly always the process ends a moment later; if not, it runs on by itself."""
        if not await self._ended_soon() and not self._detached:
            self.watcher.debugger_lost()

    async def _ended_soon(self) -> bool:
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self.ended.wait(), _END_SECONDS)
        return self.ended.is_set()

    async def _crash(self, op: str) -> errors.SessionCrashed:
        """Why an answer will not come: the end that explains it is told first."""
        if await self._ended_soon():
            return errors.SessionCrashed(f"the target ended during {op!r}", operation=op)
        return errors.SessionCrashed(
            f"{op!r} is not possible: the debugger in the target is gone, the program runs on",
            hint="Terminate or restart it; it may have closed the descriptors that it found open.",
            operation=op,
        )

    def introduce(self, facts: dict[str, Any]) -> None:
        """What the probe says of the process that it is in."""
        self.pid, self.version = facts["pid"], tuple(facts["version"])
        self.import_path, self.patches = list(facts["path"]), dict(facts["patches"])
        self.parent_pid = facts["ppid"]

    def process_of_ours(self) -> Spawned:
        assert self.process is not None
        return self.process

    # -- its end ----------------------------------------------------------------------------

    def watch_process(self, process: Spawned) -> None:
        self.process, self.ours = process, True
        self.pid = process.pid
        self._ending = asyncio.create_task(self._await_end(process))

    async def _await_end(self, process: Spawned) -> None:
        code = await process.wait()
        # Descendants may hold the pipes open for ever: what is there is read, no more.
        readers = [asyncio.create_task(output.closed.wait()) for output in self.outputs]
        if readers:
            _done, late = await asyncio.wait(readers, timeout=_DRAIN_SECONDS)
            for task in late:
                task.cancel()
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._gone.wait(), _DRAIN_SECONDS)
        self.finish(code)

    def finish(self, code: int | None) -> None:
        if self.ended.is_set():
            return
        if self.route == "adapter":
            code = self._exit_code
        self.ended.set()
        self.connection.close()
        for output in self.outputs:
            output.close()
        if self.input is not None:
            self.input.close()
        for wish in self._last_wishes:
            wish()
        if not self._detached:
            self.watcher.exited(code)

    def when_finished(self, wish: Callable[[], None]) -> None:
        if self.ended.is_set():
            wish()
        else:
            self._last_wishes.append(wish)

    async def kill(self, grace: float | None = None) -> None:
        """End it and every process it started."""
        if self.process is not None:
            await self.process.kill_tree(grace)
            await self.seen_to_end()
        elif self.ended.is_set():
            return  # its pid may be another's by now
        elif self.pid is not None and self.route != "adapter":
            await kill_kin(self.pid, grace)
            self.finish(None)
        else:
            with contextlib.suppress(Gone, asyncio.TimeoutError):
                asked = self.connection.post("disconnect", {"terminateDebuggee": True})
                await asyncio.wait_for(asked, self.request_timeout)
            self.finish(None)

    async def seen_to_end(self) -> None:
        """Wait for its end to be told; a process that nothing can kill must not keep us."""
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self.ended.wait(), _END_SECONDS)

    async def drop(self) -> None:
        """Its session goes: what is ours goes with it, what was there before us stays."""
        if self.ours:
            await self.kill()
        elif not self.ended.is_set():
            await self.detach()

    async def detach(self) -> None:
        """Let it run on without us, at full speed and past every breakpoint."""
        self._detached = True
        if self.process is not None and self.route != "adapter":
            self.connection.post("holdfast", {"op": "disconnect_pipes"})
        posted = [
            self.connection.post("holdfast", {"op": "disarm"}),
            self.connection.post("disconnect", {"terminateDebuggee": False}),
        ]
        if self.route != "adapter":  # an adapter ends the conversation by itself
            posted.append(self.connection.post("holdfast", {"op": "stop_tracing"}))
        await asyncio.wait(posted, timeout=self.request_timeout)
        if self.process is not None:
            await self.process.detach()
            if self._ending is not None:
                self._ending.cancel()
        self.finish(None)

    # -- commands ---------------------------------------------------------------------------

    async def operate(self, op: str, timeout: float | None = None, **arguments: Any) -> Any:
        try:
            return await self.connection.operate(op, timeout or self.request_timeout, **arguments)
        except errors.SessionCrashed:
            raise await self._crash(op) from None

    def run(self, action: str, thread: int, *, only_this: bool = False) -> None:
        """Continue or step; the stop that follows is told to the watcher."""
        arguments: dict[str, Any] = {"threadId": thread}
        if action == "continue":
            arguments["singleThread"] = only_this
        self.connection.post(STEPS[action], arguments)

    async def pause(self, thread: int | None = None) -> None:
        try:
            await self.connection.request(
                "pause", {"threadId": thread or "*"}, timeout=self.request_timeout
            )
        except errors.SessionCrashed:
            raise await self._crash("pause") from None

    async def execute(self, op: str, timeout: float, **arguments: Any) -> dict[str, Any]:
        """An operation that runs the user's code: interrupted when it takes too long."""
        asked = self.connection.post("holdfast", {"op": op, **arguments})
        try:
            response = await asyncio.wait_for(asyncio.shield(asked), timeout)
        except asyncio.TimeoutError:
            where = {k: v for k, v in arguments.items() if k in ("thread", "reference")}
            interrupted = await self._interrupt(asked, where)
            raise errors.TimedOut(
                f"{op} did not return within {timeout:g} s"
                + ("; it was interrupted" if interrupted else "; it is still running"),
                operation=op,
                timeout=timeout,
                interrupted=interrupted,
            ) from None
        except Gone:
            raise await self._crash(op) from None
        return body_of(response, op)

    async def _interrupt(
        self, asked: asyncio.Future[dict[str, Any]], where: dict[str, Any]
    ) -> bool:
        try:
            await self.operate("interrupt", _INTERRUPT_SECONDS, **where)
            await asyncio.wait_for(asyncio.shield(asked), _INTERRUPT_SECONDS)
        except (errors.HoldfastError, asyncio.TimeoutError, Gone):
            return False
        return True

    # -- breakpoints ------------------------------------------------------------------------

    def post_lines(
        self, file: str, breakpoints: Sequence[Breakpoint]
    ) -> asyncio.Future[dict[str, Any]]:
        specs = [{"line": each.line, **_rule(each)} for each in breakpoints]
        return self.connection.post(
            "holdfast", {"op": "breakpoints", "file": file, "breakpoints": specs}
        )

    def post_functions(self, breakpoints: Sequence[Breakpoint]) -> asyncio.Future[dict[str, Any]]:
        specs = [
            {
                "function": {"name": each.name, "file": each.file, "first_line": each.first_line},
                **_rule(each),
            }
            for each in breakpoints
        ]
        return self.connection.post("holdfast", {"op": "functions", "breakpoints": specs})

    def post_exceptions(self, chosen: ExceptionFilters) -> asyncio.Future[dict[str, Any]]:
        return self.connection.post(
            "holdfast",
            {
                "op": "exceptions",
                "filters": list(chosen.filters),
                "types": list(chosen.types),
                "user_code_only": chosen.user_code_only,
            },
        )

    async def settled(self, *posted: asyncio.Future[dict[str, Any]]) -> None:
        """Wait until the debugger has taken what was posted; one that died has nothing to take."""
        if not posted:
            return
        done, late = await asyncio.wait(posted, timeout=self.request_timeout)
        if late and not self.connection.closed:
            raise errors.TimedOut("the debugger did not take the change", operation="breakpoints")
        for future in done:
            with contextlib.suppress(Gone):
                body_of(future.result(), "breakpoints")


def _rule(point: Breakpoint) -> dict[str, Any]:
    """What the probe needs to decide by itself."""
    rule: dict[str, Any] = {"id": point.number, "keep_hits": True}
    if point.condition:
        rule["condition"] = point.condition.strip()
    if point.hit_condition:
        parsed = hit_conditions.parse(point.hit_condition)
        rule["hit"] = [parsed.op, parsed.count]
    if point.log_message is not None:
        rule["log"] = [
            part
            if isinstance(part, str)
            else {"expression": part.expression, "conversion": part.conversion, "spec": part.spec}
            for part in logpoints.parse(point.log_message)
        ]
    return rule


def _stop(body: dict[str, Any]) -> Stop:
    shown = body.get("holdfast") or {}
    frames = tuple(shown.get("frames") or ())
    location = _location(frames[0]) if frames else None
    reason = str(body.get("reason"))
    return Stop(
        thread_id=int(body.get("threadId") or 1),
        reason=_REASONS.get(reason, reason),
        location=location,
        frame=int(shown.get("frame") or 0),
        frames=frames,
        locals=tuple(shown.get("locals") or ()),
        locals_total=int(shown.get("locals_total") or 0),
        returned=tuple(shown.get("returned") or ()),
        threads=tuple(shown.get("threads") or ()),
        breakpoints=tuple(
            (f"bp_{each['id']}", int(each["hits"])) for each in shown.get("breakpoints") or ()
        ),
        exception=_exception(shown.get("exception"), location),
        all_threads_stopped=bool(body.get("allThreadsStopped", True)),
    )


def _exception(shown: dict[str, Any] | None, location: Location | None) -> ThrownException | None:
    if not shown:
        return None
    return ThrownException(shown["type"], shown["module"], shown["message"], location)


def _location(frame: dict[str, Any]) -> Location:
    return Location(str(frame["file"]), int(frame["line"]), str(frame["name"]))
