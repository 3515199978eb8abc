"""What a value holds, as something small that can be compared later: has it changed in place?

None of the program's code runs for it. Plain containers are marshalled, which follows them to any
depth and can be read back as the value that was. Other objects get an outline of what they hold, a
few levels deep.
"""

from __future__ import annotations

import array
import marshal
import types
from typing import Any, List, Optional, Tuple

from . import introspection

MISSING: Any = type("Missing", (), {"__repr__": lambda _self: "<missing>"})()

# Values of these types cannot be changed in place, or what they hold is no data.
ATOMIC = frozenset(
    (
        int,
        float,
        complex,
        bool,
        str,
        bytes,
        range,
        slice,
        type,
        type(None),
        type(...),
        type(NotImplemented),
        type(MISSING),
        types.FunctionType,
        types.BuiltinFunctionType,
        types.MethodType,
        types.CodeType,
        types.ModuleType,
    )
)
COMPARABLE = frozenset((int, float, complex, bool, str, bytes, type(None)))
_READABLE = frozenset((list, dict, set, frozenset, tuple))
_MARSHALLED = _READABLE | {bytearray, array.array}
_VERSION = 2  # of the format; later ones depend on reference counts
_MAX_MARSHALLED = 100_000  # items; a longer container is compared by its outline
_MAX_DEPTH, _MAX_NODES = 3, 300

Fingerprint = Any  # bytes, a tuple, or None for what cannot change
Outline = Tuple[Any, ...]


def take(value: Any) -> Fingerprint:
    """The fingerprint of a value; None if it cannot change in place."""
    cls = type(value)
    if cls in ATOMIC or issubclass(cls, (type, types.ModuleType)):
        return None
    if cls in _MARSHALLED or cls.__module__ == "numpy":
        if (introspection.length(value) or 0) <= _MAX_MARSHALLED:
            try:
                return marshal.dumps(value, _VERSION)
            except ValueError:  # something in it is no plain value
                pass
    return _Outliner().outline(value, _MAX_DEPTH)


def is_bounded(value: Any) -> bool:
    """Whether only the beginning of a value is compared."""
    return (introspection.length(value) or 0) > _MAX_NODES and type(take(value)) is tuple


def is_same(old: Any, new: Any, old_mark: Fingerprint, new_mark: Fingerprint) -> bool:
    """Whether a place that held one value holds an equal one now. Runs no `__eq__` of theirs."""
    cls = type(new)
    if type(old) is not cls:
        return False
    if cls in COMPARABLE:
        return bool(old == new)
    if old is not new and type(new_mark) is not bytes:
        return False
    return is_unchanged(old_mark, new_mark, cls)


def is_unchanged(old_mark: Fingerprint, new_mark: Fingerprint, cls: type) -> bool:
    if old_mark == new_mark:
        return True
    if cls in (set, frozenset) and type(old_mark) is bytes and type(new_mark) is bytes:
        return bool(marshal.loads(old_mark) == marshal.loads(new_mark))  # in another order
    return False


def recall(mark: Fingerprint, cls: type) -> Any:
    """The value that a fingerprint was taken of, if it was plain; else MISSING."""
    return marshal.loads(mark) if type(mark) is bytes and cls in _READABLE else MISSING


def describe(mark: Fingerprint, cls: type) -> str:
    """What is known of a value of which only the fingerprint is left."""
    if type(mark) is tuple:
        return _describe_outline(mark)[:400]
    return "<%s of %d bytes>" % (introspection.type_name(cls), len(mark or b""))


class _Outliner:
    """Goes through a value, and stops when it has seen enough of it."""

    def __init__(self) -> None:
        self._remaining = _MAX_NODES
        self._open: List[int] = []

    def outline(self, value: Any, depth: int) -> Outline:
        """(type, identity or plain value, length, children): equal as long as nothing changes."""
        self._remaining -= 1
        cls = type(value)
        if cls in COMPARABLE:
            return (cls, value)
        if cls in ATOMIC or issubclass(cls, (type, types.ModuleType)):
            return (cls, id(value))
        if depth == 0 or self._remaining <= 0 or id(value) in self._open:
            return (cls, id(value), introspection.length(value))
        self._open.append(id(value))
        try:
            children = tuple(self._children(value, depth - 1))
        finally:
            self._open.pop()
        return (cls, id(value), introspection.length(value), children)

    def _children(self, value: Any, depth: int) -> List[Tuple[Any, Outline]]:
        cls, most = type(value), max(0, self._remaining)
        pairs: List[Tuple[Any, Outline]] = []
        if issubclass(cls, dict):
            for key, item in introspection.slice_items(value, 0, most):
                label = key if type(key) in COMPARABLE else id(key)
                pairs.append((("key", type(key), label), self.outline(item, depth)))
        elif issubclass(cls, introspection.SLICEABLE + introspection.ITERABLE):
            items = introspection.slice_sequence(value, 0, most)
            pairs.extend((None, self.outline(item, depth)) for item in items)
        for name, item in introspection.first_attributes(value, most):
            pairs.append((name, self.outline(item, depth)))
        return pairs


def _describe_outline(outline: Outline) -> str:
    cls = outline[0]
    if cls in COMPARABLE:
        return repr(outline[1])[:100]
    name = introspection.type_name(cls)
    if len(outline) < 4:
        return "<%s>" % name
    texts = []
    for label, child in outline[3][:20]:
        text = _describe_outline(child)
        if type(label) is tuple:
            text = "%r: %s" % (label[2], text)
        elif label is not None:
            text = "%s=%s" % (label, text)
        texts.append(text)
    if len(outline[3]) > 20:
        texts.append("...")
    return "%s(%s)" % (name, ", ".join(texts))


def find_old(mark: Fingerprint, value: Any) -> Tuple[Any, Optional[str]]:
    """What a value was before it changed in place, and the text for it if that is all there is."""
    old = recall(mark, type(value))
    return old, describe(mark, type(value)) if old is MISSING else None
