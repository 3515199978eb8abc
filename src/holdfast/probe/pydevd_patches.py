"""Small patches to pydevd, each guarded: where one does not fit, pydevd behaves as shipped.

`APPLIED` says which of them are in place. All but `quiet`, `whole_comprehensions` and
`told_first` only save time and change nothing that a user sees.
"""

from __future__ import annotations

import dis
import functools
import sys
import time
from types import FrameType, SimpleNamespace
from typing import Any, Callable, Dict, FrozenSet

APPLIED: Dict[str, bool] = {}

_MAX_FRAMES = 64  # how many frames pydevd itself keeps for a stop; `stops` walks on from the last
_PYDEVD_TOOL = 4  # of Python's six, one that has no settled use
_MAX_TRACED_IN_A_ROW = 16  # so many traced frames in a row, and the rest was traced before


def apply_all(pydevd: Any) -> None:
    mends = (silence_logs, skip_start_delay, skip_exit_delay, limit_frames, skip_traced_parents)
    for mend in (*mends, step_over_comprehensions, receive_lines_first):
        apply_one(mend, pydevd)


def apply_one(mend: Callable[[Any], None], pydevd: Any) -> None:
    try:
        mend(pydevd)
        APPLIED[mend.__name__] = True
    except Exception:
        APPLIED[mend.__name__] = False


def silence_logs(_pydevd: Any) -> None:
    """What pydevd has to say of its own troubles is not the program's output."""
    import pydevd_tracing
    from _pydev_bundle import pydev_log

    pydev_log._pydevd_log.__name__  # noqa: B018  (it must be there to be replaced)
    pydev_log._pydevd_log = lambda *_args: None
    pydevd_tracing.TracingFunctionHolder._warn = False


def skip_start_delay(pydevd: Any) -> None:
    """`initialize_network` sleeps 0.1 s "to give threads time to start"; nothing needs it."""
    original = pydevd.PyDB.initialize_network
    real = pydevd.time

    class Time:
        def __getattr__(self, name: str) -> Any:
            return (lambda _seconds: None) if name == "sleep" else getattr(real, name)

    def initialize_network(self: Any, sock: Any, terminate_on_socket_close: bool = True) -> Any:
        pydevd.time = Time()
        try:
            return original(self, sock, terminate_on_socket_close)
        finally:
            pydevd.time = real

    pydevd.PyDB.initialize_network = initialize_network


def skip_exit_delay(pydevd: Any) -> None:
    """pydevd polls ten times a second for its threads to end, up to half a second, twice.

    Only the writer matters: what it holds must reach the server. The reader stays blocked in
    its socket until the process ends, so waiting for it is always in vain.
    """
    name = "_PyDB__wait_for_threads_to_finish"
    getattr(pydevd.PyDB, name)

    def wait(self: Any, timeout: float) -> None:
        writer = self.writer
        end = time.monotonic() + timeout
        while writer is not None and writer.is_alive() and time.monotonic() < end:
            time.sleep(0.001)

    setattr(pydevd.PyDB, name, wait)


def limit_frames(_pydevd: Any) -> None:
    """At every stop pydevd makes an entry for each frame of the stack, however deep it is."""
    from _pydevd_bundle import pydevd_frame_utils

    original = pydevd_frame_utils.create_frames_list_from_frame
    original.__name__  # noqa: B018  (it must be there to be replaced)

    def create_frames_list_from_frame(frame: Any) -> Any:
        found = pydevd_frame_utils.FramesList()
        while frame is not None and len(found) < _MAX_FRAMES:
            found.append(frame)
            frame = frame.f_back
        return found

    pydevd_frame_utils.create_frames_list_from_frame = create_frames_list_from_frame


def skip_traced_parents(pydevd: Any) -> None:
    """At every step pydevd enables tracing in each frame of the stack, though it was before."""
    from _pydevd_bundle.pydevd_constants import PYDEVD_USE_SYS_MONITORING

    original = pydevd.PyDB.set_trace_for_frame_and_parents
    enable = _enable_codes if PYDEVD_USE_SYS_MONITORING else _enable_frames

    def set_trace_for_frame_and_parents(self: Any, ident: Any, frame: Any, **options: Any) -> None:
        if options.get("disable"):
            original(self, ident, frame, **options)
        else:
            enable(self, ident, frame)

    pydevd.PyDB.set_trace_for_frame_and_parents = set_trace_for_frame_and_parents


def step_over_comprehensions(_pydevd: Any) -> None:
    """From 3.12 on a comprehension is a loop in its function's own code, on a single line.

    pydevd takes each jump back in it for a new line, so that a step over it took one step for
    each item. A jump that comes from no line is none to it.
    """
    from _pydevd_bundle.pydevd_constants import PYDEVD_USE_SYS_MONITORING

    if not PYDEVD_USE_SYS_MONITORING:
        return
    from _pydevd_sys_monitoring import _pydevd_sys_monitoring as monitoring

    original = monitoring.FuncCodeInfo.get_line_of_offset

    def get_line_of_offset(self: Any, offset: int) -> int:
        if offset in _find_comprehension_jumps(self.code_obj):
            return -1
        line: int = original(self, offset)
        return line

    monitoring.FuncCodeInfo.get_line_of_offset = get_line_of_offset


def receive_lines_first(_pydevd: Any) -> None:
    """Python tells the tool with the highest number first, and pydevd has the lowest.

    It must hear of a line before our monitor does: it may hold the thread there for a step, and
    ours then says whether a breakpoint was reached as well. The other way round, a step from a
    line where ours held the thread would end on that same line.
    """
    from _pydevd_bundle.pydevd_constants import PYDEVD_USE_SYS_MONITORING

    if not PYDEVD_USE_SYS_MONITORING:
        return
    from _pydevd_sys_monitoring import pydevd_sys_monitoring

    here: Any = sys.modules[pydevd_sys_monitoring.update_monitor_events.__module__]
    known = {name: getattr(here.monitor, name) for name in dir(here.monitor)}
    if here.DEBUGGER_ID != known["DEBUGGER_ID"] or known["get_tool"](_PYDEVD_TOOL):
        raise RuntimeError("another way than we know, or a number that is taken")
    here.DEBUGGER_ID = _PYDEVD_TOOL
    here.monitor = SimpleNamespace(**dict(known, DEBUGGER_ID=_PYDEVD_TOOL))


@functools.lru_cache(maxsize=1000)
def _find_comprehension_jumps(code: Any) -> FrozenSet[int]:
    """The offsets of jumps back to an iteration that collects items."""
    instructions = list(dis.get_instructions(code))
    collectors = ("LIST_APPEND", "SET_ADD", "MAP_ADD")
    collecting = [each.offset for each in instructions if each.opname in collectors]
    loops = {
        loop.offset
        for loop in instructions
        if loop.opname == "FOR_ITER" and any(loop.offset < at < loop.argval for at in collecting)
    }
    return frozenset(
        jump.offset
        for jump in instructions
        if jump.opname.startswith("JUMP_BACKWARD") and jump.argval in loops
    )


def _enable_codes(db: Any, ident: Any, frame: Any) -> None:
    """Python 3.12 and newer: tracing belongs to code, and a deep stack is the same code again."""
    from _pydevd_sys_monitoring import pydevd_sys_monitoring

    seen = set()
    while frame is not None:
        if isinstance(frame, FrameType) and frame.f_code not in seen:
            seen.add(frame.f_code)
            if db.get_file_type(frame) is None:
                pydevd_sys_monitoring.enable_code_tracing(ident, frame.f_code, frame)
        frame = frame.f_back


def _enable_frames(db: Any, _ident: Any, frame: Any) -> None:
    """Before 3.12: each frame has its own; below many that have it, all do."""
    traced = 0
    dispatch = db.trace_dispatch
    while frame is not None and traced < _MAX_TRACED_IN_A_ROW:
        if isinstance(frame, FrameType) and db.get_file_type(frame) is None:
            if frame.f_trace is dispatch or frame.f_trace == dispatch:
                traced += 1
            else:
                traced = 0
                frame.f_trace = dispatch
        frame = frame.f_back
