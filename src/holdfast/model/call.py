"""Intercepted calls, their values and functions, and call breakpoints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

Preview = dict[str, Any]
"""A value as text and a few facts: `text`, `type`, `length`; `json` if it is small and plain."""


CALL_TYPES = ("proxy", "inline")
"""Through a wrapped object, or by naming the function at the call."""

IMPLICIT_SESSION = "calls_00000000"
"""The session of the applications that name none."""


class CallStatus(str, Enum):
    """How far a call came. `lost`: its process, or the server, ended before the call did; one that
    was only out of sight becomes a success or an exception when it is completed after all."""

    RUNNING = "running"
    SUCCESS = "success"
    EXCEPTION = "exception"
    LOST = "lost"


class When(str, Enum):
    """At which moment of a call a breakpoint counts."""

    BEFORE = "before"
    AFTER = "after"
    EXCEPTION = "exception"


@dataclass(frozen=True, slots=True)
class Item:
    """A value by its content id (the SHA-256 of its bytes, in hex); the bytes if they are new."""

    cid: str
    data: bytes | None = None
    preview: Preview | None = None


@dataclass(frozen=True, slots=True)
class Function:
    """What is called: many calls share one. The id is the store's."""

    id: int
    name: str
    alias: str | None = None
    qualname: str | None = None
    module: str | None = None
    signature: str | None = None
    file: str | None = None
    line: int | None = None
    target_cid: str | None = None

    @property
    def key(self) -> tuple[str, str | None, str | None]:
        """What makes it another function than its namesakes."""
        return self.name, self.alias, self.qualname

    def updated(
        self,
        module: str | None,
        signature: str | None,
        file: str | None,
        line: int | None,
        target_cid: str | None,
    ) -> Function:
        """The function with what is newly known of it; itself if nothing is."""
        before = (self.module, self.signature, self.file, self.line, self.target_cid)
        facts = (
            *(module or self.module, signature or self.signature),
            *(file or self.file, line or self.line, target_cid or self.target_cid),
        )
        if facts == before:
            return self
        return Function(self.id, self.name, self.alias, self.qualname, *facts)


@dataclass(frozen=True, slots=True)
class Application:
    """What an application says of itself. `process_started` tells its process from a later one
    that got the same pid."""

    name: str | None = None
    pid: int | None = None
    argv: tuple[str, ...] | None = None
    cwd: str | None = None
    python: str | None = None
    script: str | None = None
    module: str | None = None
    path: tuple[str, ...] | None = None
    mode: str | None = None
    process_started: float | None = None


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One call. Values are content ids; times are seconds since the epoch.

    `number` orders calls by time and is all that its id is made of. `changed` names the values that
    the call left different from how it found them; `decision` is what was done instead of the call.
    """

    number: int
    session_id: str
    function: Function
    call_type: str
    status: CallStatus = CallStatus.RUNNING
    target: str | None = None
    args: tuple[str, ...] = ()
    kwargs: Mapping[str, str] = field(default_factory=dict, hash=False)
    result: str | None = None
    exception: str | None = None
    exception_type: str | None = None
    exception_message: str | None = None
    stack: int | None = None
    parent: int | None = None
    thread: Mapping[str, Any] | None = field(default=None, hash=False)
    task: str | None = None
    started_at: float | None = None
    completed_at: float | None = None
    duration_ns: int | None = None
    changed: Mapping[str, Any] | None = field(default=None, hash=False)
    decision: Mapping[str, Any] | None = field(default=None, hash=False)
    marker: str | None = None

    @property
    def id(self) -> str:
        return call_id(self.number)


@dataclass(frozen=True)
class CallBreakpoint:
    """Which calls to hold; or, with `action` (a decision made beforehand), what to do at once."""

    id: str
    function: str | None = None
    alias: str | None = None
    call_type: str | None = None
    condition: str | None = None
    hit_condition: str | None = None
    when: When = When.BEFORE
    enabled: bool = True
    session_id: str | None = None
    action: Mapping[str, Any] | None = field(default=None, hash=False)
    created_at: float = 0.0


def call_id(number: int) -> str:
    """`<unix time with microseconds>-<number within that microsecond>`."""
    moment, sequence = divmod(number, 1000)
    seconds, micros = divmod(moment, 1_000_000)
    return f"{seconds}.{micros:06d}-{sequence:03d}"


def call_number(text: str) -> int | None:
    """The number in a call's id; None when it is none of ours."""
    moment, _, sequence = text.partition("-")
    seconds, _, micros = moment.partition(".")
    if not (len(micros) == 6 and 3 <= len(sequence) <= 6 and len(seconds) <= 12):
        return None
    if not (text.isascii() and (seconds + micros + sequence).isdigit()):
        return None
    number = (int(seconds) * 1_000_000 + int(micros)) * 1000 + int(sequence)
    return number if number < 2**63 else None
