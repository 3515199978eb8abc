"""Where lines of code begin, on Python 3.9 to 3.11, as `sys.settrace` tells it."""

from __future__ import annotations

import dis
from typing import Iterator, List, Optional, Set

from .code_assembly import VERSION, Instruction

_OPS = dis.opmap
IS_311 = VERSION >= (3, 11)
NEVER_FALLS = frozenset(
    _OPS.get(name)
    for name in (
        "RETURN_VALUE RAISE_VARARGS RERAISE JUMP_FORWARD JUMP_ABSOLUTE JUMP_BACKWARD "
        "JUMP_BACKWARD_NO_INTERRUPT"
    ).split()
) - {None}
"""Instructions after which the next one never runs."""
BLOCKS = frozenset(_OPS.get(n) for n in "SETUP_FINALLY SETUP_WITH SETUP_ASYNC_WITH".split())
_AWAIT_AGAIN = _OPS.get("JUMP_BACKWARD_NO_INTERRUPT")  # the same `await` goes on


class FirstOffsets(Set[int]):
    """A constant of a code object, as hashable as others must be."""

    __hash__ = object.__hash__  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.raise_lines: Set[int] = set()
        """Lines of a `raise` alone, which leaves no place of its own in a traceback."""

    def __eq__(self, other: object) -> bool:
        return self is other

    def fill(self, body: List[Instruction]) -> None:
        for first in list_firsts(body):
            self.add(first.offset)
            if first.op == _OPS["RAISE_VARARGS"] and not first.arg and first.line is not None:
                self.raise_lines.add(first.line)


def list_firsts(body: List[Instruction]) -> Iterator[Instruction]:
    """The first instruction of each line, and all of the first line."""
    before: Optional[int] = None
    is_first_line = True
    for instruction in body:
        is_first_line &= before is None or instruction.line == before
        if is_first_line or instruction.line != before:
            yield instruction
        before = instruction.line


class LineStarts:
    """Where a line begins for whoever comes there, as `sys.settrace` tells it."""

    def __init__(self, body: List[Instruction]) -> None:
        self.starts: Set[Instruction] = set()
        """A line begins for whoever falls in here from the instruction before."""
        self.arrivals: Set[Instruction] = set()
        """In the middle of a line that begins for some who jump here."""
        self.told_jumps: Set[Instruction] = set()
        """Jumps that begin a line where they lead to."""
        self.handlers: Set[Instruction] = set()
        """An exception leads here."""
        self._find_starts(body)
        self._find_handlers(body)
        order = {instruction: index for index, instruction in enumerate(body)}
        for jump in body:
            if jump.target is not None and jump.op not in BLOCKS:
                self._add_jump(jump, jump.target, order[jump.target] <= order[jump])

    def _find_starts(self, body: List[Instruction]) -> None:
        before: Optional[Instruction] = None
        for instruction in body:
            # 3.9 goes by the table of lines alone, later ones by what ran before.
            falls = before is None or before.op not in NEVER_FALLS or VERSION == (3, 9)
            if falls and (before is None or before.line != instruction.line):
                self.starts.add(instruction)
            before = instruction

    def _add_jump(self, jump: Instruction, target: Instruction, is_back: bool) -> None:
        if is_back:
            is_told = jump.op != _AWAIT_AGAIN
        elif VERSION == (3, 9):
            is_told = target in self.starts
        else:
            is_told = target.line != jump.line
        if is_told:
            self.told_jumps.add(jump)
            if target not in self.starts:
                self.arrivals.add(target)

    def _find_handlers(self, body: List[Instruction]) -> None:
        if not IS_311:
            found = [one.target for one in body if one.op in BLOCKS]
            self.handlers = {target for target in found if target is not None}
            return
        # A handler begins with PUSH_EXC_INFO; only then is the exception the current one.
        targets = {one.handler.target for one in body if one.handler is not None}
        for handler, following in zip(body, body[1:]):
            if handler in targets:
                self.starts.discard(handler)
                if following.line == handler.line:
                    self.handlers.add(following)
