"""Events of the chosen function on Python 3.12 and newer, from `sys.monitoring`.

One tool looks for the function: it hears of each code object once, when it first starts. The other
records: it gets events of the chosen code object only, and of the functions that a recorded frame
calls, while it is recorded. All other code runs at full speed.
"""

from __future__ import annotations

import sys
from typing import Any, Callable, Dict, List, Optional, Tuple

from ..function_names import strip_locals
from . import frame_callers, trace_errors
from .called_functions import find_function
from .code_plan import CodePlan, find_yields, list_lines
from .debugger_calls import is_debuggers_call, is_standard
from .frame_recorder import FrameRecorder
from .function_choice import ChosenFunction, FunctionChoice
from .invocations import Invocations
from .traced_values import show

_TOOLS = (5, 4, 3)  # 0 to 2 belong to debuggers, coverage and profilers
_MAX_CALLS_OF_ONE = 64  # of one callee that are told for each frame; then its events end
_getframe = sys._getframe


class _Target:
    """A code object that is recorded."""

    __slots__ = ("code", "is_alone", "is_standard", "jump_lines", "plan", "recorders", "yields")

    def __init__(self, plan: CodePlan) -> None:
        self.plan = plan
        self.code = plan.code
        self.is_standard = is_standard(plan.code)
        self.yields = find_yields(plan.code) if plan.is_generator else frozenset()
        self.jump_lines = list_lines(plan.code) if plan.has_loop_in_line else {}
        self.recorders: Dict[int, FrameRecorder] = {}  # by the id of a frame
        self.is_alone = False  # whether no other frame runs this code


class FrameMonitor:
    """Records invocations of the chosen function."""

    def __init__(self, choice: FunctionChoice, invocations: Invocations) -> None:
        self._choice = choice
        self._invocations = invocations
        self._api: Any = sys.monitoring  # type: ignore[attr-defined, unused-ignore]
        self._events = self._api.events
        self._finder = self._tool = -1
        self._targets: Dict[int, _Target] = {}  # by the id of a code object, which is kept
        self._callees: Dict[int, List[Any]] = {}  # by the id of a code object: itself, and a count
        self._pending: Dict[int, Tuple[FrameRecorder, str, str]] = {}  # calls, by frame
        self._count_left = invocations.count_only()
        self._late: Dict[int, BaseException] = {}  # to be raised soon, by thread

    # -- on and off -------------------------------------------------------------------------------

    def arm(self) -> bool:
        """Begin to listen. False if there is no tool left for us."""
        api, events = self._api, self._events
        free = [tool for tool in _TOOLS if api.get_tool(tool) is None]
        if len(free) < 2:
            return False
        self._finder, self._tool = free[:2]
        api.use_tool_id(self._finder, "holdfast function search")
        api.use_tool_id(self._tool, "holdfast trace")
        api.register_callback(self._finder, events.PY_START, self._guard(self._look_at))
        callbacks: Dict[int, Callable[..., Any]] = {
            events.PY_START: self._on_start,
            events.PY_RETURN: self._on_return,
            events.PY_UNWIND: self._on_unwind,
            events.PY_YIELD: self._on_yield,
            events.PY_RESUME: self._on_resume,
            events.CALL: self._on_call,
            events.INSTRUCTION: self._on_instruction,
        }
        for event, callback in callbacks.items():
            api.register_callback(self._tool, event, self._guard(callback))
        api.register_callback(self._tool, events.JUMP, self._guard_jump)
        api.register_callback(self._tool, events.LINE, self._guard(self._on_line))
        api.set_events(self._finder, events.PY_START)
        # It cannot be had for one code object. It costs nothing until an exception leaves a frame.
        api.set_events(self._tool, events.PY_UNWIND)
        return True

    def disarm(self) -> None:
        """Stop listening; it may be called again, and from a callback."""
        api = self._api
        tools, self._finder, self._tool = (self._finder, self._tool), -1, -1
        for tool in tools:
            if tool < 0 or not (api.get_tool(tool) or "").startswith("holdfast"):
                continue  # somebody else has it now
            api.set_events(tool, 0)
            for code in [t.code for t in self._targets.values()] + [
                entry[0] for entry in self._callees.values()
            ]:
                api.set_local_events(tool, code, 0)
            for event in self._list_events():
                api.register_callback(tool, event, None)
            api.free_tool_id(tool)
        self._pending.clear()
        self._callees.clear()

    def _list_events(self) -> List[int]:
        events = self._events
        names = "PY_START PY_RETURN PY_UNWIND PY_YIELD PY_RESUME CALL JUMP LINE INSTRUCTION".split()
        return [getattr(events, name) for name in names]

    def _guard(self, callback: Callable[..., Any]) -> Callable[..., Any]:
        """The same callback; an error of ours ends the recording, and not the program."""

        def guarded(*args: Any) -> Any:
            try:
                return callback(_getframe(1), *args)
            except BaseException as error:
                return self._recover(error, callback, _getframe(1), args)

        return guarded

    def _recover(
        self, error: BaseException, callback: Callable[..., Any], frame: Any, args: Any
    ) -> Any:
        if not trace_errors.is_ours(error):
            raise error
        if isinstance(error, RecursionError):
            return trace_errors.run_with_room(lambda: callback(frame, *args))
        self._invocations.fail(error)
        self.disarm()
        return None

    # -- finding the function ---------------------------------------------------------------------

    def _look_at(self, frame: Any, code: Any, _offset: int) -> Any:
        """A code object starts that was not looked at yet."""
        if code.co_name == "<module>":
            for chosen in self._choice.find_inside(code, frame.f_globals):
                self.add(chosen)
        if self._choice.may_match(code) and id(code) not in self._targets:
            chosen_now = self._choice.match_start(code, frame.f_globals)
            if chosen_now is not None:
                self.add(chosen_now)
                # Its own start was not one of our events yet.
                self._on_start(frame, code, 0)
        return self._api.DISABLE

    def add(self, chosen: ChosenFunction) -> None:
        """Record a function from its next start on."""
        if id(chosen.code) not in self._targets and self._tool >= 0:
            target = _Target(self._invocations.add_function(chosen))
            self._targets[id(chosen.code)] = target
            self._api.set_local_events(self._tool, chosen.code, self._events.PY_START)

    # -- beginning and end of a frame -------------------------------------------------------------

    def _on_start(self, frame: Any, code: Any, _offset: int) -> Any:
        target = self._targets.get(id(code))
        if self._pending or self._callees:
            self._note_callee(frame, code)
        if target is None or (target.is_standard and is_debuggers_call(frame)):
            return None
        if self._count_left > 0:
            self._count_left -= 1
            if self._count_left == 0:
                self._invocations.skip(self._invocations.count_only())
            return None
        if target.recorders:
            self._make_crowded(target)
            stale = target.recorders.pop(id(frame), None)
            if stale is not None:  # a generator that was dropped: no event tells
                self._invocations.lose(stale, "it was dropped while it waited")
        recorder = self._invocations.start(target.plan, frame)
        if recorder is not None:
            self._begin(target, frame, recorder)
        elif self._invocations.is_done and not target.recorders:
            self.disarm()
        return None

    def _begin(self, target: _Target, frame: Any, recorder: FrameRecorder) -> None:
        is_first = not target.recorders
        target.recorders[id(frame)] = recorder
        target.is_alone = (
            is_first and not target.plan.is_generator and not _is_elsewhere(target.code, frame)
        )
        recorder.on_mode_change = lambda: self._choose_line_callback(target, recorder)
        recorder.recover = lambda error: self._recover(error, lambda _frame: None, None, ())
        self._choose_line_callback(target, recorder)

    def _local_events(self, target: _Target) -> int:
        events = self._events
        # Without PY_START, 3.13 sends no LINE for a function of a single line.
        wanted = events.PY_START | events.LINE | events.PY_RETURN | events.PY_YIELD
        wanted |= events.PY_RESUME | events.CALL
        if self._late:
            wanted |= events.INSTRUCTION
        return int(wanted | events.JUMP if target.plan.has_loop_in_line else wanted)

    def _on_return(self, frame: Any, code: Any, _offset: int, value: Any) -> Any:
        self._end_frame(frame, code, "returned", value)

    def _on_unwind(self, frame: Any, code: Any, _offset: int, error: BaseException) -> Any:
        if self._pending or id(code) in self._targets:
            self._end_frame(frame, code, "raised", error)

    def _end_frame(self, frame: Any, code: Any, outcome: str, value: Any) -> None:
        call = self._pending.pop(id(frame), None)
        if call is not None:
            recorder, name, args = call
            raised = show(value) if outcome == "raised" else None
            if code.co_name == "__init__" and raised is None:
                value = frame_callers.read_first(frame)  # what comes of the call is the object
            recorder.called(name, args, value, raised)
            self._limit_callee(code)
        target = self._targets.get(id(code))
        ended = target.recorders.pop(id(frame), None) if target is not None else None
        if target is None or ended is None:
            return
        ended.on_mode_change = None
        self._invocations.finish(ended, outcome, value)
        if not target.recorders:
            self._stop_recording(target)

    def _stop_recording(self, target: _Target) -> None:
        if self._invocations.is_done and not any(t.recorders for t in self._targets.values()):
            self.disarm()
            return
        self._api.set_local_events(self._tool, target.code, self._events.PY_START)
        if not any(t.recorders for t in self._targets.values()):
            for code, _count in self._callees.values():
                if id(code) not in self._targets:
                    self._api.set_local_events(self._tool, code, 0)
            self._callees.clear()
            self._pending.clear()

    def _on_yield(self, frame: Any, code: Any, offset: int, value: Any) -> Any:
        target = self._targets.get(id(code))
        if target is not None and offset in target.yields:
            recorder = target.recorders.get(id(frame))
            if recorder is not None and recorder.light is None:
                recorder.yielded(value)

    def _on_resume(self, frame: Any, code: Any, _offset: int) -> Any:
        target = self._targets.get(id(code))
        if target is not None and id(frame) not in target.recorders:
            self._make_crowded(target)

    def _make_crowded(self, target: _Target) -> None:
        """Another frame runs this code: each line must be asked whose it is."""
        if target.is_alone:
            target.is_alone = False
            self._choose_line_callback(target, None)

    # -- lines ------------------------------------------------------------------------------------

    def _choose_line_callback(self, target: _Target, recorder: Optional[FrameRecorder]) -> None:
        """The way of recording has changed: lines that were disabled are wanted again."""
        api, line = self._api, self._events.LINE
        is_single = (
            len(self._targets) == 1 or sum(bool(t.recorders) for t in self._targets.values()) == 1
        )
        if target.is_alone and recorder is not None and is_single:
            api.register_callback(self._tool, line, self._make_line_callback(recorder))
        else:
            api.register_callback(self._tool, line, self._guard(self._on_line))
        if recorder is None or recorder.light is None:
            # Off and on again: `restart_events` would do so for every tool in the process.
            api.set_local_events(self._tool, target.code, 0)
            api.set_local_events(self._tool, target.code, self._local_events(target))

    def _make_line_callback(self, recorder: FrameRecorder) -> Callable[..., Any]:
        handler, recover = recorder.handler, self._recover
        if recorder.light is not None:
            return handler  # which has a guard of its own

        def on_line(code: Any, number: int) -> Any:
            try:
                return handler(code, number)
            except BaseException as error:
                return recover(error, lambda _frame, *args: handler(*args), None, (code, number))

        return on_line

    def _on_line(self, frame: Any, code: Any, number: int) -> Any:
        target = self._targets.get(id(code))
        recorder = target.recorders.get(id(frame)) if target is not None else None
        if recorder is not None:
            recorder.handler(code, number)  # never disabled: another frame may need the line

    def _on_jump(self, frame: Any, code: Any, start: int, end: int) -> Any:
        """A loop within one line sends no new line event, but reaches the line again."""
        target = self._targets.get(id(code))
        if target is None or end > start:
            return self._api.DISABLE
        line = target.jump_lines.get(end)
        if line != target.jump_lines.get(start) or line not in target.plan.boundaries:
            return self._api.DISABLE
        recorder = target.recorders.get(id(frame))
        if recorder is not None:
            recorder.handler(code, line)
        return None

    def _guard_jump(self, *args: Any) -> Any:
        """As other guards; but the function could not catch what is raised at a jump.

        So what a signal handler raised here is raised at the next instruction.
        """
        frame = _getframe(1)
        try:
            return self._on_jump(frame, *args)
        except BaseException as error:
            target = self._targets.get(id(args[0]))
            if target is None or self._tool < 0 or trace_errors.is_ours(error):
                return self._recover(error, self._on_jump, frame, args)
            self._late[trace_errors.get_ident()] = error
            self._api.set_local_events(self._tool, target.code, self._local_events(target))
            return None

    def _on_instruction(self, _frame: Any, code: Any, _offset: int) -> Any:
        error = self._late.pop(trace_errors.get_ident(), None)
        target = self._targets.get(id(code))
        if target is not None and not self._late:
            self._api.set_local_events(self._tool, code, self._local_events(target))
        if error is not None:
            raise error

    # -- functions that a recorded frame calls ----------------------------------------------------

    def _on_call(self, frame: Any, code: Any, _offset: int, function: Any, _first: Any) -> Any:
        target = self._targets.get(id(code))
        recorder = target.recorders.get(id(frame)) if target is not None else None
        if recorder is None or recorder.light is not None:
            return
        called = find_function(function)
        callee = called.__code__ if called is not None else None
        if callee is not None and id(callee) not in self._callees:
            self._callees[id(callee)] = [callee, 0]
            if id(callee) not in self._targets:
                events = self._events.PY_START | self._events.PY_RETURN
                self._api.set_local_events(self._tool, callee, events)

    def _note_callee(self, frame: Any, code: Any) -> None:
        """A function starts; perhaps a recorded frame has called it."""
        caller = frame.f_back
        target = self._targets.get(id(caller.f_code)) if caller is not None else None
        recorder = target.recorders.get(id(caller)) if target is not None else None
        if recorder is not None and recorder.light is None:
            arguments = list(frame_callers.read_arguments(frame).items())
            name = strip_locals(code.co_qualname)
            if code.co_name == "__init__" and arguments:
                name, arguments = name.rpartition(".")[0], arguments[1:]
            text = ", ".join(["%s=%s" % pair for pair in arguments])
            self._pending[id(frame)] = (recorder, name, text)

    def _limit_callee(self, code: Any) -> None:
        entry = self._callees.get(id(code))
        if entry is None or id(code) in self._targets:
            return
        entry[1] += 1
        if entry[1] == _MAX_CALLS_OF_ONE:
            self._api.set_local_events(self._tool, code, 0)


def _is_elsewhere(code: Any, own: Any) -> bool:
    """Whether another frame on a stack runs this code."""
    tops = sys._current_frames()
    tops.pop(trace_errors.get_ident(), None)  # our own frame: it would keep itself alive
    for top in (own.f_back, *tops.values()):
        frame: Any = top
        while frame is not None:
            if frame.f_code is code:
                return True
            frame = frame.f_back
    return False
