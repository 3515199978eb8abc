"""Symptom: the document begins with its end."""

from __future__ import annotations

import asyncio

PAGES = {1: "Intro", 2: "Setup", 3: "End"}


async def fetch(number: int) -> str:
    for _ in range(6 // number):
        await asyncio.sleep(0)
    return PAGES[number]


async def collect() -> list[str]:
    tasks = [asyncio.create_task(fetch(number)) for number in PAGES]
    parts = []
    for task in asyncio.as_completed(tasks):  # @bug
        text = await task
        parts.append(text)
    return parts


def build() -> str:
    parts = asyncio.run(collect())
    return " / ".join(parts)


def main() -> None:
    document = build()
    print(document)  # @symptom


if __name__ == "__main__":
    main()

# @fix: for task in tasks:
