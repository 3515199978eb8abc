"""Exceptions raised here and in libraries, caught and not."""

import json
import sys


def parse(text):
    return int(text)  # @int


def inner():
    raise KeyError("key")  # @inner


def outer():
    inner()  # @outer


def main():
    try:
        json.loads("{")  # raised, and not caught, inside json
    except ValueError:
        pass
    json.loads("[1]")
    next(iter([]), None)
    for _ in [1]:  # ends by a StopIteration that nobody sees
        pass
    try:
        parse("x")  # @handled
    except ValueError:
        print("went on")
    try:
        outer()
    except KeyError:
        pass
    if sys.argv[1:] == ["crash"]:
        raise RuntimeError("the end")  # @crash


main()  # @start
