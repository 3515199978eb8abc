"""Notices that the data directory, or the database in it, was deleted or replaced.

The database stays open, so writing to it goes on without an error. But it has no name any more, and
all of it is gone when the server ends.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from holdfast.service.warning_list import WarningList

CODE = "DATA_DIRECTORY_GONE"
_CHECK_SECONDS = 1.0

Identity = tuple[int, int]


class DataDirectoryWatch:
    """`tell` is called with a message when it is gone, and with None when it is back."""

    def __init__(
        self, directory: Path, file: Path, warnings: WarningList, tell: Callable[[str | None], None]
    ) -> None:
        self._directory = directory
        self._file = file
        self._identity = _identify(file)
        self._warnings = warnings
        self._tell = tell
        self._task: asyncio.Task[None] | None = None
        self.is_gone = False

    def start(self) -> None:
        self._task = asyncio.create_task(self._check_regularly())

    def close(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _check_regularly(self) -> None:
        while True:
            await asyncio.sleep(_CHECK_SECONDS)
            self.check()

    def check(self) -> None:
        is_gone = _identify(self._file) != self._identity
        if is_gone == self.is_gone:
            return
        self.is_gone = is_gone
        if not is_gone:
            self._warnings.remove(CODE, f"the data directory {self._directory} is back")
            self._tell(None)
            return
        what = f"The data directory {self._directory}"
        if self._directory.is_dir():
            what = f"The database in {self._directory}"
        message = (
            f"{what} was deleted or replaced while the server runs. Sessions go on in memory, but "
            "nothing that happens from now on is kept. Export the sessions that you need "
            "(GET /sessions/{id}/export), then restart the server."
        )
        self._warnings.add(CODE, message, directory=str(self._directory), file=str(self._file))
        self._tell(message)


def _identify(path: Path) -> Identity | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino
