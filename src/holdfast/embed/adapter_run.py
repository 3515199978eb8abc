"""One run of an adapter, from its start to its end: a thread, its loop, the debugger and its faces.

Nothing of the process is changed: no signal handler, no limit, no event loop policy. What the
debugger starts ends with the run, and at the latest, by its warden, with the process.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, InvalidStateError
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from holdfast.embed.editor_door import open_door
from holdfast.embed.http_face import serve_http
from holdfast.embed.loop_calls import NOT_RUNNING, LoopCalls
from holdfast.embed.session_link import NO_SESSION, SessionLink
from holdfast.model.config import SessionConfig
from holdfast.server.peers import is_same_user
from holdfast.service.debugger import Debugger

log = logging.getLogger(__name__)
_NEVER_MINUTES = 1e6  # the session is idle while its user thinks, for as long as that takes


@dataclass(frozen=True)
class RunOptions:
    name: str
    data_dir: Path | None
    """None: a temporary directory that is removed at the end."""
    pool_size: int
    serves_http: bool


class AdapterRun:
    """`on_ready` and `on_end` are called in the thread of the run."""

    def __init__(
        self,
        options: RunOptions,
        port: Future[int],
        on_ready: Callable[[SessionLink], None],
        on_end: Callable[[SessionLink], None],
    ) -> None:
        self.pid = os.getpid()
        self.port = port
        self.url: str | None = None
        self.link = NO_SESSION
        self.ready: Future[None] = Future()
        self._options = options
        self._on_ready = on_ready
        self._on_end = on_end
        self._loop = asyncio.SelectorEventLoop()  # whatever policy the process has
        self._debugger: Debugger | None = None
        self._is_stop_wanted = False
        self._thread = threading.Thread(target=self._run, name=options.name, daemon=True)

    # -- from other threads -----------------------------------------------------------------

    @property
    def is_over(self) -> bool:
        return not self._thread.is_alive()

    @property
    def is_stopping(self) -> bool:
        return self._is_stop_wanted

    def is_own_thread(self) -> bool:
        return threading.current_thread() is self._thread

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End every call that is under way, and begin to end the run."""
        self._is_stop_wanted = True
        self.link.calls.close()
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._pass_on_stop)

    def join(self, timeout: float | None) -> bool:
        """Wait for its end. False if time is up."""
        self._thread.join(timeout)
        return self.is_over

    # -- in its own thread ------------------------------------------------------------------

    def _run(self) -> None:
        try:
            with _provide_directory(self._options.data_dir) as directory:
                try:
                    self._loop.run_until_complete(self._live(directory))
                finally:
                    _close_loop(self._loop)
        except BaseException as problem:  # of the start: it is raised there
            self._is_stop_wanted = True
            if not _fail(self.ready, problem):
                log.exception("the adapter %s did not end in order", self._options.name)
        finally:
            _fail(self.ready, RuntimeError(NOT_RUNNING))
            _fail(self.port, RuntimeError(NOT_RUNNING))

    async def _live(self, directory: Path) -> None:
        async with AsyncExitStack() as stack:
            size = self._options.pool_size
            debugger = await Debugger.open(directory, is_same_user, size)
            stack.push_async_callback(debugger.close)
            await debugger.start()
            config = SessionConfig(name=self._options.name, timeout_minutes=_NEVER_MINUTES)
            session = await debugger.programs.open(config)
            port = await stack.enter_async_context(open_door(debugger, session))
            if self._options.serves_http:
                self.url = await stack.enter_async_context(serve_http(debugger))
            self._debugger = debugger
            self._announce(SessionLink(LoopCalls(self._loop), session), port)
            try:
                await debugger.stop_requested.wait()
            finally:
                self._is_stop_wanted = True
                self.link.calls.close()
                self._on_end(self.link)
                await debugger.programs.end_targets()
                debugger.wake_all()

    def _announce(self, link: SessionLink, port: int) -> None:
        if self._is_stop_wanted:
            self._pass_on_stop()
            return
        self.link = link
        self._on_ready(link)
        with contextlib.suppress(InvalidStateError):  # its user has cancelled it
            self.port.set_result(port)
        self.ready.set_result(None)

    def _pass_on_stop(self) -> None:
        if self._debugger is not None:
            self._debugger.stop_requested.set()


@contextlib.contextmanager
def _provide_directory(given: Path | None) -> Iterator[Path]:
    if given is not None:
        yield given
        return
    directory = tempfile.mkdtemp(prefix="holdfast-")
    try:
        yield Path(directory)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _close_loop(loop: asyncio.AbstractEventLoop) -> None:
    """End what is left on the loop, as `asyncio.run` does."""
    try:
        loop.run_until_complete(_cancel_others())
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        loop.close()


async def _cancel_others() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _fail(future: Future[int] | Future[None], problem: BaseException) -> bool:
    """Fail a Future that is still open."""
    if future.done():
        return False
    with contextlib.suppress(InvalidStateError):
        future.set_exception(problem)
        return True
    return False
