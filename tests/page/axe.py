"""Checks of accessibility, by axe."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page

_AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def find_barriers(page: Page) -> list[str]:
    """What axe finds at the level of WCAG 2.2 AA.

    It is evaluated and not inserted, because the page's policy allows no foreign script."""
    if page.evaluate("() => typeof axe") == "undefined":
        page.evaluate(_AXE.read_text(encoding="utf-8"))
    found = page.evaluate("tags => axe.run({runOnly: tags})", _TAGS)
    return [
        f"{violation['id']}: {node['target']} {node.get('failureSummary', '')[:200]}"
        for violation in found["violations"]
        for node in violation["nodes"]
    ]
