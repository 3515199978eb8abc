"""Looks into a pickle without loading it.

A pickle is a program for a small stack machine. Here the same instructions build a description
instead: containers stay containers, everything that would import, call or set state becomes a note
of what it would have been. Nothing is imported and nothing is called, so the bytes of a stranger
are safe to look at. Bytes that are no pickle, or too long to look through, are described as far as
they could be read.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from holdfast.model.call import Preview
from holdfast.wire.pickle_view import Node, View, render, shorten, to_json, type_name

MAX_STEPS = 5_000
_MAX_NESTED = 50


@dataclass(frozen=True)
class PickleView:
    """What a pickle describes. If it was not read to the end, `why` says what was in the way."""

    view: View
    is_whole: bool
    why: str = ""


class _Mark:
    pass


_MARK = _Mark()
_CUT = Node("cut")


def build_preview(data: bytes) -> Preview:
    """`text`, `type`, and `length` and `json` where they are known."""
    viewed = view_pickle(data)
    if not viewed.is_whole and not isinstance(viewed.view, Node):
        return {"text": f"<{len(data)} bytes, {viewed.why}>", "type": "bytes"}
    bare_type = type_name(viewed.view).rpartition(".")[2]  # as an application's previews have it
    preview: Preview = {"text": render(viewed.view), "type": bare_type}
    if not viewed.is_whole:
        return preview
    view = viewed.view
    length = view.length if isinstance(view, Node) else None
    if isinstance(view, (str, bytes)):
        length = len(view)
    if length is not None:
        preview["length"] = length
    is_plain, value = to_json(view)
    if is_plain:
        preview["json"] = value
    return preview


def view_pickle(data: bytes, max_steps: int = MAX_STEPS) -> PickleView:
    """A description of what `data` would load as. Never raises."""
    machine = _Machine()
    try:
        for steps, (opcode, argument, _at) in enumerate(pickletools.genops(data)):
            if opcode.name == "STOP":
                return PickleView(machine.top(), is_whole=True)
            if steps >= max_steps:
                return PickleView(machine.gather(), is_whole=False, why="too long to show")
            machine.step(opcode.name, argument)
    except Exception:
        # A stranger's bytes can be wrong in every way there is; none of them is our error.
        return PickleView(machine.gather(), is_whole=False, why="not a readable pickle")
    return PickleView(machine.gather(), is_whole=False, why="not a readable pickle")


class _Machine:
    """The pickle machine, which takes notes instead of acting."""

    def __init__(self) -> None:
        self.stack: list[View] = []
        self.memo: dict[int, View] = {}

    def step(self, name: str, argument: Any) -> None:
        if name in _CONSTANTS:
            self.stack.append(_CONSTANTS[name])
        elif name in _LITERALS:
            self.stack.append(argument)
        elif name in _STEPS:
            _STEPS[name](self, argument)
        elif name not in ("PROTO", "FRAME", "NEXT_BUFFER", "READONLY_BUFFER"):
            raise ValueError(f"no opcode {name}")
        if name == "NEXT_BUFFER":
            self.stack.append(Node("reference", "buffer"))

    def top(self) -> View:
        return self.stack[-1]

    def gather(self) -> View:
        """What is there when reading ends early: open containers closed where they are."""
        marks = sum(view is _MARK for view in self.stack)
        for _ in range(min(marks, _MAX_NESTED)):
            items = self.to_mark()
            if self.stack and isinstance(self.stack[-1], Node):
                self.stack[-1].items += [*items, _CUT]
            else:
                self.stack.append(Node("tuple", items=[*items, _CUT]))
        return next((view for view in self.stack if view is not _MARK), None)

    def to_mark(self) -> list[View]:
        for at in range(len(self.stack) - 1, -1, -1):
            if self.stack[at] is _MARK:
                items = self.stack[at + 1 :]
                del self.stack[at:]
                return items
        raise ValueError("no mark")

    def node(self) -> Node:
        top = self.stack[-1]
        if not isinstance(top, Node):
            raise ValueError("a container was expected")
        return top

    # -- containers -------------------------------------------------------------------------

    def make(self, kind: str, items: list[View]) -> None:
        self.stack.append(Node(kind, items=items))

    def make_dict(self, items: list[View]) -> None:
        pairs = list(zip(items[::2], items[1::2], strict=True))
        self.stack.append(Node("dict", pairs=pairs))

    def tuple_of(self, count: int) -> None:
        items = self.stack[-count:]
        if len(items) < count or any(item is _MARK for item in items):
            raise ValueError("too few items")
        del self.stack[-count:]
        self.make("tuple", items)

    def append(self, items: list[View]) -> None:
        self.node().items += items

    def set_items(self, items: list[View]) -> None:
        self.node().pairs += zip(items[::2], items[1::2], strict=True)

    # -- what would import or call ----------------------------------------------------------

    def reduce(self, _argument: Any) -> None:
        arguments, called = self.stack.pop(), self.stack.pop()
        self.stack.append(_describe_call(called, _items(arguments)))

    def new_object(self, _argument: Any) -> None:
        arguments, made = self.stack.pop(), self.stack.pop()
        self.stack.append(Node("object", _name(made), items=_items(arguments), is_new=True))

    def new_object_with_names(self, _argument: Any) -> None:
        names, arguments, made = self.stack.pop(), self.stack.pop(), self.stack.pop()
        pairs = names.pairs if isinstance(names, Node) else []
        self.stack.append(Node("object", _name(made), items=_items(arguments), pairs=pairs))

    def instance(self, argument: Any) -> None:
        self.stack.append(Node("object", str(argument).replace(" ", "."), items=self.to_mark()))

    def old_object(self, _argument: Any) -> None:
        made, *items = self.to_mark()
        self.stack.append(Node("object", _name(made), items=items))

    def global_(self, argument: Any) -> None:
        self.stack.append(Node("name", str(argument).replace(" ", ".", 1)))

    def stack_global(self, _argument: Any) -> None:
        name, module = self.stack.pop(), self.stack.pop()
        self.stack.append(Node("name", f"{module}.{name}"))

    def build(self, _argument: Any) -> None:
        state = self.stack.pop()
        self.node().state = state

    def reference(self, argument: Any) -> None:
        self.stack.append(Node("reference", shorten(argument)))

    def reference_of_top(self, _argument: Any) -> None:
        self.stack.append(Node("reference", render(self.stack.pop(), 100)))

    # -- the memo ---------------------------------------------------------------------------

    def put(self, index: Any) -> None:
        self.memo[len(self.memo) if index is None else int(index)] = self.stack[-1]

    def get(self, index: Any) -> None:
        self.stack.append(self.memo[int(index)])


_CONSTANTS: dict[str, View] = {
    "NONE": None,
    "NEWTRUE": True,
    "NEWFALSE": False,
    "MARK": _MARK,
}
_LITERALS = frozenset(
    (
        *("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT"),
        *("STRING", "BINSTRING", "SHORT_BINSTRING", "UNICODE", "SHORT_BINUNICODE", "BINUNICODE"),
        *("BINUNICODE8", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8"),
    )
)


def _pop(machine: _Machine, count: int) -> list[View]:
    items = machine.stack[-count:]
    if len(items) < count or any(item is _MARK for item in items):
        raise ValueError("too few items")
    del machine.stack[-count:]
    return items


_STEPS: dict[str, Callable[[_Machine, Any], Any]] = {
    "EMPTY_LIST": lambda m, _: m.make("list", []),
    "EMPTY_TUPLE": lambda m, _: m.make("tuple", []),
    "EMPTY_DICT": lambda m, _: m.make_dict([]),
    "EMPTY_SET": lambda m, _: m.make("set", []),
    "LIST": lambda m, _: m.make("list", m.to_mark()),
    "TUPLE": lambda m, _: m.make("tuple", m.to_mark()),
    "DICT": lambda m, _: m.make_dict(m.to_mark()),
    "FROZENSET": lambda m, _: m.make("frozenset", m.to_mark()),
    "TUPLE1": lambda m, _: m.tuple_of(1),
    "TUPLE2": lambda m, _: m.tuple_of(2),
    "TUPLE3": lambda m, _: m.tuple_of(3),
    "APPEND": lambda m, _: m.append(_pop(m, 1)),
    "APPENDS": lambda m, _: m.append(m.to_mark()),
    "ADDITEMS": lambda m, _: m.append(m.to_mark()),
    "SETITEM": lambda m, _: m.set_items(_pop(m, 2)),
    "SETITEMS": lambda m, _: m.set_items(m.to_mark()),
    "POP": lambda m, _: m.stack.pop(),
    "POP_MARK": lambda m, _: m.to_mark(),
    "DUP": lambda m, _: m.stack.append(m.stack[-1]),
    "MEMOIZE": _Machine.put,
    "PUT": _Machine.put,
    "BINPUT": _Machine.put,
    "LONG_BINPUT": _Machine.put,
    "GET": _Machine.get,
    "BINGET": _Machine.get,
    "LONG_BINGET": _Machine.get,
    "REDUCE": _Machine.reduce,
    "NEWOBJ": _Machine.new_object,
    "NEWOBJ_EX": _Machine.new_object_with_names,
    "INST": _Machine.instance,
    "OBJ": _Machine.old_object,
    "GLOBAL": _Machine.global_,
    "STACK_GLOBAL": _Machine.stack_global,
    "BUILD": _Machine.build,
    "PERSID": _Machine.reference,
    "BINPERSID": _Machine.reference_of_top,
    "EXT1": _Machine.reference,
    "EXT2": _Machine.reference,
    "EXT4": _Machine.reference,
}


def _items(view: View) -> list[View]:
    # Not copied: a pickle of a few bytes can ask for the same long list over and over.
    return view.items if isinstance(view, Node) else [view]


def _name(view: View) -> str:
    if isinstance(view, Node) and view.kind in ("name", "class", "function", "object"):
        return view.name
    return "?"


def _describe_call(called: View, arguments: list[View]) -> View:
    """What a call would give, where that is well known; otherwise a note of the call."""
    name = _name(called)
    if name == "_codecs.encode" and len(arguments) == 2 and isinstance(arguments[0], str):
        return arguments[0].encode("latin-1")  # how protocols before 3 write bytes
    bare = name.removeprefix("builtins.").removeprefix("__builtin__.")
    if bare in ("set", "frozenset", "list", "tuple") and len(arguments) == 1:
        return Node(bare, items=_items(arguments[0]))
    if name == "copyreg._reconstructor" and arguments:
        return Node("object", _name(arguments[0]))
    if name == "copyreg.__newobj__" and arguments:
        return Node("object", _name(arguments[0]), items=arguments[1:_MAX_NESTED], is_new=True)
    if name == "holdfast.client.references.stored" and arguments:
        return Node("reference", _text_of(arguments[0]))
    if name == "dill._dill._create_type" and len(arguments) > 1:
        return Node("class", _text_of(arguments[1]))
    if name == "dill._dill._create_function":
        return Node("function", next((a for a in arguments[2:3] if isinstance(a, str)), "function"))
    if name in ("dill._dill._load_type", "dill._dill._import_module") and arguments:
        return Node("name", _text_of(arguments[0]))
    return Node("object", bare, items=arguments)


def _text_of(view: View) -> str:
    return view if isinstance(view, str) else "?"
