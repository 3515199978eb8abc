"""Symptom: the price of a lamp is None."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

ANSWERS = iter(["busy", "1490", "busy", "80"])
FAILURES: list[str] = []


def retried(function: Callable[[str], Any]) -> Callable[[str], Any]:
    def wrapper(name: str) -> Any:
        try:
            return function(name)
        except ConnectionError as error:
            again = function(name)  # @bug
            FAILURES.append(str(error))

    return wrapper


@retried
def fetch_price(name: str) -> int:
    answer = next(ANSWERS)
    if answer == "busy":
        raise ConnectionError(name)
    return int(answer)


def describe(name: str) -> str:
    price = fetch_price(name)
    return f"{name}: {price}"


def main() -> None:
    text = describe("lamp")
    print(text)  # @symptom


if __name__ == "__main__":
    main()

# @fix: return function(name)
