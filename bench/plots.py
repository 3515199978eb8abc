"""The curves of `growth` as small SVG files, for the documentation."""

from __future__ import annotations

from pathlib import Path

import matplotlib

from bench.growth import Curve

_STYLE = {
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
    with matplotlib.rc_context(_STYLE):
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
