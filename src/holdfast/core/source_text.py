"""Decodes, parses and compiles Python source.

Everything that can be wrong with a source is raised as a SyntaxError with a line. The compiler's
warnings are not shown, because they concern the author of the program.
"""

from __future__ import annotations

import ast
import io
import threading
import tokenize
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType

# `catch_warnings` replaces a global list. Two threads at once could leave it replaced.
_lock = threading.Lock()

_UNREADABLE = (ValueError, OverflowError, RecursionError, MemoryError)


@contextmanager
def suppress_warnings() -> Iterator[None]:
    with _lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def decode(source: str | bytes, filename: str) -> str:
    """The text as the compiler sees it: PEP 263 cookie, no BOM, lines ending in a newline."""
    text = source if isinstance(source, str) else _decode_bytes(source, filename)
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def compile_quietly(text: str, filename: str, mode: str) -> CodeType:
    with suppress_warnings(), _raise_syntax_errors(text, filename):
        # Without the `__future__` imports and the `-O` of our own process.
        code: CodeType = compile(text, filename, mode, dont_inherit=True, optimize=0)
        return code


def parse_quietly(text: str, filename: str) -> ast.Module:
    with suppress_warnings(), _raise_syntax_errors(text, filename):
        return ast.parse(text, filename)


def _decode_bytes(data: bytes, filename: str) -> str:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode(encoding)
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        raise SyntaxError(f"(unicode error) {problem}", (filename, line, None, None)) from None
    except (SyntaxError, LookupError) as problem:
        raise SyntaxError(str(problem), (filename, 1, None, None)) from None


@contextmanager
def _raise_syntax_errors(text: str, filename: str) -> Iterator[None]:
    try:
        yield
    except _UNREADABLE as problem:
        line = _find_line(text, problem)
        message = str(problem) or "too deeply nested"
        raise SyntaxError(message, (filename, line, None, None)) from None


def _find_line(text: str, problem: BaseException) -> int:
    """The line of a null character or a lone surrogate, for which the compiler names no line."""
    at = problem.start if isinstance(problem, UnicodeEncodeError) else text.find("\0")
    return text.count("\n", 0, max(at, 0)) + 1
