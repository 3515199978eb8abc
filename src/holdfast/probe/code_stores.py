"""Where a code object stores a name, by the offsets of its instructions."""

from __future__ import annotations

import dis
import functools
import types
from typing import Any, Dict, FrozenSet, Iterator, List, Optional, Tuple

_LOCAL_STORES = ("STORE_FAST", "DELETE_FAST", "STORE_DEREF", "DELETE_DEREF")
_GLOBAL_STORES = ("STORE_GLOBAL", "DELETE_GLOBAL", "STORE_NAME", "DELETE_NAME")
_CLEARS = "LOAD_FAST_AND_CLEAR"

Range = Tuple[int, int]  # the first offset of a part of the code, and the one after its last
Ranges = Tuple[Range, ...]


def _names_of(instruction: Any) -> Tuple[Any, ...]:
    """The names that an instruction is about; some of them store two."""
    value = instruction.argval
    return value if isinstance(value, tuple) else (value,)


def _stored_names(instruction: Any) -> Tuple[Any, ...]:
    name, names = instruction.opname, _names_of(instruction)
    if name == "STORE_FAST_LOAD_FAST":
        return names[:1]
    return names if name.startswith(_LOCAL_STORES) else ()


@functools.lru_cache(maxsize=1000)
def find_shadows(code: Any, name: Optional[str] = None) -> Ranges:
    """Where a comprehension, inlined from 3.12 on, uses the place of a local for its own variable.

    Without a name: where any does. The last instruction in a range restores the local.
    """
    instructions = list(dis.get_instructions(code))
    ranges: List[Range] = []
    for index, instruction in enumerate(instructions):
        if instruction.opname != _CLEARS:
            continue
        if name is None or instruction.argval == name:
            ranges.append((instruction.offset, _find_end(instructions, index)))
    return tuple(ranges)


def _find_end(instructions: List[Any], index: int) -> int:
    """The offset after the store that restores a local which a comprehension has cleared."""
    name = instructions[index].argval
    end = 0
    for number, instruction in enumerate(instructions[index:], index):
        if not end:
            if instruction.opname == "FOR_ITER":
                end = instruction.argval
            elif instruction.opname == "END_ASYNC_FOR":
                end = instruction.offset
        elif instruction.offset >= end and name in _stored_names(instruction):
            following = instructions[number + 1]  # at least a return
            if following.opname != "RERAISE":
                return int(following.offset)
    return int(instructions[-1].offset) + 2


def is_inside(ranges: Ranges, offset: int) -> bool:
    return any(first <= offset < last for first, last in ranges)


@functools.lru_cache(maxsize=1000)
def find_local_stores(code: Any, name: str) -> Dict[int, int]:
    """The offset of each store to a local or a cell, by that of the instruction after it."""
    shadows = find_shadows(code, name)
    found: Dict[int, int] = {}
    instructions = list(dis.get_instructions(code))
    for instruction, following in zip(instructions, instructions[1:]):
        if name not in _stored_names(instruction) or is_inside(shadows, instruction.offset):
            continue
        if following.opname == "RERAISE" and shadows:
            continue  # restores it after a comprehension has raised
        found[following.offset] = instruction.offset
    return found


@functools.lru_cache(maxsize=1000)
def find_jump_targets(code: Any) -> FrozenSet[int]:
    """The offsets that can be reached without running the instruction before them."""
    return frozenset(each.offset for each in dis.get_instructions(code) if each.is_jump_target)


@functools.lru_cache(maxsize=1000)
def map_following(code: Any) -> Dict[int, int]:
    """The offset of the next instruction, by the offset of each."""
    offsets = [instruction.offset for instruction in dis.get_instructions(code)]
    return dict(zip(offsets, offsets[1:]))


def find_line(code: Any, offset: int) -> Optional[int]:
    """The line of the instruction at an offset; from 3.10 on."""
    for first, last, line in code.co_lines():
        if first <= offset < last:
            return int(line) if line is not None else None
    return None


@functools.lru_cache(maxsize=10_000)
def stores_global(code: Any, name: str) -> bool:
    if name not in code.co_names:
        return False
    return any(
        instruction.opname in _GLOBAL_STORES and instruction.argval == name
        for instruction in dis.get_instructions(code)
    )


def iter_nested(code: Any) -> Iterator[Any]:
    """The code of functions defined in a function, at any depth."""
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield const
            yield from iter_nested(const)
