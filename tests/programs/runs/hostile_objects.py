"""Objects whose every method says that it was called, or raises."""

import sys


class Meta(type):
    def __eq__(cls, other):
        print("Meta.__eq__")
        return NotImplemented

    def __hash__(cls):
        print("Meta.__hash__")
        return 1

    def __getattribute__(cls, name):
        if name not in ("__dict__", "__class__"):
            print("Meta.__getattribute__", name)
        return type.__getattribute__(cls, name)


class Loud(metaclass=Meta):
    kept = []

    def __init__(self):
        object.__setattr__(self, "field", 1)

    def __getattribute__(self, name):
        print("__getattribute__", name)
        return object.__getattribute__(self, name)

    def __getattr__(self, name):
        print("__getattr__", name)
        raise AttributeError(name)

    def __setattr__(self, name, value):
        print("__setattr__", name)
        object.__setattr__(self, name, value)

    def __repr__(self):
        print("__repr__")
        raise RuntimeError

    __str__ = __repr__

    def __eq__(self, other):
        print("__eq__")
        return self is other

    def __hash__(self):
        print("__hash__")
        return 7

    def __len__(self):
        print("__len__")
        return 3

    def __bool__(self):
        print("__bool__")
        return True

    def __iter__(self):
        print("__iter__")
        return iter([1])

    def __index__(self):
        print("__index__")
        return 0

    @property
    def computed(self):
        print("computed")
        return 5

    def __getitem__(self, key):
        print("__getitem__", key)
        return key

    def __setitem__(self, key, value):
        print("__setitem__", key)


class Key:
    """Equal to a text, and in the same place of a dict."""

    def __init__(self, text):
        self.text = text

    def __eq__(self, other):
        print("Key.__eq__")
        return self.text == other

    def __hash__(self):
        print("Key.__hash__")
        return hash(self.text)


class Text(str):
    def __eq__(self, other):
        print("Text.__eq__")
        return str.__eq__(self, other)

    def __hash__(self):
        print("Text.__hash__")
        return str.__hash__(self)


class Mapping(dict):
    def get(self, key, default=None):
        print("Mapping.get")
        return dict.get(self, key, default)

    def __getitem__(self, key):
        print("Mapping.__getitem__")
        return dict.__getitem__(self, key)

    def __missing__(self, key):
        print("__missing__")
        return 0


def use(value, values):
    print("use")
    other = value
    values.append(other)
    number = value.computed
    value.field = number
    value[2] = value[1]
    items = [value, values]
    items[value] = 3
    for item in value:
        last = item
    if value:
        last += 1
    return items


def keys():
    table = {Key("a"): 1}
    print("stored")
    found = table["a"]
    table["b"] = found
    text = Text("b")
    print("looked up")
    again = table[text]
    mapping = Mapping(x=1)
    total = mapping["x"] + mapping["y"]
    mapping["z"] = total
    return again, total


def main():
    loud = Loud()
    values = []
    for round_ in range(2):
        use(loud, values)
    keys()
    print(len(values), sys.getrefcount(loud) < 20)


main()
