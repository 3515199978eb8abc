"""Messages to the server, on pydevd's own connection."""

from __future__ import annotations

import sys
import threading
from _queue import SimpleQueue  # the one in C: the other, and gevent's, have locks of Python
from typing import Any, Callable, Dict, Optional

from . import timings
from .pydevd_access import RequestFailed, current, step_suspended

_LOOK_SECONDS = 0.02


def use_reentrant_queue(writer: Any) -> None:
    """Give pydevd's writer a queue that takes a message whatever its thread is doing.

    A signal handler or a `__del__` may print, or stop, while its thread adds a message already. The
    queue that pydevd uses has a lock, for which the thread would then wait for ever.
    """
    if "gevent.monkey" in sys.modules and not _has_private_threads():
        return  # the writer is a greenlet, and must not block the thread of all of them
    before, writer._cmd_queue = writer._cmd_queue, SimpleQueue()
    while not before.empty():
        writer._cmd_queue.put(before.get_nowait())


def _has_private_threads() -> bool:
    from _pydevd_bundle.pydevd_constants import SUPPORT_GEVENT

    return bool(SUPPORT_GEVENT)


def send(message: Dict[str, Any]) -> None:
    from _pydevd_bundle.pydevd_net_command import NetCommand

    db = current()
    if db is not None and db.writer is not None:
        with step_suspended():
            db.writer.add_command(NetCommand(0, 0, message, is_json=True))


def report(kind: str, **body: Any) -> None:
    """Send an event of our own."""
    send({"type": "event", "event": "holdfast", "body": dict(body, kind=kind)})


def respond(request: Dict[str, Any], run: Callable[[], Any]) -> None:
    """Answer a request of ours with what `run()` returns, or with the error that it raises."""
    try:
        _send_response(request, run())
    except RequestFailed as failure:
        body = {"kind": failure.kind, "details": failure.details}
        _send_response(request, body, str(failure))
    except BaseException as error:  # a request must never end the debugger's reader
        body = {"kind": "internal", "details": {}}
        _send_response(request, body, "%s: %s" % (type(error).__name__, error))


def _send_response(request: Dict[str, Any], body: Any, error: Optional[str] = None) -> None:
    message = {
        "type": "response",
        "request_seq": request["seq"],
        "command": "holdfast",
        "success": error is None,
        "body": body,
    }
    if error is not None:
        message["message"] = error
    send(message)


def flush(seconds: Optional[float] = None) -> None:
    """Wait until every message so far has been written to the connection, for a while at most."""
    from _pydevd_bundle.pydevd_net_command import _NullNetCommand

    db = current()
    writer = None if db is None else db.writer
    if writer is None or not writer.is_alive():
        return
    sent = threading.Event()
    mark = _NullNetCommand()
    mark.send = lambda _socket: sent.set()
    writer.add_command(mark)
    if seconds is None:
        seconds = timings.TIMINGS.messages_sent
    wait_for_writer(writer, sent.wait, seconds)


def wait_for_writer(writer: Any, wait: Callable[[float], bool], seconds: float) -> bool:
    """Wait until it has sent a message, for a while at most, and only while it lives.

    A writer that ends takes no message any more. `wait` waits for so long and says whether it was
    sent. The program may have stopped its clock, so looks are counted.
    """
    for _ in range(int(seconds / _LOOK_SECONDS) + 1):
        if wait(_LOOK_SECONDS):
            return True
        if not writer.is_alive():
            break
    return False


def flush_output() -> None:
    """Flush what the program printed, so that it is seen with the stop or message that follows."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
