"""Small patches to pydevd, each guarded: where one does not fit, pydevd behaves as shipped.

`APPLIED` says which of them are in place. Those that skip or limit something only save time and
change nothing that a user sees.
"""

from __future__ import annotations

import dis
import functools
import itertools
import sys
import threading
import time
from types import FrameType, SimpleNamespace
from typing import Any, Callable, Dict, FrozenSet

from .recursion_room import GUARDS, get_frame, with_room
from .server_messages import use_reentrant_queue

APPLIED: Dict[str, bool] = {}

_MAX_FRAMES = 64  # that pydevd keeps for a stop; `frames` goes on from the last
_PYDEVD_TOOL = 4  # of Python's six tools, one that is not reserved


def apply_all(pydevd: Any) -> None:
    for patch in (
        silence_logs,
        skip_start_delay,
        skip_exit_delay,
        limit_frames,
        skip_traced_parents,
        step_over_comprehensions,
        receive_lines_first,
        keep_room_for_callbacks,
        step_to_handlers,
        forget_ended_threads,
        number_ids_once,
        update_one_thread,
        add_messages_without_locks,
    ):
        apply_one(patch, pydevd)


def apply_one(patch: Callable[[Any], None], pydevd: Any) -> None:
    try:
        patch(pydevd)
        APPLIED[patch.__name__] = True
    except Exception:
        APPLIED[patch.__name__] = False


def silence_logs(_pydevd: Any) -> None:
    """Keep pydevd's own log messages out of the program's output."""
    import pydevd_tracing
    from _pydev_bundle import pydev_log
    from _pydevd_bundle import pydevd_utils

    pydev_log._pydevd_log.__name__  # noqa: B018  (it must be there to be replaced)
    pydev_log._pydevd_log = lambda *_args: None
    pydevd_tracing.TracingFunctionHolder._warn = False
    pydevd_utils.SUPPORT_GEVENT = True  # or it asks for that on the program's stderr


def skip_start_delay(pydevd: Any) -> None:
    """`initialize_network` sleeps 0.1 s "to give threads time to start"; nothing needs that."""
    original = pydevd.PyDB.initialize_network
    real_time = pydevd.time

    class Time:
        def __getattr__(self, name: str) -> Any:
            return (lambda _seconds: None) if name == "sleep" else getattr(real_time, name)

    def initialize_network(self: Any, sock: Any, terminate_on_socket_close: bool = True) -> Any:
        pydevd.time = Time()
        try:
            return original(self, sock, terminate_on_socket_close)
        finally:
            pydevd.time = real_time

    pydevd.PyDB.initialize_network = initialize_network


def add_messages_without_locks(_pydevd: Any) -> None:
    from _pydevd_bundle.pydevd_comm import WriterThread

    original = WriterThread.__init__

    def initialize(self: Any, *args: Any, **options: Any) -> None:
        original(self, *args, **options)
        use_reentrant_queue(self)

    WriterThread.__init__ = initialize


def skip_exit_delay(pydevd: Any) -> None:
    """pydevd polls ten times a second for its threads to end, up to half a second, twice.

    Only the writer matters: its messages must reach the server. The reader stays blocked in its
    socket until the process ends, so waiting for it is useless.
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
    """At every stop pydevd makes an entry for each frame of the stack, however deep."""
    from _pydevd_bundle import pydevd_frame_utils

    original = pydevd_frame_utils.create_frames_list_from_frame
    original.__name__  # noqa: B018  (it must be there to be replaced)

    def create_frames_list_from_frame(frame: Any) -> Any:
        frames = pydevd_frame_utils.FramesList()
        while frame is not None and len(frames) < _MAX_FRAMES:
            frames.append(frame)
            frame = frame.f_back
        return frames

    pydevd_frame_utils.create_frames_list_from_frame = create_frames_list_from_frame


def skip_traced_parents(pydevd: Any) -> None:
    """At every step pydevd enables tracing in each frame of the stack, though it is enabled.

    Before 3.12 `frame_tracer` does this.
    """
    from _pydevd_bundle.pydevd_constants import PYDEVD_USE_SYS_MONITORING

    original = pydevd.PyDB.set_trace_for_frame_and_parents
    if not PYDEVD_USE_SYS_MONITORING:
        return

    def set_trace_for_frame_and_parents(self: Any, ident: Any, frame: Any, **options: Any) -> None:
        if options.get("disable"):
            original(self, ident, frame, **options)
        else:
            _enable_codes(self, ident, frame)

    pydevd.PyDB.set_trace_for_frame_and_parents = set_trace_for_frame_and_parents


def step_over_comprehensions(_pydevd: Any) -> None:
    """From 3.12 on a comprehension is a loop in its function's own code, on a single line.

    pydevd takes each jump back in it for a new line, so that stepping over it took one step for
    each item. It ignores a jump that comes from no line.
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


def forget_ended_threads(_pydevd: Any) -> None:
    """pydevd keeps every thread for ever, because it makes a thread's id of its address.

    pydevd forgets all ids once, when it first looks at the threads: in a forked child they get its
    pid. A thread gets its old number again.
    """
    from _pydevd_bundle import pydevd_constants as constants

    original = constants._get_or_compute_thread_id_with_lock
    original.__name__  # noqa: B018  (it must be there to be replaced)
    numbers = itertools.count(1)

    def get_or_compute(thread: Any, is_current_thread: bool) -> Any:
        with constants._thread_id_lock:
            known = getattr(thread, "__pydevd_id__", None)
            if known is None:
                if not hasattr(thread, "_holdfast_number"):
                    thread._holdfast_number = next(numbers)
                known = "pid_%s_id_%s" % (constants.get_pid(), thread._holdfast_number)
                thread.__pydevd_id__ = known
        return known

    constants._get_or_compute_thread_id_with_lock = get_or_compute


def number_ids_once(_pydevd: Any) -> None:
    """Two threads that see an id for the first time, at once, give it two numbers.

    The first number would then stand in an event, and nothing would ever be told of it again.
    """
    from _pydevd_bundle._debug_adapter.pydevd_base_schema import BaseSchema

    BaseSchema._translate_id_to_dap.__name__  # noqa: B018  (it must be there to be replaced)

    def translate_id_to_dap(known_id: Any) -> Any:
        if known_id == "*":
            return known_id
        numbers = BaseSchema._obj_id_to_dap_id
        number = numbers.get(known_id)
        if number is None:
            new = BaseSchema._next_dap_id()
            BaseSchema._dap_id_to_obj_id[new] = known_id  # first: a request may bring it at once
            # In one step: the thread that comes second takes the number of the first.
            number = numbers.setdefault(known_id, new)
        return number

    BaseSchema._translate_id_to_dap = staticmethod(translate_id_to_dap)


def receive_lines_first(_pydevd: Any) -> None:
    """Python calls the tool with the highest number first, and pydevd has the lowest.

    pydevd must receive a line event before our monitor: it may stop the thread there for a step,
    and ours then says whether a breakpoint was reached as well. The other way round, a step from
    a line where ours stopped the thread would end on that same line.
    """
    from _pydevd_bundle.pydevd_constants import PYDEVD_USE_SYS_MONITORING

    if not PYDEVD_USE_SYS_MONITORING:
        return
    from _pydevd_sys_monitoring import pydevd_sys_monitoring

    module: Any = sys.modules[pydevd_sys_monitoring.restart_events.__module__]
    known = {name: getattr(module.monitor, name) for name in dir(module.monitor)}
    if module.DEBUGGER_ID != known["DEBUGGER_ID"] or known["get_tool"](_PYDEVD_TOOL):
        raise RuntimeError("an unknown version of pydevd, or a tool number that is taken")
    module.DEBUGGER_ID = _PYDEVD_TOOL
    module.monitor = SimpleNamespace(**dict(known, DEBUGGER_ID=_PYDEVD_TOOL))


def keep_room_for_callbacks(_pydevd: Any) -> None:
    """At the recursion limit a callback fails, and its exception is raised into the program."""
    from _pydevd_bundle.pydevd_constants import PYDEVD_USE_SYS_MONITORING

    if not PYDEVD_USE_SYS_MONITORING:
        return
    from _pydevd_sys_monitoring import pydevd_sys_monitoring

    module: Any = sys.modules[pydevd_sys_monitoring.update_monitor_events.__module__]
    known = {name: getattr(module.monitor, name) for name in dir(module.monitor)}
    register = known["register_callback"]
    known["register_callback"] = lambda tool, event, callback: register(
        tool, event, with_room(callback)
    )
    module._getframe.__name__  # noqa: B018  (it must be there to be replaced)
    module.monitor, module._getframe = SimpleNamespace(**known), get_frame


def step_to_handlers(_pydevd: Any) -> None:
    """From 3.12 on a step that leaves its frame by an exception was never at its end.

    It goes on in the caller: to the handler, or to whatever else runs there before.
    """
    from _pydevd_bundle import pydevd_comm_constants as commands
    from _pydevd_bundle.pydevd_constants import PYDEVD_USE_SYS_MONITORING

    if not PYDEVD_USE_SYS_MONITORING:
        return
    from _pydevd_sys_monitoring import pydevd_sys_monitoring

    module: Any = sys.modules[pydevd_sys_monitoring.update_monitor_events.__module__]
    original = module._unwind_event
    over = {
        commands.CMD_STEP_OVER: commands.CMD_STEP_OVER,
        commands.CMD_STEP_RETURN: commands.CMD_STEP_OVER,
        commands.CMD_STEP_OVER_MY_CODE: commands.CMD_STEP_OVER_MY_CODE,
        commands.CMD_STEP_RETURN_MY_CODE: commands.CMD_STEP_OVER_MY_CODE,
    }

    def unwind_event(code: Any, instruction: int, exc: BaseException) -> None:
        original(code, instruction, exc)
        info = getattr(threading.current_thread(), "additional_info", None)
        frame = get_frame(1)
        if info is None or info.pydev_step_cmd not in over or info.pydev_step_stop is not frame:
            return
        db = module.GlobalDebuggerHolder.global_dbg
        if db is None or frame.f_back is None:
            return
        info.pydev_step_cmd = over[info.pydev_step_cmd]
        info.pydev_step_stop = frame.f_back
        db.set_trace_for_frame_and_parents(threading.get_ident(), frame.f_back)

    GUARDS.add(unwind_event.__code__)  # pydevd looks for the frame that called it
    module._unwind_event = unwind_event

    # pydevd wants to know only while exceptions stop the program.
    unwind = module.monitor.events.PY_UNWIND
    register, set_events = module.monitor.register_callback, module.monitor.set_events
    module.monitor.register_callback = lambda tool, event, callback: register(
        tool, event, unwind_event if event == unwind else callback
    )
    module.monitor.set_events = lambda tool, events: set_events(tool, events and events | unwind)


def update_one_thread(_pydevd: Any) -> None:
    """When one thread is suspended or resumed, pydevd goes through all that there are.

    It does so for each of them when all are, which takes seconds for a hundred threads.
    """
    from _pydevd_bundle import pydevd_additional_thread_info, pydevd_additional_thread_info_regular

    module: Any = pydevd_additional_thread_info_regular
    if pydevd_additional_thread_info.set_additional_thread_info.__module__ != module.__name__:
        return  # the compiled form
    module._update_stepping_info.__name__  # noqa: B018  (it must be there to be replaced)

    def update_stepping_info(info: Any) -> None:
        with module._update_infos_lock:
            if info._is_stepping() and info._get_related_thread() is not None:
                module._infos_stepping.add(info)
            else:
                module._infos_stepping.discard(info)
        db = module.get_global_debugger()
        thread = info.weak_thread() if info.weak_thread is not None else None
        if db is not None and not db.pydb_disposed and thread is not None:
            db.get_internal_queue_and_event(module.get_thread_id(thread))[1].set()

    module._update_stepping_info = update_stepping_info


@functools.lru_cache(maxsize=1000)
def _find_comprehension_jumps(code: Any) -> FrozenSet[int]:
    """The offsets of jumps back to an iteration that collects items."""
    instructions = list(dis.get_instructions(code))
    collectors = ("LIST_APPEND", "SET_ADD", "MAP_ADD")
    collecting = [item.offset for item in instructions if item.opname in collectors]
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
    """Code objects are traced, and a deep stack repeats a few of them."""
    from _pydevd_sys_monitoring import pydevd_sys_monitoring

    seen = set()
    while frame is not None:
        if isinstance(frame, FrameType) and frame.f_code not in seen:
            seen.add(frame.f_code)
            if db.get_file_type(frame) is None:
                pydevd_sys_monitoring.enable_code_tracing(ident, frame.f_code, frame)
        frame = frame.f_back
