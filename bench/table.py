"""The figures, for people (Markdown, as it stands in the documentation) and for programs."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from bench.agents import Replayed
from bench.calls import Ratio, Storm
from bench.crowd import Pace
from bench.growth import Curve
from bench.measuring import Figure, Row


def beside(rows: list[Row]) -> str:
    """Peers beside each other, and the last one's ratio to the first."""
    peers = list(rows[0].figures)
    last = peers[-1]
    shown = [
        [
            f"{row.name}, {row.unit}",
            *(short(row.figures[peer].median) for peer in peers),
            ratio_text(row.ratios[last]),
        ]
        for row in rows
    ]
    return markdown(["median", *peers, f"{last} to {peers[0].split()[0]}"], shown)


def parts(figures: dict[str, Figure], base: str | None = None) -> str:
    """One below the other; with a base, also as so many times that."""
    shown = []
    for name, figure in figures.items():
        cells = [name, short(figure.median), short(figure.p90)]
        if base is not None:
            cells.append(f"{figure.median / figures[base].median:.1f}")
        shown.append(cells)
    header = ["ms", "median", "p90"] + ([f"times {base}"] if base is not None else [])
    return markdown(header, shown)


def crowds(paces: list[Pace]) -> str:
    one = paces[0].per_second
    shown = [
        [
            f"{each.sessions}",
            f"{each.per_second:.0f}",
            f"{each.per_second / one:.2f}",
            f"{min(each.steps)}",
            f"{max(each.steps)}",
        ]
        for each in paces
    ]
    header = ["sessions at once", "steps a second", "to one", "fewest by one", "most by one"]
    return markdown(header, shown)


def held_against(ratios: list[Ratio]) -> str:
    """What each takes, beside what it is held against, and the ratio that was asked for."""
    shown = [
        [
            each.name,
            f"{short(each.ours)} {each.unit}",
            each.base_name,
            f"{short(each.base)} {each.unit}",
            f"{each.ratio:.2f}",
            f"{each.at_most:.2f}",
        ]
        for each in ratios
    ]
    header = ["what", "takes", "held against", "takes ", "ratio", "at most"]
    return markdown(header, shown)


def storms(each: Storm) -> str:
    header = ["threads", "calls", "breakpoints armed or removed", "escaped", "lost"]
    cells = [each.threads, each.calls, each.changes, each.escaped, each.lost]
    return markdown(header, [[f"{cell:,}" for cell in cells]])


def replayed(each: Replayed) -> str:
    header = ["steps replayed in full", "model calls", "tool calls", "same messages at the end"]
    cells = [f"{each.steps:,}", f"{each.model_calls}", f"{each.tool_calls}"]
    return markdown(header, [[*cells, "yes" if each.same_messages else "no"]])


def curve(each: Curve) -> str:
    unit = f", {each.unit}" if each.unit else ""
    header = [each.against, *(f"{x:,}" for x, _ in each.points)]
    return markdown(header, [[each.name + unit, *(short(y) for _, y in each.points)]])


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The first column to the left, figures to the right; also readable as it is."""
    widths = [max(len(cell) for cell in column) for column in zip(header, *rows, strict=True)]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join(_line(cells, widths) for cells in (header, rule, *rows)) + "\n"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = cells
    aligned = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
    return f"| {' | '.join([first.ljust(widths[0]), *aligned])} |"


def ratio_text(ratio: float) -> str:
    """`0.02 (1/50)`; where it is no small part, the number alone says it better."""
    plain = f"{ratio:.3f}" if ratio < 0.01 else f"{ratio:.2f}"
    return f"{plain} (1/{round(1 / ratio)})" if 0 < ratio < 0.67 else plain


def short(value: float) -> str:
    if value == int(value):
        return f"{value:.0f}"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def plain(value: Any) -> Any:
    """Dataclasses as dictionaries, at any depth, for JSON."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return plain(dataclasses.asdict(value))
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value
