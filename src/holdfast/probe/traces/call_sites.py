"""Where code of Python 3.9 to 3.11 calls functions, with the arguments on the stack."""

from __future__ import annotations

import dis
from typing import Any, Dict, List, Optional, Set, Tuple

from .code_assembly import Instruction
from .line_starts import IS_311, NEVER_FALLS

_CALLS = frozenset(
    dis.opmap.get(name) for name in "CALL_FUNCTION CALL_METHOD CALL_FUNCTION_KW".split()
)


class CallSite:
    """What is known of a call before it is made."""

    __slots__ = ("keywords", "method")

    def __init__(self, method: Optional[str], keywords: Tuple[str, ...]) -> None:
        self.method = method  # the name of the attribute that is called
        self.keywords = keywords


class CallSites:
    def __init__(self) -> None:
        self.begins: Dict[Instruction, Tuple[CallSite, int]] = {}
        """By the instruction before which the arguments are on the stack."""
        self.stars: Dict[Instruction, CallSite] = {}
        """Calls as `f(*args, **kwargs)`."""
        self.ends: Set[Instruction] = set()


def find_call_sites(code: Any, body: List[Instruction]) -> CallSites:
    found = CallSites()
    for index, instruction in enumerate(body):
        name = dis.opname[instruction.op]
        if name == "CALL_FUNCTION_EX":
            found.stars[instruction] = CallSite(None, ())
            found.ends.add(instruction)
        if name == "CALL" and IS_311:
            first = index - 1  # PRECALL
            keywords: Tuple[str, ...] = ()
            if dis.opname[body[first - 1].op] == "KW_NAMES":
                first -= 1
                keywords = code.co_consts[body[first].arg]
            found.begins[body[first]] = (
                CallSite(_find_method(code, body, first, instruction.arg), keywords),
                instruction.arg,
            )
            found.ends.add(instruction)
        elif instruction.op in _CALLS and not IS_311:
            first, keywords = index, ()
            if name == "CALL_FUNCTION_KW":
                first -= 1
                keywords = code.co_consts[body[first].arg]
            method = _find_method(code, body, first, instruction.arg)
            found.begins[body[first]] = (CallSite(method, keywords), instruction.arg)
            found.ends.add(instruction)
    return found


def _find_method(code: Any, body: List[Instruction], end: int, count: int) -> Optional[str]:
    """The name of the method that is called here, if it is one.

    The nearest LOAD_METHOD whose value lies below the arguments, by the effects on the stack. A
    jump between the two (a conditional argument) makes it unknown.
    """
    depth = count  # of values between here and what is called
    for index in range(end - 1, -1, -1):
        instruction = body[index]
        if instruction.target is not None or instruction.op in NEVER_FALLS:
            return None
        effect = dis.stack_effect(
            instruction.op, instruction.arg if instruction.op >= dis.HAVE_ARGUMENT else None
        )
        name = dis.opname[instruction.op]
        if name == "LOAD_METHOD" and depth == 0:
            return str(code.co_names[instruction.arg])
        depth -= effect
        if depth < 0:
            return None
    return None
