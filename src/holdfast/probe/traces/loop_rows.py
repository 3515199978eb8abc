"""Rounds of a hot loop by their values alone: one row of the loop's variables for each round.

A cell of a row is a number, True, False or None as it is, a short string as a string, `[text]` for
what has no such form, and `[]` for a variable without a value. Each round also has its path: the
first lines of the branches that it entered.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Tuple

from .. import introspection
from .code_plan import CodePlan, Loop
from .frame_locals import UNBOUND, Reader
from .trace_log import encode
from .traced_values import CONTAINERS, NUMBERS, show

CHUNK = 256  # rows in one line of the recording
_MAX_STRING = 24
_MAX_CHUNK_TEXT = 64_000
_MAX_PATHS = 40  # different ones that are counted
_UNBOUND_CELL: Tuple[()] = ()

Path = Tuple[int, ...]
WriteRows = Callable[[int, str], None]
"""Takes the number of the first row, and columns, path numbers and paths as JSON."""


class LoopRows:
    """The rows of one execution of a loop, from one round on."""

    def __init__(
        self,
        plan: CodePlan,
        loop: Loop,
        first: int,
        read: Reader,
        values: Optional[Any],
        write: WriteRows,
    ) -> None:
        self.loop = loop
        self.first = first  # the round of the first row that is not written yet
        self.paths: Dict[Path, List[int]] = {}  # how often, and in which round first
        self._write = write
        self._names = loop.columns
        self._columns: Tuple[List[Any], ...] = tuple([] for _ in self._names)
        self._path_numbers: List[int] = []
        self._chunk_paths: Dict[Path, int] = {}
        self._visited: Dict[int, None] = {}
        indexes = plan.names.indexes
        is_plain = values is not None and not plan.names.cells.intersection(self._names)
        self._cells = [
            (values.__getitem__ if is_plain and values is not None else read, key, column.append)
            for key, column in zip(
                [indexes[name] if is_plain else name for name in self._names], self._columns
            )
        ]
        self.visit: Callable[[int, None], None] = self._visited.__setitem__
        """Note that the round entered a branch."""

    @property
    def count(self) -> int:
        """The number of the last round that has a row."""
        return self.first + len(self._path_numbers) - 1

    @property
    def is_in_round(self) -> bool:
        """Whether a round has begun that has no row yet."""
        return bool(self._visited) or self.loop.boundary != self.loop.line

    def add(self) -> None:
        """A round has ended."""
        path = tuple(self._visited)
        self._visited.clear()
        number = self._chunk_paths.get(path)
        if number is None:
            number = self._chunk_paths[path] = len(self._chunk_paths)
        self._path_numbers.append(number)
        for read, key, append in self._cells:
            try:
                value = read(key)
            except UNBOUND:
                append(_UNBOUND_CELL)
                continue
            kind = type(value)
            if kind is int or id(kind) in NUMBERS:
                append(value)
            elif kind is str and len(value) <= _MAX_STRING:
                append(value)
            else:
                append((_show_shape(value, kind),))
        if len(self._path_numbers) >= CHUNK:
            self.flush()

    def flush(self) -> None:
        """Write the rows that there are."""
        numbers = self._path_numbers
        if not numbers:
            return
        first, self.first = self.first, self.first + len(numbers)
        paths = list(self._chunk_paths)
        self._count(paths, numbers, first)
        columns = dict(zip(self._names, self._columns))
        self._write(first, _encode_rows(columns, numbers, [list(path) for path in paths]))
        for column in self._columns:
            column.clear()
        numbers.clear()
        self._chunk_paths.clear()

    def _count(self, paths: List[Path], numbers: List[int], first: int) -> None:
        for index, path in enumerate(paths):
            known = self.paths.get(path)
            if known is None:
                if len(self.paths) >= _MAX_PATHS:
                    continue
                known = self.paths[path] = [0, first + numbers.index(index)]
            known[0] += numbers.count(index)


def _show_shape(value: Any, kind: Any) -> str:
    if kind is str or kind is bytes:
        return show(value, _MAX_STRING)
    if id(kind) in CONTAINERS:
        return "<%s of %d>" % (kind.__name__, len(value))
    return "<%s>" % introspection.type_name(kind)


def _encode_rows(columns: Dict[str, List[Any]], numbers: List[int], paths: Any) -> str:
    try:
        text = encode([columns, numbers, paths])
        if len(text) <= _MAX_CHUNK_TEXT:
            return text[1:-1]
    except ValueError:  # a number of more digits than Python turns into text
        pass
    short = {
        name: [cell if type(cell) is tuple else (show(cell, _MAX_STRING),) for cell in column]
        for name, column in columns.items()
    }
    return encode([short, numbers, paths])[1:-1]
