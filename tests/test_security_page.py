"""docs/security.md: every way in names tests that close it, and they exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")


def list_ways() -> list[str]:
    """The rows of the tables below "Every way in"."""
    section = PAGE.partition("## Every way in")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")]
    return [row for row in rows if not row.startswith("| way in |")]


def test_there_are_ways_in() -> None:
    assert len(list_ways()) > 30


@pytest.mark.parametrize("way", list_ways(), ids=lambda way: way.split("|")[1].strip())
def test_every_way_in_names_tests_that_exist(way: str) -> None:
    cell = way.split("|")[-2]
    files = re.findall(r"`(tests/[\w/]+\.py)`: ((?:`\w+`(?:, )?)+)", cell)
    assert files, "no test closes this"
    named = [(file, name) for file, names in files for name in re.findall(r"`(\w+)`", names)]
    assert len(named) == len(re.findall(r"`test_\w+`", cell)), "a test without its file"
    for file, name in named:
        text = (ROOT / file).read_text(encoding="utf-8")
        assert re.search(rf"^def {name}\(", text, re.MULTILINE), f"{file} has no {name}"
