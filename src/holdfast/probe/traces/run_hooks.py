"""Where the events of the run recorder come from.

From 3.12 on, `sys.monitoring` reports them, with a tool of our own. Code that is not the program's
is switched off at its first event and runs at full speed. Before, `sys.settrace` is all there is.

No error of ours reaches the program. What a signal handler of the program raises while one of these
functions runs is the program's, and is passed on.
"""

from __future__ import annotations

import opcode
import os
import sys
import sysconfig
import threading
from _thread import _local
from typing import Any, Callable, Dict, Optional

from ..recursion_room import COUNTS_DOWN, FAR_FROM_LIMIT, REAL_ROOM, DepthGauge, with_room
from . import traced_values
from .event_tracker import EventTracker
from .run_events import CodePlan, FrameInfo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .run_recorder import RunRecorder

_TOOLS = (5, 4, 3, 2)
_NAME = "holdfast-run"
_TAKEN = "the program has freed the tool of sys.monitoring: nothing was recorded from there on"
_REPLACED = (
    "tracing was ended, by the program or by what a signal handler raised: nothing was recorded "
    "from there on"
)
_getframe = sys._getframe
_OURS = tuple(
    os.path.realpath(path) + os.sep
    for path in (os.path.dirname(os.path.dirname(__file__)), sysconfig.get_path("stdlib"))
)


def is_ours(error: BaseException) -> bool:
    """Whether an exception was raised by our code, and not by a signal handler of the program.

    The program sees no more of our functions in it than cannot be helped.
    """
    traceback = error.__traceback__
    while traceback is not None:
        name = traceback.tb_frame.f_code.co_filename
        if not name.startswith("<") and not os.path.realpath(name).startswith(_OURS):
            error.__traceback__ = traceback
            return False
        traceback = traceback.tb_next
    return isinstance(error, Exception)


class MonitoringHooks:
    """Events of `sys.monitoring`."""

    def __init__(self, recorder: "RunRecorder") -> None:
        self._recorder = recorder
        self._api: Any = sys.monitoring  # type: ignore[attr-defined]
        self._tool = -1
        self._local = 0
        self._codes: Dict[int, Any] = {}
        self._has_disabled_own = False

    def start(self) -> Optional[str]:
        """Begin; if that is not possible, why not."""
        api = self._api
        if self._tool >= 0 and not self._has_tool():
            self._codes.clear()
            self._tool = -1
        if self._tool < 0:
            free = [tool for tool in _TOOLS if api.get_tool(tool) is None]
            if not free:
                return "no tool of sys.monitoring is free"
            self._tool = free[0]
            api.use_tool_id(self._tool, _NAME)
        events = api.events
        self._local = events.LINE | events.PY_RETURN | events.PY_YIELD
        for event, hook in self._list_hooks():
            # At the recursion limit, only the outermost function can make room for others.
            api.register_callback(self._tool, event, with_room(self._guard(hook)))
        starts = events.PY_START | events.PY_RESUME | events.PY_THROW
        raises = events.PY_UNWIND | events.RAISE | events.RERAISE
        api.set_events(self._tool, starts | raises)
        if self._has_disabled_own:
            self._has_disabled_own = False
            api.restart_events()
        return None

    def _list_hooks(self) -> Any:
        events = self._api.events
        return (
            (events.PY_START, self._on_start),
            (events.PY_RESUME, self._on_resume),
            (events.PY_THROW, self._on_throw),
            (events.LINE, self._on_line),
            (events.PY_RETURN, self._on_return),
            (events.PY_YIELD, self._on_yield),
            (events.PY_UNWIND, self._on_unwind),
            (events.RAISE, self._on_raise),
            (events.RERAISE, self._on_reraise),
        )

    def stop(self) -> Optional[str]:
        """Nothing is called any more; code keeps its events, for a recording that follows."""
        if self._tool < 0:
            return None
        if not self._has_tool():
            return _TAKEN
        self._api.set_events(self._tool, 0)
        for event, _hook in self._list_hooks():
            self._api.register_callback(self._tool, event, None)
        return None

    def _has_tool(self) -> bool:
        """Whether the tool is still ours: a program may free those of others, and use them."""
        return bool(self._api.get_tool(self._tool) == _NAME)

    def close(self) -> None:
        self.stop()
        if self._tool >= 0 and not self._has_tool():
            self._codes.clear()
            self._tool = -1
        if self._tool >= 0:
            for code in self._codes.values():
                self._api.set_local_events(self._tool, code, 0)
            self._codes.clear()
            self._api.free_tool_id(self._tool)
            self._tool = -1

    def ignore(self, plan: CodePlan) -> None:
        """A code object runs so often that no more of it is wanted."""
        self._codes.pop(id(plan.code), None)
        self._api.set_local_events(self._tool, plan.code, 0)
        self._has_disabled_own = True

    def _guard(self, hook: Callable[..., Any]) -> Callable[..., Any]:
        """Called with a frame, a code object, and what else the event has."""
        recorder = self._recorder

        def guarded(*args: Any) -> Any:
            try:
                return hook(_getframe(2), *args)  # beyond the function that makes room
            except RecursionError:
                raise
            except BaseException as error:
                if not is_ours(error):
                    raise
                recorder.fail(error)
                return None

        return guarded

    # -- events -----------------------------------------------------------------------------------

    def _on_start(self, frame: Any, code: Any, _offset: int) -> Any:
        plan = self._recorder.find_plan(code)
        if plan is None or plan.is_hot:
            return self._api.DISABLE
        if id(code) not in self._codes:
            self._codes[id(code)] = code
            self._api.set_local_events(self._tool, code, self._local)
        self._recorder.tracker.begin_frame(frame, plan)
        return None

    def _find_frame(self, frame: Any, code: Any) -> Optional[FrameInfo]:
        info = self._recorder.tracker.frames.get(id(frame))
        return info if info is not None and info.plan.code is code else None

    def _on_resume(self, frame: Any, code: Any, _offset: int) -> Any:
        plan = self._recorder.find_plan(code)
        if plan is None or plan.is_hot:
            return self._api.DISABLE
        info = self._find_frame(frame, code)
        if info is not None:
            self._recorder.tracker.resume_frame(frame, info)
        return None

    def _on_throw(self, frame: Any, code: Any, _offset: int, _error: Any) -> Any:
        info = self._find_frame(frame, code)
        if info is not None:
            self._recorder.tracker.resume_frame(frame, info)

    def _on_line(self, frame: Any, code: Any, line: int) -> Any:
        info = self._find_frame(frame, code)
        if info is not None:
            self._recorder.on_line(frame, info, line)

    def _on_return(self, frame: Any, code: Any, _offset: int, value: Any) -> Any:
        info = self._find_frame(frame, code)
        if info is not None:
            self._recorder.tracker.end_frame(frame, info, value)

    def _on_yield(self, frame: Any, code: Any, _offset: int, value: Any) -> Any:
        info = self._find_frame(frame, code)
        if info is not None:
            self._recorder.tracker.give_value(info, value)

    def _on_unwind(self, frame: Any, code: Any, _offset: int, error: Any) -> Any:
        info = self._find_frame(frame, code)
        if info is not None:
            self._recorder.tracker.unwind_frame(frame, info, traced_values.show(error))

    def _on_raise(self, frame: Any, code: Any, _offset: int, error: Any) -> Any:
        info = self._find_frame(frame, code)
        if info is not None:
            self._recorder.tracker.note_raise(info, error)

    def _on_reraise(self, frame: Any, code: Any, _offset: int, error: Any) -> Any:
        info = self._find_frame(frame, code)
        if info is not None:
            self._recorder.tracker.note_reraise(info, error)


# -- before 3.12 ----------------------------------------------------------------------------------

_RETURNING = frozenset(
    opcode.opmap[name]
    for name in ("RETURN_VALUE", "YIELD_VALUE", "YIELD_FROM", "RETURN_GENERATOR", "SEND", "RESUME")
    if name in opcode.opmap
)
_YIELDING = _RETURNING - {opcode.opmap["RETURN_VALUE"]}


class TraceHooks:
    """Events of `sys.settrace`, in every thread."""

    def __init__(self, recorder: "RunRecorder") -> None:
        self._recorder = recorder
        self._before: Any = None
        self._before_in_threads: Any = None
        self._is_on = False
        self._has_opened_room = False
        self._thread = _local()  # has a gauge: how deep the thread is
        self._trace = self._on_call  # one object, to be told from others
        self._local = self._on_event

    def start(self) -> Optional[str]:
        self._before = sys.gettrace()
        self._before_in_threads = getattr(threading, "_trace_hook", None)
        self._is_on = True
        self._has_opened_room = not REAL_ROOM.levels
        REAL_ROOM.open()
        threading.settrace(self._trace)
        _find_settrace()(self._trace)
        return None

    def stop(self) -> Optional[str]:
        """Give back what was there; says so if the program has replaced us."""
        if not self._is_on:
            return None
        self._is_on = False
        self._close_room()
        if getattr(threading, "_trace_hook", None) is self._trace:
            threading.settrace(self._before_in_threads)
        if sys.gettrace() is not self._trace:
            return _REPLACED
        _find_settrace()(self._before)
        return None

    def _close_room(self) -> None:
        """Also when an exception ends the tracing of a thread, in which nothing would watch it."""
        if self._has_opened_room:
            self._has_opened_room = False
            REAL_ROOM.close()

    def close(self) -> None:
        self.stop()

    def ignore(self, plan: CodePlan) -> None:
        pass  # `_on_call` and `_on_event` look at the plan

    def _on_call(self, frame: Any, _event: str, _arg: Any) -> Any:
        """Called by the interpreter itself, which matters to the gauge."""
        if not self._is_on:
            return None
        try:
            gauge: DepthGauge = self._thread.gauge
        except AttributeError:
            gauge = self._thread.gauge = DepthGauge()
        count = gauge.counter.value
        if count > FAR_FROM_LIMIT if COUNTS_DOWN else count < REAL_ROOM.high:
            return self._begin_safely(frame)
        if gauge.is_at_limit(count):
            gauge.remove_room()  # its next call fails, as it would without us
            return None
        return _return_room(gauge, self._begin_safely(frame))

    def _begin_safely(self, frame: Any) -> Any:
        try:
            return self._begin(frame)
        except RecursionError:
            return None
        except BaseException as error:
            if not is_ours(error):
                self._close_room()
                raise
            self._recorder.fail(error)
            return None

    def _begin(self, frame: Any) -> Any:
        recorder = self._recorder
        plan = recorder.find_plan(frame.f_code)
        if plan is None or plan.is_hot:
            return None
        tracker = recorder.tracker
        info = tracker.frames.get(id(frame)) if plan.is_generator else None
        if info is not None and info.plan is plan and info.is_suspended and _has_begun(frame, plan):
            tracker.resume_frame(frame, info)
        else:
            tracker.begin_frame(frame, plan)
        return self._local

    def _on_event(self, frame: Any, event: str, arg: Any) -> Any:
        if not self._is_on:
            return None
        try:
            info = self._recorder.tracker.frames.get(id(frame))
            if info is None or info.plan.code is not frame.f_code:
                return None
            self._pass_on(frame, info, event, arg)
            return None if info.plan.is_hot else self._local
        except RecursionError:
            return self._local
        except BaseException as error:
            if not is_ours(error):
                self._close_room()
                raise
            self._recorder.fail(error)
            return None

    def _pass_on(self, frame: Any, info: FrameInfo, event: str, arg: Any) -> None:
        tracker = self._recorder.tracker
        if event == "line":
            self._recorder.on_line(frame, info, frame.f_lineno)
        elif event == "exception":
            info.error = traced_values.show(arg[1])
            tracker.note_raise(info, arg[1])
        elif event == "return":
            self._on_return(tracker, frame, info, arg)

    @staticmethod
    def _on_return(tracker: EventTracker, frame: Any, info: FrameInfo, value: Any) -> None:
        if value is not None and not info.plan.is_generator:
            tracker.end_frame(frame, info, value)
            return
        code, last = info.plan.instructions, frame.f_lasti
        instruction = code[last] if 0 <= last < len(code) else -1
        if info.plan.is_generator and _is_yield(code, last, instruction):
            tracker.give_value(info, value)
        elif info.error is not None and value is None and instruction not in _RETURNING:
            tracker.unwind_frame(frame, info, info.error)
        else:
            tracker.end_frame(frame, info, value)


def _return_room(gauge: DepthGauge, trace: Any) -> Any:
    """Near the recursion limit: give back the room that a frame at the limit went without."""

    def watch(frame: Any, event: str, arg: Any) -> Any:
        nonlocal trace
        # There may be no room for any call yet, not even for a comparison.
        gauge.counter.value += gauge.removed
        gauge.removed = 0
        if trace is not None:
            trace = trace(frame, event, arg)
        return watch

    return watch


def _is_yield(code: bytes, last: int, instruction: int) -> bool:
    if instruction in _YIELDING:
        return True
    # Before 3.11, one that awaits stands before the instruction that goes on with it.
    following = code[last + 2] if 0 <= last + 2 < len(code) else -1
    return following == opcode.opmap.get("YIELD_FROM", -2)


def _has_begun(frame: Any, plan: CodePlan) -> bool:
    """Whether a generator goes on; otherwise another one has got the address of the last."""
    if plan.first_offset is None:
        plan.first_offset = _find_first_offset(plan.code)
    return bool(frame.f_lasti > plan.first_offset)


def _find_first_offset(code: Any) -> int:
    resume = opcode.opmap.get("RESUME")
    if resume is None:
        return -1
    instructions: bytes = code.co_code
    for offset in range(0, len(instructions), 2):
        if instructions[offset] == resume:
            return offset
    return -1


def _find_settrace() -> Any:
    """`sys.settrace` itself, which pydevd may have replaced."""
    pydevd_tracing = sys.modules.get("pydevd_tracing")
    holder = getattr(pydevd_tracing, "TracingFunctionHolder", None)
    return getattr(holder, "_original_tracing", None) or sys.settrace


def make_hooks(recorder: "RunRecorder") -> Any:
    if hasattr(sys, "monitoring"):
        return MonitoringHooks(recorder)
    return TraceHooks(recorder)
