"""What the server says about a session, as plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Answer = Mapping[str, Any]

ENDED = ("terminated", "failed")
PAUSED = "paused"
WAITING = "waiting_for_input"


@dataclass(frozen=True)
class Value:
    """A variable, an item, or the value of an expression."""

    name: str
    text: str
    type: str = ""
    reference: int = 0
    """The number to unfold it with; 0 if there is nothing to unfold."""
    is_error: bool = False

    @classmethod
    def parse(cls, answer: Answer, name: str | None = None) -> Value:
        text = answer.get("value", answer.get("result"))
        error = answer.get("error")
        shown_name = answer.get("name", "") if name is None else name
        if error is not None:
            return cls(shown_name, str(error), is_error=True)
        return cls(
            shown_name,
            "" if text is None else str(text),
            answer.get("type") or "",
            answer.get("variable_reference") or 0 if answer.get("expandable") else 0,
        )


@dataclass(frozen=True)
class ValuePage:
    """Some of the values that a frame or another value holds."""

    values: tuple[Value, ...] = ()
    total: int = 0
    start: int = 0

    @property
    def next_start(self) -> int | None:
        """Where the next page begins, if there is one."""
        end = self.start + len(self.values)
        return end if self.values and end < self.total else None


@dataclass(frozen=True)
class Frame:
    id: int
    function: str
    file: str
    line: int
    is_library: bool = False

    @classmethod
    def parse(cls, answer: Answer) -> Frame:
        return cls(
            answer.get("id", -1),
            answer.get("qualname") or answer.get("name") or "",
            answer.get("file") or "",
            answer.get("line") or 0,
            bool(answer.get("library")),
        )


@dataclass(frozen=True)
class Stack:
    """The innermost frames of a thread."""

    frames: tuple[Frame, ...] = ()
    total: int = 0


@dataclass(frozen=True)
class Thread:
    id: int
    name: str
    status: str


@dataclass(frozen=True)
class Breakpoint:
    id: str
    kind: str
    file: str
    line: int
    function: str = ""
    condition: str = ""
    hit_condition: str = ""
    log_message: str = ""
    message: str = ""
    is_verified: bool = True
    is_enabled: bool = True
    hits: int = 0

    @classmethod
    def parse(cls, answer: Answer) -> Breakpoint:
        return cls(
            answer["breakpoint_id"],
            answer["kind"],
            answer.get("file") or "",
            answer.get("line") or 0,
            answer.get("function") or answer.get("expression") or "",
            answer.get("condition") or "",
            answer.get("hit_condition") or "",
            answer.get("log_message") or "",
            answer.get("message") or "",
            answer["verified"],
            answer["enabled"],
            answer.get("hits") or 0,
        )


@dataclass(frozen=True)
class Watch:
    id: str
    value: Value


@dataclass(frozen=True)
class ExceptionText:
    """An exception, for people."""

    type: str
    message: str
    causes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.type}: {self.message}" if self.message else self.type


@dataclass(frozen=True)
class DebugState:
    """Where the program is."""

    status: str
    reason: str = ""
    hold_id: str = ""
    thread_id: int = 0
    file: str = ""
    line: int = 0
    function: str = ""
    exception: ExceptionText | None = None
    returned: str = ""
    exit_code: int | None = None
    signal: str = ""
    prompt: str = ""
    message: str = ""
    warnings: tuple[str, ...] = ()
    stack: Stack = Stack()
    threads: tuple[Thread, ...] = ()
    watches: tuple[Watch, ...] = ()
    breakpoints: tuple[Breakpoint, ...] = ()

    @property
    def is_paused(self) -> bool:
        return self.status == PAUSED

    @property
    def is_over(self) -> bool:
        return self.status in ENDED


@dataclass(frozen=True)
class SessionStart:
    """What is known of a session when the screen opens."""

    last_event: int
    script: str | None
    """The path of the program, if it is a script."""


@dataclass(frozen=True)
class Completion:
    """A text that may stand where the cursor is: it replaces `length` characters from `start`."""

    label: str
    start: int
    length: int


@dataclass(frozen=True)
class SourceFile:
    path: str
    text: str


@dataclass(frozen=True)
class OutputPage:
    """What the program wrote: the stream and the text, in order."""

    entries: tuple[tuple[str, str], ...]
    cursor: str
    has_more: bool
    dropped: int


def parse_state(
    status: Answer, breakpoints: Sequence[Answer], watches: Sequence[Answer]
) -> DebugState:
    location = status.get("location") or {}
    details = status.get("error_details") or {}
    threads = status.get("all_threads") or ()
    return DebugState(
        status=status["status"],
        reason=status.get("reason") or "",
        hold_id=status.get("hold_id") or "",
        thread_id=status.get("thread_id") or 0,
        file=location.get("file") or "",
        line=location.get("line") or 0,
        function=location.get("function") or "",
        exception=_parse_exception(status.get("exception")),
        returned=_join_returned(status.get("returned") or ()),
        exit_code=status.get("exit_code"),
        signal=status.get("signal") or "",
        prompt=status.get("prompt") or "",
        message=status.get("message") or details.get("message") or "",
        warnings=tuple(status.get("warnings") or ()),
        stack=parse_stack(status.get("stack") or (), status.get("stack_total")),
        threads=tuple(Thread(t["thread_id"], t["name"], t["status"]) for t in threads),
        watches=tuple(parse_watch(watch) for watch in watches),
        breakpoints=tuple(Breakpoint.parse(point) for point in breakpoints),
    )


def parse_stack(frames: Sequence[Answer], total: int | None) -> Stack:
    return Stack(tuple(map(Frame.parse, frames)), len(frames) if total is None else total)


def parse_watch(answer: Answer) -> Watch:
    return Watch(answer["watch_id"], Value.parse(answer, answer["expression"]))


def _parse_exception(answer: Answer | None) -> ExceptionText | None:
    if answer is None:
        return None
    causes = answer.get("causes") or ()
    texts = tuple(f"{cause['type']}: {cause.get('message', '')}" for cause in causes)
    return ExceptionText(answer["type"], answer.get("message") or "", texts)


def _join_returned(values: Sequence[Answer]) -> str:
    shown = (Value.parse(value) for value in values)
    return ", ".join(f"{value.name} → {value.text}" for value in shown)
