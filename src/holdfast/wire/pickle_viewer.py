"""Looking into a pickle without loading it.

A pickle is a program for a small stack machine. Here the same instructions build a description
instead: containers stay containers, everything that would import, call or set state becomes a note
of what it would have been. Nothing is imported and nothing is called, so the bytes of a stranger
are safe to look at. Bytes that are no pickle, or too long to look through, are described as far as
they could be read.
"""

from __future__ import annotations

import datetime
import pickletools
import reprlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

MOST_STEPS = 5_000
MOST_TEXT = 1_000
MOST_PLAIN = 200
_DEPTH = 5
_PLAIN_DEPTH = 10
_MOST_DIGITS = 1_000
_SHOWN = 50

Plain = None | bool | int | float | str | bytes
View = Any
"""A plain value, or a Node."""


@dataclass(eq=False)
class Node:
    """What the pickle would make here. `kind`: list, tuple, dict, set, frozenset, name, object,
    class, function, reference, cut."""

    kind: str
    name: str = ""
    items: list[View] = field(default_factory=list)
    pairs: list[tuple[View, View]] = field(default_factory=list)
    state: View = None
    is_new: bool = False
    """An object that its class's `__new__` would make, of `items`."""

    @property
    def length(self) -> int | None:
        if self.kind in ("list", "tuple", "set", "frozenset"):
            return len(self.items)
        return len(self.pairs) if self.kind == "dict" else None


@dataclass(frozen=True)
class Looked:
    """`whole`: everything was read; otherwise `why` says what was in the way."""

    view: View
    whole: bool
    why: str = ""


class _Mark:
    pass


_MARK = _Mark()
_CUT = Node("cut")


# -- reading -------------------------------------------------------------------------------------


def look(data: bytes, most_steps: int = MOST_STEPS) -> Looked:
    """A description of what `data` would load as. Never raises."""
    machine = _Machine()
    try:
        for steps, (opcode, argument, _at) in enumerate(pickletools.genops(data)):
            if opcode.name == "STOP":
                return Looked(machine.top(), whole=True)
            if steps >= most_steps:
                return Looked(machine.gathered(), whole=False, why="too long to show")
            machine.step(opcode.name, argument)
    except Exception:
        # A stranger's bytes can be wrong in every way there is; none of them is our error.
        return Looked(machine.gathered(), whole=False, why="not a readable pickle")
    return Looked(machine.gathered(), whole=False, why="not a readable pickle")


class _Machine:
    """The pickle machine, with notes in place of deeds."""

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

    def gathered(self) -> View:
        """What is there when reading ends early: open containers closed where they are."""
        marks = sum(each is _MARK for each in self.stack)
        for _ in range(min(marks, _SHOWN)):
            items = self.to_mark()
            if self.stack and isinstance(self.stack[-1], Node):
                self.stack[-1].items += [*items, _CUT]
            else:
                self.stack.append(Node("tuple", items=[*items, _CUT]))
        return next((each for each in self.stack if each is not _MARK), None)

    def to_mark(self) -> list[View]:
        for at in range(len(self.stack) - 1, -1, -1):
            if self.stack[at] is _MARK:
                items = self.stack[at + 1 :]
                del self.stack[at:]
                return items
        raise ValueError("no mark")

    def node(self) -> Node:
        found = self.stack[-1]
        if not isinstance(found, Node):
            raise ValueError("a container was expected")
        return found

    # -- containers -------------------------------------------------------------------------

    def make(self, kind: str, items: list[View]) -> None:
        self.stack.append(Node(kind, items=items))

    def make_dict(self, items: list[View]) -> None:
        pairs = list(zip(items[::2], items[1::2], strict=True))
        self.stack.append(Node("dict", pairs=pairs))

    def tuple_of(self, count: int) -> None:
        items = self.stack[-count:]
        if len(items) < count or any(each is _MARK for each in items):
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
        self.stack.append(_result(called, _items(arguments)))

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
        self.stack.append(Node("reference", _short(argument)))

    def reference_of_top(self, _argument: Any) -> None:
        self.stack.append(Node("reference", rendered(self.stack.pop(), 100)))

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


def _popped(machine: _Machine, count: int) -> list[View]:
    items = machine.stack[-count:]
    if len(items) < count or any(each is _MARK for each in items):
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
    "APPEND": lambda m, _: m.append(_popped(m, 1)),
    "APPENDS": lambda m, _: m.append(m.to_mark()),
    "ADDITEMS": lambda m, _: m.append(m.to_mark()),
    "SETITEM": lambda m, _: m.set_items(_popped(m, 2)),
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


def _result(called: View, arguments: list[View]) -> View:
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
        return Node("object", _name(arguments[0]), items=arguments[1:_SHOWN], is_new=True)
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


# -- showing -------------------------------------------------------------------------------------


def preview(data: bytes) -> dict[str, Any]:
    """`text`, `type`, and `length` and `json` where they are known."""
    looked = look(data)
    if not looked.whole and not isinstance(looked.view, Node):
        return {"text": f"<{len(data)} bytes, {looked.why}>", "type": "bytes"}
    shown: dict[str, Any] = {"text": rendered(looked.view), "type": type_of(looked.view)}
    if not looked.whole:
        return shown
    view = looked.view
    length = view.length if isinstance(view, Node) else None
    if isinstance(view, (str, bytes)):
        length = len(view)
    if length is not None:
        shown["length"] = length
    known, value = plain(view)
    if known:
        shown["json"] = value
    return shown


def type_of(view: View) -> str:
    if not isinstance(view, Node):
        return type(view).__name__
    match view.kind:
        case "class":
            return "type"
        case "function":
            return "function"
        case "name":
            return "name"
        case "object":
            return view.name
    return view.kind


def rendered(view: View, most: int = MOST_TEXT) -> str:
    """As a `repr` would show it, as far as `most` characters go."""
    text = ""
    for piece in _pieces(view, _DEPTH, set()):
        text += piece
        if len(text) > most:
            return text[: most - 1] + "…"
    return text


def _pieces(view: View, depth: int, above: set[int]) -> Iterator[str]:
    if not isinstance(view, Node):
        yield _short(view)
    elif view.kind == "cut" or depth == 0 or id(view) in above:
        yield "…"
    else:
        yield from _node_pieces(view, depth - 1, above | {id(view)})


def _node_pieces(node: Node, depth: int, above: set[int]) -> Iterator[str]:
    kind, bare = node.kind, node.name.rpartition(".")[2]
    match kind:
        case "name":
            yield f"<{node.name}>"
        case "class":
            yield f"<class {node.name}>"
        case "function":
            yield f"<function {node.name}>"
        case "reference":
            yield f"<stored {node.name}>"
        case "object":
            yield from _object_pieces(node, bare, depth, above)
        case "dict":
            yield from _joined("{", _pair_pieces(node.pairs, ": ", depth, above), "}")
        case _:
            begin, end = _BRACKETS[kind]
            if kind == "tuple" and len(node.items) == 1:
                end = ",)"
            if kind == "set" and not node.items:
                begin, end = "set(", ")"
            yield from _joined(begin, (_pieces(each, depth, above) for each in node.items), end)


_BRACKETS = {
    "list": ("[", "]"),
    "tuple": ("(", ")"),
    "set": ("{", "}"),
    "frozenset": ("frozenset({", "})"),
}


def _object_pieces(node: Node, bare: str, depth: int, above: set[int]) -> Iterator[str]:
    moment = _moment(node)
    if moment is not None:
        yield moment
        return
    parts = [_pieces(each, depth, above) for each in node.items]
    parts += _pair_pieces(fields(node), "=", depth, above, bare_keys=True)
    yield from _joined(f"{bare}(", iter(parts), ")")


def fields(node: Node) -> list[tuple[View, View]]:
    """The attributes that an object's state would set, and the items it would be given."""
    found = list(node.pairs)
    states = node.state.items if _is(node.state, "tuple") else [node.state]
    for state in states:
        if _is(state, "dict"):
            found += state.pairs
        elif state is not None:
            found.append(("state", state))
    return found


def _is(view: View, kind: str) -> bool:
    return isinstance(view, Node) and view.kind == kind


def _pair_pieces(
    pairs: list[tuple[View, View]], sign: str, depth: int, above: set[int], bare_keys: bool = False
) -> list[Iterator[str]]:
    def piece(key: View, value: View) -> Iterator[str]:
        if bare_keys and isinstance(key, str):
            yield key[:_SHOWN]
        else:
            yield from _pieces(key, depth, above)
        yield sign
        yield from _pieces(value, depth, above)

    return [piece(key, value) for key, value in pairs]


def _joined(begin: str, parts: Any, end: str) -> Iterator[str]:
    yield begin
    for at, part in enumerate(parts):
        if at:
            yield ", "
        yield from part
    yield end


def _moment(node: Node) -> str | None:
    """A date or time keeps itself in bytes that nobody can read."""
    if node.name not in ("datetime.datetime", "datetime.date") or not node.items:
        return None
    raw = node.items[0]
    try:
        if node.name == "datetime.date" and len(raw) == 4:
            return repr(datetime.date(raw[0] * 256 + raw[1], raw[2], raw[3]))
        year, month = raw[0] * 256 + raw[1], raw[2] & 0x7F
        micros = raw[7] << 16 | raw[8] << 8 | raw[9]
        day, hour, minute, second = raw[3:7]
        return repr(datetime.datetime(year, month, day, hour, minute, second, micros))
    except (TypeError, ValueError, IndexError):
        return None


def _short(value: Any) -> str:
    if isinstance(value, int) and value.bit_length() > _MOST_DIGITS * 3:
        return f"<int of {value.bit_length()} bits>"
    if isinstance(value, (str, bytes, bytearray)) and len(value) > MOST_TEXT:
        return repr(value[: MOST_TEXT // 2])[:-1] + "…"
    if isinstance(value, (int, float, str, bytes, bytearray, type(None))):
        return repr(value)
    return reprlib.repr(value)


# -- plain values --------------------------------------------------------------------------------


def plain(view: View) -> tuple[bool, Any]:
    """Whether it is small and plain JSON data, and that data."""
    budget = [MOST_PLAIN]
    try:
        return True, _plain(view, _PLAIN_DEPTH, budget)
    except ValueError:
        return False, None


def _plain(view: View, depth: int, budget: list[int]) -> Any:
    budget[0] -= 1
    if budget[0] < 0 or depth < 0:
        raise ValueError("too much")
    if isinstance(view, Node):
        if view.kind == "list":
            return [_plain(each, depth - 1, budget) for each in view.items]
        if view.kind == "dict" and all(isinstance(key, str) for key, _ in view.pairs):
            return {key: _plain(each, depth - 1, budget) for key, each in view.pairs}
        raise ValueError("not plain")
    if isinstance(view, str) and len(view) <= MOST_TEXT:
        view.encode()  # a lone surrogate is no JSON
        return view
    if isinstance(view, float) and view - view != 0:
        raise ValueError("JSON knows no infinity")
    if isinstance(view, bool | float | None) or (isinstance(view, int) and abs(view) < 2**63):
        return view
    raise ValueError("not plain")


# -- differences ---------------------------------------------------------------------------------

MOST_DIFFERENCES = 200
_DIFF_STEPS = 50_000
_DIFF_DEPTH = 30


def differences(left: bytes, right: bytes) -> tuple[list[dict[str, Any]], bool]:
    """Where two values differ, by path; True when that is all there is to say."""
    first, second = look(left, _DIFF_STEPS), look(right, _DIFF_STEPS)
    found = _Differences()
    found.compare("", first.view, second.view, _DIFF_DEPTH)
    return found.all, first.whole and second.whole and not found.full


class _Differences:
    def __init__(self) -> None:
        self.all: list[dict[str, Any]] = []
        self._seen: set[tuple[int, int]] = set()

    @property
    def full(self) -> bool:
        return len(self.all) >= MOST_DIFFERENCES

    def add(self, path: str, change: str, **sides: View) -> None:
        if not self.full:
            shown = {side: rendered(view, 200) for side, view in sides.items()}
            self.all.append({"path": path or "value", "change": change, **shown})

    def compare(self, path: str, left: View, right: View, depth: int) -> None:
        if not (isinstance(left, Node) and isinstance(right, Node)):
            if type(left) is not type(right) or not _same(left, right):
                self.add(path, "changed", left=left, right=right)
            return
        if left is right or (id(left), id(right)) in self._seen or self.full:
            return
        self._seen.add((id(left), id(right)))
        if (left.kind, left.name) != (right.kind, right.name) or depth == 0:
            if rendered(left) != rendered(right) or depth > 0:
                self.add(path, "changed", left=left, right=right)
        elif left.kind in ("set", "frozenset"):
            self._compare_sets(path, left, right)
        else:
            self._compare_items(path, left.items, right.items, depth)
            named = left.kind == "object"
            mine, other = (fields(left), fields(right)) if named else (left.pairs, right.pairs)
            self._compare_pairs(path, mine, other, depth, attributes=named)

    def _compare_items(self, path: str, left: list[View], right: list[View], depth: int) -> None:
        for at, (mine, other) in enumerate(zip(left, right, strict=False)):
            self.compare(f"{path}[{at}]", mine, other, depth - 1)
        for at in range(len(right), len(left)):
            self.add(f"{path}[{at}]", "removed", left=left[at])
        for at in range(len(left), len(right)):
            self.add(f"{path}[{at}]", "added", right=right[at])

    def _compare_pairs(
        self,
        path: str,
        left: list[tuple[View, View]],
        right: list[tuple[View, View]],
        depth: int,
        *,
        attributes: bool,
    ) -> None:
        mine = {_key(key, attributes): value for key, value in left}
        other = {_key(key, attributes): value for key, value in right}
        for key, value in mine.items():
            if key in other:
                self.compare(path + key, value, other[key], depth - 1)
            else:
                self.add(path + key, "removed", left=value)
        for key, value in other.items():
            if key not in mine:
                self.add(path + key, "added", right=value)

    def _compare_sets(self, path: str, left: Node, right: Node) -> None:
        mine = {rendered(each, 200): each for each in left.items}
        other = {rendered(each, 200): each for each in right.items}
        for text in sorted(mine.keys() - other.keys()):
            self.add(path, "removed", left=mine[text])
        for text in sorted(other.keys() - mine.keys()):
            self.add(path, "added", right=other[text])


def _key(key: View, attributes: bool) -> str:
    if attributes and isinstance(key, str):
        return f".{key}"
    return f"[{rendered(key, 100)}]"


def _same(left: View, right: View) -> bool:
    return bool(left == right) or (left != left and right != right)
