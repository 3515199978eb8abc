"""The debugger in a background thread: its life, and its calls as Futures."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from holdfast.embed import process_hooks, session_calls
from holdfast.embed.adapter_run import AdapterRun, RunOptions
from holdfast.embed.breakpoint_controller import BreakpointController
from holdfast.embed.breakpoint_specs import resolve_path
from holdfast.embed.loop_calls import NOT_RUNNING, awaitable
from holdfast.embed.results import (
    EvaluationResult,
    Output,
    ProgramState,
    Stack,
    ThreadsResult,
    Variables,
)
from holdfast.embed.session_calls import Wait
from holdfast.embed.session_link import NO_SESSION, SessionLink
from holdfast.service.programs.program_session import ProgramSession

T = TypeVar("T")
AnyPath = str | os.PathLike[str]


class AdapterThread:
    """Runs the debugging service in a thread of this process, with one session.

    `start` returns when it is ready, `stop` when all that it started has ended; a `with` block does
    both. It may be started again: each start is a fresh one, with a new session, a new port, and no
    breakpoints. Only the callbacks of `breakpoints.on_breakpoint` stay.

    Every other method returns a `concurrent.futures.Future` at once, and can be called from any
    thread. Before `start` and after `stop` it raises `RuntimeError("adapter not running")`, and so
    does one that is outstanding at the `stop`. The methods `async_…` are the same, to be awaited in
    any event loop. The answers are dicts with the fields of the REST answers (`results`).

    A callback of a Future (`add_done_callback`) runs in the adapter's own thread, as callbacks of
    asyncio do: it must be short, and cannot wait for other Futures of this adapter.

    `data_dir` keeps the session's records; without it they are in a temporary directory until the
    stop. `pool_size` interpreters are kept warm, for quicker launches. With `http`, the HTTP API is
    served at `url`, for clients on this machine, of this user.
    """

    def __init__(
        self,
        data_dir: AnyPath | None = None,
        pool_size: int = 0,
        name: str = "holdfast-adapter",
        *,
        http: bool = False,
    ) -> None:
        directory = None if data_dir is None else Path(os.path.abspath(data_dir))
        self._options = RunOptions(name, directory, pool_size, http)
        self._lock = threading.Lock()
        self._run: AdapterRun | None = None
        self._link = NO_SESSION
        self._port: Future[int] = Future()
        self.breakpoints = BreakpointController(None, None)

    # -- its life ---------------------------------------------------------------------------

    @property
    def is_running(self) -> bool:
        return self._link.calls.is_open

    @property
    def session_id(self) -> str | None:
        """The id of the session, by which other clients know it; None if it does not run."""
        session = self._link.session
        return None if session is None else session.id

    @property
    def url(self) -> str | None:
        """The address of the HTTP API, if it is served."""
        run = self._run
        return run.url if run is not None and self.is_running else None

    def get_port_future(self) -> Future[int]:
        """The port of 127.0.0.1 on which an editor can join, once the adapter runs."""
        return self._port

    def start(self) -> AdapterThread:
        """Start it, and wait until it is ready. One that runs already stays as it is."""
        while True:
            run, is_new = self._begin_run()
            if run.is_own_thread():
                return self
            if not is_new and run.is_stopping:
                run.join(None)
                continue
            run.ready.result()
            return self

    def _begin_run(self) -> tuple[AdapterRun, bool]:
        """The run that there is, or a new one."""
        with self._lock:
            run = self._run
            if run is not None and not run.is_over:
                return run, False
            if self._port.done():
                self._port = Future()
            run = AdapterRun(self._options, self._port, self._connect, self._disconnect)
            process_hooks.add(self)
            self._run = run
            run.start()
            return run, True

    def stop(self, timeout: float | None = None) -> None:
        """End the program and everything else, and wait for that; outstanding Futures fail at once.

        One that does not run stays as it is. TimeoutError: it is still ending."""
        with self._lock:
            run = self._run
        if run is None or run.is_over:
            self._refuse_port()
            return
        run.stop()
        self._disconnect(run.link)
        if not run.is_own_thread() and not run.join(timeout):
            raise TimeoutError(f"the adapter has not ended within {timeout} s")

    def restart(self, timeout: float | None = None) -> AdapterThread:
        """Stop and start it: a fresh session."""
        self.stop(timeout)
        return self.start()

    async def async_start(self) -> AdapterThread:
        return await asyncio.get_running_loop().run_in_executor(None, self.start)

    async def async_stop(self, timeout: float | None = None) -> None:
        await asyncio.get_running_loop().run_in_executor(None, self.stop, timeout)

    def __enter__(self) -> AdapterThread:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    async def __aenter__(self) -> AdapterThread:
        return await self.async_start()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.async_stop()

    def _connect(self, link: SessionLink) -> None:
        self._link = link
        self.breakpoints.connect(link)

    def _disconnect(self, link: SessionLink) -> None:
        """Forget the session of a run, unless another run has begun."""
        if self._link is link:
            self._link = NO_SESSION
            self.breakpoints.disconnect()

    def _refuse_port(self) -> None:
        if not self._port.done():
            self._port.set_exception(RuntimeError(NOT_RUNNING))

    def forget_run(self) -> None:
        """In a fork of the process there is no thread, and its locks may be held for ever."""
        self._lock = threading.Lock()
        self._run = None
        self._port = Future()
        self.breakpoints.forget_thread()

    # -- start and end of the program -------------------------------------------------------

    def launch(
        self,
        /,
        program: AnyPath | None = None,
        *,
        module: str | None = None,
        code: str | None = None,
        args: Iterable[AnyPath] = (),
        env: Mapping[str, str | None] | None = None,
        cwd: AnyPath | None = None,
        python: AnyPath | None = None,
        stop_on_entry: bool = False,
        wait: Wait = None,
        **options: Any,
    ) -> Future[ProgramState]:
        """Start a script, a module or a piece of code, with the breakpoints that are set.

        Paths are relative to the current directory. Without a `wait` the answer says that it runs;
        with one (seconds, or True) it is the first stop, or the end. `options` are the other fields
        of a launch over REST, such as `venv`, `stdin_inputs`, `just_my_code` or
        `debug_subprocesses`. Without any program, the last one is launched again."""
        fields: dict[str, Any] = {"module": module, "code": code, **options}
        try:
            fields["script"] = None if program is None else resolve_path(program)
            fields["cwd"] = None if cwd is None else resolve_path(cwd)
            fields["python"] = None if python is None else os.fspath(python)
            fields["args"] = _list_arguments(args) or None
            fields["env"] = None if env is None else dict(env)
        except (TypeError, ValueError) as error:
            problem = error
            return self._submit(lambda session: session_calls.refuse_start(session, problem))
        fields["stop_on_entry"] = stop_on_entry or None
        given = {name: value for name, value in fields.items() if value is not None}
        return self._submit(lambda session: session_calls.launch(session, given, wait))

    def attach(
        self,
        /,
        pid: int | None = None,
        host: str | None = None,
        port: int | None = None,
        *,
        wait: Wait = None,
        **options: Any,
    ) -> Future[ProgramState]:
        """Attach to a Python process of this machine, or to a debugpy that listens."""
        fields = {"pid": pid, "host": host, "port": port, **options}
        given = {name: value for name, value in fields.items() if value is not None}
        return self._submit(lambda session: session_calls.attach(session, given, wait))

    def restart_program(self, /, *, wait: Wait = None, **changes: Any) -> Future[ProgramState]:
        """End the program and launch it again; `changes` are other `args`, `env` and the like."""
        return self._submit(lambda session: session_calls.restart(session, changes, wait))

    def terminate(self) -> Future[ProgramState]:
        """End the program, not the session: another one may be launched."""
        return self._submit(session_calls.terminate)

    def detach(self) -> Future[ProgramState]:
        """Let the program run on by itself: it outlives the adapter and this process."""
        return self._submit(session_calls.detach)

    # -- run --------------------------------------------------------------------------------

    def continue_(self, *, wait: Wait = None) -> Future[ProgramState]:
        """Let the program run on; with `wait` (seconds, or True), to its next stop or its end."""
        return self._submit(lambda session: session_calls.resume(session, wait))

    resume = continue_

    def run_until(
        self, expression: str, frame_id: int = 0, *, wait: Wait = True
    ) -> Future[ProgramState]:
        """Run until an expression of a frame becomes true, or until another stop comes first."""
        return self._submit(
            lambda session: session_calls.run_until(session, expression, frame_id, wait)
        )

    def step(self, kind: str = "over", *, thread_id: int | None = None) -> Future[ProgramState]:
        """Step `over`, `into` or `out`. The answer is the stop after it, or the end."""
        return self._submit(lambda session: session_calls.step(session, kind, thread_id))

    def pause(self, thread_id: int | None = None, *, wait: Wait = None) -> Future[ProgramState]:
        """Stop at the next line. After a few seconds outside of Python it is `pause_pending`."""
        return self._submit(lambda session: session_calls.pause(session, thread_id, wait))

    def wait_for_stop(
        self, timeout: float | None = None, *, include: Sequence[str] | None = None
    ) -> Future[ProgramState]:
        """The stop at which the program is, or else its next one.

        If it ends first, or waits for input, the answer says that: look at `status`. Before a
        launch, the first stop is waited for. TimeoutError: it still runs. `include` is out of
        `source`, `locals`, `stack` and `output`; the first two are the default."""
        return self._submit(lambda session: session_calls.wait_for_stop(session, timeout, include))

    def wait_for_end(self, timeout: float | None = None) -> Future[ProgramState]:
        """How the program ended, once it has. TimeoutError: it still runs, or is paused."""
        return self._submit(lambda session: session_calls.wait_for_end(session, timeout))

    # -- look -------------------------------------------------------------------------------

    def status(self, *, include: Sequence[str] | None = None) -> Future[ProgramState]:
        """Where the program is now."""
        return self._submit(lambda session: session_calls.read_state(session, include))

    def stack(
        self, thread_id: int | None = None, start: int = 0, count: int | None = None
    ) -> Future[Stack]:
        """The stack of the thread that stopped, or of another one; the innermost frame first."""
        return self._submit(lambda session: session_calls.stack(session, thread_id, start, count))

    def threads(self) -> Future[ThreadsResult]:
        """Every thread, and where it is."""
        return self._submit(session_calls.threads)

    def locals(self, frame_id: int = 0, start: int = 0, count: int = 1000) -> Future[Variables]:
        """The local variables of a frame."""
        return self._submit(
            lambda session: session_calls.read_locals(session, frame_id, start, count)
        )

    def variables(self, reference: int, start: int = 0, count: int = 1000) -> Future[Variables]:
        """What a value holds, by its `variable_reference`."""
        return self._submit(
            lambda session: session_calls.read_items(session, reference, start, count)
        )

    def evaluate(
        self,
        expression: str,
        frame_id: int = 0,
        *,
        context: str | None = None,
        timeout: float | None = None,
    ) -> Future[EvaluationResult]:
        """The value of an expression in a frame; with the context `repl`, statements run too."""
        fields = {"expression": expression, "frame_id": frame_id}
        fields |= {"context": context, "timeout": timeout}
        return self._submit(lambda session: session_calls.evaluate(session, fields))

    def set_variable(
        self, name: str, value: str, frame_id: int = 0, *, reference: int | None = None
    ) -> Future[EvaluationResult]:
        """Give a local of a frame, or a part of the value `reference`, a new value.

        The value is a Python expression."""
        return self._submit(
            lambda session: session_calls.set_variable(session, name, value, frame_id, reference)
        )

    # -- output and input -------------------------------------------------------------------

    def output(self, since: int | str = 0, kinds: Iterable[str] | None = None) -> Future[Output]:
        """What the program has written since a cursor: `stdout`, `stderr` and `log`, or some."""
        return self._submit(lambda session: session_calls.read_output(session, since, kinds))

    def send_input(self, text: str, *, close: bool = False) -> Future[ProgramState]:
        """Write to the program's stdin; with `close`, there is no more after it."""
        return self._submit(lambda session: session_calls.send_input(session, text, close=close))

    # -- the same, to be awaited ------------------------------------------------------------

    async_launch = awaitable(launch)
    async_attach = awaitable(attach)
    async_restart_program = awaitable(restart_program)
    async_terminate = awaitable(terminate)
    async_detach = awaitable(detach)
    async_continue = async_resume = awaitable(continue_)
    async_run_until = awaitable(run_until)
    async_step = awaitable(step)
    async_pause = awaitable(pause)
    async_wait_for_stop = awaitable(wait_for_stop)
    async_wait_for_end = awaitable(wait_for_end)
    async_status = awaitable(status)
    async_stack = awaitable(stack)
    async_threads = awaitable(threads)
    async_locals = awaitable(locals)  # noqa: A003  (the method above)
    async_variables = awaitable(variables)
    async_evaluate = awaitable(evaluate)
    async_set_variable = awaitable(set_variable)
    async_output = awaitable(output)
    async_send_input = awaitable(send_input)

    # -- how it is done ---------------------------------------------------------------------

    def _submit(self, work: Callable[[ProgramSession], Coroutine[Any, Any, T]]) -> Future[T]:
        return self._link.submit(work)


def _list_arguments(args: Iterable[AnyPath]) -> list[str]:
    if isinstance(args, (str, bytes)):
        raise TypeError("args must be a list of texts, not one text")
    return [os.fspath(part) for part in args]
