"""A function given to `map` that changes what it gets; then it runs again."""

import functools
import json


def clean(record):
    record["price"] = record["price"] / 100  # @bug
    return record


def read(text):
    return json.loads(text)


def main():
    rows = read('[{"price": 250, "n": 2}, {"price": 100, "n": 1}]')
    shown = list(map(clean, rows))
    best = max(shown, key=lambda row: row["price"])
    again = list(map(clean, rows))
    total = functools.reduce(lambda sum_, row: sum_ + row["price"] * row["n"], again, 0)
    print(total, best["n"])  # @why total


main()
