"""One recording as an object: its calls, each as a frame trace, and the way from one to another."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.core import call_tree, run_frames, run_reader, trace_builder
from holdfast.model.run_recording import RunRecording
from holdfast.model.trace import CallNode, FrameTrace, LoopRun, Step
from holdfast.recording.trace_files import RecordedRun

_MAX_FOUND = 40


@dataclass(frozen=True)
class CallEntry:
    """A call that a recording has."""

    key: str
    function: str
    file: str
    line: int
    index: int
    outcome: str = "returned"


class Recording(ABC):
    """What a run has left."""

    def __init__(self, trace_id: str, run: RecordedRun, header: dict[str, Any]) -> None:
        self.id = trace_id
        self.run = run
        self.header = header

    @property
    def kind(self) -> str:
        return str(self.header.get("kind", self.run.kind))

    @property
    def remarks(self) -> Sequence[str]:
        """What was not recorded, and why."""
        return ()

    @property
    @abstractmethod
    def calls(self) -> Sequence[CallEntry]:
        """The calls that it has, in the order in which they began."""

    @abstractmethod
    def build_frame(self, key: str) -> FrameTrace:
        """One of them. KeyError if there is none."""

    def find_parent(self, key: str) -> str | None:
        return None

    def list_children(self, key: str) -> Sequence[CallEntry]:
        return ()

    def find_neighbour(self, key: str, distance: int) -> str | None:
        """The call of the same function that began so many calls later, or earlier."""
        here = self.get_call(key)
        wanted = here.index + distance
        for call in self.calls:
            if (call.function, call.file, call.index) == (here.function, here.file, wanted):
                return call.key
        return None

    def get_call(self, key: str) -> CallEntry:
        for call in self.calls:
            if call.key == key:
                return call
        raise KeyError(key)

    @abstractmethod
    def find_value(self, text: str) -> Sequence[str]:
        """Where a value is, as lines of text."""


class FrameRecording(Recording):
    """Calls of one function."""

    def __init__(
        self, trace_id: str, run: RecordedRun, header: dict[str, Any], lines: Sequence[bytes]
    ) -> None:
        super().__init__(trace_id, run, header)
        self._frames = trace_builder.build_frames(lines)
        self._remarks = trace_builder.list_remarks(lines)

    @property
    def remarks(self) -> Sequence[str]:
        return self._remarks

    @property
    def calls(self) -> Sequence[CallEntry]:
        return [
            CallEntry(
                str(number),
                frame.function,
                frame.file,
                frame.first_line,
                frame.index,
                frame.outcome,
            )
            for number, frame in enumerate(self._frames)
        ]

    @property
    def picked(self) -> str | None:
        """The call that was asked for, if it was made."""
        for number, frame in enumerate(self._frames):
            if frame.is_picked:
                return str(number)
        return None

    def build_frame(self, key: str) -> FrameTrace:
        if not key.isdecimal() or int(key) >= len(self._frames):
            raise KeyError(key)
        return self._frames[int(key)]

    def find_value(self, text: str) -> Sequence[str]:
        found: list[str] = []
        for frame in self._frames:
            for line, words in list_texts(frame):
                if text in words and len(found) < _MAX_FOUND:
                    found.append(f"{frame.function} call {frame.index}: line {line}: {words}")
        return found


class WholeRunRecording(Recording):
    """All of a program's own code."""

    def __init__(
        self, trace_id: str, run: RecordedRun, header: dict[str, Any], lines: Sequence[bytes]
    ) -> None:
        super().__init__(trace_id, run, header)
        self.events: RunRecording = run_reader.read_run(lines)
        self._calls = [
            CallEntry(
                str(call.number), call.function, call.file, call.line, call.index, call.outcome
            )
            for call in run_frames.list_calls(self.events)
        ]
        self._by_key = {call.key: call for call in self._calls}

    @property
    def remarks(self) -> Sequence[str]:
        return self.events.remarks

    @property
    def calls(self) -> Sequence[CallEntry]:
        return self._calls

    def get_call(self, key: str) -> CallEntry:
        return self._by_key[key]

    def build_frame(self, key: str) -> FrameTrace:
        if key not in self._by_key:
            raise KeyError(key)
        return run_frames.build_frame_trace(self.events, int(key))

    def find_parent(self, key: str) -> str | None:
        parent = run_frames.parent(self.events, int(key))
        return None if parent is None else str(parent)

    def list_children(self, key: str) -> Sequence[CallEntry]:
        numbers = run_frames.children(self.events, int(key))
        return [self._by_key[str(number)] for number in numbers if str(number) in self._by_key]

    def find_value(self, text: str) -> Sequence[str]:
        return run_frames.find_value(self.events, text)[:_MAX_FOUND]


class CallTreeRecording(Recording):
    """How often each function was called by whom, and how long it took."""

    def __init__(
        self, trace_id: str, run: RecordedRun, header: dict[str, Any], lines: Sequence[bytes]
    ) -> None:
        super().__init__(trace_id, run, header)
        self.tree: Sequence[CallNode] = call_tree.read_tree(lines)

    @property
    def calls(self) -> Sequence[CallEntry]:
        return []

    def build_frame(self, key: str) -> FrameTrace:
        raise KeyError(key)

    def find_value(self, text: str) -> Sequence[str]:
        return []


def read_recording(trace_id: str, run: RecordedRun, lines: Sequence[bytes]) -> Recording:
    """The recording that a file's lines are. ValueError if they are none."""
    header = trace_builder.read_header(lines[0]) if lines else {}
    kind = header.get("kind", run.kind)
    if kind == "run":
        return WholeRunRecording(trace_id, run, header, lines)
    if kind == "calls":
        return CallTreeRecording(trace_id, run, header, lines)
    return FrameRecording(trace_id, run, header, lines)


def list_texts(frame: FrameTrace) -> list[tuple[int, str]]:
    """Every value of a frame, in words, with its line."""
    found = [(frame.first_line, f"{name} = {value.text}") for name, value in frame.args.items()]
    _add_texts(frame.items, found)
    if frame.result is not None:
        found.append((frame.first_line, f"{frame.outcome} {frame.result.text}"))
    return found


def _add_texts(items: Sequence[Step | LoopRun], found: list[tuple[int, str]]) -> None:
    for item in items:
        if isinstance(item, LoopRun):
            for one in item.kept:
                _add_texts(one.steps, found)
            _add_rows(item, found)
            continue
        for change in item.changes:
            value = "" if change.value is None else change.value.text
            found.append((item.line, f"{change.name} = {value}"))
        for call in item.calls:
            outcome = f"-> {call.result}" if call.raised is None else f"raised {call.raised}"
            found.append((item.line, f"{call.function}({call.args}) {outcome}"))


def _add_rows(loop: LoopRun, found: list[tuple[int, str]]) -> None:
    if loop.rows is None:
        return
    for name, column in loop.rows.columns.items():
        for offset, text in enumerate(column):
            found.append((loop.line, f"{name} = {text} in round {loop.rows.first + offset}"))
