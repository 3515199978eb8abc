"""Objects that change in place: through other names, in functions that are called, at depth."""

import collections
import threading

LOG = []
COUNT = 0
SETTINGS = {"a": 1}


class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y
        self.tags = []

    def move(self, dx):
        self.x += dx
        return self


class Slotted:
    __slots__ = ("left", "right", "__weakref__")

    def __init__(self, left):
        self.left = left


def append_to(items, value):
    items.append(value)
    return len(items)


def aliases():
    out = []
    alias = out
    alias.append(10)
    append_to(out, 20)
    other = [out, 1]
    other[0].append(30)
    alias += [40]
    add = out.append
    add(50)
    out[1:3] = []
    out.sort(reverse=True)
    out.clear()
    return other


def objects():
    point = Point(1, 2)
    point.x = 5
    point.tags.append("a")
    same = point.move(3)
    same.y = None
    box = Slotted(point)
    box.left.x = 0
    box.right = [point]
    del box.left
    points = [point, Point(0, 0)]
    points[1].y = 7
    table = {"p": point}
    table["p"].x -= 1
    table["q"] = 3
    table.pop("q")
    return same is point


def containers():
    queue = collections.deque([1, 2])
    queue.appendleft(0)
    counts = collections.Counter("abca")
    counts["a"] += 1
    groups = collections.defaultdict(list)
    for word in ("x", "yy", "z"):
        groups[len(word)].append(word)
    ordered = collections.OrderedDict(a=1)
    ordered.move_to_end("a")
    ordered["b"] = {1}
    ordered["b"].add(2)
    raw = bytearray(b"abc")
    raw[0] = 120
    numbers = {3, 1}
    numbers |= {2}
    numbers.discard(3)
    grid = [[0] * 3 for _ in range(2)]
    grid[1][2] = 9
    return len(groups), raw


def module_data(n):
    global COUNT
    COUNT += n
    LOG.append(n)
    SETTINGS["b"] = COUNT
    SETTINGS.update(a=n)
    del SETTINGS["b"]
    change_module_data()
    return COUNT


def change_module_data():
    global COUNT
    COUNT = -1
    LOG.extend([1, 2])


def closures(n):
    total = 0
    seen = []

    def add(value):
        nonlocal total
        total += value
        seen.append(total)
        return total

    for i in range(n):
        add(i)
    square = lambda v: v * v + total
    squares = [square(v) for v in seen if (w := v) > 0]
    pairs = {k: v for k, v in zip("ab", seen)}
    numbers = {v % 2 for v in seen}
    generated = sum(v for v in seen)
    return squares, pairs, numbers, generated, w


def shadowed(n):
    i = n
    made = [lambda: i for i in range(2)]
    values = [i for i in range(3)]
    return i, values, made[0]()


def walruses(items):
    while (item := items.pop()) is not None:
        if (double := item * 2) > 4:
            last = double
    return item, last


def in_thread(n):
    shared = []

    def work():
        shared.append(n)

    worker = threading.Thread(target=work)
    worker.start()
    worker.join()
    return shared


def main():
    print(aliases(), objects(), containers())
    print(module_data(3), module_data(4), LOG, SETTINGS)
    print(closures(3), shadowed(7), walruses([None, 1, 2, 3, 2]), in_thread(4))


main()
