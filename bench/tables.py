"""The figures as Markdown, as in docs/performance.md, and as JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from bench import quiet_loops
from bench.agents import ReplayCheck
from bench.calls import EscapeCheck
from bench.concurrent_sessions import Pace
from bench.growth import Curve
from bench.measurements import Figure, Ratio, Row
from bench.quiet_loops import Slowdown


def format_rows(rows: list[Row]) -> str:
    """Format the debuggers side by side, with the ratio of the last to the first."""
    drivers = list(rows[0].figures)
    last = drivers[-1]
    lines = [
        [
            f"{row.name}, {row.unit}",
            *(format_number(row.figures[driver].median) for driver in drivers),
            format_ratio(row.ratios[last]),
        ]
        for row in rows
    ]
    return format_table(["median", *drivers, f"{last} to {drivers[0].split()[0]}"], lines)


def format_servers(rows: list[Row]) -> str:
    """Format servers side by side, one figure a line."""
    lines = [
        [
            f"{row.name}, {row.unit}" if row.unit else row.name,
            *(format_number(figure.median) for figure in row.figures.values()),
        ]
        for row in rows
    ]
    return format_table(["median", *rows[0].figures], lines)


def format_figures(figures: dict[str, Figure], base: str | None = None) -> str:
    """Format one figure per line; with a base, also as a multiple of the base."""
    lines = []
    for name, figure in figures.items():
        cells = [name, format_number(figure.median), format_number(figure.p90)]
        if base is not None:
            cells.append(f"{figure.median / figures[base].median:.1f}")
        lines.append(cells)
    header = ["ms", "median", "p90"] + ([f"times {base}"] if base is not None else [])
    return format_table(header, lines)


def format_paces(paces: list[Pace]) -> str:
    alone = paces[0].per_second
    lines = [
        [
            f"{pace.sessions}",
            f"{pace.per_second:.0f}",
            f"{pace.per_second / alone:.2f}",
            f"{min(pace.steps)}",
            f"{max(pace.steps)}",
        ]
        for pace in paces
    ]
    header = [
        "sessions at once",
        "steps per second",
        "times one session",
        "slowest session, steps",
        "fastest session, steps",
    ]
    return format_table(header, lines)


def format_ratios(ratios: list[Ratio]) -> str:
    """Format each figure beside its base, with the ratio and its limit."""
    lines = [
        [
            ratio.name,
            f"{format_number(ratio.ours)} {ratio.unit}",
            ratio.base_name,
            f"{format_number(ratio.base)} {ratio.unit}",
            f"{ratio.ratio:.2f}",
            f"{ratio.at_most:.2f}",
        ]
        for ratio in ratios
    ]
    header = ["figure", "time", "compared with", "its time", "ratio", "limit"]
    return format_table(header, lines)


def format_escapes(check: EscapeCheck) -> str:
    header = ["threads", "calls", "breakpoints added or removed", "escaped", "lost"]
    cells = [check.threads, check.calls, check.changes, check.escaped, check.lost]
    return format_table(header, [[f"{cell:,}" for cell in cells]])


def format_replay(check: ReplayCheck) -> str:
    header = ["steps replayed in full", "model calls", "tool calls", "same messages at the end"]
    cells = [f"{check.steps:,}", f"{check.model_calls}", f"{check.tool_calls}"]
    return format_table(header, [[*cells, "yes" if check.same_messages else "no"]])


def format_slowdowns(slowdowns: list[Slowdown]) -> str:
    header = ["times plain Python", *quiet_loops.LOOPS]
    rows = [
        [f"{each.version}: {each.case}", *(format_number(ratio) for ratio in each.ratios)]
        for each in slowdowns
    ]
    return format_table(header, rows)


def format_curve(curve: Curve) -> str:
    unit = f", {curve.unit}" if curve.unit else ""
    header = [curve.against, *(f"{x:,}" for x, _ in curve.points)]
    return format_table(header, [[curve.name + unit, *(format_number(y) for _, y in curve.points)]])


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Format a Markdown table that is also readable as text; figures are aligned to the right."""
    widths = [max(len(cell) for cell in column) for column in zip(header, *rows, strict=True)]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join(_format_line(cells, widths) for cells in (header, rule, *rows)) + "\n"


def _format_line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = cells
    aligned = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
    return f"| {' | '.join([first.ljust(widths[0]), *aligned])} |"


def format_ratio(ratio: float) -> str:
    """Format a ratio as `0.02 (1/50)`, or without the fraction where it is above two thirds."""
    number = f"{ratio:.3f}" if ratio < 0.01 else f"{ratio:.2f}"
    return f"{number} (1/{round(1 / ratio)})" if 0 < ratio < 0.67 else number


def format_number(value: float) -> str:
    if value == int(value):
        return f"{value:.0f}"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def to_json(value: Any) -> Any:
    """Turn dataclasses into dictionaries, at any depth."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return to_json(dataclasses.asdict(value))
    if isinstance(value, dict):
        return {name: to_json(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    return value
