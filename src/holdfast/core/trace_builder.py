"""Builds frame traces from the lines of a recording.

The probe writes the lines while the program runs (`frame_recorder` describes them). The last one
may be torn, and the oldest detail may be gone. Each statement says which rounds of which loops it
belongs to, so that what remains still finds its place.
"""

from __future__ import annotations

import array
import base64
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from holdfast.core.loop_rounds import find_span, find_unusual, list_rows
from holdfast.model.trace import (
    CalleeCall,
    Caller,
    Change,
    FrameTrace,
    Iteration,
    LoopRows,
    LoopRun,
    Step,
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


@dataclass
class _Code:
    """What is known of a function."""

    function: str = ""
    file: str = ""
    first_line: int = 0
    source: dict[int, str] = field(default_factory=dict)
    tests: dict[int, tuple[int, int]] = field(default_factory=dict)
    leaders: frozenset[int] = frozenset()

    def is_taken(self, line: int, next_line: int, is_raised: bool) -> bool | None:
        """Whether a test led into what it decides on, by the line after it."""
        body = self.tests.get(line)
        if body is None or is_raised:
            return None
        return body[0] <= next_line <= body[1]

    def find_entry(self, loop_line: int) -> int:
        """The first line of a loop's body, which each round enters."""
        return self.tests.get(loop_line, (0, 0))[0]


class _Reader:
    """Takes the lines one by one, and gives each to its frame."""

    def __init__(self) -> None:
        self.frames: dict[int, _FrameBuilder] = {}
        self.is_full = False
        self._codes: dict[int, _Code] = {}
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
            code = self._codes.get(line["code"], _Code())
            is_picked = line["index"] == self._picked
            self.frames[line["frame"]] = _FrameBuilder(code, line, is_picked)
        elif "picked" in line:
            self._picked = line["picked"]
            for frame in self.frames.values():
                frame.is_picked = frame.index == self._picked
        elif "end" in line or "left" in line:
            self.frames[line["end"] if "end" in line else line["left"]].end(line)


def _read_code(line: dict[str, Any]) -> _Code:
    return _Code(
        function=line["function"],
        file=line["file"],
        first_line=line["first_line"],
        source={int(number): text for number, text in line.get("source", {}).items()},
        tests={int(number): (b[0], b[1]) for number, b in line.get("tests", {}).items()},
        leaders=frozenset(line.get("leaders", ())),
    )


# -- building --------------------------------------------------------------------------------------


@dataclass
class _Round:
    number: int
    items: list[_Step | _Loop] = field(default_factory=list)


@dataclass
class _Step:
    line: int
    next_line: int
    changes: list[Change]
    calls: list[CalleeCall]
    more: dict[str, Any]


@dataclass
class _Chunk:
    """Rows of consecutive rounds."""

    first: int
    columns: dict[str, list[str]]
    paths: list[tuple[int, ...]]


@dataclass
class _Loop:
    line: int
    rounds: dict[int, _Round] = field(default_factory=dict)
    before: dict[str, str] = field(default_factory=dict)
    after: dict[str, str] = field(default_factory=dict)
    iterations: int | None = None
    chunks: list[_Chunk] = field(default_factory=list)
    paths: list[tuple[tuple[int, ...], int, int]] = field(default_factory=list)


class _FrameBuilder:
    """Collects the lines of one frame, and makes its trace of them."""

    def __init__(self, code: _Code, facts: dict[str, Any], is_picked: bool) -> None:
        self.index = int(facts["index"])
        self.is_picked = is_picked
        self._code = code
        self._facts = facts
        self._end: dict[str, Any] = {}
        self._root = _Round(0)
        self._last: _Step | None = None

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
                loop.chunks.append(_read_chunk(line))
            else:
                loop.iterations, loop.after = line[4], line[5]
                loop.paths = [(tuple(path), times, first) for path, times, first in line[6]]

    def end(self, line: dict[str, Any]) -> None:
        self._end = line

    def _find_round(self, path: Sequence[int]) -> _Round:
        found = self._root
        for loop_line, number in zip(path[::2], path[1::2], strict=True):
            loop = self._find_loop(found, loop_line)
            found = loop.rounds.setdefault(number, _Round(number))
        return found

    @staticmethod
    def _find_loop(within: _Round, line: int) -> _Loop:
        for item in reversed(within.items):
            if isinstance(item, _Loop) and item.line == line:
                return item
        loop = _Loop(line)
        within.items.append(loop)
        return loop

    def _add_step(self, line: list[Any]) -> None:
        more = line[7] if len(line) > 7 else {}
        step = _Step(line[3], line[4], [_read_change(c) for c in line[5]], [], more)
        step.calls = [_read_call(call) for call in line[6]]
        self._find_round(line[2]).items.append(step)
        self._last = step

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
        tree = _TreeBuilder(code, is_full, outcome)
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


class _TreeBuilder:
    """Turns what was collected into steps and loops, in order."""

    def __init__(self, code: _Code, is_full: bool, outcome: str) -> None:
        self._code = code
        self._is_full = is_full
        self._outcome = outcome

    def build_items(
        self, items: Sequence[_Step | _Loop], values: dict[str, str], is_last: bool = False
    ) -> list[Step | LoopRun]:
        """`values` are the variables, and are changed. `is_last`: the frame ends here."""
        built: list[Step | LoopRun] = []
        for item in items:
            if isinstance(item, _Step):
                built.append(self._build_step(item))
                _apply(item.changes, values)
            else:
                built += self._build_loop(item, values, is_last and item is items[-1])
        return built

    def _build_step(self, step: _Step) -> Step:
        more = step.more
        return Step(
            line=step.line,
            changes=step.changes,
            calls=step.calls,
            calls_left_out=more.get("left_out", 0),
            taken=self._code.is_taken(step.line, step.next_line, "raised" in more),
            raised=more.get("raised"),
            yielded=more.get("yielded"),
        )

    def _build_loop(
        self, loop: _Loop, values: dict[str, str], is_last: bool
    ) -> list[Step | LoopRun]:
        rows = _join_chunks(loop)
        last_row = rows.first + len(rows.paths) - 1 if rows is not None else 0
        count = loop.iterations
        if count is None:
            count = max([*loop.rounds, last_row], default=0)
        names = _list_names(loop)
        kept, seen = [], set[tuple[int, ...]]()
        for number in sorted(loop.rounds):
            if number <= count:
                kept.append(self._build_round(loop, loop.rounds[number], values, names, seen))
        if kept and is_last and rows is None and self._outcome != "running":
            kept[-1] = _remark(kept[-1], f"left by {self._outcome.replace('ed', '')}")
        values.update(loop.after)
        run = LoopRun(
            line=loop.line,
            iterations=count,
            kept=kept,
            rows=rows,
            before=loop.before,
            after=loop.after or {name: values[name] for name in names if name in values},
            paths=_count_paths(kept, rows, loop),
            forgotten=max(0, count - len(kept) - (len(rows.paths) if rows is not None else 0)),
        )
        return [run, *self._build_last_test(loop, count, values)]

    def _build_last_test(
        self, loop: _Loop, count: int, values: dict[str, str]
    ) -> list[Step | LoopRun]:
        """The test that ended the loop is a statement of its own where all of them are wanted."""
        rounds = [loop.rounds[number] for number in sorted(loop.rounds) if number > count]
        if not self._is_full:
            return []
        return [item for each in rounds for item in self.build_items(each.items, values)]

    def _build_round(
        self,
        loop: _Loop,
        found: _Round,
        values: dict[str, str],
        names: Sequence[str],
        seen: set[tuple[int, ...]],
    ) -> Iteration:
        steps = self.build_items(found.items, values)
        entry = self._code.find_entry(loop.line)
        lines = [line for line in _list_lines(steps) if line in self._code.leaders]
        path = tuple(line for line in dict.fromkeys(lines) if line != entry)
        is_new = bool(seen) and path not in seen
        seen.add(path)
        return Iteration(
            number=found.number,
            steps=steps,
            values={name: values[name] for name in names if name in values},
            path=path,
            remark="new path" if is_new else "",
        )


def _remark(one: Iteration, remark: str) -> Iteration:
    words = f"{one.remark}, {remark}" if one.remark else remark
    return Iteration(one.number, one.steps, one.values, one.path, words)


def _apply(changes: Sequence[Change], values: dict[str, str]) -> None:
    for change in changes:
        if change.value is None:
            values.pop(change.name, None)
        else:
            values[change.name] = change.value.text


def _list_names(loop: _Loop) -> list[str]:
    """The variables that a loop changes."""
    names: dict[str, None] = {}
    for chunk in loop.chunks:
        names.update(dict.fromkeys(chunk.columns))
    waiting: list[_Loop] = [loop]
    while waiting:
        for found in waiting.pop().rounds.values():
            for item in found.items:
                if isinstance(item, _Loop):
                    waiting.append(item)
                else:
                    names.update((c.name, None) for c in item.changes if c.how != "same")
    return list(names)


def _list_lines(items: Sequence[Step | LoopRun]) -> Iterator[int]:
    for item in items:
        if isinstance(item, Step):
            yield item.line
        else:
            for one in item.kept:
                yield from _list_lines(one.steps)
            if item.rows is not None:
                for path in item.rows.paths:
                    yield from path


# -- rows ------------------------------------------------------------------------------------------


def _read_chunk(line: list[Any]) -> _Chunk:
    cells = line[5]
    if isinstance(cells, list):  # integers, row by row
        names, width, packed = cells
        numbers = _read_column(packed)
        columns = {name: numbers[place::width] for place, name in enumerate(names)}
    else:
        columns = {name: _read_column(column) for name, column in cells.items()}
    paths = [tuple(line[7][number]) for number, times in line[6] for _ in range(times)]
    return _Chunk(line[4], columns, paths)


def _read_column(cells: str | list[Any]) -> list[str]:
    if isinstance(cells, str):
        numbers = array.array(cells[0], base64.b64decode(cells[1:]))
        return [repr(number) for number in numbers]
    return [_show_cell(cell) for cell in cells]


def _show_cell(cell: Any) -> str:
    if isinstance(cell, list):
        return str(cell[0]) if cell else ""
    return repr(cell)


def _join_chunks(loop: _Loop) -> LoopRows | None:
    """The rows of a loop; the oldest may be gone."""
    if not loop.chunks:
        return None
    chunks = sorted(loop.chunks, key=lambda chunk: chunk.first)
    columns: dict[str, list[str]] = {name: [] for name in chunks[-1].columns}
    paths: list[tuple[int, ...]] = []
    for chunk in chunks:
        for name, column in columns.items():
            column += chunk.columns[name]
        paths += chunk.paths
    return LoopRows(chunks[0].first, columns, paths)


def _count_paths(
    kept: Sequence[Iteration], rows: LoopRows | None, loop: _Loop
) -> list[tuple[Sequence[int], int, int]]:
    counts: dict[tuple[int, ...], list[int]] = {}
    for one in kept:
        counts.setdefault(tuple(one.path), [0, one.number])[0] += 1
    totals = loop.paths
    if not totals and rows is not None:
        totals = [(tuple(path), 1, rows.first + i) for i, path in enumerate(rows.paths)]
    for path, times, first in totals:
        counts.setdefault(path, [0, first])[0] += times
    return [(path, times, first) for path, (times, first) in counts.items()]
