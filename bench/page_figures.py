"""The figures of the page, in a real Chromium on a real server."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from bench import page_flame, page_load, page_rows, page_views, tables
from bench.page_browser import open_browser
from bench.page_flame import FlameFigures
from bench.page_load import EventLoad
from bench.page_rows import Scrolling
from bench.page_views import ViewSize
from bench.server import Server

_BUILT = Path(__file__).parents[1] / "src" / "holdfast" / "server" / "page" / "built"


OpenServer = Callable[..., AbstractContextManager[Server]]


@dataclass(frozen=True)
class PageScale:
    """How much of everything is measured."""

    views: int
    loads: int
    steps: int
    seconds: float
    rows: int
    calls: int
    frames: int


FULL = PageScale(views=8, loads=15, steps=50, seconds=10, rows=1_000_000, calls=100_000, frames=300)
QUICK = PageScale(views=2, loads=1, steps=1, seconds=0.1, rows=1_000_000, calls=500, frames=6)


@dataclass(frozen=True)
class PageFigure:
    name: str
    unit: str
    median: float
    p95: float | None = None


@dataclass(frozen=True)
class PageFigures:
    sizes: list[ViewSize]
    figures: list[PageFigure]


def measure(server: Server, open_server: OpenServer, scale: PageScale) -> PageFigures:
    """The server is one with a pool of interpreters."""
    if not (Path(os.environ.get("HOLDFAST_PAGE_DIR", _BUILT)) / "index.html").exists():
        raise SystemExit("the page is not built; run `make web`")
    with open_browser() as browser:
        with page_views.held_program(server) as session:
            sizes = page_views.measure_sizes(browser, server, session.id, scale.views)
            paint = page_views.measure_paint(browser, server, scale.loads)
            steps = page_views.measure_steps(browser, server, session.id, scale.steps)
        with open_server("--pool-size", "0") as fresh:
            load = page_load.measure(browser, fresh, scale.seconds)
        rows = page_rows.measure(browser, scale.rows, scale.frames)
        with open_server("--pool-size", "0") as fresh:
            flame = page_flame.measure(browser, fresh, scale.calls, scale.frames)
    figures = [
        build_figure("first contentful paint of /", paint.first),
        build_figure("what is held is shown", paint.shown),
        build_figure("main thread until then", paint.work),
        build_figure("F10 until the next line is painted", steps),
        *describe_load(load),
        *describe_rows(rows),
        *describe_flame(flame),
    ]
    return PageFigures(sizes, figures)


def build_figure(name: str, values: Sequence[float], unit: str = "ms") -> PageFigure:
    ordered = sorted(values)
    pick = [ordered[min(len(ordered) - 1, int(share * len(ordered)))] for share in (0.5, 0.95)]
    return PageFigure(name, unit, *pick)


def describe_load(load: EventLoad) -> list[PageFigure]:
    rate = f"{page_load.RATE:,} events a second"
    return [
        PageFigure(f"{rate}: arrived of {load.sent:,}", "", load.arrived),
        PageFigure(f"{rate}: messages of the stream", "", load.messages),
        PageFigure(f"{rate}: main thread of the page", "%", load.page_percent),
        PageFigure(f"{rate}: server", "%", load.server_percent),
        build_figure(f"{rate}: between frames", load.frames),
    ]


def describe_rows(rows: Scrolling) -> list[PageFigure]:
    name = f"{rows.rows:,} rows"
    return [
        build_figure(f"{name}: between frames of a scroll", rows.frames),
        PageFigure(f"{name}: main thread for a frame", "ms", rows.frame_work),
        PageFigure(f"{name}: frames that were blank", "", rows.blank),
        PageFigure(f"{name}: rows in the document", "", rows.drawn),
        PageFigure(f"{name}: jump to the last one", "ms", rows.jump),
    ]


def describe_flame(flame: FlameFigures) -> list[PageFigure]:
    name = f"timeline of {flame.calls:,} calls"
    return [
        PageFigure(f"{name}: first picture", "ms", flame.first_draw),
        PageFigure(f"{name}: of that, the answer of the server", "ms", flame.answer),
        build_figure(f"{name}: between frames of zoom and move", flame.frames),
        PageFigure(f"{name}: main thread for a frame", "ms", flame.frame_work),
    ]


def format_figures(measured: PageFigures) -> str:
    sizes = [
        [size.name, f"{size.kilobytes:.0f}", f"{size.more_kilobytes:.0f}"]
        for size in measured.sizes
    ]
    rows = [
        [
            f"{figure.name}, {figure.unit}" if figure.unit else figure.name,
            tables.format_number(figure.median),
            "" if figure.p95 is None else tables.format_number(figure.p95),
        ]
        for figure in measured.figures
    ]
    return (
        tables.format_table(["KB, compressed", "all", "beyond the first view"], sizes)
        + "\n"
        + tables.format_table(["figure", "median", "p95"], rows)
    )
