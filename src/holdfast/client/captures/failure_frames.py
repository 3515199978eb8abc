"""The frames of a failing test that its author wants to see."""

from __future__ import annotations

import itertools
import os
import sysconfig
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from holdfast.probe.exception_facts import read_traceback


class Entry(NamedTuple):
    """A frame of a traceback and the line that it was at."""

    frame: Any
    line: int
    trace: Any
    """The entry of the traceback itself."""


def list_entries(node: Any, excinfo: Any) -> list[Entry]:
    """The frames that pytest would show, outermost first; all if it would show none."""
    shown = set()
    try:
        cut: Callable[[Any], Iterable[Any]] | None = getattr(node, "_traceback_filter", None)
        traceback = cut(excinfo) if cut is not None else excinfo.traceback.filter(excinfo)
        shown = {id(entry.frame.raw) for entry in traceback}
    except Exception:  # a plugin's own kind of test may raise anything here
        pass
    entries = list(iter_trace(excinfo.value))
    chosen = [
        entry
        for entry in entries
        if (id(entry.frame) in shown if shown else True) and not is_machinery(entry.frame)
    ]
    return chosen or entries


def list_import_entries(error: BaseException) -> list[Entry]:
    """Of what an import raised: the frames from the imported file on, outermost first."""
    entries = (entry for entry in iter_trace(error) if not is_machinery(entry.frame))
    return list(
        itertools.dropwhile(lambda entry: not _is_own(entry.frame.f_code.co_filename), entries)
    )


def iter_trace(error: BaseException) -> Iterator[Entry]:
    trace = read_traceback(error)
    while trace is not None:
        yield Entry(trace.tb_frame, trace.tb_lineno or trace.tb_frame.f_lineno, trace)
        trace = trace.tb_next


def is_machinery(frame: Any) -> bool:
    """Whether it is of what runs the tests, or hides itself from tracebacks."""
    names = frame.f_globals
    top = str(names.get("__name__", "")).partition(".")[0]
    if top in ("_pytest", "pluggy", "pytest", "xdist") or "__unittest" in names:
        return True
    return frame.f_locals.get("__tracebackhide__") is True


def count_own(entries: list[Entry]) -> int:
    """How many frames there are up to the innermost one of the user's own code."""
    for count in range(len(entries), 0, -1):
        if _is_own(entries[count - 1].frame.f_code.co_filename):
            return count
    return 0


def _is_own(file: str) -> bool:
    if file.startswith("<"):
        return False
    folders = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    return not any(file.startswith(folder + os.sep) for folder in folders if folder)


def find_called(error: BaseException, frame: Any) -> Any:
    """The frame that this one had called when the exception was raised; None if none."""
    following = itertools.dropwhile(lambda entry: entry.frame is not frame, iter_trace(error))
    next(following, None)
    called = next(following, None)
    return None if called is None else called.frame
