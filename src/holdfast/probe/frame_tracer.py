"""Tracing before Python 3.12, where `sys.settrace` is all there is.

While nothing could stop the program, no thread is traced. With breakpoints only, each call costs
one look at its file, and each line of a function that holds one a look at the line. A filter for
raised exceptions costs each frame its exceptions, and no lines. pydevd gets the events at which
one of these may stop, and every event while a thread steps or is to be suspended.

These functions serve as `f_trace` of a frame. Each notices by itself that the state has changed,
so those of other threads are left alone:

- `trace_line` of a file with breakpoints: looks for one on the line
- `trace_raised`: waits for exceptions
- `follow`: passes on to what pydevd returned for this frame
- `watch`: near the recursion limit, around one of the others
- `look`: of a frame whose values are watched (`trace_watch`), around one of the others
- `resume`: decides at its first event which of the others it will be
"""

from __future__ import annotations

import contextlib
import dis
import sys
import threading
from _thread import get_ident  # this one, where gevent replaces the other by that of greenlets
from types import FrameType
from typing import Any, Callable, Dict, Optional, Tuple

from . import breakpoint_table, exception_filters, trace_watch
from .exception_filters import FILTERS
from .function_table import FUNCTIONS, enter_function, is_beginning
from .pydevd_access import current, is_detached, is_ours
from .recursion_room import COUNTS_DOWN, FAR_FROM_LIMIT, REAL_ROOM, UNKNOWN_DEPTH, DepthGauge
from .step_returns import is_thrown_into, leave_frame
from .trace_watch import TraceWatch
from .tracing_watch import is_lost

Trace = Optional[Callable[[Any, str, Any], Any]]

_STATE_SUSPEND, _NO_STEP = 2, -1  # pydevd's STATE_SUSPEND, and its value for "no step under way"
_MAX_FILES = 20_000  # names of files to remember; a program may make up any number
_MAX_TRACED_IN_A_ROW = 16  # after so many, the rest of the stack is traced already
_DECISIONS: Dict[int, bool] = {}  # by a thread's ident: whether the breakpoint that it is at stops


class TracedFile:
    """The breakpoints of one file, and which of its code objects they concern."""

    def __init__(
        self, files: Dict[str, Any], lines: Dict[int, Any], has_functions: bool, other: Trace
    ) -> None:
        self._lines = lines
        self._has_functions = has_functions  # or may have, once a module begins to run
        self._other = other  # what traces frames that no breakpoint concerns
        self._trace_line = _make_line_trace(files, lines)
        self.codes: Dict[int, Tuple[Any, Trace, bool]] = {}  # by id; an entry keeps its code alive

    def choose(self, frame: Any) -> Tuple[Trace, bool]:
        """What traces this frame, and whether its call may stop."""
        code = frame.f_code
        known = self.codes.get(id(code))
        if known is None:
            has_lines = any(line in self._lines for _, line in dis.findlinestarts(code))
            is_function = self._has_functions and _may_stop_at_call(code)
            trace = self._trace_line if has_lines else self._other
            known = self.codes[id(code)] = code, trace, is_function
        if known[1] is trace_raised:
            frame.f_trace_lines = False
        return known[1:]


class UncachedFiles(Dict[str, Any]):
    """Has no file, so that every call is looked at; what is known of each is in `known`."""

    def __init__(self) -> None:
        super().__init__()
        self.known: Dict[str, Any] = {}


class Tracing:
    """Whether threads are traced, and how much of them.

    `files` has each file that was met under the present state, None for one that nothing concerns;
    whoever holds another object than this one holds the past.
    """

    def __init__(self) -> None:
        self.is_active = False
        self.passes_every_event = False  # pydevd gets every event
        self.stops_at_raise = False
        self.files: Dict[str, Optional[TracedFile]] = {}
        self.can_begin_late = False
        self._lock = threading.RLock()

    def update(self, breakpoints_changed: bool = False) -> None:
        """Find out what could stop the program now, and trace no more than that."""
        with self._lock:
            db = current()
            usable = db is not None and not db.pydb_disposed and not is_detached(db)
            passes_every_event = usable and _needs_every_event(db)
            at_raise = bool(usable and db.break_on_caught_exceptions)
            # A thread that nobody else can begin to trace must be traced from the start.
            could_stop = not self.can_begin_late or at_raise or (usable and _has_breakpoints(db))
            is_active = passes_every_event or (usable and could_stop)
            before = self.is_active, self.passes_every_event, self.stops_at_raise
            if (is_active, passes_every_event, at_raise) == before and not breakpoints_changed:
                return
            self.is_active, self.passes_every_event, self.stops_at_raise = (
                is_active,
                passes_every_event,
                at_raise,
            )
            # A frame may have to be watched for its values, whatever its file is.
            self.files = UncachedFiles() if _has_data_watches() else {}
            if not is_active:
                REAL_ROOM.close()
                return
            REAL_ROOM.open()
            if not before[0] and self.can_begin_late:
                _trace_all_threads()
            for frame in _user_stacks().values():
                trace_stack(db, frame)
                _look_at_stack(frame)

    def stop(self) -> None:
        """Trace nothing; each thread that is traced ends that at its next event."""
        self.is_active, self.passes_every_event, self.files = False, False, {}
        REAL_ROOM.close()

    def find_trace(self, frame: Any) -> Tuple[Trace, bool]:
        """What traces this frame while just running, and whether its call may stop."""
        name = frame.f_code.co_filename
        files = self.files
        if isinstance(files, UncachedFiles):
            files = files.known
        try:
            file = files[name]
        except KeyError:
            file = _find_file(self.files, frame)
            if len(files) > _MAX_FILES:
                files.clear()
            files[name] = file
        return (None, False) if file is None else file.choose(frame)


TRACING = Tracing()


def reset() -> None:
    """In a forked child: its threads, locks and limits are not those of its parent."""
    global TRACING
    TRACING.stop()
    before, TRACING = TRACING, Tracing()
    TRACING.can_begin_late = before.can_begin_late


def _needs_every_event(db: Any) -> bool:
    if (
        db.break_on_user_uncaught_exceptions
        or db.has_plugin_line_breaks
        or db.has_plugin_exception_breaks
    ):
        return True
    infos = (getattr(thread, "additional_info", None) for thread in list(_all_threads().values()))
    return any(info is not None and _is_busy(info) for info in infos)


def _all_threads() -> Dict[int, Any]:
    """By ident, also pydevd's own, which it hides from `enumerate`."""
    threads: Dict[int, Any] = threading._active  # type: ignore[attr-defined]
    return threads


def _is_busy(info: Any) -> bool:
    """Whether a thread steps, or is to be suspended and is not yet."""
    is_wanted = info.pydev_step_cmd != _NO_STEP or info.pydev_state == _STATE_SUSPEND
    return is_wanted and not info.is_in_wait_loop


def _has_breakpoints(db: Any) -> bool:
    table = breakpoint_table.TABLE
    return bool(table.functions) or any(db.breakpoints.values()) or _has_data_watches()


def _has_data_watches() -> bool:
    watch = trace_watch.current_watch()
    return watch is not None and watch.is_active


def _find_file(files: Dict[str, Any], frame: Any) -> Optional[TracedFile]:
    from pydevd_file_utils import get_abs_path_real_path_and_base_from_frame

    db = current()
    if db is None or is_ours(frame.f_code.co_filename):
        return None
    paths = get_abs_path_real_path_and_base_from_frame(frame)
    lines = db.breakpoints.get(paths[1]) or {}
    has_functions = not FUNCTIONS.is_empty and FUNCTIONS.may_concern(paths[1], frame.f_globals)
    other = trace_raised if TRACING.stops_at_raise else None
    if not lines and not has_functions and other is None:
        return None
    kind = db.get_file_type(frame, paths)
    if kind is not None and not (kind == db.LIB_FILE and db.in_project_scope(frame, paths[0])):
        return None
    return TracedFile(files, lines, has_functions, other)


def _may_stop_at_call(code: Any) -> bool:
    return code.co_name == "<module>" or FUNCTIONS.find_entry(code) is not None


# -- called by the interpreter, in the thread that is traced ---------------------------------------


def _make_dispatch(ident: int) -> Callable[[Any, str, Any], Any]:
    """The function that one thread calls whenever a frame begins or goes on."""
    gauge: Any = None
    counter = UNKNOWN_DEPTH
    room = REAL_ROOM

    # Two functions of the same kind, for each comparison here makes every call of the program
    # slower: the counter goes down in one Python, and up in the others.
    def dispatch_down(frame: Any, event: str, arg: Any) -> Any:
        if counter.value > FAR_FROM_LIMIT:
            try:
                file = TRACING.files[frame.f_code.co_filename]
            except KeyError:
                return _begin(frame, event, arg)
            if file is None:
                return None
            known = file.codes.get(id(frame.f_code))
            if known is None or known[2]:
                return _begin(frame, event, arg)
            if known[1] is trace_raised:
                frame.f_trace_lines = False
            return known[1]
        return near_limit(frame, event, arg, counter.value)

    def dispatch_up(frame: Any, event: str, arg: Any) -> Any:
        if counter.value < room.high:
            try:
                file = TRACING.files[frame.f_code.co_filename]
            except KeyError:
                return _begin(frame, event, arg)
            if file is None:
                return None
            known = file.codes.get(id(frame.f_code))
            if known is None or known[2]:
                return _begin(frame, event, arg)
            if known[1] is trace_raised:
                frame.f_trace_lines = False
            return known[1]
        return near_limit(frame, event, arg, counter.value)

    dispatch = dispatch_down if COUNTS_DOWN else dispatch_up

    def near_limit(frame: Any, event: str, arg: Any, count: int) -> Any:
        nonlocal gauge, counter
        if get_ident() != ident:
            return _return_trace(ident, dispatch)
        if gauge is None:
            gauge = _gauge_of(ident)
            counter = gauge.counter
            return _begin(frame, event, arg)
        if gauge.is_at_limit(count):
            gauge.remove_room()
            return None
        return _watch_edge(gauge, _begin(frame, event, arg))

    return dispatch


def _gauge_of(ident: int) -> DepthGauge:
    """A thread has one, also if it is traced again; called in that thread."""
    thread = _all_threads().get(ident)
    gauge: DepthGauge = getattr(thread, "_holdfast_gauge", None) or DepthGauge()
    if thread is not None:
        thread._holdfast_gauge = gauge
    return gauge


def _return_trace(ident: int, dispatch: Any) -> None:
    """This thread was given the trace function of another one, which lacks it now.

    A thread that is just being started has its parent's ident for a moment, and was mistaken for
    it. pydevd goes on to trace this one properly.
    """
    from pydevd_tracing import set_trace_to_threads

    _end_tracing()
    if TRACING.is_active:
        set_trace_to_threads(dispatch, thread_idents=[ident], create_dummy_thread=False)


def _begin(frame: Any, event: str, arg: Any) -> Trace:
    """What traces this frame from now on."""
    if TRACING.is_active and event == "call" and not FUNCTIONS.is_empty:
        _enter(frame)
    if not TRACING.is_active:
        _end_tracing()
        return _keep(frame, None)
    if TRACING.passes_every_event:
        return _look_too(frame, _ask_pydevd(frame, event, arg), begins=True)
    return _keep(frame, _look_too(frame, TRACING.find_trace(frame)[0], begins=True))


def _enter(frame: Any) -> None:
    """A module or function begins: look for functions in it, or stop there."""
    code = frame.f_code
    if code.co_name == "<module>":
        FUNCTIONS.search_module(frame)
        return
    entry = FUNCTIONS.find_entry(code)
    # A generator sends "call" each time that it goes on, too.
    if entry is not None and is_beginning(frame):
        enter_function(frame, entry)


def _make_line_trace(files: Dict[str, Any], lines: Dict[int, Any]) -> Callable[..., Any]:
    def trace_line(frame: Any, event: str, arg: Any) -> Trace:
        if TRACING.files is not files:
            return resume(frame, event, arg)
        if event != "line":
            if event == "exception" and TRACING.stops_at_raise:
                return _ask_pydevd(frame, event, arg)
            return trace_line
        point = lines.get(frame.f_lineno)
        if point is None:
            return trace_line
        stops = breakpoint_table.should_stop(current(), None, point, frame)
        if not stops and TRACING.files is files:
            return trace_line
        ident = get_ident()
        _DECISIONS[ident] = stops
        try:
            return _ask_pydevd(frame, event, arg)
        finally:
            _DECISIONS.pop(ident, None)

    return trace_line


def trace_raised(frame: Any, event: str, arg: Any) -> Trace:
    if TRACING.passes_every_event or not TRACING.stops_at_raise:
        return resume(frame, event, arg)
    return _ask_pydevd(frame, event, arg) if event == "exception" else trace_raised


def resume(frame: Any, event: str, arg: Any) -> Trace:
    """Trace a frame from any of its events on, as the present state wants it."""
    frame.f_trace_lines = True
    if event == "call" or TRACING.passes_every_event or not TRACING.is_active:
        trace = _begin(frame, event, arg)
    else:
        trace = TRACING.find_trace(frame)[0]
        if trace is not None:
            trace = trace(frame, event, arg)
    return _keep(frame, trace)


def _follow(inner: Callable[..., Any]) -> Trace:
    was_thrown_into = False

    def follow(frame: Any, event: str, arg: Any) -> Trace:
        nonlocal inner, was_thrown_into
        if not TRACING.passes_every_event:
            return resume(frame, event, arg)
        if event == "exception":
            was_thrown_into = was_thrown_into or is_thrown_into(frame, arg[0])
        elif event == "return" and not leave_frame(current(), frame, arg, was_thrown_into):
            return None
        result = inner(frame, event, arg)
        if not TRACING.passes_every_event or _has_ended(result):
            return _choose(frame, result)
        inner = result
        return _look_too(frame, follow)

    return follow


def _ask_pydevd(frame: Any, event: str, arg: Any) -> Trace:
    db = current()
    tracer = _find_tracer(db) if db is not None else None
    if tracer is None:
        return None
    if event == "return" and not leave_frame(db, frame, arg, False):
        return None
    return _choose(frame, tracer(frame, event, arg))


def _find_tracer(db: Any) -> Any:
    """pydevd's tracer of the current thread.

    pydevd makes it at the thread's first event, once it has gone down the whole stack for a frame
    in which to notice an exception that nothing catches. `exception_filters` notices those.
    """
    from _pydevd_bundle import pydevd_trace_dispatch_regular as regular

    thread = db.threading_active.get(get_ident())
    if thread is None or getattr(thread, "pydev_do_not_trace", False):
        return None
    info = db.set_additional_thread_info(thread)
    tracer = info.thread_tracer
    if tracer is None or tracer._args[0] is not db:
        caches = regular.global_cache_skips, regular.global_cache_frame_skips
        tracer = info.thread_tracer = regular.ThreadTracer((db, thread, info, *caches))
    return tracer


def _choose(frame: Any, result: Any) -> Trace:
    """What traces a frame after pydevd has seen an event of it."""
    if TRACING.passes_every_event:
        frame.f_trace_lines = True
        return _keep(frame, _look_too(frame, None if _has_ended(result) else _follow(result)))
    if not TRACING.is_active:
        _end_tracing()
        return _keep(frame, None)
    return _keep(frame, _look_too(frame, TRACING.find_trace(frame)[0]))


def _keep(frame: Any, trace: Trace) -> Trace:
    """Returned from a trace function, None would leave the last one in place."""
    if trace is None:
        frame.f_trace = None
    return trace


def _has_ended(result: Any) -> bool:
    """Whether pydevd wants no more events of this frame."""
    return result is None or getattr(result, "__name__", "") == "NO_FTRACE"


def _end_tracing() -> None:
    import pydevd_tracing

    set_trace = pydevd_tracing.TracingFunctionHolder._original_tracing or sys.settrace
    set_trace(None)
    if sys.version_info < (3, 10):
        _release_callers(sys._getframe(1))


def _release_callers(frame: Any) -> None:
    """Before 3.10 a frame that has a trace function knows its line only while it is traced.

    An exception would be shown, also in the program's own traceback, at the line it knew last.
    """
    while frame is not None:
        if _is_ours(frame.f_trace):
            frame.f_trace = None
        frame = frame.f_back


def _watch_edge(gauge: DepthGauge, trace: Trace) -> Trace:
    """Near the recursion limit: return the room that a frame at the limit went without.

    That frame was not traced, so an exception that it raised seems to be raised by the next one.
    """

    def watch(frame: Any, event: str, arg: Any) -> Trace:
        nonlocal trace
        # There may be no room for any call yet, not even for a comparison.
        hidden = gauge.removed
        gauge.counter.value += hidden
        gauge.removed = 0
        if trace is None:
            if not TRACING.passes_every_event:
                return watch
            trace = resume
        if hidden and event == "exception" and arg[2] is not None and arg[2].tb_next is not None:
            with _as_raised_here(arg[2]):
                trace = trace(frame, event, arg)
        else:
            trace = trace(frame, event, arg)
        return watch

    return watch


def _look_too(frame: Any, trace: Trace, begins: bool = False) -> Trace:
    """The same trace function, or one around it where the values of the frame are watched."""
    data = trace_watch.current_watch()
    if data is None or not data.is_active or getattr(trace, "__name__", "") == "look":
        return trace
    wants = data.wants_call(frame) if begins else data.wants(frame)
    return _make_look(data, trace) if wants else trace


def _make_look(data: TraceWatch, inner: Trace) -> Trace:
    files = TRACING.files

    def look(frame: Any, event: str, arg: Any) -> Trace:
        nonlocal inner, files
        if inner is None and (TRACING.files is not files or TRACING.passes_every_event):
            files, inner = TRACING.files, resume
        if inner is not None:
            # It may stop here, and tell then what was written just before.
            inner = inner(frame, event, arg)
            if getattr(inner, "__name__", "") == "look":
                inner = None  # another one like this
        if not data.is_active or trace_watch.current_watch() is not data:
            return _keep(frame, inner)
        frame.f_trace_lines = True
        data.on_event(frame, event)
        return look

    return look


def _look_at_stack(frame: Any) -> None:
    """Watch the values of frames that run already."""
    data = trace_watch.current_watch()
    while data is not None and frame is not None:
        if isinstance(frame, FrameType) and data.wants(frame):
            trace: Any = frame.f_trace
            if getattr(trace, "__name__", "") != "look":
                frame.f_trace_lines = True
                frame.f_trace = _make_look(data, trace if _is_ours(trace) else None)
        frame = frame.f_back


@contextlib.contextmanager
def _as_raised_here(traceback: Any) -> Any:
    rest, traceback.tb_next = traceback.tb_next, None
    try:
        yield
        has_stopped = FILTERS.has_stopped(traceback)
    finally:
        traceback.tb_next = rest
    if has_stopped:
        FILTERS.note_stop(traceback)


# -- from other threads ----------------------------------------------------------------------------


def _trace_all_threads() -> None:
    from pydevd_tracing import set_trace_to_threads

    for ident in _user_stacks():
        if not is_lost(ident):
            set_trace_to_threads(_make_dispatch(ident), thread_idents=[ident])


def _trace_own_thread() -> None:
    from pydevd_tracing import SetTrace

    SetTrace(_make_dispatch(get_ident()))


def _can_trace_other_threads() -> bool:
    """pydevd has a compiled function for that, but not for every machine."""
    from pydevd_tracing import set_trace_to_threads

    before, ident = sys.gettrace(), get_ident()
    failed = set_trace_to_threads(resume, thread_idents=[ident], create_dummy_thread=False)
    sys.settrace(before)
    return not failed


def _user_stacks() -> Dict[int, Any]:
    """The top frame of each thread but the debugger's own, by ident."""
    stacks = dict(sys._current_frames())
    for ident, thread in list(_all_threads().items()):
        if getattr(thread, "pydev_do_not_trace", False):
            stacks.pop(ident, None)
    return stacks


def trace_stack(db: Any, frame: Any) -> None:
    """Trace the frames of a stack that must be: all of them, or those with breakpoints.

    Below many frames that are traced already, all are.
    """
    traced = 0
    while TRACING.is_active and frame is not None and traced < _MAX_TRACED_IN_A_ROW:
        if isinstance(frame, FrameType):
            if _is_ours(frame.f_trace) and frame.f_trace_lines:
                traced += TRACING.passes_every_event
            elif _must_trace(db, frame):
                traced = 0
                frame.f_trace_lines = True
                frame.f_trace = resume
        frame = frame.f_back


def _is_ours(trace: Any) -> bool:
    return getattr(trace, "__globals__", None) is globals()


def _must_trace(db: Any, frame: Any) -> bool:
    if TRACING.passes_every_event:
        return bool(db.get_file_type(frame) is None)
    return TRACING.find_trace(frame)[0] is not None


# -- into pydevd -----------------------------------------------------------------------------------


def trace_little(pydevd: Any) -> None:
    """Let pydevd's own tracing begin and end here."""
    from _pydevd_bundle.pydevd_additional_thread_info import PyDBAdditionalThreadInfo
    from _pydevd_bundle.pydevd_constants import PYDEVD_USE_SYS_MONITORING, SUPPORT_GEVENT

    if PYDEVD_USE_SYS_MONITORING:
        return
    # A greenlet that waits has its own flag for being traced, which nobody else can set.
    TRACING.can_begin_late = not SUPPORT_GEVENT and _can_trace_other_threads()

    def enable_tracing(_db: Any, *_args: Any, **_options: Any) -> None:
        if pydevd.pydevd_gevent_integration is not None:
            pydevd.pydevd_gevent_integration.enable_gevent_integration()
        if TRACING.is_active and not _is_ours(sys.gettrace()):
            _trace_own_thread()

    update = PyDBAdditionalThreadInfo.update_stepping_info

    def update_stepping_info(info: Any) -> None:
        update(info)
        if _is_busy(info) != TRACING.passes_every_event:  # or it changes nothing
            TRACING.update()

    def trace_parents(db: Any, _ident: Any, frame: Any, **_options: Any) -> None:
        trace_stack(db, frame)

    notify = pydevd.PyDB.on_breakpoints_changed

    def on_breakpoints_changed(db: Any, removed: bool = False) -> None:
        notify(db, removed)
        TRACING.update(breakpoints_changed=True)

    decide = pydevd.PyDB.handle_breakpoint_condition

    def handle_breakpoint_condition(db: Any, info: Any, point: Any, frame: Any) -> bool:
        """Evaluating a rule counts a hit, so it is evaluated once."""
        stops = _DECISIONS.pop(get_ident(), None) if _DECISIONS else None
        return bool(decide(db, info, point, frame) if stops is None else stops)

    pydevd.PyDB.enable_tracing = enable_tracing
    pydevd.PyDB.on_breakpoints_changed = on_breakpoints_changed
    pydevd.PyDB.set_trace_for_frame_and_parents = trace_parents
    pydevd.PyDB.handle_breakpoint_condition = handle_breakpoint_condition
    PyDBAdditionalThreadInfo.update_stepping_info = update_stepping_info
    pydevd.PyDB._holdfast_traces_little = True
    trace_watch.set_observer(lambda _frame: TRACING.update(breakpoints_changed=True))
    exception_filters.stop_at_thread_crashes()


def adopt(db: Any) -> None:
    """Frames and threads that pydevd wants to trace are traced from here."""
    if not getattr(db, "_holdfast_traces_little", False):
        return
    db.trace_dispatch = resume
    threading.settrace(None)  # pydevd starts every thread, and enables tracing there
    trace_program(db)


def trace_program(db: Any) -> None:
    """In the thread that is about to run the program: have it traced, if it must be."""
    if getattr(db, "_holdfast_traces_little", False):
        TRACING.update()
        db.enable_tracing()
