"""Takes code objects of Python 3.9 to 3.11 apart, and puts them together again.

Between the two, instructions refer to one another and not to offsets, so that others can be
inserted. Lines, columns and exception handlers stay with the instructions that they belong to.
"""

from __future__ import annotations

import dis
import opcode
import sys
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

VERSION = sys.version_info[:2]
_ABSOLUTE, _RELATIVE = frozenset(opcode.hasjabs), frozenset(opcode.hasjrel)
_CACHES: Any = getattr(opcode, "_inline_cache_entries", [0] * 256)
_UNIT = 1 if VERSION == (3, 9) else 2  # jumps count bytes in 3.9, and instructions later
_BACKWARD = frozenset(code for name, code in dis.opmap.items() if "BACKWARD" in name)

Position = Any  # a line, or from 3.11 on (line, end line, column, end column); None for none


class Handler(NamedTuple):
    """Where an exception of an instruction goes, from 3.11 on."""

    target: Instruction
    depth: int
    keeps_place: bool


class Instruction:
    """One instruction; `target` is the one that it may jump to."""

    __slots__ = ("arg", "handler", "offset", "op", "position", "size", "target")

    def __init__(
        self,
        op: int,
        arg: int = 0,
        position: Position = None,
        target: Optional[Instruction] = None,
    ) -> None:
        self.op = op
        self.arg = arg
        self.position = position
        self.target = target
        self.handler: Optional[Handler] = None
        self.offset = self.size = 0

    @property
    def line(self) -> Optional[int]:
        position = self.position
        line: Optional[int] = position[0] if type(position) is tuple else position
        return line

    def measure(self) -> int:
        """Its size in bytes, with the prefixes and the caches that belong to it."""
        return 2 + _count_prefixes(self.arg) * 2 + 2 * int(_CACHES[self.op])


def _count_prefixes(arg: int) -> int:
    return 3 if arg > 0xFFFFFF else 2 if arg > 0xFFFF else 1 if arg > 0xFF else 0


# -- taking apart ---------------------------------------------------------------------------------


def disassemble(code: Any) -> List[Instruction]:
    """The instructions of a code object."""
    raw = code.co_code
    body: List[Instruction] = []
    by_offset: Dict[int, Instruction] = {}
    targets: Dict[Instruction, int] = {}
    at, start, arg = 0, 0, 0
    while at < len(raw):
        op, arg = raw[at], (arg << 8) | raw[at + 1]
        at += 2
        if op == dis.EXTENDED_ARG:
            continue
        instruction = Instruction(op, arg)
        instruction.offset = start
        at += 2 * int(_CACHES[op])
        if op in _ABSOLUTE:
            targets[instruction] = arg * _UNIT
        elif op in _RELATIVE:
            targets[instruction] = at - arg * _UNIT if op in _BACKWARD else at + arg * _UNIT
        by_offset[start] = instruction
        body.append(instruction)
        start, arg = at, 0
    for instruction, offset in targets.items():
        instruction.target = by_offset[offset]
    _add_positions(code, body)
    if VERSION >= (3, 11):
        _add_handlers(code, body, by_offset)
    return body


def _add_positions(code: Any, body: List[Instruction]) -> None:
    if VERSION >= (3, 11):
        positions = list(code.co_positions())
        for instruction in body:
            unit = instruction.offset // 2 + _count_prefixes(instruction.arg)
            instruction.position = positions[unit]
        return
    if VERSION == (3, 10):
        starts = {start: line for start, _end, line in code.co_lines()}
    else:
        starts = dict(dis.findlinestarts(code))
    line: Optional[int] = None
    for instruction in body:
        end = instruction.offset + 2 + 2 * _count_prefixes(instruction.arg)
        for offset in range(instruction.offset, end, 2):
            if offset in starts:
                line = starts[offset]
        instruction.position = line


def _add_handlers(code: Any, body: List[Instruction], by_offset: Dict[int, Instruction]) -> None:
    entries = dis._parse_exception_table(code)  # type: ignore[attr-defined]
    for entry in entries:
        handler = Handler(by_offset[entry.target], entry.depth, entry.lasti)
        for instruction in body:
            if entry.start <= instruction.offset < entry.end:
                instruction.handler = handler


# -- putting together -----------------------------------------------------------------------------


def assemble(code: Any, body: List[Instruction], consts: Tuple[Any, ...], more_stack: int) -> Any:
    """The code object with these instructions in place of its own."""
    _lay_out(body)
    raw = bytearray()
    for instruction in body:
        caches = int(_CACHES[instruction.op])
        prefixes = (instruction.size - 2 - 2 * caches) // 2
        for place in range(prefixes, 0, -1):
            raw += bytes((dis.EXTENDED_ARG, (instruction.arg >> (8 * place)) & 0xFF))
        raw += bytes((instruction.op, instruction.arg & 0xFF)) + b"\0\0" * caches
    changed: Dict[str, Any] = {
        "co_code": bytes(raw),
        "co_consts": consts,
        "co_stacksize": code.co_stacksize + more_stack,
    }
    if VERSION >= (3, 11):
        changed["co_linetable"] = _build_positions(code.co_firstlineno, body)
        changed["co_exceptiontable"] = _build_handlers(body)
    elif VERSION == (3, 10):
        changed["co_linetable"] = _build_line_table(code.co_firstlineno, body, len(raw))
    else:
        changed["co_lnotab"] = _build_line_steps(code.co_firstlineno, body)
    return code.replace(**changed)


def _lay_out(body: List[Instruction]) -> None:
    """Give all an offset, again and again until no jump needs another prefix."""
    for instruction in body:
        instruction.size = instruction.measure()
    has_grown = True
    while has_grown:
        at = 0
        for instruction in body:
            instruction.offset = at
            at += instruction.size
        has_grown = False
        for instruction in body:
            if instruction.target is not None:
                instruction.arg = _find_distance(instruction)
                if instruction.measure() > instruction.size:
                    instruction.size = instruction.measure()
                    has_grown = True


def _find_distance(jump: Instruction) -> int:
    assert jump.target is not None
    end = jump.offset + jump.size
    if jump.op in _ABSOLUTE:
        return jump.target.offset // _UNIT
    distance = end - jump.target.offset if jump.op in _BACKWARD else jump.target.offset - end
    if distance < 0:
        raise ValueError("%s in the wrong direction" % dis.opname[jump.op])
    return distance // _UNIT


# -- tables of 3.11 -------------------------------------------------------------------------------


def _encode_number(number: int) -> bytes:
    digits = bytearray()
    while number >= 64:
        digits.append(64 | (number & 63))
        number >>= 6
    digits.append(number)
    return bytes(digits)


def _encode_signed(number: int) -> bytes:
    return _encode_number((-number << 1) | 1 if number < 0 else number << 1)


def _build_positions(first_line: int, body: List[Instruction]) -> bytes:
    table, line = bytearray(), first_line
    for instruction in body:
        start, end, column, end_column = instruction.position or (None,) * 4
        left = instruction.size // 2
        while left > 0:
            length = min(left, 8)
            left -= length
            if start is None:
                table.append(0x80 | (15 << 3) | (length - 1))
                continue
            if end is None or column is None or end_column is None or end < start:
                table.append(0x80 | (13 << 3) | (length - 1))
                table += _encode_signed(start - line)
            else:
                table.append(0x80 | (14 << 3) | (length - 1))
                table += _encode_signed(start - line) + _encode_number(end - start)
                table += _encode_number(column + 1) + _encode_number(end_column + 1)
            line = start
    return bytes(table)


def _build_handlers(body: List[Instruction]) -> bytes:
    """Ranges of instructions with one handler; numbers of six bits, the highest first."""
    table = bytearray()
    index = 0
    while index < len(body):
        handler, end = body[index].handler, index
        while end + 1 < len(body) and body[end + 1].handler == handler:
            end += 1
        if handler is not None:
            start = body[index].offset // 2
            length = (body[end].offset + body[end].size) // 2 - start
            mark = (handler.depth << 1) | bool(handler.keeps_place)
            for place, number in enumerate((start, length, handler.target.offset // 2, mark)):
                digits = bytearray(reversed(_encode_number(number)))
                digits = bytearray(_mark_digits(digits))
                if place == 0:
                    digits[0] |= 128
                table += digits
        index = end + 1
    return bytes(table)


def _mark_digits(digits: bytearray) -> bytearray:
    """All but the last digit say that another one follows."""
    return bytearray([*(64 | (digit & 63) for digit in digits[:-1]), digits[-1] & 63])


# -- tables of 3.9 and 3.10 -----------------------------------------------------------------------


def _build_line_table(first_line: int, body: List[Instruction], length: int) -> bytes:
    """3.10: sizes of ranges of code, and steps between their lines; 128 for no line."""
    ranges: List[Tuple[int, Any]] = []
    for instruction in body:
        if not ranges or ranges[-1][1] != instruction.position:
            ranges.append((instruction.offset, instruction.position))
    ranges.append((length, None))
    table, line = bytearray(), first_line
    for (start, here), (end, _next) in zip(ranges, ranges[1:]):
        size = end - start
        step = 0
        if here is not None:
            step, line = here - line, here
        while step > 127 or step < -127:
            part = 127 if step > 0 else -127
            table += bytes((0, part & 0xFF))
            step -= part
        while size > 0:
            part = min(size, 254)
            table += bytes((part, 128 if here is None else step & 0xFF))
            size, step = size - part, 0
    return bytes(table)


def _build_line_steps(first_line: int, body: List[Instruction]) -> bytes:
    """3.9: steps in code and steps in lines."""
    table, line, at = bytearray(), first_line, 0
    for instruction in body:
        if instruction.position is None or instruction.position == line:
            continue
        gap, step = instruction.offset - at, instruction.position - line
        while gap > 255:
            table += bytes((255, 0))
            gap -= 255
        while step > 127 or step < -128:
            part = 127 if step > 0 else -128
            table += bytes((gap, part & 0xFF))
            gap, step = 0, step - part
        table += bytes((gap, step & 0xFF))
        at, line = instruction.offset, instruction.position
    return bytes(table)
