"""Where generators and coroutines begin, where pydevd alone traces, before Python 3.12.

There it sees no call of one, since tracing sends "call" each time that it resumes. So a function
breakpoint on one of them is placed at the line that runs first, and `GeneratorEntry` tells the
first time from a loop that returns to that line.
"""

from __future__ import annotations

import dis
import io
import warnings
from typing import Any, List

from .function_names import walk_functions

_GENERATOR_FLAGS = 0xA0  # CO_GENERATOR or CO_COROUTINE: pydevd sees asynchronous generators
# A mark among a frame's locals, which live as long as the frame (as pydevd does).
ENTERED_MARK = "__holdfast_entered"


class GeneratorEntry:
    """The first instruction of a generator's or coroutine's own code."""

    def __init__(self, code: Any) -> None:
        self.offset = _find_first_offset(code)
        starts = [start for start in dis.findlinestarts(code) if start[0] <= self.offset]
        self.line: int = max(starts)[1]
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


def is_generator(code: Any) -> bool:
    """Whether pydevd sees no call of it."""
    return bool(code.co_flags & _GENERATOR_FLAGS)


def list_generators(file: str) -> List[Any]:
    """The code objects of all generators and coroutines in a source file."""
    try:
        with io.open_code(file) as opened, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the program gets its own when it loads the file
            module = compile(opened.read(), file, "exec", dont_inherit=True)
    except (OSError, SyntaxError, ValueError, RecursionError):
        return []
    return [code for code, _name in walk_functions(module) if is_generator(code)]


def _find_first_offset(code: Any) -> int:
    """Past what only creates the generator: GEN_START in 3.10, all up to RESUME in 3.11."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("GEN_START", "RESUME"):
            return instruction.offset + 2
    return 0
