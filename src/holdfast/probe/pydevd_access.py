"""What every part of the probe asks of pydevd: its debugger, its threads, its names for files.

Modules of this package are imported before pydevd is on the path, so imports of pydevd stand
inside the functions that need them, here and everywhere else in the probe.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from typing import Any, Callable, Iterator, Tuple

HERE = os.path.dirname(os.path.abspath(__file__)) if "__file__" in globals() else "<holdfast>"
PAUSED_ALONE = 106  # a reason to stop that pydevd calls a pause, and reports by itself
_DEBUGPY_FOLDER = ""
# The compiled parts of pydevd name their sources by these relative paths.
_COMPILED = ("_pydevd_bundle/", "_pydevd_frame_eval/", "_pydevd_sys_monitoring/")


class RequestFailed(Exception):
    """A request that cannot be fulfilled, with a message for the user; `kind` picks the error."""

    def __init__(self, kind: str, message: str, **details: Any) -> None:
        super().__init__(message)
        self.kind = kind
        self.details = details


# -- files ----------------------------------------------------------------------------------------


def set_debugpy_folder(folder: str) -> None:
    global _DEBUGPY_FOLDER
    _DEBUGPY_FOLDER = folder


def debugpy_folder() -> str:
    return _DEBUGPY_FOLDER


def is_ours(filename: str) -> bool:
    """Whether this is a file of the debugger, which a user never wants to see."""
    return (
        filename.startswith(HERE)
        or (bool(_DEBUGPY_FOLDER) and filename.startswith(_DEBUGPY_FOLDER))
        or filename.startswith(_COMPILED)
    )


def is_called_by_debugger(frame: Any) -> bool:
    """Whether the debugger itself, in any thread, is the caller of a library.

    Its frames are also at the bottom of what the program runs: from `_exec` on, and in threads
    that it starts for the program.
    """
    below = None
    while frame is not None and not is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    while frame is not None and is_ours(frame.f_code.co_filename):
        if frame.f_code.co_name == "_exec":
            return False
        below, frame = frame, frame.f_back
    if below is None:
        return False
    return frame is not None or not below.f_code.co_filename.endswith("pydev_monkey.py")


def canonical(filename: str) -> str:
    """The one path that stands for a file, whichever way it was named."""
    import pydevd_file_utils

    path: str = pydevd_file_utils.canonical_normalized_path(filename)
    return path


# -- the debugger ---------------------------------------------------------------------------------


def current() -> Any:
    """The PyDB of this process, or None."""
    from _pydevd_bundle.pydevd_constants import get_global_debugger

    return get_global_debugger()


def is_detached(db: Any) -> bool:
    """Whether this PyDB has been told to stop tracing for good."""
    return bool(getattr(db, "_holdfast_detached", False))


def mark_detached(db: Any) -> None:
    db._holdfast_detached = True


# -- threads --------------------------------------------------------------------------------------


def dap_id(thread_id: str) -> int:
    from _pydevd_bundle._debug_adapter.pydevd_base_schema import BaseSchema

    number: int = BaseSchema._translate_id_to_dap(thread_id)
    return number


def thread_id_of(number: int) -> str:
    from _pydevd_bundle._debug_adapter.pydevd_base_schema import BaseSchema

    try:
        name: str = BaseSchema._translate_id_from_dap(number)
    except KeyError:
        raise RequestFailed("thread", "no thread %r" % (number,)) from None
    return name


def user_threads() -> Iterator[Tuple[str, Any]]:
    """The pydevd id and the `threading.Thread` of each thread that is the program's own."""
    from _pydevd_bundle.pydevd_constants import get_thread_id

    for thread in threading.enumerate():
        if not getattr(thread, "is_pydev_daemon_thread", False) and thread.is_alive():
            yield get_thread_id(thread), thread


def run_in_thread(db: Any, thread_id: str, run: Callable[[], None]) -> None:
    """Run it in a suspended thread, where the expressions of that thread belong.

    pydevd clears a thread's wake-up event after each command, and so loses the wake-up of a
    command that was queued meanwhile (a stall of 200 ms). We set it again if the queue has more.
    """

    def command(*_args: Any, **_kwargs: Any) -> None:
        try:
            run()
        finally:
            queue, event = db.get_internal_queue_and_event(thread_id)
            if not queue.empty():
                event.set()

    db.post_method_as_internal_command(thread_id, command)


def suspend_alone(db: Any, thread: Any) -> None:
    """Suspend a thread while others are suspended already, and report it when it stops.

    pydevd's own request would report one of the others, if this one does not stop at once.
    """
    db.set_suspend(thread, PAUSED_ALONE, suspend_requested=True)
    frame = sys._current_frames().get(thread.ident)
    if frame is not None:
        db.set_trace_for_frame_and_parents(thread.ident, frame)


@contextlib.contextmanager
def step_suspended() -> Iterator[None]:
    """Keep a step of the program from stopping in a library that our own work calls."""
    info = getattr(threading.current_thread(), "additional_info", None)
    if info is None or info.pydev_step_cmd == -1:
        yield
        return
    step = info.pydev_step_cmd, info.pydev_step_stop
    info.pydev_step_cmd, info.pydev_step_stop = -1, None
    try:
        yield
    finally:
        info.pydev_step_cmd, info.pydev_step_stop = step


def end_step() -> None:
    """The thread has left the program: a step under way has no line to stop at."""
    info = getattr(threading.current_thread(), "additional_info", None)
    if info is not None:
        info.pydev_step_cmd, info.pydev_step_stop = -1, None
        info.update_stepping_info()
