"""What a program prints while we are attached to it, for the server too.

A program that we launch writes to our pipes. One that ran before has its own stdout and stderr. So
the `write` of those streams is replaced on the streams themselves: they stay what they are, text
goes where it went before, and whoever kept a reference to one (`logging` does) is heard as well.
What is written past them is not seen: by C code, to the descriptor, to `sys.stdout.buffer`, and by
child processes.
"""

from __future__ import annotations

import sys
from typing import Any, List, Tuple

from .pydevd_access import current
from .server_messages import report

_MAX_WAITING = 2000  # messages that the server has not taken yet; more are dropped
_MAX_CHARACTERS = 65536  # in one message
_STREAMS: List[Tuple[Any, Any]] = []  # each with its `write` of ours


def start() -> None:
    stop()
    for name in ("stdout", "stderr"):
        for stream in (getattr(sys, name), getattr(sys, "__%s__" % name)):
            if stream is not None and "write" not in getattr(stream, "__dict__", {"write": 0}):
                _capture(stream, name)


def _capture(stream: Any, name: str) -> None:
    original = stream.write

    def write(text: Any) -> Any:
        count = original(text)
        if isinstance(text, str) and text:
            _report(name, text)
        return count

    try:
        stream.write = write
    except Exception:  # a stream of the program's own may take no attributes
        return
    _STREAMS.append((stream, write))


def stop() -> None:
    """The streams are as they were. What the program has put in place of ours stays."""
    while _STREAMS:
        stream, write = _STREAMS.pop()
        try:
            if stream.write is write:
                del stream.write
        except Exception:
            pass


def _report(name: str, text: str) -> None:
    try:
        db = current()
        if db is None or db.writer is None:
            return
        for start in range(0, len(text), _MAX_CHARACTERS):
            if db.writer._cmd_queue.qsize() > _MAX_WAITING:
                return  # the server is slow, or gone: the program must not wait, nor fill up
            report("output", stream=name, text=text[start : start + _MAX_CHARACTERS])
    except Exception:
        pass  # a program may print at any time, also when everything else is over
