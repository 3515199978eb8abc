"""Draws docs/pictures/debug-screen.svg from the real program.

    .venv/bin/python docs/draw_debug_screen.py

It debugs a small shop with a server of its own, opens the screen of `holdfast debug` without a
terminal, presses some keys, and saves what the screen shows.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import Input

from holdfast.cli.screen.debug_screen import DebugScreen, Leaving
from holdfast.cli.screen.session_client import SessionClient
from holdfast.client import discovery
from holdfast.client.http_client import HttpClient

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "pictures" / "debug-screen.svg"
SIZE = (132, 36)
MAX_SECONDS = 60
SHOP = '''\
"""Adds up an order, with a discount for many of one kind."""

PRICES = {"tea": 4.0, "cake": 3.5, "scone": 2.25}


class Line:
    def __init__(self, name, count):
        self.name, self.count = name, count

    def price(self):
        price = PRICES[self.name] * self.count
        if self.count > 10:
            price *= 0.9
        return price


def total(order):
    amount = 0.0
    for line in order:
        amount += line.price()
    return amount


order = [Line("tea", 2), Line("cake", 12), Line("scone", 1)]
print("the order has", len(order), "lines")
print("total", total(order))
'''


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="holdfast-") as folder:
        os.environ["HOLDFAST_HOME"] = str(Path(folder) / "home")
        os.chdir(folder)
        Path("shop.py").write_text(SHOP, encoding="utf-8")
        with running_server():
            drawing = asyncio.run(draw())
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(drawing, encoding="utf-8")


@contextlib.contextmanager
def running_server() -> Iterator[None]:
    command = [sys.executable, "-m", "holdfast", "serve", "--port", "0"]
    server = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + MAX_SECONDS
        while discovery.announced_url() is None:
            assert time.monotonic() < deadline, "the server did not start"
            time.sleep(0.05)
        yield
    finally:
        server.terminate()
        server.wait()


async def draw() -> str:
    """Return the screen as an SVG document, in the middle of the order."""
    http = HttpClient(discovery.server_url(None))
    run = {"target": "shop.py", "breakpoints": ["shop.py:19", "shop.py:13 if price > 40"]}
    answer = http.request("POST", f"/api/v1/run?cwd={Path.cwd()}", run)
    app = DebugScreen(SessionClient(http, answer["session_id"]), is_joined=False)
    async with app.run_test(size=SIZE) as pilot:
        await wait_for(pilot, "shop.py:19")
        await ask(pilot, "w", "self.count > 10")
        await pilot.press("c")
        await wait_for(pilot, "amount = 8.0")
        await pilot.press("c")
        await wait_for(pilot, "price = 42.0")
        await pilot.press("n")
        await wait_for(pilot, "price = 37.8")
        await pilot.press("exclamation_mark")
        app.query_one("#expression", Input).value = "PRICES[self.name] * 10"
        await pilot.press("enter", "escape")
        await wait_for(pilot, "35.0")
        svg = app.export_screenshot(title="holdfast debug shop.py")
    # A picture in a README must not load a font from another host.
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)


async def ask(pilot: Pilot[Leaving], key: str, text: str) -> None:
    """Press a key, and answer what it asks."""
    await pilot.press(key)
    await wait_until(pilot, lambda: len(pilot.app.screen_stack) > 1)
    pilot.app.screen.query_one("#line", Input).value = text
    await pilot.press("enter")
    await wait_until(pilot, lambda: len(pilot.app.screen_stack) == 1)


async def wait_for(pilot: Pilot[Leaving], text: str) -> None:
    await wait_until(pilot, lambda: text in read_text(pilot.app.export_screenshot()))


async def wait_until(pilot: Pilot[Leaving], so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + MAX_SECONDS
    while not so():
        assert time.monotonic() < deadline, read_text(pilot.app.export_screenshot())
        await pilot.pause(0.1)


def read_text(svg: str) -> str:
    """Return the words of an SVG document, with single spaces."""
    return " ".join(re.sub(r"<[^>]+>", " ", svg).replace("&#160;", " ").split())


if __name__ == "__main__":
    main()
