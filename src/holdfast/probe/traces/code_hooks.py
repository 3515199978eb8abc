"""Events of the chosen function before Python 3.12, from hooks in its rewritten code.

The script's code and that of each module is looked through before it runs, and the functions that
exist already are given their rewritten code. See `code_rewriter` for what is put into it.
"""

from __future__ import annotations

import gc
import sys
import types
from typing import Any, Callable, Dict, List, Optional, Set, Tuple

from ..function_names import strip_locals
from . import loader_hooks, trace_errors, tracer_filter
from .call_sites import CallSite
from .called_functions import describe_call
from .code_plan import CodePlan
from .code_rewriter import CannotRewrite, Hooks, Switches, is_rewritten, rewrite
from .debugger_calls import is_debuggers_call, is_standard
from .frame_recorder import FrameRecorder
from .function_choice import ChosenFunction, FunctionChoice
from .invocations import Invocations
from .trace_errors import get_ident

_getframe = sys._getframe


class _Target:
    """A function that is recorded, with its hooks."""

    def __init__(self, plan: CodePlan) -> None:
        self.plan = plan
        self.is_standard = is_standard(plan.code)
        self.switches: Optional[Switches] = None
        self.recorders: Dict[int, FrameRecorder] = {}  # by the id of a frame
        self.handler: Any = None  # of the only recorder, if there is one: whose line it is is clear

    def arm(self, is_armed: bool) -> None:
        if self.switches is not None:
            self.switches.armed.set(is_armed)

    def adjust_switches(self) -> None:
        """Turn off what is not needed: most lines, while one frame is recorded by rows alone."""
        switches = self.switches
        if switches is None:
            return
        rows = self.handler = None
        if len(self.recorders) == 1:
            only = next(iter(self.recorders.values()))
            rows, self.handler = only.light, only.handler
        switches.calls.set(rows is None)
        for line, switch in switches.lines.items():
            is_skipped = (
                rows is not None
                and line in rows.loop.lines
                and line not in rows.loop.leaders
                and line != rows.loop.boundary_line
            )
            switch.set(not is_skipped)


class CodeHooks:
    """Records invocations of the chosen function."""

    def __init__(self, choice: FunctionChoice, invocations: Invocations) -> None:
        self._choice = choice
        self._invocations = invocations
        self._targets: List[_Target] = []
        self._rewritten: Dict[int, Tuple[Any, Any]] = {}  # original and new code, by id
        self._preparing: Set[int] = set()  # threads that are busy with that
        self._is_off = False

    # -- on and off -------------------------------------------------------------------------------

    def arm(self) -> None:
        tracer_filter.install()
        loader_hooks.install(self.prepare_code)
        self._rewrite_existing()

    def disarm(self) -> None:
        """Let rewritten functions run as before; it may be called again, and from a hook."""
        self._is_off = True
        loader_hooks.uninstall()
        for target in self._targets:
            target.arm(False)
            target.recorders.clear()
            target.handler = None

    def recover(self, error: BaseException, again: Callable[[], Any]) -> Any:
        """A hook has failed: an error of ours ends the recording, and not the program."""
        if not trace_errors.is_ours(error):
            raise error
        if isinstance(error, RecursionError):
            return trace_errors.run_with_room(again)
        self._invocations.fail(error)
        self.disarm()
        return None

    # -- rewriting --------------------------------------------------------------------------------

    def prepare_code(self, code: Any, module: str) -> Any:
        """A module's code with the chosen functions in it rewritten."""
        if self._is_off or type(code) is not types.CodeType:
            return code
        names = {"__name__": module, "__file__": code.co_filename}
        ident = get_ident()
        self._preparing.add(ident)
        try:
            chosen = {id(each.code): each for each in self._choice.find_inside(code, names)}
            return self._rebuild(code, chosen) if chosen else code
        except Exception as error:
            self.recover(error, lambda: None)
            return code
        finally:
            self._preparing.discard(ident)

    def _rebuild(self, code: Any, chosen: Dict[int, ChosenFunction]) -> Any:
        """The code with chosen code objects at any depth in it replaced."""
        consts = tuple(
            self._rebuild(const, chosen) if type(const) is types.CodeType else const
            for const in code.co_consts
        )
        is_same = all(new is old for new, old in zip(consts, code.co_consts))
        rebuilt = code if is_same else code.replace(co_consts=consts)
        function = chosen.get(id(code))
        return rebuilt if function is None else self._rewrite(function, rebuilt)

    def _rewrite(self, function: ChosenFunction, code: Any) -> Any:
        known = self._rewritten.get(id(function.code))
        if known is not None:
            return known[1]
        target = _Target(self._invocations.add_function(function))
        try:
            new, target.switches = rewrite(code, self._make_hooks(target))
        except CannotRewrite as error:
            self._invocations.remark("%s was not recorded: %s" % (function.name, error))
            new = code
        self._targets.append(target)
        self._rewritten[id(function.code)] = (function.code, new)
        return new

    def _rewrite_existing(self) -> None:
        """Functions that were made before: those of modules that are loaded."""
        ident = get_ident()
        self._preparing.add(ident)
        try:
            for item in gc.get_objects():
                if type(item) is types.FunctionType:
                    self._rewrite_function(item)
        except Exception as error:
            self.recover(error, lambda: None)
        finally:
            self._preparing.discard(ident)

    def _rewrite_function(self, function: Any) -> None:
        code, choice = function.__code__, self._choice
        if not (choice.may_match(code) or choice.may_define(code)) or is_rewritten(code):
            return
        names = function.__globals__
        qualname = strip_locals(getattr(code, "co_qualname", function.__qualname__))
        inside = choice.find_inside(code, names, qualname + ".")
        chosen = {id(each.code): each for each in inside}
        own = choice.match(code, qualname, names, code.co_filename)
        if own is not None and function.__name__ == code.co_name:
            chosen[id(code)] = own
        if chosen:
            function.__code__ = self._rebuild(code, chosen)

    # -- hooks ------------------------------------------------------------------------------------

    def _make_hooks(self, target: _Target) -> Hooks:
        recorders, recover = target.recorders, self.recover

        def enter() -> Any:
            frame = _getframe(1)
            try:
                return self._enter(target, frame)
            except BaseException as error:
                return recover(error, lambda: self._enter(target, frame))

        def line(number: int) -> None:
            handler = target.handler
            if handler is None:
                recorder = recorders.get(id(_getframe(1)))
                if recorder is None:
                    return
                handler = recorder.handler
            try:
                handler(None, number)
            except BaseException as error:
                recover(error, lambda: handler(None, number))

        def arrive(number: int) -> None:
            recorder = recorders.get(id(_getframe(1)))
            if recorder is not None:
                try:
                    recorder.arrive(number)
                except BaseException as error:
                    recover(error, lambda: recorder.arrive(number))

        def caught(number: int, first_offsets: Any) -> None:
            frame = _getframe(1)
            recorder = recorders.get(id(frame))
            if recorder is not None and recorder.last_line not in first_offsets.raise_lines:
                try:
                    trace: Any = sys.exc_info()[2]
                    is_first = trace is not None and trace.tb_lasti in first_offsets
                    if not is_first or trace.tb_lineno != recorder.last_line:
                        recorder.handler(None, number)
                except BaseException as error:
                    recover(error, lambda: None)

        def returned(value: Any) -> None:
            recorder = recorders.pop(id(_getframe(1)), None)
            if recorder is not None:
                try:
                    self._finish(target, recorder, "returned", value)
                except BaseException as error:
                    recover(error, lambda: None)

        def raised() -> None:
            recorder = recorders.pop(id(_getframe(1)), None)
            if recorder is not None:
                try:
                    self._finish(target, recorder, "raised", sys.exc_info()[1])
                except BaseException as error:
                    recover(error, lambda: None)

        def yielded(value: Any) -> None:
            recorder = recorders.get(id(_getframe(1)))
            if recorder is not None and recorder.light is None:
                try:
                    recorder.yielded(value)
                except BaseException as error:
                    recover(error, lambda: None)

        def call(site: CallSite, below: Any, *args: Any) -> None:
            recorder = recorders.get(id(_getframe(1)))
            if recorder is not None and recorder.light is None:
                try:
                    self._begin_call(recorder, site, below, args)
                except BaseException as error:
                    recover(error, lambda: None)

        def call_tuple(below: Any, args: Any, site: CallSite) -> Any:
            recorder = recorders.get(id(_getframe(1)))
            if recorder is not None and recorder.light is None:
                try:
                    self._begin_call(recorder, site, below, args)
                except BaseException as error:
                    recover(error, lambda: None)
            # They are put back on the stack from the last to the first.
            return args[::-1] if type(args) is tuple else None

        def result(value: Any) -> None:
            recorder = recorders.get(id(_getframe(1)))
            if recorder is not None and recorder.has_open_call:
                try:
                    recorder.end_call(value)
                except BaseException as error:
                    recover(error, lambda: None)

        hooks = Hooks(
            enter, line, arrive, caught, returned, raised, yielded, call, call_tuple, result
        )
        for hook in hooks:  # coverage does not measure what has no file
            hook.__code__ = hook.__code__.replace(co_filename=tracer_filter.HOOK_FILE)
        return hooks

    def _enter(self, target: _Target, frame: Any) -> bool:
        if get_ident() in self._preparing or (target.is_standard and is_debuggers_call(frame)):
            return False
        stale = target.recorders.pop(id(frame), None)
        if stale is not None:  # a generator that was dropped
            self._invocations.lose(stale, "it was dropped while it waited")
        recorder = self._invocations.start(target.plan, frame)
        if recorder is None:
            if self._invocations.is_done:
                target.arm(False)
            return False
        target.recorders[id(frame)] = recorder
        recorder.on_mode_change = target.adjust_switches
        target.adjust_switches()
        return True

    def _finish(self, target: _Target, recorder: FrameRecorder, outcome: str, value: Any) -> None:
        recorder.on_mode_change = None
        self._invocations.finish(recorder, outcome, value)
        target.adjust_switches()
        if self._invocations.is_done:
            for each in self._targets:
                each.arm(False)

    def _begin_call(
        self, recorder: FrameRecorder, site: CallSite, below: Any, args: Tuple[Any, ...]
    ) -> None:
        known = args if type(args) is tuple else ()  # of `f(*args)`, which may be any iterable
        described = describe_call(below, site.method, known, site.keywords)
        if described is not None:
            recorder.begin_call(*described)
