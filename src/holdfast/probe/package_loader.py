"""Loads this directory as the package `_holdfast`, without touching `sys.path`.

`boot.py`, and the code that is injected into a running process, execute this file.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from typing import Any


def load_module(here: str, name: str) -> Any:
    """Import a module of the package in the directory `here`."""
    try:
        return _import_module(here, name)
    except (EOFError, ValueError, TypeError):
        # Raised for an incomplete bytecode file, which a crash or a full disk leaves.
        _delete_bytecode(here)
    settings = sys.dont_write_bytecode, sys.pycache_prefix
    # If the file could not be deleted, it is not read there.
    sys.dont_write_bytecode, sys.pycache_prefix = True, os.devnull
    try:
        return _import_module(here, name)
    finally:
        sys.dont_write_bytecode, sys.pycache_prefix = settings


def _import_module(here: str, name: str) -> Any:
    is_loaded = "_holdfast" in sys.modules
    try:
        if not is_loaded:
            spec = importlib.util.spec_from_file_location(
                "_holdfast", os.path.join(here, "__init__.py"), submodule_search_locations=[here]
            )
            assert spec is not None
            assert spec.loader is not None
            sys.modules["_holdfast"] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(sys.modules["_holdfast"])
        return importlib.import_module("_holdfast." + name)
    except BaseException:
        if not is_loaded:
            for module in [each for each in sys.modules if each.partition(".")[0] == "_holdfast"]:
                del sys.modules[module]
        raise


def _delete_bytecode(here: str) -> None:
    import shutil  # nearly never needed, and not cheap to import

    cache = importlib.util.cache_from_source(os.path.join(here, "__init__.py"))
    shutil.rmtree(os.path.dirname(cache), ignore_errors=True)
