"""Whether a breakpoint stops: conditions, hit counts, log messages, functions, exceptions.

pydevd evaluates a condition with `eval` on text each time, ORs it with the hit count, and knows
functions by bare name only. Here each breakpoint is a `Rule` compiled once: the condition holds,
then the hit is counted, then the count decides, then a log message is written or the program
stops. A condition that raises does not stop; the server is told once, and says so.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
import threading
import types
from typing import Any, Callable, Dict, FrozenSet, Iterable, Iterator, List, Optional, Tuple

from . import bounded_calls, debugger, fast_lines, generator_entries, line_monitor, pydevd_patches

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


# The libraries that come with Python: the debugger runs on them as well.
_LIBRARY = os.path.realpath(os.path.dirname(os.__file__)) + os.sep


def _is_debuggers(frame: Any) -> bool:
    """Is a library being used by the debugger itself, in whichever thread?

    Its frames are also at the bottom of what the program runs: from `_exec` on, and in threads
    where it starts them.
    """
    below = None
    while frame is not None and not debugger.is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    while frame is not None and debugger.is_ours(frame.f_code.co_filename):
        if frame.f_code.co_name == "_exec":
            return False
        below, frame = frame, frame.f_back
    if below is None:
        return False
    return frame is not None or not below.f_code.co_filename.endswith("pydev_monkey.py")


class Expression:
    """A compiled expression of the user's, evaluated in a frame."""

    def __init__(self, text: str) -> None:
        self.problem: Optional[SyntaxError] = None
        try:
            self.code = compile(text, "<holdfast>", "eval")
        except SyntaxError as problem:  # the server's Python may know newer syntax than this one
            self.problem = problem
            self.code = compile("None", "<holdfast>", "eval")
        # A nested scope (comprehension, lambda) cannot see a frame's locals given separately.
        self.nested = any(isinstance(const, types.CodeType) for const in self.code.co_consts)
        self.plain = self.problem is None and not self.nested

    def value(self, frame: Any) -> Any:
        if self.problem is not None:
            raise self.problem
        if self.nested:
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
        self.log = [self._part(part) for part in spec["log"]] if spec.get("log") else None
        self.function: Optional[Dict[str, Any]] = spec.get("function")
        if self.function is not None:
            file = self.function["file"]
        self.line: int = spec.get("line", 0)
        self.entry: Optional[generator_entries.Entry] = None
        self.file = canonical(file)
        self.library = self.file.startswith(_LIBRARY)
        self.hits = 0
        self._count = itertools.count(1)
        self._told = False

    def count_on(self, hits: int) -> None:
        self.hits = hits
        self._count = itertools.count(hits + 1)

    @staticmethod
    def _part(part: Any) -> Any:
        if isinstance(part, str):
            return part
        return Expression(part["expression"]), part.get("conversion"), part.get("spec") or ""

    def is_for(self, code: Any) -> bool:
        wanted = self.function
        return wanted is None or (
            code.co_firstlineno == wanted["first_line"]
            and code.co_name == wanted["name"]
            and canonical(code.co_filename) == self.file
        )

    def stops(self, frame: Any) -> bool:
        if self.library and _is_debuggers(frame):
            return False
        condition = self.condition
        if condition is not None:
            try:
                if condition.plain:  # spelt out here: this runs at every pass of a hot line
                    if not eval(condition.code, frame.f_globals, frame.f_locals):
                        return False
                elif not condition.value(frame):
                    return False
            except (Exception, SystemExit) as error:
                self._tell(error)
                return False
        self.hits = hits = next(self._count)  # no two threads get the same
        if self.hit is not None and not _COMPARE[self.hit[0]](hits, self.hit[1]):
            return False
        if self.log is not None:
            self._write(frame)
            return False
        return True

    def _tell(self, error: BaseException) -> None:
        if not self._told:
            self._told = True
            problem = bounded_calls.error_text(error)
            debugger.report("breakpoint_error", id=self.id, error=problem)

    def _write(self, frame: Any) -> None:
        debugger.flush_output()  # what was printed before comes before
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
        elif conversion == "s":
            value = str(value)
        elif conversion == "a":
            value = ascii(value)
        text = format(value, spec) if spec else str(value)
    except (Exception, SystemExit) as error:
        return "<%s>" % bounded_calls.error_text(error)
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
        self.by_file: Dict[str, List[Rule]] = {}  # as the server names the file
        self.files: FrozenSet[str] = frozenset()  # all that hold one, as canonical paths
        self.on_line: Dict[int, List[Rule]] = {}  # by the one id that pydevd has for that line
        self.functions: List[Rule] = []

    def renew(self, old: Iterable[int], specs: List[Dict[str, Any]], file: str = "") -> List[Rule]:
        """New rules in place of old ones; one that is unchanged keeps its count."""
        before = {number: self.rules.pop(number) for number in old if number in self.rules}
        for number in before:
            self.on_line.pop(number, None)
        fresh = []
        for spec in specs:
            rule = Rule(spec, file)
            if spec["id"] in before and spec.get("keep_hits"):
                rule.count_on(before[spec["id"]].hits)
            self.rules[rule.id] = rule
            fresh.append(rule)
        self.files = frozenset(rule.file for rule in self.rules.values())
        return fresh


BOOK = Book()


def clear(db: Any) -> None:
    """Nothing stops any more."""
    for file in list(BOOK.by_file):
        set_lines(db, file, [])
    set_functions(db, [])
    set_exceptions(db, [], [], False)


def start_over() -> None:
    """A forked child has breakpoints and counts of its own."""
    BOOK.__init__()  # type: ignore[misc]
    EXCEPTIONS.__init__()  # type: ignore[misc]
    _STOPPED.clear()
    line_monitor.drop()


def set_lines(db: Any, file: str, specs: List[Dict[str, Any]]) -> None:
    """Replace the line breakpoints of one file."""
    old = [rule.id for rule in BOOK.by_file.get(file, ())]
    BOOK.by_file[file] = BOOK.renew(old, specs, file)
    _place(db, canonical(file))


def _place(db: Any, file: str) -> None:
    """Say which lines of a file have rules: to our monitor, or to pydevd (one for each line)."""
    from _pydevd_bundle.pydevd_api import PyDevdAPI

    api = PyDevdAPI()
    lines: Dict[int, List[Rule]] = {}
    for rule in BOOK.rules.values():
        if rule.file == file and rule.line:
            lines.setdefault(rule.line, []).append(rule)
    watching = line_monitor.get()
    if watching is not None:
        watching.set_file(file, lines)
        return
    policy = "ALL" if db.multi_threads_single_notification else "NONE"
    with db._main_lock, _every_file_exists(), _all_at_once(db, file):
        api.remove_all_breakpoints(db, file)
        for line, sharing in lines.items():
            number = sharing[0].id
            BOOK.on_line[number] = sharing
            api.add_breakpoint(
                db, file, "python-line", number, line, _ASK, "None", None, policy, None, None
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


@contextlib.contextmanager
def _all_at_once(db: Any, file: str) -> Iterator[None]:
    """For each one that is added pydevd goes through all of the file, and through all threads."""
    names = ("consolidate_breakpoints", "on_breakpoints_changed")
    later = [getattr(db, name) for name in names]
    for name in names:
        setattr(db, name, lambda *_args, **_more: None)
    try:
        yield
    finally:
        for name in names:
            delattr(db, name)
        consolidate, changed = later
        here = db.file_to_id_to_line_breakpoint.get(file)
        if here is not None:
            consolidate(file, here, db.breakpoints)
        changed(removed=True)
        changed()


def set_functions(db: Any, specs: List[Dict[str, Any]]) -> None:
    """Replace the function breakpoints. pydevd keeps one per bare name; rules tell them apart."""
    from _pydevd_bundle.pydevd_api import PyDevdAPI
    from _pydevd_bundle.pydevd_breakpoints import FunctionBreakpoint

    before = BOOK.functions
    BOOK.functions = BOOK.renew([rule.id for rule in before], specs)
    for rule in BOOK.functions:
        wanted = rule.function or {}
        rule.entry = generator_entries.find(wanted["file"], wanted["name"], wanted["first_line"])
        rule.line = rule.entry.line if rule.entry else 0
    for file in {rule.file for rule in before + BOOK.functions if rule.entry}:
        _place(db, file)
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


def hits_of(ident: Optional[int], numbers: Iterable[int]) -> List[Dict[str, int]]:
    """The breakpoints behind a thread's stop, with how often each was hit."""
    asked, stopping = _STOPPED.get(ident, (0, []))
    ids = [each for number in numbers for each in (stopping if number == asked else [number])]
    found = (BOOK.rules.get(number) for number in ids)
    return [{"id": rule.id, "hits": rule.hits} for rule in found if rule is not None]


def all_hits() -> Dict[str, int]:
    return {str(number): rule.hits for number, rule in BOOK.rules.items()}


# By a thread's ident: the id that pydevd stopped it for last, and the rules behind that.
_STOPPED: Dict[Optional[int], Tuple[int, List[int]]] = {}


def _decide(db: Any, info: Any, breakpoint: Any, frame: Any) -> bool:
    if breakpoint.condition != _ASK:
        return bool(_ORIGINAL["condition"](db, info, breakpoint, frame))
    if getattr(breakpoint, "func_name", "None") not in ("None", None):
        found = [r for r in BOOK.functions if r.is_for(frame.f_code) and not r.entry]
    else:
        found = BOOK.on_line.get(breakpoint.breakpoint_id, [])
    if len(found) == 1 and not found[0].entry:  # nearly always, and at every pass of a hot line
        stopping = [found[0].id] if found[0].stops(frame) else []
    else:
        stopping = asked(found, frame)
    if stopping:
        _STOPPED[threading.get_ident()] = (breakpoint.breakpoint_id, stopping)
    return bool(stopping)


def asked(found: Iterable[Rule], frame: Any) -> List[int]:
    """Those of the rules that stop. Every one is asked: each counts, and logs, for itself."""
    here = [rule for rule in found if not rule.entry or rule.entry.is_at(frame)]
    return [rule.id for rule in here if rule.stops(frame)]


# -- exceptions -----------------------------------------------------------------------------------


class Exceptions:
    """Which exceptions stop: the filters are pydevd's, the class names and `once` are ours."""

    def __init__(self) -> None:
        self.types: Tuple[str, ...] = ()
        self.printing = False
        self._stopped: Dict[int, Tuple[int, int]] = {}  # thread ident -> where it was raised

    def wants(self, kind: Any) -> bool:
        if self.printing:
            return False
        if not self.types:
            return not issubclass(kind, SystemExit)  # to leave is no accident
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


def stop_at_crash(error: BaseException, trace: Any) -> None:
    """Nothing caught it: let its frames be looked at, if that is wanted, before it is printed.

    pydevd would see this by itself only in a program that runs beneath its own main function.
    """
    from _pydevd_bundle.pydevd_breakpoints import stop_on_unhandled_exception

    db = debugger.current()
    if db is None or db.pydb_disposed or trace is None:
        return
    problem = (type(error), error, trace)
    if hasattr(db, "trigger_exception_handler"):
        db.trigger_exception_handler(problem)
        return
    thread = threading.current_thread()
    stop_on_unhandled_exception(db, thread, db.set_additional_thread_info(thread), problem)


@contextlib.contextmanager
def printing() -> Iterator[None]:
    """What Python raises and catches while it prints a traceback is not the program's."""
    EXCEPTIONS.printing = sys.excepthook is sys.__excepthook__
    try:
        yield
    finally:
        EXCEPTIONS.printing = False


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

    from . import missed_breakpoints

    _ORIGINAL["condition"] = pydevd.PyDB.handle_breakpoint_condition
    pydevd.PyDB.handle_breakpoint_condition = _decide
    stop_on_uncaught = pydevd.PyDB.do_stop_on_unhandled_exception

    def once(db: Any, thread: Any, frame: Any, frames: Any, arg: Any) -> Any:
        if debugger.is_ours(frame.f_code.co_filename):
            return None
        if arg[2] is not None and EXCEPTIONS.stopped_before(arg[2]):
            return None
        return stop_on_uncaught(db, thread, frame, frames, arg)

    pydevd.PyDB.do_stop_on_unhandled_exception = once
    filtered = pydevd.PyDB.apply_files_filter

    def apply_files_filter(db: Any, frame: Any, filename: str, force: bool) -> bool:
        # Just-my-code is for stepping and raising; a breakpoint in a library is meant.
        if not force and canonical(filename) in BOOK.files:
            return False
        return bool(filtered(db, frame, filename, force))

    pydevd.PyDB.apply_files_filter = apply_files_filter
    pydevd_patches.attempt(fast_lines.quick_lines, pydevd)
    missed_breakpoints.install(pydevd)


def adopt(db: Any) -> None:
    original = db.get_exception_breakpoint

    def get_exception_breakpoint(kind: Any, exceptions: Any) -> Any:
        return original(kind, exceptions) if EXCEPTIONS.wants(kind) else None

    db.get_exception_breakpoint = get_exception_breakpoint
