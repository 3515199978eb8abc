"""The server's side of the board: the epoch of the rules, and a heartbeat while leases last."""

from __future__ import annotations

import asyncio
import contextlib
import mmap
import os
import secrets
import time
from pathlib import Path

from holdfast.service.warning_list import WarningList
from holdfast.trust.private_files import take_room
from holdfast.wire import board_layout

_PREFIX, _SUFFIX = "calls.", ".board"
_WARNING = "CALLS_NOT_LEASED"


class LeaseBoard:
    """A memory-mapped file of this server's own, so that a server that is gone has no heartbeat.

    An epoch begins with the time, so that no two servers ever have the same one.
    """

    def __init__(self, folder: Path, warnings: WarningList) -> None:
        self._folder = folder
        self._warnings = warnings
        self.path: str | None = None
        self.epoch = time.time_ns()
        self._map: mmap.mmap | None = None
        self._words: memoryview | None = None
        self._leases: set[str] = set()
        self._heart: asyncio.Task[None] | None = None

    def open(self) -> None:
        """Create the file, when the first application asks for a lease.

        OSError if there is no room for it: nothing is mapped then.
        """
        if self._words is not None:
            return
        for old in self._folder.glob(f"{_PREFIX}*{_SUFFIX}"):
            with contextlib.suppress(OSError):
                old.unlink()
        path = self._folder / f"{_PREFIX}{secrets.token_hex(4)}{_SUFFIX}"
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            take_room(handle, board_layout.SIZE)
            self._map = mmap.mmap(handle, board_layout.SIZE)
        except BaseException:
            os.unlink(path)
            raise
        finally:
            os.close(handle)
        words = memoryview(self._map).cast("Q")
        words[board_layout.EPOCH_AT] = self.epoch
        words[board_layout.HEARTBEAT_AT] = time.monotonic_ns()
        words[board_layout.VERSION_AT] = board_layout.VERSION
        words[board_layout.MAGIC_AT] = board_layout.MAGIC
        self._words, self.path = words, str(path)

    def announce_change(self) -> None:
        """Change the epoch: every application sees that the rules have changed."""
        self.epoch += 1
        if self._words is not None:
            self._words[board_layout.EPOCH_AT] = self.epoch

    def write_heartbeat(self) -> None:
        if self._words is not None:
            self._words[board_layout.HEARTBEAT_AT] = time.monotonic_ns()

    def grant(self, session_id: str) -> None:
        """Let a session make calls without asking; without a board, each call asks."""
        try:
            self.open()
        except OSError as problem:
            self._warnings.add(
                _WARNING,
                f"{self._folder} has no place for the board ({problem.strerror}), so every call of "
                "an application asks the server. Make room on the disk.",
                directory=str(self._folder),
            )
            return
        self._warnings.remove(_WARNING, "there is room for the board again")
        self._leases.add(session_id)
        self.write_heartbeat()
        if self._heart is None or self._heart.done():
            self._heart = asyncio.create_task(self._beat_regularly())

    def release(self, session_id: str) -> None:
        self._leases.discard(session_id)

    async def _beat_regularly(self) -> None:
        while self._leases:
            self.write_heartbeat()
            await asyncio.sleep(board_layout.BEAT_SECONDS)

    def close(self) -> None:
        """End all leases, because the rules end with the server."""
        self._leases.clear()
        if self._heart is not None:
            self._heart.cancel()
            self._heart = None
        if self._words is not None and self._map is not None and self.path is not None:
            self._words[board_layout.HEARTBEAT_AT] = 0
            self._words.release()
            self._map.close()
            self._words = self._map = None
            with contextlib.suppress(OSError):
                os.unlink(self.path)
