"""Evaluates, assigns and completes the user's expressions.

They run in the suspended thread itself, so that thread-locals, context variables and the running
event loop are the program's. One that never returns is interrupted when the server says so.
"""

from __future__ import annotations

import builtins
import ctypes
import keyword
import re
import signal
import sys
import threading
import traceback
from typing import Any, Callable, Dict, List, Optional

from . import stop_snapshots, variables
from .frames import frame_at, read_locals
from .pydevd_access import RequestFailed, is_ours

_NOT_BEGUN, _GIVEN_UP = 0, -1  # never the ident of a thread


class Interrupted(BaseException):
    """Raised inside an evaluation that took too long."""


class _Evaluations:
    """The evaluations that are requested and not finished, so that each can be interrupted.

    They are known by the numbers that the server gave them. One may be requested long before it
    begins: its thread has to wake first.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Also in a forked child, where a thread that does not exist may hold the lock."""
        self._lock = threading.Lock()
        self._idents: Dict[Any, int] = {}

    def announce(self, number: Any) -> None:
        with self._lock:
            self._idents[number] = _NOT_BEGUN

    def interrupt(self, number: Any) -> bool:
        """False if it has ended already."""
        with self._lock:
            ident = self._idents.get(number)
            if ident is None:
                return False
            if ident in (_NOT_BEGUN, _GIVEN_UP):
                self._idents[number] = _GIVEN_UP
            else:
                _interrupt_thread(ident)
            return True

    def call(self, number: Any, run: Callable[[], Any]) -> Any:
        ident = threading.get_ident()
        in_main = ident == threading.main_thread().ident
        before = signal.getsignal(signal.SIGINT) if in_main else None
        was_blocked = False
        try:
            if in_main:
                signal.signal(signal.SIGINT, _raise_interrupted)
                was_blocked = _unblock_interrupts()
            try:
                with self._lock:
                    is_given_up = self._idents.get(number) == _GIVEN_UP
                    self._idents[number] = ident
                if is_given_up:
                    raise Interrupted
                return run()
            finally:
                self._close(number)
        finally:
            while True:
                try:
                    self._remove(number)  # if the interrupt came before `_close` was prepared
                    if was_blocked:
                        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
                    if in_main:
                        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)
                    break
                except Interrupted:  # by a Ctrl-C of the user
                    continue

    def _close(self, number: Any) -> None:
        """Allow no more interrupts; one that comes this late must not hit the program."""
        try:
            self._remove(number)
            for _ in range(100):  # one that was sent arrives at the latest in here
                pass
        except Interrupted:
            self._remove(number)

    def _remove(self, number: Any) -> None:
        with self._lock:
            self._idents.pop(number, None)


def _interrupt_thread(ident: int) -> None:
    if ident == threading.main_thread().ident:
        signal.pthread_kill(ident, signal.SIGINT)
    else:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(ident), ctypes.py_object(Interrupted)
        )


EVALUATIONS = _Evaluations()


def _unblock_interrupts() -> bool:
    """Unblock SIGINT if the program blocks it; ours would wait, and hit it once it unblocks."""
    if signal.SIGINT in signal.sigpending():
        return False  # one of the program's own, which we must not take
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _raise_interrupted(_number: int, _frame: Any) -> None:
    raise Interrupted


def run_interruptibly(number: Any, work: Callable[[], Any]) -> Any:
    """Do the work, turning what the user's code raises into a RequestFailed."""
    try:
        return EVALUATIONS.call(number, work)
    except RequestFailed:
        raise
    except Interrupted:
        raise RequestFailed("interrupted", "interrupted after its timeout") from None
    except BaseException as error:
        raise _describe_failure(error) from None


def _describe_failure(error: BaseException) -> RequestFailed:
    kind = type(error)
    name = kind.__qualname__
    try:
        message = str(error)
    except Exception:
        message = "<no message>"
    lines: List[str] = []
    for entry in traceback.extract_tb(error.__traceback__):
        if not is_ours(entry.filename):
            lines.append("%s:%s in %s" % (entry.filename, entry.lineno, entry.name))
    return RequestFailed(
        "raised", "%s: %s" % (name, message), type=name, error=message, where=lines[-5:]
    )


def evaluate(
    db: Any,
    frame: Any,
    thread_id: str,
    expression: str,
    context: Optional[str],
    **shown: Any,
) -> Dict[str, Any]:
    """The value of an expression. `shown` says how much of it (`variables.describe_result`)."""
    from _pydevd_bundle import pydevd_vars

    # Inspecting must not execute statements; a REPL may.
    if context in ("hover", "watch"):
        compile(expression.strip(), "<expression>", "eval")
    value = pydevd_vars.evaluate_expression(db, frame, expression, True)
    return variables.describe_result(value, expression, stop_snapshots.HANDLES, thread_id, **shown)


def evaluate_watches(
    db: Any, frame: Any, thread_id: str, expressions: List[str]
) -> List[Dict[str, Any]]:
    """The value of each, or its error. When the server interrupts one, the rest is skipped."""
    values: List[Dict[str, Any]] = []
    try:
        for expression in expressions:
            try:
                values.append(evaluate(db, frame, thread_id, expression, "watch"))
            except (Interrupted, RequestFailed):
                raise
            except BaseException as error:
                values.append({"error": str(_describe_failure(error))})
    except Interrupted:  # in one of them, or just after it
        rest = len(expressions) - len(values)
        values += [{"timed_out": True}, *({"skipped": True} for _ in range(1, rest))][:rest]
    return values


def assign(db: Any, thread_id: str, reference: int, name: str, text: str) -> Dict[str, Any]:
    """Set a variable of a scope, or a child of a value, to the value of an expression."""
    from _pydevd_bundle import pydevd_vars

    handle = stop_snapshots.HANDLES.get(reference)
    if handle is None:
        raise RequestFailed("reference", "reference %s is not valid any more" % reference)
    if handle.kind == "scope":
        scope = handle.value
        if name not in scope:
            raise RequestFailed("assign", "no variable %r in %s" % (name, handle.name))
        value = pydevd_vars.evaluate_expression(db, scope.frame, "(%s)" % text, True)
        _assign_name(db, scope.frame, handle.name, name, value)
        scope[name] = value
    else:
        frame = frame_at(db, thread_id, 0)
        value = pydevd_vars.evaluate_expression(db, frame, "(%s)" % text, True)
        try:
            variables.set_child(stop_snapshots.HANDLES, reference, name, value)
        except (TypeError, KeyError, IndexError, AttributeError, ValueError) as error:
            raise RequestFailed("assign", str(error)) from None
    return variables.describe(value, name, stop_snapshots.HANDLES, thread_id)


def _assign_name(db: Any, frame: Any, scope: str, name: str, value: Any) -> None:
    if scope == "Globals" or frame.f_locals is frame.f_globals:
        frame.f_globals[name] = value
        return
    frame.f_locals[name] = value
    if sys.version_info < (3, 13):
        from _pydevd_bundle.pydevd_save_locals import save_locals

        save_locals(frame)


_MAX_COMPLETIONS = 500
_DOTTED = re.compile(r"((?:[^\W\d]\w*(?:\[[^\[\]]*\])?\.)*)([^\W\d]\w*)?\Z")


def find_completions(db: Any, frame: Any, text: str) -> List[Dict[str, Any]]:
    """Names that can follow; attributes are read from the value, never computed."""
    match = _DOTTED.search(text)
    owner, prefix = (match.group(1), match.group(2) or "") if match else ("", "")
    if owner:
        from _pydevd_bundle import pydevd_vars

        value = pydevd_vars.evaluate_expression(db, frame, owner[:-1], True)
        names = _attribute_kinds(value)
    else:
        names = _visible_name_kinds(frame)
    start = len(text) - len(prefix)
    folded = prefix.lower()
    return [
        {"label": name, "type": kind, "start": start, "length": len(prefix)}
        for name, kind in sorted(names.items())
        if name.lower().startswith(folded) and (prefix.startswith("_") or not name.startswith("_"))
    ][:_MAX_COMPLETIONS]


def _attribute_kinds(value: Any) -> Dict[str, str]:
    names: Dict[str, str] = {}
    for name in dir(value):
        attribute = getattr(type(value), name, None)
        names[name] = "method" if callable(attribute) else "field"
    return names


def _visible_name_kinds(frame: Any) -> Dict[str, str]:
    names = dict.fromkeys(keyword.kwlist, "keyword")
    names.update({name: _value_kind(value) for name, value in vars(builtins).items()})
    names.update({name: _value_kind(value) for name, value in frame.f_globals.items()})
    names.update({name: _value_kind(value) for name, value in read_locals(frame).items()})
    return names


def _value_kind(value: Any) -> str:
    if isinstance(value, type):
        return "class"
    if isinstance(value, type(sys)):
        return "module"
    return "function" if callable(value) else "variable"
