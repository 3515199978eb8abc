"""Symptom: the user chose dark, and the page is light."""

from __future__ import annotations

DEFAULTS = {"theme": "light", "size": "12"}


def parse(text: str) -> dict[str, str]:
    chosen = {}
    for pair in text.split("&"):
        name, _, value = pair.partition("=")
        chosen[name] = value
    return chosen


def merge(chosen: dict[str, str]) -> dict[str, str]:
    merged = {**chosen, **DEFAULTS}  # @bug
    return merged


def render(text: str) -> str:
    chosen = parse(text)
    settings = merge(chosen)
    theme = settings["theme"]
    return f"<body class={theme}>"


def main() -> None:
    page = render("theme=dark&lang=de")
    print(page)  # @symptom


if __name__ == "__main__":
    main()

# @fix: merged = {**DEFAULTS, **chosen}
