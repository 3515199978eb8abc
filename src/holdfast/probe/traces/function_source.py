"""The source of a function: the lines of its file, and its node in the tree."""

from __future__ import annotations

import ast
import importlib.util
import linecache
import os
import tokenize
import zipimport
from typing import Any, Dict, List, Tuple

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SOURCES: Dict[str, List[str]] = {}
_PARSED: Dict[int, Tuple[List[str], Any]] = {}  # the last one, by the id of its lines


def first_line(node: Any) -> int:
    """Where a statement begins: a function or class with its decorators."""
    lines = [node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))]
    return int(min(lines))


def parse_source(lines: List[str]) -> Any:
    known = _PARSED.get(id(lines))
    if known is not None and known[0] is lines:
        return known[1]
    try:
        tree = ast.parse("".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    _PARSED.clear()
    _PARSED[id(lines)] = (lines, tree)
    return tree


def find_function(tree: Any, code: Any) -> Any:
    """The node that a code object was compiled from."""
    if tree is None or code.co_name == "<module>":
        return tree
    found: Any = None
    for node in ast.walk(tree):
        if isinstance(node, _FUNCTIONS) and node.name == code.co_name:
            if first_line(node) <= code.co_firstlineno <= node.lineno:
                found = node
        elif isinstance(node, ast.ClassDef) and node.name == code.co_name:
            if first_line(node) <= code.co_firstlineno <= node.lineno:
                found = node
        elif isinstance(node, ast.Lambda) and code.co_name == "<lambda>":
            if node.lineno <= code.co_firstlineno <= (node.end_lineno or node.lineno):
                found = found or node
    return found


def read_source(code: Any) -> List[str]:
    """The lines of a code object's file; nothing is left in `linecache`."""
    file = code.co_filename
    lines = _SOURCES.get(file)
    if lines is None:
        lines = _SOURCES[file] = _read_file(file)
    return lines


def _read_file(file: str) -> List[str]:
    entry = linecache.cache.get(file)
    if entry is not None and len(entry) > 2:  # such as of a cell of a notebook, or a doctest
        return [str(line) for line in entry[2]]
    try:
        with tokenize.open(file) as opened:
            return opened.readlines()
    except (OSError, SyntaxError, ValueError):
        return _read_archive(file)


def _read_archive(file: str) -> List[str]:
    """The source of a module in a zip file."""
    archive = os.path.dirname(file)
    while archive and not os.path.exists(archive) and archive != os.path.dirname(archive):
        archive = os.path.dirname(archive)
    if not os.path.isfile(archive):
        return []
    try:
        text = importlib.util.decode_source(zipimport.zipimporter(archive).get_data(file))
    except (OSError, ImportError, SyntaxError, ValueError):
        return []
    return text.splitlines(keepends=True)
