"""What happens to running adapters when their process ends, or forks."""

from __future__ import annotations

import atexit
import logging
import os
import threading
import weakref
from typing import Any, Protocol

from holdfast import timings

log = logging.getLogger(__name__)


class Stoppable(Protocol):
    def stop(self, timeout: float | None = None) -> None: ...

    def forget_run(self) -> None: ...


_adapters: weakref.WeakSet[Any] = weakref.WeakSet()
_is_hooked = False


def add(adapter: Stoppable) -> None:
    """Stop it at the end of the process; in a fork of the process, it does not run."""
    global _is_hooked
    _adapters.add(adapter)
    if not _is_hooked:
        _is_hooked = True
        # After the threads of executors have ended, no process can be killed in order any more.
        # So we must come before them: `atexit` is too late. The warden is there if this is missing.
        register = getattr(threading, "_register_atexit", atexit.register)
        register(_stop_all)
        os.register_at_fork(after_in_child=_forget_all)


def _stop_all() -> None:
    for adapter in list(_adapters):
        try:
            adapter.stop(timings.TIMINGS.adapter_stops)
        except Exception:
            log.exception("an adapter did not end with its process")


def _forget_all() -> None:
    for adapter in list(_adapters):
        adapter.forget_run()
