"""A check of the probe's values on whichever interpreter runs it; stdlib only, Python 3.9 on.

usage: selfcheck_variables.py DIRECTORY_OF_THE_PROBE
"""

from __future__ import annotations

import collections
import dataclasses
import enum
import importlib
import importlib.util
import json
import sys
import threading
import types
from typing import Any


def load(directory: str) -> Any:
    """The probe as the target sees it: a package called `_holdfast`."""
    spec = importlib.util.spec_from_file_location(
        "_holdfast", directory + "/__init__.py", submodule_search_locations=[directory]
    )
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["_holdfast"] = package
    spec.loader.exec_module(package)
    limit_calls(60)
    return importlib.import_module("_holdfast.variables")


def limit_calls(seconds: float) -> None:
    """How long the code of a class may take to show its values."""
    importlib.import_module("_holdfast.timings").use({"value_call": seconds})


@dataclasses.dataclass
class Order:
    id: int
    total: float
    secret: str = dataclasses.field(default="s", repr=False)


@dataclasses.dataclass
class Loud:
    id: int

    def __repr__(self) -> str:
        return "Loud!"


class Slotted:
    __slots__ = ("_hidden", "shown")

    def __init__(self) -> None:
        self._hidden = 1
        self.shown = 2


class Broken:
    def __repr__(self) -> str:
        raise SystemExit("no")


class Stuck:
    release = threading.Event()

    def __repr__(self) -> str:
        Stuck.release.wait()
        return "late"


class Colour(enum.Enum):
    RED = 1


class Word(str, enum.Enum):
    HELLO = "hello"


class Level(enum.IntEnum):
    LOW = 1


Point = collections.namedtuple("Point", "x y")


def check_texts(text: Any) -> None:
    assert text(Order(3, 9.5)) == "Order(id=3, total=9.5)"
    assert text(Loud(3)) == "Loud!"
    assert text(Colour.RED) == "<Colour.RED: 1>"
    assert text(Word.HELLO) == "<Word.HELLO: 'hello'>"
    assert text(Level.LOW) == "<Level.LOW: 1>"
    assert text(Point(1, 2)) == "Point(x=1, y=2)"
    assert text(types.SimpleNamespace(a=1)) == "namespace(a=1)"
    assert text(ValueError("boom")) == "ValueError('boom')"
    assert text(list(range(1000000))) == "[0, 1, 2, 3, 4, ... (1000000 items)]"
    assert text(collections.deque([1], 3)) == "deque([1], maxlen=3)"
    assert text(collections.defaultdict(int, a=1)) == "defaultdict(int, {'a': 1})"
    assert text(collections.Counter("aa")) == "Counter({'a': 2})"
    assert text(collections.OrderedDict(a=1)) == "OrderedDict({'a': 1})"
    assert text({"a": 1}.keys()) == "dict_keys(['a'])"
    assert text(10**5000) == "<int with 16610 bits>"
    assert "repr raised SystemExit: no" in text([Broken()])
    limit_calls(0.2)
    assert text(Stuck()) == text(Stuck()) == "<Stuck object: repr took too long>"
    limit_calls(60)
    Stuck.release.set()


def check_unfolding(values: Any) -> None:
    handles = values.Handles()
    loop: list[Any] = [1]
    loop.append(loop)
    scope: dict[str, Any] = {"loop": loop, "order": Order(1, 2.0), "slotted": Slotted()}
    scope["ünïcode"] = "\udc80"
    ref = handles.add(1, scope, "Locals", kind="scope")
    page = values.expand(handles, ref, 0, 100)
    json.dumps(page, ensure_ascii=False).encode("utf-8")
    by_name = {item["name"]: item for item in page["items"]}
    assert sorted(by_name) == sorted(scope), by_name
    inside = values.expand(handles, by_name["loop"]["reference"], 0, 9)["items"]
    assert inside[1]["value"] == "<circular: loop>", inside
    assert inside[1]["reference"] == by_name["loop"]["reference"]
    slots = values.expand(handles, by_name["slotted"]["reference"], 0, 9)["items"]
    assert [item["name"] for item in slots] == ["shown", "_hidden"], slots
    values.set_child(handles, by_name["order"]["reference"], "total", 3.5)
    assert scope["order"].total == 3.5
    handles.drop(1)
    assert handles.get(ref) is None


def check_frame_locals(values: Any) -> None:
    """From 3.13 on a frame's locals are a proxy and not a dict."""
    here, handles = "here", values.Handles()
    ref = handles.add(1, sys._getframe().f_locals, "Locals", kind="scope")
    names = [item["name"] for item in values.expand(handles, ref, 0, 10, True)["items"]]
    assert names[:3] == ["values", "here", "handles"], (names, here)


def main() -> None:
    values = load(sys.argv[1])

    def text(value: Any) -> Any:
        return values.describe(value, "v", values.Handles(), 1)["value"]

    check_texts(text)
    check_unfolding(values)
    check_frame_locals(values)
    print("ok")


main()
