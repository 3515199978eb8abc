"""Whether a breakpoint stops: its condition, its hit count, its log message.

pydevd evaluates a condition with `eval` on text each time, and ORs it with the hit count. Here each
breakpoint is a `Rule`, compiled once: the condition holds, then the hit is counted, then the count
decides, then a log message is written or the program stops. A condition that raises stops the
first time that it does so, unless there is a log message: a mistyped one would else never be
noticed. The stop says so, and the server is told of the error once.
"""

from __future__ import annotations

import itertools
import os
import threading
import types
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple

from . import bounded_calls, server_messages, standard_streams
from .pydevd_access import canonical, is_called_by_debugger

_MAX_LOG_CHARACTERS = 2000

_COMPARE: Dict[str, Callable[[int, int], bool]] = {
    "==": lambda hits, n: hits == n,
    ">": lambda hits, n: hits > n,
    ">=": lambda hits, n: hits >= n,
    "<": lambda hits, n: hits < n,
    "<=": lambda hits, n: hits <= n,
    "%": lambda hits, n: hits % n == 0,
}

# The libraries that come with Python: the debugger uses them as well.
STANDARD_LIBRARY = os.path.realpath(os.path.dirname(os.__file__)) + os.sep


class _Experiment:
    """What decides a hit in place of a stop, while an experiment is under way."""

    decide: Optional[Callable[[Rule, Any], bool]] = None


def set_experiment(decide: Optional[Callable[[Rule, Any], bool]]) -> None:
    _Experiment.decide = staticmethod(decide) if decide is not None else None


# By a thread's ident: the condition for whose exception it is about to stop.
_FAILED_CONDITIONS: Dict[int, Dict[str, Any]] = {}


class Expression:
    """A compiled expression of the user's, evaluated in a frame."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.error: Optional[SyntaxError] = None
        try:
            self.code = compile(text, "<holdfast>", "eval")
        except SyntaxError as error:  # the server's Python may know newer syntax than this one
            self.error = error
            self.code = compile("None", "<holdfast>", "eval")
        # A nested scope (comprehension, lambda) cannot see a frame's locals given separately.
        self.is_nested = any(isinstance(const, types.CodeType) for const in self.code.co_consts)
        self.is_plain = self.error is None and not self.is_nested

    def evaluate(self, frame: Any) -> Any:
        if self.error is not None:
            raise self.error
        if self.is_nested:
            names = dict(frame.f_globals)
            names.update(frame.f_locals)
            return eval(self.code, names)
        return eval(self.code, frame.f_globals, frame.f_locals)


class Rule:
    """One breakpoint as the server sent it, ready to decide."""

    def __init__(self, spec: Dict[str, Any], file: str) -> None:
        self.id: int = spec["id"]
        self.condition = Expression(spec["condition"]) if spec.get("condition") else None
        self.hit: Optional[Tuple[str, int]] = tuple(spec["hit"]) if spec.get("hit") else None
        self.log = [_compile_part(part) for part in spec["log"]] if spec.get("log") else None
        self.function: Optional[Dict[str, Any]] = spec.get("function")
        self.line: int = spec.get("line", 0)
        self.file = canonical(file) if file else ""
        self.is_in_library = self.file.startswith(STANDARD_LIBRARY)
        self.hits = 0
        self.passes = 0  # how often the condition was false
        self.errors: Dict[str, int] = {}  # how often each expression raised
        self.count = itertools.count(1)
        self.ahead: Dict[int, int] = {}  # by a thread's ident: a hit that is counted already

    def continue_counts(self, before: Rule) -> None:
        self.hits, self.passes, self.errors = before.hits, before.passes, before.errors
        self.count = itertools.count(self.hits + 1)

    def should_stop(self, frame: Any) -> bool:
        if self.is_in_library and is_called_by_debugger(frame):
            return False
        condition = self.condition
        if condition is not None:
            try:
                if condition.is_plain:  # inlined: this runs at every pass of a hot line
                    if not eval(condition.code, frame.f_globals, frame.f_locals):
                        self.passes += 1
                        return False
                elif not condition.evaluate(frame):
                    self.passes += 1
                    return False
            except (Exception, SystemExit) as error:
                return self._fail(condition, error)
        hits = self.ahead.pop(threading.get_ident(), 0) if self.ahead else 0
        if not hits:
            self.hits = hits = next(self.count)  # no two threads get the same number
        if self.hit is not None and not _COMPARE[self.hit[0]](hits, self.hit[1]):
            return False
        if self.log is not None:
            self._write_log(frame)
            return False
        decide = _Experiment.decide
        if decide is not None and (self.file or self.function) and not decide(self, frame):
            return False
        if _FAILED_CONDITIONS:
            take_failed_condition(threading.get_ident(), [self.id])  # of a stop nobody reported
        return True

    def _fail(self, condition: Expression, error: BaseException) -> bool:
        """Whether to stop because the condition raised: once, where that is no logpoint."""
        # At the recursion limit the program is about to raise the same by itself.
        stops = self.log is None and not isinstance(error, RecursionError)
        if not self._note_error(condition, error, "condition", stops) or not stops:
            return False
        _FAILED_CONDITIONS[threading.get_ident()] = {
            "id": self.id,
            "expression": condition.text,
            "error": bounded_calls.describe_error(error),
        }
        return True

    def _note_error(
        self, expression: Expression, error: BaseException, field: str, stops: bool = False
    ) -> bool:
        """Count it, and report the first one. `field` says where the expression stands."""
        count = self.errors[expression.text] = self.errors.get(expression.text, 0) + 1
        if count != 1:
            return False
        server_messages.report(
            "breakpoint_error",
            id=self.id,
            error=bounded_calls.describe_error(error),
            expression=expression.text,
            field=field,
            stops=stops,
        )
        return True

    def _write_log(self, frame: Any) -> None:
        server_messages.flush_output()  # earlier output must come first
        text = "".join(
            part if isinstance(part, str) else self._format_part(frame, *part)
            for part in self.log or ()
        )
        place = {"file": canonical(frame.f_code.co_filename), "line": frame.f_lineno}
        is_in_order = standard_streams.begin_message()
        server_messages.report("log", id=self.id, text=text, is_in_order=is_in_order, **place)

    def _format_part(
        self, frame: Any, expression: Expression, conversion: Optional[str], spec: str
    ) -> str:
        """One `{expression}` of a log message; if it fails, only it shows the failure."""
        try:
            text = _format_value(expression.evaluate(frame), conversion, spec)
        except (Exception, SystemExit) as error:
            self._note_error(expression, error, "log_message")
            return "<%s>" % bounded_calls.describe_error(error)
        return text if len(text) <= _MAX_LOG_CHARACTERS else text[:_MAX_LOG_CHARACTERS] + "..."


def find_stopping(rules: Iterable[Rule], frame: Any) -> List[int]:
    """The ids of the rules that stop. All are evaluated, because each counts and logs."""
    return [rule.id for rule in rules if rule.should_stop(frame)]


def take_failed_condition(ident: int, numbers: Sequence[int]) -> Optional[Dict[str, Any]]:
    """The condition whose exception stopped a thread at these breakpoints, told once."""
    failure = _FAILED_CONDITIONS.get(ident)
    if failure is None or failure["id"] not in numbers:
        return None
    return _FAILED_CONDITIONS.pop(ident, None)


def _compile_part(part: Any) -> Any:
    """One part of a log message: text, or an expression with its conversion and format spec."""
    if isinstance(part, str):
        return part
    return Expression(part["expression"]), part.get("conversion"), part.get("spec") or ""


def _format_value(value: Any, conversion: Optional[str], spec: str) -> str:
    if conversion == "r":
        value = repr(value)
    elif conversion == "s":
        value = str(value)
    elif conversion == "a":
        value = ascii(value)
    return format(value, spec) if spec else str(value)
