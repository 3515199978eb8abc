"""Closures, classes, decorators, comprehensions, globals, recursion, threads."""

import functools
import threading

COUNT = 0


def trace_calls(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        global COUNT
        COUNT += 1
        return function(*args, **kwargs)

    return wrapper


def make_counter(start):
    value = start

    def bump(by=1):
        nonlocal value
        value += by
        return value

    return bump


class Base:
    shared = []
    limit: int = 3

    def __init__(self, name):
        self.name = name
        self._size = 0

    @property
    def size(self):
        return self._size

    @size.setter
    def size(self, value):
        self._size = min(value, self.limit)

    @classmethod
    def make(cls, name):
        return cls(name)

    @staticmethod
    def twice(value):
        return value * 2

    def __len__(self):
        return self._size


class Derived(Base):
    class Inner:
        depth = 2

    def __init__(self, name):
        super().__init__(name.upper())
        self.shared.append(name)


@trace_calls
def factorial(number):
    if number < 2:
        return 1
    return number * factorial(number - 1)


@trace_calls
def fold(values, key=lambda value: value):
    pairs = {key(value): value for value in values}
    nested = [[row * column for column in range(2)] for row in range(2)]
    kept = {value for value in values if value > 1}
    return sorted(pairs.items()), nested, len(kept)


def work(name, results):
    total = 0
    for number in range(3):
        total += number
    results[name] = total


def main():
    one, two = make_counter(0), make_counter(10)
    one()
    two(5)
    one()
    derived = Derived.make("x")
    derived.size = 10
    size = derived.size + len(derived) + Derived.twice(2)
    ordered = sorted([3, 1, 2], key=lambda value: -value)
    results = {}
    for name in ("a", "b"):
        thread = threading.Thread(target=work, args=(name, results))
        thread.start()
        thread.join()
    names = list(map(str.upper, results))
    return size, ordered, names, factorial(4), fold([1, 2, 3])


main()
