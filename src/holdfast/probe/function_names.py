"""The names of functions: as code objects have them, and as breakpoints give them.

What counts is the code: a decorator may give its wrapper the name of the function inside, and a
breakpoint is for the function. Names are compared without `<locals>`.
"""

from __future__ import annotations

import dis
import gc
import os
import re
import sys
import types
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Set, Tuple

LAMBDA = "<lambda>"
_LOCALS = "<locals>."
_OPTIMIZED = 0x1  # CO_OPTIMIZED: of a function, not of a class or module
# What stands between a lambda and the name that it is assigned to.
_BETWEEN = frozenset(("LOAD_CONST", "MAKE_FUNCTION", "SET_FUNCTION_ATTRIBUTE", "EXTENDED_ARG"))
_MAX_WRAPPERS = 20
_STORES = ("STORE_NAME", "STORE_FAST", "STORE_GLOBAL", "STORE_DEREF")

Functions = Iterator[Tuple[Any, str]]


def walk_functions(code: Any, prefix: str = "") -> Functions:
    """Every function that some code defines, at any depth, with its name as users write it."""
    inner_codes = _list_created(code)
    lambdas = _name_lambdas(code) if any(c.co_name == LAMBDA for c in inner_codes) else {}
    for inner in inner_codes:
        name = lambdas.get(id(inner), inner.co_name)
        qualname = _find_qualname(inner, prefix, name)
        if is_function(inner) or name != inner.co_name:
            yield inner, qualname
        is_scope = inner.co_name.isidentifier() or inner.co_name == LAMBDA
        # Others are transparent, such as the scope of type parameters, and comprehensions.
        yield from walk_functions(inner, qualname + "." if is_scope else prefix)


def _list_created(code: Any) -> List[Any]:
    """The code objects that some code makes functions and classes of.

    Up to Python 3.11 those under `if False:` are kept, although nothing creates them.
    """
    inner_codes = [const for const in code.co_consts if isinstance(const, types.CodeType)]
    if not inner_codes or sys.version_info >= (3, 12):
        return inner_codes
    lines = {line for _offset, line in dis.findlinestarts(code)}
    return [inner for inner in inner_codes if inner.co_firstlineno in lines]


def is_function(code: Any) -> bool:
    """Whether this is the code of a `def`; from 3.14 on annotations have functions, too."""
    name = code.co_name
    return bool(code.co_flags & _OPTIMIZED and name.isidentifier() and name != "__annotate__")


def _find_qualname(code: Any, prefix: str, name: str) -> str:
    known = getattr(code, "co_qualname", None)  # from 3.11 on
    if known is None:
        return prefix + name
    outer, _dot, _own = strip_locals(known).rpartition(".")
    return "%s.%s" % (outer, name) if outer else name


def strip_locals(qualname: str) -> str:
    return qualname.replace(_LOCALS, "")


def _name_lambdas(code: Any) -> Dict[int, str]:
    """The names that lambdas are assigned to, by the ids of their code."""
    names: Dict[int, str] = {}
    pending = None
    for instruction in dis.get_instructions(code):
        value = instruction.argval
        if isinstance(value, types.CodeType) and value.co_name == LAMBDA:
            pending = value
        elif pending is not None and instruction.opname not in _BETWEEN:
            if instruction.opname.startswith(_STORES):
                names[id(pending)] = value[0] if isinstance(value, tuple) else value
            pending = None
    return names


def list_module_names(names: Dict[str, Any]) -> Tuple[str, ...]:
    """What a module is called, from its globals; the one that runs has several names."""
    name = names.get("__name__")
    if not isinstance(name, str):
        return ()
    if name != "__main__":
        return (name,)
    file, spec = names.get("__file__"), names.get("__spec__")
    known = [name]
    if isinstance(file, str):
        known.append(os.path.splitext(os.path.basename(file))[0])
    spec_name = getattr(spec, "name", None)
    if isinstance(spec_name, str):
        known.append(spec_name)
    return tuple(known)


class NameMatcher:
    """Decides whether a function is one that a breakpoint names."""

    def __init__(self, names: Sequence[Sequence[str]], pattern: Optional[str]) -> None:
        self._names: Dict[str, Set[str]] = {}  # modules by the qualified name, "" for any
        for module, qualname in names:
            self._names.setdefault(qualname, set()).add(module)
        self._matches = _compile_pattern(pattern)
        head = (pattern or "").partition(".")[0]
        self._package = head if head.isidentifier() and "." in (pattern or "") else None

    @property
    def is_open(self) -> bool:
        return bool(self._names) or self._matches is not None

    def close_to(self, module: str, qualname: str) -> None:
        """The script has a function of this name, so that no other module's is meant."""
        self._names = {qualname: {module}}

    def is_any(self, qualname: str) -> bool:
        """Whether it is named without a module."""
        return "" in self._names.get(qualname, ())

    def may_match(self, qualname: str) -> bool:
        """Whether a function of this name can be meant in any module; quick."""
        return self._matches is not None or qualname in self._names

    def may_match_in(self, modules: Sequence[str], is_library: bool) -> bool:
        """Whether a function of this module can match at all; of a library if that is named."""
        if not is_library:
            return self.is_open
        named = {module for modules in self._names.values() for module in modules}
        tops = {module.partition(".")[0] for module in modules}
        return self._package in tops or not named.isdisjoint(modules)

    def matches(self, modules: Sequence[str], qualname: str, is_library: bool) -> bool:
        named = self._names.get(qualname, ())
        if any(module in named for module in modules) or ("" in named and not is_library):
            return True
        if self._matches is None:
            return False
        if not is_library and self._matches(qualname):
            return True
        return any(
            self._matches("%s.%s" % (module, qualname))
            for module in modules
            if not is_library or module.partition(".")[0] == self._package
        )


def _compile_pattern(pattern: Optional[str]) -> Optional[Callable[[str], Any]]:
    if not pattern:
        return None
    import fnmatch

    try:
        return re.compile(fnmatch.translate(strip_locals(pattern))).match
    except re.error:  # older Pythons cannot translate every pair of brackets
        return None


def list_loaded_functions(
    find_module: Callable[[str, Dict[str, Any]], Any],
) -> Iterator[Tuple[Any, Any, str]]:
    """The code of every function there is, with its module and its name.

    `find_module` gives the module by its file and its globals; None leaves its functions out.
    Asking the garbage collector also finds the functions of modules whose source is not what runs,
    that nothing but a wrapper refers to, and that were made by `exec`.
    """
    for item in gc.get_objects():
        if type(item) is not types.FunctionType or _is_renamed(item):
            continue
        code = item.__code__
        module = find_module(code.co_filename, item.__globals__)
        if module is None:
            continue
        qualname = strip_locals(getattr(code, "co_qualname", item.__qualname__))
        if is_function(code):
            yield code, module, qualname
        for inner, name in walk_functions(code, qualname + "."):
            yield inner, module, name
    yield from _list_named_values(find_module)


def _is_renamed(function: Any) -> bool:
    """Whether its name may be another's: then the code around it tells (before 3.11)."""
    return not hasattr(function.__code__, "co_qualname") and (
        "__wrapped__" in function.__dict__ or function.__name__ != function.__code__.co_name
    )


def _list_named_values(
    find_module: Callable[[str, Dict[str, Any]], Any],
) -> Iterator[Tuple[Any, Any, str]]:
    """Functions that a module or class has under a name: lambdas, and what `gc.freeze` hides."""
    for loaded in list(sys.modules.values()):
        if not isinstance(loaded, types.ModuleType):
            continue
        names = vars(loaded)
        file = names.get("__file__")
        if isinstance(file, str) and find_module(file, names) is None:
            continue
        for owner, prefix in _list_owners(names):
            for name, value in list(owner.items()):
                for function in _unwrap(value):
                    code = function.__code__
                    if function.__globals__ is names and code.co_name in (LAMBDA, name):
                        module = find_module(code.co_filename, names)
                        if module is not None:
                            yield code, module, prefix + str(name)


def _list_owners(names: Dict[str, Any]) -> List[Tuple[Any, str]]:
    """A module's names and those of its classes, each with what stands before them."""
    classes = [
        value
        for value in list(names.values())
        if issubclass(type(value), type) and vars(value).get("__module__") == names.get("__name__")
    ]
    return [(names, ""), *((vars(cls), cls.__qualname__ + ".") for cls in classes)]


def find_attribute(module: str, qualname: str) -> List[Any]:
    """The functions that a loaded module has under a name, wherever they were defined."""
    value: Any = sys.modules.get(module)
    name = ""
    for name in qualname.split("."):
        if not isinstance(value, types.ModuleType) and not issubclass(type(value), type):
            return []
        value = vars(value).get(name)
    return [each for each in _unwrap(value) if each.__code__.co_name in (LAMBDA, name)]


def _unwrap(value: Any, depth: int = 0) -> Iterator[Any]:
    """The functions behind a method, a property or a wrapper, without running any code."""
    if type(value) is types.FunctionType:
        inner = value.__dict__.get("__wrapped__")
        if inner is None:
            yield value
            return
        parts: Sequence[Any] = [inner]
    elif type(value) in (staticmethod, classmethod):
        parts = [value.__func__]
    elif type(value) is property:
        parts = [value.fget, value.fset, value.fdel]
    else:  # such as what `functools.cache` makes
        fields = getattr(value, "__dict__", None)
        parts = [fields.get("__wrapped__")] if type(fields) is dict else []
    if depth < _MAX_WRAPPERS:
        for part in parts:
            yield from _unwrap(part, depth + 1)
