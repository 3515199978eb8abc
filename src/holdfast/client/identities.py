"""Names for objects that are not stored, different for each object of each process."""

from __future__ import annotations

import itertools
import os
import weakref
from typing import Any

_TOKEN = os.urandom(8).hex()
_known: dict[int, tuple[weakref.ref[Any], int]] = {}
_numbers = itertools.count(1)


def identify(value: Any) -> str:
    """A name that stays the object's as long as it lives. Without weak references, its address."""
    key = id(value)
    entry = _known.get(key)
    if entry is None or entry[0]() is not value:

        def forget(reference: Any) -> None:
            current = _known.get(key)
            if current is not None and current[0] is reference:
                _known.pop(key, None)

        try:
            entry = (weakref.ref(value, forget), next(_numbers))
        except TypeError:
            return f"{_TOKEN}-{os.getpid()}-at-{key:x}"
        _known[key] = entry
    return f"{_TOKEN}-{os.getpid()}-{entry[1]}"
