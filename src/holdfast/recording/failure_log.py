"""Says once per session that its files cannot be written: a full disk fails at every event."""

from __future__ import annotations

import logging
import threading

logger = logging.getLogger("holdfast")


class FailureLog:
    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self._lock = threading.Lock()
        self._has_warned = False

    def report(self, what: str, problem: Exception) -> None:
        """The first failure is a warning, those after it are for whoever wants the details."""
        with self._lock:
            is_first, self._has_warned = not self._has_warned, True
        if is_first:
            logger.warning(
                "%s of %s cannot be written: %s. The agent runs on; the recording says how many "
                "events it lost when there is room again",
                *(what, self._session_id, problem),
            )
        else:
            logger.debug("%s of %s cannot be written: %s", what, self._session_id, problem)
