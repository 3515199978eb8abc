"""A real Chromium for the figures of the page, and readings of its main thread and frames."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

_FLAGS = [
    *(["--no-sandbox"] if os.geteuid() == 0 else []),  # Chromium's sandbox refuses to run as root
    "--disable-dev-shm-usage",  # /dev/shm is small in many containers
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
]
_WATCH_FRAMES = """() => {
  const frames = window.benchFrames = [];
  let last = performance.now();
  const tick = (now) => {
    frames.push(now - last);
    last = now;
    if (window.benchFrames === frames) requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
}"""
_TAKE_FRAMES = """() => {
  const frames = window.benchFrames;
  window.benchFrames = null;
  return frames;
}"""


@contextlib.contextmanager
def open_browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        raise SystemExit("the figures of the page need Chromium; install the package `chromium`")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=_FLAGS, timeout=60_000)
        try:
            yield browser
        finally:
            browser.close()


class MeasuredPage:
    """A page in a context of its own, so that nothing is in its cache."""

    def __init__(self, browser: Browser, url: str, *scripts: str) -> None:
        self._context = browser.new_context(
            base_url=url, viewport={"width": 1280, "height": 800}, color_scheme="dark"
        )
        self._context.set_default_timeout(60_000)
        self.page: Page = self._context.new_page()
        for script in scripts:
            self.page.add_init_script(script)
        self._cdp = self._context.new_cdp_session(self.page)
        self._cdp.send("Performance.enable", {"timeDomain": "threadTicks"})

    def close(self) -> None:
        self._context.close()

    def open_listener(self, path: str) -> Page:
        """A second tab. It shows no page, but hears what the tabs of a server tell each other."""
        tab = self._context.new_page()
        tab.goto(path)
        return tab

    def measure_main_thread(self) -> float:
        """Return the seconds of processor time that the page's main thread has taken."""
        metrics: Any = self._cdp.send("Performance.getMetrics")["metrics"]
        return float(next(each["value"] for each in metrics if each["name"] == "TaskDuration"))

    def watch_frames(self) -> None:
        self.page.evaluate(_WATCH_FRAMES)
        self.page.wait_for_function("() => window.benchFrames.length > 1")

    def read_frames(self) -> list[float]:
        """Return the milliseconds between the frames since they are watched, and stop that."""
        frames: list[float] = self.page.evaluate(_TAKE_FRAMES)
        return frames[1:]
