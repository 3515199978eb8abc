"""Finds the object that an expression names right now, without running any of the program's code.

An expression is compiled once, to a function of a frame's variables. What only a call, a property
or an overloaded operator could tell is UNKNOWN.
"""

from __future__ import annotations

import ast
import itertools
import operator
import types
from typing import Any, Callable, Dict, FrozenSet, Optional, Tuple

from .. import introspection
from . import object_fields, value_kinds
from .frame_names import UNKNOWN, FrameNames

Lookup = Callable[[FrameNames], Any]

# By id, because a metaclass may define `__hash__` and `__eq__`.
_NUMBERS = frozenset(id(kind) for kind in (int, float, bool))
_KEYS = frozenset(id(kind) for kind in (int, str, bool, float, bytes, type(None), complex))
_INDEXED = frozenset(id(kind) for kind in (list, tuple, str, bytes, bytearray))
_INDEXES = frozenset((id(int), id(bool)))
_MAX_DICTS = 1000
_VERIFIED: Dict[int, int] = {}  # by the id of a dict: how many of its keys are known to be plain
_module_dict: Callable[[Any], Dict[str, Any]] = vars(types.ModuleType)["__dict__"].__get__
_OPERATIONS: Dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def compile_lookup(node: Any) -> Lookup:
    """A function that finds what the expression names, or UNKNOWN."""
    build = _BUILDERS.get(type(node))
    return _find_nothing if build is None else build(node)


def _find_nothing(_names: FrameNames) -> Any:
    return UNKNOWN


def _build_name(node: ast.Name) -> Lookup:
    name = node.id
    return lambda names: names.read(name)


def _build_constant(node: ast.Constant) -> Lookup:
    value = node.value
    return lambda _names: value


def _build_attribute(node: ast.Attribute) -> Lookup:
    find_base, name = compile_lookup(node.value), node.attr

    def find(names: FrameNames) -> Any:
        base = find_base(names)
        return UNKNOWN if base is UNKNOWN else read_attribute(base, name)

    return find


def _build_subscript(node: ast.Subscript) -> Lookup:
    find_base, find_key = compile_lookup(node.value), compile_lookup(node.slice)

    def find(names: FrameNames) -> Any:
        base = find_base(names)
        return UNKNOWN if base is UNKNOWN else read_item(base, find_key(names))

    return find


def _build_negation(node: ast.UnaryOp) -> Lookup:
    if not isinstance(node.op, ast.USub):
        return _find_nothing
    find_operand = compile_lookup(node.operand)

    def find(names: FrameNames) -> Any:
        value = find_operand(names)
        return -value if id(type(value)) in _NUMBERS else UNKNOWN

    return find


def _build_operation(node: ast.BinOp) -> Lookup:
    compute = _OPERATIONS.get(type(node.op))
    if compute is None:
        return _find_nothing
    find_left, find_right = compile_lookup(node.left), compile_lookup(node.right)

    def find(names: FrameNames) -> Any:
        left, right = find_left(names), find_right(names)
        if id(type(left)) not in _NUMBERS or id(type(right)) not in _NUMBERS:
            return UNKNOWN
        try:
            return compute(left, right)
        except (ArithmeticError, ValueError):
            return UNKNOWN

    return find


def _build_tuple(node: ast.Tuple) -> Lookup:
    parts = [compile_lookup(part) for part in node.elts]

    def find(names: FrameNames) -> Any:
        values = tuple([part(names) for part in parts])
        return UNKNOWN if any(value is UNKNOWN for value in values) else values

    return find


def _build_call(node: ast.Call) -> Lookup:
    """`len(x)`, and `x.get(key)` of a dict, compute nothing of the program's."""
    function = node.func
    if node.keywords or not node.args or len(node.args) > 2:
        return _find_nothing
    if isinstance(function, ast.Name) and function.id == "len" and len(node.args) == 1:
        find_sized = compile_lookup(node.args[0])
        return lambda names: _measure(find_sized(names))
    if isinstance(function, ast.Attribute) and function.attr == "get":
        find_dict, find_key = compile_lookup(function.value), compile_lookup(node.args[0])

        def find(names: FrameNames) -> Any:
            held = find_dict(names)
            return read_item(held, find_key(names)) if type(held) is dict else UNKNOWN

        return find
    return _find_nothing


def _measure(value: Any) -> Any:
    kind = id(type(value))
    return len(value) if kind in value_kinds.CONTAINERS or kind in _INDEXED else UNKNOWN


_BUILDERS: Dict[type, Callable[[Any], Lookup]] = {
    ast.Name: _build_name,
    ast.Constant: _build_constant,
    ast.Attribute: _build_attribute,
    ast.Subscript: _build_subscript,
    ast.UnaryOp: _build_negation,
    ast.BinOp: _build_operation,
    ast.Tuple: _build_tuple,
    ast.Call: _build_call,
}


# -- items and attributes -------------------------------------------------------------------------


def is_plain_key(key: Any) -> bool:
    """Whether comparing and hashing this key runs none of the program's code."""
    if type(key) is tuple:
        return all(is_plain_key(part) for part in key)
    return id(type(key)) in _KEYS


def has_plain_keys(held: Any) -> bool:
    """Whether a search in the dict cannot meet a key that compares by the program's code.

    New keys are the last ones, so only these are looked at the next time.
    """
    size = dict.__len__(held)
    verified = _VERIFIED.get(id(held), 0)
    new = size - verified if verified <= size else size
    try:
        keys = itertools.islice(dict.__reversed__(held), new)
        if not all(map(_is_plain_type, keys)):
            return False
    except RuntimeError:  # another thread changes it just now
        return False
    if len(_VERIFIED) >= _MAX_DICTS:
        _VERIFIED.clear()
    _VERIFIED[id(held)] = size
    return True


def _is_plain_type(key: Any) -> bool:
    return id(type(key)) in _KEYS or (type(key) is tuple and is_plain_key(key))


def read_item(base: Any, key: Any) -> Any:
    """`base[key]` of a builtin container, or UNKNOWN."""
    if key is UNKNOWN or not is_plain_key(key):
        return UNKNOWN
    kind = type(base)
    if id(kind) in _INDEXED:
        if id(type(key)) in _INDEXES and -len(base) <= key < len(base):
            return base[key]
        return UNKNOWN
    # A `defaultdict`, `OrderedDict`, `Counter`, too: unless the class has its own way.
    if kind is not dict and not (issubclass(kind, dict) and is_builtin_method(kind, "__getitem__")):
        return UNKNOWN
    return dict.get(base, key, UNKNOWN) if has_plain_keys(base) else UNKNOWN


def find_member(cls: Any, name: str) -> Tuple[Any, Any]:
    """The class that defines a member, and the member as it stands there."""
    try:
        return introspection.find_in_mro(cls, name)
    except TypeError:  # the class is just being made, and has no order of its bases yet
        return None, None


def is_builtin_method(kind: Any, name: str) -> bool:
    """Whether a method of a class is written in C."""
    home, method = find_member(kind, name)
    return home is not None and type(method) is not types.FunctionType


def read_attribute(base: Any, name: str) -> Any:
    """`base.name` if that is stored somewhere: in a module, an instance, or its class."""
    kind = type(base)
    if kind is types.ModuleType:
        return _module_dict(base).get(name, UNKNOWN)
    owner, value = find_stored(base, name)
    return UNKNOWN if owner is None else value


def find_stored(base: Any, name: str) -> Tuple[Any, Any]:
    """The object that stores the attribute (the instance, or a class), and the value."""
    kind = type(base)
    if issubclass(kind, type):
        return _find_in_classes(base, name)
    home, member = find_member(kind, name)
    if type(member) is types.MemberDescriptorType:
        is_set, value = introspection.read_slot(base, name)
        return (base, value) if is_set else (None, UNKNOWN)
    if type(member) is property:
        return None, UNKNOWN
    held = object_fields.find_dict(base)
    if held is not None and name in held:
        return base, held[name]
    return (home, _unwrap(member)) if home is not None else (None, UNKNOWN)


def _find_in_classes(cls: Any, name: str) -> Tuple[Any, Any]:
    home, member = find_member(cls, name)
    return (None, UNKNOWN) if home is None else (home, _unwrap(member))


_UNWRAPPED: FrozenSet[int] = frozenset((id(staticmethod), id(classmethod)))


def _unwrap(member: Any) -> Any:
    """A member of a class as it is read; UNKNOWN if a descriptor would compute it."""
    kind = type(member)
    if kind is types.FunctionType or value_kinds.is_fixed(member):
        return member
    if id(kind) in _UNWRAPPED:
        return member.__func__
    return UNKNOWN if find_member(kind, "__get__")[0] is not None else member


def list_method(base: Any, name: str) -> Optional[Any]:
    """What a class has under the name of a method, as it stands there."""
    cls = base if issubclass(type(base), type) else type(base)
    return find_member(cls, name)[1]
