"""Which code objects a name means: `func`, `Class.method`, `module.func`, `outer.inner`.

A bare name means a function of the script; in a test run, of the files below the roots. Functions
that are defined later are found as well: in each module's code before it runs, and by their own
names when they start.
"""

from __future__ import annotations

import os
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from ..function_names import LAMBDA, list_module_names, strip_locals, walk_functions
from .own_files import OwnFiles
from .trace_errors import is_own_file


class ChosenFunction(NamedTuple):
    """A code object that is meant."""

    code: Any
    name: str
    """With its module."""
    file: str


class FunctionChoice:
    """The name that the user gave."""

    def __init__(
        self, name: str, is_own: bool, script: Optional[str], roots: Sequence[str] = ()
    ) -> None:
        parts = strip_locals(name).split(".")
        self.bare_name = parts[-1]
        self._names: Dict[str, List[str]] = {}  # module names by qualified name; "" for any
        for split in range(len(parts)):
            qualname = ".".join(parts[split:])
            self._names.setdefault(qualname, []).append(".".join(parts[:split]))
        self._is_own = is_own
        self._script = None if script is None else os.path.realpath(script)
        self._own_files = OwnFiles(roots)

    # -- by name ----------------------------------------------------------------------------------

    def may_match(self, code: Any) -> bool:
        """Whether its bare name is the one; quick."""
        return bool(code.co_name == self.bare_name)

    def match(
        self, code: Any, qualname: str, names: Dict[str, Any], file: str
    ) -> Optional[ChosenFunction]:
        """The function, if it is meant. `names` are its globals, as far as they are known."""
        modules = self._names.get(qualname)
        if modules is None or is_own_file(code.co_filename):
            return None
        known = list_module_names(names)
        is_named = any(_is_module(wanted, known) for wanted in modules if wanted)
        if not is_named and not ("" in modules and self._is_allowed(file, known)):
            return None
        return ChosenFunction(code, _join_name(known, qualname), code.co_filename)

    def match_start(self, code: Any, names: Dict[str, Any]) -> Optional[ChosenFunction]:
        """The function that starts, if it is meant. From Python 3.11 on code knows its name."""
        qualname = strip_locals(getattr(code, "co_qualname", code.co_name))
        file = code.co_filename
        if file.startswith("<"):  # made by `exec`: it belongs to the module that it runs in
            origin = names.get("__file__")
            file = origin if type(origin) is str else file
        return self.match(code, qualname, names, file)

    def _is_allowed(self, file: str, modules: Tuple[str, ...]) -> bool:
        """Whether a function that is named without its module may be in this file."""
        if not self._is_own:
            return True
        if self._script is not None:
            return "__main__" in modules or os.path.realpath(file) == self._script
        return bool(self._own_files.find_path(file))

    # -- in the code of a module ------------------------------------------------------------------

    def find_inside(
        self, code: Any, names: Dict[str, Any], prefix: str = ""
    ) -> Iterator[ChosenFunction]:
        """The functions that some code defines at any depth, and that are meant."""
        if not self.may_define(code):
            return
        for inner, qualname in walk_functions(code, prefix):
            chosen = self.match(inner, qualname, names, code.co_filename)
            if chosen is not None:
                yield chosen

    def may_define(self, code: Any) -> bool:
        """Whether a function of this name is in here; without a look at every instruction."""
        for const in code.co_consts:
            if type(const) is type(code):
                if const.co_name in (self.bare_name, LAMBDA) or self.may_define(const):
                    return True
        return False


def _is_module(wanted: str, known: Tuple[str, ...]) -> bool:
    return any(name == wanted or name.endswith("." + wanted) for name in known)


def _join_name(modules: Tuple[str, ...], qualname: str) -> str:
    """The name with its module; the script is called by its file."""
    named = [module for module in modules if module != "__main__"]
    return "%s.%s" % (named[0], qualname) if named else qualname
