"""The socket to the server: it waits for the debugger, and notices when the program closes it.

What the server says is read when the debugger is ready for it. A request that began to trace the
thread that still sets the debugger up would stop it in there.

A program that becomes a daemon may close every descriptor that it finds. A thread that is blocked
in reading would keep the closed connection open, and the server would never learn of it.
"""

from __future__ import annotations

import os
import select
import socket
import threading
from typing import Any, Optional, Tuple

_CHECK_MILLISECONDS = 1000
# Kept, since the program may replace it (gevent does).
_create_poll = select.poll


class ServerConnection(socket.socket):
    """Reads the end of the file when its descriptor is closed, or another file's by now."""

    def __init__(self, fileno: int) -> None:
        super().__init__(fileno=fileno)
        self._identity = _identify(fileno)
        self._may_read = threading.Event()

    def let_read(self) -> None:
        """The debugger is ready."""
        self._may_read.set()

    def recv(self, *args: Any) -> bytes:
        self._may_read.wait()
        poll = _create_poll()
        poll.register(self.fileno(), select.POLLIN)
        while True:
            ready = poll.poll(_CHECK_MILLISECONDS)
            if _identify(self.fileno()) != self._identity:
                return b""
            if ready:
                return super().recv(*args)


def _identify(fd: int) -> Optional[Tuple[int, int]]:
    try:
        status = os.fstat(fd)
    except OSError:
        return None
    return status.st_dev, status.st_ino
