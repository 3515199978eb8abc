"""The evaluation as a picture: calls and tokens of each contender, one point a program."""

from __future__ import annotations

import statistics
from pathlib import Path

import matplotlib

from bench.agent.evaluation import OURS, Evaluation
from bench.plots import STYLE

_OURS, _PEERS = ("#1f6f8b", "#5aa6bd", "#12455a", "#8fc7d6", "#2e8fa8"), ("#b8b8b8", "#7d7d7d")


def draw_evaluation(evaluation: Evaluation | None, folder: Path) -> list[Path]:
    """Draw calls against tokens, both on logarithmic axes; the large marks are medians."""
    if evaluation is None:
        return []
    matplotlib.use("svg")
    from matplotlib import pyplot

    folder.mkdir(parents=True, exist_ok=True)
    ours, peers = iter(_OURS), iter(_PEERS)
    with matplotlib.rc_context(STYLE):
        figure, axes = pyplot.subplots(figsize=(8.4, 3.6), layout="constrained")
        for name in evaluation.findings:
            costs = [evaluation.cost(name, program) for program in evaluation.programs]
            calls, tokens = zip(*costs, strict=True)
            is_ours = name.startswith(OURS)
            color, marker = (next(ours), "o") if is_ours else (next(peers), "s")
            axes.scatter(calls, tokens, s=9, color=color, marker=marker, alpha=0.45, linewidths=0)
            middle = statistics.median(calls), statistics.median(tokens)
            axes.scatter(*middle, s=70, color=color, marker=marker, edgecolors="white", label=name)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("calls until the cause is in evidence")
        axes.set_ylabel("tokens")
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
        path = folder / "evaluation.svg"
        figure.savefig(path, metadata={"Date": None})
        pyplot.close(figure)
    return [path]
