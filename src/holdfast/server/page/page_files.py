"""Serves the page: one document for every view, and the files that it loads.

The policy allows the page its own files and its own server, and nothing else: no inline script or
style, no other host, no frame around it, and no text that becomes markup (trusted types).
"""

from __future__ import annotations

import html
import os
import secrets
from pathlib import Path

from starlette.responses import HTMLResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from holdfast.server.page.page_addresses import ASSETS, is_page_path

_BUILT = Path(__file__).with_name("built")
_PROBLEM = Path(__file__).with_name("build_problem.txt")
_NONCE = "HOLDFAST_NONCE"  # stands in the built document for the nonce of one answer
_NOT_BUILT = """\
<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Holdfast</title></head>
<body>
<h1>Holdfast is running, without its page</h1>
<p>The page was not built when Holdfast was installed. Everything else works: see
<a href="/openapi.json">/openapi.json</a>, or run <code>holdfast --help</code>.</p>
<p>To build the page, run <code>make web</code> in the source directory, or install a wheel.</p>
{problem}
</body>
</html>
"""


class PageFiles:
    """An ASGI application for the addresses of the page."""

    def __init__(self) -> None:
        # Developers of the page may serve a build from elsewhere.
        self._built = Path(os.environ.get("HOLDFAST_PAGE_DIR") or _BUILT)
        self._assets = _AssetFiles(directory=self._built / ASSETS, check_dir=False)

    def serves(self, scope: Scope) -> bool:
        return scope["method"] in ("GET", "HEAD") and is_page_path(scope["path"])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        prefix = f"/{ASSETS}/"
        if scope["path"].startswith(prefix):
            path = scope["path"].removeprefix(prefix)
            response = await self._assets.get_asset(path, scope)
        else:
            response = self._build_document()
        await response(scope, receive, send)

    def _build_document(self) -> Response:
        nonce = secrets.token_urlsafe(16)
        try:
            text = (self._built / "index.html").read_text(encoding="utf-8")
        except OSError:
            text = _build_notice()
        return HTMLResponse(text.replace(_NONCE, nonce), headers=_build_headers(nonce))


def _build_notice() -> str:
    """What stands in place of the page; with the reason, if the build left one."""
    try:
        problem = f"<pre>{html.escape(_PROBLEM.read_text(encoding='utf-8'))}</pre>"
    except OSError:
        problem = ""
    return _NOT_BUILT.format(problem=problem)


class _AssetFiles(StaticFiles):
    async def get_asset(self, path: str, scope: Scope) -> Response:
        """A file whose name has the hash of its content, so that browsers may keep it."""
        try:
            full_path, stat = self.lookup_path(path)
        except (OSError, ValueError):  # no path that a file could have
            full_path, stat = "", None
        if stat is None or not Path(full_path).is_file():
            return Response("no such file", 404, media_type="text/plain")
        response = self.file_response(full_path, stat, scope)
        response.headers["cache-control"] = "public, max-age=31536000, immutable"
        response.headers["cross-origin-resource-policy"] = "same-origin"
        return response


def _build_headers(nonce: str) -> dict[str, str]:
    return {
        "content-security-policy": "; ".join(
            (
                "default-src 'none'",
                "script-src 'self'",
                f"style-src 'self' 'nonce-{nonce}'",
                "img-src 'self'",
                "font-src 'self'",
                "connect-src 'self'",
                "base-uri 'none'",
                "form-action 'none'",
                "frame-ancestors 'none'",
                "require-trusted-types-for 'script'",
                "trusted-types 'none'",
            )
        ),
        "x-frame-options": "DENY",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy": "camera=(), microphone=(), geolocation=(), usb=()",
        "cache-control": "no-store",
    }
