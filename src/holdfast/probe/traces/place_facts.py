"""What an expression or a statement reads and writes, by its syntax tree.

A *place* is a variable, an attribute of an object, an item of a container, or all that a container
holds. The tree tells how a place is named; which object that is gets looked up when the statement
runs (`place_lookup`).
"""

from __future__ import annotations

import ast
import builtins
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from .place_lookup import Lookup, compile_lookup

# Methods of builtin containers (and of a few others) that change the object they are called on.
MUTATORS = frozenset(
    """add append appendleft clear difference_update discard extend extendleft insert
    intersection_update move_to_end pop popitem popleft put put_nowait remove reverse rotate
    setdefault sort subtract symmetric_difference_update update write writelines""".split()
)
GROWERS = frozenset(("append", "extend"))  # they add items at the end; others may move any item
# Functions that change their first argument.
CHANGERS = frozenset(
    """heapify heappop heappush heappushpop heapreplace insort insort_left insort_right setitem
    delitem shuffle""".split()
)
_MAX_LABEL = 48
_ASSIGNED: Mapping[str, Sequence["PlaceFact"]] = {}
Bound = Mapping[str, Sequence["PlaceFact"]]


class PlaceFact:
    """How a statement names a place.

    `kind` is `name`, `attr`, `item`, `content` (all that an object holds), `turn` (the item whose
    turn it is in a loop); of writes also `grow` (items are added at its end), `shake` (any item may
    move), `inplace` (`+=`), `alias` (a call of what may be a bound method).
    """

    __slots__ = ("base", "is_deletion", "key", "kind", "label", "name", "root")

    def __init__(
        self,
        kind: str,
        node: Any,
        name: str = "",
        base: Optional[Lookup] = None,
        key: Optional[Lookup] = None,
    ) -> None:
        self.kind = kind
        self.name = name
        self.base = base
        self.key = key
        self.label = _write_label(node)
        self.root = find_root(node)
        self.is_deletion = isinstance(getattr(node, "ctx", None), ast.Del)


class CallFact:
    """A call in a statement, and what each of its arguments reads."""

    __slots__ = ("args", "callee", "every", "keywords", "label", "name", "receiver", "subject")

    def __init__(self, node: ast.Call, bound: Bound) -> None:
        function = node.func
        self.label = _write_label(function)
        self.callee = compile_lookup(function)
        self.name = _last_name(function)
        self.subject: Optional[Lookup] = None  # finds the object whose method is called
        self.receiver: Tuple[PlaceFact, ...] = ()
        if isinstance(function, ast.Attribute):
            self.subject = compile_lookup(function.value)
            self.receiver = _list_reads(function.value, bound)
        # None for what a star or two unpack: which parameters get it is not known here.
        is_open = any(isinstance(arg, ast.Starred) for arg in node.args)
        is_open = is_open or any(keyword.arg is None for keyword in node.keywords)
        values = [arg.value if isinstance(arg, ast.Starred) else arg for arg in node.args]
        self.args: Optional[List[Tuple[PlaceFact, ...]]] = None
        self.keywords: Dict[str, Tuple[PlaceFact, ...]] = {}
        parts = [_list_reads(value, bound) for value in values]
        named = [(keyword.arg, _list_reads(keyword.value, bound)) for keyword in node.keywords]
        if not is_open:
            self.args = parts
            self.keywords = {name: reads for name, reads in named if name is not None}
        self.every = tuple(
            fact for part in (*parts, *(reads for _, reads in named)) for fact in part
        )


class PlaceReader:
    """Collects the places that expressions read, and those that their calls may write."""

    def __init__(self) -> None:
        self.reads: List[PlaceFact] = []
        self.bases: List[PlaceFact] = []
        """Read only to know which object is meant; what it holds is not used."""
        self.writes: List[PlaceFact] = []
        self.calls: List[CallFact] = []
        self.hidden: List[str] = []
        """The variables of comprehensions."""
        self.can_stop = False
        """Whether a `StopIteration` may be raised within that ends nothing."""

    # -- reads ------------------------------------------------------------------------------------

    def read(self, node: Any, whole: bool = True, bound: Bound = _ASSIGNED) -> None:
        """Add what an expression reads; not `whole`: it only says which object."""
        visit = _VISITORS.get(type(node))
        if visit is not None:
            visit(self, node, whole, bound)
            return
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.expr, ast.keyword, ast.comprehension)):
                self.read(child, whole, bound)

    def _add(self, node: Any, whole: bool, fact: PlaceFact) -> None:
        (self.reads if whole else self.bases).append(fact)
        if whole:
            self.reads.append(PlaceFact("content", node, base=compile_lookup(node)))

    def _read_name(self, node: ast.Name, whole: bool, bound: Bound) -> None:
        if node.id in bound:
            (self.reads if whole else self.bases).extend(bound[node.id])
        else:
            self._add(node, whole, PlaceFact("name", node, node.id))

    def _read_attribute(self, node: ast.Attribute, whole: bool, bound: Bound) -> None:
        self.read(node.value, False, bound)
        self._add(node, whole, PlaceFact("attr", node, node.attr, compile_lookup(node.value)))

    def _read_subscript(self, node: ast.Subscript, whole: bool, bound: Bound) -> None:
        self.read(node.value, False, bound)
        self.read(node.slice, True, bound)
        base, key = compile_lookup(node.value), compile_lookup(node.slice)
        self._add(node, whole, PlaceFact("item", node, "", base, key))

    def _read_call(self, node: ast.Call, _whole: bool, bound: Bound) -> None:
        function = node.func
        if isinstance(function, ast.Attribute):
            self.read(function.value, True, bound)
            if function.attr in MUTATORS:
                kind = "grow" if function.attr in GROWERS else "shake"
                base = compile_lookup(function.value)
                self.writes.append(PlaceFact(kind, function.value, function.attr, base))
        elif not isinstance(function, ast.Name):
            self.read(function, False, bound)
        elif not hasattr(builtins, function.id) and function.id not in bound:
            self.writes.append(PlaceFact("alias", function, "", compile_lookup(function)))
            self.bases.append(PlaceFact("name", function, function.id))
        if _last_name(function) in CHANGERS and node.args:
            first = node.args[0]
            self.writes.append(PlaceFact("shake", first, "", compile_lookup(first)))
        for arg in node.args:
            self.read(arg.value if isinstance(arg, ast.Starred) else arg, True, bound)
        for keyword in node.keywords:
            self.read(keyword.value, True, bound)
        self.calls.append(CallFact(node, bound))

    def _read_comprehension(self, node: Any, _whole: bool, bound: Bound) -> None:
        inner = dict(bound)
        self.can_stop = True
        for part in node.generators:
            self.read(part.iter, True, inner)
            fed_by = _list_reads(part.iter, inner)
            for target in ast.walk(part.target):
                if isinstance(target, ast.Name):
                    inner[target.id] = fed_by
                    self.hidden.append(target.id)
        for part in node.generators:
            for test in part.ifs:
                self.read(test, True, inner)
        for name in ("elt", "key", "value"):
            if hasattr(node, name):
                self.read(getattr(node, name), True, inner)

    def _read_lambda(self, node: ast.Lambda, _whole: bool, bound: Bound) -> None:
        args = node.args
        for default in (*args.defaults, *filter(None, args.kw_defaults)):
            self.read(default, True, bound)
        names = [arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
        names += [arg.arg for arg in (args.vararg, args.kwarg) if arg is not None]
        body = PlaceReader()
        body.read(node.body, True, {**bound, **dict.fromkeys(names, ())})
        self.reads += body.reads  # its calls and writes are those of a frame of its own
        self.bases += body.bases

    def _read_named(self, node: ast.NamedExpr, whole: bool, bound: Bound) -> None:
        self.read(node.value, whole, bound)
        self.write(node.target)

    def _read_waiting(self, node: Any, whole: bool, bound: Bound) -> None:
        self.can_stop = True
        self.read(node.value, whole, bound)

    # -- writes -----------------------------------------------------------------------------------

    def write(self, target: Any) -> None:
        """Add what an assignment to the target writes, and what it reads for that."""
        if isinstance(target, ast.Name):
            self.writes.append(PlaceFact("name", target, target.id))
        elif isinstance(target, ast.Attribute):
            base = compile_lookup(target.value)
            self.writes.append(PlaceFact("attr", target, target.attr, base))
            self.read(target.value, False)
        elif isinstance(target, ast.Subscript):
            base, key = compile_lookup(target.value), compile_lookup(target.slice)
            self.writes.append(PlaceFact("item", target, "", base, key))
            self.read(target.value, False)
            self.read(target.slice, True)
        elif isinstance(target, (ast.Tuple, ast.List)):
            for part in target.elts:
                self.write(part)
        elif isinstance(target, ast.Starred):
            self.write(target.value)

    def iterate(self, node: Any) -> None:
        """Add what `for … in node` reads: the item whose turn it is, when that can be told."""
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
            self.read(node, False)
            self.reads.append(PlaceFact("turn", node, "", compile_lookup(node)))
        else:
            self.read(node)


_VISITORS: Dict[type, Callable[[PlaceReader, Any, bool, Bound], None]] = {
    ast.Name: PlaceReader._read_name,
    ast.Attribute: PlaceReader._read_attribute,
    ast.Subscript: PlaceReader._read_subscript,
    ast.Call: PlaceReader._read_call,
    ast.ListComp: PlaceReader._read_comprehension,
    ast.SetComp: PlaceReader._read_comprehension,
    ast.DictComp: PlaceReader._read_comprehension,
    ast.GeneratorExp: PlaceReader._read_comprehension,
    ast.Lambda: PlaceReader._read_lambda,
    ast.NamedExpr: PlaceReader._read_named,
    ast.YieldFrom: PlaceReader._read_waiting,
    ast.Await: PlaceReader._read_waiting,
}


def _list_reads(node: Any, bound: Bound) -> Tuple[PlaceFact, ...]:
    reader = PlaceReader()
    reader.read(node, True, bound)
    return drop_repeated(reader.reads)


def drop_repeated(facts: Sequence[PlaceFact]) -> Tuple[PlaceFact, ...]:
    """Each place once, in order."""
    return tuple({(fact.kind, fact.name, fact.label): fact for fact in facts}.values())


def find_root(node: Any) -> str:
    """The variable that an expression such as `order.items[0].price` begins with."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _last_name(function: Any) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _write_label(node: Any) -> str:
    if isinstance(node, ast.Name):
        return node.id
    try:
        text = ast.unparse(node)
    except (ValueError, RecursionError, AttributeError):
        return ""
    return text if len(text) <= _MAX_LABEL else text[: _MAX_LABEL - 3] + "..."
