"""Finds the lines of a source at which a program can stop.

debugpy moves a breakpoint on a blank line backwards and reports it as verified. Here the source is
compiled, and a line is executable if an instruction has its number.
"""

from __future__ import annotations

import io
import os
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import CodeType

from holdfast.core._statements import is_string, statements
from holdfast.core.source_text import compile_quietly, decode, parse_quietly, suppress_warnings
from holdfast.errors import InvalidLine


@dataclass(frozen=True)
class SyntaxProblem:
    file: str
    line: int
    offset: int | None
    message: str
    text: str | None


@dataclass(frozen=True)
class SourceLines:
    file: str
    executable: frozenset[int]
    max_line: int
    syntax_error: SyntaxProblem | None = None
    text: str = field(default="", repr=False)


@dataclass(frozen=True)
class Placement:
    """Where a line breakpoint stops, or why it does not."""

    verified: bool
    line: int
    message: str | None = None
    suggestion: int | None = None


def analyse(source: str | bytes, filename: str) -> SourceLines:
    """Compile `source` without running it, and collect its executable lines."""
    text = ""
    try:
        text = decode(source, filename)
        code = compile_quietly(text, filename, "exec")
    except SyntaxError as error:
        max_line = _count_lines(text) or _count_raw_lines(source)
        problem = _build_problem(error, filename, text)
        return SourceLines(filename, frozenset(), max_line, problem, text)
    executable = frozenset(_list_lines(code)) - _find_string_lines(text, filename)
    return SourceLines(filename, executable, _count_lines(text), None, text)


def place(lines: SourceLines, line: int) -> Placement:
    """Where a breakpoint on `line` stops. Raises InvalidLine if there is no such line."""
    if not 1 <= line <= lines.max_line:
        raise InvalidLine(
            f"no line {line} in {lines.file}: it has {lines.max_line}",
            hint=None if lines.max_line else "The file is empty: there is nothing to stop at.",
            file=lines.file,
            line=line,
            max_line=lines.max_line,
        )
    if lines.syntax_error is not None:
        problem = lines.syntax_error
        if _is_python(lines.file):
            message = f"The file has a syntax error at line {problem.line}: {problem.message}"
        else:
            message = (
                "This is not Python, and a breakpoint stops only in Python code. To stop where a "
                "template is rendered, set one in the code that renders it."
            )
        return Placement(False, line, message)
    if line in lines.executable:
        return Placement(True, line)
    return Placement(False, line, f"No executable code at line {line}", _suggest(lines, line))


def _is_python(file: str) -> bool:
    """By its name. One without a suffix is a script."""
    return os.path.splitext(file)[1] in ("", ".py", ".pyw", ".pyi")


def _suggest(lines: SourceLines, line: int) -> int | None:
    """The nearest line of the statement that contains `line`, or else of all; the later of two."""
    first, last = _logical_line(lines.text, line)
    own = [number for number in lines.executable if first <= number <= last]
    return min(
        own or lines.executable, key=lambda number: (abs(number - line), -number), default=None
    )


def _logical_line(text: str, line: int) -> tuple[int, int]:
    """First and last line of the statement, or of its header, that contains `line`.

    It uses the tokenizer, because the syntax tree does not say where a signature ends.
    """
    first = None
    layout = (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT)
    try:
        with suppress_warnings():
            for token in tokenize.generate_tokens(io.StringIO(text).readline):
                if first is None and token.type not in layout:
                    first = token.start[0]
                if first is not None and first > line:
                    break
                if token.type == tokenize.NEWLINE and first is not None:
                    if line <= token.start[0]:
                        return first, token.start[0]
                    first = None
    except (tokenize.TokenError, SyntaxError):
        pass  # the compiler accepts what the tokenizer does not: suggest the nearest line
    return line, line


def _list_lines(code: CodeType) -> Iterator[int]:
    own = {line for _, _, line in code.co_lines() if line}
    yield from own
    for inner in code.co_consts:
        if isinstance(inner, CodeType) and _is_reached(inner, own):
            yield from _list_lines(inner)


def _is_reached(inner: CodeType, outer_lines: set[int]) -> bool:
    """Whether some code creates a function or class from `inner`.

    Up to Python 3.11 the functions under `if False:` are kept, although no code creates them. From
    3.14 on, annotations are functions, which run only when somebody reads them.
    """
    return inner.co_firstlineno in outer_lines and inner.co_name != "__annotate__"


def _find_string_lines(text: str, filename: str) -> set[int]:
    """Lines with only a docstring, or with a string that is used as a comment.

    Some have an instruction, because a class stores its docstring, but nobody wants to stop there.
    Nor at the only instruction of an empty module, which is on line 1 up to Python 3.10.
    """
    try:
        everything = list(statements(parse_quietly(text, filename).body))
    except SyntaxError:
        return set()  # it compiles, but is too deeply nested for a syntax tree
    if not everything:
        return {1}
    strings: set[int] = set()
    others: set[int] = set()
    for statement in everything:
        first, last = statement.lineno, statement.end_lineno or statement.lineno
        if is_string(statement):
            strings.update(range(first, last + 1))
        elif hasattr(statement, "body") or hasattr(statement, "cases"):
            others.add(first)
        else:
            others.update(range(first, last + 1))
    return strings - others


def _build_problem(error: SyntaxError, filename: str, text: str) -> SyntaxProblem:
    line = error.lineno or 1
    lines = text.split("\n")
    source = error.text or (lines[line - 1] if line <= len(lines) else None)
    return SyntaxProblem(
        file=filename,
        line=line,
        offset=error.offset,
        message=error.msg,
        text=source.rstrip("\n") if source else None,
    )


def _count_lines(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n") and text != "")


def _count_raw_lines(source: str | bytes) -> int:
    """The number of lines in bytes that could not be decoded."""
    return len(source.splitlines())
