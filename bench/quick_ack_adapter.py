"""Runs debugpy's own adapter with `TCP_QUICKACK`, so that it acknowledges every packet at once.

pydevd writes the header and the body of a message separately. The second write waits until the
first is acknowledged, which the kernel delays by 40 ms, for every message. Linux resets the option
often, so this sets it again after every read.
"""

from __future__ import annotations

import runpy
import socket
from typing import Any

_QUICKACK = getattr(socket, "TCP_QUICKACK", None)


class _QuickAckSocket(socket.socket):
    def recv_into(self, *args: Any, **kwargs: Any) -> int:
        count = super().recv_into(*args, **kwargs)
        if _QUICKACK is not None:
            try:
                self.setsockopt(socket.IPPROTO_TCP, _QUICKACK, 1)
            except OSError:  # the other side is gone, or this is no TCP socket
                pass
        return count


if __name__ == "__main__":
    socket.socket = _QuickAckSocket  # type: ignore[misc]
    runpy.run_module("debugpy.adapter", run_name="__main__", alter_sys=True)
