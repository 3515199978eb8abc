"""What a client has been shown of each session, so that reports tell news only."""

from __future__ import annotations

from dataclasses import dataclass, field

from holdfast.model.location import Location

_MAX_SESSIONS = 64
_MAX_FRAMES = 8
_MAX_PROBLEMS = 200
_MAX_TEXT = 120
_MAX_JUMP = 3
_MAX_LINES = 500
_MAX_FUNCTIONS = 50

FrameKey = tuple[int, int]
"""A thread, and the identity of a frame in it."""


@dataclass(frozen=True, slots=True)
class ShownValue:
    """A value as it was shown: the beginning of its text, and enough to tell another one."""

    text: str
    digest: int

    @classmethod
    def of(cls, text: str, facts: object = None) -> ShownValue:
        short = text if len(text) <= _MAX_TEXT else text[:_MAX_TEXT] + "…"
        return cls(short, hash((text, facts)))


@dataclass(slots=True)
class ShownFrame:
    """A frame, with its variables as they were last shown."""

    file: str
    function: str
    depth: int
    """How many callers it had."""
    caller: tuple[str, int]
    """The place that it was called from."""
    values: dict[str, ShownValue] = field(default_factory=dict)


@dataclass
class SessionMemory:
    """What was shown of one run of a session."""

    run: int = 0
    is_new: bool = True
    """Whether nothing was shown yet."""
    frames: dict[FrameKey, ShownFrame] = field(default_factory=dict)
    lines: dict[tuple[str, str], set[int]] = field(default_factory=dict)
    """The lines that were shown, for each file and function."""
    callers: tuple[tuple[str, str, int], ...] | None = None
    output: int | None = None
    """The cursor of the output that was shown."""
    problems: set[str] = field(default_factory=set)
    exception: tuple[str, str, str] | None = None

    def find_frame(self, key: FrameKey) -> ShownFrame | None:
        return self.frames.get(key)

    def is_latest(self, key: FrameKey) -> bool:
        """Whether this frame was the last one that was shown."""
        return bool(self.frames) and next(reversed(self.frames)) == key

    def note_frame(self, key: FrameKey, frame: ShownFrame) -> None:
        """Note that this frame was shown. Frames that it has outlived are forgotten."""
        thread = key[0]
        self.frames = {
            known: shown
            for known, shown in self.frames.items()
            if known != key and (known[0] != thread or shown.depth < frame.depth)
        }
        self.frames[key] = frame
        while len(self.frames) > _MAX_FRAMES:
            del self.frames[next(iter(self.frames))]

    def has_shown_near(self, place: Location) -> bool:
        """Whether a line was shown in this function that is hardly further than a step."""
        lines = self.lines.get((place.file, place.function or ""), ())
        return any(abs(place.line - line) <= _MAX_JUMP for line in lines)

    def note_lines(self, place: Location, around: int) -> None:
        """Note that these lines were shown."""
        key = place.file, place.function or ""
        lines = self.lines.pop(key, set())
        self.lines[key] = lines
        if len(lines) < _MAX_LINES:
            lines.update(range(place.line - around, place.line + around + 1))
        while len(self.lines) > _MAX_FUNCTIONS:
            del self.lines[next(iter(self.lines))]

    def take_new_problems(self, problems: list[str]) -> list[str]:
        """Those that were not told yet."""
        new = [problem for problem in problems if problem not in self.problems]
        if len(self.problems) < _MAX_PROBLEMS:
            self.problems.update(new)
        return new


class ReportMemory:
    """What was shown, for each session. The oldest ones are forgotten."""

    def __init__(self) -> None:
        self._sessions: dict[str, SessionMemory] = {}

    def find(self, session_id: str, run: int) -> SessionMemory:
        """What was shown of this run of a session; of an earlier one nothing counts."""
        known = self._sessions.pop(session_id, None)
        if known is None or known.run != run:
            known = SessionMemory(run)
        self._sessions[session_id] = known
        while len(self._sessions) > _MAX_SESSIONS:
            del self._sessions[next(iter(self._sessions))]
        return known
