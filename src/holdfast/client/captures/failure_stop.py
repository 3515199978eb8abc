"""`pytest --holdfast-stop`: holds at each failure, in a session of the server.

The test has failed already, and its fixtures still stand. Its process joins the server as a program
that was attached to, and stops where the exception was raised, until somebody continues it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

from holdfast.client.captures.failure_frames import count_own, list_entries
from holdfast.client.captures.session_join import (
    JoinedSession,
    JoinFailed,
    is_debugged,
    join_session,
)


class FailureStop:
    """Registered as a plugin. It comes after plugins that stop their clocks for a debugger."""

    def __init__(self, timeout: float | None) -> None:
        self._timeout = timeout
        self._session: JoinedSession | None = None
        self._has_complained = False

    def pytest_exception_interact(self, node: Any, call: Any, report: Any) -> None:
        if call.excinfo is None or getattr(report, "when", None) not in _PHASES:
            return
        if self._session is None and is_debugged():
            return  # the server has launched it: the debugger stops at failures by itself
        entries = list_entries(node, call.excinfo)
        shown = entries[: count_own(entries)] or entries
        with _capture_suspended(node.config):
            session = self._find_session(node)
            if session is None:
                return
            _say(session.describe(node.nodeid, call.excinfo.value, self._timeout))
            with (
                _releasing(session) as release,
                self._limit(release),
                _release_on_interrupt(release),
            ):
                session.stop(call.excinfo.value, [entry.trace for entry in shown])
            _say(f"holdfast: {node.nodeid} goes on")

    def _find_session(self, node: Any) -> JoinedSession | None:
        if self._session is None or not self._session.is_connected():
            name = f"pytest {node.config.rootpath.name}"
            worker = os.environ.get("PYTEST_XDIST_WORKER")
            try:
                self._session = join_session(f"{name} {worker}" if worker else name)
            except JoinFailed as problem:
                self._session = None
                if not self._has_complained:
                    self._has_complained = True
                    _say(f"holdfast: cannot hold at failures: {str(problem)[-500:]}")
        return self._session

    @contextlib.contextmanager
    def _limit(self, release: Callable[[], None]) -> Iterator[None]:
        if self._timeout is None:
            yield
            return
        timer = threading.Timer(self._timeout, release)
        _start_untraced(timer)
        try:
            yield
        finally:
            timer.cancel()


_PHASES = ("setup", "call", "teardown")


@contextlib.contextmanager
def _releasing(session: JoinedSession) -> Iterator[Callable[[], None]]:
    """What lets the test go, from another thread."""
    is_released = threading.Event()
    try:
        yield lambda: session.resume(is_released)
    finally:
        is_released.set()


def _start_untraced(thread: threading.Thread) -> None:
    """The debugger neither traces nor holds such a thread."""
    thread.daemon = True
    vars(thread).update(pydev_do_not_trace=True, is_pydev_daemon_thread=True)
    thread.start()


@contextlib.contextmanager
def _release_on_interrupt(release: Callable[[], None]) -> Iterator[None]:
    """A Ctrl-C lets the test go, and then interrupts pytest. The debugger would swallow it."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    interrupts: list[int] = []

    def note(number: int, _frame: object) -> None:
        interrupts.append(number)
        _start_untraced(threading.Thread(target=release))

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if interrupts:
        raise KeyboardInterrupt


@contextlib.contextmanager
def _capture_suspended(config: Any) -> Iterator[None]:
    """Without it, what is evaluated at the stop would print into the test's output."""
    manager = config.pluginmanager.getplugin("capturemanager")
    if manager is None:
        yield
        return
    manager.suspend(in_=True)
    try:
        yield
    finally:
        manager.resume()


def _say(text: str) -> None:
    """To the terminal, and not through `sys.stderr`, which the debugger takes for the test's.

    Nobody reads the stdout of an xdist worker."""
    with contextlib.suppress(OSError):  # closed, or a pipe that nobody reads
        os.write(2, f"\n{text}\n".encode())
