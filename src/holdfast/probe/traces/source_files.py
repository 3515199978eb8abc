"""The facts of source files, kept for the life of the process."""

from __future__ import annotations

import ast
import io
import linecache
import os
import tokenize
import warnings
from typing import Any, Dict, Optional

from .statement_facts import FileFacts

_MAX_SOURCE = 2_000_000  # bytes of a file that is analysed
_FILES: Dict[str, Optional[FileFacts]] = {}


def find_file(path: str) -> Optional[FileFacts]:
    """The facts of a file; None if its source is not there, or is no Python."""
    signature = _sign(path)
    known = _FILES.get(path)
    if known is not None and known.signature == signature:
        return known
    facts = _analyse_file(path, signature)
    _FILES[path] = facts
    return facts


def _sign(path: str) -> Any:
    """Equal as long as a file is what it was."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size


def _analyse_file(path: str, signature: Any) -> Optional[FileFacts]:
    text = _read_source(path)
    if text is None:
        return None
    try:
        return FileFacts(path, text, signature, _parse_quietly(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


_PARSED_AS = "<holdfast>"
_IGNORE: Any = ("ignore", None, Warning, _PARSED_AS, 0)


def _parse_quietly(text: str) -> ast.Module:
    """Parse without the warnings that the program has seen when it was compiled.

    `catch_warnings` would make Python show others again that were shown once.
    """
    filters: Any = warnings.filters
    filters.insert(0, _IGNORE)
    try:
        return ast.parse(text, _PARSED_AS)
    finally:
        for index, entry in enumerate(filters):
            if entry is _IGNORE:
                del filters[index]
                break


def _read_source(path: str) -> Optional[str]:
    if path.startswith("<"):
        return _read_cached(path)
    try:
        with io.FileIO(path) as file:  # the program may have replaced `open`
            data = file.read(_MAX_SOURCE + 1)
        encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
        text = data.decode(encoding)
    except (OSError, ValueError, SyntaxError, LookupError):
        return None
    if len(data) > _MAX_SOURCE:
        return None
    return text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _read_cached(name: str) -> Optional[str]:
    """The source of code that has no file, if somebody has told `linecache`."""
    entry = linecache.cache.get(name)
    if entry is None or len(entry) != 4:
        return None
    lines: Any = entry[2]
    return "".join(lines)
