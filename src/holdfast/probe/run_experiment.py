"""An experiment of the user's: what its breakpoints do at each hit, in place of a stop.

Expressions are collected into rows, until one is true, or until the hits are enough. Then the
program stops, the experiment is over, and breakpoints stop as they always do.
"""

from __future__ import annotations

import itertools
import threading
from typing import Any, Dict, List, Optional, Tuple

from . import bounded_calls, breakpoint_rules, previews, server_messages
from .breakpoint_rules import Expression, Rule
from .pydevd_access import canonical

_MAX_CELL_CHARACTERS = 300


class Experiment:
    def __init__(self, spec: Dict[str, Any]) -> None:
        self._collect = [Expression(text) for text in spec.get("collect") or ()]
        self._until = Expression(spec["until"]) if spec.get("until") else None
        self._max_hits: Optional[int] = spec.get("max_hits")
        place = spec.get("until_place")
        self._place: Optional[Tuple[str, int]] = (canonical(place[0]), place[1]) if place else None
        self._numbers = itertools.count(1)
        self._limits = previews.limit_characters(_MAX_CELL_CHARACTERS)
        self._lock = threading.Lock()
        self._is_over = False

    def should_stop(self, rule: Rule, frame: Any) -> bool:
        if self._is_over:
            return True
        if self._place is not None:
            if (rule.file, rule.line) == self._place:
                return self._end()
            if not self._collect and self._max_hits is None:
                return True
        # Without the lock: the program's code may wait for another thread that is here, too.
        budget = bounded_calls.Budget()
        values = [self._render(expression, frame, budget) for expression in self._collect]
        with self._lock:  # rows come in the order of their numbers
            hit = next(self._numbers)
            if self._max_hits is not None and hit > self._max_hits:
                return True  # another thread has ended it
            if values:
                _send_row(rule, frame, hit, values)
        if self._is_true(frame) or hit == self._max_hits:
            return self._end()
        return False

    def _end(self) -> bool:
        self._is_over = True
        return True

    def _is_true(self, frame: Any) -> bool:
        """A name that does not exist yet, and whatever else it raises, is not true."""
        if self._until is None:
            return False
        try:
            return bool(self._until.evaluate(frame))
        except (Exception, SystemExit):
            return False

    def _render(self, expression: Expression, frame: Any, budget: bounded_calls.Budget) -> str:
        try:
            return previews.Preview(self._limits, budget).text(expression.evaluate(frame))
        except (Exception, SystemExit) as error:
            return "<%s>" % bounded_calls.describe_error(error)


def _send_row(rule: Rule, frame: Any, hit: int, values: List[str]) -> None:
    file, line = canonical(frame.f_code.co_filename), frame.f_lineno
    server_messages.report("row", id=rule.id, hit=hit, file=file, line=line, values=values)


def begin(spec: Optional[Dict[str, Any]]) -> None:
    """From now on breakpoints do what the experiment says; None: there is none."""
    keys: List[str] = ["collect", "until", "until_place", "max_hits"]
    has_work = spec is not None and any(spec.get(key) for key in keys)
    breakpoint_rules.set_experiment(Experiment(spec).should_stop if spec and has_work else None)
