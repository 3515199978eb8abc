"""The server's settings: flat, typed, few."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Struct

from holdfast import errors, timings
from holdfast.timings import Timings
from holdfast.wire.described import about
from holdfast.wire.unknown_names import describe_known

_MAY_BE_ZERO = ("pool_size",)


class Settings(Struct, frozen=True, kw_only=True):
    """The server's settings."""

    idle_timeout_minutes: Annotated[
        float, about("A session that nobody asks anything for this long ends, unless it runs.")
    ] = 60.0
    warning_minutes: Annotated[float, about("How long before its end an idle session says so.")] = (
        30.0
    )
    launch_timeout: Annotated[float, about("How many seconds a launch may take.")] = (
        Timings.launch_timeout
    )
    attach_timeout: Annotated[float, about("How many seconds attaching may take.")] = (
        Timings.attach_timeout
    )
    request_timeout: Annotated[
        float, about("How many seconds the debugger may take for what runs no code of the user's.")
    ] = Timings.request_timeout
    evaluate_timeout: Annotated[float, about("How many seconds an expression may take.")] = (
        Timings.evaluate_timeout
    )
    step_wait: Annotated[
        float, about("How many seconds a step waits for its stop, unless the request says so.")
    ] = Timings.step_wait
    max_wait: Annotated[float, about("How many seconds `wait: true` waits; no wait is longer.")] = (
        300.0
    )
    terminate_grace: Annotated[
        float, about("How many seconds a program has to act on SIGTERM before it is killed.")
    ] = Timings.terminate_grace
    output_limit_bytes: Annotated[
        int, about("How much output each session keeps; the oldest goes first.")
    ] = 10 * 1024 * 1024
    max_stack_depth: Annotated[
        int, about("How many frames one answer may carry; the rest comes by paging.")
    ] = 1000
    max_sessions: Annotated[int, about("How many program sessions there may be.")] = 1000
    pool_size: Annotated[
        int, about("How many interpreters of each Python are kept warm, from the next start on.")
    ] = 2
    call_hold_timeout_ms: Annotated[
        int, about("How long a held call waits for its decision before its application gives up.")
    ] = 3_600_000
    call_poll_interval_ms: Annotated[
        int, about("How often an application that cannot wait in a request asks again.")
    ] = 100
    calls_kept: Annotated[
        int, about("How many calls are kept; the oldest go first, with their values.")
    ] = 5_000_000
    call_max_value_bytes: Annotated[int, about("The largest value of a call that is kept.")] = (
        16 * 1024 * 1024
    )

    @classmethod
    def read_timings(cls) -> Settings:
        """The defaults, with the time limits of this process."""
        names = [field.name for field in msgspec.structs.fields(cls)]
        set_there = vars(timings.TIMINGS)
        return cls().replace({name: set_there[name] for name in names if name in set_there})

    def replace(self, values: Mapping[str, Any]) -> Settings:
        """These settings with some values replaced, each checked."""
        known = {field.name: field for field in msgspec.structs.fields(self)}
        checked: dict[str, Any] = {}
        for name, value in values.items():
            if name not in known:
                raise errors.UnknownSetting(
                    f"no setting {name!r:.100}: {describe_known(name, list(known))}",
                    field=name,
                    known=list(known),
                )
            checked[name] = _number(name, value, whole=isinstance(known[name].default, int))
        return msgspec.structs.replace(self, **checked)


def _number(name: str, value: Any, *, whole: bool) -> float | int:
    if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
        kind = "a whole number" if whole else "a number"
        raise errors.InvalidInput(f"{name} must be {kind}, not {value!r:.100}", field=name)
    if not (0 if name in _MAY_BE_ZERO else 1e-9) <= value < 1e12:
        raise errors.InvalidInput(f"{name} is out of range: {value!r}", field=name)
    return int(value) if whole else float(value)
