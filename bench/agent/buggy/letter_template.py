"""Symptom: the letter to bob has the line for alice."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field


@dataclass
class Letter:
    title: str
    lines: list[str] = field(default_factory=list)


def write_letter(template: Letter, name: str, extra: str) -> Letter:
    letter = copy.copy(template)  # @bug
    letter.title = f"Dear {name}"
    if extra:
        letter.lines.append(extra)
    return letter


def render(letter: Letter) -> str:
    return " | ".join([letter.title, *letter.lines])


def main() -> None:
    template = Letter("", ["Hi."])
    first = write_letter(template, "alice", "See you.")
    second = write_letter(template, "bob", "")
    text = render(second)
    print(render(first))
    print(text)  # @symptom


if __name__ == "__main__":
    main()

# @fix: letter = copy.deepcopy(template)
