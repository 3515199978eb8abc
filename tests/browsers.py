"""A real browser for tests, pictures and benchmarks: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from typing import Any
from urllib.parse import urljoin

from playwright.sync_api import Browser, Page, ViewportSize, expect, sync_playwright

from harness import Server, Session

WIDE = ViewportSize(width=1280, height=800)
PHONE = ViewportSize(width=390, height=844)
_GUARD = 60_000
"""Milliseconds. Nothing takes so long, unless it never comes."""
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
        browser = playwright.chromium.launch(
            executable_path=find_chromium(), args=_FLAGS, timeout=_GUARD
        )
        expect.set_options(timeout=_GUARD)
        try:
            yield browser
        finally:
            browser.close()


class KeptPages:
    """A browser, and its page on each server. The tests of a worker use them one after the other.

    A new page costs a new process of the browser, which compiles all scripts again.
    """

    def __init__(self) -> None:
        self._opened = contextlib.ExitStack()
        self._browser: Browser | None = None
        self._pages: dict[str, KeptPage] = {}

    @property
    def browser(self) -> Browser:
        if self._browser is None:
            self._browser = self._opened.enter_context(launched_browser())
        return self._browser

    @contextlib.contextmanager
    def use(self, server_url: str) -> Iterator[KeptPage]:
        """A page as good as new. One that a test has closed, or broken, is not used again."""
        kept = self._pages.pop(server_url, None) or KeptPage(self.browser, server_url)
        kept.complaints.clear()
        try:
            yield kept
            kept.clean()
        except BaseException:
            kept.page.context.close()
            raise
        self._pages[server_url] = kept

    def close(self) -> None:
        self._pages.clear()
        self._browser = None
        self._opened.close()


class KeptPage:
    def __init__(self, browser: Browser, server_url: str) -> None:
        context = browser.new_context(
            base_url=server_url,
            viewport=WIDE,
            color_scheme="dark",
            reduced_motion="reduce",
            locale="en-GB",
            timezone_id="UTC",
        )
        context.set_default_timeout(_GUARD)
        self.page = context.new_page()
        self.complaints = watch_for_complaints(self.page, server_url)

    def clean(self) -> None:
        """As a new one, but for the scripts that it has loaded."""
        context = self.page.context
        for other in context.pages:
            if other is not self.page:
                other.close()
        leave(self.page)
        self.page.evaluate("localStorage.clear(); sessionStorage.clear()")
        context.clear_cookies()
        context.clear_permissions()
        self.page.emulate_media(color_scheme="dark")
        self.page.set_viewport_size(WIDE)


@contextlib.contextmanager
def shown_session(page: Page, server: Server, **config: Any) -> Iterator[Session]:
    """One that the page may show. The page leaves before it is deleted, or it would ask for it."""
    with server.session(**config) as session:
        yield session
        leave(page)


def leave(page: Page) -> None:
    """Show a document of the same server that asks for nothing more.

    The page may then be told of no session that is deleted. For `about:blank` the browser would
    end the process that has the scripts.
    """
    page.goto(urljoin(page.url, "/health"))


def watch_for_complaints(page: Page, url: str) -> list[str]:
    """What the page says on its console as an error, throws, or asks of other hosts."""
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(f"threw {error}"))
    page.on(
        "console",
        lambda message: (
            complaints.append(f"{message.text} ({message.location['url']})")
            if message.type == "error"
            else None
        ),
    )

    def check_request(address: str) -> None:
        if not address.startswith((f"{url}/", "data:")):
            complaints.append(f"asked {address}")

    page.on("request", lambda request: check_request(request.url))
    return complaints
