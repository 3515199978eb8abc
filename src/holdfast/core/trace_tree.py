"""Turns the collected lines of one frame into its steps and loops, in order."""

from __future__ import annotations

import array
import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from holdfast.model.trace import (
    CalleeCall,
    Change,
    Iteration,
    LoopRows,
    LoopRun,
    Step,
)

_LEAVINGS = {"returned": "left by return", "raised": "left by an exception"}
"""What is said of a loop's last round when the call ended in it."""


@dataclass
class TracedCode:
    """What is known of a function."""

    function: str = ""
    file: str = ""
    first_line: int = 0
    begins: int = 0
    """The line of its first statement."""
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


@dataclass
class CollectedRound:
    number: int
    items: list[CollectedStep | CollectedLoop] = field(default_factory=list)


@dataclass
class CollectedStep:
    line: int
    next_line: int
    changes: list[Change]
    calls: list[CalleeCall]
    more: dict[str, Any]


@dataclass
class RowChunk:
    """Rows of consecutive rounds."""

    first: int
    columns: dict[str, list[str]]
    paths: list[tuple[int, ...]]


@dataclass
class CollectedLoop:
    line: int
    rounds: dict[int, CollectedRound] = field(default_factory=dict)
    before: dict[str, str] = field(default_factory=dict)
    after: dict[str, str] = field(default_factory=dict)
    iterations: int | None = None
    chunks: list[RowChunk] = field(default_factory=list)
    paths: list[tuple[tuple[int, ...], int, int]] = field(default_factory=list)


class TreeBuilder:
    """Turns what was collected into steps and loops, in order."""

    def __init__(self, code: TracedCode, is_full: bool, outcome: str) -> None:
        self._code = code
        self._is_full = is_full
        self._outcome = outcome

    def build_items(
        self,
        items: Sequence[CollectedStep | CollectedLoop],
        values: dict[str, str],
        is_last: bool = False,
    ) -> list[Step | LoopRun]:
        """`values` are the variables, and are changed. `is_last`: the frame ends here."""
        built: list[Step | LoopRun] = []
        for item in items:
            if isinstance(item, CollectedStep):
                built.append(self._build_step(item))
                _apply(item.changes, values)
            else:
                built += self._build_loop(item, values, is_last and item is items[-1])
        return built

    def _build_step(self, step: CollectedStep) -> Step:
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
        self, loop: CollectedLoop, values: dict[str, str], is_last: bool
    ) -> list[Step | LoopRun]:
        rows = _join_chunks(loop)
        last_row = rows.first + len(rows.paths) - 1 if rows is not None else 0
        count = loop.iterations
        if count is None:
            count = max([*loop.rounds, last_row], default=0)
        if is_last and rows is None and self._is_last_test(loop, count):
            count, is_last = count - 1, False
        names = _list_names(loop)
        kept, seen = [], set[tuple[int, ...]]()
        for number in sorted(loop.rounds):
            if number <= count:
                kept.append(self._build_round(loop, loop.rounds[number], values, names, seen))
        if kept and is_last and rows is None and self._outcome != "running":
            kept[-1] = _remark(kept[-1], _LEAVINGS.get(self._outcome, "left here"))
        values.update(loop.after)
        if loop.iterations is None and rows is not None:  # it has not ended
            last = {name: column[-1] for name, column in rows.columns.items() if column}
            values.update({name: text for name, text in last.items() if text})
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

    def _is_last_test(self, loop: CollectedLoop, number: int) -> bool:
        """Whether a round is only the test that ended the loop, and the call with it."""
        items = loop.rounds[number].items if number in loop.rounds else []
        body = self._code.tests.get(loop.line)
        if self._outcome != "returned" or len(items) != 1 or body is None or body[0] <= loop.line:
            return False
        step = items[0]
        return (
            isinstance(step, CollectedStep)
            and (step.line, step.next_line) == (loop.line, 0)
            and not step.changes
        )

    def _build_last_test(
        self, loop: CollectedLoop, count: int, values: dict[str, str]
    ) -> list[Step | LoopRun]:
        """The test that ended the loop is a statement of its own where all of them are wanted."""
        rounds = [loop.rounds[number] for number in sorted(loop.rounds) if number > count]
        if not self._is_full:
            return []
        return [item for each in rounds for item in self.build_items(each.items, values)]

    def _build_round(
        self,
        loop: CollectedLoop,
        found: CollectedRound,
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


def _list_names(loop: CollectedLoop) -> list[str]:
    """The variables that a loop changes."""
    names: dict[str, None] = {}
    for chunk in loop.chunks:
        names.update(dict.fromkeys(chunk.columns))
    waiting: list[CollectedLoop] = [loop]
    while waiting:
        for found in waiting.pop().rounds.values():
            for item in found.items:
                if isinstance(item, CollectedLoop):
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


def read_chunk(line: list[Any]) -> RowChunk:
    cells = line[5]
    if isinstance(cells, list):  # integers, row by row
        names, width, packed = cells
        numbers = _read_column(packed)
        columns = {name: numbers[place::width] for place, name in enumerate(names)}
    else:
        columns = {name: _read_column(column) for name, column in cells.items()}
    paths = [tuple(line[7][number]) for number, times in line[6] for _ in range(times)]
    return RowChunk(line[4], columns, paths)


def _read_column(cells: str | list[Any]) -> list[str]:
    if isinstance(cells, str):
        numbers = array.array(cells[0], base64.b64decode(cells[1:]))
        return [repr(number) for number in numbers]
    return [_show_cell(cell) for cell in cells]


def _show_cell(cell: Any) -> str:
    if isinstance(cell, list):
        return str(cell[0]) if cell else ""
    return repr(cell)


def _join_chunks(loop: CollectedLoop) -> LoopRows | None:
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
    kept: Sequence[Iteration], rows: LoopRows | None, loop: CollectedLoop
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
