"""What a blocked thread waits for."""

from __future__ import annotations

import sys
import threading
from typing import Any

from holdfast.probe import thread_waits
from polling import wait_until


def list_frames(thread: threading.Thread) -> list[Any]:
    frames = []
    frame = sys._current_frames().get(thread.ident or 0)
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    return frames


def test_what_only_a_library_names_has_no_name() -> None:
    event = threading.Event()
    thread = threading.Thread(target=event.wait)
    thread.start()
    try:
        wait_until(lambda: thread_waits.find_wait(list_frames(thread)) is not None)
        wait = thread_waits.find_wait(list_frames(thread))
    finally:
        event.set()
        thread.join()
    assert wait is not None
    assert (wait.kind, wait.target, wait.name) == ("event", event, None)
