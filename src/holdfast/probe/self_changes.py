"""Finds methods that would change their object, and calls them only up to there.

A lazy object evaluates itself by keeping what it got: `self._rows = list(…)`. `study` reads the
code of methods, and of all that they use of their own object, for such statements and for computed
attributes that are read. `call_unchanged` calls a method and gives up before the first of these
statements is run. Nothing of the program is run by `study`.
"""

from __future__ import annotations

import os
import sys
import types

from . import introspection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, FrozenSet, Iterator, List, Optional, Set, Tuple

    Watched = Dict[types.CodeType, FrozenSet[int]]

_LIBRARY = os.path.dirname(os.__file__) + os.sep
_PACKAGES = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)
_MAX_METHODS = 200
_READS = ("LOAD_ATTR", "LOAD_METHOD")
_STATEMENT_ENDS = ("STORE_", "POP_TOP", "RETURN_", "RAISE_", "POP_JUMP_", "JUMP_", "DELETE_")


# These prepare the function, or the next instruction.
_NOT_OF_STATEMENTS = frozenset(
    ("RESUME", "MAKE_CELL", "COPY_FREE_VARS", "NOP", "CACHE", "EXTENDED_ARG", "PRECALL")
)


class WouldChange(BaseException):
    """The method was about to change its object. No handler of the program's is to stop it."""


class Study:
    """What methods of a class would do to their object."""

    __slots__ = ("computed", "watched")

    def __init__(self, watched: Watched, computed: FrozenSet[str]) -> None:
        self.watched = watched  # the first lines of statements that change the object, by code
        self.computed = computed  # attributes that a descriptor makes when they are first read

    def __bool__(self) -> bool:
        return bool(self.watched or self.computed)

    def reads_uncomputed(self, value: Any) -> bool:
        """Whether one of the attributes is not there yet."""
        if not self.computed:
            return False
        members = introspection.instance_dict(value)
        return members is None or not self.computed <= members.keys()


def study(cls: type, names: Tuple[str, ...], with_fields: bool) -> Study:
    """Look at these methods of a class, and at whatever of the class they use.

    `with_fields`: a descriptor that can also be set counts as computed, as a column of a table.
    """
    watched: Watched = {}
    computed: Set[str] = set()
    seen: Set[types.CodeType] = set()
    waiting = [introspection.find_in_mro(cls, name)[1] for name in names]
    while waiting and len(seen) < _MAX_METHODS:
        code = _code_of(waiting.pop())
        if code is None or code in seen or _is_library(code):
            continue
        seen.add(code)
        lines, reads, supers = _read_code(code)
        if lines:
            watched[code] = frozenset(lines)
        for name in reads:
            member = introspection.find_in_mro(cls, name)[1]
            if is_computed(member, with_fields):
                computed.add(name)
            else:
                waiting.append(member)
        for name in supers:
            waiting.extend(_find_all(cls, name))
    return Study(watched, frozenset(computed))


def always_raises(code: types.CodeType) -> bool:
    """Whether a function can only end by an exception."""
    return not any(
        instruction.opname.startswith("RETURN_") or instruction.opname == "YIELD_VALUE"
        for instruction, _ in _instructions(code)
    )


def call_unchanged(
    fn: Callable[[], Any],
    watched: Watched,
    enters: Optional[Callable[[Any], Optional[Watched]]] = None,
) -> Any:
    """Return `fn()`; raises WouldChange before a watched statement is run.

    `enters` is asked about every function that is called: it gives more to watch, or raises.
    """
    is_tripped = []

    def trace(frame: Any, event: str, arg: Any) -> Any:
        code = frame.f_code
        lines = watched.get(code)
        try:
            if event == "call" and enters is not None and lines is None:
                more = enters(frame)
                if more:
                    watched.update(more)
                    lines = watched.get(code)
            if lines is not None and event == "line" and frame.f_lineno in lines:
                raise WouldChange
        except WouldChange:
            is_tripped.append(True)
            raise
        return None if lines is None else trace

    watched = dict(watched)
    before = sys.gettrace()
    set_trace = _find_settrace()
    set_trace(trace)
    try:
        value = fn()
    finally:
        set_trace(before)
    if is_tripped:  # somebody caught it
        raise WouldChange
    return value


def _find_settrace() -> Callable[[Any], None]:
    """pydevd puts a function in its place that warns."""
    holder = getattr(sys.modules.get("pydevd_tracing"), "TracingFunctionHolder", None)
    return getattr(holder, "_original_tracing", None) or sys.settrace


def _code_of(member: Any) -> Optional[types.CodeType]:
    """The code of a method, or of a property's getter; a decorated one is what it wraps."""
    if type(member) is property:
        member = member.fget
    for _ in range(10):
        if type(member) is not types.FunctionType:
            return None
        inner = member.__dict__.get("__wrapped__")
        if inner is None:
            return member.__code__
        member = inner
    return None


def _is_library(code: types.CodeType) -> bool:
    """The standard library evaluates nothing, though it remembers what it has parsed."""
    name = code.co_filename
    if name.startswith("<frozen"):
        return True
    return name.startswith(_LIBRARY) and not any(part in name for part in _PACKAGES)


def is_computed(member: Any, with_fields: bool) -> bool:
    """Whether it is a descriptor of the program's, such as a cached property or a lazy load."""
    cls = type(member)
    if cls in (types.FunctionType, property, classmethod, staticmethod):
        return False
    read = introspection.find_in_mro(cls, "__get__")[1]
    if type(read) is not types.FunctionType:
        return False
    if _is_library(read.__code__):
        return introspection.type_name(cls) == "cached_property"
    return with_fields or introspection.find_in_mro(cls, "__set__")[0] is None


def _find_all(cls: type, name: str) -> List[Any]:
    return [
        member
        for base in introspection.mro_of(cls)
        for member in [introspection.own_attribute(base, name)]
        if member is not None
    ]


def _read_code(code: types.CodeType) -> Tuple[Set[int], Set[str], Set[str]]:
    """First lines of statements that change the object; names read of it, and of `super()`."""
    lines: Set[int] = set()
    reads: Set[str] = set()
    supers: Set[str] = set()
    if not code.co_argcount:
        return lines, reads, supers
    own = code.co_varnames[0]
    start: Optional[int] = None
    changes = is_dict_of_self = False
    before: Any = None
    for instruction, line in _instructions(code):
        name = instruction.opname
        if name in _NOT_OF_STATEMENTS:
            continue
        start = line if start is None else start
        is_of_self = before is not None and _loads_last(before, own)
        if name in _READS and is_of_self:
            reads.add(_attribute(instruction))
            is_dict_of_self = _attribute(instruction) == "__dict__"
        elif name == "LOAD_SUPER_ATTR" or (
            name in _READS and before is not None and before.opname.startswith("CALL")
        ):
            supers.add(_attribute(instruction))
        changes = (
            changes
            or (name == "STORE_ATTR" and is_of_self)
            or (name == "STORE_SUBSCR" and is_dict_of_self)
            or (name in _READS and _attribute(instruction) == "__setattr__")
            or (name == "LOAD_GLOBAL" and instruction.argval == "setattr")
        )
        if name.startswith(_STATEMENT_ENDS):
            if changes and start is not None:
                lines.add(start)
            start = None
            changes = is_dict_of_self = False
        before = instruction
    return lines, reads, supers if "super" in code.co_names else set()


def _instructions(code: types.CodeType) -> Iterator[Tuple[Any, Optional[int]]]:
    import dis  # a program that makes no calls need not load it

    line: Optional[int] = None
    for instruction in dis.get_instructions(code):
        if sys.version_info >= (3, 13):
            line = instruction.line_number or line
        else:
            line = instruction.starts_line or line
        yield instruction, line


def _attribute(instruction: Any) -> str:
    name = instruction.argval
    return name if type(name) is str else ""


def _loads_last(instruction: Any, name: str) -> bool:
    """Whether this local is on top of the stack after the instruction."""
    if "LOAD_FAST" not in instruction.opname:
        return False
    value = instruction.argval
    return bool(value[-1] == name if type(value) is tuple else value == name)
