"""Lets a recorder see, and replace, the code of each module before it runs.

The functions that stand in for those of the import system bear its file name, so that they are
left out of tracebacks as its own are.
"""

from __future__ import annotations

import importlib.machinery
import sys
import zipimport
from typing import Any, Callable, Dict, List, Optional, Tuple

Prepare = Callable[[Any, str], Any]

_SOURCE = """
def wrap(original, prepare, look):
    def get_code(self, fullname):
        code = original(self, fullname)
        look()
        return prepare(code, fullname)
    return get_code

def wrap_archive(original, prepare, look):
    def _get_module_code(self, fullname):
        code, is_package, path = original(self, fullname)
        look()
        return prepare(code, fullname), is_package, path
    return _get_module_code
"""
_IMPORT_SYSTEM = "<frozen importlib._bootstrap_external>"
_PYTEST = "_pytest.assertion.rewrite"
_LOADERS: Tuple[Any, ...] = (
    importlib.machinery.SourceFileLoader,
    importlib.machinery.SourcelessFileLoader,
    zipimport.zipimporter,
)

_undo: List[Callable[[], None]] = []
_prepare: Optional[Prepare] = None


def install(prepare: Prepare) -> None:
    global _prepare
    uninstall()
    _prepare = prepare
    namespace: Dict[str, Any] = {"__name__": "importlib._bootstrap_external"}
    exec(compile(_SOURCE, _IMPORT_SYSTEM, "exec"), namespace)
    for loader in _LOADERS:
        wrapped = namespace["wrap"](loader.get_code, prepare, _look_for_pytest)
        _replace(loader, "get_code", wrapped)
    if not hasattr(zipimport.zipimporter, "exec_module"):  # 3.9 loads modules by itself
        original = vars(zipimport)["_get_module_code"]
        wrapped = namespace["wrap_archive"](original, prepare, _look_for_pytest)
        _replace(zipimport, "_get_module_code", wrapped)
    _look_for_pytest()


def uninstall() -> None:
    global _prepare
    _prepare = None
    while _undo:
        _undo.pop()()


def _replace(owner: Any, name: str, value: Any) -> None:
    """Set an attribute until `uninstall`."""
    missing = object()
    before = vars(owner).get(name, missing)

    def undo() -> None:
        if vars(owner).get(name) is value:
            if before is missing:
                delattr(owner, name)
            else:
                setattr(owner, name, before)

    setattr(owner, name, value)
    _undo.append(undo)


# -- pytest ---------------------------------------------------------------------------------------


def _look_for_pytest() -> None:
    """pytest loads test modules by itself, with rewritten assertions."""
    module = sys.modules.get(_PYTEST)
    names = vars(module) if module is not None else {}
    if _prepare is None or "_write_pyc" not in names or hasattr(names["_read_pyc"], "_holdfast"):
        return
    read, rewrite, write = names["_read_pyc"], names["_rewrite_test"], names["_write_pyc"]
    originals: Dict[int, Tuple[Any, Any]] = {}  # by the id of code that we have replaced

    def prepare(code: Any) -> Any:
        if _prepare is None or code is None:
            return code
        new = _prepare(code, _name_module(code.co_filename))
        if new is not code:
            originals[id(new)] = (new, code)
        return new

    def _read_pyc(*args: Any, **kwargs: Any) -> Any:
        return prepare(read(*args, **kwargs))

    def _rewrite_test(*args: Any, **kwargs: Any) -> Any:
        stat, code = rewrite(*args, **kwargs)
        return stat, prepare(code)

    def _write_pyc(state: Any, code: Any, *args: Any, **kwargs: Any) -> Any:
        return write(state, originals.get(id(code), (None, code))[1], *args, **kwargs)

    for function in (_read_pyc, _rewrite_test, _write_pyc):
        function._holdfast = True  # type: ignore[attr-defined]
        _replace(module, function.__name__, function)


def _name_module(file: str) -> str:
    return file.replace("\\", "/").rpartition("/")[2].rpartition(".")[0]
