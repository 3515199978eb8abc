"""Imports debugpy from the server's installation, without leaving traces in the program.

The search path, the environment and the bytecode settings are as before when it is done.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import warnings
from typing import Any, Iterator, Optional

from .pydevd_access import debugpy_folder

# Read by pydevd when it is imported, and gone from the environment before the program starts.
_IMPORT_SETTINGS = {
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    "PYDEVD_WARN_EVALUATION_TIMEOUT": "3600",
    "PYDEVD_WARN_SLOW_RESOLVE_TIMEOUT": "3600",
    # The compiled form cannot be patched, exists only if this Python is the server's, gains little
    # where next to nothing is traced, and leaves its caller's exception behind in a generator.
    "PYDEVD_USE_CYTHON": "NO",
}


def import_pydevd(debugpy_dir: str, *, with_gevent: bool) -> Any:
    environment = dict(os.environ)
    os.environ.update(_IMPORT_SETTINGS)
    # The program's own gevent: the server's folder may have that of another Python.
    os.environ["GEVENT_SUPPORT"] = str(with_gevent and _import_gevent())
    path = sys.path[:]
    sys.path.insert(0, debugpy_dir)
    bytecode = sys.dont_write_bytecode, sys.pycache_prefix
    cache = _bytecode_cache()
    # Without a cache of our own, none is read or written: another's could have any code in it.
    sys.dont_write_bytecode, sys.pycache_prefix = cache is None, cache or os.devnull
    try:
        with _complete_files_only(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # with `-W error` its warnings would be errors
            try:
                pydevd = _import_modules()
            except (EOFError, ValueError, TypeError):
                # Raised for an incomplete bytecode file, which a machine that crashed leaves.
                _delete_bytecode(cache or os.devnull)
                pydevd = _import_modules()
    finally:
        sys.path[:] = path
        sys.dont_write_bytecode, sys.pycache_prefix = bytecode
        for name in set(os.environ) - set(environment):  # pydevd leaves one of its own behind
            del os.environ[name]
        os.environ.update(environment)
    return pydevd


def _import_gevent() -> bool:
    try:
        import gevent  # noqa: F401
    except Exception:
        return False
    return True


def _import_modules() -> Any:
    import debugpy.server  # noqa: F401  (this brings the vendored pydevd in)
    import pydevd
    from _pydevd_bundle import pydevd_process_net_command_json  # noqa: F401

    return pydevd


@contextlib.contextmanager
def _complete_files_only() -> Iterator[None]:
    """On a full disk older Pythons keep an incomplete bytecode file, and fail on it ever after."""
    importing: Any = sys.modules.get("_frozen_importlib_external")
    original: Any = getattr(importing, "_write_atomic", None)

    def write(path: str, data: bytes, mode: int = 0o666) -> None:
        original(path, data, mode)
        if os.stat(path).st_size != len(data):
            os.unlink(path)

    if original is None:
        yield
        return
    importing._write_atomic = write
    try:
        yield
    finally:
        importing._write_atomic = original


def _delete_bytecode(folder: str) -> None:
    """Have everything compiled again, and imported again as far as it was."""
    import shutil  # nearly never needed, and not cheap to import

    shutil.rmtree(folder, ignore_errors=True)
    for name, module in list(sys.modules.items()):
        if (getattr(module, "__file__", None) or "").startswith(debugpy_folder()):
            del sys.modules[name]


def _bytecode_cache() -> Optional[str]:
    """Where the debugger's bytecode is kept: without it a start-up takes twice as long.

    debugpy's own directory belongs to the server, holds one Python's bytecode, and may not be
    writable. None if there is no directory that only this user can write to.
    """
    if os.path.basename(os.path.dirname(debugpy_folder())).startswith("holdfast-"):
        return None  # a copy, which has its bytecode beside it and is removed as a whole
    caches = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(caches):  # a relative one is to be ignored
        caches = os.path.join(os.path.expanduser("~"), ".cache")
    folder = os.path.join(caches, "holdfast")
    try:
        return os.path.join(folder, "pycache") if _make_private(folder) else None
    except OSError:
        return None


def _make_private(folder: str) -> bool:
    """Create the directory, or tighten it, whatever the umask. False if it is not ours."""
    os.makedirs(os.path.dirname(folder), mode=0o700, exist_ok=True)
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        pass
    if os.lstat(folder).st_uid != os.geteuid():  # of a link, too
        return False
    status = os.stat(folder)
    if status.st_uid != os.geteuid() or not stat.S_ISDIR(status.st_mode):
        return False
    if stat.S_IMODE(status.st_mode) != 0o700:
        os.chmod(folder, 0o700)
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):  # others may have put code there
        import shutil

        shutil.rmtree(os.path.join(folder, "pycache"), ignore_errors=True)
    return True
