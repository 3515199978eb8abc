"""Numbers for what an editor knows by a number only: sources without a file, lines to jump to."""

from __future__ import annotations

from typing import Generic, TypeVar

from holdfast import errors

Thing = TypeVar("Thing")


class Numbers(Generic[Thing]):
    """The same thing has the same number, from 1 on."""

    def __init__(self, meaning: str) -> None:
        self._meaning = meaning
        self._things: list[Thing] = []
        self._numbers: dict[Thing, int] = {}

    def add(self, thing: Thing) -> int:
        if thing not in self._numbers:
            self._things.append(thing)
            self._numbers[thing] = len(self._things)
        return self._numbers[thing]

    def get(self, number: int) -> Thing:
        if not 1 <= number <= len(self._things):
            raise errors.InvalidInput(f"there is no {self._meaning} {number}")
        return self._things[number - 1]
