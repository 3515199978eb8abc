"""Marks of values: small things to compare a value with later, without any code of the program.

A mark keeps no object of the program alive.
"""

from __future__ import annotations

import itertools
import marshal
from typing import Any, Optional, Tuple

from .. import introspection
from .object_fields import find_dict, find_layout, list_fields
from .plain_sizes import can_marshal
from .value_kinds import ATOMS, CONTAINERS, FIXED, SIZED_BASES

MAX_EXACT = 20_000  # items of a container that is compared as a whole
HEAVY = 4096  # bytes of a mark; such a value is not compared after every statement
MARK_DEPTH = 2  # how deep objects that are no plain values are compared

_LONG_STRING = 200
_FEW = 50  # items that are compared even at the greatest depth
_SAMPLE = 40  # items of a container that is not compared as a whole
_MANY_PARTS = 400  # of a mark; such a value is not compared after every statement
_MAX_MARKED = 2000  # items that are no plain values
_VERSION = 2  # of the marshal format; later ones depend on reference counts

_type_name = introspection.type_name
_dumps = marshal.dumps

Mark = Any
"""Of a value that cannot change: something equal for an equal value of the same type. Of others:
(identity, content), so that a change in place can be told from another object."""


def take_mark(value: Any, is_coarse: bool = False) -> Mark:
    """Something small that is equal as long as a value is what it was.

    `is_coarse`: of a large container, only the length and a few items count.
    """
    kind = type(value)
    if kind is int:
        return value
    if kind is str:
        return value if len(value) < _LONG_STRING else ("str", len(value), hash(value))
    if id(kind) in FIXED:
        return _mark_fixed(value, kind)
    try:
        if id(kind) in CONTAINERS:
            return (id(value), _mark_container(value, kind, MARK_DEPTH, is_coarse))
        return (id(value), _mark_object(value, kind, MARK_DEPTH))
    except (RuntimeError, AttributeError):  # another thread changes it just now
        return (id(value), None)


def is_same_content(old: Mark, new: Mark) -> bool:
    """Whether two marks are of equal values, be they one object or two."""
    if type(old) is tuple and type(new) is tuple and len(old) == 2 and len(new) == 2:
        return bool(old[1] == new[1] and (old[0] == new[0] or type(old[1]) is bytes))
    return type(old) is type(new) and bool(old == new)


def is_heavy(mark: Mark) -> bool:
    """Whether it took long to take this mark."""
    content = mark[-1] if type(mark) is tuple else None
    if type(content) is bytes:
        return len(content) > HEAVY
    return type(content) is tuple and _count_parts(content) > _MANY_PARTS


def _count_parts(content: Tuple[Any, ...]) -> int:
    count = len(content)
    for part in content:
        if count > _MANY_PARTS:
            break
        if type(part) is tuple:
            count += _count_parts(part)
        elif type(part) is bytes:
            count += len(part) // 16
    return count


def _mark_fixed(value: Any, kind: Any) -> Mark:
    if id(kind) in ATOMS:
        return ("atom", repr(value))  # 1, 1.0 and True are equal, and so are 0.0 and -0.0
    if kind is bytes:
        return ("bytes", len(value), hash(value))
    if kind is range:
        return ("range", repr(value))
    return (_type_name(kind), id(value), 0)


def _mark_container(value: Any, kind: Any, depth: int, is_coarse: bool = False) -> Any:
    size = len(value)
    if size > MAX_EXACT or is_coarse:
        return (size, _sample(value, kind))
    if can_marshal(value):
        try:
            return _dumps(value, _VERSION)  # exact to any depth, and can be read back
        except ValueError:
            pass  # something in it is no plain value
    if depth <= 0:
        return (size,)
    items = itertools.islice(value, _MAX_MARKED)
    if kind is dict:
        keys = tuple([mark_item(key, 0) for key in items])
        held = itertools.islice(value.values(), _MAX_MARKED)
        return (size, keys, tuple([mark_item(item, depth - 1) for item in held]))
    return (size, tuple([mark_item(item, depth - 1) for item in items]))


def _sample(value: Any, kind: Any) -> Tuple[Any, ...]:
    """The items of a large container that its text shows, and the last ones."""
    if kind is bytearray:
        return hash(bytes(value[:_SAMPLE])), hash(bytes(value[-_SAMPLE:]))
    items = [mark_item(item, 0) for item in itertools.islice(value, _SAMPLE)]
    if kind is dict:
        items += [mark_item(item, 0) for item in itertools.islice(value.values(), _SAMPLE)]
    elif kind is list or kind is tuple:
        items += [mark_item(item, 0) for item in value[-8:]]
    return tuple(items)


def mark_item(value: Any, depth: int) -> Any:
    kind = type(value)
    if kind is int:
        return value
    if kind is str and len(value) < _LONG_STRING:
        return value
    if id(kind) in FIXED:
        return take_mark(value)
    if id(kind) in CONTAINERS and (depth > 0 or len(value) <= _FEW):
        return (id(value), _mark_container(value, kind, depth))
    if depth <= 0:
        return (id(kind), id(value), 0)
    return (id(value), _mark_object(value, kind, depth))


def _mark_object(value: Any, kind: Any, depth: int) -> Any:
    layout = find_layout(kind)
    size = _find_size(value, kind)
    if layout.is_empty:
        return size if size is None else _mark_derived(value, size, depth)
    held = find_dict(value) if layout.has_dict else None
    if held is not None and not layout.slots and size is None and len(held) <= _MAX_MARKED:
        try:
            if can_marshal(held):
                return _dumps(held, _VERSION)
        except ValueError:
            pass  # something in it is no plain value
    fields = list_fields(value) or ()
    marks = tuple([(name, mark_item(item, depth - 1)) for name, item in fields])
    return (marks, None if size is None else _mark_derived(value, size, depth))


def _find_size(value: Any, kind: Any) -> Optional[int]:
    for base in SIZED_BASES:
        if issubclass(kind, base):
            size: int = base.__len__(value)
            return size
    return None


def _mark_derived(value: Any, size: int, depth: int) -> Any:
    """The items of an instance of a class that extends a builtin container."""
    most = _MAX_MARKED // 4
    if issubclass(type(value), dict):
        pairs = introspection.slice_items(value, 0, most)
        return (size, tuple([(mark_item(k, 0), mark_item(v, depth - 1)) for k, v in pairs]))
    items = introspection.slice_sequence(value, 0, most)
    return (size, tuple([mark_item(item, depth - 1) for item in items]))
