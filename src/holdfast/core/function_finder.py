"""Finds functions in source text by their names, or by a pattern of names.

debugpy knows functions by their bare name only: a breakpoint on `Class.method` is reported as
verified and never stops. So a name is resolved here to the lines where its functions begin. Names
that no known file has are looked for by the probe, when modules begin to run.
"""

from __future__ import annotations

import ast
import fnmatch
import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from holdfast.core._statements import Scope, statements
from holdfast.core.source_text import compile_quietly, decode, parse_quietly

MAX_NAME_CHARACTERS = 1000
_MAX_SHOWN_CHARACTERS = 80
_LOCALS = "<locals>"
LAMBDA = "<lambda>"
_WILDCARDS = re.compile(r"[*?\[]")
# What a pattern may consist of: identifiers, dots, wildcards, and what stands in brackets.
_PATTERN = re.compile(r"(?:[\w.*?]|\[[^\[\]]+\])+")

_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class FunctionDefinition:
    """Where a source defines a function."""

    name: str
    """The bare name, as in `co_name`; of a lambda `<lambda>`."""
    qualname: str
    """As in `__qualname__`, `<locals>` included; a lambda's is the name that it is assigned to."""
    def_line: int
    first_line: int
    """As in `co_firstlineno`: the first decorator, else the `def`."""

    @property
    def path(self) -> str:
        """The qualified name as users write it."""
        return _strip_locals(self.qualname)


def find(source: str | bytes, qualname: str) -> list[FunctionDefinition]:
    """Every definition of `qualname`: of a property's functions, or under `if` and `else`."""
    wanted = _strip_locals(qualname)
    return [function for function in list_functions(source) if function.path == wanted]


def find_matching(
    source: str | bytes, modules: Iterable[str], pattern: str
) -> list[FunctionDefinition]:
    """The functions of a module that a pattern matches; `modules` are the module's names."""
    names = tuple(modules)
    matches = re.compile(fnmatch.translate(_strip_locals(pattern))).match
    return [
        function
        for function in list_functions(source)
        if any(matches(f"{module}.{function.path}") for module in names)
        or ("__main__" in names and matches(function.path))
    ]


@functools.lru_cache(maxsize=32)
def list_functions(source: str | bytes) -> Sequence[FunctionDefinition]:
    """Every function of a source, in its order. A source that does not compile has none."""
    try:
        text = decode(source, "<source>")
        body = parse_quietly(text, "<source>").body
        compile_quietly(text, "<source>", "exec")  # finds errors that the parser does not
    except SyntaxError:
        return ()
    return (*_list_definitions(body, ""),)


# -- names -----------------------------------------------------------------------------------------


def is_pattern(name: str) -> bool:
    return _WILDCARDS.search(name) is not None


def find_problem(name: str) -> str | None:
    """Why no function can have this name; None if one can."""
    if len(name) > MAX_NAME_CHARACTERS:
        return f"The name has {len(name)} characters, more than the {MAX_NAME_CHARACTERS} allowed."
    shown = shorten(name)
    if is_pattern(name):
        is_possible = _PATTERN.fullmatch(_strip_locals(name)) and ".." not in name
        return None if is_possible else f"{shown} is not a pattern of function names."
    return None if candidates(name) else f"{shown} is not the name of a function."


def shorten(name: str) -> str:
    """A name as messages show it."""
    if len(name) <= _MAX_SHOWN_CHARACTERS:
        return name
    return name[:_MAX_SHOWN_CHARACTERS] + "…"


def candidates(dotted: str) -> list[tuple[str, str]]:
    """Every way to read a dotted name as (module, qualname), the longest module first.

    The last way is always no module: a function of the program's own script, else of any module.
    """
    parts = _strip_locals(dotted.strip()).split(".")
    if not all(part.isidentifier() for part in parts):
        return []
    splits = range(len(parts) - 1, -1, -1)
    return [(".".join(parts[:at]), ".".join(parts[at:])) for at in splits]


def list_named_modules(pattern: str) -> list[str]:
    """The modules that a pattern names in full, the longest first: all but its wild parts."""
    parts = _strip_locals(pattern).split(".")
    plain = next((at for at, part in enumerate(parts) if is_pattern(part)), len(parts) - 1)
    return [".".join(parts[:end]) for end in range(plain, 0, -1)]


def _strip_locals(qualname: str) -> str:
    return qualname.replace(f"{_LOCALS}.", "")


# -- definitions -----------------------------------------------------------------------------------


def _list_definitions(body: list[ast.stmt], prefix: str) -> Iterator[FunctionDefinition]:
    """The functions of one scope, those under `if`, `try`, `with` and loops too, and inside."""
    for statement in statements(body, enter_scopes=False):
        if isinstance(statement, Scope):
            qualname = prefix + statement.name
            if isinstance(statement, ast.ClassDef):
                yield from _list_definitions(statement.body, f"{qualname}.")
            else:
                yield _build_definition(statement, qualname)
                yield from _list_definitions(statement.body, f"{qualname}.{_LOCALS}.")
        else:
            yield from _list_lambdas(statement, prefix)


def _list_lambdas(statement: ast.stmt, prefix: str) -> Iterator[FunctionDefinition]:
    """A lambda that a name is assigned to. In `a = b = lambda: 1` that is the first one."""
    if not isinstance(statement, ast.Assign | ast.AnnAssign):
        return
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    if isinstance(statement.value, ast.Lambda) and isinstance(targets[0], ast.Name):
        line = statement.value.lineno
        yield FunctionDefinition(LAMBDA, prefix + targets[0].id, line, line)


def _build_definition(node: _Function, qualname: str) -> FunctionDefinition:
    return FunctionDefinition(
        name=node.name, qualname=qualname, def_line=node.lineno, first_line=_find_first_line(node)
    )


def _find_first_line(statement: _Function) -> int:
    return min([statement.lineno, *(each.lineno for each in statement.decorator_list)])
