"""The flame timeline of a hundred thousand calls: how soon it is drawn, and how it moves."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from dataclasses import dataclass

from playwright.sync_api import Browser

from bench.page_browser import MeasuredPage
from bench.server import Server

_WATCH_DRAWN = """new MutationObserver(() => {
  const chart = document.querySelector("[role=application][aria-busy=false]");
  if (chart && !window.benchDrawn)
    requestAnimationFrame(() => requestAnimationFrame(() => {
      window.benchDrawn ??= performance.now();
    }));
}).observe(document, { childList: true, subtree: true, attributes: true });"""
_MOVE = """(frames) => new Promise((done) => {
  const canvas = document.querySelector(".flame-rows canvas");
  const { left, top, width } = canvas.getBoundingClientRect();
  const turn = (more) => canvas.dispatchEvent(new WheelEvent("wheel",
    { clientX: left + width * 0.4, clientY: top + 60, bubbles: true, cancelable: true, ...more }));
  let count = 0;
  const tick = () => {
    const part = (3 * count) / frames;
    if (part < 1) turn({ deltaY: -24 });
    else if (part < 2) turn({ deltaX: count % 40 < 20 ? 60 : -60 });
    else turn({ deltaY: 24 });
    if (++count < frames) requestAnimationFrame(tick);
    else done();
  };
  requestAnimationFrame(tick);
})"""


@dataclass(frozen=True)
class FlameFigures:
    calls: int
    first_draw: float
    """Milliseconds from the address to the first picture, the answer of the server included."""
    answer: float
    """Milliseconds of these that the page waited for that answer."""
    frames: list[float]
    """While it zooms in, moves, and zooms out."""
    frame_work: float
    """Milliseconds of the main thread for each of these frames."""


def record_calls(server: Server, calls: int) -> str:
    """Let an application make the calls. Returns its session."""
    command = [sys.executable, "-m", "bench.page_shop", server.url, str(calls)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    return ran.stdout.strip()


def measure(browser: Browser, server: Server, calls: int, frames: int) -> FlameFigures:
    session = record_calls(server, calls)
    with contextlib.closing(MeasuredPage(browser, server.url, _WATCH_DRAWN)) as measured:
        page = measured.page
        page.goto(f"/calls?view=flame&session={session}")
        page.wait_for_function("() => window.benchDrawn")
        drawn: float = page.evaluate("() => window.benchDrawn")
        answer: float = page.evaluate(
            "() => performance.getEntriesByType('resource')"
            ".find((entry) => entry.name.includes('/api/calls/timeline')).duration"
        )
        before = measured.measure_main_thread()
        measured.watch_frames()
        page.evaluate(_MOVE, frames)
        between = measured.read_frames()
        work = (measured.measure_main_thread() - before) / frames * 1000
    return FlameFigures(calls, drawn, answer, between, work)
