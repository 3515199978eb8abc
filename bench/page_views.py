"""How large the page is, how soon it is there, and how soon a step is painted."""

from __future__ import annotations

import contextlib
import gzip
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from playwright.sync_api import Browser, Response

from bench.measurements import load_program
from bench.page_browser import MeasuredPage
from bench.server import Server, Session

_HOLD = ".hold-list li"
_LINE = ".cm-line[aria-current]"
_WATCH_HOLDS = f"""new MutationObserver(() => {{
  if (!window.benchShown && document.querySelector("{_HOLD}"))
    requestAnimationFrame(() => {{ window.benchShown ??= performance.now(); }});
}}).observe(document, {{ childList: true, subtree: true }});"""
_READ_PAINT = """() => [
  performance.getEntriesByName("first-contentful-paint")[0].startTime, window.benchShown]"""
_WATCH_STEPS = f"""() => {{
  window.benchSteps = [];
  const lineOf = () => document.querySelector("{_LINE}");
  let pressed = 0, before = null;
  addEventListener("keydown", (event) => {{
    if (event.key === "F10") [pressed, before] = [performance.now(), lineOf()?.textContent];
  }}, true);
  const paint = () => {{
    const line = lineOf()?.textContent;
    if (pressed && line !== undefined && line !== before) {{
      const began = pressed;
      pressed = 0;
      requestAnimationFrame(() => setTimeout(() => benchSteps.push(performance.now() - began)));
    }}
  }};
  new MutationObserver(paint).observe(document.querySelector(".cm-content"),
    {{ attributes: true, childList: true, subtree: true, attributeFilter: ["aria-current"] }});
}}"""


@dataclass(frozen=True)
class ViewSize:
    """The JavaScript and CSS of a view, compressed."""

    name: str
    kilobytes: float
    more_kilobytes: float
    """What it loads beyond the first view."""


@contextlib.contextmanager
def held_program(server: Server) -> Iterator[Session]:
    """A program that waits on its first marked line; what is yielded is its session."""
    session = Session(server, load_program("endless_lines.py", "line"))
    try:
        yield session
    finally:
        session.close()


def measure_sizes(browser: Browser, server: Server, session_id: str, most: int) -> list[ViewSize]:
    """Open at most so many views, each in a fresh browser. The first one is `/`."""
    views = {
        "the first view": ("/", "h1"),
        "a program, with its source": (f"/programs/{session_id}", _LINE),
        "programs": ("/programs", "h1"),
        "calls": ("/calls", "h1"),
        "calls, as a timeline": ("/calls?view=flame", ".flame"),
        "breakpoints": ("/breakpoints", "h1"),
        "agents": ("/agents", "h1"),
        "events": ("/events", "h1"),
    }
    sizes: list[ViewSize] = []
    first: dict[str, int] = {}
    for name, (path, shown) in itertools.islice(views.items(), most):
        loaded = _list_loaded(browser, server.url, path, shown)
        first = first or loaded
        more = sum(size for file, size in loaded.items() if file not in first)
        sizes.append(ViewSize(name, sum(loaded.values()) / 1000, more / 1000))
    return sizes


def _list_loaded(browser: Browser, url: str, path: str, shown: str) -> dict[str, int]:
    """Return the files that a view loads, and how large each is when compressed."""
    answers: list[Response] = []
    with contextlib.closing(MeasuredPage(browser, url)) as measured:
        measured.page.on("response", lambda answer: answers.append(answer))
        measured.page.goto(path)
        measured.page.locator(shown).first.wait_for(state="attached")
        files = [each for each in answers if each.url.endswith((".js", ".css"))]
        return {each.url: len(gzip.compress(each.body())) for each in files}


@dataclass
class PaintTimes:
    """In milliseconds, one of each for every time that the page was loaded."""

    first: list[float]
    """From the address until something is painted."""
    shown: list[float]
    """From the address until what is held is there."""
    work: list[float]
    """Processor time of the main thread until then."""


def measure_paint(browser: Browser, server: Server, times: int) -> PaintTimes:
    read = PaintTimes([], [], [])
    for number in range(times + 1):
        with contextlib.closing(MeasuredPage(browser, server.url, _WATCH_HOLDS)) as measured:
            measured.page.goto("/")
            measured.page.wait_for_function("() => window.benchShown")
            paint, hold = measured.page.evaluate(_READ_PAINT)
            if number:  # the first one warms the server and the browser
                read.first.append(paint)
                read.shown.append(hold)
                read.work.append(measured.measure_main_thread() * 1000)
    return read


def measure_steps(browser: Browser, server: Server, session_id: str, times: int) -> Sequence[float]:
    """Return the milliseconds from the key F10 until the next line is painted as the held one."""
    with contextlib.closing(MeasuredPage(browser, server.url)) as measured:
        page = measured.page
        page.goto(f"/programs/{session_id}")
        page.locator(_LINE).wait_for()
        page.evaluate(_WATCH_STEPS)
        for number in range(times):
            page.keyboard.press("F10")
            page.wait_for_function("count => benchSteps.length > count", arg=number)
        taken: list[float] = page.evaluate("() => benchSteps")
        return taken
