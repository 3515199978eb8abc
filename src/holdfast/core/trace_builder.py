"""Builds frame traces from the lines of a recording.

The probe writes the lines while the program runs (`frame_recorder` describes them). The last one
may be torn, and the oldest detail may be gone. Each statement says which rounds of which loops it
belongs to, so that what remains still finds its place.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from holdfast.core.loop_rounds import find_span, find_unusual, list_rows
from holdfast.core.trace_tree import (
    CollectedLoop,
    CollectedRound,
    CollectedStep,
    TracedCode,
    TreeBuilder,
    read_chunk,
)
from holdfast.model.trace import (
    CalleeCall,
    Caller,
    Change,
    FrameTrace,
    TracedValue,
)

__all__ = [
    "build_frames",
    "find_span",
    "find_unusual",
    "list_contents",
    "list_remarks",
    "list_rows",
    "read_header",
]

_HOW = {"=": "set", "~": "mutated", "s": "same", "d": "deleted"}


def read_header(line: bytes) -> dict[str, Any]:
    """The facts in the first line of a recording; nothing if it is none."""
    header = _parse(line)
    return header if isinstance(header, dict) and "format" in header else {}


def list_remarks(lines: Iterable[bytes]) -> list[str]:
    """What the recording says of itself as a whole."""
    remarks = []
    for line in lines:
        if line.startswith((b'{"remark":', b'{"dropped":', b'{"failed":')):
            parsed = _parse(line) or {}
            if "remark" in parsed:
                remarks.append(str(parsed["remark"]))
            elif "dropped" in parsed:
                which = "newest" if parsed.get("keep") == "oldest" else "oldest"
                remarks.append(f"{parsed['dropped']} lines of the {which} detail were not kept")
            else:
                remarks.append(f"the recording ended early: {parsed.get('failed')}")
    return list(dict.fromkeys(remarks))


def list_contents(lines: Iterable[bytes]) -> Iterator[tuple[str, str]]:
    """Content ids of whole values, and their bytes as base64."""
    for line in lines:
        if line.startswith(b'{"content":'):
            parsed = _parse(line)
            if isinstance(parsed, dict):
                yield str(parsed["content"]), str(parsed.get("data", ""))


def build_frames(lines: Iterable[bytes]) -> list[FrameTrace]:
    """All invocations that a recording has, by their numbers."""
    reader = _Reader()
    for line in lines:
        reader.read(_parse(line))
    frames = [builder.build(reader.is_full) for builder in reader.frames.values()]
    return sorted(frames, key=lambda frame: (frame.index, frame.first_line))


def _parse(line: bytes) -> Any:
    """None for a line that was not written to its end."""
    try:
        return json.loads(line)
    except ValueError:
        return None


# -- reading ---------------------------------------------------------------------------------------


class _Reader:
    """Takes the lines one by one, and gives each to its frame."""

    def __init__(self) -> None:
        self.frames: dict[int, _FrameBuilder] = {}
        self.is_full = False
        self._codes: dict[int, TracedCode] = {}
        self._picked: int | None = None

    def read(self, line: Any) -> None:
        try:
            if isinstance(line, dict):
                self._read_fact(line)
            elif isinstance(line, list) and len(line) > 2:
                frame = self.frames.get(line[1])
                if frame is not None:
                    frame.read(line)
        except (KeyError, IndexError, TypeError, ValueError):
            return  # a line of another version

    def _read_fact(self, line: dict[str, Any]) -> None:
        if "format" in line:
            self.is_full = bool(line.get("full"))
        elif "code" in line and "frame" not in line:
            self._codes[line["code"]] = _read_code(line)
        elif "frame" in line:
            code = self._codes.get(line["code"], TracedCode())
            is_picked = line["index"] == self._picked
            self.frames[line["frame"]] = _FrameBuilder(code, line, is_picked)
        elif "picked" in line:
            self._picked = line["picked"]
            for frame in self.frames.values():
                frame.is_picked = frame.index == self._picked
        elif "end" in line or "left" in line:
            self.frames[line["end"] if "end" in line else line["left"]].end(line)


def _read_code(line: dict[str, Any]) -> TracedCode:
    return TracedCode(
        function=line["function"],
        file=line["file"],
        first_line=line["first_line"],
        begins=line.get("begins", 0),
        source={int(number): text for number, text in line.get("source", {}).items()},
        tests={int(number): (b[0], b[1]) for number, b in line.get("tests", {}).items()},
        leaders=frozenset(line.get("leaders", ())),
    )


# -- building --------------------------------------------------------------------------------------


class _FrameBuilder:
    """Collects the lines of one frame, and makes its trace of them."""

    def __init__(self, code: TracedCode, facts: dict[str, Any], is_picked: bool) -> None:
        self.index = int(facts["index"])
        self.is_picked = is_picked
        self._code = code
        self._facts = facts
        self._end: dict[str, Any] = {}
        self._root = CollectedRound(0)
        self._last: CollectedStep | None = None
        self._next_line = code.begins
        """The statement under way: each step names the line that came after it."""

    def read(self, line: list[Any]) -> None:
        kind = line[0]
        if kind == "s":
            self._add_step(line)
        elif kind == "m":
            self._extend_step(line)
        elif kind in ("b", "r", "e"):
            loop = self._find_loop(self._find_round(line[2]), line[3])
            if kind == "b":
                loop.before = line[4]
            elif kind == "r":
                loop.chunks.append(read_chunk(line))
                self._next_line = 0  # rows of rounds name none
            else:
                loop.iterations, loop.after = line[4], line[5]
                loop.paths = [(tuple(path), times, first) for path, times, first in line[6]]

    def end(self, line: dict[str, Any]) -> None:
        self._end = line

    def _find_round(self, path: Sequence[int]) -> CollectedRound:
        found = self._root
        for loop_line, number in zip(path[::2], path[1::2], strict=True):
            loop = self._find_loop(found, loop_line)
            found = loop.rounds.setdefault(number, CollectedRound(number))
        return found

    @staticmethod
    def _find_loop(within: CollectedRound, line: int) -> CollectedLoop:
        for item in reversed(within.items):
            if isinstance(item, CollectedLoop) and item.line == line:
                return item
        loop = CollectedLoop(line)
        within.items.append(loop)
        return loop

    def _add_step(self, line: list[Any]) -> None:
        more = line[7] if len(line) > 7 else {}
        step = CollectedStep(line[3], line[4], [_read_change(c) for c in line[5]], [], more)
        step.calls = [_read_call(call) for call in line[6]]
        self._find_round(line[2]).items.append(step)
        self._last = step
        self._next_line = step.next_line

    def _extend_step(self, line: list[Any]) -> None:
        """A generator went on: its statement did more after it had yielded."""
        if self._last is not None:
            self._last.changes += [_read_change(change) for change in line[2]]
            self._last.calls += [_read_call(call) for call in line[3]]
            self._last.more = {**self._last.more, **line[4]}

    # -- the trace ---------------------------------------------------------------------------

    def build(self, is_full: bool) -> FrameTrace:
        facts, end, code = self._facts, self._end, self._code
        args = {name: TracedValue(text, *cid) for name, text, *cid in facts["args"]}
        outcome = end.get("outcome", "running")
        values = {name: value.text for name, value in args.items()}
        tree = TreeBuilder(code, is_full, outcome)
        return FrameTrace(
            function=code.function,
            file=code.file,
            first_line=code.first_line,
            index=self.index,
            args=args,
            items=tree.build_items(self._root.items, values, is_last=True),
            source=code.source,
            outcome=outcome,
            result=TracedValue(end["result"], end.get("cid")) if "result" in end else None,
            exception_type=end.get("type"),
            exception_line=end.get("line", 0),
            now=self._next_line if outcome == "running" else 0,
            thread=facts.get("thread", ""),
            callers=[_read_caller(caller) for caller in facts.get("callers", ())],
            remarks=_list_frame_remarks(end),
            is_picked=self.is_picked,
        )


def _read_change(change: Sequence[Any]) -> Change:
    fields: list[Any] = [*change, *[None] * (6 - len(change))]
    name, how, text, words, cid, alias = fields
    if how == "d":
        return Change(name, None, "deleted", f"del {name}")
    return Change(
        name=name,
        value=TracedValue(text, cid),
        how=_HOW[how],
        text=words if words is not None else f"{name} = {text}",
        alias=alias,
    )


def _read_call(call: Sequence[Any]) -> CalleeCall:
    fields: list[Any] = [*call, *[None] * (4 - len(call))]
    function, args, result, raised = fields
    return CalleeCall(function, args, result, raised)


def _read_caller(caller: Sequence[Any]) -> Caller:
    function, file, line, *args = caller
    return Caller(function, file, line, args[0] if args else {})


def _list_frame_remarks(end: Mapping[str, Any]) -> list[str]:
    remarks = [str(end["remark"])] if "remark" in end else []
    if end.get("large"):
        names = ", ".join(end["large"])
        remarks.append(f"too large to compare after every statement: {names}")
    return remarks
