"""docs/api.md and the TypeScript types say what the server does now."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
COMMAND = "run `python docs/generate_api.py`"


@pytest.fixture(scope="module")
def generator() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "docs" / "generate_api.py"))


def test_the_page_of_the_interface_is_up_to_date(generator: dict[str, Any]) -> None:
    expected = generator["render_page"](generator["build_document"](), generator["load_examples"]())
    assert generator["PAGE"].read_text(encoding="utf-8") == expected, COMMAND


def test_the_types_of_the_page_are_up_to_date(generator: dict[str, Any]) -> None:
    expected = generator["render_typescript"](generator["build_document"]())
    assert generator["TYPES"].read_text(encoding="utf-8") == expected, COMMAND
