"""A live program under the debugger: takes commands, reports stops and its end."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from typing import Any, TypedDict, cast

from holdfast import errors, timings
from holdfast.core import hit_conditions, logpoints
from holdfast.core.function_finder import is_pattern
from holdfast.core.path_map import PathMap
from holdfast.model.breakpoint import Breakpoint, ExceptionFilters, build_breakpoint_id
from holdfast.model.location import Location
from holdfast.model.stop import DataChange, FailedCondition, Stop, ThrownException
from holdfast.targets.program.dap_connection import Connection, ConnectionClosed, Reply, body_of
from holdfast.targets.program.outside_stacks import (
    OutsideStacks,
    UnreadableProcess,
    read_stacks,
)
from holdfast.targets.program.pipes import Input, Output
from holdfast.targets.program.process_killer import kill_family
from holdfast.targets.program.process_spawner import Spawned
from holdfast.wire import dap

STEPS = {"continue": "continue", "step-over": "next", "step-into": "stepIn", "step-out": "stepOut"}
_NOT_OURS_TO_RESTART = "Attach again if it still runs, or create a new session."


class _Answered(Exception):
    """The program answered while it was looked at from outside."""


class FailedExpression(TypedDict):
    """An expression of a breakpoint that raised, when it does so for the first time."""

    id: int
    error: str
    expression: str
    field: str
    stops: bool


class FoundFunction(TypedDict):
    """A function that a breakpoint names, in a module that the program has loaded."""

    id: int
    file: str
    line: int
    name: str
    qualname: str
    limit: int | None
    """Set of one that is too many: how many the breakpoint stops in."""


class Counts(TypedDict):
    """What the probe has counted, by the numbers of the breakpoints, when the program ends."""

    hits: dict[str, int]
    passes: dict[str, int]
    errors: list[dict[str, Any]]


class CollectedRow(TypedDict):
    """A hit of an experiment: its number, its place, and the values of its expressions."""

    id: int
    hit: int
    file: str
    line: int
    values: list[str]


class TracingChange(TypedDict):
    """The program took the debugger's tracing away, or gave it back."""

    state: str
    how: str
    thread: int | None
    place: dict[str, Any] | None


class Replacement(TypedDict):
    """The program that has taken the place of another in its process, by `exec`."""

    command: list[str]
    followed: bool


class TargetListener:
    """Receives what happens in a target. By default it does nothing.

    The methods are called in the event loop and must not block.
    """

    def on_stop(self, stop: Stop) -> None: ...
    def on_thread_start(self, thread: int) -> None: ...
    def on_thread_end(self, thread: int) -> None: ...
    def on_output(self, kind: str, text: str, **place: Any) -> None: ...
    def on_input_wanted(self) -> None: ...
    def on_input_taken(self) -> None: ...
    def on_child(self, pid: int, how: str, command: list[str], followed: bool) -> None: ...
    def on_breakpoint_error(self, failure: FailedExpression) -> None: ...
    def on_data_found(self, breakpoint_id: str, message: str | None) -> None: ...
    def on_data_ended(self, breakpoint_id: str, message: str) -> None: ...
    def on_function_found(self, found: FoundFunction) -> None: ...
    def on_exception(self, exception: dap.Body) -> None: ...
    def on_counts(self, counts: Counts) -> None: ...
    def on_row(self, row: CollectedRow) -> None: ...
    def on_remark(self, text: str) -> None: ...
    def on_traced(self) -> None: ...
    def on_tracing(self, change: TracingChange) -> None: ...
    def on_debugger_lost(self, replacement: Replacement | None) -> None: ...
    def on_exit(self, code: int | None) -> None: ...


class Hello(TypedDict):
    """What the probe says about the process that it is in."""

    pid: int
    ppid: int
    version: list[int]
    path: list[str]
    patches: dict[str, bool]


class Target:
    """A program with a debugger inside, from its start to its end."""

    def __init__(self, listener: TargetListener, *, route: str, request_timeout: float) -> None:
        self.route = route
        self.pid: int | None = None
        self.outer_pid: int | None = None
        """Its number here, if it knows itself by another one."""
        self.parent_pid: int | None = None
        self.is_own = False
        """We started it, or it is the child of one that we started."""
        self.version: tuple[int, ...] = ()
        self.import_path: list[str] = []
        self.paths = PathMap()
        """Where its files are here, if they are elsewhere for it."""
        self.hello: Reply | None = None
        """The answer to a `hello` that was posted when the process was started."""
        self.process: Spawned | None = None
        self.input: Input | None = None
        self.outputs: list[Output] = []
        self.connection = Connection(self._on_event, self._on_closed)
        self.request_timeout = request_timeout
        self.initialized = asyncio.Event()
        self.ended = asyncio.Event()
        self._exit_code: int | None = None
        self.listener = listener
        self._detached = False
        self._ending: asyncio.Task[None] | None = None
        self._losing: asyncio.Task[None] | None = None
        self._gone = asyncio.Event()
        self._evaluations = itertools.count(1)
        """Numbers, by which each can be interrupted."""
        self._input_request: object | None = None
        self._written_when_asked = 0
        self._replacement: Replacement | None = None
        self.is_watched = False
        """We learn of the end of a process that is not our child."""
        self._end_callbacks: list[Callable[[], None]] = []
        # For a look from outside.
        self._thread_ids: dict[int, int] = {}
        self._unanswered: Reply | None = None
        self._outside_lock = asyncio.Lock()

    # -- events -----------------------------------------------------------------------------

    def _on_event(self, name: str, body: dap.Body) -> None:
        body = self.paths.localize(body)
        if name == "stopped":
            self._drain_outputs()
            threads = (body.get("holdfast") or {}).get("threads") or ()
            if self.input is not None and self.input.is_terminal and len(threads) == 1:
                self._input_request = None  # its only thread waits for input no longer
            self.note_threads(threads)
            self.listener.on_stop(_build_stop(body))
        elif name == "holdfast":
            self._on_probe_event(body)
        elif name == "thread":
            self._on_thread_event(body)
        elif name == "initialized":
            self.initialized.set()
        elif self.route == "adapter":
            self._on_adapter_event(name, body)

    def _on_thread_event(self, body: dap.Body) -> None:
        thread = int(body["threadId"])
        if body.get("reason") == "exited":
            self._thread_ids = {k: v for k, v in self._thread_ids.items() if v != thread}
            self.listener.on_thread_end(thread)
        else:
            self.note_threads([{"id": thread, "ident": body.get("ident")}])
            self.listener.on_thread_start(thread)

    def _on_adapter_event(self, name: str, body: dap.Body) -> None:
        """Only an adapter sends these. Otherwise we have the pipes and the process ourselves."""
        if name == "output" and body.get("category") in ("stdout", "stderr"):
            self.listener.on_output(body["category"], str(body.get("output", "")))
        elif name == "exited":
            self._exit_code = body.get("exitCode")
        elif name == "terminated":
            self.connection.close()

    def _on_probe_event(self, body: dap.Body) -> None:
        kind = body.get("kind")
        if kind == "output":
            self.listener.on_output(body["stream"], body["text"])
        elif kind == "log":
            if body.get("is_in_order"):
                self._flush_outputs()
            else:
                self._drain_outputs()
            place = {
                "file": body["file"],
                "line": body["line"],
                "breakpoint_id": build_breakpoint_id(body["id"]),
            }
            self.listener.on_output("log", body["text"] + "\n", **place)
        elif kind == "input_wanted":
            self._drain_outputs()
            self._on_input_wanted(int(body["taken"]))
        elif kind == "input_taken":
            self._input_request = None
            self.listener.on_input_taken()
        elif kind == "tracing":
            self.listener.on_tracing(cast(TracingChange, body))
        elif kind == "replaced":
            self._replacement = cast(Replacement, body)
        elif kind == "not_replaced":
            self._replacement = None
        elif kind == "child":
            self.listener.on_child(body["pid"], body["how"], body["command"], body["followed"])
        elif kind == "breakpoint_error":
            self.listener.on_breakpoint_error(cast(FailedExpression, body))
        elif kind == "data_verified":
            self.listener.on_data_found(build_breakpoint_id(body["id"]), body["message"])
        elif kind == "data_ended":
            self.listener.on_data_ended(build_breakpoint_id(body["id"]), body["message"])
        elif kind == "function_found":
            self.listener.on_function_found(cast(FoundFunction, body))
        elif kind == "exception":
            self.listener.on_exception(body["exception"])
        elif kind == "counts":
            self.listener.on_counts(cast(Counts, body))
        elif kind == "row":
            self.listener.on_row(cast(CollectedRow, body))
        elif kind == "remark":
            self.listener.on_remark(body["text"])
        elif kind == "traced":
            self.listener.on_traced()

    def _on_input_wanted(self, taken: int) -> None:
        """The program found its stdin empty. It waits, unless we have written to it meanwhile."""
        stdin = self.input
        if stdin is not None and stdin.is_terminal:
            self._check_terminal_soon(stdin)
            return
        request = self._input_request = object()
        if stdin is not None and stdin.has_more:
            return
        if stdin is None or stdin.written == taken:
            self.listener.on_input_wanted()
            return
        # The program has just taken what we wrote, and will say so. Or another reader took it.
        loop = asyncio.get_running_loop()
        loop.call_later(timings.TIMINGS.input_taken, self._check_input_request, request)

    def _check_terminal_soon(self, stdin: Input) -> None:
        """What was typed may be on its way still. While a line is edited, we are told often."""
        self._written_when_asked = stdin.written
        if self._input_request is not None:
            return
        request = self._input_request = object()

        def check() -> None:
            if self._input_request is request:
                self._input_request = None
                if stdin.written == self._written_when_asked and not stdin.has_more:
                    self.listener.on_input_wanted()

        asyncio.get_running_loop().call_later(timings.TIMINGS.terminal_quiet, check)

    def _check_input_request(self, request: object) -> None:
        if self._input_request is request and not (self.input and self.input.has_more):
            self.listener.on_input_wanted()

    def _flush_outputs(self) -> None:
        # What the program wrote before this message is read; what is in the pipes came after it.
        for output in self.outputs:
            output.flush()

    def _drain_outputs(self) -> None:
        # What the program wrote before this message, such as a prompt, is already in the pipe.
        for output in self.outputs:
            output.drain()

    def _on_closed(self) -> None:
        self._gone.set()
        replacement = self._replacement
        is_foreign = self.process is None
        if is_foreign and (not self.is_watched or (replacement and replacement["followed"])):
            self.finish(None)
        elif self._detached or self.ended.is_set():
            return
        elif replacement is not None:
            self.listener.on_debugger_lost(replacement)
        else:
            self._losing = asyncio.create_task(self._report_lost_debugger())

    async def _report_lost_debugger(self) -> None:
        await self.wait_until_ended(timings.TIMINGS.end_after_debugger)
        if not self.ended.is_set() and not self._detached:
            self.listener.on_debugger_lost(None)

    async def _build_crash(self, op: str) -> errors.SessionCrashed:
        """The error for an answer that will not come. The end of the process is reported first."""
        await self.wait_until_ended(timings.TIMINGS.end_after_debugger)
        if self.ended.is_set():
            hint = None if self.process is not None else _NOT_OURS_TO_RESTART
            return errors.SessionCrashed(f"the target ended during {op!r}", hint=hint, operation=op)
        return errors.SessionCrashed(
            f"{op!r} is not possible: the debugger in the target is gone, the program runs on",
            hint="It may have closed the descriptors that it found open. "
            + ("Terminate or restart it." if self.process is not None else _NOT_OURS_TO_RESTART),
            operation=op,
        )

    def post_hello(self) -> None:
        """Ask the probe about its process, before the answer is needed."""
        self.hello = self.connection.post("holdfast", {"op": "hello", **_build_hello()})

    async def read_hello(self, timeout: float | None = None) -> Hello:
        """Ask the probe about its process, and note the answer."""
        if self.hello is None:
            facts: Hello = await self.operate("hello", timeout, **_build_hello())
        else:
            reply = await asyncio.wait_for(asyncio.shield(self.hello), timeout)
            facts = cast(Hello, body_of(reply, "hello"))
        self.pid, self.parent_pid = self.outer_pid or facts["pid"], facts["ppid"]
        self.version = tuple(facts["version"])
        self.import_path = [self.paths.to_local(part) for part in facts["path"]]
        return facts

    def own_process(self) -> Spawned:
        assert self.process is not None
        return self.process

    # -- the end ----------------------------------------------------------------------------

    def watch_process(self, process: Spawned) -> None:
        self.process, self.is_own = process, True
        self.pid = process.pid
        self._ending = asyncio.create_task(self._await_end(process))

    async def _await_end(self, process: Spawned) -> None:
        code = await process.wait()
        # Descendants may hold the pipes open for ever. So we read only what is there now.
        readers = [asyncio.create_task(output.closed.wait()) for output in self.outputs]
        if readers:
            _done, late = await asyncio.wait(readers, timeout=timings.TIMINGS.last_output)
            for task in late:
                task.cancel()
            self._drain_outputs()  # what the program itself wrote is there
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._gone.wait(), timings.TIMINGS.last_messages)
        self.finish(code)

    def finish_soon(self) -> None:
        """Finish a process that has ended, once what it sent last is read."""
        self._ending = asyncio.create_task(self._await_last_message())

    async def _await_last_message(self) -> None:
        # A descendant may keep the connection open.
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._gone.wait(), timings.TIMINGS.last_messages)
        self.finish(None)

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
        for callback in self._end_callbacks:
            callback()
        if not self._detached:
            self.listener.on_exit(code)

    def call_at_end(self, callback: Callable[[], None]) -> None:
        if self.ended.is_set():
            callback()
        else:
            self._end_callbacks.append(callback)

    async def kill(self, grace: float | None = None) -> None:
        """End the program and every process that it started."""
        if self.process is not None:
            await self.process.kill_tree(grace)
            await self.wait_until_ended()
        elif self.ended.is_set():
            return  # its pid may belong to another process by now
        elif self.pid is not None and self.route != "adapter":
            await kill_family(self.pid, grace)
            self.finish(None)
        else:
            with contextlib.suppress(ConnectionClosed, asyncio.TimeoutError):
                reply = self.connection.post("disconnect", {"terminateDebuggee": True})
                await asyncio.wait_for(reply, self.request_timeout)
            self.finish(None)

    async def wait_until_ended(self, seconds: float | None = None) -> None:
        """Wait until the end has been reported, or until the time is up."""
        with contextlib.suppress(asyncio.TimeoutError):
            seconds = timings.TIMINGS.killed if seconds is None else seconds
            await asyncio.wait_for(self.ended.wait(), seconds)

    async def drop(self) -> None:
        """Kill a program that we started. Detach from one that ran before."""
        if self.is_own:
            await self.kill()
        elif not self.ended.is_set():
            await self.detach()

    async def detach(self) -> None:
        """Let the program run on without a debugger."""
        self._detached = True
        if self.process is not None and self.route != "adapter":
            self.connection.post("holdfast", {"op": "disconnect_pipes"})
        posted = [
            self.connection.post("holdfast", {"op": "disarm"}),
            self.connection.post("disconnect", {"terminateDebuggee": False}),
        ]
        if self.route != "adapter":  # an adapter closes the connection itself
            posted.append(self.connection.post("holdfast", {"op": "stop_tracing"}))
        await asyncio.wait(posted, timeout=self.request_timeout)
        if self.process is not None:
            await self.process.detach()
            if self._ending is not None:
                self._ending.cancel()
        self.finish(None)

    # -- commands ---------------------------------------------------------------------------

    async def operate(self, op: str, timeout: float | None = None, **arguments: Any) -> Any:
        if "path" in arguments:
            arguments["path"] = self.paths.to_remote(arguments["path"])
        try:
            answer = await self.connection.operate(op, timeout or self.request_timeout, **arguments)
            return self.paths.localize(answer)
        except errors.SessionCrashed:
            raise await self._build_crash(op) from None

    async def operate_or_look(self, op: str, **arguments: Any) -> Any | OutsideStacks:
        """As `operate`; while the program cannot answer, its stacks as they look from outside."""
        unanswered = self._unanswered
        if unanswered is not None and not unanswered.done():
            # It did not answer before. Another request would only wait behind that one.
            reply, patience = unanswered, 0.0
        else:
            reply = self.connection.post("holdfast", {"op": op, **arguments})
            patience = timings.TIMINGS.debugger_answer
        await asyncio.wait([reply], timeout=patience)
        problem = ""
        if not reply.done():
            self._unanswered = reply
            try:
                return await self._look_from_outside(reply)
            except UnreadableProcess as error:
                problem = str(error)
            except _Answered:
                pass
        if reply is unanswered:
            return await self.operate(op, **arguments)
        return await self._wait_for_body(reply, op, problem)

    async def _look_from_outside(self, reply: Reply) -> OutsideStacks:
        if self.pid is None:
            raise UnreadableProcess("the process of the program is not known")
        async with self._outside_lock:
            stacks = await read_stacks(self.pid, self._thread_ids)
        if stacks.gil_holder is None:
            # Nothing keeps it from answering. It may only be slow.
            await asyncio.wait([reply], timeout=timings.TIMINGS.debugger_answer)
        if reply.done():
            raise _Answered
        if stacks.is_debugger_busy:
            raise UnreadableProcess("it is still at work")
        return stacks

    async def _wait_for_body(self, reply: Reply, op: str, problem: str) -> dap.Body:
        try:
            response = await asyncio.wait_for(asyncio.shield(reply), self.request_timeout)
        except asyncio.TimeoutError:
            raise errors.TimedOut(
                f"the debugger did not answer {op!r} within {self.request_timeout:g} s"
                + (f", and {problem}" if problem else ""),
                hint="Something may hold the interpreter's lock (GIL): a regex, a loop in C. "
                "Wait, or terminate the session.",
                operation=op,
                timeout=self.request_timeout,
            ) from None
        except ConnectionClosed:
            raise await self._build_crash(op) from None
        body: dap.Body = self.paths.localize(body_of(response, op))
        return body

    def note_threads(self, threads: Iterable[Mapping[str, Any]]) -> None:
        """Remember the ids of threads by those that the interpreter gives them."""
        for thread in threads:
            if thread.get("ident"):
                self._thread_ids[int(thread["ident"])] = int(thread["id"])

    def run(self, action: str, thread: int, *, only_this: bool = False) -> None:
        """Continue or step. The listener is told of the stop that follows."""
        arguments: dap.Body = {"threadId": thread}
        if action == "continue":
            arguments["singleThread"] = only_this
        self.connection.post(STEPS[action], arguments)

    async def pause(self, thread: int | None = None) -> None:
        """Ask for a stop. A debugger that cannot answer now gets the request when it can."""
        reply = self.connection.post("pause", {"threadId": thread or "*"})
        await asyncio.wait([reply], timeout=timings.TIMINGS.debugger_answer)
        if not reply.done():
            self._unanswered = reply
            return
        try:
            body_of(reply.result(), "pause")
        except ConnectionClosed:
            raise await self._build_crash("pause") from None

    async def jump(self, thread: int, file: str, line: int) -> None:
        """Set the line at which a held thread goes on. It stops there at once."""
        where = {"source": {"path": self.paths.to_remote(file)}, "line": line}
        found = await self.connection.request("gotoTargets", where, timeout=self.request_timeout)
        targets = found.get("targets") or []
        if not targets:
            raise errors.InvalidInput(f"line {line} cannot be jumped to", field="line")
        arguments = {"threadId": thread, "targetId": targets[0]["id"]}
        try:
            await self.connection.request("goto", arguments, timeout=self.request_timeout)
        except errors.Failure as problem:
            raise errors.InvalidInput(problem.message, field="line") from None

    async def execute(self, op: str, timeout: float, **arguments: Any) -> dap.Body:
        """Run an operation that runs the user's code. Interrupt it when it takes too long."""
        number = next(self._evaluations)
        reply = self.connection.post("holdfast", {"op": op, "number": number, **arguments})
        try:
            response = await asyncio.wait_for(asyncio.shield(reply), timeout)
        except asyncio.TimeoutError:
            interrupted = await self._interrupt(reply, number)
            if interrupted:
                self._drain_outputs()
                with contextlib.suppress(errors.TimedOut):
                    return body_of(reply.result(), op)  # it has just ended by itself
            raise errors.TimedOut(
                f"{op} did not return within {timeout:g} s"
                + ("; it was interrupted" if interrupted else "; it is still running"),
                hint="Retry with a longer timeout, or with less to do."
                if interrupted
                else "The program is busy with it. Wait for it, or terminate the session.",
                operation=op,
                timeout=timeout,
                interrupted=interrupted,
            ) from None
        except ConnectionClosed:
            raise await self._build_crash(op) from None
        self._drain_outputs()  # what the code printed came before its result
        return body_of(response, op)

    async def evaluate_watches(
        self, thread: int, expressions: Sequence[str], timeout: float
    ) -> list[dap.Body]:
        """Evaluate all of them in one request. The one that takes too long is interrupted."""
        number = next(self._evaluations)
        asked = {"op": "watches", "thread": thread, "expressions": list(expressions)}
        reply = self.connection.post("holdfast", {**asked, "number": number})
        try:
            response = await asyncio.wait_for(asyncio.shield(reply), timeout)
        except asyncio.TimeoutError:
            if not await self._interrupt(reply, number):
                raise errors.TimedOut(
                    f"the watches did not return within {timeout:g} s; they are still evaluated",
                    operation="watches",
                    timeout=timeout,
                    interrupted=False,
                ) from None
            response = reply.result()
        except ConnectionClosed:
            raise await self._build_crash("watches") from None
        self._drain_outputs()  # what they printed came before their values
        try:
            return list(body_of(response, "watches")["values"])
        except errors.TimedOut:  # interrupted before the first had begun
            return [{"timed_out": True}, *({"skipped": True} for _ in expressions[1:])]

    async def _interrupt(self, reply: Reply, number: int) -> bool:
        """Whether there is a reply now: it was interrupted, or it has ended by itself."""
        try:
            await self.operate("interrupt", timings.TIMINGS.interrupt, number=number)
            await asyncio.wait_for(asyncio.shield(reply), timings.TIMINGS.interrupt)
        except (errors.HoldfastError, asyncio.TimeoutError, ConnectionClosed):
            return False
        return True

    # -- breakpoints ------------------------------------------------------------------------

    def post_lines(self, file: str, breakpoints: Sequence[Breakpoint]) -> Reply:
        specs = [{"line": point.line, **_build_rule(point)} for point in breakpoints]
        return self.connection.post(
            "holdfast",
            {"op": "breakpoints", "file": self.paths.to_remote(file), "breakpoints": specs},
        )

    def post_functions(self, breakpoints: Sequence[Breakpoint]) -> Reply:
        specs = [
            {"function": self._build_function(point), **_build_rule(point)} for point in breakpoints
        ]
        return self.connection.post("holdfast", {"op": "functions", "breakpoints": specs})

    def post_data(self, breakpoints: Sequence[Breakpoint]) -> Reply:
        """Replace all data breakpoints. The answer says of each whether it can fire."""
        specs = [
            {
                "data_id": point.data_id,
                "access": point.access,
                "until": point.is_until,
                **_build_rule(point),
            }
            for point in breakpoints
        ]
        return self.connection.post("holdfast", {"op": "data_breakpoints", "breakpoints": specs})

    def _build_function(self, point: Breakpoint) -> dap.Body:
        """The functions that a breakpoint is for: where they are, and what they may be called."""
        pattern = point.function if point.function and is_pattern(point.function) else None
        return {
            "pattern": pattern,
            "names": list(point.names),
            "places": [
                {
                    "file": self.paths.to_remote(place.file),
                    "name": place.name,
                    "qualname": place.qualname,
                    "first_line": place.first_line,
                }
                for place in point.places
            ],
        }

    def post_exceptions(self, chosen: ExceptionFilters) -> Reply:
        return self.connection.post(
            "holdfast",
            {
                "op": "exceptions",
                "filters": list(chosen.filters),
                "types": list(chosen.types),
                "user_code_only": chosen.user_code_only,
            },
        )

    async def read_reply(self, reply: Reply, op: str) -> dap.Body:
        """The answer to what was posted."""
        return await self._wait_for_body(reply, op, "")

    async def wait_for_replies(self, *replies: Reply) -> None:
        """Wait until the debugger has taken the breakpoints. Ignore a debugger that is gone."""
        if not replies:
            return
        done, late = await asyncio.wait(replies, timeout=self.request_timeout)
        if late and not self.connection.closed:
            raise errors.TimedOut("the debugger did not take the change", operation="breakpoints")
        for future in done:
            with contextlib.suppress(ConnectionClosed):
                body_of(future.result(), "breakpoints")


@contextlib.asynccontextmanager
async def kill_on_failure(target: Target) -> AsyncIterator[None]:
    """Leave no process behind when a start fails or is cancelled."""
    try:
        yield
    except BaseException:  # cancellation included
        await target.kill()
        raise


def _build_hello() -> dap.Body:
    """What the probe needs to know of the server."""
    return {"timings": timings.TIMINGS.probe.list()}


def _build_rule(point: Breakpoint) -> dap.Body:
    """Everything that the probe needs to decide whether to stop."""
    rule: dap.Body = {"id": point.number, "keep_hits": True}
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


def _build_stop(body: dap.Body) -> Stop:
    snapshot: dap.Body = body.get("holdfast") or {}
    frames = tuple(snapshot.get("frames") or ())
    location = _build_location(frames[0]) if frames else None
    data = _build_data_change(snapshot.get("data"))
    reason = "data breakpoint" if data else str(body.get("reason"))
    return Stop(
        thread_id=int(body.get("threadId") or 1),
        reason=reason,
        location=location,
        frame=int(snapshot.get("frame") or 0),
        frames=frames,
        locals=tuple(snapshot.get("locals") or ()),
        locals_total=int(snapshot.get("locals_total") or 0),
        returned=tuple(snapshot.get("returned") or ()),
        threads=tuple(snapshot.get("threads") or ()),
        breakpoints=tuple(
            (build_breakpoint_id(point["id"]), int(point["hits"]))
            for point in snapshot.get("breakpoints") or ()
        ),
        exception=_build_exception(snapshot.get("exception"), location),
        data=data,
        condition_error=_build_failed_condition(snapshot.get("condition_error")),
        all_threads_stopped=bool(body.get("allThreadsStopped", True)),
    )


def _build_exception(thrown: dap.Body | None, location: Location | None) -> ThrownException | None:
    if not thrown:
        return None
    return ThrownException(thrown["type"], thrown["module"], thrown["message"], location)


def _build_data_change(change: dap.Body | None) -> DataChange | None:
    if not change:
        return None
    return DataChange(
        breakpoint_id=build_breakpoint_id(change["id"]),
        name=str(change["name"]),
        old=change.get("old"),
        new=change.get("new"),
        location=Location(str(change["file"]), int(change["line"]), str(change["function"])),
        message=change.get("message"),
    )


def _build_failed_condition(failure: dap.Body | None) -> FailedCondition | None:
    if not failure:
        return None
    point_id = build_breakpoint_id(failure["id"])
    return FailedCondition(point_id, failure["expression"], failure["error"])


def _build_location(frame: dap.Body) -> Location:
    return Location(str(frame["file"]), int(frame["line"]), str(frame["name"]))
