"""What can be known of a function before it runs: found once for each code object.

For each statement: the names that it may bind, whether it may change an object in place, and which
names it reads. For the function: its loops, the first lines of its branches, its tests. Statements
come from the source; without it, each line counts as one.
"""

from __future__ import annotations

import ast
import dis
import sys
from typing import Any, Dict, FrozenSet, Iterator, List, Optional, Set, Tuple

from . import frame_locals
from .frame_locals import LocalNames
from .function_source import find_function, first_line, parse_source, read_source

NOTHING, OPERANDS, ANYTHING = 0, 1, 2  # what a statement may change in place

_STORES = frozenset(
    "STORE_FAST STORE_DEREF STORE_NAME DELETE_FAST DELETE_DEREF DELETE_NAME STORE_FAST_MAYBE_NULL "
    "STORE_FAST_STORE_FAST STORE_FAST_LOAD_FAST".split()
)
_GLOBAL_STORES = frozenset(("STORE_GLOBAL", "DELETE_GLOBAL"))
_READS = frozenset(
    "LOAD_FAST LOAD_FAST_CHECK LOAD_FAST_BORROW LOAD_DEREF LOAD_NAME LOAD_FAST_LOAD_FAST "
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW STORE_FAST_LOAD_FAST LOAD_CLASSDEREF".split()
)
# These run no other code, and change no object that a variable could hold.
_HARMLESS = _STORES | frozenset(
    "RESUME NOP NOT_TAKEN CACHE EXTENDED_ARG POP_TOP POP_ITER COPY SWAP DUP_TOP DUP_TOP_TWO "
    "ROT_TWO ROT_THREE ROT_FOUR ROT_N LOAD_FAST LOAD_FAST_CHECK LOAD_FAST_BORROW "
    "LOAD_FAST_LOAD_FAST LOAD_FAST_BORROW_LOAD_FAST_BORROW LOAD_FAST_AND_CLEAR "
    "LOAD_CONST LOAD_SMALL_INT LOAD_DEREF "
    "LOAD_CLOSURE LOAD_COMMON_CONSTANT IS_OP JUMP_FORWARD JUMP_BACKWARD JUMP_ABSOLUTE "
    "JUMP_BACKWARD_NO_INTERRUPT RETURN_VALUE RETURN_CONST BUILD_TUPLE BUILD_LIST BUILD_MAP "
    "BUILD_SLICE UNARY_NOT PUSH_NULL COPY_FREE_VARS MAKE_CELL MAKE_FUNCTION SET_FUNCTION_ATTRIBUTE "
    "POP_JUMP_IF_NONE POP_JUMP_IF_NOT_NONE POP_JUMP_FORWARD_IF_NONE POP_JUMP_FORWARD_IF_NOT_NONE "
    "POP_JUMP_BACKWARD_IF_NONE POP_JUMP_BACKWARD_IF_NOT_NONE LOAD_ASSERTION_ERROR POP_EXCEPT "
    "PUSH_EXC_INFO POP_BLOCK SETUP_FINALLY GEN_START LIST_APPEND SET_ADD MAP_ADD LIST_TO_TUPLE "
    "RETURN_GENERATOR LOAD_BUILD_CLASS BUILD_CONST_KEY_MAP".split()
)
# These run other code only if an operand has a class that defines the operation in Python.
_OF_OPERANDS = frozenset(
    "BINARY_OP COMPARE_OP CONTAINS_OP BINARY_ADD BINARY_SUBTRACT BINARY_MULTIPLY BINARY_MODULO "
    "BINARY_FLOOR_DIVIDE BINARY_TRUE_DIVIDE BINARY_AND BINARY_OR BINARY_XOR BINARY_LSHIFT "
    "BINARY_RSHIFT BINARY_POWER UNARY_NEGATIVE UNARY_INVERT UNARY_POSITIVE BINARY_SUBSCR "
    "BINARY_SLICE FOR_ITER GET_ITER END_FOR TO_BOOL POP_JUMP_IF_TRUE POP_JUMP_IF_FALSE "
    "POP_JUMP_FORWARD_IF_TRUE POP_JUMP_FORWARD_IF_FALSE POP_JUMP_BACKWARD_IF_TRUE "
    "POP_JUMP_BACKWARD_IF_FALSE JUMP_IF_TRUE_OR_POP JUMP_IF_FALSE_OR_POP FORMAT_VALUE "
    "FORMAT_SIMPLE BUILD_STRING CONVERT_VALUE UNPACK_SEQUENCE".split()
)
_MAX_COLUMNS = 12
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_LOOPS = (ast.While, ast.For, ast.AsyncFor)
_YIELD = 1  # in the argument of RESUME: after a `yield`, and not after `await` or `yield from`


class Statement:
    """What one statement may do; a statement over several lines counts by its first."""

    __slots__ = ("global_writes", "is_assignment", "is_raise", "line", "mutates", "reads", "writes")

    def __init__(self, line: int) -> None:
        self.line = line
        self.writes: Tuple[str, ...] = ()
        self.global_writes: Tuple[str, ...] = ()
        self.reads: Tuple[str, ...] = ()
        self.mutates = NOTHING
        self.is_assignment = False
        self.is_raise = False

    def join(self, other: Statement) -> None:
        """Take over what another line of the same statement does."""
        self.writes = _unique(self.writes + other.writes)
        self.global_writes = _unique(self.global_writes + other.global_writes)
        self.reads = _unique(self.reads + other.reads)
        self.mutates = max(self.mutates, other.mutates)


class Loop:
    """A loop of the function."""

    __slots__ = (
        "boundary",
        "boundary_line",
        "columns",
        "entry",
        "first",
        "is_for",
        "last",
        "leaders",
        "line",
        "lines",
        "reads",
    )

    def __init__(self, line: int, boundary: int, entry: int, last: int, is_for: bool) -> None:
        self.line = self.first = line
        self.entry = entry  # the first line of its body, which every round enters
        self.boundary = boundary  # the statement that every round begins with
        self.boundary_line = boundary  # of its lines, the first one with code
        self.last = last
        self.is_for = is_for
        self.columns: Tuple[str, ...] = ()  # the names that it binds
        self.reads: Tuple[str, ...] = ()
        self.leaders: Dict[int, int] = {}  # of each line of such a statement: its first
        self.lines: FrozenSet[int] = frozenset()


class CodePlan:
    """The facts of one code object."""

    def __init__(self, code: Any, source: Optional[List[str]] = None) -> None:
        self.code = code
        self.names = LocalNames(code)
        self.statements: Dict[int, Statement] = {}
        self.first_lines: Dict[int, int] = {}  # of each line: where its statement begins
        self.loops: List[Loop] = []
        self.boundaries: Dict[int, Loop] = {}
        self.leaders: Set[int] = set()  # first lines of branches: they tell which way a run went
        self.handlers: Set[int] = set()  # lines that an exception may lead to
        self.tests: Dict[int, Tuple[int, int]] = {}  # of a test: the lines of what it decides on
        self.has_loop_in_line = False
        self.global_reads: Tuple[str, ...] = ()
        self.parameters = list_parameters(code)
        self.unreadable = _find_unreadable(code)
        self.is_generator = bool(code.co_flags & 0x2A0)
        self.source = source if source is not None else read_source(code)
        _BytecodeReader(self).read()
        _SourceReader(self).read()
        self._finish()
        self.cells = tuple(n for n in self.names.cells if n not in self.unreadable)
        written = [name for s in self.statements.values() for name in s.global_writes]
        self.global_writes = _unique(written)

    @property
    def first_statement(self) -> int:
        """The line at which its body begins."""
        first: int = self.code.co_firstlineno  # also the line of an instruction, from 3.11 on
        lines = {statement.line for statement in self.statements.values()} - {first}
        return min(lines, default=first)

    @property
    def own_source(self) -> Dict[str, str]:
        """The lines of the function, by number."""
        last = max(self.first_lines.keys() | self.statements.keys(), default=0)
        first = self.code.co_firstlineno
        numbered = enumerate(self.source[first - 1 : last] if first > 0 else (), first)
        return {str(number): text.rstrip() for number, text in numbered}

    def _finish(self) -> None:
        code_lines = list(self.statements)
        for number, statement in list(self.statements.items()):
            first = self.first_lines.get(number, number)
            if first != number:
                self.statements.setdefault(first, Statement(first)).join(statement)
        for loop in self.loops:
            self.leaders.discard(loop.boundary)
        for loop in self.loops:
            # Of two loops that begin on one line, the inner one comes later and counts.
            self.boundaries[loop.boundary] = loop
            inside = [s for n, s in self.statements.items() if loop.first <= n <= loop.last]
            loop.columns = _unique(name for s in inside for name in s.writes)[:_MAX_COLUMNS]
            loop.reads = _unique(name for s in inside for name in s.reads)
            loop.lines = frozenset(s.line for s in inside)
            firsts = {number: self.first_lines.get(number, number) for number in loop.lines}
            leaders = self.leaders - {loop.boundary, loop.entry}
            loop.leaders = {number: first for number, first in firsts.items() if first in leaders}
            headers = [number for number in code_lines if firsts.get(number) == loop.boundary]
            loop.boundary_line = min(headers, default=loop.boundary)


def list_parameters(code: Any) -> Tuple[str, ...]:
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & 4) + bool(code.co_flags & 8)  # *args and **kwargs
    return tuple(code.co_varnames[:count])


def _unique(names: Any) -> Tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _find_unreadable(code: Any) -> FrozenSet[str]:
    """Variables in cells that a comprehension takes over for a while, from 3.12 on.

    What is there then is the comprehension's, and 3.13.0 may crash on asking the frame for it.
    """
    if sys.version_info < (3, 12) or frame_locals.CAN_READ:
        return frozenset()
    taken = {i.argval for i in dis.get_instructions(code) if i.opname == "LOAD_FAST_AND_CLEAR"}
    return frozenset(taken & set(code.co_cellvars))


def list_lines(code: Any) -> Dict[int, Optional[int]]:
    """The line of each instruction, by its offset."""
    lines: Dict[int, Optional[int]] = {}
    if hasattr(code, "co_lines"):
        for start, end, line in code.co_lines():
            lines.update(dict.fromkeys(range(start, end, 2), line))
        return lines
    starts = [*dis.findlinestarts(code), (len(code.co_code), None)]
    for (start, line), (end, _line) in zip(starts, starts[1:]):
        lines.update(dict.fromkeys(range(start, end, 2), line))
    return lines


class _BytecodeReader:
    """Reads what each line may do from the instructions."""

    def __init__(self, plan: CodePlan) -> None:
        self.plan = plan
        self.lines = list_lines(plan.code)
        self.writes: Dict[int, List[str]] = {}
        self.global_writes: Dict[int, List[str]] = {}
        self.reads: Dict[int, List[str]] = {}
        self.mutates: Dict[int, int] = {}
        self.global_reads: List[str] = []

    def read(self) -> None:
        for instruction in dis.get_instructions(self.plan.code):
            line = self.lines.get(instruction.offset)
            if line is not None:
                self.mutates.setdefault(line, NOTHING)
                self._read_names(instruction, line)
                self._read_effect(instruction, line)
                self._read_jump(instruction, line)
        self._fill()

    def _read_names(self, instruction: Any, line: int) -> None:
        name, value = instruction.opname, instruction.argval
        names = list(value) if type(value) is tuple else [value]
        if name == "STORE_FAST_LOAD_FAST":
            self.writes.setdefault(line, []).append(names[0])
            self.reads.setdefault(line, []).append(names[-1])
        elif name in _STORES:
            self.writes.setdefault(line, []).extend(names)
        elif name in _GLOBAL_STORES:
            self.global_writes.setdefault(line, []).extend(names)
        elif name in _READS:
            self.reads.setdefault(line, []).extend(names)
        elif name == "LOAD_GLOBAL":
            self.global_reads.append(value)
            self.reads.setdefault(line, []).append(value)

    def _read_effect(self, instruction: Any, line: int) -> None:
        name = instruction.opname
        is_in_place = name.startswith("INPLACE_") or (
            name == "BINARY_OP" and instruction.argrepr.endswith("=")
        )
        if name in _OF_OPERANDS and not is_in_place:
            self.mutates[line] = max(self.mutates[line], OPERANDS)
        elif name not in _HARMLESS and name != "LOAD_GLOBAL":
            self.mutates[line] = ANYTHING

    def _read_jump(self, instruction: Any, line: int) -> None:
        target = instruction.argval
        if "JUMP" in instruction.opname and type(target) is int and target < instruction.offset:
            if self.lines.get(target) == line:
                self.plan.has_loop_in_line = True

    def _fill(self) -> None:
        plan = self.plan
        for line, effect in self.mutates.items():
            statement = plan.statements[line] = Statement(line)
            names = _unique(self.writes.get(line, ()))
            # pytest keeps parts of an `assert` in variables called `@py_assert1`, and clears them.
            shown = [name for name in names if not name.startswith("@")]
            statement.writes = tuple(name for name in shown if name not in plan.unreadable)
            statement.global_writes = _unique(self.global_writes.get(line, ()))
            statement.reads = _unique(self.reads.get(line, ()))
            statement.mutates = effect
        plan.global_reads = _unique(self.global_reads)


class _SourceReader:
    """Reads statements, loops, branches and tests from the source."""

    def __init__(self, plan: CodePlan) -> None:
        self.plan = plan

    def read(self) -> None:
        code = self.plan.code
        node = find_function(parse_source(self.plan.source), code)
        if isinstance(node, ast.Lambda):
            self._claim(node.body.lineno, node.body.end_lineno or node.body.lineno)
        elif node is not None:
            for statement in _list_statements(node):
                self._read_statement(statement)

    def _claim(self, first: int, last: int) -> None:
        for line in range(first, last + 1):
            self.plan.first_lines.setdefault(line, first)

    def _read_statement(self, node: Any) -> None:
        plan = self.plan
        first = first_line(node)
        self._claim(first, _find_header_end(node))
        facts = plan.statements.get(first) or plan.statements.get(node.lineno)
        if facts is not None:
            facts.is_assignment |= isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign))
            facts.is_raise |= isinstance(node, ast.Raise)
        self._read_branches(node)
        if isinstance(node, _LOOPS):
            self._add_loop(node)
        if isinstance(node, (ast.With, ast.AsyncWith)):
            plan.handlers.add(node.lineno)

    def _read_branches(self, node: Any) -> None:
        plan = self.plan
        blocks: List[List[Any]] = []
        if isinstance(node, (ast.If, *_LOOPS)):
            blocks = [node.body, node.orelse]
            if first_line(node.body[0]) > node.lineno:
                plan.tests[node.lineno] = (first_line(node.body[0]), _last_line(node.body))
        elif isinstance(node, ast.Try) or type(node).__name__ == "TryStar":
            self._read_handlers(node)
            blocks = [handler.body for handler in node.handlers]
        elif type(node).__name__ == "Match":
            blocks = [case.body for case in node.cases]
            for case in node.cases:
                body = first_line(case.body[0])
                self._claim(case.pattern.lineno, max(case.pattern.lineno, body - 1))
                if body > case.pattern.lineno:
                    plan.tests[case.pattern.lineno] = (body, _last_line(case.body))
        plan.leaders.update(first_line(block[0]) for block in blocks if block)

    def _read_handlers(self, node: Any) -> None:
        plan = self.plan
        for handler in node.handlers:
            body = first_line(handler.body[0])
            self._claim(handler.lineno, max(handler.lineno, body - 1))
            plan.handlers.add(handler.lineno)
        if node.finalbody:
            plan.handlers.add(first_line(node.finalbody[0]))

    def _add_loop(self, node: Any) -> None:
        is_endless = isinstance(node, ast.While) and isinstance(node.test, ast.Constant)
        boundary = first_line(node.body[0]) if is_endless else node.lineno
        is_for = not isinstance(node, ast.While)
        entry = first_line(node.body[0])
        self.plan.loops.append(Loop(node.lineno, boundary, entry, _last_line(node.body), is_for))


def _last_line(body: List[Any]) -> int:
    return int(body[-1].end_lineno)


def _find_header_end(node: Any) -> int:
    """The last line of a statement itself, without the blocks below it."""
    if type(node).__name__ == "Match":
        return int(node.subject.end_lineno)
    body = getattr(node, "body", None)
    if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
        return int(max(node.lineno, first_line(body[0]) - 1))
    return int(node.end_lineno or node.lineno)


def _list_statements(node: Any) -> Iterator[Any]:
    """Every statement of this function itself, not of those inside it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
            if isinstance(child, _SCOPES):
                continue
            yield from _list_statements(child)
        elif isinstance(child, ast.ExceptHandler) or type(child).__name__ == "match_case":
            yield from _list_statements(child)


def find_yields(code: Any) -> FrozenSet[int]:
    """The offsets of the `yield`s that a statement has; others belong to `await`."""
    instructions = list(dis.get_instructions(code))
    found = set()
    for instruction, following in zip(instructions, [*instructions[1:], None]):
        if instruction.opname == "YIELD_VALUE":
            argument = following.arg if following is not None and following.arg else 0
            if sys.version_info < (3, 11) or argument & 3 == _YIELD:
                found.add(instruction.offset)
    return frozenset(found)
