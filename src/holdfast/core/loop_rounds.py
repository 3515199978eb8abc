"""Which rounds of a loop are worth a line: the first, the unusual ones, the last."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from holdfast.model.trace import Iteration, LoopRows, LoopRun

MAX_UNUSUAL = 6
_JUMP = 20
"""A step between two rounds that is so many times the usual one is a jump."""
_MAX_KINDS = 6
_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")


def list_rows(loop: LoopRun) -> Iterator[Iteration]:
    """The rounds of which only the values were kept."""
    rows = loop.rows
    if rows is None:
        return
    for index, path in enumerate(rows.paths):
        yield _build_round(rows, index, path)


def _build_round(rows: LoopRows, index: int, path: Sequence[int], remark: str = "") -> Iteration:
    values = {name: column[index] for name, column in rows.columns.items() if column[index]}
    return Iteration(rows.first + index, values=values, path=path, remark=remark)


def find_unusual(loop: LoopRun, most: int = MAX_UNUSUAL) -> list[Iteration]:
    """Rounds that stand out, the most telling first; the last round is among them."""
    found: dict[int, Iteration] = {one.number: one for one in loop.kept[1:] if one.remark}
    if loop.rows is not None:
        for index, remark in _find_unusual_rows(loop, loop.rows).items():
            one = _build_round(loop.rows, index, loop.rows.paths[index], remark)
            found.setdefault(one.number, one)
    ranked = sorted(found.values(), key=lambda one: (_rank(one.remark), one.number))
    return ranked[:most]


def _rank(remark: str) -> int:
    order = ("only", "new path", "left", " is ", "last", "jump")
    return next((rank for rank, words in enumerate(order) if words in remark), len(order))


def _find_unusual_rows(loop: LoopRun, rows: LoopRows) -> dict[int, str]:
    """Why a row is unusual, by its index."""
    remarks: dict[int, str] = {}
    last = len(rows.paths) - 1
    for path, times, first in loop.paths:
        index = first - rows.first
        if 0 <= index <= last and tuple(rows.paths[index]) == tuple(path):
            remarks[index] = "only time on this path" if times == 1 else "new path"
    for name, column in rows.columns.items():
        for index, kind in _find_new_kinds(column):
            remarks.setdefault(index, f"{name} is {kind}")
        jump = _find_jump(column)
        if jump is not None:
            remarks.setdefault(jump, f"{name} jumps")
    remarks.setdefault(last, "last")
    return remarks


def _find_new_kinds(column: Sequence[str]) -> list[tuple[int, str]]:
    """Where a variable first has a value of another type."""
    kinds: dict[str, int] = {}
    for index, text in enumerate(column):
        kinds.setdefault(_kind_of(text), index)
    if len(kinds) > _MAX_KINDS:
        return []
    return [(index, kind) for kind, index in list(kinds.items())[1:]]


def _kind_of(text: str) -> str:
    """The type of a value, from its text."""
    if not text:
        return "unbound"
    if text == "None":
        return "NoneType"
    if text in ("True", "False"):
        return "bool"
    if _NUMBER.fullmatch(text):
        return "float" if not text.lstrip("-").isdigit() else "int"
    if text in ("nan", "inf", "-inf"):
        return text
    if text[0] in "'\"":
        return "str"
    return text.strip("<>").partition(" ")[0].partition("(")[0]


def _find_jump(column: Sequence[str]) -> int | None:
    """The index of the step that is far larger than the others, if there is one."""
    numbers = _read_numbers(column)
    if numbers is None or len(numbers) < 10:
        return None
    steps = [abs(after - before) for before, after in itertools.pairwise(numbers)]
    usual = sorted(steps)[len(steps) * 9 // 10]
    largest = max(range(len(steps)), key=steps.__getitem__)
    if steps[largest] > _JUMP * usual and steps[largest] > 0 and usual > 0:
        return largest + 1
    return None


def _read_numbers(column: Sequence[str]) -> list[float] | None:
    try:
        return [float(text) for text in column]
    except (ValueError, OverflowError):
        return None


def find_span(loop: LoopRun, name: str) -> tuple[str, str] | None:
    """The lowest and the highest number of a variable, if it went beyond its first and last."""
    column = loop.rows.columns.get(name) if loop.rows is not None else None
    numbers = _read_numbers(column) if column else None
    if not column or not numbers:
        return None
    low, high = numbers.index(min(numbers)), numbers.index(max(numbers))
    ends = (numbers[0], numbers[-1])
    if numbers[low] in ends and numbers[high] in ends:
        return None
    return column[low], column[high]


def fold(loop: LoopRun, most: int = MAX_UNUSUAL) -> list[Iteration]:
    """The first round, unusual ones and the last, in order."""
    rows = list(list_rows(loop))
    by_number = {one.number: one for one in (*rows, *loop.kept)}
    if not by_number:
        return []
    chosen = {number: by_number[number] for number in (min(by_number), max(by_number))}
    for one in find_unusual(loop, most):
        chosen[one.number] = one
    return [chosen[number] for number in sorted(chosen)]
