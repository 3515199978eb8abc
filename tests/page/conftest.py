"""A real browser on a real server, which the tests of the page share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from browsers import KeptPages, find_chromium
from harness import Server
from page_scene import Scene, built_scene

_PAGES = KeptPages()


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


@pytest.fixture(scope="session")
def pages() -> Iterator[KeptPages]:
    """After the last test of a run they are closed before the run looks for left processes."""
    yield _PAGES
    _PAGES.close()


@pytest.fixture
def browser(pages: KeptPages) -> Browser:
    """One for all tests of the page that come one after the other."""
    if find_chromium() is None and not os.environ.get("CI"):
        pytest.skip("there is no Chromium here; `make test` installs it where it can")
    return pages.browser


@pytest.hookimpl(trylast=True)  # after the fixtures of the test
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    """While it is open, Playwright's event loop runs in this thread: others could have none."""
    if nextitem is not None and nextitem.path.parent != Path(__file__).parent:
        _PAGES.close()


@pytest.fixture
def page(browser: Browser, page_server: Server) -> Iterator[Page]:
    """A page on which every error fails the test, and so does every request to another host."""
    yield from check_page(page_server)


@pytest.fixture
def scene_page(browser: Browser, scene: Scene) -> Iterator[Page]:
    """The same for the scene's server."""
    yield from check_page(scene.server)


def check_page(server: Server) -> Iterator[Page]:
    with _PAGES.use(server.url) as kept:
        yield kept.page
        assert not kept.complaints, kept.complaints


@pytest.fixture
def refused_page(browser: Browser, page_server: Server) -> Iterator[Page]:
    """A page that asks for what the server refuses: the browser writes that on its console."""
    with _PAGES.use(page_server.url) as kept:
        yield kept.page


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A directory for the programs of one test."""
    folder = tmp_path / "project"
    folder.mkdir()
    return folder
