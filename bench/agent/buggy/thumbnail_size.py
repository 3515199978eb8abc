"""Symptom: a picture of 400 x 300 becomes a thumbnail of 75 x 100."""

from __future__ import annotations


def read_header(header: str) -> tuple[int, int]:
    _kind, size = header.split(" ")
    width, height = size.split("x")
    return int(width), int(height)


def scale(size: tuple[int, int], longest: int) -> tuple[int, int]:
    height, width = size  # @bug
    factor = longest / max(width, height)
    return round(width * factor), round(height * factor)


def describe(header: str) -> str:
    size = read_header(header)
    thumbnail = scale(size, 100)
    return "{} x {}".format(*thumbnail)


def main() -> None:
    text = describe("png 400x300")
    print(text)  # @symptom


if __name__ == "__main__":
    main()

# @fix: width, height = size
