"""The page while ten thousand events a second arrive from a real agent through a real server."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from dataclasses import dataclass

from playwright.sync_api import Browser

from bench.page_browser import MeasuredPage
from bench.server import Server

RATE = 10_000
_COUNT_EVENTS = """(session) => {
  window.benchCount = 0;
  window.benchMessages = 0;
  window.benchMissed = false;
  new BroadcastChannel("holdfast.stream").onmessage = ({ data }) => {
    if (data.message?.kind !== "events") return;
    benchMessages += 1;
    benchMissed ||= data.message.missed;
    benchCount += data.message.events.filter((event) => event.session_id.endsWith(session)).length;
  };
}"""


@dataclass(frozen=True)
class EventLoad:
    """What became of the events, and what they took."""

    sent: int
    arrived: int
    messages: int
    seconds: float
    page_percent: float
    """Of one core: the main thread of the page."""
    server_percent: float
    frames: list[float]


def measure(browser: Browser, server: Server, seconds: float) -> EventLoad:
    agents = str(server.data_dir / "agents")
    command = [sys.executable, "-m", "bench.page_flood", agents, str(RATE), str(seconds)]
    with (
        contextlib.closing(MeasuredPage(browser, server.url)) as measured,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as flood,
    ):
        assert flood.stdin is not None
        assert flood.stdout is not None
        session = flood.stdout.readline().strip()
        page = measured.page
        page.goto("/")
        # The new session is in the list: its events come from now on.
        page.get_by_role("row").filter(has_text="flood").first.wait_for()
        # The tab that reads the stream passes all of it on, to this one too.
        listener = measured.open_listener("/health")
        page.bring_to_front()
        listener.evaluate(_COUNT_EVENTS, session)
        measured.watch_frames()
        page_before, server_before = measured.measure_main_thread(), server.measure_processor()
        began = time.perf_counter()
        flood.stdin.write("\n")
        flood.stdin.flush()
        sent = int(flood.stdout.readline())
        with contextlib.suppress(Exception):  # what has not arrived by then is the figure
            listener.wait_for_function("count => benchCount >= count", arg=sent, timeout=60_000)
        taken = time.perf_counter() - began
        page_taken = measured.measure_main_thread() - page_before
        server_taken = server.measure_processor() - server_before
        frames = measured.read_frames()
        arrived, messages = listener.evaluate("() => [benchCount, benchMessages]")
        flood.stdin.close()
    return EventLoad(
        sent=sent,
        arrived=arrived,
        messages=messages,
        seconds=taken,
        page_percent=100 * page_taken / taken,
        server_percent=100 * server_taken / taken,
        frames=frames,
    )
