"""Symptom: the latest release is said to be 1.9.3, although there is a 1.12.0."""

from __future__ import annotations

TAGS = "v1.2.0 v1.12.0 v1.9.3 v1.10.4 nightly"


def read_tags(text: str) -> list[str]:
    tags = []
    for word in text.split():
        if word.startswith("v"):
            tags.append(word[1:])
    return tags


def order_releases(tags: list[str]) -> list[str]:
    ordered = sorted(tags)  # @bug
    return ordered


def find_latest(text: str) -> str:
    tags = read_tags(text)
    ordered = order_releases(tags)
    return ordered[-1]


def main() -> None:
    latest = find_latest(TAGS)
    print(f"latest: {latest}")  # @symptom


if __name__ == "__main__":
    main()

# @fix: ordered = sorted(tags, key=lambda tag: [int(part) for part in tag.split(".")])
