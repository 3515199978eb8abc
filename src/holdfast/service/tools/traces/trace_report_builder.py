"""Builds the report of one call: its statements in order, its loops folded."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Sequence

from msgspec import UNSET, UnsetType

from holdfast.core import trace_builder
from holdfast.model.trace import Change, FrameTrace, Iteration, LoopRun, Step
from holdfast.service.tools.tool_client import ToolClient
from holdfast.service.traces.shown_values import ShownValues
from holdfast.wire.plain_text import clean_line
from holdfast.wire.trace_reports import (
    TraceEntry,
    TraceException,
    TraceLoop,
    TraceReport,
    TraceRound,
    list_lines,
)

_FEW_ROUNDS = 8
"""Of a loop with no more rounds, all are shown."""
_MAX_UNUSUAL = 3
_MAX_WAYS = 4
_MAX_CALLERS = 4
_LIBRARIES = os.sep + "site-packages" + os.sep


class TraceReportBuilder:
    """Shows one call for one client."""

    def __init__(
        self,
        client: ToolClient,
        values: ShownValues,
        *,
        is_full: bool = False,
        roots: Sequence[str] = (),
    ) -> None:
        self._client = client
        self._values = values
        self._is_full = is_full
        self._roots = roots
        """Where the program's own code is."""

    def fill(self, report: TraceReport, frame: FrameTrace) -> None:
        """Say everything about a call."""
        report.function = clean_line(frame.function)
        report.at = self._client.show_place(frame.file, frame.first_line)
        report.call = frame.index
        report.args = self._values.show_traced(frame.args)
        report.called_from = self._list_callers(frame) or UNSET
        report.steps = self._build_entries(frame.items)
        report.source = self._list_source(frame, report.steps)
        if frame.outcome == "returned" and frame.result is not None:
            report.result = self._values.show("", frame.result.text)
        elif frame.outcome == "raised":
            report.exception = self._build_exception(frame)
        if frame.now:
            report.now = frame.now
            text = clean_line(frame.source.get(frame.now, "").strip())
            report.source.setdefault(str(frame.now), text)

    def _list_callers(self, frame: FrameTrace) -> list[str]:
        lines = []
        own = [one for one in frame.callers[1:] if self._is_own(one.file)]
        for caller in [*frame.callers[:1], *own][:_MAX_CALLERS]:
            shown = self._values.show_all(caller.args)
            given = ", ".join(f"{name}={value}" for name, value in shown.items())
            place = self._client.show_place(caller.file, caller.line)
            lines.append(f"{clean_line(caller.function)}({given}) at {place}")
        return lines

    def _is_own(self, file: str) -> bool:
        """Whether it is not a library's: how a test runner comes to a test tells nothing."""
        if not self._roots:
            return True
        inside = any(file.startswith(os.path.join(root, "")) for root in self._roots)
        return inside and _LIBRARIES not in file

    def _build_exception(self, frame: FrameTrace) -> TraceException:
        text = "" if frame.result is None else frame.result.text
        name = frame.exception_type or "Exception"
        return TraceException(
            type=name,
            message=self._values.show_words(_read_message(name, text)),
            line=_find_last_line(frame.items) or frame.exception_line or UNSET,
        )

    @staticmethod
    def _list_source(frame: FrameTrace, entries: Sequence[TraceEntry]) -> dict[str, str]:
        shown = sorted(list_lines(entries))
        return {str(n): clean_line(frame.source[n].strip()) for n in shown if n in frame.source}

    # -- statements -------------------------------------------------------------------------

    def _build_entries(self, items: Iterable[Step | LoopRun]) -> list[TraceEntry]:
        entries: list[TraceEntry] = []
        for item in items:
            if not isinstance(item, LoopRun):
                entries.append(self._build_step(item))
            elif self._is_full and item.rows is None:
                for one in item.kept:
                    entries += self._build_entries(one.steps)
            else:
                entries.append(TraceEntry(loop=self._build_loop(item)))
        return entries

    def _build_step(self, step: Step) -> TraceEntry:
        changed = [change for change in step.changes if change.how != "same"]
        calls = [self._values.show_call(call) for call in step.calls]
        if step.calls_left_out:
            calls.append(f"… {step.calls_left_out} more calls")
        return TraceEntry(
            line=step.line,
            changed={clean_line(c.name): self._show_change(c) for c in changed},
            how=self._list_words(step),
            calls=calls or UNSET,
            taken=UNSET if step.taken is None else step.taken,
            raised=UNSET if step.raised is None else self._values.show_words(step.raised),
            yielded=UNSET if step.yielded is None else self._values.show_words(step.yielded),
        )

    def _show_change(self, change: Change) -> str:
        if change.value is None:
            return "deleted"
        return self._values.show(change.name, change.value.text)

    def _list_words(self, step: Step) -> list[str] | UnsetType:
        """The changes in few words, if these say more than the new values."""
        changes = step.changes
        if step.raised is not None:  # what it was about to assign, it did not
            changes = [change for change in changes if change.how != "same"]
        words = list(dict.fromkeys(self._describe_change(change) for change in changes))
        plain = [f"{change.name} = {self._show_change(change)}" for change in changes]
        return UNSET if words == plain else words

    def _describe_change(self, change: Change) -> str:
        shown = self._show_change(change)
        if change.value is not None and shown != clean_line(change.value.text):
            return f"{change.name} = {shown}"  # a secret
        text = self._values.show_words(change.text)
        if change.how == "same" and not text.endswith("(as before)"):
            text += " (as before)"
        return f"{text} ({change.name} is {change.alias})" if change.alias else text

    # -- loops ------------------------------------------------------------------------------

    def _build_loop(self, loop: LoopRun) -> TraceLoop:
        first, others, last = choose_rounds(loop)
        return TraceLoop(
            line=loop.line,
            iterations=loop.iterations,
            first=UNSET if first is None else self._build_round(first),
            unusual=[self._build_round(one) for one in others] or UNSET,
            last=UNSET if last is None else self._build_round(last),
            values=self._describe_values(loop) or UNSET,
            paths=_describe_paths(loop) or UNSET,
            forgotten=loop.forgotten or UNSET,
        )

    def _build_round(self, one: Iteration) -> TraceRound:
        return TraceRound(
            number=one.number,
            changed=self._values.show_all(one.values),
            steps=self._build_entries(one.steps) or UNSET,
            remark=one.remark or UNSET,
        )

    def _describe_values(self, loop: LoopRun) -> dict[str, str]:
        """Each variable that the loop changed, from before it to after it."""
        described = {}
        changed = {name for one in loop.kept for name in one.values}
        changed |= set() if loop.rows is None else set(loop.rows.columns)
        for name, after in loop.after.items():
            before, shown = loop.before.get(name), self._values.show(name, after)
            span = trace_builder.find_span(loop, name)
            if name not in changed or (before == after and span is None):
                continue
            if before is None:
                described[clean_line(name)] = f"-> {shown}"
            else:
                described[clean_line(name)] = f"{self._values.show(name, before)} -> {shown}"
            if span is not None and shown == clean_line(after):
                described[clean_line(name)] += f" ({span[0]}..{span[1]})"
        return described


def choose_rounds(
    loop: LoopRun,
) -> tuple[Iteration | None, Sequence[Iteration], Iteration | None]:
    """The first round, others that are worth a line, and the last."""
    kept = {one.number: one for one in trace_builder.list_rows(loop)}
    kept |= {one.number: one for one in loop.kept}
    if not kept:
        return None, (), None
    first, last = kept[min(kept)], kept[max(kept)]
    if loop.iterations <= _FEW_ROUNDS:
        others: Sequence[Iteration] = [kept[number] for number in sorted(kept)][1:-1]
    else:
        unusual = trace_builder.find_unusual(loop)
        others = [one for one in unusual if one.number not in (first.number, last.number)]
        if remarked := [one for one in unusual if one.number == last.number]:
            last = remarked[0] if not last.remark else last
        others = sorted(others[:_MAX_UNUSUAL], key=lambda one: one.number)
    return first, others, None if last is first else last


def _describe_paths(loop: LoopRun) -> list[str]:
    """Which branches the rounds took, if not all took the same."""
    if len(loop.paths) < 2:
        return []
    ranked = sorted(loop.paths, key=lambda path: -path[1])[:_MAX_WAYS]
    return [f"{'+'.join(map(str, lines)) or 'none'} x{times}" for lines, times, _first in ranked]


def _read_message(name: str, text: str) -> str:
    """The message in the text of an exception: of `ValueError('no')`, `no`."""
    begin = name.rpartition(".")[2] + "("
    if not (text.startswith(begin) and text.endswith(")")):
        return text
    inside = text[len(begin) : -1]
    try:
        value = ast.literal_eval(inside)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return inside  # several arguments, or one that was cut
    return value if isinstance(value, str) and name != "KeyError" else inside


def _find_last_line(items: Sequence[Step | LoopRun]) -> int | UnsetType:
    """The line of the last statement that ran, if that was kept."""
    for item in reversed(items):
        if not isinstance(item, LoopRun):
            return item.line
        if item.rows is not None:
            return UNSET
        for one in reversed(item.kept):
            line = _find_last_line(one.steps)
            if line is not UNSET:
                return line
        return item.line
    return UNSET
