"""A report on a terminal: source with its colours, changed variables marked, tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import UNSET
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from holdfast.wire.report_answers import Report, ReportedCause, ReportedException, ReportedFrame
from holdfast.wire.report_text import RELATIONS

_SOURCE_LINE = re.compile(r"(?P<mark>[> ])\s*(?P<number>\d+)(?: {1,2}(?P<code>.*))?$", re.DOTALL)
_THEME = "ansi_dark"
STATUS_STYLES = {
    "paused": "bold yellow",
    "running": "bold blue",
    "waiting_for_input": "bold magenta",
    "terminated": "bold green",
    "failed": "bold red",
}


def print_coloured(report: Report, console: Console | None = None) -> None:
    """Print a report whose texts are harmless already."""
    console = console or Console(highlight=False, markup=False, emoji=False)
    for part in _PARTS:
        for line in part(report):
            console.print(line)


def _render_head(report: Report) -> Iterator[RenderableType]:
    style = STATUS_STYLES.get(report.status, "bold")
    if report.exit_code or report.exception is not UNSET:
        style = "bold red"
    head = Text().append(report.status, style)
    if report.at is not UNSET:
        head.append(" at ", "dim").append(report.at, "bold cyan")
    if report.function is not UNSET:
        head.append(" in ", "dim").append(report.function, "cyan")
    if report.reason is not UNSET:
        head.append(f" ({report.reason})")
    if report.exit_code is not UNSET:
        head.append(f", exit code {'unknown' if report.exit_code is None else report.exit_code}")
    yield head.append(f" · {report.session_id}", "dim")
    if report.environment is not UNSET:
        yield Text(report.environment, "dim")
    if report.message is not UNSET:
        yield Text(report.message)
    if report.error is not UNSET:
        yield Text().append("error: ", "bold red").append(report.error, "red")


def _render_exception(report: Report) -> Iterator[RenderableType]:
    exception = report.exception
    if exception is UNSET:
        return
    yield Text().append(exception.type, "bold red").append(_add_message(exception.message), "red")
    for cause in exception.causes or ():
        line = Text().append(f"  {RELATIONS.get(cause.relation, cause.relation)} ", "dim")
        line.append(cause.type, "red").append(_add_message(cause.message))
        yield line.append(f" at {cause.at}", "cyan") if cause.at is not UNSET else line
        yield from _render_line_and_locals(cause)


def _add_message(message: str) -> str:
    return f": {message}" if message else ""


def _render_source(report: Report) -> Iterator[RenderableType]:
    if not report.source:
        return
    parsed = [_SOURCE_LINE.match(line) for line in report.source]
    numbers = Table.grid(padding=(0, 1))
    codes = [(match["code"] or "") if match else line for match, line in _pair(parsed, report)]
    coloured = _colour("\n".join(codes))
    for (match, _), code in zip(_pair(parsed, report), coloured, strict=False):
        is_current = bool(match and match["mark"] == ">")
        mark = Text("▶" if is_current else " ", "bold yellow")
        number = Text(match["number"] if match else "", "bold yellow" if is_current else "dim")
        number.justify = "right"
        if is_current:
            code.stylize("bold")
        numbers.add_row(mark, number, code)
    yield numbers


def _pair(
    parsed: list[re.Match[str] | None], report: Report
) -> Iterator[tuple[re.Match[str] | None, str]]:
    return zip(parsed, report.source or (), strict=True)


def _colour(code: str) -> list[Text]:
    """The lines of Python code, coloured."""
    syntax = Syntax("", "python", theme=_THEME, background_color="default")
    lines = list(syntax.highlight(code).split("\n", allow_blank=True))
    count = code.count("\n") + 1
    return lines[:count] + [Text() for _ in range(count - len(lines))]


def _render_variables(report: Report) -> Iterator[RenderableType]:
    if report.locals:
        yield _tabulate(report.locals, report.was or {})
    notes = [f"gone: {', '.join(report.gone)}"] if report.gone else []
    if report.unchanged is not UNSET:
        notes.append(f"… {report.unchanged} unchanged")
    if notes:
        yield Text("  " + "; ".join(notes), "dim")
    for name, value in (report.returned or {}).items():
        yield Text().append(f"  {name}", "cyan").append(" returned ", "dim").append(value, "bold")
    if report.values:
        yield _tabulate(report.values, {})


def _tabulate(values: Mapping[str, str], was: Mapping[str, str], indent: int = 2) -> RenderableType:
    table = Table.grid(padding=(0, 1))
    table.add_column(style="cyan", no_wrap=True, max_width=40)
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    for name, value in values.items():
        shown = Text().append(value, "bold yellow" if name in was else "")
        if name in was:
            shown.append(f"  (was {was[name]})", "dim")
        table.add_row(Text(name), Text("="), shown)
    return Padding(table, (0, 0, 0, indent))


def _render_frames(report: Report) -> Iterator[RenderableType]:
    exception: ReportedException = report.exception or ReportedException(type="", message="")
    for frame in exception.frames or ():
        head = Text().append("in ", "dim").append(frame.function, "cyan")
        yield head.append(f" {frame.at}", "bold cyan")
        yield from _render_line_and_locals(frame)


def _render_line_and_locals(place: ReportedFrame | ReportedCause) -> Iterator[RenderableType]:
    if place.text is not UNSET:
        yield Padding(_colour(place.text.strip())[0], (0, 0, 0, 4))
    if place.locals:
        yield _tabulate(place.locals, {}, indent=4)


def _render_stack(report: Report) -> Iterator[RenderableType]:
    if report.stack:
        line = Text().append("stack ", "dim")
        for number, frame in enumerate(report.stack):
            line.append(" ← " if number else "", "dim").append(frame)
        yield line


def _render_asked(report: Report) -> Iterator[RenderableType]:
    for thread in report.threads or ():
        yield Text().append("thread ", "dim").append(thread)
    for point in report.breakpoints or ():
        yield Text().append("breakpoint ", "dim").append(point)


def _render_run(report: Report) -> Iterator[RenderableType]:
    for number, step in enumerate(report.steps or (), 1):
        yield Text().append(f"{number:4} ", "dim").append(step)
    if report.rows:
        yield _tabulate_rows(report.rows, report.columns or ())
    if report.hits is not UNSET:
        yield Text(f"{report.hits} hits" if report.hits != 1 else "1 hit", "dim")
    if report.output is not UNSET:
        yield Text("output", "dim")
        for line in report.output.rstrip("\n").split("\n"):
            yield Text().append("│ ", "dim").append(line)
    if report.prompt is not UNSET:
        yield Text().append("it asks: ", "magenta").append(report.prompt)


def _tabulate_rows(rows: Sequence[Sequence[str]], columns: Sequence[str]) -> Table:
    width = max(len(row) for row in rows)
    titles = ["at", *columns][:width] if columns else []
    table = Table(box=None, show_header=bool(titles), header_style="dim", pad_edge=False)
    for number in range(width):
        title = titles[number] if number < len(titles) else ""
        style = "cyan" if number == 0 else None
        table.add_column(Text(title), style=style, overflow="fold", no_wrap=number == 0)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


def _render_notes(report: Report) -> Iterator[RenderableType]:
    if report.never_hit:
        yield Text().append("never hit: ", "yellow").append(", ".join(report.never_hit))
    for problem in report.problems or ():
        yield Text().append("problem: ", "yellow").append(problem)
    for part in report.omitted or ():
        yield Text(f"omitted: {part}", "dim")
    if report.next is not UNSET:
        yield Text(f"next: {report.next}", "dim")


_PARTS = (
    _render_head,
    _render_exception,
    _render_source,
    _render_variables,
    _render_frames,
    _render_stack,
    _render_asked,
    _render_run,
    _render_notes,
)
