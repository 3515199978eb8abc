"""Which lines of a source can stop: asked of the code objects, as the interpreter would.

debugpy moves a breakpoint on a blank line backwards and calls it verified. Here the source is
compiled, and a line is executable when some instruction carries its number.
"""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import CodeType

from holdfast.core._statements import is_string, statements
from holdfast.core.source_text import compile_quietly, decode, no_warnings, parse_quietly
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
    """What becomes of a line breakpoint."""

    verified: bool
    line: int
    message: str | None = None
    suggestion: int | None = None


def analyse(source: str | bytes, filename: str) -> SourceLines:
    """Compile `source` (never run it) and note its executable lines."""
    text = ""
    try:
        text = decode(source, filename)
        code = compile_quietly(text, filename, "exec")
    except SyntaxError as error:
        max_line = _count_lines(text) or _count_raw_lines(source)
        problem = _problem(error, filename, text)
        return SourceLines(filename, frozenset(), max_line, problem, text)
    executable = frozenset(_code_lines(code)) - _string_lines(text, filename)
    return SourceLines(filename, executable, _count_lines(text), None, text)


def place(lines: SourceLines, line: int) -> Placement:
    """Where a breakpoint on `line` would stop, if it would."""
    if not 1 <= line <= lines.max_line:
        raise InvalidLine(
            f"no line {line} in {lines.file}: it has {lines.max_line}",
            file=lines.file,
            line=line,
            max_line=lines.max_line,
        )
    if lines.syntax_error is not None:
        problem = lines.syntax_error
        message = f"The file has a syntax error at line {problem.line}: {problem.message}"
        return Placement(False, line, message)
    if line in lines.executable:
        return Placement(True, line)
    return Placement(False, line, f"No executable code at line {line}", _suggest(lines, line))


def _suggest(lines: SourceLines, line: int) -> int | None:
    """The start of the statement that `line` is in the middle of; else the nearest line on."""
    first, last = _logical_line(lines.text, line)
    own = [number for number in lines.executable if first <= number <= last]
    after = [number for number in lines.executable if number >= line]
    return min(own or after, default=max(lines.executable, default=None))


def _logical_line(text: str, line: int) -> tuple[int, int]:
    """First and last line of the statement, or the header of one, that covers `line`.

    Only the tokenizer knows: the syntax tree does not say where a signature's parenthesis closes.
    """
    first = None
    layout = (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT)
    try:
        with no_warnings():
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
        pass  # It compiles all the same; then the nearest line has to do.
    return line, line


def _code_lines(code: CodeType) -> Iterator[int]:
    own = {line for _, _, line in code.co_lines() if line}
    yield from own
    for inner in code.co_consts:
        if isinstance(inner, CodeType) and _is_reached(inner, own):
            yield from _code_lines(inner)


def _is_reached(inner: CodeType, outer_lines: set[int]) -> bool:
    """Whether some code makes a function (or class) of `inner`.

    Up to 3.11 the functions under `if False:` are kept although nothing makes them. From 3.14 on
    annotations are functions of their own, which run only when somebody asks for them.
    """
    return inner.co_firstlineno in outer_lines and inner.co_name != "__annotate__"


def _string_lines(text: str, filename: str) -> set[int]:
    """Lines that hold nothing but a docstring, or a string used as a comment.

    Some have an instruction (a class stores its docstring), but none that anybody means to stop at.
    An empty module's only instruction, its return, goes the same way: up to 3.10 it is on line 1.
    """
    try:
        everything = list(statements(parse_quietly(text, filename).body))
    except SyntaxError:
        return set()  # Too deeply nested for a tree, though it compiles.
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


def _problem(error: SyntaxError, filename: str, text: str) -> SyntaxProblem:
    line = error.lineno or 1
    written = text.split("\n")
    shown = error.text or (written[line - 1] if line <= len(written) else None)
    return SyntaxProblem(
        file=filename,
        line=line,
        offset=error.offset,
        message=error.msg,
        text=shown.rstrip("\n") if shown else None,
    )


def _count_lines(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n") and text != "")


def _count_raw_lines(source: str | bytes) -> int:
    """The number of lines in bytes that could not be decoded."""
    return len(source.splitlines())
