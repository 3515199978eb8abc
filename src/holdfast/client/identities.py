"""Which object it was, of those that are not stored: a name that no other object has."""

from __future__ import annotations

import itertools
import os
import weakref
from collections.abc import Callable
from typing import Any

_TOKEN = os.urandom(8).hex()


class Identities:
    """Numbers of objects, each the same for as long as the object lives."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[weakref.ref[Any], int]] = {}
        self._numbers = itertools.count(1)

    def of(self, value: Any) -> str:
        """Of this process's objects, this one. Where it may have to do, its address."""
        key = id(value)
        entry = self._known.get(key)
        if entry is None or entry[0]() is not value:
            try:
                entry = (weakref.ref(value, self._forgetting(key)), next(self._numbers))
            except TypeError:
                return f"{_TOKEN}-{os.getpid()}-at-{key:x}"
            self._known[key] = entry
        return f"{_TOKEN}-{os.getpid()}-{entry[1]}"

    def _forgetting(self, key: int) -> Callable[[Any], None]:
        known = self._known

        def forget(gone: Any) -> None:
            entry = known.get(key)
            if entry is not None and entry[0] is gone:
                known.pop(key, None)

        return forget


identities = Identities()
