"""Makes a report smaller, step by step: values, then shapes, then names, then counts.

First long texts are cut, all of them to the same size, so that the longest give most; a value that
would be cut very short becomes its shape. Then lists are cut, and variables without room are named,
at last counted. What is left out is said, with the call that shows it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar, overload

import msgspec
from msgspec import UNSET, UnsetType

from holdfast.wire.plain_text import cut, cut_start, cut_value, fits, show_count

if TYPE_CHECKING:
    from holdfast.wire.report_answers import Report, ReportedException, ReportedFrame

T = TypeVar("T")

_MAX_VALUE = 80_000
_MIN_VALUE = 40
_SHAPE_SIZE = 100
"""Below this size a value is better told by its shape than by its beginning."""
_MAX_LONG = 100
_MAX_ENTRIES = 300
_FEW_ENTRIES = 20
"""With fewer entries the rest is short, too."""
_OUTPUT_SHARE = 6
_MIN_PLACE = 60
_MIN_MESSAGE = 120
_MIN_NEXT = 60


@dataclass(frozen=True)
class Limits:
    """How much of a report is kept."""

    value: int = _MIN_VALUE
    """Bytes of each text."""
    long: int = 0
    """How many values may be so long; the others are told by their shapes."""
    entries: int = _MAX_ENTRIES
    """Entries of each list, and variables."""
    names: int = 12
    """How many of the variables without room are named."""

    @property
    def output(self) -> int:
        return self.value * (_OUTPUT_SHARE if self.entries > 10 else 2)

    @property
    def source(self) -> int:
        """How many lines before and after the current one."""
        if self.entries < 4:
            return -1
        return 3 if self.value >= _SHAPE_SIZE else 0

    @property
    def is_tight(self) -> bool:
        return self.entries < _FEW_ENTRIES


def list_limits() -> Iterator[Limits]:
    """From much to little; each keeps about four fifths of the one before."""
    for value in _shrink(_MAX_VALUE, _SHAPE_SIZE):
        yield Limits(value, _MAX_ENTRIES)
    for long in _shrink(_MAX_LONG, 0):
        yield Limits(_SHAPE_SIZE, long)
    for entries in _shrink(_MAX_ENTRIES, 0):
        yield Limits(_MIN_VALUE, 0, entries)
    yield Limits(_MIN_VALUE, 0, 0)
    yield Limits(30, 0, 0, names=0)


def _shrink(start: int, end: int) -> Iterator[int]:
    while start > end:
        yield start
        start = start * 4 // 5


_LIMITS = tuple(list_limits())


class Reductions(Sequence["Report"]):
    """A report, smaller each time. Each is made when it is asked for."""

    def __init__(self, report: Report) -> None:
        self._report = report

    def __len__(self) -> int:
        return len(_LIMITS) + 1

    @overload
    def __getitem__(self, index: int) -> Report: ...
    @overload
    def __getitem__(self, index: slice) -> list[Report]: ...
    def __getitem__(self, index: int | slice) -> Report | list[Report]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if index < len(_LIMITS):
            return _Reduction(self._report, _LIMITS[index]).reduce()
        return _reduce_to_minimum(self._report)


def _reduce_to_minimum(report: Report) -> Report:
    """Status, session and place: what is always said."""
    smallest = type(report)(
        status=cut(report.status, 40),
        session_id=cut(report.session_id, 60),
        exit_code=report.exit_code,
        omitted=[f"all else: {_name_inspected(_SHOW_MORE, report.inspected)}"],
    )
    if report.at is not UNSET:
        smallest.at = cut_start(report.at, _MIN_PLACE)
    return smallest


@dataclass
class _Reduction:
    """One pass over a report."""

    report: Report
    limits: Limits
    _omitted: dict[str, list[str]] = field(default_factory=dict)
    """What is left out, by the call that shows it."""
    _long: int = 0
    """How many values were left long."""

    def reduce(self) -> Report:
        whole = self.report
        report = msgspec.structs.replace(whole)
        report.reason = self._cut(whole.reason)
        report.at = UNSET if whole.at is UNSET else cut_start(whole.at, self._place_size)
        report.function = self._cut(whole.function)
        report.message = self._cut(whole.message, _MIN_MESSAGE if self.limits.names else 0)
        report.error = self._cut(whole.error)
        report.environment = self._cut(whole.environment)
        report.prompt = self._cut(whole.prompt)
        if whole.next is not UNSET and not fits(whole.next, max(_MIN_NEXT, self.limits.value)):
            report.next = UNSET  # half a call helps nobody
        self._reduce_variables(report)
        self._reduce_exception(report)
        self._reduce_source(report)
        self._reduce_lists(report)
        self._reduce_output(report)
        report.omitted = self._list_omitted() or UNSET
        return report

    @property
    def _place_size(self) -> int:
        return max(_MIN_PLACE, self.limits.value)

    def _omit(self, what: str, call: str) -> None:
        call = _name_inspected(call, self.report.inspected)
        self._omitted.setdefault(call, []).append(what)

    def _cut(self, text: str | UnsetType, minimum: int = 0) -> str | UnsetType:
        return UNSET if text is UNSET else cut(text, max(minimum, self.limits.value))

    # -- values -----------------------------------------------------------------------------

    def _shorten(self, value: str) -> str:
        """A value within its size: its beginning, or its shape where that says more."""
        limits = self.limits
        if fits(value, _MIN_VALUE):
            return value
        shape = self.report.shapes.get(value)
        if self._long < limits.long:
            self._long += 1
            return cut_value(value, shape, limits.value)
        return cut(value if shape is None else shape, min(limits.value, _MIN_VALUE))

    def _shorten_all(
        self, values: Mapping[str, str] | UnsetType, expands: bool = True
    ) -> dict[str, str] | UnsetType:
        """The first values, each within its size."""
        if values is UNSET:
            return UNSET
        kept = dict(list(values.items())[: self.limits.entries])
        short = {name: self._shorten(value) for name, value in kept.items()}
        cut_names = [name for name, value in short.items() if value != kept[name]]
        if cut_names and expands:
            is_tight = self.limits.is_tight
            named = show_count(len(cut_names), "value") if is_tight else self._name(cut_names)
            self._omit(f"{named} shortened", _expand(cut_names[0], next(iter(values))))
        return self._cut_names(short) or UNSET

    def _cut_names(self, values: Mapping[str, str]) -> dict[str, str]:
        """The values under names within their size; two that become alike stay two."""
        named: dict[str, str] = {}
        for name, value in values.items():
            short = cut(name, max(30, self.limits.value))
            while short in named:
                short += "'"
            named[short] = value
        return named

    def _name(self, names: Sequence[str]) -> str:
        """The first of these names, and how many more there are."""
        room = self.limits.names
        named = ", ".join(cut(name, 30) for name in names[:room])
        return named if len(names) <= room else f"{named} and {len(names) - room} more"

    def _reduce_variables(self, report: Report) -> None:
        whole = self.report
        left = list(whole.locals or ())[self.limits.entries :]
        if left:
            named = f"variables {self._name(left)}" if self.limits.names else ""
            self._omit(named or show_count(len(left), "variable"), 'debug_inspect(show=["locals"])')
        report.locals = self._shorten_all(whole.locals)
        report.was = UNSET
        if whole.was is not UNSET and report.locals is not UNSET:
            kept = dict(zip(whole.locals or (), report.locals, strict=False))
            report.was = {
                kept[name]: self._shorten(value)
                for name, value in whole.was.items()
                if name in kept
            } or UNSET
        report.returned = self._shorten_all(whole.returned, expands=False)
        self._take(list(whole.returned or ()), self.limits.entries, "returned value", _SHOW_MORE)
        report.values = self._shorten_all(whole.values)
        expressions = list(whole.values or ())
        self._take(expressions, self.limits.entries, "expression", "debug_inspect(expressions=[…])")
        report.gone = self._keep(whole.gone, "gone name", "")

    # -- exceptions -------------------------------------------------------------------------

    def _reduce_exception(self, report: Report) -> None:
        whole = self.report.exception
        if whole is UNSET:
            return
        exception: ReportedException = msgspec.structs.replace(
            whole,
            type=cut(whole.type, max(60, self.limits.value // 2)),
            message=cut(whole.message, max(80, self.limits.value)),
        )
        if whole.causes is not UNSET:
            causes = self._take(whole.causes, self.limits.entries, "cause", "debug_inspect()")
            exception.causes = [
                msgspec.structs.replace(
                    cause,
                    type=cut(cause.type, self.limits.value),
                    message=cut(cause.message, self.limits.value),
                    at=UNSET if cause.at is UNSET else cut_start(cause.at, self._place_size),
                    text=self._cut(cause.text),
                    locals=self._shorten_all(cause.locals, expands=False),
                )
                for cause in causes
            ] or UNSET
        if whole.frames is not UNSET:
            count = self.limits.entries // 4 if self.limits.is_tight else self.limits.entries
            frames = self._take(whole.frames, count, "frame", _SHOW_STACK)
            exception.frames = [self._reduce_frame(frame) for frame in frames] or UNSET
        report.exception = exception

    def _reduce_frame(self, frame: ReportedFrame) -> ReportedFrame:
        return msgspec.structs.replace(
            frame,
            at=cut_start(frame.at, self._place_size),
            function=cut(frame.function, self._place_size),
            text=self._cut(frame.text),
            locals=self._shorten_all(frame.locals, expands=False),
        )

    # -- lists ------------------------------------------------------------------------------

    def _take(self, items: Sequence[T], count: int, noun: str, call: str) -> list[T]:
        kept = list(items[:count])
        if len(kept) < len(items):
            self._omit(show_count(len(items) - len(kept), noun), call)
        return kept

    def _keep(
        self, texts: Sequence[str] | UnsetType, noun: str, call: str
    ) -> list[str] | UnsetType:
        """The first of these texts, each within its size."""
        if texts is UNSET:
            return UNSET
        kept = self._take(texts, self.limits.entries, noun, call)
        return [cut(text, self._place_size) for text in kept] or UNSET

    def _reduce_lists(self, report: Report) -> None:
        whole, limits = self.report, self.limits
        report.stack = self._keep(whole.stack, "caller", _SHOW_STACK)
        report.threads = self._keep(whole.threads, "thread", 'debug_inspect(show=["threads"])')
        report.breakpoints = self._keep(
            whole.breakpoints, "breakpoint", 'debug_inspect(show=["breakpoints"])'
        )
        report.never_hit = self._keep(whole.never_hit, "breakpoint never hit", "")
        report.problems = self._keep(whole.problems, "problem", "")
        if whole.steps is not UNSET:
            steps = self._take(whole.steps[::-1], limits.entries, "earlier step", "")
            report.steps = [cut(step, self._place_size) for step in steps[::-1]] or UNSET
        report.columns = self._keep(whole.columns, "column", "")
        if whole.rows is not UNSET:
            report.rows = self._reduce_rows(whole.rows) or UNSET

    def _reduce_rows(self, rows: list[list[str]]) -> list[list[str]]:
        """The first rows and the last."""
        limits = self.limits
        cells = max(len(row) for row in rows) if rows else 0
        room = limits.entries if limits.long else limits.entries // max(1, cells // 2)
        left = len(rows) - room
        if left > 0:
            head, tail = (room + 1) // 2, room // 2
            rows = rows[:head] + ([[f"… {show_count(left, 'row')}"]] if room else [])
            rows += self.report.rows[len(self.report.rows) - tail :] if tail else []  # type: ignore[index, arg-type]
            self._omit(show_count(left, "row"), _SHOW_ALL)
        return [[self._shorten(cell) for cell in row] for row in rows]

    def _reduce_source(self, report: Report) -> None:
        whole = self.report.source
        if whole is UNSET or self.limits.source >= 3:
            report.source = UNSET if whole is UNSET else [cut(line, 200) for line in whole]
            return
        lines = [line for line in whole if line.startswith(">")]
        if self.limits.source < 0 or not lines:
            report.source = UNSET
            self._omit("source", 'debug_inspect(show=["source"])')
            return
        report.source = [cut(line, max(80, self.limits.value)) for line in lines]
        if len(lines) < len(whole):
            self._omit("lines around", 'debug_inspect(show=["source"])')

    def _reduce_output(self, report: Report) -> None:
        whole = self.report.output
        if whole is UNSET:
            return
        report.output = cut_start(whole, self.limits.output)
        if report.output != whole:
            left = len(whole) - len(report.output)
            self._omit(f"{show_count(left, 'character')} of output", _SHOW_OUTPUT)

    # -- what is left out -------------------------------------------------------------------

    def _list_omitted(self) -> list[str]:
        said = tuple(f"{what}: {call}" for call in self._omitted for what in _SAID_AGAIN)
        before = [note for note in self.report.omitted or () if not note.endswith(said)]
        if not self.limits.is_tight:
            notes = [_join_note(what, call) for call, what in self._omitted.items()]
            return [cut(note, 300) for note in (*before, *notes)]
        parts = [part for what in self._omitted.values() for part in what]
        parts += [show_count(len(before), "note")] if before else []
        if not parts:
            return []
        named = cut(", ".join(parts), 60 + 4 * self.limits.entries)
        if self.report.values:  # which only the one who asked can ask for again
            return [f"{named}: {_ASK_AGAIN}"]
        more = _SHOW_ALL if self.report.rows else _SHOW_MORE
        return [f"{named}: {_name_inspected(more, self.report.inspected)}"]


_MAX_EXPANDED = 80
_SAID_AGAIN = ("shortened", "the rest")
_ASK_AGAIN = "the same with a larger budget_tokens"
_INSPECT = "debug_inspect("
_SHOW_OUTPUT = 'debug_inspect(show=["output"])'
_SHOW_STACK = 'debug_inspect(show=["stack"])'
_SHOW_MORE = "debug_inspect(budget_tokens=2000)"
_SHOW_ALL = "debug_inspect(budget_tokens=20000)"


def _expand(name: str, first: str) -> str:
    """The call that unfolds a value. A part of the one that was unfolded is named after that."""
    name = first + name if name.startswith((".", "[")) and name != first else name
    if not fits(name, _MAX_EXPANDED):
        return _ASK_AGAIN
    return f"debug_inspect(expand={json.dumps(name, ensure_ascii=False)})"


def _name_inspected(text: str, inspected: str) -> str:
    """A call that shows more, of the frame or the capture that a report is about."""
    if not inspected:
        return text
    return text.replace(_INSPECT, f"{_INSPECT}{inspected}, ").replace(", )", ")")


def name_inspected(report: Report) -> None:
    """Let the calls that a report names show more of what it is about, in place."""
    if report.inspected and report.omitted is not UNSET:
        report.omitted = [_name_inspected(note, report.inspected) for note in report.omitted]


def _join_note(what: Sequence[str], call: str) -> str:
    return f"{', '.join(what)}: {call}" if call else ", ".join(what)
