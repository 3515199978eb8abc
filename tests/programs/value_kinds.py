"""Values of every kind, to be looked at."""

import collections
import dataclasses
import enum
import threading


class Point:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x = x
        self.y = y


class Node:
    def __init__(self, value):
        self.value = value
        self.parent = None
        self.children = []


class Broken:
    def __repr__(self):
        raise ValueError("no picture")


class Slow:
    def __repr__(self):
        threading.Event().wait()


class Colour(enum.Enum):
    RED = 1


@dataclasses.dataclass
class Order:
    name: str
    total: float
    lines: list


COUNTER = 1


def inspect(argument):
    number = 42
    text = "naïve ☃ 😀"
    long_text = "x" * 100_000
    data = bytes(range(256))
    numbers = list(range(1_000_000))
    mapping = {"one": 1, 2: "two", (3, 4): [5]}
    unique = {1, 2, 3}
    fixed = (1, "b")
    point = Point(1, [2])
    order = Order("book", 9.5, [1, 2])
    colour = Colour.RED
    queue = collections.deque([1, 2, 3])
    node = Node("root")
    child = Node("leaf")
    child.parent = node
    node.children.append(child)
    ring = [1]
    ring.append(ring)
    broken = Broken()
    größe = 3
    nested = {"a": {"b": [{"c": 7}]}}
    return locals()  # @inspect


def outer(argument):
    mine = "outer's"
    inspect(argument * 2)
    return mine  # @outer_return


def keep_slow():
    slow = Slow()
    return slow  # @slow


outer(3)  # @outer
keep_slow()
print(COUNTER)
