"""A real browser for tests, pictures and benchmarks: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator

from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

WIDE = ViewportSize(width=1280, height=800)
PHONE = ViewportSize(width=390, height=844)
_FLAGS = [
    *(["--no-sandbox"] if os.geteuid() == 0 else []),  # Chromium's sandbox refuses to run as root
    "--disable-dev-shm-usage",  # /dev/shm is small in many containers
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--force-color-profile=srgb",
    "--font-render-hinting=none",
]


def find_chromium() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser")


@contextlib.contextmanager
def launched_browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=_FLAGS)
        try:
            yield browser
        finally:
            browser.close()


def watch_for_complaints(page: Page, url: str) -> list[str]:
    """What the page says on its console as an error, throws, or asks of other hosts."""
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(f"threw {error}"))
    page.on(
        "console",
        lambda message: complaints.append(message.text) if message.type == "error" else None,
    )

    def check_request(address: str) -> None:
        if not address.startswith((f"{url}/", "data:")):
            complaints.append(f"asked {address}")

    page.on("request", lambda request: check_request(request.url))
    return complaints
