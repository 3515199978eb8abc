"""The curves of `growth`, servers side by side, and the page, as SVG files for the docs."""

from __future__ import annotations

from pathlib import Path

import matplotlib

from bench.growth import Curve
from bench.measurements import Row
from bench.page_figures import PageFigures

STYLE = {
    "svg.hashsalt": "holdfast",  # the same figures give the same file
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def draw(curves: list[Curve], folder: Path) -> list[Path]:
    """Draw one file for each curve. Its vertical axis begins at zero, so that flat looks flat."""
    matplotlib.use("svg")
    from matplotlib import pyplot

    folder.mkdir(parents=True, exist_ok=True)
    written = []
    with matplotlib.rc_context(STYLE):
        for curve in curves:
            xs, ys = zip(*curve.points, strict=True)
            figure, axes = pyplot.subplots(figsize=(4.2, 2.4), layout="constrained")
            if "sessions" in curve.against:
                axes.plot(xs, ys, marker="o", markersize=3, color="#1f6f8b")
            else:  # each size is about ten times the one before: equal distances, with labels
                axes.plot(range(len(xs)), ys, marker="o", markersize=4, color="#1f6f8b")
                axes.set_xticks(range(len(xs)), [f"{x:,}" for x in xs])
            axes.set_ylim(0, max(ys) * 1.6)
            axes.set_xlabel(curve.against)
            axes.set_ylabel(curve.unit or "count")
            axes.set_title(curve.name, fontsize=9, loc="left")
            axes.grid(axis="y", alpha=0.3)
            path = folder / f"{curve.key}.svg"
            figure.savefig(path, metadata={"Date": None})
            pyplot.close(figure)
            written.append(path)
    return written


_SHOWN = ("calls", "bytes of all answers", "the whole scenario")


def draw_servers(rows: list[Row], folder: Path) -> list[Path]:
    """Draw what an agent pays with each server: calls, bytes, time. Nothing without figures."""
    shown = [row for row in rows if row.name in _SHOWN]
    if not shown:
        return []
    matplotlib.use("svg")
    from matplotlib import pyplot

    folder.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context(STYLE):
        figure, panels = pyplot.subplots(
            1, len(shown), figsize=(8.4, 2.0), layout="constrained", sharey=True
        )
        for row, axes in zip(shown, panels, strict=True):
            names = list(row.figures)
            values = [one.median for one in row.figures.values()]
            colors = ["#1f6f8b" if name.startswith("Holdfast") else "#b8b8b8" for name in names]
            bars = axes.barh(names, values, color=colors)
            axes.bar_label(bars, [f"{value:,.0f}" for value in values], padding=2, fontsize=8)
            axes.set_xlim(0, max(values) * 1.25)
            axes.invert_yaxis()
            axes.set_title(
                f"{row.name}, {row.unit}" if row.unit else row.name, fontsize=9, loc="left"
            )
            axes.set_xticks([])
        panels[0].invert_yaxis()
        path = folder / "agents.svg"
        figure.savefig(path, metadata={"Date": None})
        pyplot.close(figure)
    return [path]


_FRAME = 1000 / 60


def draw_page(measured: PageFigures | None, folder: Path) -> list[Path]:
    """Draw the time between frames under each load, beside that of a screen with 60 a second."""
    if measured is None:
        return []
    shown = [figure for figure in measured.figures if "between frames" in figure.name]
    matplotlib.use("svg")
    from matplotlib import pyplot

    folder.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context(STYLE):
        figure, axes = pyplot.subplots(figsize=(8.4, 1.8), layout="constrained")
        names = [one.name.split(":")[0] for one in shown]
        medians = [one.median for one in shown]
        tails = [one.p95 or one.median for one in shown]
        axes.barh(names, tails, color="#b8d4dd", label="p95")
        axes.barh(names, medians, color="#1f6f8b", label="median")
        axes.axvline(_FRAME, color="#444444", linestyle=":", label="60 frames a second")
        axes.set_xlim(0, max(50.0, *tails) * 1.1)
        axes.invert_yaxis()
        axes.legend(fontsize=8, frameon=False, loc="lower right")
        axes.set_title("milliseconds between frames", fontsize=9, loc="left")
        path = folder / "page.svg"
        figure.savefig(path, metadata={"Date": None})
        pyplot.close(figure)
    return [path]
