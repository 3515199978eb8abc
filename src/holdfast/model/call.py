"""Intercepted calls, their values and functions, and call breakpoints."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

Preview = dict[str, Any]
"""A short description of a value: `text`, `type`, `length`, and `json` if it is small and plain."""


CALL_TYPES = ("proxy", "inline")
"""`proxy`: through a wrapped object. `inline`: through `debug_call`."""

IMPLICIT_SESSION = "calls_00000000"
"""The session of applications that name no session."""


_ORIGIN_DIGITS = 9
_SEQUENCE_DIGITS = (3, 3 + _ORIGIN_DIGITS)


class CallStatus(str, Enum):
    """The state of a call.

    A call is `lost` when its process, or the server, ended before the call did. If it is completed
    after all, it becomes a success or an exception.
    """

    RUNNING = "running"
    SUCCESS = "success"
    EXCEPTION = "exception"
    LOST = "lost"


class When(str, Enum):
    """The moment of a call at which a breakpoint acts."""

    BEFORE = "before"
    AFTER = "after"
    EXCEPTION = "exception"


@dataclass(frozen=True, slots=True)
class Item:
    """A value: its content id (the SHA-256 of its bytes, in hex), and the bytes if they are new."""

    cid: str
    data: bytes | None = None
    preview: Preview | None = None


PARAMETER_KINDS = (
    *("positional_only", "positional_or_keyword", "var_positional", "keyword_only"),
    "var_keyword",
)
"""In the order in which a signature has them."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function. `kind` is one of PARAMETER_KINDS.

    `default` is the preview of the default value, None if there is none. Its key `literal` has the
    value as a Python literal, if it can be written so and has no `json`.
    """

    name: str
    kind: str = "positional_or_keyword"
    default: Preview | None = field(default=None, hash=False)


Parameters = tuple[Parameter, ...]


@dataclass(frozen=True, slots=True)
class Function:
    """A function that is called. The id is that of the store."""

    id: int
    name: str
    alias: str | None = None
    qualname: str | None = None
    module: str | None = None
    signature: str | None = None
    file: str | None = None
    line: int | None = None
    target_cid: str | None = None
    parameters: Parameters | None = None
    """Those of `signature`; None if they are not known."""

    @property
    def key(self) -> tuple[str, str | None, str | None]:
        """What tells functions apart."""
        return self.name, self.alias, self.qualname

    @property
    def public_id(self) -> str:
        """The same in every server: a function is what it is called."""
        text = "\0".join(name or "" for name in self.key)
        return f"fn_{hashlib.sha256(text.encode(errors='surrogatepass')).hexdigest()[:15]}"

    def merge(
        self,
        module: str | None,
        signature: str | None,
        file: str | None,
        line: int | None,
        target_cid: str | None,
        parameters: Parameters | None = None,
    ) -> Function:
        """The function with these facts, where they are known. Itself if nothing changes."""
        before = (
            *(self.module, self.signature, self.file, self.line, self.target_cid),
            self.parameters,
        )
        if parameters is None and signature in (None, self.signature):
            parameters = self.parameters
        facts = (
            *(module or self.module, signature or self.signature),
            *(file or self.file, line or self.line, target_cid or self.target_cid),
            parameters,
        )
        if facts == before:
            return self
        return Function(self.id, self.name, self.alias, self.qualname, *facts)


@dataclass(frozen=True, slots=True)
class Application:
    """What an application reports about itself.

    `process_started` tells its process from a later one with the same pid.
    """

    name: str | None = None
    pid: int | None = None
    argv: tuple[str, ...] | None = None
    cwd: str | None = None
    python: str | None = None
    script: str | None = None
    module: str | None = None
    path: tuple[str, ...] | None = None
    mode: str | None = None
    checks: bool = False
    """Whether it tries a decision about a held call before that is taken."""
    process_started: float | None = None


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A call. Values are content ids, times are seconds since the epoch.

    `number` orders calls by time, and the id is made from it. `changed` has the values that the
    call changed. `target_age_ns` is how long before the call the target was last compared with what
    is recorded of it; None if that was at the call. `decision` says what was done instead of the
    call. `origin` is the number of the store that has it.
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
    target_age_ns: int | None = None
    origin: int | None = field(default=None, compare=False)

    @property
    def id(self) -> str:
        return call_id(self.number, self.origin)


@dataclass(frozen=True)
class CallBreakpoint:
    """The calls to hold. With `action` they are not held, and this decision is carried out."""

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


def call_id(number: int, origin: int | None = None) -> str:
    """`<unix time with microseconds>-<number within that microsecond>`.

    In the ids that a server gives nine digits follow, the number of its store: two servers may give
    a call the same number. An application that made the number itself does not know them.
    """
    moment, sequence = divmod(number, 1000)
    seconds, micros = divmod(moment, 1_000_000)
    store = "" if origin is None else f"{origin:0{_ORIGIN_DIGITS}d}"
    return f"{seconds}.{micros:06d}-{sequence:03d}{store}"


def call_ids(numbers: Sequence[int], origin: int) -> list[str]:
    """The ids of very many calls; `call_id` takes twice as long."""
    if not numbers or min(numbers) < 10**9:
        return [call_id(number, origin) for number in numbers]
    store = f"{origin:0{_ORIGIN_DIGITS}d}"
    return [f"{text[:-9]}.{text[-9:-3]}-{text[-3:]}{store}" for text in map(str, numbers)]


def call_number(text: str) -> int | None:
    """The number in a call's id, or None if it is not a valid id."""
    moment, _, sequence = text.partition("-")
    seconds, _, micros = moment.partition(".")
    if not (len(micros) == 6 and len(sequence) in _SEQUENCE_DIGITS and len(seconds) <= 12):
        return None
    if not (text.isascii() and (seconds + micros + sequence).isdigit()):
        return None
    number = (int(seconds) * 1_000_000 + int(micros)) * 1000 + int(sequence[:3])
    return number if number < 2**63 else None


def is_id_of(text: str, call: CallRecord) -> bool:
    """Whether this is the id of the call, with or without the number of its store."""
    return text in (call_id(call.number), call.id)
