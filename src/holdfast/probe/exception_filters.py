"""Which exceptions stop. pydevd applies the filters, we the class names and "once per raise"."""

from __future__ import annotations

import contextlib
import sys
import threading
from typing import Any, Callable, Dict, Iterator, List, Tuple

from .pydevd_access import current, is_ours


class ExceptionFilters:
    """The class names that stop, and where each thread last stopped for an exception."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.types: Tuple[str, ...] = ()
        self.is_silent = False
        self._stopped_at: Dict[int, Tuple[int, int]] = {}  # thread ident -> where it was raised

    def match(self, kind: Any) -> bool:
        if self.is_silent:
            return False
        if not self.types:
            return not issubclass(kind, SystemExit)  # exiting is not an error
        for base in getattr(kind, "__mro__", ()):
            full = "%s.%s" % (base.__module__, base.__qualname__)
            for name in self.types:
                if name in (base.__name__, base.__qualname__, full):
                    return True
        return False

    def note_stop(self, trace: Any) -> None:
        self._stopped_at[threading.get_ident()] = _raise_location(trace)

    def forget_stop(self) -> None:
        self._stopped_at.pop(threading.get_ident(), None)

    def has_stopped(self, trace: Any) -> bool:
        """Whether this very raise has stopped the thread already (raised, and now uncaught)."""
        return self._stopped_at.get(threading.get_ident()) == _raise_location(trace)


def _raise_location(trace: Any) -> Tuple[int, int]:
    while trace.tb_next is not None:
        trace = trace.tb_next
    return id(trace.tb_frame), trace.tb_lineno


FILTERS = ExceptionFilters()


def reset() -> None:
    FILTERS.clear()


def set_exceptions(db: Any, filters: List[str], types: List[str], user_code_only: bool) -> None:
    from _pydevd_bundle.pydevd_api import PyDevdAPI

    api = PyDevdAPI()
    FILTERS.types = tuple(types)
    chosen = set(filters) or ({"raised"} if types else set())
    ignore_libraries = 1 if user_code_only or db.get_use_libraries_filter() else 0

    def add(raised: int, uncaught: int, user: int, once: bool, ignore: int) -> None:
        api.add_python_exception_breakpoint(
            db, "BaseException", None, None, raised, uncaught, user, once, ignore
        )

    with db._main_lock:
        api.remove_all_exception_breakpoints(db)
        if "raised" in chosen:
            add(1, 0, 0, True, ignore_libraries)
        if "uncaught" in chosen:
            add(0, 1, 0, False, 0)
        if "userUnhandled" in chosen:
            add(0, 0, 1, False, 1)


def stop_at_crash(error: BaseException, trace: Any) -> None:
    """Stop, if a filter says so, for an exception that nothing caught, before it is printed.

    pydevd would see it by itself only in a program that runs beneath its own main function.
    """
    from _pydevd_bundle.pydevd_breakpoints import stop_on_unhandled_exception

    db = current()
    if db is None or db.pydb_disposed or trace is None:
        return
    exc_info = (type(error), error, trace)
    if hasattr(db, "trigger_exception_handler"):
        db.trigger_exception_handler(exc_info)
        return
    thread = threading.current_thread()
    stop_on_unhandled_exception(db, thread, db.set_additional_thread_info(thread), exc_info)


def stop_at_thread_crashes() -> None:
    """Before 3.12: stop for an exception that ends a thread, without tracing the thread for it."""
    make_original = threading._make_invoke_excepthook  # type: ignore[attr-defined]

    def stop_before(invoke: Callable[[Any], None]) -> Callable[[Any], None]:
        def invoke_excepthook(thread: Any) -> None:
            error = sys.exc_info()[1]
            if error is not None:
                stop_at_crash(error, error.__traceback__)
            invoke(thread)

        return invoke_excepthook

    threading._make_invoke_excepthook = lambda: stop_before(  # type: ignore[attr-defined]
        make_original()
    )
    for thread in threading.enumerate():  # one that runs already has made its own
        if hasattr(thread, "_invoke_excepthook"):
            thread._invoke_excepthook = stop_before(thread._invoke_excepthook)

    from _pydev_bundle.pydev_monkey import _NewThreadStartupWithTrace

    run_thread = _NewThreadStartupWithTrace.__call__

    def run_low_level_thread(self: Any) -> Any:
        try:
            return run_thread(self)
        except Exception as error:  # of a thread that `threading` did not start
            stop_at_crash(error, error.__traceback__)
            raise

    _NewThreadStartupWithTrace.__call__ = run_low_level_thread


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """What is raised and caught while we prepare the program, or describe an exception, is ours."""
    before, FILTERS.is_silent = FILTERS.is_silent, True
    try:
        yield
    finally:
        FILTERS.is_silent = before


@contextlib.contextmanager
def printing_traceback() -> Iterator[None]:
    """What Python raises and catches while it prints a traceback is not the program's."""
    if sys.excepthook is sys.__excepthook__:
        with silenced():
            yield
    else:
        yield


# -- into pydevd ----------------------------------------------------------------------------------


def install(pydevd: Any) -> None:
    original = pydevd.PyDB.do_stop_on_unhandled_exception

    def stop_once(db: Any, thread: Any, frame: Any, frames: Any, arg: Any) -> Any:
        if is_ours(frame.f_code.co_filename):
            return None
        if arg[2] is not None and FILTERS.has_stopped(arg[2]):
            return None
        return original(db, thread, frame, frames, arg)

    pydevd.PyDB.do_stop_on_unhandled_exception = stop_once


def adopt(db: Any) -> None:
    original = db.get_exception_breakpoint

    def get_exception_breakpoint(kind: Any, exceptions: Any) -> Any:
        return original(kind, exceptions) if FILTERS.match(kind) else None

    db.get_exception_breakpoint = get_exception_breakpoint
