"""Parses log messages: text with expressions in braces, as in an f-string.

    x = {x}     {total / n:.2f}     {name!r:>20}     {i=}     {{literal braces}}

An expression may contain strings, brackets and lambdas. It ends at the first `}`, `:` or `!`
outside of these. A format spec has no nested fields.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from holdfast.core.source_text import compile_quietly
from holdfast.errors import InvalidLogMessage


@dataclass(frozen=True)
class LogExpression:
    expression: str
    conversion: str | None = None
    """`r`, `s`, `a` or None."""
    spec: str = ""


Part = str | LogExpression

_TEXT = re.compile(r"[^{}]+|\{\{|\}\}")
_NAME = re.compile(r"\w+")
_STRING = re.compile(
    r'''"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\])*"'''
    r"|'''(?:\\.|[^\\])*?'''|'(?:\\.|[^'\\])*'",
    re.DOTALL,
)
_CLOSES = {")": "(", "]": "[", "}": "{"}
# The `=` of `{x=}`, which is not part of a comparison.
_SELF_NAMING = re.compile(r"(?<![=!<>:])=\s*$")


def parse(text: str) -> tuple[Part, ...]:
    """The parts of a log message in order. Neighbouring texts are joined."""
    return _Parser(text).parse()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._parts: list[Part] = []

    def parse(self) -> tuple[Part, ...]:
        while self._at < len(self._text):
            literal = _TEXT.match(self._text, self._at)
            if literal is not None:
                self._add_text({"{{": "{", "}}": "}"}.get(literal[0], literal[0]))
                self._at = literal.end()
            elif self._text[self._at] == "{":
                self._parse_field()
            else:
                raise self._error("a single `}`", self._at)
        return tuple(self._parts)

    def _parse_field(self) -> None:
        start = self._at
        end = self._find_end(start + 1)
        written = self._text[start + 1 : end]
        self._at = end
        conversion = self._parse_conversion()
        spec = self._parse_spec()
        if self._peek() != "}":
            raise self._error("a `{` that is never closed", start)
        self._at += 1
        if _SELF_NAMING.search(written):
            self._add_text(written)
            written = written.rstrip()[:-1]
            conversion = conversion or (None if spec else "r")
        self._check(written, start + 1)
        self._parts.append(LogExpression(written.strip(), conversion, spec))

    def _find_end(self, at: int) -> int:
        """The position of the `}`, `:` or `!` after the expression, or the end of the text."""
        text, brackets, lambdas = self._text, list[str](), 0
        while at < len(text):
            char = text[at]
            skip = _STRING.match(text, at) or _NAME.match(text, at)
            if skip is not None:
                lambdas += skip[0] == "lambda" and not brackets
                at = skip.end()
                continue
            if char in "([{":
                brackets.append(char)
            elif char == "#":
                raise self._error("a `#` outside a string", at)
            elif brackets and char in _CLOSES:
                if brackets.pop() != _CLOSES[char]:
                    raise self._error(f"a `{char}` that closes nothing", at)
            elif not brackets and char == ":" and lambdas:
                lambdas -= 1
            elif not brackets and text.startswith("!=", at):
                at += 1
            elif not brackets and char in "}:!":
                return at
            at += 1
        return at

    def _parse_conversion(self) -> str | None:
        if self._peek() != "!":
            return None
        conversion = self._text[self._at + 1 : self._at + 2]
        if conversion not in ("r", "s", "a"):
            raise self._error("a conversion other than !r, !s or !a", self._at)
        self._at += 2
        if self._peek() not in (":", "}", ""):
            raise self._error("a conversion other than !r, !s or !a", self._at - 2)
        return conversion

    def _parse_spec(self) -> str:
        if self._peek() != ":":
            return ""
        start = self._at + 1
        self._at = start
        while self._peek() not in ("{", "}", ""):
            self._at += 1
        if self._peek() == "{":
            raise self._error("a field nested in a format spec", self._at)
        return self._text[start : self._at]

    def _check(self, written: str, start: int) -> None:
        expression = written.strip()
        position = start + len(written) - len(written.lstrip())
        if not expression:
            raise self._error("an empty expression", start)
        try:
            compile_quietly(expression, "<log message>", "eval")
        except SyntaxError as problem:
            column = (problem.offset or 1) - 1 if problem.lineno in (None, 1) else 0
            at = position + min(max(column, 0), len(expression))
            raise self._error(f"SyntaxError: {problem.msg}", at) from None

    def _add_text(self, text: str) -> None:
        last = self._parts[-1] if self._parts else None
        if isinstance(last, str):
            self._parts[-1] = last + text
        else:
            self._parts.append(text)

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _error(self, error: str, position: int) -> InvalidLogMessage:
        return InvalidLogMessage(
            f"not a log message: {error}, at position {position} of {self._text!r}",
            log_message=self._text,
            position=position,
            error=error,
        )
