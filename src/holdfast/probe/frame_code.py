"""What a frame is doing, read from its bytecode: the call it is in, the `with` blocks around it.

Names, attributes and items are looked up as they are now, without running any of the program's
code. What would need a call to be known stays unknown.
"""

from __future__ import annotations

import builtins
import dis
import functools
import operator
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Set, Tuple

from . import introspection

_LOAD_LOCAL = {
    "LOAD_FAST",
    "LOAD_FAST_CHECK",
    "LOAD_FAST_BORROW",
    "LOAD_DEREF",
    "LOAD_CLASSDEREF",
    "LOAD_FROM_DICT_OR_DEREF",
}
_LOAD_GLOBAL = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}
_LOAD_ATTRIBUTE = {"LOAD_ATTR", "LOAD_METHOD"}
_ENTER = {"SETUP_WITH", "BEFORE_WITH"}
_ENTER_ASYNC = {"BEFORE_ASYNC_WITH"}
_CALLS = {"CALL_FUNCTION": 0, "CALL_METHOD": 0, "CALL": 0, "CALL_FUNCTION_KW": 1, "CALL_KW": 1}
_AWAIT = {"LOAD_CONST", "SEND", "YIELD_VALUE", "YIELD_FROM", "JUMP_BACKWARD_NO_INTERRUPT"}
_MAX_AWAIT = 6
_NO_VALUES = {"PRECALL", "KW_NAMES", "PUSH_NULL"}
_JUMPS = frozenset(dis.hasjrel) | frozenset(dis.hasjabs)
_OLD_ARITHMETIC = {
    "BINARY_ADD": "+",
    "BINARY_SUBTRACT": "-",
    "BINARY_MULTIPLY": "*",
    "BINARY_MODULO": "%",
}
_ARITHMETIC = {"+": operator.add, "-": operator.sub, "*": operator.mul, "%": operator.mod}


class _Unknown(Exception):
    """The value cannot be known without running code."""


class _Op(NamedTuple):
    name: str
    argument: Any
    offset: int
    effect: int  # on the number of values on the stack
    is_jump: bool
    line: Optional[int]
    symbol: str


class Operand(NamedTuple):
    """A value that the code names."""

    value: Any
    text: str
    start: int  # the index of the first instruction that belongs to it
    names: Tuple[str, ...]  # the variables in it


class CallSite(NamedTuple):
    """A method that a frame calls now, or has called: `owner.method(…)`."""

    owner: Any
    text: str
    method: str
    line: Optional[int]


# -- instructions ---------------------------------------------------------------------------------


@functools.lru_cache(maxsize=200)
def _read_code(code: Any) -> Tuple[_Op, ...]:
    ops: List[_Op] = []
    line: Optional[int] = None
    for item in dis.get_instructions(code):
        starts = item.starts_line
        if starts is not None and starts is not False:
            # From 3.13 on it only says whether a line starts.
            line = item.line_number if starts is True else starts  # type: ignore[attr-defined]
        if item.opname in ("CACHE", "EXTENDED_ARG", "NOP", "RESUME"):
            continue
        for name, argument in _split(item.opname, item.argval):
            effect = _stack_effect(item, name)
            is_jump = item.opcode in _JUMPS
            ops.append(_Op(name, argument, item.offset, effect, is_jump, line, item.argrepr))
    return tuple(ops)


def _split(name: str, argument: Any) -> List[Tuple[str, Any]]:
    """From 3.13 on one instruction may load or store two variables."""
    parts = {
        "LOAD_FAST_LOAD_FAST": ("LOAD_FAST", "LOAD_FAST"),
        "LOAD_FAST_BORROW_LOAD_FAST_BORROW": ("LOAD_FAST", "LOAD_FAST"),
        "STORE_FAST_LOAD_FAST": ("STORE_FAST", "LOAD_FAST"),
        "STORE_FAST_STORE_FAST": ("STORE_FAST", "STORE_FAST"),
    }.get(name)
    return [(name, argument)] if parts is None else list(zip(parts, argument))


def _stack_effect(item: Any, name: str) -> int:
    if name != item.opname:
        return 1 if name == "LOAD_FAST" else -1
    argument = item.arg if item.opcode >= dis.HAVE_ARGUMENT else None
    try:
        return dis.stack_effect(item.opcode, argument, jump=False)
    except ValueError:
        return 0


def _current_index(ops: Tuple[_Op, ...], frame: Any) -> int:
    """The index of the instruction that the frame runs."""
    index = -1
    for number, op in enumerate(ops):
        if op.offset > frame.f_lasti:
            break
        index = number
    return index


# -- values ---------------------------------------------------------------------------------------


def _resolve(ops: Tuple[_Op, ...], index: int, frame: Any) -> Operand:
    """The value that the instruction at `index` put on the stack."""
    if index < 0:
        raise _Unknown
    op = ops[index]
    if op.name in _LOAD_LOCAL:
        return Operand(_find_name(op.argument, frame.f_locals), op.argument, index, (op.argument,))
    if op.name in _LOAD_GLOBAL:
        scopes = [frame.f_locals] if op.name == "LOAD_NAME" else []
        value = _find_name(op.argument, *scopes, frame.f_globals, vars(builtins))
        return Operand(value, op.argument, index, (op.argument,))
    if op.name in ("LOAD_CONST", "LOAD_SMALL_INT"):
        return Operand(op.argument, repr(op.argument), index, ())
    if op.name in _LOAD_ATTRIBUTE:
        owner = _resolve(ops, index - 1, frame)
        value = _read_attribute(owner.value, op.argument)
        return Operand(value, "%s.%s" % (owner.text, op.argument), owner.start, owner.names)
    return _resolve_pair(ops, index, frame)


def _resolve_pair(ops: Tuple[_Op, ...], index: int, frame: Any) -> Operand:
    """`container[key]`, or the sum and the like of two integers."""
    op = ops[index]
    is_item = op.name == "BINARY_SUBSCR" or op.symbol == "[]"
    symbol = _read_symbol(op)
    compute = _ARITHMETIC.get(symbol)
    if not is_item and compute is None:
        raise _Unknown
    right = _resolve(ops, index - 1, frame)
    left = _resolve(ops, right.start - 1, frame)
    names = left.names + right.names
    if is_item:
        value = _read_item(left.value, right.value)
        return Operand(value, "%s[%s]" % (left.text, right.text), left.start, names)
    if type(left.value) is not int or type(right.value) is not int or compute is None:
        raise _Unknown
    try:
        value = compute(left.value, right.value)
    except ArithmeticError:
        raise _Unknown from None
    texts = [
        "(%s)" % operand.text if _read_symbol(ops[end]) in _ARITHMETIC else operand.text
        for operand, end in ((left, right.start - 1), (right, index - 1))
    ]
    return Operand(value, "%s %s %s" % (texts[0], symbol, texts[1]), left.start, names)


def _read_symbol(op: _Op) -> str:
    """The operator of an instruction with two operands."""
    return (op.symbol or "") if op.name == "BINARY_OP" else _OLD_ARITHMETIC.get(op.name, "")


def _find_name(name: str, *scopes: Dict[str, Any]) -> Any:
    for scope in scopes:
        if name in scope:
            return scope[name]
    raise _Unknown


def _read_attribute(owner: Any, name: str) -> Any:
    if issubclass(type(owner), type):
        base, value = introspection.find_in_mro(owner, name)
        is_there = base is not None
    else:
        is_there, value = introspection.read_attribute(owner, name)
        if not is_there:
            base, value = introspection.find_in_mro(type(owner), name)
            is_there = base is not None
    # A property or a method would be something else on the object itself.
    if not is_there or introspection.find_in_mro(type(value), "__get__")[0] is not None:
        raise _Unknown
    return value


def _read_item(container: Any, key: Any) -> Any:
    kind = type(container)
    if kind is dict and type(key) in (int, str, bool):
        if key in container:
            return container[key]
    elif kind in (list, tuple) and type(key) is int and -len(container) <= key < len(container):
        return container[key]
    raise _Unknown


# -- calls ----------------------------------------------------------------------------------------


def find_call(frame: Any) -> Optional[CallSite]:
    """The method that the frame calls now, or the object whose `with` block it enters."""
    ops = _read_code(frame.f_code)
    try:
        return _site_at(ops, _current_index(ops, frame), frame)
    except _Unknown:
        return None


def _site_at(ops: Tuple[_Op, ...], index: int, frame: Any) -> CallSite:
    if index < 0:
        raise _Unknown
    op = ops[index]
    if op.name in _ENTER or op.name in _ENTER_ASYNC:
        context = _resolve(ops, index - 1, frame)
        return CallSite(context.value, context.text, "__enter__", op.line)
    if op.name == "CALL" and ops[index - 1].name == "LOAD_SPECIAL":
        context = _resolve(ops, _find_special(ops, index), frame)
        return CallSite(context.value, context.text, "__enter__", op.line)
    callee = _find_callee(ops, index)
    if ops[callee].name in _LOAD_ATTRIBUTE:
        owner = _resolve(ops, callee - 1, frame)
        return CallSite(owner.value, owner.text, ops[callee].argument, op.line)
    function = _resolve(ops, callee, frame)
    bound = getattr(function.value, "__self__", None) if _is_builtin(function.value) else None
    if bound is None:
        raise _Unknown
    return CallSite(bound, function.text, function.value.__name__, op.line)


def _is_builtin(value: Any) -> bool:
    return type(value) is type(len)


def _find_special(ops: Tuple[_Op, ...], index: int) -> int:
    """Python 3.14: the instruction before those that enter a `with` block."""
    while index >= 0 and ops[index].name != "COPY":
        index -= 1
    return index - 1


def _find_callee(ops: Tuple[_Op, ...], index: int) -> int:
    """The instruction that loaded what is called: the arguments were loaded after it."""
    op = ops[index]
    if op.name not in _CALLS:
        raise _Unknown
    wanted = int(op.argument) + _CALLS[op.name]
    index -= 1
    while index >= 0 and ops[index].name in ("PRECALL", "KW_NAMES"):
        index -= 1
    loaded = 0
    while loaded < wanted and index >= 0:
        if ops[index].is_jump:
            raise _Unknown
        loaded += ops[index].effect
        index -= 1
    while index >= 0 and ops[index].name in _NO_VALUES:
        index -= 1
    if loaded != wanted or index < 0:
        raise _Unknown
    return index


def find_earlier_calls(frame: Any, methods: Set[str]) -> Iterator[CallSite]:
    """The calls of methods with these names that stand before the present instruction."""
    ops = _read_code(frame.f_code)
    for index in range(_current_index(ops, frame)):
        if ops[index].name in _LOAD_ATTRIBUTE and ops[index].argument in methods:
            is_kept = ops[index + 1].name.startswith("STORE_")  # for a call elsewhere
            if is_kept or _is_called_now(ops, index, frame):
                continue
            try:
                owner = _resolve(ops, index - 1, frame)
            except _Unknown:
                continue
            yield CallSite(owner.value, owner.text, ops[index].argument, ops[index].line)


def _is_called_now(ops: Tuple[_Op, ...], index: int, frame: Any) -> bool:
    try:
        return _find_callee(ops, _active_index(ops, frame)) == index
    except _Unknown:
        return False


def _active_index(ops: Tuple[_Op, ...], frame: Any) -> int:
    """The instruction that the frame runs; of one that awaits, what made the awaited object."""
    here = _current_index(ops, frame)
    for index in range(here, max(here - _MAX_AWAIT, 0), -1):
        if ops[index].name == "GET_AWAITABLE":
            return index - 1
        if ops[index].name not in _AWAIT:
            break
    return here


def find_awaited(frame: Any) -> Optional[CallSite]:
    """What a suspended coroutine awaits: a variable, or a method's result."""
    ops = _read_code(frame.f_code)
    index = _active_index(ops, frame)
    try:
        return _site_at(ops, index, frame)
    except _Unknown:
        pass
    try:
        awaited = _resolve(ops, index, frame)
    except _Unknown:
        return None
    return CallSite(awaited.value, awaited.text, "__await__", ops[index].line)


# -- with blocks ----------------------------------------------------------------------------------


def find_entered(frame: Any) -> Iterator[CallSite]:
    """The objects of the `with` blocks that the frame is inside of."""
    ops = _read_code(frame.f_code)
    here = _current_index(ops, frame)
    for index in _enclosing_blocks(frame.f_code, ops, frame.f_lasti):
        enter = index
        if ops[index].name == "SETUP_ASYNC_WITH":
            while index >= 0 and ops[index].name not in _ENTER_ASYNC:
                index -= 1
        elif ops[index].name == "LOAD_SPECIAL":
            index = _find_special(ops, index) + 1
        try:
            context = _resolve(ops, index - 1, frame)
        except _Unknown:
            continue
        if not _is_stored(ops, enter, here, context.names):
            yield CallSite(context.value, context.text, "__enter__", ops[enter].line)


def _is_stored(ops: Tuple[_Op, ...], start: int, end: int, names: Tuple[str, ...]) -> bool:
    """Whether one of the names may mean something else by now."""
    return any(
        op.name.startswith(("STORE_", "DELETE_")) and op.argument in names
        for op in ops[start : end + 1]
        if type(op.argument) is str
    )


def _enclosing_blocks(code: Any, ops: Tuple[_Op, ...], offset: int) -> Iterator[int]:
    """The indexes of the instructions that entered the blocks around an offset."""
    table = getattr(code, "co_exceptiontable", None)
    if table is None:
        for index, op in enumerate(ops):
            is_enter = op.name in ("SETUP_WITH", "SETUP_ASYNC_WITH")
            if is_enter and op.offset < offset < int(op.argument):
                yield index
        return
    entries = list(_parse_exception_table(table))
    by_offset = {op.offset: index for index, op in enumerate(ops)}
    seen: Set[int] = set()
    while True:
        target = next((t for start, end, t in entries if start <= offset < end), None)
        if target is None or target in seen:
            return
        seen.add(target)
        if _is_with_handler(ops, by_offset.get(target, -1)):
            first = min(start for start, _end, t in entries if t == target)
            index = _find_enter(ops, by_offset.get(first, -1))
            if index >= 0:
                yield index
        offset = target  # what handles an exception in here is in the next block around


def _is_with_handler(ops: Tuple[_Op, ...], index: int) -> bool:
    return 0 <= index < len(ops) - 1 and ops[index + 1].name == "WITH_EXCEPT_START"


def _find_enter(ops: Tuple[_Op, ...], index: int) -> int:
    names = _ENTER | _ENTER_ASYNC | {"LOAD_SPECIAL"}
    index -= 1
    while index >= 0 and ops[index].name not in names:
        index -= 1
    return index


def _parse_exception_table(table: bytes) -> Iterator[Tuple[int, int, int]]:
    """Start, end and target of each entry, as offsets (Python 3.11 and newer)."""
    numbers = _parse_varints(table)
    for start in numbers:
        length, target = next(numbers), next(numbers)
        next(numbers)  # the depth of the stack
        yield start * 2, (start + length) * 2, target * 2


def _parse_varints(table: bytes) -> Iterator[int]:
    stream = iter(table)
    for byte in stream:
        value = byte & 63
        while byte & 64:
            byte = next(stream)
            value = value << 6 | byte & 63
        yield value
