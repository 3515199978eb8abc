"""A check of what data breakpoints are made of, on whichever interpreter runs it.

Standard library only, Python 3.9 on. usage: selfcheck_data.py DIRECTORY_OF_THE_PROBE
"""

from __future__ import annotations

import abc
import collections
import copy
import dataclasses
import enum
import importlib
import importlib.util
import pickle
import sys
import threading
from typing import Any


def load(directory: str) -> None:
    """The probe as the target sees it: a package called `_holdfast`."""
    spec = importlib.util.spec_from_file_location(
        "_holdfast", directory + "/__init__.py", submodule_search_locations=[directory]
    )
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["_holdfast"] = package
    spec.loader.exec_module(package)


class Noter:
    """Takes what a watch is told."""

    def __init__(self) -> None:
        self.writes: list[tuple[Any, Any, str]] = []

    def is_quiet(self, _old: Any, new: Any) -> bool:
        return bool(new == "quiet")

    def note_write(self, old: Any, new: Any, frame: Any) -> None:
        self.writes.append((old, new, frame.f_code.co_name))


class Plain:
    shared = 1

    def __init__(self) -> None:
        self.x = 0


class Slotted:
    __slots__ = ("x",)

    def __init__(self) -> None:
        self.x = 0


class Converting(Plain):
    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, str(value))


class Abstract(abc.ABC):  # noqa: B024
    def __init__(self) -> None:
        self.x = 0


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: int = 0


@dataclasses.dataclass
class Point:
    x: int = 0


class Registered:
    classes: list[type] = []  # noqa: RUF012

    def __init_subclass__(cls) -> None:
        Registered.classes.append(cls)

    def __init__(self) -> None:
        self.x = 0


class Colour(enum.Enum):
    RED = 1


# -- attributes -----------------------------------------------------------------------------------


def check_attribute(watches: Any, make: Any, write: Any, old: Any, new: Any) -> None:
    """Exactly one object is watched, only while it is, and everything is as before afterwards."""
    watched, other = make(), make()
    cls, members = type(watched), dict(vars(make))
    noter = Noter()
    restore = watches.watch(watched, "x", noter)
    write(other, 5)
    write(watched, "quiet")
    assert noter.writes == [], noter.writes
    write(watched, 1)
    assert noter.writes[-1][:2] == (old, new), noter.writes
    assert isinstance(watched, make)
    assert watched.__class__ is make
    restore()
    write(watched, 2)
    assert len(noter.writes) == 1
    assert type(watched) is cls
    assert dict(vars(make)) == members


def set_plainly(obj: Any, value: Any) -> None:
    obj.x = value


def set_past_it(obj: Any, value: Any) -> None:
    object.__setattr__(obj, "x", value)


def check_attributes(watches: Any) -> None:
    for make in (Plain, Slotted, Abstract, Point, Registered):
        check_attribute(watches, make, set_plainly, "quiet", 1)
    check_attribute(watches, Frozen, set_past_it, "quiet", 1)
    check_attribute(watches, Converting, set_plainly, "quiet", "1")
    assert Registered.classes == []


def check_identity(watches: Any) -> None:
    point, noters = Point(3), [Noter(), Noter()]
    restores = [watches.watch(point, "x", noter) for noter in noters]
    assert point == Point(3)
    assert repr(point) == "Point(x=3)"
    for twin in (copy.copy(point), copy.deepcopy(point), pickle.loads(pickle.dumps(point))):
        assert type(twin) is Point
        assert twin == point
    del point.x
    assert [noter.writes[0][2] for noter in noters] == ["check_identity"] * 2
    restores[0]()
    assert type(point) is not Point
    restores[1]()
    assert type(point) is Point


def check_other_class(watches: Any) -> None:
    """The program may give a watched object another class."""

    class Other(Plain):
        pass

    plain, noter = Plain(), Noter()
    restore = watches.watch(plain, "x", noter)
    plain.__class__ = Other
    assert plain.__class__ is Other
    plain.x = 1
    assert len(noter.writes) == 1
    restore()
    assert type(plain) is Other


def check_refusals(watches: Any) -> None:
    for value in (1, [], "text", {}, len, object()):
        assert "implemented in C" in watches.find_refusal(value, "real"), value
    assert watches.find_refusal(Plain(), "x") is None


# -- fingerprints ---------------------------------------------------------------------------------


class Unequal:
    def __init__(self) -> None:
        self.items = [1]

    def __eq__(self, other: object) -> bool:
        raise AssertionError("the program's code was run")

    def __repr__(self) -> str:
        raise AssertionError("the program's code was run")


def check_fingerprints(marks: Any) -> None:
    changes: list[tuple[Any, Any]] = [
        ([1], lambda v: v.append(2)),
        ({"a": [1]}, lambda v: v["a"].append(2)),
        ({1, 2}, lambda v: v.add(3)),
        (bytearray(b"a"), lambda v: v.append(1)),
        (collections.deque([1]), lambda v: v.append(2)),
        (collections.OrderedDict(a=1), lambda v: v.update(b=2)),
        (Plain(), lambda v: setattr(v, "x", 1)),
        (Slotted(), lambda v: setattr(v, "x", 1)),
        ([Unequal()], lambda v: v[0].items.append(2)),
        (([1],), lambda v: v[0].append(2)),
    ]
    for value, change in changes:
        before = marks.take(value)
        assert marks.is_unchanged(before, marks.take(value), type(value)), value
        change(value)
        assert not marks.is_unchanged(before, marks.take(value), type(value)), value
        marks.describe(before, type(value))
    for value in (1, "text", None, 1.5, len, Plain, sys, b"bytes"):
        assert marks.take(value) is None
    assert marks.recall(marks.take([1, {2: "b"}]), list) == [1, {2: "b"}]
    shuffled = {"a", "b", "c"}
    before = marks.take(shuffled)
    shuffled.discard("a")
    shuffled.add("a")
    assert marks.is_same(shuffled, shuffled, before, marks.take(shuffled))
    assert marks.is_same(1, 1, None, None)
    assert not marks.is_same(1, True, None, None)
    assert not marks.is_same(Unequal(), Unequal(), (), ())
    loop: list[Any] = [Plain()]
    loop.append(loop)
    assert marks.take(loop) == marks.take(loop)


# -- code and dicts -------------------------------------------------------------------------------


def store(values: Any) -> Any:
    x = 1
    names = [x for x in values]  # noqa: C416
    x, y = 2, 3
    del x
    return names, y


def check_stores(stores: Any) -> None:
    code = store.__code__
    stored = list(stores.find_local_stores(code, "x").values())
    assert len(stored) == 3, stored
    if hasattr(code, "co_lines"):
        lines = [stores.find_line(code, at) - code.co_firstlineno for at in stored]
        assert lines == [1, 3, 4], lines
    shadows = stores.find_shadows(store.__code__, "x")
    assert len(shadows) == (sys.version_info >= (3, 12)), shadows


def check_dicts(dicts: Any) -> None:
    if not dicts.is_possible():
        return
    monitoring: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]
    monitoring.use_tool_id(3, "check")
    watcher, ended = dicts.get_watcher(monitoring, 3), []
    held: Any = {"a": 1, 2: 3}
    restore = watcher.watch(held, "a", "noter", lambda: ended.append(1))
    frame = sys._getframe()
    held["b"] = 1
    assert watcher.take(frame) == []
    held["a"] = 2
    held.update(a=3)
    del held["a"]
    held.clear()
    writes = watcher.take(frame)
    assert [write[:2] for write in writes] == [(frame, ("noter",))] * 4, writes
    assert len({write[2] for write in writes}) == 4, "each is another place in the code"
    restore()
    held["a"] = 5
    assert watcher.take(frame) == []
    watcher.watch(held, "a", "noter", lambda: ended.append(1))
    del held
    assert ended == [1]
    check_dict_of_many_threads(watcher)
    dicts.close_watcher()
    monitoring.free_tool_id(3)


def check_dict_of_many_threads(watcher: Any) -> None:
    """The interpreter's lock must not be released within a write."""
    held = {"a": [0]}
    restore = watcher.watch(held, "a", "noter", lambda: None)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def write() -> None:
        for number in range(5000):
            held["a"] = [number]

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(interval)
    restore()
    assert held == {"a": [4999]}


def main() -> None:
    load(sys.argv[1])
    watches = importlib.import_module("_holdfast.attribute_watch")
    check_attributes(watches)
    check_identity(watches)
    check_other_class(watches)
    check_refusals(watches)
    check_fingerprints(importlib.import_module("_holdfast.fingerprints"))
    check_stores(importlib.import_module("_holdfast.code_stores"))
    check_dicts(importlib.import_module("_holdfast.dict_watch"))
    print("ok")


main()
