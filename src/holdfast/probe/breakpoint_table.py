"""The breakpoints of this process, and how pydevd is told of them.

On Python 3.12 and newer lines are watched by our own `line_monitor`. Before that, pydevd gets one
breakpoint for each line, with a condition that makes it ask our rules.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from typing import Any, Dict, FrozenSet, Iterable, Iterator, List, Optional, Set, Tuple

from . import line_monitor
from .breakpoint_rules import Rule, find_stopping
from .function_table import FUNCTIONS, rules_at_call, rules_at_line
from .pydevd_access import canonical

_ASK_RULES = "holdfast"  # the condition given to pydevd, which makes it call `should_stop`


class BreakpointTable:
    """Every rule, by id; replaced file by file, as the server changes them."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.rules: Dict[int, Rule] = {}
        self.by_file: Dict[str, List[Rule]] = {}  # as the server names the file
        self.files: FrozenSet[str] = frozenset()  # all that hold one, as canonical paths
        self.on_line: Dict[int, List[Rule]] = {}  # by the one id that pydevd has for that line
        self.functions: List[Rule] = []
        # By canonical path: where generators begin, if only a line tells (`generator_entries`).
        self.generator_lines: Dict[str, Set[int]] = {}

    def replace(
        self, old: Iterable[int], specs: List[Dict[str, Any]], file: str = ""
    ) -> List[Rule]:
        """New rules in place of old ones; an unchanged one keeps its count."""
        before = {number: self.rules.pop(number) for number in old if number in self.rules}
        for number in before:
            self.on_line.pop(number, None)
        rules = []
        for spec in specs:
            rule = Rule(spec, file)
            if spec["id"] in before and spec.get("keep_hits"):
                rule.continue_counts(before[spec["id"]])
            self.rules[rule.id] = rule
            rules.append(rule)
        self.files = frozenset(rule.file for rule in self.rules.values())
        return rules


TABLE = BreakpointTable()

# By a thread's ident: the id that pydevd stopped it for last, and the ids of the rules behind it.
_LAST_STOPS: Dict[Optional[int], Tuple[int, List[int]]] = {}


def clear(db: Any) -> None:
    """Remove every breakpoint from a debugger that goes on."""
    for file in list(TABLE.by_file):
        set_lines(db, file, [])
    set_functions(db, [])


def reset() -> None:
    """Forget every breakpoint and count, for a new debugger."""
    TABLE.clear()
    FUNCTIONS.clear()
    _LAST_STOPS.clear()
    line_monitor.close_monitor()


def set_lines(db: Any, file: str, specs: List[Dict[str, Any]]) -> None:
    """Replace the line breakpoints of one file."""
    old = [rule.id for rule in TABLE.by_file.get(file, ())]
    TABLE.by_file[file] = TABLE.replace(old, specs, file)
    _place_lines(db, canonical(file))


def _place_lines(db: Any, file: str) -> None:
    """Tell our monitor, or pydevd, which lines of a file have rules."""
    from _pydevd_bundle.pydevd_api import PyDevdAPI

    lines: Dict[int, List[Rule]] = {}
    for rule in TABLE.rules.values():
        if rule.file == file and rule.line:
            lines.setdefault(rule.line, []).append(rule)
    for line in TABLE.generator_lines.get(file, ()):
        lines.setdefault(line, [])
    monitor = line_monitor.get_monitor()
    if monitor is not None:
        monitor.set_file(file, lines)
        return
    api = PyDevdAPI()
    policy = _suspend_policy(db)
    with db._main_lock, _every_file_exists(), _consolidate_once(db, file):
        api.remove_all_breakpoints(db, file)
        for line, rules in lines.items():
            number = rules[0].id if rules else -line  # a function's rule may have many lines
            TABLE.on_line[number] = rules
            api.add_breakpoint(
                db, file, "python-line", number, line, _ASK_RULES, "None", None, policy, None, None
            )


def _suspend_policy(db: Any) -> str:
    return "ALL" if db.multi_threads_single_notification else "NONE"


@contextlib.contextmanager
def _every_file_exists() -> Iterator[None]:
    """pydevd drops a breakpoint in a file that does not exist yet; ours waits for the file."""
    import pydevd_file_utils

    original = pydevd_file_utils.exists
    pydevd_file_utils.exists = lambda _path: True
    try:
        yield
    finally:
        pydevd_file_utils.exists = original


@contextlib.contextmanager
def _consolidate_once(db: Any, file: str) -> Iterator[None]:
    """Have pydevd go through the file and all threads once, not once for each breakpoint."""
    names = ("consolidate_breakpoints", "on_breakpoints_changed")
    consolidate, notify_changed = (getattr(db, name) for name in names)
    for name in names:
        setattr(db, name, lambda *_args, **_more: None)
    try:
        yield
    finally:
        for name in names:
            delattr(db, name)
        breakpoints = db.file_to_id_to_line_breakpoint.get(file)
        if breakpoints is not None:
            consolidate(file, breakpoints, db.breakpoints)
        notify_changed(removed=True)
        notify_changed()


def set_functions(db: Any, specs: List[Dict[str, Any]]) -> None:
    """Replace the function breakpoints. They are found by `function_table`, not by pydevd."""
    TABLE.functions = TABLE.replace([rule.id for rule in TABLE.functions], specs)
    FUNCTIONS.set_rules(TABLE.functions)
    # Without any, there is no need for a tool.
    monitor = line_monitor.get_monitor() if specs else line_monitor.current_monitor()
    if monitor is not None:
        monitor.update_functions()
    elif getattr(db, "_holdfast_traces_little", False):
        db.on_breakpoints_changed()
    else:
        _set_pydevd_functions(db)


def _set_pydevd_functions(db: Any) -> None:
    """Without tracing of our own, as behind an adapter: pydevd asks our rules.

    It knows bare names, sees no module begin, and before 3.12 no generator: that gets a line.
    """
    from _pydevd_bundle.pydevd_api import PyDevdAPI
    from _pydevd_bundle.pydevd_breakpoints import FunctionBreakpoint

    policy = _suspend_policy(db)
    points = [
        FunctionBreakpoint(number, name, _ASK_RULES, None, policy, None, False)
        for name, number in FUNCTIONS.list_bare_names().items()
    ]
    with db._main_lock:
        PyDevdAPI().set_function_breakpoints(db, points)
    if sys.version_info < (3, 12):
        before, TABLE.generator_lines = TABLE.generator_lines, FUNCTIONS.find_generator_lines()
        for file in {*before, *TABLE.generator_lines}:
            _place_lines(db, file)


def hits_of(ident: Optional[int], numbers: Iterable[int]) -> List[Dict[str, int]]:
    """The breakpoints behind a thread's stop, with the hit count of each."""
    last, stopping = _LAST_STOPS.get(ident, (0, []))
    ids = [id_ for number in numbers for id_ in (stopping if number == last else [number])]
    rules = (TABLE.rules.get(id_) for id_ in ids)
    return [{"id": rule.id, "hits": rule.hits} for rule in rules if rule is not None]


def has_functions_only(hits: List[Dict[str, int]]) -> bool:
    """Whether a stop is for function breakpoints and no others."""
    rules = [TABLE.rules.get(hit["id"]) for hit in hits]
    return bool(rules) and all(rule is not None and rule.function for rule in rules)


def all_hits() -> Dict[str, int]:
    return {str(number): rule.hits for number, rule in TABLE.rules.items()}


def describe_counts() -> Dict[str, Any]:
    """How often each breakpoint was hit, passed because of its condition, or failed."""
    rules = list(TABLE.rules.values())
    return {
        "hits": all_hits(),
        "passes": {str(rule.id): rule.passes for rule in rules if rule.passes},
        "errors": [
            {"id": rule.id, "expression": expression, "count": count}
            for rule in rules
            for expression, count in list(rule.errors.items())
        ],
    }


# -- into pydevd ----------------------------------------------------------------------------------

_ORIGINAL: Dict[str, Any] = {}


def install(pydevd: Any) -> None:
    _ORIGINAL["condition"] = pydevd.PyDB.handle_breakpoint_condition
    pydevd.PyDB.handle_breakpoint_condition = should_stop
    original = pydevd.PyDB.apply_files_filter

    def apply_files_filter(db: Any, frame: Any, filename: str, force: bool) -> bool:
        # Just-my-code is for stepping and raising; a breakpoint in a library is meant.
        path = "" if force else canonical(filename)
        if path and (path in TABLE.files or path in FUNCTIONS.files):
            return False
        return bool(original(db, frame, filename, force))

    pydevd.PyDB.apply_files_filter = apply_files_filter


def should_stop(db: Any, info: Any, breakpoint: Any, frame: Any) -> bool:
    if breakpoint.condition != _ASK_RULES:
        return bool(_ORIGINAL["condition"](db, info, breakpoint, frame))
    if getattr(breakpoint, "func_name", "None") not in ("None", None):
        rules = rules_at_call(frame)
    else:
        rules = TABLE.on_line.get(breakpoint.breakpoint_id, [])
        if TABLE.generator_lines:
            rules = rules + rules_at_line(frame)
    if len(rules) == 1:  # nearly always, and at every pass of a hot line
        stopping = [rules[0].id] if rules[0].should_stop(frame) else []
    else:
        stopping = find_stopping(rules, frame)
    if stopping:
        _LAST_STOPS[threading.get_ident()] = (breakpoint.breakpoint_id, stopping)
    return bool(stopping)
