"""A stop of a program: why and where it stopped, and the values there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from holdfast.model.location import Location

Described = dict[str, Any]
"""A value as the probe renders it: name, value, type, length, reference…"""


@dataclass(frozen=True)
class ThrownException:
    type: str
    module: str
    message: str
    location: Location | None


@dataclass(frozen=True)
class DataChange:
    """A write that a data breakpoint stopped at. `location` is the line that wrote."""

    breakpoint_id: str
    name: str
    old: str | None  # None: there was no such value
    new: str | None  # None: it was deleted
    location: Location
    message: str | None = None


@dataclass(frozen=True)
class FailedCondition:
    """The condition of a breakpoint, which raised for the first time in a run."""

    breakpoint_id: str
    expression: str
    error: str


@dataclass(frozen=True)
class Stop:
    thread_id: int
    reason: str
    """As debug adapters name it: breakpoint, function breakpoint, step, pause, exception…"""
    location: Location | None
    frame: int = 0  # identifies the top frame among those that exist at the same time
    frames: tuple[Described, ...] = ()
    locals: tuple[Described, ...] = ()
    locals_total: int = 0  # there may be more than were sent
    returned: tuple[Described, ...] = ()
    threads: tuple[Described, ...] = ()
    breakpoints: tuple[tuple[str, int], ...] = ()  # id and how often it was hit
    exception: ThrownException | None = None
    data: DataChange | None = None
    condition_error: FailedCondition | None = None
    all_threads_stopped: bool = True
