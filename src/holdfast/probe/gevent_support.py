"""gevent: a library that replaces the standard library's threads, locks and sockets.

A debugger that shares them with such a program would wait in the program's event loop. So pydevd is
loaded with copies of its own (it calls this gevent support), and this package uses the same copies.
That must be known before pydevd is loaded: `is_needed` reads a program and the modules of its own
that it imports, without running anything.
"""

from __future__ import annotations

import ast
import gc
import os
import re
import sys
import threading
from typing import Any, Dict, Iterator, List, Optional, Set

from . import line_monitor

# A worker class that is chosen by an argument, as in `gunicorn -k gevent`.
_ARGUMENT = re.compile(r"(?:-k|[\w-]+=)?gevent")
_SHARED_MODULES = ("threading", "time", "socket", "select")
_LIBRARIES = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)
_STANDARD_LIBRARY = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
_MAX_FILES = 500
_MAX_BYTES = 1_000_000


# -- in effect ------------------------------------------------------------------------------------


def is_available() -> bool:
    """Whether gevent can be imported. It is not looked for by importing it."""
    return _find_module("gevent") is not None


def use_private_modules() -> None:
    """Have every module of this package use pydevd's copies of what gevent replaces."""
    from _pydev_bundle import _pydev_saved_modules as saved

    package = __name__.rpartition(".")[0] + "."
    plain_thread = sys.modules["threading"].Thread
    for module in [module for name, module in sys.modules.items() if name.startswith(package)]:
        for name in _SHARED_MODULES:
            if getattr(module, name, None) is sys.modules.get(name):
                setattr(module, name, getattr(saved, name))
        for value in list(vars(module).values()):
            if isinstance(value, type) and plain_thread in value.__bases__:
                value.__bases__ = (saved.threading.Thread,)


def watch_parked_greenlets(db: Any) -> None:
    """Have new breakpoints stop in greenlets, too, that are in a function already.

    Those that wait are on no thread's stack, where such functions are looked for.
    """
    greenlet = sys.modules.get("greenlet")
    kind: Any = getattr(greenlet, "greenlet", None)
    if kind is None:
        return
    monitor = line_monitor.current_monitor()
    for value in gc.get_objects():
        if issubclass(type(value), kind) and value.gr_frame is not None:
            if monitor is not None:
                monitor.watch_stack(value.gr_frame)
            else:
                db.set_trace_for_frame_and_parents(threading.get_ident(), value.gr_frame)


# -- whether it is needed -------------------------------------------------------------------------


def is_needed(spec: Dict[str, Any]) -> bool:
    """Whether the program, which is about to run, uses gevent."""
    if not is_available():
        return False
    if os.environ.get("GEVENT_SUPPORT", "").lower() in ("1", "true", "yes"):  # as debugpy has it
        return True
    if any(_ARGUMENT.match(str(argument)) for argument in spec.get("args") or []):
        return True
    if "code" in spec:
        return _imports_gevent(_Source("", spec["code"].encode("utf-8", "replace")))
    if "module" in spec:
        files = [*_find_packages(spec["module"]), _find_module(spec["module"] + ".__main__")]
    else:
        script = os.path.abspath(spec["script"])
        files = [os.path.join(script, "__main__.py") if os.path.isdir(script) else script]
    return any(_imports_gevent(source) for source in map(_read, files) if source is not None)


class _Source:
    """The text of a module, and the folder that its relative imports begin at."""

    def __init__(self, path: str, text: bytes) -> None:
        self.path = path
        self.text = text
        self.is_library = any(place in path for place in _LIBRARIES)


def _imports_gevent(first: _Source) -> bool:
    """Whether it imports gevent, or a module of the same program that does."""
    queue: List[_Source] = [first]
    seen: Set[str] = {first.path}
    while queue and len(seen) < _MAX_FILES:
        source = queue.pop()
        if source.is_library and b"gevent" not in source.text:
            continue
        for name in _list_imports(source):
            if name == "gevent" or name.startswith("gevent."):
                return True
            if source.is_library:  # those are not followed further
                continue
            for path in _find_packages(name):
                if path not in seen:
                    seen.add(path)
                    imported = _read(path)
                    if imported is not None:
                        queue.append(imported)
    return False


def _list_imports(source: _Source) -> Iterator[str]:
    """The modules that a source imports; a relative one as the path of its file."""
    try:
        tree = ast.parse(source.text)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                folder = source.path
                for _ in range(node.level):
                    folder = os.path.dirname(folder)
                base = os.path.join(folder, *base.split("."))
                separator = os.sep
            else:
                separator = "."
                yield base
            for alias in node.names:
                yield base + separator + alias.name


def _find_packages(name: str) -> List[str]:
    """The files that importing this module runs: those of its packages, and its own."""
    if os.path.isabs(name):
        files = [_find_file(os.path.dirname(name)), _find_file(name)]
    else:
        parts = name.split(".")
        files = [_find_module(".".join(parts[:count])) for count in range(1, len(parts) + 1)]
    return [file for file in files if file is not None]


def _find_module(name: str) -> Optional[str]:
    for folder in sys.path:
        file = _find_file(os.path.join(folder or os.getcwd(), *name.split(".")))
        if file is not None:
            return file
    return None


def _find_file(base: str) -> Optional[str]:
    for path in (os.path.join(base, "__init__.py"), base + ".py"):
        if os.path.isfile(path):
            return path
    return None


def _read(path: Optional[str]) -> Optional[_Source]:
    """The source, unless it is of the standard library, or no source that we can read."""
    if path is None:
        return None
    source = _Source(os.path.abspath(path), b"")
    if source.path.startswith(_STANDARD_LIBRARY) and not source.is_library:
        return None
    try:
        with open(source.path, "rb") as file:
            source.text = file.read(_MAX_BYTES)
    except (OSError, ValueError):
        return None
    return source
