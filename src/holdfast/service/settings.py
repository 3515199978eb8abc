"""The server's settings: flat, typed, few."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from holdfast import errors

_MAY_BE_ZERO = ("pool_size",)


@dataclass(frozen=True)
class Settings:
    idle_timeout_minutes: float = 60.0
    """A session that nobody asks anything for this long ends, unless its program runs."""
    warning_minutes: float = 30.0
    """How long before that a session says so."""
    launch_timeout: float = 30.0
    attach_timeout: float = 30.0
    request_timeout: float = 10.0
    """How long the debugger may take to answer what needs no code of the user's."""
    evaluate_timeout: float = 10.0
    step_wait: float = 5.0
    """How long a step waits for its stop unless the request says otherwise."""
    max_wait: float = 300.0
    """What `wait: true` means, and the most that a wait may ask for."""
    terminate_grace: float = 2.0
    """How long a terminated program has to act on SIGTERM before it is killed."""
    output_limit_bytes: int = 10 * 1024 * 1024
    """How much output each session keeps; the oldest goes first."""
    max_stack_depth: int = 1000
    """How many frames one answer may carry; the rest comes by paging."""
    max_sessions: int = 1000
    pool_size: int = 2
    """How many interpreters of each Python wait, started, for a program; from the next start on."""

    call_hold_timeout_ms: int = 3_600_000
    """How long a held call waits for its decision before its application gives up."""
    call_poll_interval_ms: int = 100
    """How often an application that cannot wait in a request asks again."""
    calls_kept: int = 5_000_000
    """How many calls are kept; the oldest go first, with the values that only they used."""
    call_max_value_bytes: int = 16 * 1024 * 1024
    """The largest value of a call that is kept."""

    def changed(self, values: Mapping[str, Any]) -> Settings:
        """These settings with some values replaced, each checked."""
        known = {field.name: field for field in dataclasses.fields(self)}
        checked: dict[str, Any] = {}
        for name, value in values.items():
            if name not in known:
                raise errors.UnknownSetting(f"no setting {name!r}", field=name, known=list(known))
            checked[name] = _number(name, value, whole=isinstance(known[name].default, int))
        return dataclasses.replace(self, **checked)


def _number(name: str, value: Any, *, whole: bool) -> float | int:
    if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
        kind = "a whole number" if whole else "a number"
        raise errors.InvalidInput(f"{name} must be {kind}, not {value!r:.100}", field=name)
    if not (0 if name in _MAY_BE_ZERO else 1e-9) <= value < 1e12:
        raise errors.InvalidInput(f"{name} is out of range: {value!r}", field=name)
    return int(value) if whole else float(value)
