"""Whether a call uses the clock or chance, and the same call at another time."""

from __future__ import annotations

import datetime
import random
import sys
import time
import types
from typing import Any

_COUNTING = ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns")
_CLOCKS = (*_COUNTING, "localtime", "gmtime", "strftime", "ctime", "asctime")
_NOW = ("now", "today", "utcnow")
# These look at the clock for their own ends, which are not those of the call.
_BYSTANDERS = ("asyncio", "selectors", "threading", "logging", "queue", "concurrent", "holdfast")
_SHIFT = 400 * 86400 + 12345


class Observer:
    """Within it, the clock and chance are noticed (by a profile function, in this thread)."""

    def __init__(self) -> None:
        self.clock: str | None = None
        self.chance: str | None = None
        self._seeded = False

    def __enter__(self) -> Observer:
        sys.setprofile(self._event)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _event(self, frame: types.FrameType, event: str, function: Any) -> None:
        if event != "c_call":
            return
        name = getattr(function, "__name__", "")
        owner = getattr(function, "__self__", None)
        if owner is time and name in _CLOCKS:
            caller = str(frame.f_globals.get("__name__")).partition(".")[0]
            if caller not in _BYSTANDERS:
                self.clock = f"time.{name}"
        elif name in _NOW and isinstance(owner, type) and issubclass(owner, datetime.date):
            self.clock = f"{owner.__name__}.{name}"
        elif name == "seed" and owner is _GLOBAL:
            self._seeded = True
        elif name in ("random", "getrandbits") and owner is _GLOBAL and not self._seeded:
            self.chance = "random"
        elif name == "urandom":
            self.chance = "os.urandom"


_GLOBAL: Any = random.random.__self__  # type: ignore[attr-defined]


def shift_the_clock() -> None:
    """In a process of its own, before the program is imported: it is more than a year later."""
    for name in _COUNTING:
        by = _SHIFT * 10**9 if name.endswith("_ns") else _SHIFT
        setattr(time, name, _later(getattr(time, name), by))
    for name in ("localtime", "gmtime", "ctime"):
        setattr(time, name, _told(getattr(time, name)))
    local = time.localtime
    strftime, asctime = time.strftime, time.asctime
    time.strftime = lambda form, *given: strftime(form, *(given or (local(),)))
    time.asctime = lambda *given: asctime(*(given or (local(),)))
    days = datetime.timedelta(seconds=_SHIFT)
    for base, names in ((datetime.date, ("today",)), (datetime.datetime, _NOW)):
        setattr(datetime, base.__name__, _shifted(base, names, days))


def _later(clock: Any, by: int) -> Any:
    return lambda: clock() + by


def _told(convert: Any) -> Any:
    now = time.time
    return lambda *given: convert(*(given or (now(),)))


def _shifted(base: Any, names: tuple[str, ...], by: datetime.timedelta) -> Any:
    class Meta(type):
        def __instancecheck__(cls, value: Any) -> bool:
            return isinstance(value, base)

    def later(name: str) -> Any:
        real = getattr(base, name)
        return staticmethod(lambda *given, **named: real(*given, **named) + by)

    space = {name: later(name) for name in names}
    return Meta(base.__name__, (base,), {**space, "__module__": "datetime"})
