"""Values that must not be touched: their code would print, block, raise, or change them."""

import json
import re
import sqlite3
import weakref


def speak(text):
    print("RAN", text)


class Meta(type):
    def __hash__(cls):
        speak("hash of the class")
        return 1

    def __eq__(cls, other):
        speak("eq of the class")
        return True

    def __getattribute__(cls, name):
        if name not in ("__name__", "__init__", "__call__", "__abstractmethods__", "__mro__"):
            speak("getattribute of the class " + name)
        return type.__getattribute__(cls, name)

    def __instancecheck__(cls, value):
        speak("instancecheck")
        return True


class Loud(metaclass=Meta):
    def __init__(self):
        self.value = 1

    def __repr__(self):
        speak("repr")
        raise ValueError

    __str__ = __format__ = __repr__

    def __eq__(self, other):
        speak("eq")
        return True

    def __hash__(self):
        speak("hash")
        return 7

    def __bool__(self):
        speak("bool")
        return False

    def __len__(self):
        speak("len")
        return 3

    def __iter__(self):
        speak("iter")
        return iter(())

    def __getattr__(self, name):
        speak("getattr " + name)
        return 1

    def __del__(self):
        print("gone", self.value)

    @property
    def counter(self):
        speak("property")
        self.value += 1
        return self.value

    def __reduce__(self):
        speak("reduce")
        return (int, ())


class LoudText(str):
    def __str__(self):
        speak("str of text")
        return "x"

    __repr__ = __str__

    def __len__(self):
        speak("len of text")
        return 0

    def __eq__(self, other):
        speak("eq of text")
        return True

    __hash__ = str.__hash__


class LoudList(list):
    def __iter__(self):
        speak("iter of list")
        return iter(())

    def __len__(self):
        speak("len of list")
        return 0

    def __getitem__(self, key):
        speak("getitem of list")
        return None


class LoudDict(dict):
    def items(self):
        speak("items")
        return []

    def __getitem__(self, key):
        speak("getitem of dict")
        return None


class Refuses:
    def __getattribute__(self, name):
        speak("getattribute " + name)
        raise RuntimeError(name)


def loud_locals():
    one = Loud()
    several = [one, {"key": one}, (one,)]
    text = LoudText("text")
    words = LoudList([1, 2])
    table = LoudDict(a=1)
    refuses = Refuses()
    words.append(3)
    for index in range(3):
        several.append(index)
    one = None
    print("after one")
    several.clear()
    print("after several")
    reference = weakref.ref(Loud())
    print("dead", reference() is None)
    return index


def large_locals():
    text = "x" * 10_000_000
    numbers = list(range(1_000_000))
    total = 0
    for number in range(200):
        total += number
        numbers[number] = -1
    numbers.append(1)
    return total, len(text), len(numbers)


def extensions(rows):
    connection = sqlite3.connect(":memory:")
    connection.execute("create table t (a, b)")
    connection.executemany("insert into t values (?, ?)", rows)
    found = connection.execute("select sum(a) from t").fetchone()
    connection.close()
    pattern = re.compile(r"(\d+)-(\w+)")
    match = pattern.match("12-ab")
    groups = match.groups() if match else None
    parsed = json.loads(json.dumps({"rows": rows}))
    return found, groups, parsed


def numbers():
    zero = 0.0
    zero = -0.0
    one = 1
    one = True
    one = 1.0
    nothing = float("nan")
    nothing = float("nan")
    huge = 10**5000
    huge += 1
    items = [1, 2]
    items[0] = True
    unit = 2j
    return zero, one, unit


def main():
    print(loud_locals(), large_locals(), extensions([(1, "x"), (2, "y")]))
    print(numbers())


main()
