"""Symptom: TypeError, because the path to the page 'boots' is None, and the page is there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Page:
    name: str
    pages: list[Page] = field(default_factory=list)


def build_site() -> Page:
    shoes = Page("shoes", [Page("sandals"), Page("boots")])
    return Page("home", [Page("help"), shoes, Page("about")])


def find_path(page: Page, wanted: str) -> Any:
    if page.name == wanted:
        return [wanted]
    for inner in page.pages:
        found = find_path(inner, wanted)
        if found is not None:
            found.insert(0, page.name)  # @bug
    return None


def render_path(site: Page, wanted: str) -> str:
    path = find_path(site, wanted)
    return " > ".join(path)  # @symptom


def main() -> None:
    site = build_site()
    for wanted in ("home", "boots"):
        print(render_path(site, wanted))


if __name__ == "__main__":
    main()

# @fix: return [page.name, *found]
