"""Checks the conditions of breakpoints, which are Python expressions.

debugpy accepts a condition that does not compile, reports the breakpoint as verified, and never
stops. So it is compiled here first.
"""

from __future__ import annotations

import ast

from holdfast.core.source_text import compile_quietly, parse_quietly
from holdfast.errors import InvalidCondition


def check(text: str) -> None:
    """Raise InvalidCondition unless `text` is a Python expression."""
    expression = text.strip()
    if not expression:
        raise _invalid(text, "SyntaxError: the condition is empty", None)
    try:
        compile_quietly(expression, "<condition>", "eval")
    except SyntaxError as problem:
        error = f"SyntaxError: {problem.msg}"
        raise _invalid(text, error, _find_offset(text, problem)) from None


def is_expression(text: str) -> bool:
    """Whether a text is a Python expression, by its grammar."""
    try:
        ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _find_offset(text: str, problem: SyntaxError) -> int | None:
    """The column, from 1, in the text as it was given."""
    if not problem.offset:
        return None
    indent = len(text) - len(text.lstrip()) if problem.lineno == 1 else 0
    return problem.offset + indent


def _invalid(text: str, error: str, offset: int | None) -> InvalidCondition:
    return InvalidCondition(
        f"not a Python expression: {text!r}: {error}",
        hint="`=` assigns. Compare with `==`." if _is_assignment(text) else None,
        condition=text,
        error=error,
        offset=offset,
    )


def _is_assignment(text: str) -> bool:
    try:
        body = parse_quietly(text.strip(), "<condition>").body
    except SyntaxError:
        return False
    return [type(statement) for statement in body] == [ast.Assign]
