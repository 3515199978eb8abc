"""When objects die, and who notices."""

import gc
import weakref


class Noisy:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("gone", self.name)


class Plain:
    __slots__ = ("held",)

    def __init__(self, held):
        self.held = held


class Node:
    def __init__(self, name):
        self.name = name
        self.links = []


def locals_die():
    first = Noisy("local")
    items = [Noisy("in a list"), 1]
    table = {"a": [Noisy("deep in a dict")]}
    items.append(2)
    table["a"].append(3)
    print("end of function", len(items), len(table))


def rebinding():
    value = Noisy("first")
    value = Noisy("second")
    print("bound again")
    del value
    print("deleted")
    plain = Plain(Noisy("in a slot"))
    plain.held = None
    print("slot is empty")


def popping():
    queue = [Noisy("one"), Noisy("two")]
    taken = queue.pop(0)
    print("taken", taken.name)
    taken = None
    print("dropped")
    queue.clear()
    print("cleared")


def watched():
    node = Node("weak")
    weakref.finalize(node, print, "finalized")
    reference = weakref.ref(node, lambda _: print("callback"))
    node.links.append(1)
    del node
    print("after", reference() is None)


def cycles():
    gc.collect()
    one, two = Node("a"), Node("b")
    one.links.append(two)
    two.links.append(one)
    reference = weakref.ref(one)
    one.links.append({"back": one})
    del one, two
    print("alive", reference() is not None)
    gc.collect()
    print("collected", reference() is None)


def generators():
    def produce():
        held = Noisy("in a generator")
        try:
            yield 1
            yield held
        finally:
            print("closed")

    going = produce()
    next(going)
    del going
    print("generator gone")


def raising():
    try:
        held = Noisy("in a frame of a traceback")
        raise ValueError(held.name)
    except ValueError as error:
        print("caught", error)
    del held
    print("handled")


def before():
    held = Noisy("seen by locals()")
    names = locals()
    extra = 1
    print(sorted(names))
    return extra


for function in (locals_die, rebinding, popping, watched, cycles, generators, raising):
    function()
    print("--", function.__name__)
before()
