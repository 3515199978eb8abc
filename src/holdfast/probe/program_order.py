"""The program to run: sent once by the server, awaited by the main thread."""

from __future__ import annotations

import threading
from typing import Any, Dict


class ProgramOrder:
    def __init__(self) -> None:
        self._arrived = threading.Event()
        self.spec: Dict[str, Any] = {}
        self.answer: Any = None

    def set(self, spec: Dict[str, Any], answer: Any) -> None:
        self.spec, self.answer = spec, answer
        self._arrived.set()

    def cancel(self) -> None:
        """The server is gone, so no program will come."""
        self._arrived.set()

    def wait(self) -> Dict[str, Any]:
        """The program; empty when none will come."""
        self._arrived.wait()
        return self.spec


ORDER = ProgramOrder()
