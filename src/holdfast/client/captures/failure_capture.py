"""Describes a failing test while its frames are there: where, with which values, and why."""

from __future__ import annotations

import itertools
import linecache
import os
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from holdfast.client.captures import assertion_operands
from holdfast.client.captures.captured_values import ValueRenderer
from holdfast.client.captures.failure_frames import (
    Entry,
    count_own,
    find_called,
    is_machinery,
    iter_trace,
    list_entries,
    list_import_entries,
)
from holdfast.probe import introspection
from holdfast.probe.exception_facts import iter_related, read_message, read_notes
from holdfast.probe.frames import read_locals
from holdfast.recording.capture_files import (
    Capture,
    CapturedAssertion,
    CapturedException,
    CapturedFrame,
)

_MAX_FRAMES = 20
_MAX_CAUSE_FRAMES = 5
_MAX_INNER = 5
_MAX_CAUSES = 8
_MAX_LOCALS = 50
_MAX_OUTPUT = 4000
_MAX_SECTIONS = 8
_LINES_BEFORE, _LINES_AFTER = 4, 2
_MAX_LINE = 300
_DEPTH = 2  # of the parts of variables where it failed; those of other frames have one level


def build_capture(node: Any, call: Any, report: Any, worker: str | None) -> Capture:
    """The capture of a failing test. `node`, `call` and `report` are those of pytest's hook."""
    error, entries = _find_failure(node, call.excinfo)
    renderer = ValueRenderer()
    own = count_own(entries)
    capture: Capture = {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "node": _find_node_id(node),
        "when": getattr(report, "when", None) or "collect",
        "duration": round(getattr(call, "duration", 0.0), 4),
        "worker": worker,
        "attempt": getattr(node, "execution_count", None) or 1,  # of pytest-rerunfailures
        "root": str(node.config.rootpath),
        "python": sys.executable,
        "version": ".".join(map(str, sys.version_info[:3])),
        "exception": _describe_exception(error, entries, renderer, _MAX_FRAMES),
        "causes": list(_iter_causes(error, renderer)),
        "output": _read_output(report),
    }
    if own:
        called = find_called(error, entries[own - 1].frame)
        assertion = _describe_assertion(entries[own - 1], called, node.config, renderer, error)
        if assertion is not None:
            capture["assertion"] = assertion
    subtest = _describe_subtest(report)
    if subtest:
        capture["subtest"] = subtest
    return capture


# -- the test -------------------------------------------------------------------------------------


def _find_failure(node: Any, excinfo: Any) -> tuple[BaseException, list[Entry]]:
    """What failed, and its frames. Of a file that cannot be collected: what its import raised."""
    error: BaseException = excinfo.value
    if isinstance(error, pytest.Collector.CollectError) and error.__cause__ is not None:
        return error.__cause__, list_import_entries(error.__cause__)
    return error, list_entries(node, excinfo)


def _find_node_id(node: Any) -> str:
    """pytest-xdist adds the group to it, by which it distributes tests."""
    node_id: str = node.nodeid
    if node.config.getoption("dist", None) == "loadgroup" and "@" in node_id:
        return node_id.rpartition("@")[0]
    return node_id


def _describe_subtest(report: Any) -> str:
    """`msg, i=3`, of a test with subtests."""
    context = getattr(report, "context", None)
    if context is None:
        return ""
    values = getattr(context, "kwargs", None) or {}
    parts = [str(context.msg)] if getattr(context, "msg", None) else []
    parts += [f"{name}={value!r}" for name, value in dict(values).items()]
    return ", ".join(parts)[:200]


def _read_output(report: Any) -> list[tuple[str, str]]:
    sections = getattr(report, "sections", [])[-_MAX_SECTIONS:]
    clean = introspection.escape_surrogates
    return [(clean(str(title)), clean(str(text)[-_MAX_OUTPUT:])) for title, text in sections]


# -- exceptions -----------------------------------------------------------------------------------


def _describe_exception(
    error: BaseException, entries: list[Entry], renderer: ValueRenderer, max_frames: int
) -> CapturedException:
    own = count_own(entries)
    outer = entries[:own] if own else entries
    inner = entries[own:] if own else []
    module = introspection.find_in_mro(type(error), "__module__")[1]
    described: CapturedException = {
        "type": introspection.type_name(type(error)),
        "module": module if type(module) is str else "builtins",
        "message": read_message(error, renderer.budget),
        "frames": _describe_frames(outer, renderer, max_frames),
        "inner": _describe_frames(inner, renderer, _MAX_INNER, depth=0),
        "frames_total": len(entries),
    }
    notes = read_notes(error)
    if notes:
        described["notes"] = notes
    return described


def _iter_causes(error: BaseException, renderer: ValueRenderer) -> Iterator[CapturedException]:
    """What led to it, nearest first; an exception that leads to itself comes once."""
    seen, waiting = {id(error)}, [error]
    count = 0
    while waiting:
        for relation, other in iter_related(waiting.pop(0)):
            if id(other) in seen or count == _MAX_CAUSES:
                continue
            seen.add(id(other))
            waiting.append(other)
            count += 1
            entries = [entry for entry in iter_trace(other) if not is_machinery(entry.frame)]
            cause = _describe_exception(other, entries, renderer, _MAX_CAUSE_FRAMES)
            cause["relation"] = relation
            yield cause


# -- frames ---------------------------------------------------------------------------------------


def _describe_frames(
    entries: list[Entry], renderer: ValueRenderer, max_frames: int, depth: int = 1
) -> list[CapturedFrame]:
    """Innermost first. Of very many, the outermost go."""
    frames = []
    for at, entry in enumerate(reversed(entries[-max_frames:])):
        is_first = at == 0 and depth > 0
        frames.append(_describe_frame(entry, renderer, _DEPTH if is_first else depth))
    return frames


def _describe_frame(entry: Entry, renderer: ValueRenderer, depth: int) -> CapturedFrame:
    frame, code = entry.frame, entry.frame.f_code
    # pytest keeps parts of assertions in names that begin with "@".
    names = {name: value for name, value in read_locals(frame).items() if name[:1] != "@"}
    names.pop("__tracebackhide__", None)
    return {
        "file": os.path.abspath(code.co_filename) if code.co_filename[:1] != "<" else "<code>",
        "line": entry.line,
        "function": getattr(code, "co_qualname", code.co_name).replace("<locals>.", ""),
        "source": _read_source(frame, entry.line),
        "locals": [
            renderer.render(name, value, depth)
            for name, value in itertools.islice(names.items(), _MAX_LOCALS)
        ],
        "locals_total": len(names),
    }


def _read_source(frame: Any, line: int) -> list[tuple[int, str]]:
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)
    first = max(1, line - _LINES_BEFORE, frame.f_code.co_firstlineno)
    around = lines[first - 1 : line + _LINES_AFTER]
    shown = [(number, text.rstrip()[:_MAX_LINE]) for number, text in enumerate(around, first)]
    while shown and not shown[-1][1]:
        shown.pop()
    return shown


# -- the assertion --------------------------------------------------------------------------------


def _describe_assertion(
    entry: Entry, called: Any, config: Any, renderer: ValueRenderer, error: BaseException
) -> CapturedAssertion | None:
    if not isinstance(error, AssertionError):
        return None
    details = assertion_operands.find_details(entry.frame, entry.line, called, config)
    if details is None:
        return None
    return {
        "source": details.source,
        "operands": [renderer.render(text, value, _DEPTH) for text, value in details.operands],
        "is_comparison": details.is_comparison,
    }
