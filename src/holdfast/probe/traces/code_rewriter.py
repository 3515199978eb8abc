"""Rewrites a function of Python 3.9 to 3.11 so that it tells of its own life.

`sys.settrace` makes every call of a thread pay, and cannot be shared with coverage or a debugger.
So the code object of the chosen function becomes, in memory only:

    is it armed, and is this invocation picked?
        yes: the body with hooks at line starts, around calls, before returns; and around all of it
        no:  the body as it was

Names, lines, defaults, closures and tracebacks stay as they are.
"""

from __future__ import annotations

import dis
from typing import Any, Callable, Dict, List, NamedTuple, Tuple

from .call_sites import CallSite, find_call_sites
from .code_assembly import VERSION, Handler, Instruction, Position, assemble, disassemble
from .line_starts import BLOCKS, IS_311, FirstOffsets, LineStarts

_OPS = dis.opmap
_GENERATOR_FLAGS = 0x2A0
_MAX_BLOCKS = 19  # nested ones before 3.11; the interpreter has room for 20
_MAX_ARGUMENTS = 8  # of a call that are looked at
_YIELD = 1  # in the argument of RESUME: after a `yield`


class Switch(list):  # type: ignore[type-arg]
    """A constant of a code object that is true or false; as hashable as others must be."""

    __hash__ = object.__hash__  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return self is other

    def set(self, is_on: bool) -> None:
        self[:] = (True,) if is_on else ()


class Hooks(NamedTuple):
    """The functions that rewritten code calls."""

    enter: Callable[[], Any]
    """Whether this invocation is recorded."""
    line: Callable[[int], Any]
    arrive: Callable[[int], Any]
    """As `line`, where an exception leads to, so that the line may have begun already."""
    caught: Callable[[int, Any], Any]
    """As `arrive` in 3.9, which begins a line anew unless its first instruction has raised."""
    returned: Callable[[Any], Any]
    raised: Callable[[], Any]
    yielded: Callable[[Any], Any]
    call: Callable[..., Any]
    """Takes the call site, what is called or its object, and the arguments."""
    call_tuple: Callable[[Any, Any, Any], Any]
    """As `call`, with the arguments as a tuple; returns that in reverse."""
    result: Callable[[Any], Any]


class Switches(NamedTuple):
    """What turns parts of rewritten code on and off."""

    armed: Switch
    calls: Switch
    lines: Dict[int, Switch]


class CannotRewrite(Exception):
    """This code cannot be rewritten."""


def rewrite(code: Any, hooks: Hooks) -> Tuple[Any, Switches]:
    """The code object with hooks in it, and what turns them on and off."""
    return _Rewriter(code, hooks).rewrite()


def is_rewritten(code: Any) -> bool:
    """Whether it has hooks in it already, of a recording that has ended."""
    return any(type(const) is Switch for const in code.co_consts)


class _Rewriter:
    def __init__(self, code: Any, hooks: Hooks) -> None:
        self.code = code
        self.hooks = hooks
        self.consts = list(code.co_consts)
        self.switches = Switches(Switch([True]), Switch([True]), {})
        self.more_stack = 8
        self._begins: Dict[Instruction, Instruction] = {}
        self._tellers: Dict[Instruction, Instruction] = {}  # where its line is told
        self._behind: Dict[Instruction, Instruction] = {}  # where it is told already
        self._body: List[Instruction] = []
        self._first_offsets = FirstOffsets()

    def rewrite(self) -> Tuple[Any, Switches]:
        plain, hooked = disassemble(self.code), disassemble(self.code)
        count = _count_prologue(self.code, plain)
        prologue, plain = plain[:count], plain[count:]
        hooked = hooked[count:]
        if not IS_311 and sum(one.op in BLOCKS for one in hooked) >= _MAX_BLOCKS:
            raise CannotRewrite("there are too many nested blocks")
        end = self._build_end(hooked)
        self._add_hooks(hooked, end[0])
        body = [*prologue, *self._build_beginning(hooked[0].position, plain[0], end[0])]
        body += self._body + end
        if VERSION == (3, 9):
            # For other tracers the plain code must not begin a line that has begun already.
            body.append(self._make("NOP", 0, plain[0].position))
        body += plain
        made = assemble(self.code, body, tuple(self.consts), self.more_stack)
        if VERSION == (3, 9):
            self._first_offsets.fill(hooked)
        return made, self.switches

    # -- parts ------------------------------------------------------------------------------------

    def _make(
        self, name: str, arg: int = 0, position: Position = None, target: Any = None
    ) -> Instruction:
        return Instruction(_OPS[name], arg, position, target)

    def _const(self, value: Any) -> int:
        for index in range(len(self.code.co_consts), len(self.consts)):
            if self.consts[index] is value:
                return index
        self.consts.append(value)
        return len(self.consts) - 1

    def _load(self, value: Any, position: Position) -> Instruction:
        return self._make("LOAD_CONST", self._const(value), position)

    def _call(self, hook: Any, position: Position, *values: Any) -> List[Instruction]:
        """`hook(*values)`; the result stays on the stack."""
        made = [self._make("PUSH_NULL", 0, position)] if IS_311 else []
        made += [self._load(hook, position)]
        made += [self._load(value, position) for value in values]
        return made + self._finish_call(len(values), position)

    def _finish_call(self, count: int, position: Position) -> List[Instruction]:
        if IS_311:
            return [self._make("PRECALL", count, position), self._make("CALL", count, position)]
        return [self._make("CALL_FUNCTION", count, position)]

    def _call_with_top(self, hook: Any, position: Position) -> List[Instruction]:
        """`hook(value)` of the value on top of the stack, which stays there."""
        if IS_311:
            made = [self._make("PUSH_NULL", 0, position), self._load(hook, position)]
            made.append(self._make("COPY", 3, position))
        else:
            made = [self._make("DUP_TOP", 0, position), self._load(hook, position)]
            made.append(self._make("ROT_TWO", 0, position))
        return [*made, *self._finish_call(1, position), self._make("POP_TOP", 0, position)]

    def _jump_if_false(self, position: Position, target: Instruction) -> Instruction:
        name = "POP_JUMP_FORWARD_IF_FALSE" if IS_311 else "POP_JUMP_IF_FALSE"
        return self._make(name, 0, position, target)

    def _build_beginning(
        self, position: Position, plain: Instruction, handler: Instruction
    ) -> List[Instruction]:
        made = [self._load(self.switches.armed, position), self._jump_if_false(position, plain)]
        made += self._call(self.hooks.enter, position)
        made.append(self._jump_if_false(position, plain))
        if not IS_311:
            made.append(self._make("SETUP_FINALLY", 0, position, handler))
        return made

    def _build_end(self, hooked: List[Instruction]) -> List[Instruction]:
        """What runs when an exception leaves the function: it tells, and raises it again."""
        if IS_311:
            position: Position = (None,) * 4  # so that other tracers see no line
            made = [self._make("PUSH_EXC_INFO", 0, position)]
        else:
            position = None if VERSION == (3, 10) else hooked[-1].position
            made = [self._make("NOP", 0, position)]
        made += self._call(self.hooks.raised, position)
        made.append(self._make("POP_TOP", 0, position))
        if IS_311:  # on the stack: the place, the exception before, this one
            made += [self._make("SWAP", 2, position), self._make("POP_EXCEPT", 0, position)]
            return [*made, self._make("RERAISE", 1, position)]
        return [*made, self._make("RERAISE", 1 if VERSION == (3, 10) else 0, position)]

    # -- the body ---------------------------------------------------------------------------------

    def _add_hooks(self, hooked: List[Instruction], around: Instruction) -> None:
        lines = LineStarts(hooked)
        sites = find_call_sites(self.code, hooked)
        for index, instruction in enumerate(hooked):
            before = self._build_line_hooks(instruction, lines)
            if instruction in sites.begins:
                before += self._build_call_hook(instruction, *sites.begins[instruction])
            if instruction in sites.stars:
                before += self._build_star_hook(instruction, sites.stars[instruction])
            before += self._build_value_hooks(hooked, index)
            after: List[Instruction] = []
            if instruction in sites.ends:
                after = self._guard_by(
                    self.switches.calls,
                    self._call_with_top(self.hooks.result, instruction.position),
                    instruction.position,
                )
            for added in (*before, *after):
                added.handler = instruction.handler
            self._body += [*before, instruction, *after]
            self._begins[instruction] = before[0] if before else instruction
        self._redirect(around, lines)

    def _redirect(self, around: Instruction, lines: LineStarts) -> None:
        """Let jumps and handlers lead to the hooks of their targets."""
        for instruction in self._body:
            target = instruction.target
            if target is not None and instruction in self._begins:
                places = self._tellers if instruction in lines.told_jumps else self._behind
                instruction.target = places.get(target, self._begins[target])
            handler = instruction.handler
            if handler is not None:
                instruction.handler = handler._replace(target=self._begins[handler.target])
            elif IS_311:
                instruction.handler = Handler(around, 0, True)

    def _build_line_hooks(self, instruction: Instruction, lines: LineStarts) -> List[Instruction]:
        """What tells of the line here; jumps that begin no line lead behind it."""
        number, position = instruction.line, instruction.position
        if number is None:
            return []
        if instruction in lines.handlers:
            return self._tell_handler(instruction, number, lines)
        is_start = instruction in lines.starts
        if not is_start and instruction not in lines.arrivals:
            return []
        end = self._make("NOP", 0, position)
        self._behind[instruction] = end
        told = self._tell_line(self.hooks.line, number, position)
        self._tellers[instruction] = told[0]
        if is_start:
            return [*told, end]
        return [self._make("JUMP_FORWARD", 0, position, end), *told, end]

    def _tell_handler(
        self, instruction: Instruction, number: int, lines: LineStarts
    ) -> List[Instruction]:
        if VERSION == (3, 9) and instruction in lines.starts:
            return self._tell_line(self.hooks.line, number, instruction.position)
        if VERSION == (3, 9):
            return self._tell_line(
                self.hooks.caught, number, instruction.position, self._first_offsets
            )
        return self._tell_line(self.hooks.arrive, number, instruction.position)

    def _tell_line(
        self, hook: Any, number: int, position: Position, *more: Any
    ) -> List[Instruction]:
        switch = self.switches.lines.setdefault(number, Switch([True]))
        told = [*self._call(hook, position, number, *more), self._make("POP_TOP", 0, position)]
        return self._guard_by(switch, told, position)

    def _guard_by(
        self, switch: Switch, made: List[Instruction], position: Position
    ) -> List[Instruction]:
        """The same instructions, passed over while the switch is off."""
        end = self._make("NOP", 0, position)
        return [self._load(switch, position), self._jump_if_false(position, end), *made, end]

    def _build_value_hooks(self, hooked: List[Instruction], index: int) -> List[Instruction]:
        instruction = hooked[index]
        if instruction.op == _OPS["RETURN_VALUE"]:
            made = self._call_with_top(self.hooks.returned, instruction.position)
            if not IS_311:
                made.append(self._make("POP_BLOCK", 0, instruction.position))
            return made
        if _is_yield(hooked, index):
            return self._call_with_top(self.hooks.yielded, instruction.position)
        return []

    # -- calls ------------------------------------------------------------------------------------

    def _build_call_hook(
        self, instruction: Instruction, site: CallSite, count: int
    ) -> List[Instruction]:
        """Tell of a call, with its arguments on the stack. Below them is what is called."""
        position = instruction.position
        if IS_311:
            shown = min(count, _MAX_ARGUMENTS)
            positional = count - len(site.keywords)
            site = CallSite(site.method, site.keywords[: max(0, shown - positional)])
            made = [self._make("PUSH_NULL", 0, position), self._load(self.hooks.call, position)]
            made.append(self._load(site, position))
            made += [self._make("COPY", count + 4, position) for _ in range(shown + 1)]
            made += self._finish_call(shown + 2, position)
            made.append(self._make("POP_TOP", 0, position))
            self.more_stack = max(self.more_stack, shown + 10)
        else:
            made = [
                self._make("BUILD_TUPLE", count, position),
                self._make("DUP_TOP_TWO", 0, position),
                self._load(self.hooks.call_tuple, position),
                self._make("ROT_THREE", 0, position),
                self._load(site, position),
                self._make("CALL_FUNCTION", 3, position),
                self._make("ROT_TWO", 0, position),
                self._make("POP_TOP", 0, position),
                self._make("UNPACK_SEQUENCE", count, position),
            ]
        return self._guard_by(self.switches.calls, made, position)

    def _build_star_hook(self, instruction: Instruction, site: CallSite) -> List[Instruction]:
        """Tell of a call as `f(*args)`; with `**kwargs` before 3.11 only that it is made."""
        position, has_keywords = instruction.position, instruction.arg & 1
        hook = self._load(self.hooks.call_tuple, position)
        if IS_311:
            made = [self._make("PUSH_NULL", 0, position), hook]
            made += [self._make("COPY", 4 + has_keywords, position) for _ in range(2)]
        elif has_keywords:
            return []
        else:
            made = [self._make("DUP_TOP_TWO", 0, position), hook]
            made.append(self._make("ROT_THREE", 0, position))
        made += [self._load(site, position), *self._finish_call(3, position)]
        made.append(self._make("POP_TOP", 0, position))
        return self._guard_by(self.switches.calls, made, position)


def _is_yield(body: List[Instruction], index: int) -> bool:
    """Whether a value on top of the stack is about to be yielded by a statement."""
    name = dis.opname[body[index].op]
    if name == "ASYNC_GEN_WRAP":
        return True
    if name != "YIELD_VALUE":
        return False
    if not IS_311:
        return True
    if dis.opname[body[index - 1].op] == "ASYNC_GEN_WRAP":
        return False
    following = body[index + 1]
    return dis.opname[following.op] == "RESUME" and following.arg & 3 == _YIELD


def _count_prologue(code: Any, body: List[Instruction]) -> int:
    """How many instructions come before the first that a hook may precede."""
    if IS_311:
        resume = _OPS["RESUME"]
        return next(i for i, instruction in enumerate(body) if instruction.op == resume) + 1
    if VERSION == (3, 10) and code.co_flags & _GENERATOR_FLAGS:
        return 1  # GEN_START
    return 0
