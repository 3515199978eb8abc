"""The lease of an application: while it is good, calls that no rule concerns go ahead unasked.

The server publishes a number (the epoch of its rules) and a heartbeat in shared memory, the board.
The lease is good while the epoch is that of the rules we know and the heartbeat is recent.
"""

from __future__ import annotations

import itertools
import mmap
import os
import threading
import time

from holdfast.client.lease_rules import LeaseRules
from holdfast.client.proxy_base import without_interception
from holdfast.client.recorder import Answer, Recorder
from holdfast.wire.board_layout import (
    EPOCH_AT,
    HEARTBEAT_AT,
    LEASE_NS,
    MAGIC,
    MAGIC_AT,
    SIZE,
    VERSION,
    VERSION_AT,
)

# Whatever is at its path, opening it does not wait.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_BOARD = memoryview(bytes(SIZE)).cast("Q")


class Lease:
    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.words = _NO_BOARD
        self.epoch = -1
        self.rules = LeaseRules((), None)
        self.numbers = itertools.cycle(range(100, 110))
        """The last digits of this application's call numbers: no other application has them."""
        self._path: str | None = None
        self._refused_at = 0
        self._renewing = threading.Lock()

    def take(self, answer: Answer) -> None:
        """Take what the server granted: the rules, and the board that shows changes of them."""
        path, lane, epoch = answer.get("board"), answer.get("lane"), answer.get("epoch")
        first = lane * 10 if isinstance(lane, int) and 10 <= lane < 100 else 100
        self.numbers = itertools.cycle(range(first, first + 10))
        words = self.words
        if path != self._path or words is _NO_BOARD:
            words = _map_board(path) if isinstance(path, str) else _NO_BOARD
            self._path = path if words is not _NO_BOARD else None
        self.rules = LeaseRules(answer.get("rules"), self._recorder.session_id)
        self.epoch = epoch if isinstance(epoch, int) else -1
        self.words = words

    def drop(self) -> None:
        """The next call asks the server, and fails if no server answers."""
        self.words = _NO_BOARD

    def reset_after_fork(self) -> None:
        """The child has no lease: the session is its parent's."""
        self._renewing = threading.Lock()
        self._path = None
        self.drop()

    def is_valid(self) -> bool:
        words = self.words
        is_recent = time.monotonic_ns() - words[HEARTBEAT_AT] <= LEASE_NS
        return words[EPOCH_AT] == self.epoch and is_recent

    def renew(self) -> bool:
        """Ask for the rules again. False: make the call in strict mode."""
        with without_interception(), self._renewing:
            self._recorder.reopen_after_fork()
            for _ in range(3):
                if self.is_valid():
                    return True
                if time.monotonic_ns() - self._refused_at < LEASE_NS // 4:
                    return False
                self.take(self._recorder.fetch_rules())
            self._refused_at = time.monotonic_ns()
            return self.is_valid()


def _map_board(path: str) -> memoryview:
    """The server's board; the empty one if it cannot be read from here."""
    try:
        # The server has taken the room for the file; a page without room would kill the reader.
        with open(os.open(path, _FLAGS), "rb") as file:
            words = memoryview(mmap.mmap(file.fileno(), SIZE, access=mmap.ACCESS_READ)).cast("Q")
    except (OSError, ValueError):
        return _NO_BOARD
    is_board = words[MAGIC_AT] == MAGIC and words[VERSION_AT] == VERSION
    return words if is_board else _NO_BOARD
