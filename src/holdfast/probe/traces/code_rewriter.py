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
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Set, Tuple

from .code_assembly import VERSION, Handler, Instruction, Position, assemble, disassemble

_OPS = dis.opmap
_IS_311 = VERSION >= (3, 11)
_GENERATOR_FLAGS = 0x2A0
_MAX_BLOCKS = 19  # nested ones before 3.11; the interpreter has room for 20
_MAX_ARGUMENTS = 8  # of a call that are looked at
_NEVER_FALLS = frozenset(
    _OPS.get(name)
    for name in (
        "RETURN_VALUE RAISE_VARARGS RERAISE JUMP_FORWARD JUMP_ABSOLUTE JUMP_BACKWARD "
        "JUMP_BACKWARD_NO_INTERRUPT"
    ).split()
) - {None}
_CALLS = frozenset(_OPS.get(n) for n in "CALL_FUNCTION CALL_METHOD CALL_FUNCTION_KW".split())
_BLOCKS = frozenset(_OPS.get(n) for n in "SETUP_FINALLY SETUP_WITH SETUP_ASYNC_WITH".split())
_AWAIT_AGAIN = _OPS.get("JUMP_BACKWARD_NO_INTERRUPT")  # the same `await` goes on
_YIELD = 1  # in the argument of RESUME: after a `yield`


class Switch(list):  # type: ignore[type-arg]
    """A constant of a code object that is true or false; as hashable as others must be."""

    __hash__ = object.__hash__  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return self is other

    def set(self, is_on: bool) -> None:
        self[:] = (True,) if is_on else ()


class CallSite:
    """What is known of a call before it is made."""

    __slots__ = ("keywords", "method")

    def __init__(self, method: Optional[str], keywords: Tuple[str, ...]) -> None:
        self.method = method  # the name of the attribute that is called
        self.keywords = keywords


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
        self._first_offsets: Set[int] = FirstOffsets()

    def rewrite(self) -> Tuple[Any, Switches]:
        plain, hooked = disassemble(self.code), disassemble(self.code)
        count = _count_prologue(self.code, plain)
        prologue, plain = plain[:count], plain[count:]
        hooked = hooked[count:]
        if not _IS_311 and sum(one.op in _BLOCKS for one in hooked) >= _MAX_BLOCKS:
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
            self._first_offsets.update(one.offset for one in _list_firsts(hooked))
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
        made = [self._make("PUSH_NULL", 0, position)] if _IS_311 else []
        made += [self._load(hook, position)]
        made += [self._load(value, position) for value in values]
        return made + self._finish_call(len(values), position)

    def _finish_call(self, count: int, position: Position) -> List[Instruction]:
        if _IS_311:
            return [self._make("PRECALL", count, position), self._make("CALL", count, position)]
        return [self._make("CALL_FUNCTION", count, position)]

    def _call_with_top(self, hook: Any, position: Position) -> List[Instruction]:
        """`hook(value)` of the value on top of the stack, which stays there."""
        if _IS_311:
            made = [self._make("PUSH_NULL", 0, position), self._load(hook, position)]
            made.append(self._make("COPY", 3, position))
        else:
            made = [self._make("DUP_TOP", 0, position), self._load(hook, position)]
            made.append(self._make("ROT_TWO", 0, position))
        return [*made, *self._finish_call(1, position), self._make("POP_TOP", 0, position)]

    def _jump_if_false(self, position: Position, target: Instruction) -> Instruction:
        name = "POP_JUMP_FORWARD_IF_FALSE" if _IS_311 else "POP_JUMP_IF_FALSE"
        return self._make(name, 0, position, target)

    def _build_beginning(
        self, position: Position, plain: Instruction, handler: Instruction
    ) -> List[Instruction]:
        made = [self._load(self.switches.armed, position), self._jump_if_false(position, plain)]
        made += self._call(self.hooks.enter, position)
        made.append(self._jump_if_false(position, plain))
        if not _IS_311:
            made.append(self._make("SETUP_FINALLY", 0, position, handler))
        return made

    def _build_end(self, hooked: List[Instruction]) -> List[Instruction]:
        """What runs when an exception leaves the function: it tells, and raises it again."""
        if _IS_311:
            position: Position = (None,) * 4  # so that other tracers see no line
            made = [self._make("PUSH_EXC_INFO", 0, position)]
        else:
            position = None if VERSION == (3, 10) else hooked[-1].position
            made = [self._make("NOP", 0, position)]
        made += self._call(self.hooks.raised, position)
        made.append(self._make("POP_TOP", 0, position))
        if _IS_311:  # on the stack: the place, the exception before, this one
            made += [self._make("SWAP", 2, position), self._make("POP_EXCEPT", 0, position)]
            return [*made, self._make("RERAISE", 1, position)]
        return [*made, self._make("RERAISE", 1 if VERSION == (3, 10) else 0, position)]

    # -- the body ---------------------------------------------------------------------------------

    def _add_hooks(self, hooked: List[Instruction], around: Instruction) -> None:
        lines = LineStarts(hooked)
        sites = _find_call_sites(self.code, hooked)
        for index, instruction in enumerate(hooked):
            before = self._build_line_hooks(instruction, lines)
            if instruction in sites.begins:
                before += self._build_call_hook(instruction, *sites.begins[instruction])
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
            elif _IS_311:
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
            if not _IS_311:
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
        if _IS_311:
            shown = min(count, _MAX_ARGUMENTS)
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


class FirstOffsets(Set[int]):
    """A constant of a code object, as hashable as others must be."""

    __hash__ = object.__hash__  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return self is other


def _list_firsts(body: List[Instruction]) -> Iterator[Instruction]:
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
            if jump.target is not None and jump.op not in _BLOCKS:
                self._add_jump(jump, jump.target, order[jump.target] <= order[jump])

    def _find_starts(self, body: List[Instruction]) -> None:
        before: Optional[Instruction] = None
        for instruction in body:
            # 3.9 goes by the table of lines alone, later ones by what ran before.
            falls = before is None or before.op not in _NEVER_FALLS or VERSION == (3, 9)
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
        if not _IS_311:
            found = [one.target for one in body if one.op in _BLOCKS]
            self.handlers = {target for target in found if target is not None}
            return
        # A handler begins with PUSH_EXC_INFO; only then is the exception the current one.
        targets = {one.handler.target for one in body if one.handler is not None}
        for handler, following in zip(body, body[1:]):
            if handler in targets:
                self.starts.discard(handler)
                if following.line == handler.line:
                    self.handlers.add(following)


class _CallSites:
    def __init__(self) -> None:
        self.begins: Dict[Instruction, Tuple[CallSite, int]] = {}
        """By the instruction before which the arguments are on the stack."""
        self.ends: Set[Instruction] = set()


def _find_call_sites(code: Any, body: List[Instruction]) -> _CallSites:
    found = _CallSites()
    for index, instruction in enumerate(body):
        name = dis.opname[instruction.op]
        if name == "CALL" and _IS_311:
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
        elif instruction.op in _CALLS and not _IS_311:
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
        if instruction.target is not None or instruction.op in _NEVER_FALLS:
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


def _is_yield(body: List[Instruction], index: int) -> bool:
    """Whether a value on top of the stack is about to be yielded by a statement."""
    name = dis.opname[body[index].op]
    if name == "ASYNC_GEN_WRAP":
        return True
    if name != "YIELD_VALUE":
        return False
    if not _IS_311:
        return True
    if dis.opname[body[index - 1].op] == "ASYNC_GEN_WRAP":
        return False
    following = body[index + 1]
    return dis.opname[following.op] == "RESUME" and following.arg & 3 == _YIELD


def _count_prologue(code: Any, body: List[Instruction]) -> int:
    """How many instructions come before the first that a hook may precede."""
    if _IS_311:
        resume = _OPS["RESUME"]
        return next(i for i, instruction in enumerate(body) if instruction.op == resume) + 1
    if VERSION == (3, 10) and code.co_flags & _GENERATOR_FLAGS:
        return 1  # GEN_START
    return 0
