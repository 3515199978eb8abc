"""What an agent learns from reading the source, by a fixed rule and without knowing the bug.

It is the same for every contender: in which functions to look, in which order, and at which lines.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bench.agent.buggy_programs import Case

Definition = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Function:
    """A function of the program."""

    name: str
    """As `main`, `Basket.put` or `retried.wrapper`."""
    node: Definition

    @property
    def first_line(self) -> int:
        return self.node.body[0].lineno

    @property
    def lines(self) -> list[int]:
        """The lines that its statements begin at."""
        inner = [node for node in _walk_own(self.node) if isinstance(node, ast.stmt)]
        return sorted({node.lineno for node in inner})

    @property
    def last_lines(self) -> list[int]:
        """The lines where it may end."""
        returns = [node.lineno for node in _walk_own(self.node) if isinstance(node, ast.Return)]
        last = self.node.body[-1]
        return sorted({*returns, last.lineno})

    @property
    def parameters(self) -> list[str]:
        arguments = self.node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        return [argument.arg for argument in every]

    def list_names(self, before: int | None = None) -> list[str]:
        """Its parameters and variables, in order; only those bound above a line."""
        stored = [
            node
            for node in _walk_own(self.node)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        ]
        bound = [node.id for node in stored if before is None or node.lineno < before]
        return list(dict.fromkeys([*self.parameters, *bound]))


class Reading:
    """One program, as read."""

    def __init__(self, case: Case) -> None:
        self._functions = dict(_list_functions(ast.parse(case.text), ""))
        self._symptom = next(
            function
            for function in reversed(self._functions.values())
            if function.node.lineno <= case.symptom_line <= (function.node.end_lineno or 0)
        )
        self._case = case

    @property
    def symptom(self) -> Function:
        """The function where the symptom shows."""
        return self._symptom

    def order_functions(self) -> list[Function]:
        """From the symptom back: what its value comes from, depth first; callers; the rest."""
        order = {self._symptom.name: self._symptom}
        for name in self._list_feeding():
            self._follow(name, order)
        for name, function in self._functions.items():
            if self._symptom.name in self._list_called(function.node):
                self._follow(name, order)
        for name in self._functions:
            self._follow(name, order)
        return list(order.values())

    def find_places(self, condition: str) -> list[tuple[Function, int]]:
        """Where every name of this condition is bound: the functions, and a line in each."""
        names = {node.id for node in ast.walk(ast.parse(condition)) if isinstance(node, ast.Name)}
        places = []
        for function in self.order_functions():
            line = next((n for n in function.lines if names <= set(function.list_names(n))), None)
            if line is not None:
                places.append((function, line))
        return places

    def find_condition(self, function: Function) -> str | None:
        """What the symptom says of the wrong case, if this function's parameters can tell."""
        condition = self._case.program.condition
        if condition is None or (function, function.first_line) not in self.find_places(condition):
            return None
        return condition

    def _list_feeding(self) -> list[str]:
        """Functions that the symptom's variable comes from, nearest first, by its data flow."""
        wanted = {self._case.program.variable}
        called: list[str] = []
        for statement in reversed(list(_walk_statements(self._symptom.node))):
            if statement.lineno > self._case.symptom_line:
                continue
            names = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
            if names & wanted:
                wanted |= names
                called += self._list_called(statement)
        return called

    def _list_called(self, node: ast.AST) -> list[str]:
        """The program's functions that are called there, the outermost call first."""
        names = []
        for call in ast.walk(node):
            if isinstance(call, ast.Call):
                last = call.func.attr if isinstance(call.func, ast.Attribute) else ""
                last = call.func.id if isinstance(call.func, ast.Name) else last
                names += self._resolve(last)
        return names

    def _resolve(self, called: str) -> list[str]:
        if not called:
            return []
        ends = (f".{called}", f".{called}.__init__")
        return [
            name
            for name in self._functions
            if name in (called, f"{called}.__init__") or name.endswith(ends)
        ]

    def _follow(self, name: str, order: dict[str, Function]) -> None:
        if name in order:
            return
        function = self._functions[name]
        for decorator in function.node.decorator_list:
            if isinstance(decorator, ast.Name):
                self._follow_inner(decorator.id, order)
        order[name] = function
        for statement in reversed(list(_walk_statements(function.node))):
            for called in self._list_called(statement):
                self._follow(called, order)
        self._follow_inner(name, order)

    def _follow_inner(self, outer: str, order: dict[str, Function]) -> None:
        for name in self._functions:
            if name.startswith(f"{outer}."):
                self._follow(name, order)


def _list_functions(node: ast.AST, prefix: str) -> Iterator[tuple[str, Function]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Definition):
            yield prefix + child.name, Function(prefix + child.name, child)
            yield from _list_functions(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.ClassDef):
            yield from _list_functions(child, f"{prefix}{child.name}.")


def _walk_own(node: ast.AST) -> Iterator[ast.AST]:
    """What is inside, without functions and comprehensions, which have frames of their own."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.expr | ast.ExceptHandler):
            yield child
        if not isinstance(child, Definition | ast.Lambda | ast.GeneratorExp | ast.ListComp):
            yield from _walk_own(child)


def _walk_statements(function: Definition) -> Iterator[ast.stmt]:
    """The simple statements and headers in it, in order."""
    for node in _walk_own(function):
        if isinstance(node, ast.stmt):
            yield _without_body(node)


def _without_body(node: ast.stmt) -> ast.stmt:
    """The header of a compound statement: its body is walked on its own."""
    if not hasattr(node, "body"):
        return node
    parts: dict[str, Any] = {name: getattr(node, name) for name in node._fields}
    for name in ("body", "orelse", "handlers", "finalbody"):
        if name in parts:
            parts[name] = []
    return ast.copy_location(type(node)(**parts), node)
