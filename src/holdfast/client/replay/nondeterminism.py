"""Notices whether a call uses the clock or chance, and makes it happen at another time."""

from __future__ import annotations

import datetime
import random
import sys
import time
import types
from typing import Any

_COUNTERS = ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns")
_CLOCKS = (*_COUNTERS, "localtime", "gmtime", "strftime", "ctime", "asctime")
_NOW = ("now", "today", "utcnow")
# Packages that read the clock for purposes of their own.
_UNRELATED = ("asyncio", "selectors", "threading", "logging", "queue", "concurrent", "holdfast")
_SHIFT = 400 * 86400 + 12345


class Observer:
    """Notices uses of the clock and of chance in this thread, with a profile function."""

    def __init__(self) -> None:
        self.clock: str | None = None
        self.chance: str | None = None
        self._is_seeded = False

    def __enter__(self) -> Observer:
        sys.setprofile(self._profile)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _profile(self, frame: types.FrameType, event: str, function: Any) -> None:
        if event != "c_call":
            return
        name = getattr(function, "__name__", "")
        owner = getattr(function, "__self__", None)
        if owner is time and name in _CLOCKS:
            caller = str(frame.f_globals.get("__name__")).partition(".")[0]
            if caller not in _UNRELATED:
                self.clock = f"time.{name}"
        elif name in _NOW and isinstance(owner, type) and issubclass(owner, datetime.date):
            self.clock = f"{owner.__name__}.{name}"
        elif name == "seed" and owner is _GLOBAL_RANDOM:
            self._is_seeded = True
        elif name in ("random", "getrandbits") and owner is _GLOBAL_RANDOM and not self._is_seeded:
            self.chance = "random"
        elif name == "urandom":
            self.chance = "os.urandom"


_GLOBAL_RANDOM: Any = random.random.__self__  # type: ignore[attr-defined]


def shift_clock() -> None:
    """Make it more than a year later; in a process of its own, before the program is imported."""
    for name in _COUNTERS:
        by = _SHIFT * 10**9 if name.endswith("_ns") else _SHIFT
        setattr(time, name, _shift_counter(getattr(time, name), by))
    for name in ("localtime", "gmtime", "ctime"):
        setattr(time, name, _default_to_now(getattr(time, name)))
    local = time.localtime
    strftime, asctime = time.strftime, time.asctime
    time.strftime = lambda form, *given: strftime(form, *(given or (local(),)))
    time.asctime = lambda *given: asctime(*(given or (local(),)))
    days = datetime.timedelta(seconds=_SHIFT)
    for base, names in ((datetime.date, ("today",)), (datetime.datetime, _NOW)):
        setattr(datetime, base.__name__, _shift_class(base, names, days))


def _shift_counter(clock: Any, by: int) -> Any:
    return lambda: clock() + by


def _default_to_now(convert: Any) -> Any:
    now = time.time
    return lambda *given: convert(*(given or (now(),)))


def _shift_class(base: Any, names: tuple[str, ...], by: datetime.timedelta) -> Any:
    class Meta(type):
        def __instancecheck__(cls, value: Any) -> bool:
            return isinstance(value, base)

    def shift(name: str) -> Any:
        real = getattr(base, name)
        return staticmethod(lambda *given, **named: real(*given, **named) + by)

    space = {name: shift(name) for name in names}
    return Meta(base.__name__, (base,), {**space, "__module__": "datetime"})
