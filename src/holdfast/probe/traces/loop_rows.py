"""Rounds of a hot loop by their values alone: one row of the loop's variables for each round.

A cell of a row is a number, True, False or None as it is, a short string as a string, `[text]` for
what has no such form, and `[]` for a variable without a value. A column of numbers alone is a
string: `q` or `d`, and the numbers as base64. Where all columns are integers, `[NAMES, WIDTH,
NUMBERS]` has all of them, row by row. Each round also has its path: the first lines of the branches
that it entered. `[[NUMBER, TIMES], …]` are the numbers of paths in the list after them.
"""

from __future__ import annotations

import array
import binascii
import itertools
import operator
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from .. import introspection
from .code_plan import CodePlan, Loop
from .frame_locals import UNBOUND, Reader
from .trace_log import encode
from .traced_values import show
from .value_kinds import CONTAINERS, NUMBERS

CHUNK = 256  # rows in one line of the recording
_MAX_STRING = 24
_MAX_CHUNK_TEXT = 64_000
_ARRAY_CODES = {int: "q", float: "d"}
_MAX_PATHS = 40  # different ones that are counted
_UNBOUND_CELL: Tuple[()] = ()

Path = Tuple[int, ...]
WriteRows = Callable[[int, str], None]
"""Takes the number of the first row, and columns, path numbers and paths as JSON."""


class PathNode(Dict[int, "PathNode"]):
    """A path so far; by the line of a branch, the path with that branch."""

    __slots__ = ("number", "path")

    def __init__(self, path: Path, number: int) -> None:
        self.path = path
        self.number = number


class LoopRows:
    """The rows of one execution of a loop, from one round on.

    As long as all variables are integers, the rows are kept in one array of numbers.
    """

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
        self._read = read
        self._numbers = array.array("q")
        self._rows: List[Sequence[Any]] = []
        self._last: Sequence[Any] = ()  # of the rows that are written
        self._path_numbers: List[int] = []
        self._nodes: List[PathNode] = []
        self._by_path: Dict[Path, PathNode] = {}
        self.root = self.node = self._add_node(())
        self._values = values
        is_plain = values is not None and not plan.names.cells.intersection(loop.columns)
        keys = [plan.names.indexes[name] for name in loop.columns] if is_plain else []
        # A single variable is read twice, to get a tuple of it as well.
        keys = keys * 2 if len(keys) == 1 else keys
        self._width = len(keys)
        self._get_row: Any = operator.itemgetter(*keys) if keys else None

    @property
    def count(self) -> int:
        """The number of the last round that has a row."""
        return self.first + len(self._path_numbers) - 1

    def is_in_round(self) -> bool:
        """Whether a round has begun that has no row yet.

        It has not if only the test of the loop ran since the last row. That test is not told apart
        from a round that entered no branch and left every variable as it was.
        """
        if self.node is not self.root or self.loop.boundary != self.loop.line:
            return True
        return list(self._read_row()) != list(self._find_last())

    def _find_last(self) -> Sequence[Any]:
        """The last row."""
        if self._rows:
            return self._rows[-1]
        if self._numbers:
            return self._numbers[-self._width :].tolist()[: len(self.loop.columns)]
        return self._last

    def _add_node(self, path: Path) -> PathNode:
        node = self._by_path.get(path)
        if node is None:
            node = self._by_path[path] = PathNode(path, len(self._nodes))
            self._nodes.append(node)
        return node

    def _extend(self, line: int) -> None:
        """The round enters a branch for the first time on this path."""
        node = self.node
        first = self.loop.leaders[line]
        path = node.path if first in node.path else (*node.path, first)
        node[line] = self.node = self._add_node(path)

    def _read_row(self) -> Sequence[Any]:
        row: List[Any] = []
        for name in self.loop.columns:
            try:
                value = self._read(name)
            except UNBOUND:
                row.append(_UNBOUND_CELL)
                continue
            kind = type(value)
            if id(kind) in NUMBERS or (kind is str and len(value) <= _MAX_STRING):
                row.append(value)
            else:
                row.append((_show_shape(value, kind),))
        return row

    def add(self) -> None:
        """A round has ended."""
        if self._numbers:
            self.flush()
        self._path_numbers.append(self.node.number)
        self.node = self.root
        self._rows.append(self._read_row())
        if len(self._rows) >= CHUNK:
            self.flush()

    def make_handler(
        self, leave: Callable[[int], Any], skip: Any, recover: Callable[[BaseException], Any]
    ) -> Callable[[Any, int], Any]:
        """What is called for each line, with its code and its number.

        It calls `leave` for a line outside of the loop, `recover` if something goes wrong, and
        answers `skip` for lines that it does not need.
        """
        loop, root, paths = self.loop, self.root, self._path_numbers
        leaders, lines, boundary = frozenset(loop.leaders), loop.lines, loop.boundary_line
        values, get_row, is_numeric = self._values, self._get_row, self._get_row is not None
        add_numbers, add_path = self._numbers.extend, paths.append

        def handle(_code: Any, number: int) -> Any:
            nonlocal is_numeric
            try:
                if number == boundary:
                    if is_numeric:
                        try:
                            row = get_row(values)
                            for value in row:
                                if type(value) is not int:
                                    break
                            else:
                                add_numbers(row)
                                if leaders:
                                    add_path(self.node.number)
                                    self.node = root
                                else:
                                    add_path(0)
                                if len(paths) >= CHUNK:
                                    self.flush()
                                return None
                        except (ValueError, OverflowError):  # one is unbound, or too large
                            pass
                        is_numeric = False
                    self.add()
                elif number in leaders:
                    following = self.node.get(number)
                    if following is None:
                        self._extend(number)
                    else:
                        self.node = following
                elif number in lines:
                    return skip
                else:
                    return leave(number)
            except BaseException as error:
                return recover(error)
            return None

        return handle

    def flush(self) -> None:
        """Write the rows that there are."""
        numbers = self._path_numbers
        if not numbers:
            return
        last = self._find_last()
        first, self.first = self.first, self.first + len(numbers)
        runs, paths = self._number_paths()
        for index, path in enumerate(paths):
            self._count(path, runs, index, first)
        names = list(self.loop.columns)
        if self._numbers:
            cells: Any = [names, self._width, _pack_array(self._numbers)]
        else:
            cells = {name: list(column) for name, column in zip(names, zip(*self._rows))}
        self._write(first, _encode_rows(cells, runs, paths))
        self._last = last
        del self._numbers[:]
        self._rows.clear()
        numbers.clear()

    def _number_paths(self) -> Tuple[List[List[int]], List[Path]]:
        """The paths of the rows: as runs of `[number, times]`, and what the numbers stand for."""
        numbers = self._path_numbers
        if numbers.count(numbers[0]) == len(numbers):
            return [[0, len(numbers)]], [self._nodes[numbers[0]].path]
        used = {number: index for index, number in enumerate(dict.fromkeys(numbers))}
        runs = [[used[number], len(list(same))] for number, same in itertools.groupby(numbers)]
        return runs, [self._nodes[number].path for number in used]

    def _count(self, path: Path, runs: List[List[int]], index: int, first: int) -> None:
        known = self.paths.get(path)
        if known is None:
            if len(self.paths) >= _MAX_PATHS:
                return
            before = itertools.takewhile(lambda run: run[0] != index, runs)
            known = self.paths[path] = [0, first + sum(times for _number, times in before)]
        known[0] += sum(times for number, times in runs if number == index)


def _show_shape(value: Any, kind: Any) -> str:
    if kind is str or kind is bytes:
        return show(value, _MAX_STRING)
    if id(kind) in CONTAINERS:
        return "<%s of %d>" % (kind.__name__, len(value))
    return "<%s>" % introspection.type_name(kind)


def _encode_rows(cells: Any, runs: List[List[int]], paths: List[Path]) -> str:
    if type(cells) is dict:
        cells = {name: _pack(column) for name, column in cells.items()}
    try:
        text = encode([cells, runs, paths])
        if len(text) <= _MAX_CHUNK_TEXT:
            return text[1:-1]
    except ValueError:  # a number of more digits than Python turns into text
        pass
    short = {
        name: [cell if type(cell) is tuple else (show(cell, _MAX_STRING),) for cell in column]
        for name, column in cells.items()
    }
    return encode([short, runs, paths])[1:-1]


def _pack(column: List[Any]) -> Any:
    """Numbers of one kind as base64, which is several times faster than as text."""
    kinds = set(map(type, column))
    code = _ARRAY_CODES.get(kinds.pop()) if len(kinds) == 1 else None
    if code is None:
        return column
    try:
        return _pack_array(array.array(code, column))
    except OverflowError:
        return column


def _pack_array(numbers: Any) -> str:
    text = binascii.b2a_base64(numbers.tobytes(), newline=False).decode("ascii")
    return str(numbers.typecode) + text
