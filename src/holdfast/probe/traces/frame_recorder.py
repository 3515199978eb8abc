"""The life of one invocation, from the events of its frame to lines of a recording.

A statement is written when the next one begins, with what it changed and which functions it called.
In a loop that takes long, later rounds are recorded by their values alone (`loop_rows`). The lines:

    {"frame": F, "code": C, "index": N, "thread": …, "args": […], "callers": […]}
    ["s", F, PATH, LINE, NEXT, CHANGES, CALLS, {…}]      a statement, and the line after it
    ["m", F, CHANGES, CALLS, {…}]                        more of the statement before
    ["b", F, PATH, LINE, BEFORE]                         a loop begins
    ["r", F, PATH, LINE, FIRST, COLUMNS, NUMBERS, PATHS] rows of a loop
    ["e", F, PATH, LINE, ROUNDS, AFTER, PATHS]           a loop has ended
    {"end": F, "outcome": "returned" | "raised", "result": …}

PATH has the line and the round of each loop around it: `[12, 5, 14, 1]`. So each line can be read
without those before it, which may be gone.
"""

from __future__ import annotations

import sys
from typing import Any, Callable, Dict, List, Optional

from .. import introspection
from .code_plan import CodePlan, Loop, Statement
from .loop_rows import LoopRows
from .trace_log import encode, quote
from .traced_values import is_cut, show
from .variable_state import KeepContent, VariableState

FULL_STATEMENTS = 100  # in full detail within one loop
FULL_ROUNDS = 3  # in full detail, whatever they take
MAX_CALLS = 6  # of one statement that are told
SKIP: Any = getattr(getattr(sys, "monitoring", None), "DISABLE", None)
"""What a handler answers for a line that it does not need again before its mode changes."""

_RESULT_ROOM = 120
_CALL_ROOM = 40
_getframe = sys._getframe

Write = Callable[[str], None]


class LoopRun:
    """A loop under way."""

    __slots__ = ("changeable", "count", "loop", "path", "rows", "steps")

    def __init__(self, loop: Loop, path: str, changeable: Any) -> None:
        self.loop = loop
        self.path = path  # of the loop itself, as JSON without brackets
        self.count = 0  # the number of the round under way
        self.steps = 0  # statements of this round
        self.rows: Optional[LoopRows] = None
        self.changeable = changeable


class FrameRecorder:
    """One invocation that is recorded. It holds no reference to its frame."""

    def __init__(
        self,
        plan: CodePlan,
        frame: Any,
        number: int,
        write: Write,
        keep: KeepContent,
        is_full: bool,
    ) -> None:
        self.plan = plan
        self.number = number
        self.write = write
        self.handler: Callable[[Any, int], Any] = self.on_line
        """What is to be called for each line that is about to run, with its code and number."""
        self.recover: Callable[[BaseException], Any] = _raise
        """What is to be called for an error of the handler."""
        self.on_mode_change: Optional[Callable[[], None]] = None
        self.is_ended = False
        self.index = 0
        self.last_error: Optional[BaseException] = None  # where events tell of it beforehand
        self._is_full = is_full
        self._read, self._values = plan.names.make_reader(frame)
        self.state = VariableState(plan, self._read, frame.f_globals, keep)
        self._keep = keep
        self._statement: Optional[Statement] = None
        self.last_line = 0
        self._calls: List[List[Any]] = []
        self._calls_left_out = 0
        self._yielded: Optional[str] = None
        self._is_written = False  # the statement under way, when it yielded
        self._handled = _handled_exception()
        self._runs: List[LoopRun] = []
        self._spent: Dict[int, int] = {}  # statements in full detail, by the line of a loop
        self._path = ""

    @property
    def light(self) -> Optional[LoopRows]:
        """The rows that are recorded now, in place of statements."""
        return self._runs[-1].rows if self._runs else None

    def begin(self, facts: Dict[str, Any]) -> None:
        facts["frame"] = self.number
        facts["args"] = self.state.begin()
        self.write(encode(facts))

    # -- events -----------------------------------------------------------------------------------

    def on_line(self, _code: Any, number: int) -> Any:
        return self.line(number)

    def line(self, number: int) -> Any:
        """A line is about to run."""
        plan = self.plan
        first = plan.first_lines.get(number, number)
        loop = plan.boundaries.get(first)
        statement, last_line = self._statement, self.last_line
        self.last_line = number
        if statement is not None:
            if first == statement.line and (loop is None or number != last_line):
                return None  # still the same statement
            self._finish_statement(first, first in plan.handlers)
        while self._runs and not self._runs[-1].loop.first <= first <= self._runs[-1].loop.last:
            self._end_loop()
        if loop is not None and self._begin_round(loop):
            return None  # from now on, by rows
        for run in self._runs:
            run.steps += 1
            line = run.loop.line
            self._spent[line] = self._spent.get(line, 0) + 1
        self._statement = plan.statements.get(first) or Statement(first)
        return None

    def called(self, function: str, args: str, result: Any, raised: Optional[str] = None) -> None:
        """A function that the statement under way has called came back."""
        if self._statement is None:
            return
        if len(self._calls) >= MAX_CALLS:
            self._calls_left_out += 1
        elif raised is not None:
            self._calls.append([function, args, None, raised])
        else:
            self._calls.append([function, args, show(result, _CALL_ROOM)])

    def arrive(self, number: int) -> None:
        """An exception leads to a line, which may have begun already."""
        rows = self.light
        if number != (self.last_line if rows is None else rows.loop.boundary_line):
            self.handler(None, number)

    def begin_call(self, function: str, args: str) -> None:
        """The statement under way is about to call a function."""
        if self._statement is None:
            return
        if len(self._calls) >= MAX_CALLS:
            self._calls_left_out += 1
        else:
            self._calls.append([function, args])

    @property
    def has_open_call(self) -> bool:
        return bool(self._calls) and len(self._calls[-1]) == 2

    def end_call(self, result: Any) -> None:
        self._calls[-1].append(show(result, _CALL_ROOM))

    def yielded(self, value: Any) -> None:
        """The generator gives a value, and may not be resumed."""
        if self._statement is None:
            return
        self._yielded = show(value)
        changes = self.state.compare(self._statement)
        self._write_statement(self._statement, 0, changes, None)
        self._is_written = True

    def ended(self, outcome: str, value: Any) -> None:
        """The frame returns a value, or an exception leaves it."""
        is_raised = outcome == "raised"
        if self.light is not None:
            self._end_rows()
        elif self._statement is not None:
            text = show(value) if is_raised else None
            changes = self.state.compare(self._statement)
            self._write_statement(self._statement, 0, changes, text)
            self._statement = None
        while self._runs:
            self._end_loop(is_left=True)
        self._write_end(outcome, value)

    def _write_end(self, outcome: str, value: Any) -> None:
        self.is_ended = True
        text = show(value, _RESULT_ROOM)
        line: Dict[str, Any] = {"end": self.number, "outcome": outcome, "result": text}
        cid = self._keep(value) if is_cut(text) else None
        if cid is not None:
            line["cid"] = cid
        if outcome == "raised":
            line["type"] = text.partition("(")[0]
            line["line"] = introspection.exception_line(value, self.plan.code)
        if self.state.large:
            line["large"] = list(self.state.large)
        self.write(encode(line))

    def abandon(self, remark: str) -> None:
        """The recording ends before the frame does; its variables may be gone."""
        if self.is_ended:
            return
        self.is_ended = True
        if self.light is not None:
            self.light.flush()
        elif self._statement is not None:
            self._write_statement(self._statement, 0, [], None)
        self.write(encode({"left": self.number, "remark": remark}))

    # -- statements -------------------------------------------------------------------------------

    def _finish_statement(self, next_line: int, is_handler: bool) -> None:
        statement = self._statement
        if statement is None:
            return
        raised = self._find_raised(statement, is_handler)
        self._write_statement(statement, next_line, self.state.compare(statement), raised)
        self._statement = None

    def _find_raised(self, statement: Statement, is_handler: bool) -> Optional[str]:
        """The exception that has led to the next line, if that handles one."""
        error = sys.exc_info()[1]
        number = 0 if error is None else id(error)
        is_known = number == self._handled and not (is_handler and statement.is_raise)
        self._handled = number  # one that is handled is gone, and another may get its id
        return None if is_known or error is None or not is_handler else show(error)

    def _write_statement(
        self, statement: Statement, next_line: int, changes: List[Any], raised: Optional[str]
    ) -> None:
        calls = self._calls
        if raised is not None and calls and len(calls[-1]) == 2:
            calls[-1] += [None, raised]
        more = self._describe_more(raised)
        changes_text = encode(changes) if changes else "[]"
        calls_text = encode(calls) if calls else "[]"
        if calls:
            self._calls = []
        if self._is_written:
            self._is_written = False
            if changes or calls or more:
                form = '["m",%d,%s,%s,%s]'
                self.write(form % (self.number, changes_text, calls_text, more or "{}"))
            return
        self.write(
            '["s",%d,[%s],%d,%d,%s,%s%s]'
            % (
                self.number,
                self._path,
                statement.line,
                next_line,
                changes_text,
                calls_text,
                "," + more if more else "",
            )
        )

    def _describe_more(self, raised: Optional[str]) -> str:
        """What few statements have, as JSON."""
        if raised is None and self._yielded is None and not self._calls_left_out:
            return ""
        parts = []
        if raised is not None:
            parts.append('"raised":' + quote(raised))
        if self._yielded is not None:
            parts.append('"yielded":' + quote(self._yielded))
            self._yielded = None
        if self._calls_left_out:
            parts.append('"left_out":%d' % self._calls_left_out)
            self._calls_left_out = 0
        return "{%s}" % ",".join(parts)

    # -- loops ------------------------------------------------------------------------------------

    def _begin_round(self, loop: Loop) -> bool:
        """A round begins; whether it is to be recorded by rows."""
        runs = self._runs
        if not runs or runs[-1].loop is not loop:
            changeable = tuple(n for n in self.state.list_changeable() if n in loop.reads)
            run = LoopRun(loop, self._path, changeable)
            before = self.state.read_texts((*loop.columns, *changeable))
            self.write('["b",%d,[%s],%d,%s]' % (self.number, self._path, loop.line, encode(before)))
            runs.append(run)
        run = runs[-1]
        run.count += 1
        run.steps = 0
        self._set_path()
        is_hot = run.count > FULL_ROUNDS and self._spent.get(loop.line, 0) > FULL_STATEMENTS
        if is_hot and not self._is_full:
            self._begin_rows(run)
            return True
        return False

    def _set_path(self) -> None:
        if not self._runs:
            self._path = ""
            return
        run = self._runs[-1]
        own = "%d,%d" % (run.loop.line, run.count)
        self._path = run.path + "," + own if run.path else own

    def _end_loop(self, is_left: bool = False) -> None:
        run = self._runs.pop()
        loop = run.loop
        is_endless = loop.boundary != loop.line
        rounds = run.count
        if run.rows is None and run.steps <= 1 and not is_endless and not is_left:
            rounds -= 1  # only the test that ended it
        self._path = run.path
        after = self.state.read_texts((*loop.columns, *run.changeable))
        paths = []
        if run.rows is not None:
            paths = [[list(path), *counts] for path, counts in run.rows.paths.items()]
        self.write(
            '["e",%d,[%s],%d,%d,%s,%s]'
            % (self.number, run.path, loop.line, rounds, encode(after), encode(paths))
        )

    # -- rows -------------------------------------------------------------------------------------

    def _begin_rows(self, run: LoopRun) -> None:
        loop = run.loop
        form = '["r",%d,[%s],%d,' % (self.number, run.path, loop.line)

        def write_rows(first: int, rows: str) -> None:
            self.write("%s%d,%s]" % (form, first, rows))

        rows = LoopRows(self.plan, loop, run.count, self._read, self._values, write_rows)
        run.rows = rows
        self._statement = None
        self.handler = rows.make_handler(self._leave_rows, SKIP, self._recover_rows)
        if self.on_mode_change is not None:
            self.on_mode_change()

    def _recover_rows(self, error: BaseException) -> Any:
        return self.recover(error)

    def _leave_rows(self, number: int) -> Any:
        self._end_rows()
        return self.line(number)

    def _end_rows(self) -> None:
        run = self._runs[-1]
        rows = run.rows
        if rows is None:
            return
        if rows.is_in_round():
            rows.add()  # it was left half way
        run.count = rows.count
        rows.flush()
        self.handler = self.on_line
        self.state.refresh()
        if self.on_mode_change is not None:
            self.on_mode_change()


def _raise(error: BaseException) -> Any:
    raise error


def _handled_exception() -> int:
    error = sys.exc_info()[1]
    return 0 if error is None else id(error)
