"""The figures, for people (a table) and for programs (a document)."""

from __future__ import annotations

import dataclasses
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from bench.measuring import Figure, Row

_WIDTH = 108


def console() -> Console:
    """A pipe has no width of its own; the table needs some."""
    made = Console()
    return made if made.is_terminal else Console(width=_WIDTH)


def ratio_text(ratio: float) -> str:
    """`0.02 (1/50)`; where it is no small part, the number alone says it better."""
    plain = f"{ratio:.3f}" if ratio < 0.01 else f"{ratio:.2f}"
    return f"{plain} (1/{round(1 / ratio)})" if 0 < ratio < 0.67 else plain


def show(where: Console, title: str, rows: list[Row]) -> None:
    peers = list(rows[0].figures)
    table = _empty(title)
    for peer in peers:
        table.add_column(f"{peer}\nmedian    p90", justify="right", no_wrap=True)
        if peer != peers[0]:
            table.add_column("\nto stock", justify="right", style="cyan", no_wrap=True)
    for row in rows:
        cells = [f"{row.name} [dim]{row.unit}[/]"]
        for peer in peers:
            cells.append(_cell(row.figures[peer]))
            if peer in row.ratios:
                cells.append(ratio_text(row.ratios[peer]))
        table.add_row(*cells)
    where.print(table)


def show_parts(where: Console, title: str, parts: dict[str, Figure]) -> None:
    table = _empty(title)
    table.add_column("median    p90", justify="right", no_wrap=True)
    for name, figure in parts.items():
        table.add_row(f"{name} [dim]ms[/]", _cell(figure))
    where.print(table)


def _empty(title: str) -> Table:
    table = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        header_style="",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    table.add_column("", no_wrap=True)
    return table


def _cell(figure: Figure) -> str:
    return f"{_short(figure.median)} [dim]{_short(figure.p90):>6}[/]"


def _short(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def document(facts: dict[str, Any], rows: list[Row], parts: dict[str, Figure]) -> dict[str, Any]:
    return {
        **facts,
        "rows": [dataclasses.asdict(row) for row in rows],
        "inside": {name: dataclasses.asdict(figure) for name, figure in parts.items()},
    }
