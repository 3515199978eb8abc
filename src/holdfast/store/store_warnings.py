"""The list of problems that a store worked around."""

from __future__ import annotations

import logging
import threading
from collections.abc import Hashable
from typing import Any

from holdfast.model.records import StoreWarning

log = logging.getLogger(__name__)

# More warnings than this help nobody.
MAX_WARNINGS = 1000


class StoreWarnings:
    """Lists each problem once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listed: set[Hashable] = set()
        self._entries: list[StoreWarning] = []

    def add(self, code: str, message: str, *, about: Hashable = None, **details: Any) -> None:
        with self._lock:
            if (code, about) in self._listed or len(self._entries) >= MAX_WARNINGS:
                return
            self._listed.add((code, about))
            log.warning("%s", message)
            self._entries.append(StoreWarning(code, message, details))

    def entries(self) -> list[StoreWarning]:
        with self._lock:
            return list(self._entries)
