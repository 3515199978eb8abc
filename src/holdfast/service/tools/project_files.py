"""Finds the Python files of a project: all of them, or those that the end of a path names.

Both are bounded: a client may work in a directory that is far larger than a project.
"""

from __future__ import annotations

import difflib
import os
from collections import deque
from collections.abc import Iterator

_MAX_ENTRIES = 20_000
_MAX_FILES = 2000
_MAX_NEAR = 3
_SUFFIXES = (".py", ".pyw")
_SKIPPED = frozenset({"node_modules", "__pycache__", "site-packages"})
_ENVIRONMENT = "pyvenv.cfg"
"""The file that makes a directory a virtual environment."""


def list_sources(folder: str) -> list[str]:
    """The Python files below a directory, the nearest first; not those of libraries."""
    found: list[str] = []
    for path in _walk(folder):
        if path.endswith(_SUFFIXES):
            found.append(path)
            if len(found) == _MAX_FILES:
                break
    return found


def find_by_suffix(folder: str, name: str) -> list[str]:
    """The files below a directory whose paths end with a relative path, such as `shop/core.py`."""
    end = os.sep + os.path.normpath(name)
    return [path for path in _walk(folder) if path.endswith(end)]


def list_near_files(folder: str, path: str) -> list[str]:
    """The Python files below a directory whose names come nearest to that of a path."""
    by_name: dict[str, list[str]] = {}
    for source in list_sources(folder):
        by_name.setdefault(_stem(source), []).append(source)
    near = difflib.get_close_matches(_stem(path), by_name, _MAX_NEAR)
    return [source for name in near for source in by_name[name]][:_MAX_NEAR]


def _stem(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]


def _walk(folder: str) -> Iterator[str]:
    """The files below a directory, level by level, in the order of their names."""
    waiting, left = deque([folder]), _MAX_ENTRIES
    while waiting and left > 0:
        files, folders = _read_folder(waiting.popleft())
        left -= len(files) + len(folders)
        yield from files
        waiting.extend(folders)


def _read_folder(folder: str) -> tuple[list[str], list[str]]:
    """The files of a directory, and the directories in it that a project's own files may be in."""
    files, folders = [], []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if not entry.name.startswith(".") and entry.name not in _SKIPPED:
                        folders.append(entry.path)
                elif entry.is_file():
                    files.append(entry.path)
    except OSError:
        return [], []
    is_environment = os.path.join(folder, _ENVIRONMENT) in files
    return ([], []) if is_environment else (sorted(files), sorted(folders))
