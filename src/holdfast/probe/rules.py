"""Whether a breakpoint stops: conditions, hit counts, log messages, functions, exceptions.

pydevd evaluates a condition with `eval` on text each time, ORs it with the hit count, and knows
functions by bare name only. Here each breakpoint is a `Rule` compiled once: the condition holds,
then the hit is counted, then the count decides, then a log message is written or the program
stops. A condition that raises does not stop; the server is told once, and says so.
"""

from __future__ import annotations

import contextlib
import threading
import types
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Tuple

from . import debugger

_ASK = "holdfast"  # the condition given to pydevd: it makes it ask `_decide`
_LIMIT = 2000

_COMPARE: Dict[str, Callable[[int, int], bool]] = {
    "==": lambda hits, n: hits == n,
    ">": lambda hits, n: hits > n,
    ">=": lambda hits, n: hits >= n,
    "<": lambda hits, n: hits < n,
    "<=": lambda hits, n: hits <= n,
    "%": lambda hits, n: hits % n == 0,
}


class Expression:
    """A compiled expression of the user's, evaluated in a frame."""

    def __init__(self, text: str) -> None:
        self.code = compile(text, "<holdfast>", "eval")
        # A nested scope (comprehension, lambda) cannot see a frame's locals given separately.
        self.nested = any(isinstance(const, types.CodeType) for const in self.code.co_consts)

    def value(self, frame: Any) -> Any:
        if self.nested:
            names = dict(frame.f_globals)
            names.update(frame.f_locals)
            return eval(self.code, names)
        return eval(self.code, frame.f_globals, frame.f_locals)


class Rule:
    """One breakpoint as the server sent it, ready to decide."""

    def __init__(self, spec: Dict[str, Any]) -> None:
        self.id: int = spec["id"]
        self.condition = Expression(spec["condition"]) if spec.get("condition") else None
        self.hit: Optional[Tuple[str, int]] = tuple(spec["hit"]) if spec.get("hit") else None
        self.log = [self._part(part) for part in spec["log"]] if spec.get("log") else None
        self.function: Optional[Dict[str, Any]] = spec.get("function")
        self.hits = 0
        self._lock = threading.Lock()
        self._told = False

    @staticmethod
    def _part(part: Any) -> Any:
        if isinstance(part, str):
            return part
        return Expression(part["expression"]), part.get("conversion"), part.get("spec") or ""

    @property
    def plain(self) -> bool:
        return not (self.condition or self.hit or self.log or self.function)

    def is_for(self, code: Any) -> bool:
        wanted = self.function
        return wanted is None or (
            code.co_firstlineno == wanted["first_line"]
            and canonical(code.co_filename) == wanted["file"]
        )

    def stops(self, frame: Any) -> bool:
        if self.condition is not None:
            try:
                if not self.condition.value(frame):
                    return False
            except Exception as error:
                self._tell(error)
                return False
        with self._lock:
            self.hits += 1
            hits = self.hits
        if self.hit is not None and not _COMPARE[self.hit[0]](hits, self.hit[1]):
            return False
        if self.log is not None:
            self._write(frame)
            return False
        return True

    def _tell(self, error: Exception) -> None:
        if not self._told:
            self._told = True
            problem = "%s: %s" % (type(error).__name__, error)
            debugger.report("breakpoint_error", id=self.id, error=problem)

    def _write(self, frame: Any) -> None:
        text = "".join(p if isinstance(p, str) else _formatted(frame, *p) for p in self.log or ())
        line = frame.f_lineno
        debugger.report(
            "log", id=self.id, text=text, file=canonical(frame.f_code.co_filename), line=line
        )


def _formatted(frame: Any, expression: Expression, conversion: Optional[str], spec: str) -> str:
    """One `{expression}` of a log message; if it fails, only it shows the failure."""
    try:
        value = expression.value(frame)
        if conversion == "r":
            value = repr(value)
        elif conversion == "a":
            value = ascii(value)
        text = format(value, spec) if spec else str(value)
    except Exception as error:
        return "<%s: %s>" % (type(error).__name__, error)
    return text if len(text) <= _LIMIT else text[:_LIMIT] + "..."


def canonical(filename: str) -> str:
    import pydevd_file_utils

    path: str = pydevd_file_utils.canonical_normalized_path(filename)
    return path


# -- breakpoints ----------------------------------------------------------------------------------


class Book:
    """Every rule, by id; replaced file by file, as the server changes them."""

    def __init__(self) -> None:
        self.rules: Dict[int, Rule] = {}
        self.by_file: Dict[str, List[int]] = {}
        self.functions: List[Rule] = []

    def renew(self, old: Iterable[int], specs: List[Dict[str, Any]]) -> List[Rule]:
        """New rules in place of old ones; one that is unchanged keeps its count."""
        before = {number: self.rules.pop(number) for number in old if number in self.rules}
        fresh = []
        for spec in specs:
            rule = Rule(spec)
            if spec["id"] in before and spec.get("keep_hits"):
                rule.hits = before[spec["id"]].hits
            self.rules[rule.id] = rule
            fresh.append(rule)
        return fresh


BOOK = Book()


def set_lines(db: Any, file: str, specs: List[Dict[str, Any]]) -> None:
    """Replace the line breakpoints of one file."""
    from _pydevd_bundle.pydevd_api import PyDevdAPI

    api = PyDevdAPI()
    rules = BOOK.renew(BOOK.by_file.pop(file, ()), specs)
    BOOK.by_file[file] = [rule.id for rule in rules]
    policy = "ALL" if db.multi_threads_single_notification else "NONE"
    with db._main_lock, _every_file_exists():
        api.remove_all_breakpoints(db, file)
        for rule, spec in zip(rules, specs):
            ask = None if rule.plain else _ASK
            api.add_breakpoint(
                db,
                file,
                "python-line",
                rule.id,
                spec["line"],
                ask,
                "None",
                None,
                policy,
                None,
                None,
            )


@contextlib.contextmanager
def _every_file_exists() -> Iterator[None]:
    """pydevd drops a breakpoint whose file is not there yet; ours waits for the file to come."""
    import pydevd_file_utils

    real = pydevd_file_utils.exists
    pydevd_file_utils.exists = lambda _path: True
    try:
        yield
    finally:
        pydevd_file_utils.exists = real


def set_functions(db: Any, specs: List[Dict[str, Any]]) -> None:
    """Replace the function breakpoints. pydevd keeps one per bare name; rules tell them apart."""
    from _pydevd_bundle.pydevd_api import PyDevdAPI
    from _pydevd_bundle.pydevd_breakpoints import FunctionBreakpoint

    BOOK.functions = BOOK.renew([rule.id for rule in BOOK.functions], specs)
    policy = "ALL" if db.multi_threads_single_notification else "NONE"
    names = {spec["function"]["name"]: spec["id"] for spec in specs}
    with db._main_lock:
        PyDevdAPI().set_function_breakpoints(
            db,
            [
                FunctionBreakpoint(number, name, _ASK, None, policy, None, False)
                for name, number in names.items()
            ],
        )


def hits_of(numbers: Iterable[int]) -> List[Dict[str, int]]:
    """The breakpoints behind a stop, with how often each was hit."""
    found = []
    for number in numbers:
        rule = BOOK.rules.get(_LAST.get(number, number))
        if rule is not None:
            if rule.plain:
                rule.hits += 1
            found.append({"id": rule.id, "hits": rule.hits})
    return found


def all_hits() -> Dict[str, int]:
    return {str(number): rule.hits for number, rule in BOOK.rules.items()}


# Which function rule matched, by the id that pydevd knows its bare name under.
_LAST: Dict[int, int] = {}


def _decide(db: Any, info: Any, breakpoint: Any, frame: Any) -> bool:
    if breakpoint.condition != _ASK:
        return bool(_ORIGINAL["condition"](db, info, breakpoint, frame))
    number = breakpoint.breakpoint_id
    if getattr(breakpoint, "func_name", "None") not in ("None", None):
        for rule in BOOK.functions:
            if rule.is_for(frame.f_code) and rule.stops(frame):
                _LAST[number] = rule.id
                return True
        return False
    found = BOOK.rules.get(number)
    return found is not None and found.stops(frame)


# -- exceptions -----------------------------------------------------------------------------------


class Exceptions:
    """Which exceptions stop: the filters are pydevd's, the class names and `once` are ours."""

    def __init__(self) -> None:
        self.types: Tuple[str, ...] = ()
        self._stopped: Dict[int, Tuple[int, int]] = {}  # thread ident -> where it was raised

    def wants(self, kind: Any) -> bool:
        if not self.types:
            return True
        for base in getattr(kind, "__mro__", ()):
            full = "%s.%s" % (base.__module__, base.__qualname__)
            for name in self.types:
                if name in (base.__name__, base.__qualname__, full):
                    return True
        return False

    def note(self, trace: Any) -> None:
        self._stopped[threading.get_ident()] = _raised_at(trace)

    def stopped_before(self, trace: Any) -> bool:
        """Has this very raise stopped the thread already (raised, and now uncaught)?"""
        return self._stopped.get(threading.get_ident()) == _raised_at(trace)


def _raised_at(trace: Any) -> Tuple[int, int]:
    while trace.tb_next is not None:
        trace = trace.tb_next
    return id(trace.tb_frame), trace.tb_lineno


EXCEPTIONS = Exceptions()


def set_exceptions(db: Any, filters: List[str], types: List[str], user_code_only: bool) -> None:
    from _pydevd_bundle.pydevd_api import PyDevdAPI

    api = PyDevdAPI()
    EXCEPTIONS.types = tuple(types)
    chosen = set(filters) or ({"raised"} if types else set())
    libraries = 1 if user_code_only or db.get_use_libraries_filter() else 0

    def add(raised: int, uncaught: int, user: int, once: bool, ignore: int) -> None:
        api.add_python_exception_breakpoint(
            db, "BaseException", None, None, raised, uncaught, user, once, ignore
        )

    with db._main_lock:
        api.remove_all_exception_breakpoints(db)
        if "raised" in chosen:
            add(1, 0, 0, True, libraries)
        if "uncaught" in chosen:
            add(0, 1, 0, False, 0)
        if "userUnhandled" in chosen:
            add(0, 0, 1, False, 1)


# -- into pydevd ----------------------------------------------------------------------------------

_ORIGINAL: Dict[str, Any] = {}


def install() -> None:
    import pydevd

    _ORIGINAL["condition"] = pydevd.PyDB.handle_breakpoint_condition
    pydevd.PyDB.handle_breakpoint_condition = _decide
    stop_on_uncaught = pydevd.PyDB.do_stop_on_unhandled_exception

    def once(db: Any, thread: Any, frame: Any, frames: Any, arg: Any) -> Any:
        if arg[2] is not None and EXCEPTIONS.stopped_before(arg[2]):
            return None
        return stop_on_uncaught(db, thread, frame, frames, arg)

    pydevd.PyDB.do_stop_on_unhandled_exception = once


def adopt(db: Any) -> None:
    original = db.get_exception_breakpoint

    def get_exception_breakpoint(kind: Any, exceptions: Any) -> Any:
        return original(kind, exceptions) if EXCEPTIONS.wants(kind) else None

    db.get_exception_breakpoint = get_exception_breakpoint
