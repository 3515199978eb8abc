"""Which values cannot change in place, and which are plain containers.

Types are looked up by their `id`: a metaclass may define `__hash__` and `__eq__`.
"""

from __future__ import annotations

import collections
import types
from typing import Any, FrozenSet, Tuple


def _ids(*kinds: Any) -> FrozenSet[int]:
    return frozenset(id(kind) for kind in kinds)


NUMBERS = _ids(int, float, bool, type(None))  # JSON has these
ATOMS = NUMBERS | _ids(complex, type(...), type(NotImplemented))
_CODE = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    types.CodeType,
    types.ModuleType,
    type,
)
FIXED = ATOMS | _ids(str, bytes, range, slice, *_CODE)  # these do not change in place
_CONTAINERS = (list, dict, set, tuple, frozenset, bytearray)
CONTAINERS = _ids(*_CONTAINERS)


def is_fixed(value: Any) -> bool:
    """Whether what this value holds cannot change in place."""
    return id(type(value)) in FIXED


SIZED_BASES: Tuple[Any, ...] = (dict, list, tuple, set, frozenset, collections.deque)
"""Builtin containers that classes of a program extend."""
