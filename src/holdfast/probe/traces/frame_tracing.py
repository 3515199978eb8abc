"""Events of functions that no source file has, before Python 3.12: from `sys.settrace`.

Code that is made by `exec` passes no loader, so that it cannot be rewritten before it runs. All of
the program runs slower while it is traced, which the recording says.
"""

from __future__ import annotations

import opcode
import sys
import threading
from typing import Any, Callable, Dict, Optional, Tuple

from . import frame_callers, trace_errors
from .code_plan import CodePlan
from .code_rewriter import is_rewritten
from .frame_recorder import FrameRecorder
from .function_choice import FunctionChoice
from .invocations import Invocations
from .traced_values import show

_GENERATOR_FLAGS = 0x2A0
_RETURN, _YIELD = opcode.opmap["RETURN_VALUE"], opcode.opmap["YIELD_VALUE"]
REMARK = "no source file has this function, so that sys.settrace had to find it: all ran slower"


class FrameTracer:
    """Records invocations of functions that start, as far as their names are meant."""

    def __init__(self, choice: FunctionChoice, invocations: Invocations) -> None:
        self._choice = choice
        self._invocations = invocations
        self._plans: Dict[int, Tuple[Any, Optional[CodePlan]]] = {}  # by the id of code
        self._recorders: Dict[int, FrameRecorder] = {}  # by the id of a frame
        self._before: Any = None
        self._is_off = False

    def arm(self) -> None:
        self._before = sys.gettrace()
        _find_settrace()(self._trace)
        threading.settrace(self._trace)
        self._invocations.remark(REMARK)

    def disarm(self) -> None:
        """Stop tracing; it may be called again, and from a trace function."""
        if self._is_off:
            return
        self._is_off = True
        self._recorders.clear()
        if sys.gettrace() == self._trace:
            _find_settrace()(self._before)
            threading.settrace(self._before)
        elif not self._invocations.is_done:
            self._invocations.remark("the program has set a trace function of its own")

    # -- called by the interpreter ----------------------------------------------------------------

    def _trace(self, frame: Any, event: str, arg: Any) -> Any:
        if self._is_off:
            return None
        try:
            own = self._begin(frame) if event == "call" else None
        except BaseException as error:
            return self._recover(error)
        if own is not None or self._before is None:
            return own
        return self._before(frame, event, arg)

    def _begin(self, frame: Any) -> Optional[Callable[..., Any]]:
        code = frame.f_code
        if id(frame) in self._recorders and not _is_beginning(frame):
            return self._follow
        if self._recorders:
            caller = self._recorders.get(id(frame.f_back))
            if caller is not None and caller.light is None:
                return _CalleeTracer(caller, frame).trace
        plan = self._find_plan(code, frame.f_globals)
        if plan is None or self._invocations.is_done or not _is_beginning(frame):
            return None
        recorder = self._invocations.start(plan, frame)
        if recorder is None:
            return None
        self._recorders[id(frame)] = recorder
        return self._follow

    def _find_plan(self, code: Any, names: Dict[str, Any]) -> Optional[CodePlan]:
        known = self._plans.get(id(code))
        if known is None:
            plan = None
            if self._choice.may_match(code) and not is_rewritten(code):
                chosen = self._choice.match_start(code, names)
                plan = self._invocations.add_function(chosen) if chosen is not None else None
            known = self._plans[id(code)] = (code, plan)
        return known[1]

    def _follow(self, frame: Any, event: str, arg: Any) -> Any:
        recorder = self._recorders.get(id(frame))
        if recorder is None:
            return None
        try:
            if event == "line":
                recorder.handler(None, frame.f_lineno)
            elif event == "exception":
                recorder.last_error = arg[1]
            elif event == "return":
                self._leave(frame, recorder, arg)
        except BaseException as error:
            return self._recover(error)
        return self._follow

    def _leave(self, frame: Any, recorder: FrameRecorder, value: Any) -> None:
        last = frame.f_code.co_code[frame.f_lasti]
        if last == _RETURN:
            outcome = "returned"
        elif frame.f_code.co_flags & _GENERATOR_FLAGS and value is not None:
            if last == _YIELD and recorder.light is None:
                recorder.yielded(value)
            return
        else:
            outcome, value = "raised", recorder.last_error
        recorder.last_error = None
        self._recorders.pop(id(frame), None)
        self._invocations.finish(recorder, outcome, value)

    def _recover(self, error: BaseException) -> None:
        if not trace_errors.is_ours(error):
            raise error
        if isinstance(error, RecursionError):
            return
        self._invocations.fail(error)
        self.disarm()


class _CalleeTracer:
    """Waits for the end of a function that a recorded frame has called."""

    def __init__(self, recorder: FrameRecorder, frame: Any) -> None:
        self._recorder = recorder
        self._name = frame.f_code.co_name
        arguments = frame_callers.read_arguments(frame)
        self._args = ", ".join(["%s=%s" % pair for pair in arguments.items()])
        self._raised: Optional[str] = None
        frame.f_trace_lines = False

    def trace(self, frame: Any, event: str, arg: Any) -> Any:
        if event == "exception":
            self._raised = show(arg[1])
        elif event == "return":
            is_return = frame.f_code.co_code[frame.f_lasti] == _RETURN
            self._recorder.called(self._name, self._args, arg, None if is_return else self._raised)
        return self.trace


def _is_beginning(frame: Any) -> bool:
    """Whether a frame begins, or a generator's goes on."""
    if not frame.f_code.co_flags & _GENERATOR_FLAGS:
        return True
    if sys.version_info < (3, 11):
        return bool(frame.f_lasti < 0)
    return not frame.f_code.co_code[frame.f_lasti + 1] & 3  # the argument of RESUME


def _find_settrace() -> Callable[[Any], None]:
    """Python's own function: pydevd puts one in its place that warns."""
    holder = getattr(sys.modules.get("pydevd_tracing"), "TracingFunctionHolder", None)
    return getattr(holder, "_original_tracing", None) or sys.settrace
