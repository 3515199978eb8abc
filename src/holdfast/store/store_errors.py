"""What can go wrong with the store, and the list of what it worked around."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from typing import Any

from holdfast.errors import NotStored

# Beyond this many, more warnings would tell nobody anything new.
MAX_WARNINGS = 1000


class StoreProblem(NotStored):
    """Something could not be read from disk, or written there."""


class StoreInUse(StoreProblem):
    code = "STORE_IN_USE"
    short = "store_in_use"
    default_hint = "Use the server that runs there, stop it, or choose another data directory."


class StoreWarnings:
    """Problems met and survived. The same problem is told once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._told: set[Hashable] = set()
        self._entries: list[dict[str, Any]] = []

    def add(self, code: str, message: str, *, about: Hashable = None, **details: Any) -> None:
        with self._lock:
            if (code, about) in self._told or len(self._entries) >= MAX_WARNINGS:
                return
            self._told.add((code, about))
            self._entries.append({"code": code, "message": message, "details": details})

    def entries(self) -> list[dict[str, Any]]:
        with self._lock:
            return list(self._entries)
