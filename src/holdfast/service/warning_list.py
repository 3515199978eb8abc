"""What went wrong and was worked around: shown by `/health`, and written to the server's log."""

from __future__ import annotations

import logging
from collections.abc import Hashable

from holdfast.wire.server_answers import ServerWarning

log = logging.getLogger(__name__)

# More warnings than this help nobody.
MAX_WARNINGS = 1000

Key = tuple[str, Hashable]


class WarningList:
    """Each warning once, for as long as it is true."""

    def __init__(self) -> None:
        self._warnings: dict[Key, ServerWarning] = {}

    def add(self, code: str, message: str, *, about: Hashable = None, **details: object) -> None:
        """Warn, unless the same warning about the same thing is there already."""
        if (code, about) in self._warnings or len(self._warnings) >= MAX_WARNINGS:
            return
        self._warnings[code, about] = ServerWarning(code=code, message=message, details=details)
        log.warning("%s", message)

    def remove(self, code: str, message: str, *, about: Hashable = None) -> None:
        """The problem is over. The log says so, with `message`."""
        if self._warnings.pop((code, about), None) is not None:
            log.warning("%s", message)

    def entries(self) -> list[ServerWarning]:
        return list(self._warnings.values())
