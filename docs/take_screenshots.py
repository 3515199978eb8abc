"""Takes the pictures of the page in docs/pictures/page: `make screenshots`.

They show a real server with a held program, a held call and agents (`tests/page_scene.py`), in a
real browser: dark and light, wide and on a phone. `python docs/take_screenshots.py trace` takes
only those of that name.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Literal

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from playwright.sync_api import Browser, Request, ViewportSize, expect

from browsers import PHONE, WIDE, launched_browser
from harness import Program, Server
from page_scene import Scene, built_scene
from polling import wait_until

FOLDER = Path(__file__).parent / "pictures" / "page"
Scheme = Literal["dark", "light"]
# The name of a picture, its address, and a text that is there when the view is complete.
VIEWS = [
    ("home", "/", "Waiting for you"),
    ("program", "/programs/{program}", "def report"),
    ("launch", "/programs", "Launch"),
    ("calls", "/calls?session={calls}", "customer 8"),
    ("flame", "/calls?session={calls}&view=flame", "Flame"),
    ("held-call", "/holds/{call_hold}", "customer 9"),
    ("call-breakpoints", "/breakpoints", "Shop.sell"),
    ("agent", "/agents/{agent}", "Buy tea and cake."),
    ("compare", "/agents/compare?left={finished_agent}&right={forked_agent}", "German"),
]


def take_picture(
    browser: Browser, url: str, ready: str, path: Path, size: ViewportSize, scheme: Scheme
) -> None:
    context = browser.new_context(
        viewport=size,
        color_scheme=scheme,
        reduced_motion="reduce",
        locale="en-GB",
        timezone_id="UTC",
    )
    page = context.new_page()
    pending: set[Request] = set()
    page.on("request", lambda request: pending.add(request))
    page.on("requestfinished", lambda request: pending.discard(request))
    page.goto(url)
    expect(page.locator("main").get_by_text(ready).first).to_be_visible()
    # The stream of events never ends; everything else is there when it alone is left.
    wait_until(lambda: page.evaluate("1") and len(pending) <= 1, "the answers")
    page.screenshot(path=path)
    context.close()


def record_trace(scene: Scene, folder: Path) -> str:
    """The address of a call with a loop, and of a question about a value in one of its rounds."""
    orders = Program("orders.py", folder)
    loop, line = orders.line("discount") - 2, orders.line("discount") + 1
    place = f"{orders.path}:{line}"
    body = {"variable": "value", "at": place}
    trace = scene.server.post("/tools/debug_why", body)["trace_id"]
    calls = scene.server.get(f"/api/traces/{trace}")["calls"]
    key = next(call["key"] for call in calls if call["function"] == "orders.report")
    asked = f"line={line}&rounds={loop}.2&why=value&at={place}&after=true"
    return f"/traces/{trace}/calls/{key}?{asked}"


def take_pictures(browser: Browser, scene: Scene, folder: Path) -> None:
    # The last one, because the others show no session of its run.
    views = [*VIEWS, ("trace", "", "written here")]
    wanted = sys.argv[1:] or [name for name, _, _ in views]
    for name, address, ready in views:
        if name not in wanted:
            continue
        url = scene.address(address or record_trace(scene, folder))
        for scheme in ("dark", "light"):
            take_picture(browser, url, ready, FOLDER / f"{name}-{scheme}.png", WIDE, scheme)
        take_picture(browser, url, ready, FOLDER / f"{name}-phone.png", PHONE, "dark")


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    programs = Path(tempfile.gettempdir()) / "shop"  # the pictures show this path
    with tempfile.TemporaryDirectory() as folder, launched_browser() as browser:
        server = Server(Path(folder) / "data")
        try:
            with built_scene(server, programs) as scene:
                take_pictures(browser, scene, programs)
        finally:
            server.stop()
            shutil.rmtree(programs, ignore_errors=True)


if __name__ == "__main__":
    main()
