"""A real browser on a real server, which the tests of the page share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from browsers import WIDE, find_chromium, launched_browser, watch_for_complaints
from harness import Server
from page_scene import Scene, built_scene


@pytest.fixture(scope="session")
def page_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of their own, so that the tests of the page see nothing of other tests."""
    server = Server(tmp_path_factory.mktemp("page") / "data")
    yield server
    server.stop()


@pytest.fixture(scope="session")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """A server with something of everything. Tests only look at it."""
    folder = tmp_path_factory.mktemp("scene")
    server = Server(folder / "data")
    with built_scene(server, folder / "programs") as scene:
        yield scene
    server.stop()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser for one file: while it is open, Playwright's event loop runs in this thread, and no
    other test could have one of its own."""
    if find_chromium() is None and not os.environ.get("CI"):
        pytest.skip("there is no Chromium here; `make test` installs it where it can")
    with launched_browser() as browser:
        yield browser


@pytest.fixture
def context(browser: Browser, page_server: Server) -> Iterator[BrowserContext]:
    context = browser.new_context(
        base_url=page_server.url,
        viewport=WIDE,
        color_scheme="dark",
        reduced_motion="reduce",
        locale="en-GB",
        timezone_id="UTC",
    )
    context.set_default_timeout(20_000)
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext, page_server: Server) -> Iterator[Page]:
    """A page on which every error fails the test, and so does every request to another host."""
    page = context.new_page()
    complaints = watch_for_complaints(page, page_server.url)
    yield page
    assert not complaints, complaints


@pytest.fixture
def scene_page(context: BrowserContext, scene: Scene) -> Iterator[Page]:
    """The same for the scene's server."""
    page = context.new_page()
    complaints = watch_for_complaints(page, scene.server.url)
    yield page
    assert not complaints, complaints


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A directory for the programs of one test."""
    folder = tmp_path / "project"
    folder.mkdir()
    return folder
