"""Where generators and coroutines begin, for Pythons before 3.12.

There pydevd does not stop at the call of one, since tracing sends "call" each time it resumes. So
a function breakpoint on one of them is placed at the line that runs first, and `GeneratorEntry`
tells the first time from a loop that returns to that line.
"""

from __future__ import annotations

import dis
import io
import sys
import types
from typing import Any, Iterator, Optional

_GENERATOR_FLAGS = 0xA0  # CO_GENERATOR or CO_COROUTINE
# A mark among a frame's locals, which live as long as the frame (as pydevd does).
ENTERED_MARK = "__holdfast_entered"


class GeneratorEntry:
    """The first instruction of a generator's or coroutine's own code."""

    def __init__(self, code: Any) -> None:
        self.offset = _first_offset(code)
        lines = dict(dis.findlinestarts(code))
        self.line: int = max((at, line) for at, line in lines.items() if at <= self.offset)[1]
        self.is_looped_to = self.offset in dis.findlabels(code.co_code)

    def is_at(self, frame: Any) -> bool:
        """Whether this frame is about to begin; called once for each line event."""
        if frame.f_lasti != self.offset:
            return False
        if not self.is_looped_to:
            return True
        has_entered = ENTERED_MARK in frame.f_locals
        frame.f_locals[ENTERED_MARK] = True
        return not has_entered


def find_entry(file: str, name: str, first_line: int) -> Optional[GeneratorEntry]:
    """The entry of that function; None if it needs none on this Python."""
    if sys.version_info >= (3, 12):
        return None
    try:
        with io.open_code(file) as opened:
            module = compile(opened.read(), file, "exec", dont_inherit=True)
    except (OSError, SyntaxError, ValueError):
        return None
    for code in _walk_code(module):
        if (code.co_name, code.co_firstlineno) == (
            name,
            first_line,
        ) and code.co_flags & _GENERATOR_FLAGS:
            return GeneratorEntry(code)
    return None


def _walk_code(code: Any) -> Iterator[Any]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _walk_code(inner)


def _first_offset(code: Any) -> int:
    """Past what only creates the generator: GEN_START in 3.10, all up to RESUME in 3.11."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("GEN_START", "RESUME"):
            return instruction.offset + 2
    return 0
