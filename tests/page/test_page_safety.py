"""Values of debugged programs stay text, and no other site can use the page."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from browsers import shown_session
from harness import Server

MARKUP = "<img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>"


def test_markup_in_values_names_and_output_stays_text(
    page: Page, page_server: Server, project: Path
) -> None:
    script = f"text = {MARKUP!r}\nholder = {{text: [text]}}\nprint(text)\nprint('done')\n"
    (project / "markup.py").write_text(script)
    with shown_session(page, page_server, name=MARKUP, cwd=str(project)) as session:
        session.post("/breakpoints", {"file": "markup.py", "line": 4})
        session.post("/launch", {"script": "markup.py", "wait": 60})
        page.goto("/")
        expect(page.get_by_role("link", name="<img src=x")).to_be_visible()
        page.goto(f"/programs/{session.id}")
        expect(page.get_by_role("heading", level=1)).to_contain_text("<img src=x")
        expect(page.get_by_text("onerror").first).to_be_visible()
        assert page.locator("img[src='x']").count() == 0
        assert "taken" not in page.title()


@pytest.fixture
def foreign_page(page_server: Server) -> Iterator[str]:
    """Another site on this machine, which tries to use the page."""
    attack = f"""<!doctype html><body><iframe src="{page_server.url}/"></iframe>
        <script>
        fetch("{page_server.url}/sessions", {{method: "POST", body: "{{}}",
            headers: {{"content-type": "application/json"}}}})
            .then(() => document.title = "got in", () => document.title = "kept out");
        </script>""".encode()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(attack)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as site:
        thread = threading.Thread(target=site.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{site.server_port}/"
        site.shutdown()
        thread.join()


def test_another_site_can_neither_frame_the_page_nor_ask_the_server(
    browser: Browser, page_server: Server, foreign_page: str
) -> None:
    before = page_server.list_ids()
    context = browser.new_context()
    try:
        page = context.new_page()
        page.goto(foreign_page)
        page.wait_for_function("() => document.title !== ''")
        assert page.title() == "kept out"
        frames = [frame for frame in page.frames if frame != page.main_frame]
        assert all("Holdfast" not in frame.content() for frame in frames)
    finally:
        context.close()
    assert page_server.list_ids(but=before) == []
