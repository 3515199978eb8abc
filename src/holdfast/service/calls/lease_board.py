"""The server's side of the board: the epoch of the rules, and a heartbeat while leases are out."""

from __future__ import annotations

import asyncio
import contextlib
import mmap
import os
import secrets
import time
from pathlib import Path

from holdfast.wire import board_layout

_PREFIX, _SUFFIX = "calls.", ".board"


class Board:
    """A file of this server's own: whoever still reads that of another sees its heart stand still.

    An epoch begins with the time, so that no two servers ever have the same one.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.path: str | None = None
        self.epoch = time.time_ns()
        self._map: mmap.mmap | None = None
        self._words: memoryview | None = None
        self._leases: set[str] = set()
        self._beating: asyncio.Task[None] | None = None

    def open(self) -> None:
        """Make the file, when the first application wants a lease."""
        if self._words is not None:
            return
        for old in self._folder.glob(f"{_PREFIX}*{_SUFFIX}"):
            with contextlib.suppress(OSError):
                old.unlink()
        path = self._folder / f"{_PREFIX}{secrets.token_hex(4)}{_SUFFIX}"
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.ftruncate(handle, board_layout.SIZE)
            self._map = mmap.mmap(handle, board_layout.SIZE)
        finally:
            os.close(handle)
        words = memoryview(self._map).cast("Q")
        words[board_layout.EPOCH_AT] = self.epoch
        words[board_layout.HEARTBEAT_AT] = time.monotonic_ns()
        words[board_layout.VERSION_AT] = board_layout.VERSION
        words[board_layout.MAGIC_AT] = board_layout.MAGIC
        self._words, self.path = words, str(path)

    def changed(self) -> None:
        """The rules have changed: from now on no application goes by the old ones."""
        self.epoch += 1
        if self._words is not None:
            self._words[board_layout.EPOCH_AT] = self.epoch

    def beat(self) -> None:
        if self._words is not None:
            self._words[board_layout.HEARTBEAT_AT] = time.monotonic_ns()

    def grant(self, session_id: str) -> None:
        self.open()
        self._leases.add(session_id)
        self.beat()
        if self._beating is None or self._beating.done():
            self._beating = asyncio.create_task(self._beats())

    def release(self, session_id: str) -> None:
        self._leases.discard(session_id)

    async def _beats(self) -> None:
        while self._leases:
            self.beat()
            await asyncio.sleep(board_layout.BEAT_SECONDS)

    def close(self) -> None:
        """Nobody may go by the rules of a server that has gone."""
        self._leases.clear()
        if self._beating is not None:
            self._beating.cancel()
            self._beating = None
        if self._words is not None and self._map is not None and self.path is not None:
            self._words[board_layout.HEARTBEAT_AT] = 0
            self._words.release()
            self._map.close()
            self._words = self._map = None
            with contextlib.suppress(OSError):
                os.unlink(self.path)
