"""docs/api.md says what the server does now."""

from __future__ import annotations

import runpy
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def test_the_page_of_the_interface_is_up_to_date() -> None:
    made = runpy.run_path(str(DOCS / "generate_api.py"))

    expected = made["page"](made["document"]())

    written = (DOCS / "api.md").read_text(encoding="utf-8")
    assert written == expected, "run `python docs/generate_api.py`"
