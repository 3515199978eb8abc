"""A frame trace as plain text: each statement with what it did beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import UNSET

from holdfast.wire.answer_text import render_omitted

if TYPE_CHECKING:
    from holdfast.wire.trace_reports import TraceEntry, TraceLoop, TraceReport, TraceRound

_INDENT = "  "
_MAX_ROUND_LINES = 6
"""A longer round is told in one line."""
_SIGN = "  # "

Source = Mapping[str, str]


def render(report: TraceReport) -> Iterator[str]:
    yield _render_head(report)
    for caller in report.called_from or ():
        yield f"called from {caller}"
    yield from _render_entries(report.steps or (), report.source or {}, "")
    yield from _render_end(report)
    yield from report.tree or ()
    yield from report.found or ()
    if report.recorded:
        yield f"recorded: {'; '.join(report.recorded)}"
    if report.output is not UNSET:
        yield f"output: {report.output}"
    for remark in report.remarks or ():
        yield f"note: {remark}"
    yield from render_omitted(report.omitted)
    if report.next is not UNSET:
        yield f"next: {report.next}"


def _render_head(report: TraceReport) -> str:
    parts = []
    if report.function is not UNSET:
        given = ", ".join(f"{name}={value}" for name, value in (report.args or {}).items())
        parts.append(f"{report.function}({given})")
        if report.call is not UNSET:
            parts.append(f"call {report.call}")
    if report.at is not UNSET:
        parts.append(report.at)
    code = f", exit code {report.exit_code}" if isinstance(report.exit_code, int) else ""
    parts += [report.status + code, report.trace_id]
    if report.session_id is not UNSET:
        parts.append(report.session_id)
    return " · ".join(parts)


def _render_end(report: TraceReport) -> Iterator[str]:
    if report.result is not UNSET:
        yield f"returned {report.result}"
    if report.exception is not UNSET:
        error = report.exception
        where = f" at line {error.line}" if error.line is not UNSET else ""
        said = f": {error.message}" if error.message else ""
        yield f"raised {error.type}{said}{where}"
    if report.now is not UNSET:
        text = (report.source or {}).get(str(report.now), "")
        yield f"{report.now} {text}  # has not ended"


# -- statements and loops --------------------------------------------------------------------------


def _render_entries(entries: Sequence[TraceEntry], source: Source, pad: str) -> Iterator[str]:
    for entry in entries:
        if entry.loop is not UNSET:
            yield from _render_loop(entry.loop, source, pad)
        elif entry.line is UNSET:
            yield f"{pad}… {entry.skipped} more"
        else:
            yield pad + _render_step(entry, source)


def _render_step(entry: TraceEntry, source: Source) -> str:
    text = source.get(str(entry.line), "")
    facts = _list_facts(entry, text)
    return f"{entry.line} {text}".rstrip() + (_SIGN + "; ".join(facts) if facts else "")


def _list_facts(entry: TraceEntry, text: str) -> list[str]:
    facts = []
    if entry.taken is not UNSET:
        facts.append("yes" if entry.taken else "no")
    facts += [words for words in _list_changes(entry) if words != text]
    facts += list(entry.calls or ())
    if entry.yielded is not UNSET:
        facts.append(f"yields {entry.yielded}")
    if entry.raised is not UNSET:
        facts.append(f"raised {entry.raised}")
    return facts


def _list_changes(entry: TraceEntry) -> list[str]:
    if entry.how is not UNSET:
        return entry.how
    return [f"{name} = {value}" for name, value in (entry.changed or {}).items()]


def _render_loop(loop: TraceLoop, source: Source, pad: str) -> Iterator[str]:
    yield pad + _render_loop_head(loop, source)
    inner = pad + _INDENT
    if loop.first is not UNSET:
        yield from _render_round(loop.first, source, inner, is_first=True)
    for one in loop.unusual or ():
        yield from _render_round(one, source, inner)
    if loop.last is not UNSET:
        yield from _render_round(loop.last, source, inner)


def _render_loop_head(loop: TraceLoop, source: Source) -> str:
    count = loop.iterations
    facts = [f"{count} round" + ("" if count == 1 else "s")]
    facts += [f"{name} {value}" for name, value in (loop.values or {}).items()]
    if loop.paths:
        facts.append("branches " + ", ".join(loop.paths))
    if loop.forgotten is not UNSET:
        facts.append(f"{loop.forgotten} rounds not kept")
    return f"{loop.line} {source.get(str(loop.line), 'loop')}{_SIGN}" + "; ".join(facts)


def _render_round(
    one: TraceRound, source: Source, pad: str, is_first: bool = False
) -> Iterator[str]:
    remark = f" {one.remark}" if one.remark is not UNSET else ""
    if is_first and one.steps is not UNSET:
        lines = list(_render_entries(one.steps, source, pad + _INDENT))
        if len(lines) <= _MAX_ROUND_LINES:
            yield f"{pad}#{one.number}{remark}"
            yield from lines
            return
    yield f"{pad}#{one.number}{remark}: {_summarize_round(one)}"


def _summarize_round(one: TraceRound) -> str:
    if one.steps is UNSET:
        return ", ".join(f"{name} = {value}" for name, value in one.changed.items()) or "…"
    return "; ".join(filter(None, map(_summarize_entry, one.steps))) or "no change"


def _summarize_entry(entry: TraceEntry) -> str:
    if entry.loop is not UNSET:
        return f"{entry.loop.line} loop of {entry.loop.iterations}"
    if entry.line is UNSET:
        return f"… {entry.skipped} more"
    facts = [fact for fact in _list_facts(entry, "") if fact not in ("yes", "no")]
    return f"{entry.line} {', '.join(facts)}" if facts else ""
