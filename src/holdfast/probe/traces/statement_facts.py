"""The statements of a source file: their lines, what they read and write, and what leads to them.

What a statement reads and writes is found out when it first runs.
"""

from __future__ import annotations

import ast
from typing import Any, Dict, FrozenSet, List, Optional, Sequence, Set, Tuple

from .place_facts import MUTATORS, CallFact, PlaceFact, PlaceReader, drop_repeated, find_root
from .statement_places import add_places

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPES = (*_FUNCTIONS, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_LEAVING = (ast.Return, ast.Break, ast.Continue, ast.Raise)
_PASSING = ("With", "AsyncWith", "Try", "TryStar")  # they decide nothing


class Statement:
    """One statement; of a compound one, its header."""

    __slots__ = (
        "_nodes",
        "bases",
        "body",
        "calls",
        "can_stop",
        "could",
        "exits",
        "hidden",
        "is_fresh",
        "kind",
        "last",
        "line",
        "makes_function",
        "maybe",
        "parent",
        "reads",
        "returns",
        "scope",
        "unused",
        "writes",
    )

    def __init__(self, node: Any, kind: str, line: int, last: int, scope: "Scope") -> None:
        self.kind = kind
        self.line, self.last = line, last
        self.scope = scope
        self.parent: Optional[Statement] = None
        """The statement whose test leads here."""
        self.exits: Optional[Statement] = None
        """An earlier one of the same block that may leave the block."""
        self.body: Optional[Statement] = None
        """Of a test or a loop: the first statement of its body, unless on the same line."""
        self.could: FrozenSet[str] = frozenset()
        """Names that its blocks write: what was not done also explains a value."""
        self.reads: Tuple[PlaceFact, ...] = ()
        self.bases: Tuple[PlaceFact, ...] = ()
        self.writes: Tuple[PlaceFact, ...] = ()
        self.calls: Tuple[CallFact, ...] = ()
        self.hidden: FrozenSet[str] = frozenset()
        """Variables of comprehensions, which may hide others while it is under way."""
        self.maybe = 0
        """Writes from this one on are of a block on the same line, which may not run."""
        self.returns = kind == "return"
        self.unused = ""
        """The function whose result it throws away."""
        self.can_stop = kind == "for"
        self.is_fresh = False
        """Whether what it assigns is a new object."""
        self.makes_function = False
        self._nodes: List[Tuple[Any, bool]] = [(node, False)]

    @property
    def is_prepared(self) -> bool:
        return not self._nodes

    @property
    def is_definition(self) -> bool:
        """Every call reads such a name, and it explains nothing."""
        return self.kind in ("def", "class", "import")

    def join(self, node: Any, is_inner: bool) -> None:
        """Another statement begins on the same line: both are one event."""
        if self._nodes is not None:
            self._nodes.append((node, is_inner))
        self.returns = self.returns or isinstance(node, ast.Return)

    def prepare(self) -> None:
        """Find out what it reads and writes, unless that is known."""
        if not self._nodes:
            return
        nodes, self._nodes = self._nodes, []
        reader = PlaceReader()
        maybe = -1
        for node, is_inner in nodes:
            if is_inner and maybe < 0:
                maybe = len(reader.writes)
            add_places(node, reader)
        first = nodes[0][0]
        self.reads, self.bases = drop_repeated(reader.reads), drop_repeated(reader.bases)
        self.writes = tuple(reader.writes)
        self.maybe = len(self.writes) if maybe < 0 else maybe
        self.calls = tuple(reader.calls)
        self.hidden = frozenset(reader.hidden)
        self.can_stop = self.can_stop or reader.can_stop
        self.makes_function = any(isinstance(node, _FUNCTIONS) for node, _ in nodes)
        self.is_fresh = _makes_object(first)
        self.unused = _find_unused(first)


class Scope:
    """A module, function, class body, lambda or generator expression: code of its own."""

    __slots__ = (
        "columns",
        "definition",
        "first",
        "last",
        "lines",
        "name",
        "outer",
        "params",
        "path",
    )

    def __init__(self, name: str, first: int, last: int, outer: Optional["Scope"]) -> None:
        self.name, self.first, self.last, self.outer = name, first, last, outer
        self.lines: Dict[int, Statement] = {}
        self.definition: Optional[Statement] = None
        """The `def` or `class` statement."""
        self.params: Tuple[str, ...] = ()
        self.columns: Tuple[int, int] = (0, 0)
        self.path: str = "" if outer is None else outer.path

    @property
    def qualname(self) -> str:
        if self.outer is None or self.outer.name == "<module>":
            return self.name
        return "%s.%s" % (self.outer.qualname, self.name)

    @property
    def is_single(self) -> bool:
        """Whether it is one expression, so that each time it goes on is an event."""
        return self.name in ("<lambda>", "<genexpr>")


class FileFacts:
    """All code of one file, by the name and the first line of its code object."""

    def __init__(self, path: str, text: str, signature: Any, tree: ast.Module) -> None:
        self.path, self.text, self.signature = path, text, signature
        self._scopes: Dict[Tuple[str, int], List[Scope]] = {}
        self._analyse(tree)

    def find_scope(self, code: Any) -> Optional[Scope]:
        """The scope that a code object was compiled from."""
        found = self._scopes.get((code.co_name, code.co_firstlineno), ())
        if len(found) < 2:
            return found[0] if found else None
        count = code.co_argcount + code.co_kwonlyargcount
        same = [scope for scope in found if scope.params == code.co_varnames[:count]] or list(found)
        column = _first_column(code)
        inside = [scope for scope in same if scope.columns[0] <= column < scope.columns[1]]
        return (inside or same)[-1]

    def _add_scope(self, scope: Scope, *lines: int) -> Scope:
        for line in {scope.first, *lines}:
            self._scopes.setdefault((scope.name, line), []).append(scope)
        return scope

    def _analyse(self, tree: ast.Module) -> None:
        last = self.text.count("\n") + 1
        module = self._add_scope(Scope("<module>", 1, last, None), 0)
        module.path = self.path
        self._add_block(tree.body, None, module)

    def _add_block(
        self, body: Sequence[Any], parent: Optional[Statement], scope: Scope
    ) -> Optional[Statement]:
        """Add the statements of a block; the first of them is returned."""
        exits: Optional[Statement] = None
        first: Optional[Statement] = None
        for node in body:
            statement = self._add_statement(node, parent, exits, scope)
            first = first or statement
            self._add_expressions(node, statement, scope)
            self._add_blocks(node, statement, parent, scope)
            if statement.could or isinstance(node, (ast.If, *_LOOPS)):
                statement.could = statement.could | _list_could(node)
                exits = statement if _may_leave(node) else exits
        return first

    def _add_statement(
        self, node: Any, parent: Optional[Statement], exits: Optional[Statement], scope: Scope
    ) -> Statement:
        begin, last = _first_line(node), _last_line(node)
        known = scope.lines.get(begin)
        if known is not None and known.line <= begin <= known.last:
            known.join(node, known is parent or known.parent is not parent)
            statement = known
        else:
            statement = Statement(node, _kind_of(node), node.lineno, last, scope)
            statement.parent, statement.exits = parent, exits
        for line in range(begin, last + 1):
            scope.lines.setdefault(line, statement)
        return statement

    def _add_blocks(
        self, node: Any, statement: Statement, parent: Optional[Statement], scope: Scope
    ) -> None:
        inner: Optional[Statement] = parent if type(node).__name__ in _PASSING else statement
        if isinstance(node, _SCOPES):
            first = _first_line(node)
            scope = Scope(node.name, first, node.end_lineno or first, scope)
            scope.definition = statement
            if not isinstance(node, ast.ClassDef):
                scope.params = _list_params(node.args)
            self._add_scope(scope, node.lineno)
            inner = None
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                begin = self._add_block(block, inner, scope)
                if name == "body" and isinstance(node, (ast.If, *_LOOPS)):
                    statement.body = begin if begin is not statement else None
        for handler in getattr(node, "handlers", ()):
            self._add_part(handler, "except", parent, handler.lineno, scope)
        for case in getattr(node, "cases", ()):
            self._add_part(case, "case", statement, case.pattern.lineno, scope)

    def _add_part(
        self, node: Any, kind: str, parent: Optional[Statement], line: int, scope: Scope
    ) -> None:
        """An `except` or a `case`, with its block."""
        last = max(line, _first_line(node.body[0]) - 1)
        statement = Statement(node, kind, line, last, scope)
        statement.parent = parent
        for each in range(line, last + 1):
            scope.lines[each] = statement
        begin = self._add_block(node.body, statement, scope)
        if kind == "case":
            statement.could = _list_could(node)
            statement.body = begin if begin is not statement else None

    def _add_expressions(self, node: Any, statement: Statement, scope: Scope) -> None:
        """Lambdas and generator expressions are code of their own."""
        for part in _walk_header(node):
            if isinstance(part, ast.Lambda):
                self._add_single(part, "<lambda>", part.body, statement, scope)
            elif isinstance(part, ast.GeneratorExp):
                self._add_single(part, "<genexpr>", part, statement, scope)

    def _add_single(
        self, node: Any, name: str, body: Any, statement: Statement, outer: Scope
    ) -> None:
        scope = Scope(name, node.lineno, node.end_lineno, outer)
        scope.definition = statement
        scope.columns = (node.col_offset, node.end_col_offset)
        if isinstance(node, ast.Lambda):
            scope.params = _list_params(node.args)
        self._add_scope(scope)
        single = Statement(body, "return", node.lineno, node.end_lineno, scope)
        for line in range(node.lineno, node.end_lineno + 1):
            scope.lines[line] = single


# -- the tree -------------------------------------------------------------------------------------


def _kind_of(node: Any) -> str:
    name = type(node).__name__.replace("Async", "").lower()
    renamed = {"functiondef": "def", "classdef": "class", "importfrom": "import", "trystar": "try"}
    return renamed.get(name, name)


def _first_line(node: Any) -> int:
    """A function begins at its first decorator."""
    lines = [decorator.lineno for decorator in getattr(node, "decorator_list", ())]
    return int(min([node.lineno, *lines]))


def _last_line(node: Any) -> int:
    body = getattr(node, "body", None)
    if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
        return max(int(node.lineno), _first_line(body[0]) - 1)
    cases = getattr(node, "cases", None)
    if cases:
        return max(int(node.lineno), int(cases[0].pattern.lineno) - 1)
    return int(node.end_lineno or node.lineno)


def _walk_header(node: Any) -> List[Any]:
    """The expressions of a statement, without the blocks below it."""
    found: List[Any] = []
    ahead = [
        child
        for child in ast.iter_child_nodes(node)
        if not isinstance(child, (ast.stmt, ast.ExceptHandler))
    ]
    while ahead:
        part = ahead.pop()
        found.append(part)
        ahead.extend(each for each in ast.iter_child_nodes(part) if not isinstance(each, ast.stmt))
    return found


def _list_could(node: Any) -> FrozenSet[str]:
    """What the blocks of a compound statement write or change, and `return`."""
    names: Set[str] = set()
    for top in (*node.body, *getattr(node, "orelse", ())):
        for part in ast.walk(top):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                names.add(part.id)
            elif isinstance(part, (ast.Attribute, ast.Subscript)):
                if not isinstance(part.ctx, ast.Load):
                    changed = part if isinstance(part, ast.Attribute) else part.value
                    names.update((find_root(part), ast.unparse(changed)))
            elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
                if part.func.attr in MUTATORS:
                    changed = part.func.value
                    names.update((find_root(changed), ast.unparse(changed)))
            elif isinstance(part, (ast.Return, ast.Yield)):
                names.add("return")
    return frozenset(names - {""})


def _may_leave(node: Any) -> bool:
    return any(isinstance(part, _LEAVING) for part in ast.walk(node) if part is not node)


def _list_params(args: ast.arguments) -> Tuple[str, ...]:
    """As they stand in `co_varnames`, without those with stars."""
    return tuple(arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs))


def _makes_object(node: Any) -> bool:
    value = getattr(node, "value", None)
    return isinstance(value, (ast.List, ast.Dict, ast.Set, *_COMPREHENSIONS))


def _find_unused(node: Any) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        function = node.value.func
        return str(getattr(function, "attr", None) or getattr(function, "id", ""))
    return ""


def _first_column(code: Any) -> int:
    """Where the code stands on its line; 0 before 3.11, where that is not known."""
    positions = getattr(code, "co_positions", None)
    if positions is None:
        return 0
    columns = [p[2] for p in positions() if p[0] == code.co_firstlineno and p[2] is not None]
    return max(columns, default=0)
