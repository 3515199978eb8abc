"""Which invocations of the chosen function are recorded, and where their lines go.

The picked one is named by its number, by an expression over its arguments, or by the exception
that ends it. The two before and after it are recorded, too. What was not picked yet is kept in
memory, and written when it turns out to be wanted.
"""

from __future__ import annotations

import collections
import itertools
import threading
from typing import Any, Callable, Deque, Dict, List, Optional, Set

from . import frame_callers, trace_errors
from .code_plan import CodePlan
from .frame_locals import UNBOUND
from .frame_recorder import FrameRecorder
from .function_choice import ChosenFunction
from .trace_log import TraceLog
from .variable_state import ContentKeeper

NEIGHBOURS = 2  # invocations before and after the picked one
_MAX_BUFFERED = 4000  # lines of one invocation that are kept in memory
_MAX_UNWANTED = 200  # recorded in vain, before invocations in front of the picked one are given up
_MAX_REMARKS = 5
_get_ident = threading.get_ident


class LineBuffer:
    """The lines of an invocation that may be wanted later; the oldest detail goes first."""

    def __init__(self) -> None:
        self.lasting: List[str] = []
        self.detail: Deque[str] = collections.deque(maxlen=_MAX_BUFFERED)
        self.dropped = 0

    def write(self, line: str) -> None:
        if not line.startswith("["):
            self.lasting.append(line)
            return
        if len(self.detail) == _MAX_BUFFERED:
            self.dropped += 1
        self.detail.append(line)

    def write_to(self, log: TraceLog) -> None:
        for line in (*self.lasting[:1], *self.detail, *self.lasting[1:]):
            log.write_text(line)
        if self.dropped:
            log.write({"dropped": self.dropped, "keep": "newest"})
        log.flush()


class Invocations:
    """Counts the invocations of the chosen function, and records some."""

    def __init__(self, spec: Dict[str, Any], log: TraceLog) -> None:
        self.log = log
        self.on_picked_end: Optional[Callable[[], None]] = None
        self.is_done = False
        """Whether all that was asked for is recorded."""
        self.remarks: Set[str] = set()
        self._is_full = bool(spec.get("full"))
        self._where = self._compile_where(spec.get("where"))
        self._is_raised = bool(spec.get("raised")) and self._where is None
        self._call: Optional[int] = None
        if self._where is None and not self._is_raised:
            self._call = max(1, int(spec.get("call") or 1))
        self._next_index = itertools.count(1).__next__
        self._next_number = itertools.count(1).__next__
        self._next_code = itertools.count(1).__next__
        self._keeper = ContentKeeper(log.write)
        self._plans: Dict[int, CodePlan] = {}
        self._codes: Dict[int, int] = {}
        self._buffers: Dict[int, LineBuffer] = {}  # by index
        self._open: Dict[int, FrameRecorder] = {}  # by index
        self._picked: Optional[int] = None
        self._is_picked_ended = False
        self._unwanted = 0
        self._asking: Set[int] = set()  # threads that evaluate the expression

    # -- the function -----------------------------------------------------------------------------

    def add_function(self, chosen: ChosenFunction) -> CodePlan:
        """Prepare to record a code object, and describe it in the recording."""
        key = id(chosen.code)
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plans[key] = CodePlan(chosen.code)
            number = self._codes[key] = self._next_code()
            self.log.write(
                {
                    "code": number,
                    "function": chosen.name,
                    "file": chosen.file,
                    "first_line": chosen.code.co_firstlineno,
                    "begins": plan.first_statement,
                    "source": plan.own_source,
                    "tests": {str(line): list(lines) for line, lines in plan.tests.items()},
                    "loops": [[loop.line, loop.boundary, loop.last] for loop in plan.loops],
                    "leaders": sorted(plan.leaders),
                }
            )
            self.log.flush()
        return plan

    def remark(self, text: str, limit: int = _MAX_REMARKS) -> None:
        """Say something about the recording as a whole, once."""
        if text not in self.remarks and len(self.remarks) < limit:
            self.remarks.add(text)
            self.log.write({"remark": text})
            self.log.flush()

    # -- beginning --------------------------------------------------------------------------------

    def count_only(self) -> int:
        """How many invocations may be counted without a look at them."""
        return max(0, self._call - NEIGHBOURS - 1) if self._call is not None else 0

    def start(self, plan: CodePlan, frame: Any) -> Optional[FrameRecorder]:
        """An invocation begins; a recorder for it if it is to be recorded."""
        if self.is_done or _get_ident() in self._asking:
            return None
        return self.start_at(plan, frame, self._next_index())

    def skip(self, count: int) -> None:
        """So many invocations were counted elsewhere."""
        self._next_index = itertools.count(count + 1).__next__

    def start_at(self, plan: CodePlan, frame: Any, index: int) -> Optional[FrameRecorder]:
        if self._picked is None and self._where is not None and self._is_wanted(plan, frame):
            self._pick(index)
        if self._call is not None:
            if not self._call - NEIGHBOURS <= index <= self._call + NEIGHBOURS:
                return None
            is_direct = True
            if index == self._call:
                self._pick(index)
        elif self._picked is not None:
            if index > self._picked + NEIGHBOURS:
                return None
            is_direct = True
        elif self._unwanted > _MAX_UNWANTED and not self._is_raised:
            self.remark("earlier calls were not recorded, because there were too many")
            return None
        else:
            is_direct = False
        return self._record(plan, frame, index, is_direct)

    def _record(self, plan: CodePlan, frame: Any, index: int, is_direct: bool) -> FrameRecorder:
        write = self.log.write_now
        if not is_direct:
            buffer = self._buffers[index] = LineBuffer()
            write = buffer.write
        number = self._next_number()
        recorder = FrameRecorder(plan, frame, number, write, self._keeper.keep, self._is_full)
        recorder.index = index
        self._open[index] = recorder
        recorder.begin(
            {
                "code": self._codes[id(plan.code)],
                "index": index,
                "thread": frame_callers.find_thread_name(),
                "callers": frame_callers.list_callers(frame),
            }
        )
        return recorder

    def _compile_where(self, text: Optional[str]) -> Any:
        if not text:
            return None
        try:
            return compile(text.strip(), "<where>", "eval")
        except (SyntaxError, ValueError) as error:
            self.remark("the condition cannot be compiled: %s" % error)
            return compile("False", "<where>", "eval")

    def _is_wanted(self, plan: CodePlan, frame: Any) -> bool:
        """Evaluate the user's expression over the arguments; an error means no."""
        read, _values = plan.names.make_reader(frame)
        names: Dict[str, Any] = {}
        for name in (*plan.parameters, *plan.code.co_freevars):
            try:
                names[name] = read(name)
            except UNBOUND:
                pass
        ident = _get_ident()
        self._asking.add(ident)
        try:
            return bool(eval(self._where, frame.f_globals, names))
        except Exception as error:
            kind = type(error).__name__
            self.remark("the condition failed for some calls: %s: %s" % (kind, error))
            return False
        finally:
            self._asking.discard(ident)

    # -- the picked one ---------------------------------------------------------------------------

    def _pick(self, index: int) -> None:
        """Write what was kept of the invocation and of those before it."""
        self._picked = index
        self.log.write({"picked": index})
        for earlier in sorted(self._buffers):
            buffer = self._buffers.pop(earlier)
            if earlier < index - NEIGHBOURS:
                continue
            buffer.write_to(self.log)
            recorder = self._open.get(earlier)
            if recorder is not None:
                recorder.write = self.log.write_now

    def finish(self, recorder: FrameRecorder, outcome: str, value: Any) -> None:
        """An invocation that was recorded has ended."""
        index = recorder.index
        recorder.ended(outcome, value)
        self._open.pop(index, None)
        if self._picked is None:
            if self._is_raised and outcome == "raised" and type(value) is not GeneratorExit:
                self._pick(index)
            else:
                self._unwanted += 1
                self._forget_old(index)
        if index == self._picked:
            self._is_picked_ended = True
            self.log.write({"picked_end": recorder.number})
            self.log.flush()
            if self.on_picked_end is not None:
                self.on_picked_end()
        self._check_done(index)

    def _forget_old(self, index: int) -> None:
        for earlier in [
            i for i in self._buffers if i <= index - NEIGHBOURS and i not in self._open
        ]:
            del self._buffers[earlier]

    def _check_done(self, index: int) -> None:
        picked = self._picked
        if self._is_picked_ended and picked is not None:
            later = [open_index for open_index in self._open if open_index <= picked + NEIGHBOURS]
            if index >= picked + NEIGHBOURS and not later:
                self.is_done = True

    def lose(self, recorder: FrameRecorder, remark: str) -> None:
        """An invocation will send no more events."""
        self._open.pop(recorder.index, None)
        recorder.abandon(remark)

    def end(self) -> None:
        """The program ends: write what is known of invocations that still run."""
        self.is_done = True
        if self._picked is None and (self._is_raised or self._where is not None):
            self._buffers.clear()
        for recorder in list(self._open.values()):
            self.lose(recorder, "it was still running when the recording ended")
        self.log.flush()

    def fail(self, error: BaseException) -> None:
        """An error of ours: no more is recorded, and that is said."""
        self.is_done = True
        self.log.write({"remark": "the recorder failed: " + trace_errors.describe(error)})
        self.log.flush()
