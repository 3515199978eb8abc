"""The page's list with a million rows: from end to end, and while it scrolls.

No view keeps a million rows, so a document of its own (`web/tests/rows`) shows the list of the page
with that many. It is built into a temporary directory, and a real server serves it.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser

from bench.page_browser import MeasuredPage
from bench.server import Server

_WEB = Path(__file__).parents[1] / "web"
_SCROLL = """(frames) => new Promise((done) => {
  const list = document.querySelector(".rows").parentElement;
  const { left, top, width } = list.getBoundingClientRect();
  let count = 0, blank = 0;
  const tick = () => {
    const hit = document.elementFromPoint(left + width / 2, top + 300);
    if (!hit?.closest(".rows > *")) blank += 1;
    list.scrollTop += 700;
    if (++count < frames) requestAnimationFrame(tick);
    else done({ blank, drawn: document.querySelectorAll(".rows > *").length });
  };
  requestAnimationFrame(tick);
})"""
_JUMP = """() => new Promise((done) => {
  const list = document.querySelector(".rows").parentElement;
  const began = performance.now();
  list.scrollTop = list.scrollHeight;
  const look = () => {
    const last = [...document.querySelectorAll(".rows > *")].at(-1);
    if (last?.getAttribute("aria-posinset") === last?.getAttribute("aria-setsize"))
      done({ taken: performance.now() - began, last: last.firstChild.textContent });
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})"""


@dataclass(frozen=True)
class Scrolling:
    """A list that was scrolled by 700 pixels a frame: 44 rows where the scroll bar is scaled."""

    rows: int
    frames: list[float]
    frame_work: float
    """Milliseconds of the main thread for each frame."""
    blank: int
    """Frames in which the middle of the list was not drawn."""
    drawn: int
    """Rows in the document at a time."""
    jump: float
    """Milliseconds until the last row is there, from the first."""


@contextlib.contextmanager
def build_rows() -> Iterator[str]:
    """Build the document; what is yielded is where it is."""
    sys.path.append(str(_WEB))
    import page_build

    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        vite = ["vite", "build", "tests/rows", "--config", "vite.config.ts"]
        vite += ["--outDir", folder, "--emptyOutDir", "--logLevel", "warn"]
        if page_build.run_npm(["exec", "--", *vite]):
            raise SystemExit("the list with a million rows could not be built")
        yield folder


def measure(browser: Browser, rows: int, frames: int) -> Scrolling:
    with (
        build_rows() as folder,
        contextlib.closing(Server("--pool-size", "0", env={"HOLDFAST_PAGE_DIR": folder})) as server,
        contextlib.closing(MeasuredPage(browser, server.url)) as measured,
    ):
        page = measured.page
        page.goto(f"/?rows={rows}")
        page.locator(".rows > *").first.wait_for()
        before = measured.measure_main_thread()
        measured.watch_frames()
        scrolled = page.evaluate(_SCROLL, frames)
        between = measured.read_frames()
        work = (measured.measure_main_thread() - before) / frames * 1000
        jumped = page.evaluate(_JUMP)
        assert jumped["last"] == f"{rows - 1:,}", jumped
    return Scrolling(rows, between, work, scrolled["blank"], scrolled["drawn"], jumped["taken"])
