"""What can be observed of an application from outside: what it gives, raises, logs and warns of.

The same work, done plainly and through proxies, must give equal observations.
"""

from __future__ import annotations

import asyncio
import logging
import re
import traceback
import warnings
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
_MOMENT = re.compile(r"\[\d\d/\w{3}/\d{4}:[\d: +]+\]")


@dataclass
class Observation:
    result: str = ""
    error: Any = None  # what `describe_error` says of it
    logs: list[Any] = field(default_factory=list)
    warnings: list[Any] = field(default_factory=list)


def observe(work: Callable[..., Any], *args: Any) -> Observation:
    """Do the work. A coroutine is run to its end."""
    seen = Observation()
    handler = _Listener(seen)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            try:
                result = work(*args)
                if isinstance(result, Coroutine):
                    result = asyncio.run(result)
                seen.result = clean(repr(result))
            except BaseException as error:  # the outcome is whatever the work raises
                seen.error = describe_error(error)
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
    seen.warnings = [
        (warning.category.__name__, clean(str(warning.message)), warning.filename, warning.lineno)
        for warning in caught
    ]
    return seen


def describe_error(error: BaseException | None) -> Any:
    """Its type, message, notes, traceback and whole chain, as values that can be compared."""
    if error is None:
        return None
    described = {
        "type": type(error).__qualname__,
        "text": clean(str(error)),
        "traceback": [
            (entry.filename, entry.lineno, entry.name)
            for entry in traceback.extract_tb(error.__traceback__)
        ],
        "shown": clean("".join(traceback.format_exception(error))),
        "notes": getattr(error, "__notes__", None),
        "suppressed": error.__suppress_context__,
        "cause": describe_error(error.__cause__),
        "context": describe_error(error.__context__),
    }
    if hasattr(error, "exceptions") and isinstance(error.exceptions, (list, tuple)):
        described["group"] = [describe_error(member) for member in error.exceptions]
    return described


def clean(text: str) -> str:
    """Without the addresses of objects, and the moments in logs of requests."""
    return _MOMENT.sub("[…]", _ADDRESS.sub("0x…", text))


class _Listener(logging.Handler):
    def __init__(self, seen: Observation) -> None:
        super().__init__()
        self._seen = seen

    def emit(self, record: logging.LogRecord) -> None:
        shown = logging.Formatter().format(record)
        self._seen.logs.append(
            (
                *(record.name, record.levelname, clean(shown)),
                *(record.pathname, record.lineno, record.funcName),
            )
        )
