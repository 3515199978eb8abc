"""Values that are written in every way there is; the arguments say which functions run."""

import asyncio
import collections
import copy
import dataclasses
import gc
import os
import pickle
import sys
import threading

total = 0
settings = {"limit": 1}


class Counter:
    kind = "plain"

    def __init__(self, value=0):
        self.value = value
        self.other = 0
        self.items = []

    def add(self, number):
        self.value += number  # @method_write
        return self.value


class Token:
    def __init__(self, text=""):
        self.text = text

    def __eq__(self, other):
        return isinstance(other, type(self)) and self.text == other.text

    def __reduce__(self):
        return type(self), (self.text,)

    @classmethod
    def create(cls):
        return cls()


class Slotted:
    __slots__ = ("value",)

    def __init__(self):
        self.value = 0


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: int


class Thermometer:
    def __init__(self):
        self._celsius = 20

    @property
    def fahrenheit(self):
        return self._celsius * 9 / 5 + 32

    def heat(self, degrees):
        self._celsius += degrees  # @property_write
        return self


def attribute():
    counter, twin = Counter(), Counter()
    done = 0  # @attribute_ready
    twin.value = 5
    counter.other = 1
    counter.value = 1  # @attribute_first
    counter.value = 1  # @attribute_same
    counter.add(2)
    setattr(counter, "value", 9)  # @attribute_setattr
    del counter.value  # @attribute_deleted
    counter.value = 10  # @attribute_again
    done = len("a line between")
    done = 1  # @attribute_done
    assert type(counter) is Counter, type(counter)
    return done, twin


def identity():
    point, other, token = Point(1), Point(1), Token()
    ready = 0  # @identity_ready
    assert point == other and isinstance(point, Point) and point.__class__ is Point
    assert pickle.loads(pickle.dumps(point)) == point == copy.copy(point) == copy.deepcopy(point)
    assert type(copy.copy(point)) is Point and repr(point) == "Point(x=1, y=0)"
    assert dataclasses.replace(point, y=2) == Point(1, 2)
    assert dataclasses.asdict(point) == {"x": 1, "y": 0}
    point.x = 2  # @identity_write
    assert token == Token() == pickle.loads(pickle.dumps(token)) == copy.deepcopy(token)
    assert {Token: "found"}[type(token)] == "found" and type(token) == Token
    assert [type(made) is Token for made in (type(token)(), token.create())] == [True, True]
    after = 1  # @identity_after
    assert type(point) is Point, type(point)
    assert type(token) is Token, type(token)
    print("identity holds")
    return ready, after


def slots():
    slotted = Slotted()
    ready = 0  # @slots_ready
    slotted.value = 1  # @slots_write
    return ready


def frozen():
    value, twin = Frozen(1), Frozen(1)
    ready = 0  # @frozen_ready
    object.__setattr__(twin, "x", 7)
    object.__setattr__(value, "x", 2)  # @frozen_write
    assert value == Frozen(2) and twin == Frozen(7)
    return ready


def property_value():
    thermometer = Thermometer()
    ready = 0  # @property_ready
    thermometer.heat(0)
    thermometer.heat(10)
    return ready  # @property_end


def class_attribute():
    ready = 0  # @class_ready
    Counter.kind = "fancy"  # @class_write
    return ready  # @class_end


def dict_item():
    prices = {"apple": 1, "pear": 2}
    twin = dict(prices)
    ready = 0  # @dict_ready
    twin["apple"] = 9
    prices["pear"] = 3
    prices["apple"] = 2  # @dict_first
    prices.update(apple=3)  # @dict_update
    del prices["apple"]  # @dict_deleted
    prices["apple"] = 4  # @dict_added
    prices.clear()  # @dict_cleared
    return ready  # @dict_end


def list_item():
    numbers = [1, 2, 3]
    ready = 0  # @list_ready
    numbers[0] = 9
    numbers[1] = 5  # @list_write
    numbers.insert(0, 0)  # @list_insert
    return ready  # @list_end


def bump():
    global total
    total += 1  # @global_bump


def global_variable():
    ready = 0  # @global_ready
    bump()
    sys.modules[__name__].total = 10  # @global_attribute
    ready = 1  # @global_end
    return ready


def local(depth=1):
    count = 0
    ready = 0  # @local_ready
    if depth:
        local(depth - 1)  # another count
    count = 1  # @local_first
    count = 1  # @local_same
    for count in (2, 3):  # @local_loop
        pass
    shown = [count for count in (7, 8)]  # not this one either
    del count  # @local_deleted
    return ready, shown  # @local_end


def in_place():
    items = [1]
    alias = items
    counter = Counter()
    ready = 0  # @in_place_ready
    items.append(2)  # @in_place_append
    grow(alias)
    counter.items.append(1)  # @in_place_attribute
    alias.sort(reverse=True)  # @in_place_sort
    return ready  # @in_place_end


def grow(items):
    other = 1
    items += [other]  # @in_place_callee
    return None


def nested():
    config = {"a": {"b": [1]}}
    box = collections.deque([1])
    ready = 0  # @nested_ready
    config["a"]["b"].append(2)  # @nested_deep
    config.update(c=1)  # @nested_update
    del config["c"]  # @nested_deleted
    box.append(2)  # @nested_deque
    return ready  # @nested_end


def closure():
    count = 0

    def increment():
        nonlocal count
        count += 1  # @closure_write
        return count

    ready = 0  # @closure_ready
    increment()
    count = 5  # @closure_outer
    return ready  # @closure_end


def make_counter():
    count = 0

    def increment():
        nonlocal count
        ready = 0  # @cell_ready
        count += 1  # @cell_write
        return ready

    return increment


def cell():
    first, second = make_counter(), make_counter()
    second()
    first()
    second()
    first()
    print("cells", first.__closure__[0].cell_contents, second.__closure__[0].cell_contents)


def generator():
    def numbers():
        number = 0
        ready = 0  # @generator_ready
        while number < 3:
            number += 1  # @generator_write
            yield number
        return ready

    print(sum(numbers()))


def coroutine():
    async def work():
        steps = 0
        ready = 0  # @coroutine_ready
        for _ in range(2):
            await asyncio.sleep(0)
            steps += 1  # @coroutine_write
        return ready

    async def main():
        await asyncio.gather(work(), asyncio.sleep(0))

    asyncio.run(main())


def threads():
    counter = Counter()
    ready = 0  # @threads_ready
    workers = [threading.Thread(target=counter.add, args=(n,)) for n in (1, 2)]
    for worker in workers:
        worker.start()
        worker.join()
    return ready


def collected():
    counter, table, numbers = Counter(), {"a": 1}, [1, 2]
    ready = 0  # @collected_ready
    counter = table = numbers = None
    gc.collect()
    ready = 1  # @collected_after
    return ready


def returns():
    helper()
    after = 1  # @returns_after
    return after


def helper():
    inside = 0  # @returns_ready
    inside += 1
    return inside


def fails():
    try:
        broken()
    except ZeroDivisionError:
        pass
    return 0  # @fails_after


def broken():
    inside = 0  # @fails_ready
    return 1 / inside


def stepping():
    count = 0
    ready = 0  # @stepping_ready
    count = 1  # @stepping_write
    second = 2  # @stepping_second
    third = 3  # @stepping_third
    return ready, count, second, third


def until():
    numbers = []
    ready = 0  # @until_ready
    for number in range(5):
        numbers.append(number)  # @until_append
    return ready  # @until_end


def hot():
    counter = Counter()
    ready = 0  # @hot_ready
    for number in range(1000):
        counter.value = number  # @hot_write
    return ready


def many_writers():
    table, counter = {"key": 0}, Counter()
    ready = 0  # @writers_ready

    def write(number):
        for turn in range(2000):
            table["key"] = turn
            counter.value = turn * 10 + number  # @writers_write

    workers = [threading.Thread(target=write, args=(n,)) for n in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print("written", table["key"])
    return ready


def few_writers():
    counter = Counter()
    ready = 0  # @few_ready
    workers = [threading.Thread(target=counter.add, args=(n,)) for n in range(1, 5)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return ready


def forks():
    counter, table = Counter(), {"key": 0}
    ready = 0  # @forks_ready
    child = os.fork()
    if child == 0:
        counter.value = table["key"] = 1
        os._exit(0 if type(counter) is Counter else 3)
    print("child", os.WEXITSTATUS(os.waitpid(child, 0)[1]))
    counter.value = 2  # @forks_write
    return ready


def imports():
    ready = 0  # @imports_ready
    import colorsys

    colorsys.ONE_THIRD = 3  # @imports_write
    return ready


def unpacking():
    left, right = 0, 0
    ready = 0  # @unpacking_ready
    left, right = 1, 2  # @unpacking_write
    with open("/dev/null") as right:  # @unpacking_with
        pass
    return ready, left


def reordered():
    steps = collections.OrderedDict(a=1, b=2)
    ready = 0  # @reordered_ready
    steps.move_to_end("a")  # @reordered_move
    return ready


def branches():
    count, items = 0, []
    ready = 0  # @branches_ready
    for number in range(3):
        if number == 1:
            count = 5  # @branches_write
            items = [number]  # @branches_list
        ready = number
    return ready, count, items


if __name__ == "__main__":
    for function in sys.argv[1:]:
        globals()[function]()
    print("end")
